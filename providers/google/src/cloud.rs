//! A configured provider: client, settings, ids and locks.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use formwork_environment::Environment;
use formwork_google_client::{Client, Method, Request};
use formwork_google_schema::MethodMapping;
use serde_json::Value as Json;

use crate::settings::Settings;

/// What a configured provider works with.
pub(crate) struct Cloud {
    pub(crate) client: Client,
    pub(crate) settings: Settings,
    pub(crate) environment: Environment,
    locks: Mutex<BTreeMap<String, Arc<tokio::sync::Mutex<()>>>>,
    /// Images that families and short names resolved to, per run.
    pub(crate) images: Mutex<BTreeMap<String, Arc<Json>>>,
}

impl Cloud {
    pub(crate) fn new(client: Client, settings: Settings, environment: Environment) -> Self {
        Self {
            client,
            settings,
            environment,
            locks: Mutex::default(),
            images: Mutex::default(),
        }
    }

    /// The lock of a key: operations that must not run at once hold it one after the other.
    pub(crate) async fn lock(&self, key: &str) -> tokio::sync::OwnedMutexGuard<()> {
        let lock = {
            let mut locks = self.locks.lock().unwrap_or_else(PoisonError::into_inner);
            Arc::clone(locks.entry(key.to_owned()).or_default())
        };
        lock.lock_owned().await
    }

    /// A request, put to the user's project where the provider block says so.
    pub(crate) fn request(
        &self,
        method: Method,
        service: &str,
        path: impl Into<String>,
    ) -> Request {
        let mut request = Request::new(method, service, path);
        if self.settings.user_project_override {
            request.user_project = self
                .settings
                .billing_project
                .as_deref()
                .or(self.settings.project.as_deref())
                .map(str::to_owned);
        }
        request
    }

    /// A GET.
    pub(crate) fn get(&self, service: &str, path: impl Into<String>) -> Request {
        self.request(Method::Get, service, path)
    }
}

/// The verb of a mapped method.
pub(crate) fn verb(mapping: &MethodMapping) -> Method {
    Method::parse(&mapping.http).unwrap_or(Method::Get)
}
