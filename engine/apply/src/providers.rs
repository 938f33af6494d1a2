//! Configuring providers with what is known by now.

use crate::run::{Ended, Run};
use formwork_addresses::AbsProviderConfig;
use formwork_diagnostics::{Diagnostic, Diagnostics};
use formwork_plan::PlanMode;
use formwork_provider::Reported;

impl Run<'_> {
    pub(crate) async fn configure(&self, config: &AbsProviderConfig) -> Ended {
        let providers = &self.input.providers;
        if providers.is_stood_in_for(config) {
            return Ended::Done;
        }
        let Some(schemas) = providers.schemas(&config.provider) else {
            self.say(
                Diagnostic::error(
                    "Provider not available",
                    format!(
                        "The provider {} of the plan is not there.",
                        config.provider.for_display()
                    ),
                )
                .about(config)
                .into(),
            );
            return Ended::Failed;
        };
        let schema = schemas.provider_config();
        let (value, mut said) = self
            .input
            .evaluator
            .provider_config(config, &schema.block)
            .await;
        let range = self.input.evaluator.provider_block(config).map(|b| b.range);
        if let Some(value) = value {
            // What does not exist when all is destroyed will never be known: the provider was planned
            // with so, and destroys with so.
            if value.is_wholly_known() || self.input.plan.mode == PlanMode::Destroy {
                let place = |reported| {
                    Reported::into_diagnostics(Reported::hiding(reported, &[&value]))
                        .into_iter()
                        .map(|d| d.at_opt(range).about(config))
                };
                let plain = value.clone().unmark_deep().0;
                // Its warnings were said when planning.
                let mut wrong = providers.validate_config(&config.provider, &plain).await;
                wrong.retain(Reported::is_error);
                if wrong.is_empty() {
                    match providers.configure(config, plain).await {
                        Ok(reported) => said.extend(place(reported)),
                        Err(d) => said.append(d),
                    }
                } else {
                    said.extend(place(wrong));
                }
            } else {
                said.push(
                    Diagnostic::error(
                        "Provider configuration still unknown",
                        format!(
                            "{config} depends on values that are not known although everything that it \
                             refers to is done."
                        ),
                    )
                    .at_opt(range)
                    .about(config),
                );
            }
        }
        let failed = said.has_errors() || providers.configured(config).is_none();
        self.say(said);
        if failed { Ended::Failed } else { Ended::Done }
    }

    /// An error that a provider was not configured, which the graph should have ensured.
    pub(crate) fn not_configured(&self, config: &AbsProviderConfig) -> Diagnostics {
        Diagnostic::error(
            "Provider not configured",
            format!("{config} has not been configured."),
        )
        .about(config)
        .into()
    }
}
