//! Provisioners while planning: none runs, but what is wrong with their blocks is told before anything
//! is made that they would spoil.

use formwork_configuration::{MoveTarget, ProvisionerTime, ResourceBlock};
use formwork_diagnostics::Diagnostics;
use formwork_evaluation::{
    Evaluator, ModuleFunctions, ModuleScope, ProvisionerBody, ProvisionerSchemas, Provisioners,
    RepetitionData,
};
use formwork_provider::{Providers, Reported, connection_schema};
use formwork_values::Value;

/// Checks the provisioners of a resource over a scope in which `self` is unknown.
pub(crate) async fn check_provisioners(
    evaluator: &Evaluator,
    providers: &Providers,
    block: &ResourceBlock,
    scope: &ModuleScope<'_>,
    functions: &ModuleFunctions<'_>,
) -> Diagnostics {
    let mut said = Diagnostics::new();
    for when in [ProvisionerTime::Create, ProvisionerTime::Destroy] {
        let provisioners = Provisioners::of_resource(block, when);
        said.append(check(evaluator, providers, &provisioners, scope, functions).await);
    }
    said
}

/// Checks the provisioners of all `removed` blocks.
pub(crate) async fn check_removed(evaluator: &Evaluator, providers: &Providers) -> Diagnostics {
    let mut said = Diagnostics::new();
    for (path, module) in evaluator.configuration().modules() {
        let with = module.removed.iter().filter(|r| !r.provisioners.is_empty());
        for removed in with {
            let MoveTarget::Resource(from) = &removed.from else {
                continue; // which has been told
            };
            let provisioners = Provisioners::of_removal(removed, ProvisionerTime::Destroy);
            let provider = module.provider_of_name(from.resource.implied_provider());
            let schema = providers.schema_of(&provider, &from.resource);
            let object = schema.map_or_else(Value::dynamic, |s| Value::unknown(s.ty()));
            let instance = path.unkeyed_instance();
            let scope = ModuleScope::new(evaluator, &instance, RepetitionData::unknown());
            let scope = scope.with_self(object);
            let functions = evaluator.functions(module);
            said.append(check(evaluator, providers, &provisioners, &scope, &functions).await);
        }
    }
    said
}

async fn check(
    evaluator: &Evaluator,
    providers: &Providers,
    provisioners: &Provisioners<'_>,
    scope: &ModuleScope<'_>,
    functions: &ModuleFunctions<'_>,
) -> Diagnostics {
    let mut said = Diagnostics::new();
    for p in provisioners.iter() {
        let provisioner = match providers.provisioner(&p.kind) {
            Ok(provisioner) => provisioner,
            Err(mut none) => {
                none.default_subject(p.range);
                said.append(none);
                continue;
            }
        };
        let schema = provisioner.schema();
        let schemas = ProvisionerSchemas {
            own: &schema,
            connection: connection_schema(),
        };
        let (body, problems) = evaluator
            .read_provisioner(provisioners, p, schemas, scope, functions)
            .await;
        let good = !problems.has_errors();
        said.append(problems);
        if !good {
            continue;
        }
        let ProvisionerBody { config, .. } = body;
        let reported = provisioner.validate(&config.clone().unmark_deep().0);
        for r in Reported::hiding(reported, &[&config]) {
            said.push(r.diagnostic.at_opt(Some(p.range)));
        }
    }
    said
}
