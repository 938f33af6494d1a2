//! Provisioners: what runs beside an object, after it was made or before it is destroyed.

use crate::Reported;
use async_trait::async_trait;
use formwork_diagnostics::{Diagnostic, Diagnostics};
use formwork_provider_schema::{Attribute, Block};
use formwork_values::{Type, Value};
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, LazyLock};

/// A kind of provisioner.
#[async_trait]
pub trait Provisioner: Send + Sync {
    /// What its block takes, `when`, `on_failure` and `connection` aside.
    fn schema(&self) -> Arc<Block>;

    /// That it is known, and does not run in this version; nothing of one that does.
    fn unserved(&self) -> Option<Diagnostic> {
        None
    }

    /// Checks a configuration; unknown values are allowed.
    fn validate(&self, config: &Value) -> Vec<Reported>;

    /// Runs. Each line that it writes goes to `lines` as it comes. When `stop` is ready it ends soon,
    /// and leaves nothing running.
    ///
    /// # Errors
    /// Why it did not succeed.
    async fn provision(
        &self,
        request: ProvisionRequest,
        lines: &dyn LineSink,
        stop: Stop<'_>,
    ) -> Result<(), Vec<Reported>>;
}

/// Ready when what runs is to end.
pub type Stop<'s> = Pin<&'s mut (dyn Future<Output = ()> + Send + 's)>;

/// Where lines go that a provisioner writes.
pub trait LineSink: Send + Sync {
    /// Takes a line, without its end.
    fn line(&self, line: &str);
}

/// Runs a provisioner for one object.
#[derive(Clone)]
pub struct ProvisionRequest {
    /// The configuration, wholly known, marks taken off.
    pub config: Value,
    /// How its machine is reached, by [`connection_schema`]; null without.
    pub connection: Value,
    /// The word for what the configuration holds that must not be told, such as `sensitive`; errors
    /// then tell neither configuration nor output.
    pub withheld: Option<&'static str>,
}

/// What a `connection` block takes.
pub fn connection_schema() -> &'static Arc<Block> {
    static SCHEMA: LazyLock<Arc<Block>> = LazyLock::new(|| {
        const TEXTS: [&str; 21] = [
            "type",
            "user",
            "password",
            "host",
            "port",
            "timeout",
            "script_path",
            "target_platform",
            "private_key",
            "certificate",
            "agent_identity",
            "host_key",
            "proxy_scheme",
            "proxy_host",
            "proxy_user_name",
            "proxy_user_password",
            "bastion_host",
            "bastion_host_key",
            "bastion_user",
            "bastion_password",
            "bastion_private_key",
        ];
        let optional = |ty| Attribute {
            optional: true,
            ..Attribute::new(ty)
        };
        let texts = TEXTS.into_iter().map(|n| (n, Type::String));
        let others = [
            ("bastion_certificate", Type::String),
            ("cacert", Type::String),
            ("agent", Type::Bool),
            ("https", Type::Bool),
            ("insecure", Type::Bool),
            ("use_ntlm", Type::Bool),
            ("proxy_port", Type::Number),
            ("bastion_port", Type::Number),
        ];
        Arc::new(Block::of_attributes(
            texts.chain(others).map(|(name, ty)| (name, optional(ty))),
        ))
    });
    &SCHEMA
}

/// That there is no provisioner of a kind.
pub fn no_such_provisioner(kind: &str) -> Diagnostics {
    Diagnostic::error(
        "Missing required provisioner plugin",
        format!(
            "There is no provisioner \"{kind}\". Formwork has \"local-exec\", and runs no provisioner plugins."
        ),
    )
    .into()
}
