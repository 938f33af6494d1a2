//! Provisioners: commands that run beside an object, after it was made or before it is destroyed.
//!
//! [`LocalExec`] runs a command on this machine. `file` and `remote-exec` are known and refused by
//! name; [`find`] is where a kind becomes a provisioner.
//!
//! A command runs in a process group of its own, so that a Ctrl-C at the terminal reaches Formwork
//! alone, which then ends the whole group. [`Running`] knows the groups that run: whoever ends the
//! process at once kills them first.
//!
//! What this crate does not do: it decides neither when a provisioner runs nor what its failure means,
//! and keeps no secret from its output; apply does all three.
#![forbid(unsafe_code)]

mod command;
mod lines;
mod local_exec;
mod remote;
mod running;
#[cfg(test)]
mod tests;

pub use local_exec::LocalExec;
pub use running::Running;

use crate::remote::Remote;
use formwork_diagnostics::Diagnostics;
use formwork_environment::Environment;
use formwork_provider::{Provisioner, no_such_provisioner};
use std::sync::Arc;

/// The provisioner of a kind.
///
/// # Errors
/// That there is none.
pub fn find(
    kind: &str,
    environment: &Environment,
    running: &Running,
) -> Result<Arc<dyn Provisioner>, Diagnostics> {
    match kind {
        "local-exec" => Ok(Arc::new(LocalExec::new(
            environment.clone(),
            running.clone(),
        ))),
        "file" => Ok(Arc::new(Remote::File)),
        "remote-exec" => Ok(Arc::new(Remote::Exec)),
        _ => Err(no_such_provisioner(kind)),
    }
}
