//! `file` and `remote-exec`: what they take is known and checked, and they are refused by name before
//! anything is planned.

use async_trait::async_trait;
use formwork_diagnostics::Diagnostic;
use formwork_provider::{LineSink, ProvisionRequest, Provisioner, Reported, Stop};
use formwork_provider_schema::{Attribute, Block};
use formwork_values::{Type, Value};
use std::sync::Arc;

/// A provisioner that works on the object's machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Remote {
    /// Copies a file there.
    File,
    /// Runs commands there.
    Exec,
}

impl Remote {
    fn kind(self) -> &'static str {
        match self {
            Self::File => "file",
            Self::Exec => "remote-exec",
        }
    }

    fn refusal(self) -> Diagnostic {
        Diagnostic::error(
            "Not served yet",
            format!(
                "This version of Formwork does not run the provisioner \"{}\", and will not go on as if this \
                 one were not there.",
                self.kind()
            ),
        )
        .hint(
            "Hand the machine what it needs by its startup script, or run ssh or scp by the \
             provisioner \"local-exec\".",
        )
    }
}

#[async_trait]
impl Provisioner for Remote {
    fn schema(&self) -> Arc<Block> {
        let text = || Attribute::new(Type::String);
        let texts = || Attribute::new(Type::list(Type::String));
        let optional = |a: Attribute| Attribute {
            optional: true,
            ..a
        };
        Arc::new(match self {
            Self::File => Block::of_attributes([
                ("source", optional(text())),
                ("content", optional(text())),
                (
                    "destination",
                    Attribute {
                        required: true,
                        ..text()
                    },
                ),
            ]),
            Self::Exec => Block::of_attributes([
                ("inline", optional(texts())),
                ("script", optional(text())),
                ("scripts", optional(texts())),
            ]),
        })
    }

    fn unserved(&self) -> Option<Diagnostic> {
        Some(self.refusal())
    }

    fn validate(&self, config: &Value) -> Vec<Reported> {
        let names: &[&str] = match self {
            Self::File => &["source", "content"],
            Self::Exec => &["inline", "script", "scripts"],
        };
        let set = |name: &&&str| config.attribute(name).is_some_and(|v| !v.is_null());
        let given = names.iter().filter(set).count();
        let unknown = |name: &&str| config.attribute(name).is_some_and(|v| !v.is_known());
        // what is unknown may turn out to be null
        if given == 1 || (given > 1 && names.iter().any(unknown)) {
            return Vec::new();
        }
        let names: Vec<String> = names.iter().map(|n| format!("\"{n}\"")).collect();
        vec![Reported::whole(Diagnostic::error(
            format!("Invalid {} provisioner configuration", self.kind()),
            format!(
                "Exactly one of {} must be set, and {given} are.",
                names.join(", ")
            ),
        ))]
    }

    async fn provision(
        &self,
        _request: ProvisionRequest,
        _lines: &dyn LineSink,
        _stop: Stop<'_>,
    ) -> Result<(), Vec<Reported>> {
        Err(vec![Reported::whole(self.refusal())])
    }
}
