//! `providers`: which providers are called for, and by whom; `providers schema`: what they say of
//! themselves. `metadata functions`: what functions there are.

use super::state::view;
use crate::arguments::{self, Metadata, ProvidersCommand, ProvidersSchema};
use crate::operation::{Operation, Wanted, refused};
use crate::runtime::block_on;
use crate::session::{Session, exit};
use formwork_addresses::{ModulePath, ProviderAddr};
use formwork_configuration::{Configuration, VersionConstraints, canonical_constraints};
use formwork_diagnostics::{Diagnostics, SourceMap};
use formwork_ops::TestedModule;
use formwork_render::{Branch, functions_json, schemas_json, tree_text};
use formwork_state::State;
use std::collections::{BTreeMap, BTreeSet};

/// Runs `providers` and what stands below it.
pub fn run(session: &Session, arguments: &arguments::Providers) -> u8 {
    match &arguments.command {
        Some(ProvidersCommand::Schema(schema)) => self::schema(session, schema),
        None => list(session, arguments),
    }
}

fn list(session: &Session, arguments: &arguments::Providers) -> u8 {
    if !session.has_configuration() {
        return session.fail(
            "No configuration files",
            "This directory holds no .tf files. Go to the directory of the configuration (-chdir=DIR).",
        );
    }
    block_on(session, async |interrupts| {
        let wanted = Wanted {
            inputs: Some(&arguments.inputs),
            for_program: true,
            ..Wanted::default()
        };
        let listed = view(session, interrupts, &wanted, async |operation, view| {
            let (mut loaded, said) = formwork_ops::load(&operation.ops);
            let errors: Diagnostics = said.iter().filter(|d| d.is_error()).cloned().collect();
            if !errors.is_empty() {
                return session.say(&errors, &loaded.sources);
            }
            let directory = &arguments.test_directory;
            let (tested, _) =
                formwork_ops::tested_modules(&operation.ops, directory, &mut loaded.sources);
            let mut tree = required(&loaded.configuration, &ModulePath::root());
            // modules after what tests call for, as Terraform has it
            let modules = tree.split_off(
                tree.iter()
                    .position(|b| !b.text.starts_with("provider["))
                    .unwrap_or(tree.len()),
            );
            tree.extend(of_tests(&tested));
            tree.extend(modules);
            let mut text = format!(
                "\nProviders required by configuration:\n{}\n",
                tree_text(&tree)
            );
            text.push_str(&by_state(&view.state));
            session.streams.out(&text);
            session.say(&said, &loaded.sources)
        });
        listed.await.unwrap_or_else(|code| code)
    })
}

/// What a module calls for, then the modules below it.
fn required(configuration: &Configuration, path: &ModulePath) -> Vec<Branch> {
    let Some(module) = configuration.module(path) else {
        return Vec::new();
    };
    let mut wanted: BTreeMap<ProviderAddr, Vec<&VersionConstraints>> = BTreeMap::new();
    for r in module.requirements.values() {
        wanted
            .entry(r.source.clone())
            .or_default()
            .extend(&r.version);
    }
    for p in module.providers.values() {
        wanted
            .entry(module.provider_of_name(&p.local.name))
            .or_default()
            .extend(&p.version);
    }
    let scoped = module.scoped_resources().map(|(_, r)| r);
    for r in module.resources.values().chain(scoped) {
        wanted
            .entry(module.provider_of_name(&r.local_provider().name))
            .or_default();
    }
    let mut branches: Vec<Branch> = wanted
        .into_iter()
        .map(|(provider, constraints)| {
            let constraints = canonical_constraints(constraints);
            let blank = if constraints.is_empty() { "" } else { " " };
            Branch::leaf(format!("provider[{provider}]{blank}{constraints}"))
        })
        .collect();
    // the depth of a configuration has a limit
    branches.extend(module.calls.values().map(|call| Branch {
        text: format!("module.{}", call.name),
        below: required(configuration, &path.child(&call.name)),
    }));
    branches
}

/// What the runs of test files call for that have modules of their own.
fn of_tests(files: &[(ModulePath, Vec<TestedModule>)]) -> Vec<Branch> {
    let mut branches: Vec<Branch> = files
        .iter()
        .map(|(file, runs)| Branch {
            text: file.names().collect::<Vec<_>>().join("."),
            below: runs
                .iter()
                .map(|run| Branch {
                    text: format!("run.{}", run.name),
                    below: required(&run.configuration, &ModulePath::root()),
                })
                .collect(),
        })
        .collect();
    branches.sort_by(|a, b| a.text.cmp(&b.text));
    branches
}

fn by_state(state: &State) -> String {
    let all: BTreeSet<&ProviderAddr> = state
        .resources()
        .map(|(_, r)| &r.provider.provider)
        .collect();
    if all.is_empty() {
        return String::new();
    }
    let lines: String = all.iter().map(|p| format!("    provider[{p}]\n")).collect();
    format!("Providers required by state:\n\n{lines}\n")
}

fn schema(session: &Session, arguments: &ProvidersSchema) -> u8 {
    if !arguments.json {
        return session.fail(
            "Failed to parse command-line flags",
            "Schemas are printed as JSON only: add -json.",
        );
    }
    block_on(session, async |interrupts| {
        let wanted = Wanted {
            inputs: Some(&arguments.inputs),
            no_cloud: true,
            for_program: true,
            ..Wanted::default()
        };
        let (operation, _) = match Operation::begin(session, interrupts, &wanted).await {
            Ok(begun) => begun,
            Err(refusal) => return refused(session, &refusal),
        };
        let (loaded, said) = formwork_ops::load(&operation.ops);
        let errors: Diagnostics = said.iter().filter(|d| d.is_error()).cloned().collect();
        if !errors.is_empty() {
            operation.end().await;
            return session.say(&errors, &loaded.sources);
        }
        let state = match formwork_ops::read_state(&operation.ops).await {
            Ok((view, _)) => view.state,
            Err(said) => {
                operation.end().await;
                return session.say(&said, &SourceMap::new());
            }
        };
        let (providers, said) = loaded.launch(&operation.ops, Some(&state)).await;
        let code = session.say_as(&said, &loaded.sources, false, true);
        if code == exit::SUCCESS {
            session.streams.out(&schemas_json(&providers.all_schemas()));
        }
        operation.end().await;
        code
    })
}

/// Runs `metadata ...`.
pub fn metadata(session: &Session, command: &Metadata) -> u8 {
    let Metadata::Functions(arguments) = command;
    if !arguments.json {
        return session.fail(
            "Failed to parse command-line flags",
            "Signatures are printed as JSON only: add -json.",
        );
    }
    session.streams.out(&functions_json(&session.signatures()));
    exit::SUCCESS
}
