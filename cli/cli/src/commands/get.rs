//! `get`: fetches modules and nothing else. `modules`: names those of the configuration.

use crate::arguments;
use crate::modules;
use crate::operation::{Operation, Wanted, refused};
use crate::runtime::block_on;
use crate::session::{Session, exit};
use formwork_addresses::ModulePath;
use formwork_configuration::Configuration;
use formwork_diagnostics::Diagnostics;
use formwork_modules::Installed;
use formwork_render::{Branch, tree_text};
use serde::Serialize;
use std::sync::Arc;

/// Runs `get`.
pub fn run(session: &Session, arguments: &arguments::Get) -> u8 {
    block_on(session, async |interrupts| {
        let (installer, said) = match modules::installer(session, interrupts, arguments.update) {
            Ok(made) => made,
            Err(refusal) => return refused(session, &refusal),
        };
        session.say(&said, &formwork_diagnostics::SourceMap::new());
        let installer = Arc::new(installer);
        let wanted = Wanted {
            variables: Some(&arguments.variables),
            early: true,
            reading: arguments.reading.clone(),
            no_cloud: true,
            no_state: true,
            fetcher: Some(installer.clone()),
            ..Wanted::default()
        };
        let (operation, _) = match Operation::begin(session, interrupts, &wanted).await {
            Ok(begun) => begun,
            Err(refusal) => return refused(session, &refusal),
        };
        let (loaded, mut said) = formwork_ops::load(&operation.ops);
        if let Err(d) = installer.finish(&loaded.configuration, !said.has_errors()) {
            said.push(*d);
        }
        let code = session.say_as(
            &said,
            &loaded.sources,
            arguments.reading.compact_warnings,
            false,
        );
        operation.end().await;
        code
    })
}

/// A module as `modules -json` has it; the words are Terraform's.
#[derive(Serialize)]
struct Listed {
    key: String,
    source: String,
    version: String,
}

#[derive(Serialize)]
struct List {
    format_version: &'static str,
    modules: Vec<Listed>,
}

/// Runs `modules`.
pub fn list(session: &Session, arguments: &arguments::Modules) -> u8 {
    block_on(session, async |interrupts| {
        let wanted = Wanted {
            variables: Some(&arguments.variables),
            early: true,
            for_program: arguments.json,
            no_cloud: true,
            no_state: true,
            ..Wanted::default()
        };
        let (operation, _) = match Operation::begin(session, interrupts, &wanted).await {
            Ok(begun) => begun,
            Err(refusal) => return refused(session, &refusal),
        };
        let (loaded, said) = formwork_ops::load(&operation.ops);
        operation.end().await;
        let missing: Diagnostics = said.iter().filter(|d| d.is_error()).cloned().collect();
        if !missing.is_empty() {
            return session.say(&missing, &loaded.sources);
        }
        let installed = modules::installed(session);
        let modules = listed(&loaded.configuration, &installed);
        let text = if arguments.json {
            let list = List {
                format_version: "1.0",
                modules,
            };
            // texts in a structure of texts: nothing of it can fail
            serde_json::to_string(&list).unwrap_or_default() + "\n"
        } else if modules.is_empty() {
            "The configuration calls no modules.\n".to_owned()
        } else {
            tree(&loaded.configuration, &installed)
        };
        session.streams.out(&text);
        exit::SUCCESS
    })
}

/// The modules of the configuration, as Terraform lists them: each by the last of its names.
fn listed(configuration: &Configuration, installed: &Installed) -> Vec<Listed> {
    let paths = configuration.modules().filter(|(path, _)| !path.is_root());
    paths
        .map(|(path, _)| {
            let (source, version) = installed.description(configuration, path);
            Listed {
                key: path.name().unwrap_or_default().to_owned(),
                source,
                version,
            }
        })
        .collect()
}

/// The modules as a tree, drawn as Terraform does it.
fn tree(configuration: &Configuration, installed: &Installed) -> String {
    let branches = branches(configuration, installed, &ModulePath::root());
    format!(
        "\nModules declared by configuration:\n{}\n",
        tree_text(&branches)
    )
}

/// The modules that one calls; the depth of a configuration has a limit.
fn branches(
    configuration: &Configuration,
    installed: &Installed,
    caller: &ModulePath,
) -> Vec<Branch> {
    let calls = configuration.module(caller).map(|m| m.calls.values());
    calls
        .into_iter()
        .flatten()
        .map(|call| {
            let path = caller.child(&call.name);
            let (source, version) = installed.description(configuration, &path);
            let mut text = format!("\"{}\"[{source}]", call.name);
            if !version.is_empty() {
                text.push_str(&format!(" {version}"));
            }
            if let Some(constraints) = &call.version {
                text.push_str(&format!(" ({constraints})"));
            }
            Branch {
                text,
                below: branches(configuration, installed, &path),
            }
        })
        .collect()
}
