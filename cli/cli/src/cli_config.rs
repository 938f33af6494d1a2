//! The CLI configuration: what people keep in `.terraformrc` for all their configurations.
//!
//! Of it, what fetching modules needs is read: `credentials "HOST" { token = ... }` and
//! `host "HOST" { services = { ... } }`, and the tokens that `login` keeps in
//! `.terraform.d/credentials.tfrc.json`. The file is that of `TF_CLI_CONFIG_FILE`, else the one in the
//! home directory. Blocks and arguments about other things are passed over.

use formwork_diagnostics::{Diagnostic, Diagnostics, SourceMap};
use formwork_environment::Environment;
use formwork_syntax::Body;
use formwork_values::Value;
use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// What was read. Not to be shown: it holds tokens.
#[derive(Default)]
pub struct CliConfig {
    /// Tokens by host.
    pub credentials: BTreeMap<String, String>,
    /// Addresses of services by host.
    pub services: BTreeMap<String, BTreeMap<String, String>>,
}

/// Reads it. What is wrong with it is an error: a token that is passed over looks like one refused.
pub fn read(environment: &Environment, sources: &mut SourceMap) -> (CliConfig, Diagnostics) {
    let mut config = CliConfig::default();
    let mut said = Diagnostics::new();
    if let Some(home) = &environment.home {
        tokens(
            &home.join(".terraform.d/credentials.tfrc.json"),
            &mut config,
            &mut said,
        );
    }
    let named = environment
        .variable("TF_CLI_CONFIG_FILE")
        .or_else(|| environment.variable("TERRAFORM_CONFIG"));
    let path: Option<PathBuf> = match named {
        Some(path) => Some(environment.working.join(path)),
        None => environment.home.as_ref().map(|h| h.join(".terraformrc")),
    };
    let Some(path) = path else {
        return (config, said);
    };
    let bytes = match fs::read(&path) {
        Ok(bytes) => bytes,
        Err(e) if e.kind() == io::ErrorKind::NotFound => {
            if named.is_some() {
                said.push(Diagnostic::warning(
                    "Unable to open CLI configuration file",
                    format!(
                        "There is no file {}, which TF_CLI_CONFIG_FILE names.",
                        path.display()
                    ),
                ));
            }
            return (config, said);
        }
        Err(e) => {
            said.push(unreadable(&path, &e));
            return (config, said);
        }
    };
    let name = path.display().to_string();
    let file = sources.add_private(&*name, &bytes[..]);
    let body = said.take(formwork_syntax::parse(file, &bytes));
    blocks(&body, &mut config, &mut said);
    (config, said)
}

fn unreadable(path: &Path, why: &dyn std::fmt::Display) -> Diagnostic {
    Diagnostic::error(
        "Failed to read CLI configuration",
        format!("{} cannot be read: {why}.", path.display()),
    )
}

fn blocks(body: &Body, config: &mut CliConfig, said: &mut Diagnostics) {
    for block in body.blocks() {
        let Some(host) = block.labels.first() else {
            continue;
        };
        let host = host.value.to_ascii_lowercase();
        let argument = |name: &str, said: &mut Diagnostics| -> Option<Value> {
            let attribute = block.body.attribute(name)?;
            Some(said.take(formwork_eval::evaluate_literal(
                &attribute.expression.as_constant(),
            )))
        };
        match &*block.block_type {
            "credentials" => {
                if let Some(token) = argument("token", said)
                    && let Some(token) = token.as_str()
                {
                    config.credentials.insert(host, token.to_owned());
                }
            }
            "host" => {
                let services = argument("services", said);
                let entries = services.as_ref().and_then(Value::elements);
                let all = entries.into_iter().flatten().filter_map(|(name, address)| {
                    Some((name.as_str()?.to_owned(), address.as_str()?.to_owned()))
                });
                config.services.insert(host, all.collect());
            }
            _ => {}
        }
    }
}

/// Reads the tokens that `login` has kept.
fn tokens(path: &Path, config: &mut CliConfig, said: &mut Diagnostics) {
    let bytes = match fs::read(path) {
        Ok(bytes) => bytes,
        Err(e) if e.kind() == io::ErrorKind::NotFound => return,
        Err(e) => return said.push(unreadable(path, &e)),
    };
    let read: serde_json::Value = match serde_json::from_slice(&bytes) {
        Ok(read) => read,
        // where in the file, and no word of it
        Err(e) => {
            let why = format!("line {} is no JSON", e.line());
            return said.push(unreadable(path, &why));
        }
    };
    let hosts = read
        .get("credentials")
        .and_then(serde_json::Value::as_object);
    for (host, entry) in hosts.into_iter().flatten() {
        if let Some(token) = entry.get("token").and_then(serde_json::Value::as_str) {
            config
                .credentials
                .insert(host.to_ascii_lowercase(), token.to_owned());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use formwork_environment::Fixed;
    use std::sync::Arc;

    #[test]
    fn tokens_and_services() {
        let folder = tempfile::tempdir().expect("a folder");
        let home = folder.path().to_owned();
        let write = |name: &str, text: &str| {
            let path = home.join(name);
            fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
            fs::write(path, text).expect("a file");
        };
        let fixed = Arc::new(Fixed::new(0, 1));
        let mut environment = Environment {
            variables: BTreeMap::new(),
            home: Some(home.clone()),
            working: home.clone(),
            temporary: home.clone(),
            who: String::new(),
            process: 1,
            clock: fixed.clone(),
            randomness: fixed,
        };
        let (config, said) = read(&environment, &mut SourceMap::new());
        assert!(said.is_empty() && config.credentials.is_empty());
        write(
            ".terraformrc",
            "plugin_cache_dir = \"$HOME/x\"\ndisable_checkpoint = true\ncredentials \"App.example.com\" {\n  token = \"one\"\n}\nhost \"e.com\" {\n  services = {\n    \"modules.v1\" = \"https://e.com/m/\"\n  }\n}\nprovider_installation {\n  direct {}\n}\n",
        );
        write(
            ".terraform.d/credentials.tfrc.json",
            r#"{"credentials":{"app.example.com":{"token":"older"},"b.com":{"token":"two"}}}"#,
        );
        let (config, said) = read(&environment, &mut SourceMap::new());
        assert!(said.is_empty(), "{said:?}");
        assert_eq!(config.credentials["app.example.com"], "one");
        assert_eq!(config.credentials["b.com"], "two");
        assert_eq!(config.services["e.com"]["modules.v1"], "https://e.com/m/");
        write("other", "credentials {");
        environment
            .variables
            .insert("TF_CLI_CONFIG_FILE".to_owned(), "other".to_owned());
        assert!(read(&environment, &mut SourceMap::new()).1.has_errors());
        environment
            .variables
            .insert("TF_CLI_CONFIG_FILE".to_owned(), "absent".to_owned());
        let (_, said) = read(&environment, &mut SourceMap::new());
        assert!(!said.has_errors() && !said.is_empty());
        write(".terraform.d/credentials.tfrc.json", "s3cr3t");
        let (_, said) = read(&environment, &mut SourceMap::new());
        assert!(said.has_errors() && !format!("{said:?}").contains("s3cr3t"));
    }
}
