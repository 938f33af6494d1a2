//! Saved plans: written for their owner's eyes only, read whole or not at all.

use crate::session::Session;
use formwork_diagnostics::{Diagnostic, Diagnostics};
use formwork_plan::Plan;
use std::io::Write;
use std::path::Path;

/// Writes a plan to a file that only its owner may read: it may hold secrets.
///
/// # Errors
/// Why it could not be written; what stood there before is still there.
pub fn write(session: &Session, path: &Path, plan: &Plan) -> Result<(), Diagnostics> {
    let bytes = formwork_plan::encode(plan).map_err(|error| {
        Diagnostic::error(
            "Failed to write plan file",
            format!("The plan cannot be saved. This is a fault of Formwork: {error}."),
        )
    })?;
    let full = session.environment.working.join(path);
    let folder = full.parent().unwrap_or(Path::new("."));
    // a temporary file is made with mode 0600, and keeps it under its new name
    let written = tempfile::NamedTempFile::new_in(folder).and_then(|mut file| {
        file.write_all(&bytes)?;
        file.as_file().sync_all()?;
        file.persist(&full)?;
        Ok(())
    });
    written.map_err(|error| {
        Diagnostic::error(
            "Failed to write plan file",
            format!("{} cannot be written: {error}.", path.display()),
        )
        .into()
    })
}

/// Reads a plan from the bytes of a file.
///
/// # Errors
/// That they are no plan, or not whole, or not as they were written.
pub fn read(bytes: &[u8], path: &Path) -> Result<Plan, Diagnostics> {
    formwork_plan::decode(bytes)
        .map_err(|error| error.diagnostic(&path.display().to_string()).into())
}

/// Whether bytes say that they are a plan.
pub fn is_plan(bytes: &[u8]) -> bool {
    bytes.starts_with(b"formwork-plan ")
}

/// Why the plan that was to be applied is not there, under the summary that pipelines know.
pub fn not_loaded(path: &Path, said: Diagnostics) -> Diagnostics {
    let rename = |mut d: Diagnostic| {
        d.summary = format!("Failed to load \"{}\" as a plan file", path.display());
        d
    };
    said.into_iter().map(rename).collect()
}

/// The bytes of a file.
///
/// # Errors
/// Why it cannot be read.
pub fn bytes_of(session: &Session, path: &Path) -> Result<Vec<u8>, Diagnostics> {
    std::fs::read(session.environment.working.join(path)).map_err(|error| {
        Diagnostic::error(
            "Failed to read file",
            format!("{} cannot be read: {error}.", path.display()),
        )
        .into()
    })
}
