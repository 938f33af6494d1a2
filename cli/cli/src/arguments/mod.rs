//! What was asked for: every command and flag, defined once.
//!
//! The definitions here are read three times: by clap, which checks values and fills the structures;
//! by [`rewrite`], which brings Terraform's spelling (one dash or two, `-flag value`, `-flag=value`,
//! `-flag` and `-flag=false` for switches) to the one that clap reads, and finds what it does not know
//! before clap sees it, so that the answer is in our words; and by [`help`]. A flag that is added here is
//! therefore parsed, suggested and explained.
//!
//! Order of precedence, lowest first: `TF_CLI_ARGS`, `TF_CLI_ARGS_<command>`, the command line. What
//! comes later wins, but for `-var` and `-var-file`, which add up in their order.

pub mod durations;
mod editing;
mod help;
mod inputs;
mod looking;
mod rewrite;
mod words;

#[cfg(test)]
mod tests;

pub use editing::{
    Editing, ForceUnlock, Import, StateMove, StatePush, StateRemove, StateReplaceProvider, Taint,
    WorkspaceDelete, WorkspaceList, WorkspaceLook, WorkspaceNew, WorkspaceSelect,
};
pub use inputs::{Input, Inputs};
pub use looking::{Graph, GraphFormat, Metadata, Providers, ProvidersCommand, ProvidersSchema};
pub use rewrite::{Parsed, parse};
pub use words::Refresh;

use clap::builder::{OsStringValueParser, TypedValueParser};
use clap::{Args, Parser, Subcommand};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Everything on the command line.
#[derive(Debug, Parser)]
#[command(
    name = "formwork",
    disable_help_flag = true,
    disable_version_flag = true,
    disable_help_subcommand = true,
    args_override_self = true,
    about = "Plans and applies infrastructure written in Terraform's language."
)]
pub struct Arguments {
    /// Flags that stand before the command.
    #[command(flatten)]
    pub before: Before,
    /// Flags that any command takes.
    #[command(flatten)]
    pub anywhere: Anywhere,
    /// The command.
    #[command(subcommand)]
    pub command: Command,
}

/// Flags that stand before the command.
#[derive(Args, Debug, Clone, Default)]
pub struct Before {
    /// Go to this directory before anything else.
    #[arg(long, value_name = "DIR")]
    pub chdir: Option<PathBuf>,
}

/// Flags that any command takes.
#[derive(Args, Debug, Clone, Default)]
pub struct Anywhere {
    /// Use the mock Google Cloud of this directory, or the one at URL. Nothing real is touched: state
    /// and cloud live in .formwork/mock.
    #[arg(long, global = true, value_name = "URL", num_args = 0..=1, require_equals = true, default_missing_value = "")]
    pub mock: Option<String>,
    /// With -mock: keep the state where a backend "gcs" says, in the mock cloud's own storage.
    #[arg(long, global = true, value_name = "BOOL", num_args = 0..=1, require_equals = true,
          default_missing_value = "true", default_value_t = false, action = clap::ArgAction::Set)]
    pub mock_backend: bool,
    /// Read no file outside DIR for the configuration: neither by functions nor as modules or files of
    /// values that are read unasked. For plans of what nobody has reviewed.
    #[arg(long, global = true, value_name = "DIR")]
    pub restrict_files: Option<PathBuf>,
    /// Write no colours.
    #[arg(long, global = true, value_name = "BOOL", num_args = 0..=1, require_equals = true,
          default_missing_value = "true", default_value_t = false, action = clap::ArgAction::Set)]
    pub no_color: bool,
}

/// A command.
#[derive(Subcommand, Debug)]
pub enum Command {
    /// Prepare the directory: fetch what must be fetched.
    Init(Init),
    /// Fetch the modules that the configuration calls.
    Get(Get),
    /// Name the modules that the configuration calls.
    Modules(Modules),
    /// Check whether the configuration is valid.
    Validate(Validate),
    /// Show what an apply would change.
    Plan(Plan),
    /// Make the world as the configuration says.
    Apply(Apply),
    /// Remove everything the configuration has made.
    Destroy(Apply),
    /// Record in the state what has changed outside.
    Refresh(Apply),
    /// Bring an object that exists under management.
    Import(Import),
    /// Show a state or a saved plan.
    Show(Show),
    /// Show the output values of the state.
    Output(Output),
    /// Look into the state, edit it, and settle what was left open.
    #[command(subcommand)]
    State(State),
    /// Let the next plan replace an object.
    Taint(Taint),
    /// Take a taint away.
    Untaint(Taint),
    /// Release a lock that a run has left.
    ForceUnlock(ForceUnlock),
    /// Work with several states of one configuration.
    #[command(subcommand)]
    Workspace(Workspace),
    /// Draw what needs what.
    Graph(Graph),
    /// Name the providers that the configuration and the state call for.
    Providers(Providers),
    /// Describe the language for programs.
    #[command(subcommand)]
    Metadata(Metadata),
    /// Lay out configuration files.
    Fmt(Fmt),
    /// Evaluate expressions, one a line.
    Console(Console),
    /// Run the tests of the configuration.
    Test(Test),
    /// Say which version this is.
    Version(Version),
    /// Serve a mock Google Cloud, or look into one.
    #[command(subcommand)]
    Mock(Mock),
}

/// Values for variables, and whether they may be asked for.
#[derive(Args, Debug, Clone, Default)]
pub struct Variables {
    /// Values and files of values, in the order given.
    #[command(flatten)]
    pub inputs: Inputs,
    /// Ask for values of variables that have none, if there is a terminal.
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true,
          default_missing_value = "true", action = clap::ArgAction::Set)]
    pub input: Option<bool>,
}

/// How the configuration is read.
#[derive(Args, Debug, Clone, Default)]
pub struct Reading {
    /// Refuse configurations whose required_version excludes us only because we are newer.
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true,
          default_missing_value = "true", default_value_t = false, action = clap::ArgAction::Set)]
    pub strict_version: bool,
    /// Show warnings of a kind together, without their places.
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true,
          default_missing_value = "true", default_value_t = false, action = clap::ArgAction::Set)]
    pub compact_warnings: bool,
}

/// How the state is locked.
#[derive(Args, Debug, Clone)]
pub struct Locking {
    /// Lock the state while it is used.
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true,
          default_missing_value = "true", default_value_t = true, action = clap::ArgAction::Set)]
    pub lock: bool,
    /// How long to wait for a lock that somebody else holds, such as 30s or 5m.
    #[arg(long, value_name = "DURATION", default_value = "0s", value_parser = durations::duration)]
    pub lock_timeout: Duration,
}

/// Who is told what happens.
#[derive(Args, Debug, Clone, Default)]
pub struct Streaming {
    /// Tell what happens in lines of JSON, for programs.
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true,
          default_missing_value = "true", default_value_t = false, action = clap::ArgAction::Set)]
    pub json: bool,
    /// Write these lines into a file, beside the text for people.
    #[arg(long, value_name = "FILE")]
    pub json_into: Option<PathBuf>,
}

/// What a plan is limited to, and what is replaced by request.
#[derive(Args, Debug, Clone, Default)]
pub struct Limiting {
    /// Only this module, resource or instance and what it needs; may be given several times.
    #[arg(long, value_name = "ADDRESS", action = clap::ArgAction::Append)]
    pub target: Vec<String>,
    /// Neither this module, resource or instance nor what needs it; may be given several times.
    #[arg(long, value_name = "ADDRESS", action = clap::ArgAction::Append)]
    pub exclude: Vec<String>,
    /// A file of targets, one a line; "#" begins a comment.
    #[arg(long, value_name = "FILE", action = clap::ArgAction::Append)]
    pub target_file: Vec<PathBuf>,
    /// A file of what is excluded.
    #[arg(long, value_name = "FILE", action = clap::ArgAction::Append)]
    pub exclude_file: Vec<PathBuf>,
    /// Replace this instance, whatever it looks like; may be given several times.
    #[arg(long, value_name = "ADDRESS", action = clap::ArgAction::Append)]
    pub replace: Vec<String>,
}

/// What planning takes.
#[derive(Args, Debug, Clone)]
pub struct Planning {
    #[command(flatten)]
    pub streaming: Streaming,
    #[command(flatten)]
    pub variables: Variables,
    #[command(flatten)]
    pub reading: Reading,
    #[command(flatten)]
    pub locking: Locking,
    /// Look at the world before planning: true, false, or changed to read only what the plan touches.
    #[arg(long, value_name = "WHAT", num_args = 0..=1, require_equals = true,
          default_missing_value = "true", default_value = "true", value_parser = words::refresh)]
    pub refresh: Refresh,
    /// Read only what the plan touches, as -refresh=changed.
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true,
          default_missing_value = "true", default_value_t = false, action = clap::ArgAction::Set)]
    pub minimal_refresh: bool,
    /// Plan to remove everything.
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true,
          default_missing_value = "true", default_value_t = false, action = clap::ArgAction::Set)]
    pub destroy: bool,
    /// Plan only to record what has changed outside.
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true,
          default_missing_value = "true", default_value_t = false, action = clap::ArgAction::Set)]
    pub refresh_only: bool,
    #[command(flatten)]
    pub limiting: Limiting,
    /// Tell only what changes something or goes wrong, as where no terminal is.
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true,
          default_missing_value = "true", default_value_t = false, action = clap::ArgAction::Set)]
    pub concise: bool,
    /// Leave what cannot be planned yet (unknown count, for_each or provider configuration) to later
    /// rounds; apply goes on in rounds until nothing is left.
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true,
          default_missing_value = "true", action = clap::ArgAction::Set)]
    pub allow_deferral: Option<bool>,
    /// How many objects are worked on at once.
    #[arg(long, value_name = "N", default_value_t = words::PARALLELISM, value_parser = words::parallelism)]
    pub parallelism: usize,
    /// The file of the state.
    #[arg(long, value_name = "FILE")]
    pub state: Option<PathBuf>,
}

/// `init`.
#[derive(Args, Debug)]
pub struct Init {
    #[command(flatten)]
    pub variables: Variables,
    #[command(flatten)]
    pub reading: Reading,
    #[command(flatten)]
    pub locking: Locking,
    #[command(flatten)]
    pub streaming: Streaming,
    /// Set up the backend; false leaves it alone.
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true,
          default_missing_value = "true", default_value_t = true, action = clap::ArgAction::Set)]
    pub backend: bool,
    /// An argument of the backend, or a file of them; may be given several times.
    #[arg(long, value_name = "NAME=VALUE|FILE", action = clap::ArgAction::Append)]
    pub backend_config: Vec<String>,
    /// Take the backend as it is configured now, and bring no state along.
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true,
          default_missing_value = "true", default_value_t = false, action = clap::ArgAction::Set)]
    pub reconfigure: bool,
    /// Bring the state along from where it was kept before.
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true,
          default_missing_value = "true", default_value_t = false, action = clap::ArgAction::Set)]
    pub migrate_state: bool,
    /// Bring it along without asking, even in the place of another.
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true,
          default_missing_value = "true", default_value_t = false, action = clap::ArgAction::Set)]
    pub force_copy: bool,
    /// Fetch modules anew, in the newest versions that will do.
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true,
          default_missing_value = "true", default_value_t = false, action = clap::ArgAction::Set)]
    pub upgrade: bool,
    /// Fetch the modules that the configuration calls; false uses what is installed.
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true,
          default_missing_value = "true", default_value_t = true, action = clap::ArgAction::Set)]
    pub get: bool,
    /// First copy this module into the directory, which must be empty.
    #[arg(long, value_name = "SOURCE")]
    pub from_module: Option<String>,
    /// Where the files of tests lie, besides this directory.
    #[arg(long, value_name = "DIR", default_value = "tests")]
    pub test_directory: PathBuf,
}

/// `get`.
#[derive(Args, Debug)]
pub struct Get {
    #[command(flatten)]
    pub variables: Variables,
    #[command(flatten)]
    pub reading: Reading,
    /// Fetch everything anew, in the newest versions that will do.
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true,
          default_missing_value = "true", default_value_t = false, action = clap::ArgAction::Set)]
    pub update: bool,
}

/// `modules`.
#[derive(Args, Debug)]
pub struct Modules {
    #[command(flatten)]
    pub variables: Variables,
    /// Answer in JSON.
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true,
          default_missing_value = "true", default_value_t = false, action = clap::ArgAction::Set)]
    pub json: bool,
}

/// `validate`.
#[derive(Args, Debug)]
pub struct Validate {
    #[command(flatten)]
    pub inputs: Inputs,
    #[command(flatten)]
    pub reading: Reading,
    #[command(flatten)]
    pub streaming: Streaming,
    /// Leave the files of tests alone.
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true,
          default_missing_value = "true", default_value_t = false, action = clap::ArgAction::Set)]
    pub no_tests: bool,
    /// Where the files of tests lie, besides this directory.
    #[arg(long, value_name = "DIR", default_value = "tests")]
    pub test_directory: PathBuf,
}

/// `test`.
#[derive(Args, Debug)]
pub struct Test {
    /// Values and files of values, in the order given.
    #[command(flatten)]
    pub inputs: Inputs,
    #[command(flatten)]
    pub reading: Reading,
    /// Run this file only; may be repeated.
    #[arg(long, value_name = "FILE")]
    pub filter: Vec<String>,
    /// Where the files of tests lie, besides this directory.
    #[arg(long, value_name = "DIR", default_value = "tests")]
    pub test_directory: PathBuf,
    #[command(flatten)]
    pub streaming: Streaming,
    /// Write what came of it into this file, as JUnit's XML.
    #[arg(long, value_name = "FILE")]
    pub junit_xml: Option<PathBuf>,
    /// Show the plan or the state of each run.
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true,
          default_missing_value = "true", default_value_t = false, action = clap::ArgAction::Set)]
    pub verbose: bool,
    /// How many objects are worked on at once.
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = words::parallelism)]
    pub parallelism: usize,
    /// Run the tests in HCP Terraform; not served.
    #[arg(long, value_name = "SOURCE", num_args = 0..=1, require_equals = true, default_missing_value = "")]
    pub cloud_run: Option<String>,
}

/// `plan`.
#[derive(Args, Debug)]
pub struct Plan {
    #[command(flatten)]
    pub planning: Planning,
    /// Exit with 0 if nothing changes, 1 on errors, 2 if something changes.
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true,
          default_missing_value = "true", default_value_t = false, action = clap::ArgAction::Set)]
    pub detailed_exitcode: bool,
    /// Save the plan, for apply. The file may hold secrets.
    #[arg(long, value_name = "FILE", value_parser = OsStringValueParser::new().map(PathBuf::from))]
    pub out: Option<PathBuf>,
    /// Write resource blocks for import blocks that have none into this file, which must not exist.
    #[arg(long, value_name = "FILE")]
    pub generate_config_out: Option<PathBuf>,
}

impl Plan {
    /// The file of `-out`. An empty name is none: so scripts write it that may or may not want one.
    pub fn saved_to(&self) -> Option<&Path> {
        let path = self.out.as_deref()?;
        (!path.as_os_str().is_empty()).then_some(path)
    }
}

/// `apply` and `destroy`.
#[derive(Args, Debug)]
pub struct Apply {
    #[command(flatten)]
    pub planning: Planning,
    /// Do not ask for approval.
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true,
          default_missing_value = "true", default_value_t = false, action = clap::ArgAction::Set)]
    pub auto_approve: bool,
    /// Where the state that was there before is kept; "-" for nowhere.
    #[arg(long, value_name = "FILE")]
    pub backup: Option<PathBuf>,
    /// A saved plan.
    #[arg(value_name = "PLANFILE")]
    pub plan: Option<PathBuf>,
}

/// `show`.
#[derive(Args, Debug)]
pub struct Show {
    #[command(flatten)]
    pub inputs: Inputs,
    /// Answer in JSON.
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true,
          default_missing_value = "true", default_value_t = false, action = clap::ArgAction::Set)]
    pub json: bool,
    /// Write the saved plan as one page for a browser, to standard output; nothing secret is in it.
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true,
          default_missing_value = "true", default_value_t = false, action = clap::ArgAction::Set)]
    pub html: bool,
    /// The alternative of this number, from 1, of a saved plan; with -json.
    #[arg(long, value_name = "N")]
    pub alternative: Option<usize>,
    /// A saved plan or a state; the current state without.
    #[arg(value_name = "FILE")]
    pub file: Option<PathBuf>,
}

/// `output`.
#[derive(Args, Debug)]
pub struct Output {
    #[command(flatten)]
    pub inputs: Inputs,
    /// Answer in JSON.
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true,
          default_missing_value = "true", default_value_t = false, action = clap::ArgAction::Set)]
    pub json: bool,
    /// Write the text of one output and nothing else.
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true,
          default_missing_value = "true", default_value_t = false, action = clap::ArgAction::Set)]
    pub raw: bool,
    /// The file of the state.
    #[arg(long, value_name = "FILE")]
    pub state: Option<PathBuf>,
    /// The output wanted; all without.
    #[arg(value_name = "NAME")]
    pub name: Option<String>,
}

/// `state ...`.
#[derive(Subcommand, Debug)]
pub enum State {
    /// List the addresses in the state.
    List(StateList),
    /// Show one object of the state.
    Show(StateShow),
    /// Write the state to standard output.
    Pull(StatePull),
    /// Say what became of an operation whose outcome nobody could find out.
    Settle(StateSettle),
    /// Move what is at an address to another.
    Mv(StateMove),
    /// Forget objects; they stay in the world.
    Rm(StateRemove),
    /// Put a state in the place of the one there is.
    Push(StatePush),
    /// Let another provider handle the resources of one.
    ReplaceProvider(StateReplaceProvider),
}

/// `workspace ...`.
#[derive(Subcommand, Debug)]
pub enum Workspace {
    /// List the workspaces.
    List(WorkspaceList),
    /// Say which workspace is selected.
    Show(WorkspaceLook),
    /// Make a workspace and select it.
    New(WorkspaceNew),
    /// Select a workspace.
    Select(WorkspaceSelect),
    /// Delete a workspace.
    Delete(WorkspaceDelete),
}

/// `state list`.
#[derive(Args, Debug)]
pub struct StateList {
    #[command(flatten)]
    pub inputs: Inputs,
    /// The file of the state.
    #[arg(long, value_name = "FILE")]
    pub state: Option<PathBuf>,
    /// Only objects whose id is this.
    #[arg(long, value_name = "ID")]
    pub id: Option<String>,
    /// Only what lies at or below these addresses.
    #[arg(value_name = "ADDRESS")]
    pub addresses: Vec<String>,
}

/// `state show`.
#[derive(Args, Debug)]
pub struct StateShow {
    #[command(flatten)]
    pub inputs: Inputs,
    /// Answer in JSON: a state that holds this object alone. Sensitive values are in it.
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true,
          default_missing_value = "true", default_value_t = false, action = clap::ArgAction::Set)]
    pub json: bool,
    /// The file of the state.
    #[arg(long, value_name = "FILE")]
    pub state: Option<PathBuf>,
    /// The object.
    #[arg(value_name = "ADDRESS", required = true)]
    pub address: String,
}

/// `state pull`.
#[derive(Args, Debug)]
pub struct StatePull {
    #[command(flatten)]
    pub inputs: Inputs,
}

/// `state settle`.
#[derive(Args, Debug)]
pub struct StateSettle {
    #[command(flatten)]
    pub variables: Variables,
    #[command(flatten)]
    pub locking: Locking,
    /// The file of the state.
    #[arg(long, value_name = "FILE")]
    pub state: Option<PathBuf>,
    /// The object exists, and this is its id.
    #[arg(long, value_name = "ID")]
    pub id: Option<String>,
    /// The object was not made.
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true,
          default_missing_value = "true", default_value_t = false, action = clap::ArgAction::Set)]
    pub not_created: bool,
    /// The object whose operation was left open.
    #[arg(value_name = "ADDRESS", required = true)]
    pub address: String,
}

/// `fmt`.
#[derive(Args, Debug)]
pub struct Fmt {
    /// Write nothing; exit with 3 if a file is not laid out as it should be.
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true,
          default_missing_value = "true", default_value_t = false, action = clap::ArgAction::Set)]
    pub check: bool,
    /// Show what changes.
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true,
          default_missing_value = "true", default_value_t = false, action = clap::ArgAction::Set)]
    pub diff: bool,
    /// Go into directories below.
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true,
          default_missing_value = "true", default_value_t = false, action = clap::ArgAction::Set)]
    pub recursive: bool,
    /// Name the files that change.
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true,
          default_missing_value = "true", default_value_t = true, action = clap::ArgAction::Set)]
    pub list: bool,
    /// Write the files that change.
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true,
          default_missing_value = "true", default_value_t = true, action = clap::ArgAction::Set)]
    pub write: bool,
    /// Files and directories; "-" is standard input; this directory without.
    #[arg(value_name = "PATH")]
    pub paths: Vec<PathBuf>,
}

/// `console`.
#[derive(Args, Debug)]
pub struct Console {
    #[command(flatten)]
    pub variables: Variables,
    #[command(flatten)]
    pub reading: Reading,
    /// Make a plan, and evaluate over what it would make of the state.
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true,
          default_missing_value = "true", default_value_t = false, action = clap::ArgAction::Set)]
    pub plan: bool,
    /// The file of the state.
    #[arg(long, value_name = "FILE")]
    pub state: Option<PathBuf>,
}

/// `version`.
#[derive(Args, Debug)]
pub struct Version {
    /// Answer in JSON.
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true,
          default_missing_value = "true", default_value_t = false, action = clap::ArgAction::Set)]
    pub json: bool,
}

/// `mock ...`.
#[derive(Subcommand, Debug)]
pub enum Mock {
    /// Serve a mock cloud until it is stopped; its address is printed as one line of JSON.
    Serve(MockServe),
    /// Show every object of a mock cloud.
    List(MockLook),
    /// Show every request made to a mock cloud.
    Log(MockLook),
    /// Begin a mock cloud anew, and forget the state of what was made in it.
    Reset(MockReset),
}

/// `mock serve`.
#[derive(Args, Debug)]
pub struct MockServe {
    /// Where to listen, on the loopback interface.
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:0")]
    pub listen: String,
    /// What the world is like; a file described in docs/formats/scenario.md.
    #[arg(long, value_name = "FILE")]
    pub scenario: Option<PathBuf>,
    /// Keep the world in this directory; in memory without.
    #[arg(long, value_name = "DIR")]
    pub data: Option<PathBuf>,
}

/// `mock list` and `mock log`.
#[derive(Args, Debug)]
pub struct MockLook {
    /// Answer in JSON.
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true,
          default_missing_value = "true", default_value_t = false, action = clap::ArgAction::Set)]
    pub json: bool,
    /// The directory of the world; .formwork/mock/cloud without.
    #[arg(long, value_name = "DIR")]
    pub data: Option<PathBuf>,
}

/// `mock reset`.
#[derive(Args, Debug)]
pub struct MockReset {
    /// The directory of the world; .formwork/mock/cloud without.
    #[arg(long, value_name = "DIR")]
    pub data: Option<PathBuf>,
    /// Do not ask.
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true,
          default_missing_value = "true", default_value_t = false, action = clap::ArgAction::Set)]
    pub auto_approve: bool,
}

impl Limiting {
    /// Whether anything of it was given.
    pub fn is_given(&self) -> bool {
        !self.target.is_empty()
            || !self.exclude.is_empty()
            || !self.target_file.is_empty()
            || !self.exclude_file.is_empty()
            || !self.replace.is_empty()
    }
}
