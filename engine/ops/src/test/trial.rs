//! [`Trial`]: what a run of a test puts in the place of a plain run.

use super::mocked::{Mocked, Values};
use crate::load::Read;
use crate::session::Session;
use formwork_addresses::{AbsProviderConfig, AbsResourceInstance, ModuleInstance};
use formwork_configuration::{TestConfiguration, TestFile};
use formwork_environment::Randomness;
use formwork_evaluation::{InTest, Runs};
use formwork_provider::{Overriding, Provider, Providers};
use formwork_values::Value;
use std::collections::BTreeMap;
use std::sync::Arc;

/// One run of a test file, with the values that it sees.
pub struct Trial {
    pub(super) file: Arc<TestFile>,
    pub(super) run: usize,
    /// Variables of the test, evaluated.
    pub(super) variables: BTreeMap<Arc<str>, Value>,
    /// Outputs of earlier runs.
    pub(super) runs: Runs,
    /// What it tests; its files are in the session's map.
    pub(super) made: Arc<TestConfiguration>,
}

impl Trial {
    /// The configuration that the run is made with.
    pub(crate) fn configuration(&self) -> Read {
        let configuration = self.made.configuration.clone();
        (configuration, Some(self.made.clone()))
    }

    /// What expressions of the configuration see of the test.
    pub(crate) fn surroundings(&self) -> InTest {
        let (file, run) = (self.file.clone(), self.run);
        InTest {
            variables: self.variables.clone(),
            runs: self.runs.clone(),
            modules: Arc::new(move |instance: &ModuleInstance| {
                if instance.is_root() {
                    return None;
                }
                let o = file.module_override(file.runs.get(run)?, instance)?;
                Some(o.values.clone())
            }),
        }
    }
}

/// Puts mocked providers and overrides in the place of what was launched.
pub(crate) fn stand_in(
    session: &Session,
    made: &Arc<TestConfiguration>,
    providers: &mut Providers,
) {
    for p in &made.providers {
        let Some(mock) = &p.mock else { continue };
        let mocked = mocked(
            providers,
            &p.config,
            Values::Defaults(mock.clone()),
            &session.environment.randomness,
        );
        if let Some(mocked) = mocked {
            providers.stand_in(&p.config, mocked);
        }
    }
    let reals: BTreeMap<_, _> = providers
        .all_schemas()
        .into_keys()
        .filter_map(|address| {
            let real = providers.unconfigured(&address)?.clone();
            let schemas = providers.schemas(&address)?.clone();
            Some((address, (real, schemas)))
        })
        .collect();
    let (made, randomness) = (made.clone(), session.environment.randomness.clone());
    providers.override_instances(Arc::new(Overrides {
        made,
        reals,
        randomness,
    }));
}

fn mocked(
    providers: &Providers,
    config: &AbsProviderConfig,
    values: Values,
    randomness: &Arc<dyn Randomness>,
) -> Option<Arc<dyn Provider>> {
    Some(Arc::new(Mocked {
        real: providers.unconfigured(&config.provider)?.clone(),
        schemas: providers.schemas(&config.provider)?.clone(),
        values,
        randomness: randomness.clone(),
    }))
}

type Real = (
    Arc<dyn Provider>,
    Arc<dyn formwork_provider_schema::SchemaSource>,
);

struct Overrides {
    made: Arc<TestConfiguration>,
    reals: BTreeMap<formwork_addresses::ProviderAddr, Real>,
    randomness: Arc<dyn Randomness>,
}

impl Overriding for Overrides {
    fn instead(
        &self,
        config: &AbsProviderConfig,
        address: &AbsResourceInstance,
    ) -> Option<Arc<dyn Provider>> {
        let (o, during_plan) = self.made.override_of(address, config)?;
        let (real, schemas) = self.reals.get(&config.provider)?;
        Some(Arc::new(Mocked {
            real: real.clone(),
            schemas: schemas.clone(),
            values: Values::Override {
                values: o.values.clone(),
                during_plan,
            },
            randomness: self.randomness.clone(),
        }))
    }
}
