//! A call's source, brought to what is fetched.

use crate::address::{Source, clean_subdirectory};
use crate::problem::Problem;
use crate::registry::RegistryModule;
use formwork_addresses::ModulePath;
use formwork_configuration::{ModuleSource, VersionConstraints, parse_version};

/// What is wrong with a source, as Terraform sums it up.
const INVALID: &str = "Invalid module source address";

/// What a source asks for.
#[derive(Clone, Debug)]
pub(crate) enum Wanted {
    Registry {
        module: RegistryModule,
        subdirectory: Option<String>,
    },
    Package(Source),
}

/// A source in normal form, as it stands in the manifest, and what it asks for.
pub(crate) fn wanted(source: &ModuleSource) -> Result<(String, Wanted), Problem> {
    match source {
        ModuleSource::Registry {
            host,
            namespace,
            name,
            system,
            subdirectory,
        } => {
            let module = RegistryModule {
                host: host.to_ascii_lowercase(),
                namespace: namespace.to_string(),
                name: name.to_string(),
                system: system.to_string(),
            };
            let subdirectory = match subdirectory {
                None => None,
                Some(sub) => clean_subdirectory(sub).map_err(|why| {
                    Problem::new(INVALID, format!("\"{source}\" is no module source: {why}."))
                })?,
            };
            let mut text = module.to_string();
            if let Some(sub) = &subdirectory {
                text.push_str("//");
                text.push_str(sub);
            }
            Ok((
                text,
                Wanted::Registry {
                    module,
                    subdirectory,
                },
            ))
        }
        ModuleSource::Remote(text) | ModuleSource::Local(text) => {
            let source = Source::parse(text).map_err(|why| {
                let shown = crate::address::Address::new(&**text);
                Problem::new(INVALID, format!("\"{shown}\" is no module source: {why}."))
            })?;
            Ok((source.to_string(), Wanted::Package(source)))
        }
    }
}

/// A source out of a manifest, in our normal form: Terraform writes credentials that we do not.
pub(crate) fn normal(recorded: &str) -> String {
    Source::parse(recorded).map_or_else(|_| recorded.to_owned(), |s| s.to_string())
}

/// Whether a recorded version will do.
pub(crate) fn acceptable(version: &str, constraints: Option<&VersionConstraints>) -> bool {
    match constraints {
        None => true,
        Some(constraints) => parse_version(version).is_ok_and(|v| constraints.allows(&v)),
    }
}

/// A module's key in the manifest.
pub(crate) fn key(path: &ModulePath) -> String {
    path.names().collect::<Vec<_>>().join(".")
}

/// A package with its version, as it is shown and remembered.
pub(crate) fn titled(package: &str, version: &str) -> String {
    if version.is_empty() {
        package.to_owned()
    } else {
        format!("{package} {version}")
    }
}

/// A local source as the manifest has it: without detours, beginning with `./` or `../`.
pub(crate) fn local(text: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for part in text.split('/') {
        match part {
            "" | "." => {}
            ".." if parts.last().is_some_and(|p| *p != "..") => {
                parts.pop();
            }
            other => parts.push(other),
        }
    }
    match parts.first() {
        Some(&"..") => parts.join("/"),
        Some(_) => format!("./{}", parts.join("/")),
        None => ".".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::local;

    #[test]
    fn local_sources_as_terraform_writes_them() {
        for (text, normal) in [
            ("./loc/../loc/", "./loc"),
            ("./m", "./m"),
            ("../b", "../b"),
            ("./../b/./c", "../b/c"),
            ("../../a/..", "../.."),
            ("./", "."),
        ] {
            assert_eq!(local(text), normal, "{text}");
        }
    }
}
