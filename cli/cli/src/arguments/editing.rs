//! Flags of the commands that edit the state by hand.

use super::{Locking, Reading, Variables};
use clap::Args;
use std::path::PathBuf;

/// What every edit takes.
#[derive(Args, Debug, Clone)]
pub struct Editing {
    #[command(flatten)]
    pub locking: Locking,
    /// The file of the state.
    #[arg(long, value_name = "FILE")]
    pub state: Option<PathBuf>,
    /// Where the state that was there before is kept.
    #[arg(long, value_name = "FILE")]
    pub backup: Option<PathBuf>,
}

/// `state mv`.
#[derive(Args, Debug)]
pub struct StateMove {
    #[command(flatten)]
    pub editing: Editing,
    /// Only say what would be moved.
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true,
          default_missing_value = "true", default_value_t = false, action = clap::ArgAction::Set)]
    pub dry_run: bool,
    /// What is moved: an instance, a resource or a module.
    #[arg(value_name = "SOURCE", required = true)]
    pub source: String,
    /// Where to.
    #[arg(value_name = "DESTINATION", required = true)]
    pub destination: String,
}

/// `state rm`.
#[derive(Args, Debug)]
pub struct StateRemove {
    #[command(flatten)]
    pub editing: Editing,
    /// Only say what would be removed.
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true,
          default_missing_value = "true", default_value_t = false, action = clap::ArgAction::Set)]
    pub dry_run: bool,
    /// What is forgotten: instances, resources or modules. The objects stay in the world.
    #[arg(value_name = "ADDRESS", required = true)]
    pub addresses: Vec<String>,
}

/// `state push`.
#[derive(Args, Debug)]
pub struct StatePush {
    #[command(flatten)]
    pub locking: Locking,
    /// Write it even if it is of another lineage or older than the one there is.
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true,
          default_missing_value = "true", default_value_t = false, action = clap::ArgAction::Set)]
    pub force: bool,
    /// The file of the state that is written; "-" is standard input.
    #[arg(value_name = "FILE", required = true)]
    pub file: PathBuf,
}

/// `state replace-provider`.
#[derive(Args, Debug)]
pub struct StateReplaceProvider {
    #[command(flatten)]
    pub editing: Editing,
    /// Do not ask for approval.
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true,
          default_missing_value = "true", default_value_t = false, action = clap::ArgAction::Set)]
    pub auto_approve: bool,
    /// The address of the provider there is, such as hashicorp/google.
    #[arg(value_name = "FROM", required = true)]
    pub from: String,
    /// The address of the one that takes its place.
    #[arg(value_name = "TO", required = true)]
    pub to: String,
}

/// `taint` and `untaint`.
#[derive(Args, Debug)]
pub struct Taint {
    #[command(flatten)]
    pub editing: Editing,
    /// It is no error if the state does not hold it.
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true,
          default_missing_value = "true", default_value_t = false, action = clap::ArgAction::Set)]
    pub allow_missing: bool,
    /// The object.
    #[arg(value_name = "ADDRESS", required = true)]
    pub address: String,
}

/// `force-unlock`.
#[derive(Args, Debug)]
pub struct ForceUnlock {
    /// Do not ask for approval.
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true,
          default_missing_value = "true", default_value_t = false, action = clap::ArgAction::Set)]
    pub force: bool,
    /// The lock, as the message of a run that was refused shows it.
    #[arg(value_name = "LOCK_ID", required = true)]
    pub id: String,
}

/// `import`.
#[derive(Args, Debug)]
pub struct Import {
    #[command(flatten)]
    pub variables: Variables,
    #[command(flatten)]
    pub reading: Reading,
    #[command(flatten)]
    pub editing: Editing,
    /// The instance that is to manage the object.
    #[arg(value_name = "ADDRESS", required = true)]
    pub address: String,
    /// The id of the object, in a form that the type's documentation names.
    #[arg(value_name = "ID", required = true)]
    pub id: String,
}

/// `workspace new`.
#[derive(Args, Debug)]
pub struct WorkspaceNew {
    #[command(flatten)]
    pub locking: Locking,
    /// Begin with a copy of this state.
    #[arg(long, value_name = "FILE")]
    pub state: Option<PathBuf>,
    /// The name of the workspace.
    #[arg(value_name = "NAME", required = true)]
    pub name: String,
}

/// `workspace select`.
#[derive(Args, Debug)]
pub struct WorkspaceSelect {
    /// Make it if it is not there.
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true,
          default_missing_value = "true", default_value_t = false, action = clap::ArgAction::Set)]
    pub or_create: bool,
    /// The name of the workspace.
    #[arg(value_name = "NAME", required = true)]
    pub name: String,
}

/// `workspace delete`.
#[derive(Args, Debug)]
pub struct WorkspaceDelete {
    #[command(flatten)]
    pub locking: Locking,
    /// Delete it even if its state is not empty: what it remembers is forgotten, and stays in the world.
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true,
          default_missing_value = "true", default_value_t = false, action = clap::ArgAction::Set)]
    pub force: bool,
    /// The name of the workspace.
    #[arg(value_name = "NAME", required = true)]
    pub name: String,
}

/// `workspace list`.
#[derive(Args, Debug)]
pub struct WorkspaceList {
    /// Answer in JSON.
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true,
          default_missing_value = "true", default_value_t = false, action = clap::ArgAction::Set)]
    pub json: bool,
}

/// `workspace show`.
#[derive(Args, Debug)]
pub struct WorkspaceLook {}
