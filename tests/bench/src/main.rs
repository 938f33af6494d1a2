//! What commands cost: CPU time of whole processes over generated configurations, Terraform's beside
//! ours in the same run, so that the machine's mood falls on both.
//!
//! `load` is the benchmark of reading (parse, load, static checks, layout). `parse` looks at the
//! parser alone, in this process. `plan` shows how planning and applying grow. `compare` holds whole
//! journeys against Terraform's and against what is required of them. All stand on the same three
//! parts: [`generate`] makes a configuration from a seed, [`measure`] runs a child and asks what it
//! used, [`table`] prints.
#![forbid(unsafe_code)]
#![allow(clippy::print_stdout, clippy::print_stderr)] // a program whose product is a table

// As the command has it, so that what is measured in this process is what it would cost there.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

mod compare;
mod generate;
mod growth;
mod load;
mod measure;
mod parse;
mod table;

use clap::{Parser, Subcommand};
use std::path::PathBuf;
use std::process::ExitCode;

#[derive(Parser)]
#[command(about = "Measures what commands cost on generated configurations.")]
struct Arguments {
    /// The binary to measure; by default the `formwork` beside this program.
    #[arg(long, global = true)]
    formwork: Option<PathBuf>,
    /// Terraform's binary; its columns are left out where there is none.
    #[arg(long, global = true, default_value = "terraform")]
    terraform: PathBuf,
    /// Seed of what is generated.
    #[arg(long, global = true, default_value_t = 1)]
    seed: u64,
    /// Runs of each measurement, of which the median counts.
    #[arg(long, global = true, default_value_t = 3)]
    runs: usize,
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// `validate` and `fmt -check -recursive` over many files, and how they grow.
    Load {
        /// How many files.
        #[arg(long, default_value_t = 5_000)]
        files: usize,
        /// How many bytes in all, about.
        #[arg(long, default_value_t = 10_000_000)]
        bytes: usize,
    },
    /// The parser and the layout alone, in megabytes per second.
    Parse {
        /// How many files.
        #[arg(long, default_value_t = 5_000)]
        files: usize,
        /// How many bytes in all, about.
        #[arg(long, default_value_t = 10_000_000)]
        bytes: usize,
    },
    /// `plan` and `apply` of ever more instances.
    Plan {
        /// The largest number of instances; a fifth of it is measured too.
        #[arg(long, default_value_t = 10_000)]
        most: usize,
        /// Whether Terraform runs too (slow).
        #[arg(long)]
        beside_terraform: bool,
    },
    /// Plan, apply and plan again beside Terraform, held against what is required; exit code 1 where
    /// something required does not hold.
    Compare {
        /// Small sizes: everything works and agrees; ratios are shown and not judged.
        #[arg(long)]
        quick: bool,
        /// Runs Terraform also where that takes minutes.
        #[arg(long)]
        slow_peer: bool,
        /// Keeps Terraform's answers in this file, by version and configuration, and takes them from it.
        #[arg(long, value_name = "FILE")]
        keep_peer: Option<PathBuf>,
        /// These parts only.
        #[arg(long, value_enum, value_delimiter = ',')]
        only: Vec<compare::Part>,
    },
    /// Writes the configuration of `load` into a directory, and ends.
    Generate {
        /// Where to.
        directory: PathBuf,
        /// How many files.
        #[arg(long, default_value_t = 5_000)]
        files: usize,
        /// How many bytes in all, about.
        #[arg(long, default_value_t = 10_000_000)]
        bytes: usize,
    },
    /// Runs a command and prints what it used, as JSON: how `measure` gets at one child's peak.
    #[command(hide = true)]
    Measure {
        /// Where the command's standard output goes.
        #[arg(long)]
        text: Option<PathBuf>,
        /// The command.
        #[arg(trailing_var_arg = true, allow_hyphen_values = true, required = true)]
        command: Vec<std::ffi::OsString>,
    },
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let done = match &arguments.command {
        Command::Load { files, bytes } => {
            tools(&arguments).and_then(|tools| load::run(&tools, arguments.seed, *files, *bytes))
        }
        Command::Parse { files, bytes } => {
            parse::run(arguments.seed, *files, *bytes, arguments.runs);
            Ok(())
        }
        Command::Plan {
            most,
            beside_terraform,
        } => tools(&arguments).and_then(|tools| growth::run(&tools, *most, *beside_terraform)),
        Command::Generate {
            directory,
            files,
            bytes,
        } => generate::many_files(arguments.seed, *files, *bytes).write(directory),
        Command::Measure { text, command } => measure::as_child(command, text.as_deref()),
        Command::Compare {
            quick,
            slow_peer,
            keep_peer,
            only,
        } => {
            let asked = compare::Asked {
                quick: *quick,
                slow: *slow_peer,
                cache: keep_peer.clone(),
                only: only.clone(),
            };
            let held = tools(&arguments)
                .and_then(|tools| compare::run(&tools, arguments.seed, arguments.runs, &asked));
            held.and_then(|held| {
                held.then_some(())
                    .ok_or_else(|| "Something required does not hold.".to_owned())
            })
        }
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("{why}");
            ExitCode::FAILURE
        }
    }
}

fn tools(arguments: &Arguments) -> Result<measure::Tools, String> {
    let formwork = match &arguments.formwork {
        Some(path) => path.clone(),
        None => std::env::current_exe()
            .map_err(|e| e.to_string())?
            .with_file_name("formwork"),
    };
    measure::Tools::new(&formwork, &arguments.terraform, arguments.runs)
}
