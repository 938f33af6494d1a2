//! Failures, and how they are told.

use formwork_diagnostics::Diagnostic;
use formwork_google_client::{ErrorKind, GoogleError};
use formwork_provider::{NoteError, Reported};
use formwork_values::Path;

/// Why something was not done.
#[derive(Debug, Clone)]
pub(crate) enum Failure {
    /// Google refused, or could not be asked.
    Google(GoogleError),
    /// A request was sent, and what became of it could not be found out.
    Lost(GoogleError),
    /// The note before a request could not be made durable: nothing was sent.
    Note(String),
    /// We refuse, for a reason of our own: summary, detail, attribute.
    Refused(&'static str, String, &'static str),
}

impl From<GoogleError> for Failure {
    fn from(error: GoogleError) -> Self {
        Self::Google(error)
    }
}

impl From<NoteError> for Failure {
    fn from(error: NoteError) -> Self {
        Self::Note(error.reason)
    }
}

impl Failure {
    /// The kind of Google's refusal, if it is one.
    pub(crate) fn kind(&self) -> Option<ErrorKind> {
        match self {
            Self::Google(e) | Self::Lost(e) => Some(e.kind),
            _ => None,
        }
    }

    /// With the call that it all began with.
    pub(crate) fn called(self, call: &str) -> Self {
        match self {
            Self::Google(e) => Self::Google(e.called(call)),
            Self::Lost(e) => Self::Lost(e.called(call)),
            other => other,
        }
    }

    /// Whether nobody knows what became of what was sent.
    pub(crate) fn is_lost(&self) -> bool {
        matches!(self, Self::Lost(_))
    }

    /// What comes after a request was sent: if it fails by itself, the outcome is lost.
    pub(crate) fn after_sending(self) -> Self {
        match self {
            Self::Google(e) => Self::Lost(e),
            Self::Note(reason) => Self::Lost(GoogleError::local(ErrorKind::Cut, reason)),
            other => other,
        }
    }

    /// The failure of doing `what` (a gerund: `Creating`) with `which`.
    pub(crate) fn report(&self, what: &str, which: &str) -> Reported {
        match self {
            Self::Refused(summary, detail, attribute) => {
                let diagnostic = Diagnostic::error(*summary, detail.clone());
                if attribute.is_empty() {
                    Reported::whole(diagnostic)
                } else {
                    Reported::at(Path::ROOT.attribute(*attribute), diagnostic)
                }
            }
            Self::Note(reason) => Reported::whole(Diagnostic::error(
                "Nothing was sent",
                format!(
                    "{what} {which} was not begun, because what was about to be done could not be noted durably: {reason}"
                ),
            )),
            Self::Lost(e) => Reported::whole(Diagnostic::error(
                "Outcome not known",
                format!(
                    "{what} {which} was asked for, and what became of it could not be found out: {e}{}. The next run looks for it before it does anything else.{}",
                    call(e),
                    advice(e)
                ),
            )),
            Self::Google(e) => Reported::whole(Diagnostic::error(
                summary(e.kind),
                format!("{what} {which} failed: {e}{}.{}", call(e), advice(e)),
            )),
        }
    }
}

/// A fixed summary per kind, so that pipelines and the capacity fallback can tell them apart.
pub(crate) fn summary(kind: ErrorKind) -> &'static str {
    match kind {
        ErrorKind::Capacity => "Google has no capacity",
        ErrorKind::Quota => "Quota exceeded",
        ErrorKind::AlreadyExists => "Object exists already",
        ErrorKind::InUse => "Object is in use",
        ErrorKind::Permission | ErrorKind::Unauthenticated | ErrorKind::Credentials => {
            "Google refused access"
        }
        ErrorKind::ServiceDisabled => "API not enabled",
        ErrorKind::NotFound => "Object not found",
        ErrorKind::Timeout => "Operation takes too long",
        ErrorKind::Unreachable | ErrorKind::Cut | ErrorKind::Server | ErrorKind::Malformed => {
            "Google could not be asked"
        }
        ErrorKind::Conflict => "Object was changed meanwhile",
        _ => "Google refused the request",
    }
}

/// The call, for people who look it up in Google's documentation or logs.
fn call(e: &GoogleError) -> String {
    if e.call.is_empty() {
        String::new()
    } else {
        format!(", in answer to {}", e.call)
    }
}

fn advice(e: &GoogleError) -> String {
    let zones = e.zones_available();
    match e.kind {
        ErrorKind::Capacity if !zones.is_empty() => format!(
            " Google says that these zones could serve it: {}.",
            zones.join(", ")
        ),
        ErrorKind::Capacity => {
            " Try later, in another zone, or with a reservation that holds the machines.".into()
        }
        ErrorKind::Quota => {
            " Ask for more quota in the project, or plan for less; nothing is gained by trying again.".into()
        }
        ErrorKind::AlreadyExists => {
            " Import it if it is meant to be managed here, or choose another name.".into()
        }
        ErrorKind::InUse => {
            " Something that is not managed here may use it; remove that first.".into()
        }
        ErrorKind::ServiceDisabled => {
            " Enable the API (google_project_service, or `gcloud services enable`) and wait a minute.".into()
        }
        ErrorKind::Unauthenticated => {
            " The token has probably expired; get a new one.".into()
        }
        ErrorKind::Timeout => " A longer limit can be set in a timeouts block.".into(),
        ErrorKind::Conflict => " Run again: the plan will start from what is there now.".into(),
        ErrorKind::Permission => {
            " The account lacks a role that allows this; Google's message names the permission.".into()
        }
        ErrorKind::Unreachable => {
            " Check the network, and the custom endpoint or the address of the mock cloud if one is set; then run again.".into()
        }
        ErrorKind::Server | ErrorKind::Cut | ErrorKind::Malformed => " Run again.".into(),
        ErrorKind::NotFound => " Something that it refers to does not exist.".into(),
        ErrorKind::Invalid if e.http_status >= 400 => {
            " Correct the configuration as Google's message says.".into()
        }
        _ => String::new(),
    }
}
