//! Flags of the commands that draw and describe the configuration.

use super::{Inputs, Variables};
use clap::{Args, Subcommand, ValueEnum};
use std::path::PathBuf;

/// How a graph is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum GraphFormat {
    /// For Graphviz.
    Dot,
    /// For pages that draw Mermaid.
    Mermaid,
}

/// `graph`.
#[derive(Args, Debug)]
pub struct Graph {
    #[command(flatten)]
    pub variables: Variables,
    /// What to draw: plan, plan-refresh-only, plan-destroy or apply; the resources alone without.
    #[arg(long = "type", value_name = "TYPE")]
    pub kind: Option<String>,
    /// Draw what this saved plan will do.
    #[arg(long, value_name = "FILE")]
    pub plan: Option<PathBuf>,
    /// Draw the graph even if it has cycles, and draw those in red.
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true,
          default_missing_value = "true", default_value_t = false, action = clap::ArgAction::Set)]
    pub draw_cycles: bool,
    /// How the picture is written.
    #[arg(long, value_name = "FORMAT", value_enum, default_value = "dot")]
    pub format: GraphFormat,
    /// How deep into modules; taken and passed over, as Terraform does.
    #[arg(long, value_name = "N")]
    pub module_depth: Option<i64>,
    /// Taken and passed over, as Terraform does.
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true,
          default_missing_value = "true", default_value_t = false, action = clap::ArgAction::Set)]
    pub verbose: bool,
}

/// `providers`, and what stands below it.
#[derive(Args, Debug)]
#[command(args_conflicts_with_subcommands = true)]
pub struct Providers {
    #[command(flatten)]
    pub inputs: Inputs,
    /// Where the files of tests lie, besides this directory.
    #[arg(long, value_name = "DIR", default_value = "tests")]
    pub test_directory: PathBuf,
    #[command(subcommand)]
    pub command: Option<ProvidersCommand>,
}

/// What stands below `providers`.
#[derive(Subcommand, Debug)]
pub enum ProvidersCommand {
    /// Print the schemas of all providers that the configuration and the state call for.
    Schema(ProvidersSchema),
}

/// `providers schema`.
#[derive(Args, Debug)]
pub struct ProvidersSchema {
    #[command(flatten)]
    pub inputs: Inputs,
    /// Answer in JSON; must be given.
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true,
          default_missing_value = "true", default_value_t = false, action = clap::ArgAction::Set)]
    pub json: bool,
}

/// `metadata ...`.
#[derive(Subcommand, Debug)]
pub enum Metadata {
    /// Print the signatures of the functions of the language.
    Functions(MetadataFunctions),
}

/// `metadata functions`.
#[derive(Args, Debug)]
pub struct MetadataFunctions {
    /// Answer in JSON; must be given.
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true,
          default_missing_value = "true", default_value_t = false, action = clap::ArgAction::Set)]
    pub json: bool,
}
