//! What the user is told when the service refuses.

use formwork_diagnostics::Diagnostic;
use formwork_google_client::{ErrorKind, GoogleError};

/// An error that says what was tried on which object, why it failed, and what to do about it.
pub(super) fn explain(summary: &str, tried: &str, object: &str, error: &GoogleError) -> Diagnostic {
    let d = Diagnostic::error(summary, format!("{tried} {object} failed: {error}."));
    let advice = match error.kind {
        ErrorKind::NotFound => {
            "Is the bucket there, and is its name spelt right? Formwork does not make the bucket of a \
             backend."
        }
        ErrorKind::Permission => {
            "The account needs the role Storage Object User (roles/storage.objectUser) on the bucket, or \
             storage.objects.get, list, create and delete."
        }
        ErrorKind::Unauthenticated | ErrorKind::Credentials => {
            "Give credentials: GOOGLE_APPLICATION_CREDENTIALS, \"gcloud auth application-default login\", \
             or credentials or access_token in the backend's configuration."
        }
        ErrorKind::Unreachable => {
            "Nothing was sent. Is there a network, and does storage_custom_endpoint, if set, name the \
             right address?"
        }
        _ => return d,
    };
    d.hint(advice)
}
