//! `version`: who this is, and which language and providers it stands for.
//!
//! Called by Terraform's name (a link to the binary, as pipelines have it that look for that name),
//! the first line is Terraform's with the level of the language, since version detection reads it.

use crate::arguments;
use crate::session::{Session, exit};
use formwork_configuration::{DiskReader, Loading, LocalModulesOnly, load};
use formwork_diagnostics::SourceMap;
use serde_json::json;
use std::collections::BTreeMap;
use std::path::Path;

/// Our own version.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Runs the command.
pub fn run(session: &Session, arguments: &arguments::Version) -> u8 {
    let level = session.level(false).version;
    let platform = platform();
    let selections = selections(session);
    if arguments.json {
        let answer = json!({
            "terraform_version": level.to_string(),
            "platform": platform,
            "provider_selections": selections,
            "terraform_outdated": false,
            "formwork": {"format_version": "1.0", "version": VERSION},
        });
        session.streams.out(&format!("{answer:#}\n"));
        return exit::SUCCESS;
    }
    let mut text = if session.called.starts_with("terraform") {
        format!("Terraform v{level}\non {platform}\n+ formwork v{VERSION}\n")
    } else {
        format!("Formwork v{VERSION}\nlanguage of Terraform v{level}\non {platform}\n")
    };
    for (provider, version) in selections {
        text.push_str(&format!("+ provider {provider} v{version}\n"));
    }
    session.streams.out(&text);
    exit::SUCCESS
}

/// The providers of the configuration here with the versions that they would have. A directory
/// without a configuration, or with a broken one, has none.
fn selections(session: &Session) -> BTreeMap<String, String> {
    let reader = DiskReader {
        base: session.environment.working.clone(),
    };
    let with = Loading {
        reader: &reader,
        fetcher: &LocalModulesOnly,
        level: session.level(false),
    };
    let (configuration, _) = load(Path::new("."), &with, &mut SourceMap::new());
    let mut all = BTreeMap::new();
    for (provider, locked) in &configuration.lock.providers {
        all.insert(provider.to_string(), locked.version.to_string());
    }
    all
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
