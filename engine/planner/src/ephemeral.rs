//! Ephemeral resources: opened while planning where everything that they need is known.
//!
//! What they hold is ephemeral and stands in no plan; apply opens them anew. Where something is still
//! to become known, what refers to them is unknown until then.

use crate::managed::{Placed, Shared, addressed, decode_config};
use crate::walk::{Walk, lock, with_origin};
use formwork_addresses::{AbsResourceInstance, InstanceKey};
use formwork_diagnostics::{Diagnostic, Diagnostics};
use formwork_graph::Visit;
use formwork_provider::{Reported, validate_block};
use formwork_provider_schema::{adopted, marked};
use formwork_values::{Mark, Value};

impl Walk<'_> {
    pub(crate) async fn ephemerals(&self, placed: Placed<'_>) -> Visit {
        let common = match self.shared(placed) {
            Ok(s) => s,
            Err(d) => {
                let _ = self.say(d);
                return Visit::Failed;
            }
        };
        let waits = self.dependency_pending(placed.node, placed.block);
        let mut visit = Visit::Done;
        for key in placed.expansion.keys() {
            let own;
            let shared = match &common {
                Some(shared) => shared,
                None => match self.of_instance(placed, &key).await {
                    Ok(of_instance) => {
                        own = of_instance;
                        &own
                    }
                    Err(said) => {
                        let _ = self.say(said);
                        visit = Visit::Failed;
                        continue;
                    }
                },
            };
            let resource = placed.block.address.in_module(placed.module_instance);
            let address = resource.instance(key.clone());
            let (good, said) = self
                .ephemeral_instance(placed, shared, &address, &key, waits)
                .await;
            if self.say(addressed(said, &address)) == Visit::Failed || !good {
                visit = Visit::Failed;
            }
        }
        visit
    }

    async fn ephemeral_instance(
        &self,
        placed: Placed<'_>,
        shared: &Shared<'_>,
        address: &AbsResourceInstance,
        key: &InstanceKey,
        waits: bool,
    ) -> (bool, Diagnostics) {
        let evaluator = &self.input.evaluator;
        let functions = evaluator.functions(shared.module);
        let scope = placed.scope(evaluator, key);
        let (good, mut said) = self
            .preconditions(shared, address, &scope, &functions)
            .await;
        if !good {
            return (false, said);
        }
        let (config, problems) = decode_config(evaluator, shared, &scope, &functions).await;
        said.append(problems);
        if said.has_errors() {
            return (false, said);
        }
        lock(&self.ephemeral).push((address.clone(), shared.provider_config.clone()));
        let (plain, marks) = config.clone().unmark_deep();
        let provider = &*shared.provider;
        let reported = validate_block(provider, &address.resource, &config, plain.clone()).await;
        said.append(Reported::placed(reported, address, &|p| {
            Some(shared.block.place_of(p))
        }));
        if said.has_errors() {
            return (false, said);
        }
        let providers = &self.input.providers;
        let known = plain.is_wholly_known()
            && providers.is_fully_configured(&shared.provider_config)
            && !waits;
        let value = if known {
            let (answer, reported) = self
                .opened
                .open(address, shared.provider.clone(), plain)
                .await;
            said.append(Reported::placed(
                Reported::hiding(reported, &[&config]),
                address,
                &|p| Some(shared.block.place_of(p)),
            ));
            if said.has_errors() {
                return (false, said);
            }
            let answer = adopted(&shared.schema.block, answer);
            match answer.filter(|v| !v.is_null() && v.is_wholly_known()) {
                Some(value) => value,
                None => {
                    said.push(
                        Diagnostic::error(
                            "Provider produced invalid object",
                            format!(
                                "The provider {} opened {address} as something that is not a wholly \
                                 known object of its schema's type. This is a fault of the provider.",
                                shared.provider_config.provider.for_display()
                            ),
                        )
                        .at(shared.block.range),
                    );
                    return (false, said);
                }
            }
        } else {
            with_origin(address, Value::unknown(shared.schema.ty()))
        };
        let value = marked(&shared.schema.block, &value, &marks).mark(Mark::Ephemeral);
        evaluator.objects().set(address, value.clone());
        let (good, after) = self
            .postconditions(shared, address, scope, &functions, value)
            .await;
        said.append(after);
        (good, said)
    }
}
