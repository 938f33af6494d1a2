//! The worlds that tests run in: the real cloud for all of them, or mock clouds of their own.
//!
//! Under `-mock` each world is a mock cloud in memory, served on a loopback port for as long as its test
//! file runs; nothing of it is written to disk. `-mock=URL` names one that all of them share.

use crate::mock::{self, MockCloud};
use crate::preview::Preview;
use crate::providers::NativeProviders;
use crate::runtime::Interrupts;
use crate::session::{CloudChoice, Session};
use async_trait::async_trait;
use formwork_configuration::Configuration;
use formwork_diagnostics::{Diagnostics, SourceMap};
use formwork_ops::{TestWorld, TestWorlds};
use formwork_provisioners::Running;
use std::collections::BTreeMap;
use std::sync::Arc;
use tokio::sync::Mutex;

/// Makes the worlds of a run of tests.
pub struct Worlds<'s> {
    session: &'s Session,
    running: Running,
    open: Mutex<BTreeMap<(String, usize), MockCloud>>,
}

impl<'s> Worlds<'s> {
    /// None yet.
    pub fn new(session: &'s Session, interrupts: &Interrupts) -> Self {
        Self {
            session,
            running: interrupts.running().clone(),
            open: Mutex::default(),
        }
    }

    fn made(
        &self,
        cloud: Option<&MockCloud>,
        configuration: &Configuration,
        sources: &SourceMap,
    ) -> Result<TestWorld, Diagnostics> {
        let preview = Preview {
            configuration: Arc::new(configuration.clone()),
            sources: sources.clone(),
            diagnostics: Diagnostics::new(),
        };
        let providers =
            NativeProviders::new(self.session, cloud, &preview)?.with_running(self.running.clone());
        Ok(TestWorld {
            factory: Arc::new(providers),
            cloud: cloud.map(|c| c.world.clone()),
        })
    }
}

#[async_trait]
impl TestWorlds for Worlds<'_> {
    async fn world(
        &self,
        file: &str,
        world: usize,
        configuration: &Configuration,
        sources: &SourceMap,
    ) -> Result<TestWorld, Diagnostics> {
        if self.session.cloud == CloudChoice::Real {
            return self.made(None, configuration, sources);
        }
        let mut open = self.open.lock().await;
        let key = (file.to_owned(), world);
        if !open.contains_key(&key) {
            let cloud = match &self.session.cloud {
                CloudChoice::Mock => Some(mock::in_memory(&self.session.environment).await?),
                _ => MockCloud::of(self.session).await?,
            };
            if let Some(cloud) = cloud {
                open.insert(key.clone(), cloud);
            }
        }
        self.made(open.get(&key), configuration, sources)
    }

    async fn close(&self, file: &str) {
        let ended: Vec<MockCloud> = {
            let mut open = self.open.lock().await;
            let keys: Vec<_> = open.keys().filter(|(f, _)| f == file).cloned().collect();
            keys.iter().filter_map(|k| open.remove(k)).collect()
        };
        for cloud in ended {
            cloud.leave().await;
        }
    }
}
