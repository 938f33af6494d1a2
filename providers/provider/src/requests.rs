//! What is asked of a provider, and what it answers.

use crate::hiding::Secrets;
use crate::unsupported;
use formwork_addresses::AbsResourceInstance;
use formwork_diagnostics::{Diagnostic, Diagnostics, SourceRange};
use formwork_values::{Path, Value};
use std::sync::Arc;
use std::time::SystemTime;

/// Bytes that only the provider understands: private data, notes. Never shown.
pub type Bytes = Arc<[u8]>;

/// Something that a provider has to say, and which part of the object it concerns.
#[derive(Clone, Debug)]
pub struct Reported {
    /// What.
    pub diagnostic: Diagnostic,
    /// Path into the configuration of the block, empty for the whole of it.
    pub path: Path,
}

impl Reported {
    /// Concerning the whole block.
    pub fn whole(diagnostic: Diagnostic) -> Self {
        Self {
            diagnostic,
            path: Path::default(),
        }
    }

    /// Concerning one attribute.
    pub fn at(path: Path, diagnostic: Diagnostic) -> Self {
        Self { diagnostic, path }
    }

    /// Whether it is an error.
    pub fn is_error(&self) -> bool {
        self.diagnostic.is_error()
    }

    /// Takes the sensitive and ephemeral texts of `values` out of what a provider says, in every form in
    /// which they are likely to be quoted: services quote what they were sent.
    pub fn hiding(mut reported: Vec<Self>, values: &[&Value]) -> Vec<Self> {
        if reported.is_empty() {
            return reported;
        }
        let secrets = Secrets::of(values);
        let clean = |text: &mut String| secrets.hide(text);
        for r in &mut reported {
            clean(&mut r.diagnostic.summary);
            clean(&mut r.diagnostic.detail);
            r.diagnostic.hints.iter_mut().for_each(clean);
        }
        reported
    }

    /// Gives reports the address and the place of what they are about: `place` finds what a path into
    /// the object names, of an empty path the block.
    pub fn placed(
        reported: Vec<Self>,
        address: &AbsResourceInstance,
        place: &dyn Fn(&Path) -> Option<SourceRange>,
    ) -> Diagnostics {
        let mut diagnostics = Diagnostics::new();
        for report in reported {
            let mut d = report.diagnostic;
            let range = place(&report.path);
            let nowhere = !report.path.is_empty() && range == place(&Path::ROOT);
            if nowhere && d.hints.is_empty() {
                d.hints.push(format!(
                    "The provider says this of {address}{}.",
                    report.path
                ));
            }
            diagnostics.push(d.at_opt(range).about(address));
        }
        diagnostics
    }

    /// All of them without their paths.
    pub fn into_diagnostics(reported: Vec<Self>) -> Diagnostics {
        reported.into_iter().map(|r| r.diagnostic).collect()
    }
}

/// Configures a provider.
#[derive(Clone)]
pub struct ConfigureRequest {
    /// The configuration; may hold unknown values while planning.
    pub config: Value,
    /// The language version claimed, such as `1.12.2`.
    pub terraform_version: String,
    /// Whether the provider may answer, until it is configured anew, that it cannot do yet what it is
    /// asked: then that is left to a later round. Otherwise such an answer is an error, and it has to
    /// plan with what is not known.
    pub deferral_allowed: bool,
}

/// Checks the configuration of a resource or data source.
#[derive(Clone)]
pub struct ValidateRequest {
    /// Type name.
    pub kind: String,
    /// The configuration.
    pub config: Value,
}

/// Why a provider cannot answer yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeferredReason {
    /// The resource's configuration is not known enough.
    ResourceConfigUnknown,
    /// The provider's configuration is not known enough.
    ProviderConfigUnknown,
    /// Something it needs does not exist yet.
    AbsentPrerequisite,
}

/// Asks what an apply would make of an object.
#[derive(Clone)]
pub struct PlanRequest {
    /// Type name.
    pub kind: String,
    /// The object as it is; null for a creation.
    pub prior: Value,
    /// Prior merged with configuration by the schema's rules; null for a deletion.
    pub proposed: Value,
    /// The configuration; null for a deletion.
    pub config: Value,
    /// Private data kept with the prior object.
    pub prior_private: Bytes,
    /// The identity of the object as it is, if it has one.
    pub identity: Option<Value>,
}

/// The planned object.
#[derive(Clone)]
pub struct PlanResponse {
    /// The object after apply, with unknowns where only apply will tell.
    pub planned: Value,
    /// Paths whose change cannot be made in place.
    pub requires_replace: Vec<Path>,
    /// Private data to hand to apply.
    pub private: Bytes,
    /// Whether the planned value follows the loose rules of the legacy SDK.
    pub legacy_type_system: bool,
    /// Set if the provider cannot plan it yet.
    pub deferred: Option<DeferredReason>,
    /// What there is to say.
    pub reported: Vec<Reported>,
    /// The identity that the object will have, with unknowns where only apply will tell.
    pub identity: Option<Value>,
}

/// Asks that the world be made as planned.
#[derive(Clone)]
pub struct ApplyRequest {
    /// Type name.
    pub kind: String,
    /// The object as it is; null for a creation.
    pub prior: Value,
    /// As planned; null for a deletion. May hold unknowns, for computed attributes only.
    pub planned: Value,
    /// The configuration, wholly known; null for a deletion.
    pub config: Value,
    /// Private data from planning.
    pub planned_private: Bytes,
    /// The identity that was planned.
    pub identity: Option<Value>,
}

/// What became of it.
#[derive(Clone)]
pub struct ApplyResponse {
    /// The object as it now is, wholly known; null if it does not exist. With errors: what is there
    /// nevertheless (it will be kept, tainted if it was being created).
    pub new: Value,
    /// Private data to keep with the object.
    pub private: Bytes,
    /// Whether the new value follows the loose rules of the legacy SDK.
    pub legacy_type_system: bool,
    /// Set if a request was sent and nobody knows what became of it (the connection broke, the
    /// service is gone). `new` means nothing then, the operation stays open in the journal, and the
    /// next run settles it. There must be an error among what is reported.
    pub outcome_unknown: bool,
    /// What there is to say.
    pub reported: Vec<Reported>,
    /// The identity of the object as it now is. Without one, what is known of it stays.
    pub identity: Option<Value>,
}

/// Reads one object.
#[derive(Clone)]
pub struct ReadRequest {
    /// Type name.
    pub kind: String,
    /// The object as last seen.
    pub current: Value,
    /// Private data kept with it.
    pub private: Bytes,
    /// Its identity as last seen, if it has one.
    pub identity: Option<Value>,
}

/// The object as it is.
#[derive(Clone)]
pub struct ReadResponse {
    /// Null if it is gone for certain.
    pub new: Value,
    /// Private data to keep with the object.
    pub private: Bytes,
    /// Set if it cannot be read yet.
    pub deferred: Option<DeferredReason>,
    /// What there is to say; with an error `new` means nothing.
    pub reported: Vec<Reported>,
    /// Its identity. Without one, what is known of it stays.
    pub identity: Option<Value>,
}

/// Reads a data source.
#[derive(Clone)]
pub struct ReadDataRequest {
    /// Type name.
    pub kind: String,
    /// The configuration, wholly known.
    pub config: Value,
}

/// What was read.
#[derive(Clone)]
pub struct ReadDataResponse {
    /// The whole object.
    pub state: Value,
    /// Set if it cannot be read yet.
    pub deferred: Option<DeferredReason>,
    /// What there is to say; with an error `state` means nothing.
    pub reported: Vec<Reported>,
}

/// Opens an ephemeral resource.
#[derive(Clone)]
pub struct OpenRequest {
    /// Type name.
    pub kind: String,
    /// The configuration, wholly known.
    pub config: Value,
}

/// An opened ephemeral resource.
#[derive(Clone)]
pub struct OpenResponse {
    /// Its value, never stored.
    pub result: Value,
    /// Private data for renewal and closing.
    pub private: Bytes,
    /// When it must be renewed, if ever.
    pub renew_at: Option<SystemTime>,
    /// What there is to say.
    pub reported: Vec<Reported>,
}

impl OpenResponse {
    /// The answer of a provider without ephemeral resources.
    pub fn unsupported(kind: &str) -> Self {
        Self {
            result: Value::null(formwork_values::Type::Dynamic),
            private: Bytes::from([]),
            renew_at: None,
            reported: vec![unsupported("ephemeral resources", kind)],
        }
    }
}

/// A renewed ephemeral resource.
#[derive(Clone)]
pub struct RenewResponse {
    /// Private data from now on.
    pub private: Bytes,
    /// When it must be renewed again, if ever.
    pub renew_at: Option<SystemTime>,
    /// What there is to say.
    pub reported: Vec<Reported>,
}

impl RenewResponse {
    /// The answer of a provider without ephemeral resources.
    pub fn unsupported(kind: &str) -> Self {
        Self {
            private: Bytes::from([]),
            renew_at: None,
            reported: vec![unsupported("ephemeral resources", kind)],
        }
    }
}

/// An object as state holds it.
#[derive(Clone)]
pub enum RawState {
    /// JSON of the object's attributes.
    Json(Bytes),
    /// The flat map of ancient states.
    Flatmap(Vec<(String, String)>),
}

/// Brings a stored object to the current schema.
#[derive(Clone)]
pub struct UpgradeRequest {
    /// Type name.
    pub kind: String,
    /// Version of the schema it was stored by.
    pub version: u64,
    /// The object.
    pub state: RawState,
}

/// The object by the current schema.
#[derive(Clone)]
pub struct UpgradeResponse {
    /// The object.
    pub upgraded: Value,
    /// What there is to say; with an error `upgraded` means nothing.
    pub reported: Vec<Reported>,
}

/// Finds existing objects by id.
#[derive(Clone)]
pub struct ImportRequest {
    /// Type name.
    pub kind: String,
    /// The id, in one of the forms that the type documents; empty if there is an identity.
    pub id: String,
    /// The identity to find it by; then there is no id.
    pub identity: Option<Value>,
}

/// One found object; not yet read.
#[derive(Clone)]
pub struct ImportedObject {
    /// Type name, usually the one asked for.
    pub kind: String,
    /// What the id tells; reading completes it.
    pub state: Value,
    /// Private data to keep with it.
    pub private: Bytes,
    /// Its identity.
    pub identity: Option<Value>,
}

/// Takes over an object of another type or provider.
#[derive(Clone)]
pub struct MoveRequest {
    /// Source address of the former provider.
    pub source_provider: String,
    /// Former type name.
    pub source_kind: String,
    /// Version of the schema it was stored by.
    pub source_version: u64,
    /// The object.
    pub state: RawState,
    /// Private data kept with it.
    pub private: Bytes,
    /// Type name wanted.
    pub target_kind: String,
    /// Its identity as stored, if it has one.
    pub identity: Option<StoredIdentity>,
}

/// An identity as state holds it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredIdentity {
    /// Version of the schema it was stored by.
    pub version: u64,
    /// JSON of its attributes.
    pub json: Bytes,
}

/// Brings a stored identity to the current schema.
#[derive(Clone)]
pub struct UpgradeIdentityRequest {
    /// Type name of the resource.
    pub kind: String,
    /// The identity.
    pub stored: StoredIdentity,
}

/// The identity by the current schema.
#[derive(Clone)]
pub struct UpgradeIdentityResponse {
    /// The identity.
    pub upgraded: Value,
    /// What there is to say; with an error `upgraded` means nothing.
    pub reported: Vec<Reported>,
}

/// The object taken over.
#[derive(Clone)]
pub struct MoveResponse {
    /// The object by the target's schema.
    pub target: Value,
    /// Private data to keep with it.
    pub private: Bytes,
    /// What there is to say; with an error `target` means nothing.
    pub reported: Vec<Reported>,
    /// The identity by the target's schema.
    pub identity: Option<Value>,
}

impl MoveResponse {
    /// The answer of a provider that takes nothing over.
    pub fn unsupported(request: &MoveRequest) -> Self {
        Self {
            target: Value::null(formwork_values::Type::Dynamic),
            identity: None,
            private: Bytes::from([]),
            reported: vec![unsupported(
                &format!("moving an object of type \"{}\" to it", request.source_kind),
                &request.target_kind,
            )],
        }
    }
}

/// Calls a function of the provider.
#[derive(Clone)]
pub struct CallFunctionRequest {
    /// Name without its namespace.
    pub name: String,
    /// Arguments, converted to the parameters' types, marks taken off.
    pub arguments: Vec<Value>,
}

/// Why a call failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FunctionFailure {
    /// Full sentences.
    pub text: String,
    /// Index of the argument that is wrong, if it is one.
    pub argument: Option<usize>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_sensitive_is_taken_out_of_a_service_s_words() {
        let config = Value::object([
            ("password", Value::string("hunter22").sensitive()),
            ("short", Value::string("ab").sensitive()),
            ("name", Value::string("net")),
        ]);
        let said = Diagnostic::error("Invalid value", "\"hunter22\" is no password for net, ab.");
        let reported = Reported::hiding(vec![Reported::whole(said)], &[&config]);
        let detail: Vec<_> = reported
            .iter()
            .map(|r| r.diagnostic.detail.as_str())
            .collect();
        assert_eq!(
            detail,
            ["\"(sensitive value)\" is no password for net, ab."]
        );
    }
}
