//! `version`: who this is, and which language and providers it stands for.
//!
//! Called by the name of Terraform or OpenTofu (a link to the binary, as pipelines have it that look for
//! that name), or with `FORMWORK_COMPAT`, the first line is theirs with the level of the language, since
//! version detection reads it.

use crate::arguments;
use crate::modules;
use crate::preview::Preview;
use crate::providers;
use crate::session::{Session, exit};
use formwork_render::Versions;
use std::sync::Arc;

/// Our own version.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Runs the command.
pub fn run(session: &Session, arguments: &arguments::Version) -> u8 {
    let level = session.level(false).version.to_string();
    let platform = platform();
    let preview = Preview::of_directory(session, None, Arc::new(modules::installed(session)));
    // what the lock file says of providers that are not ours, and ours as they would be chosen
    let mut selected: std::collections::BTreeMap<String, String> = preview
        .configuration
        .lock
        .providers
        .iter()
        .map(|(provider, locked)| (provider.to_string(), locked.version.to_string()))
        .collect();
    selected.extend(providers::selections(&preview));
    let product = session.product();
    let versions = Versions {
        product,
        version: if product == "Formwork" {
            VERSION
        } else {
            &level
        },
        tool_version: VERSION,
        language_version: &level,
        platform: &platform,
        providers: selected,
    };
    if arguments.json {
        session.streams.out(&versions.json());
        return exit::SUCCESS;
    }
    let mut text = versions.text();
    let second = if product == "Formwork" {
        format!("language of Terraform v{level}\n")
    } else {
        format!("by Formwork v{VERSION}\n")
    };
    let at = text.find('\n').map_or(text.len(), |at| at + 1);
    text.insert_str(at, &second);
    session.streams.out(&text);
    exit::SUCCESS
}

/// The platform in the words that Terraform has for it.
fn platform() -> String {
    let system = match std::env::consts::OS {
        "macos" => "darwin",
        other => other,
    };
    let machine = match std::env::consts::ARCH {
        "x86_64" => "amd64",
        "aarch64" => "arm64",
        other => other,
    };
    format!("{system}_{machine}")
}
