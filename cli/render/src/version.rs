//! What `version` says.

use crate::json::write;
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// What there is to say about versions.
#[derive(Clone, Debug)]
pub struct Versions<'a> {
    /// The name on the first line: `Formwork`, or `Terraform` or `OpenTofu` where pipelines look for
    /// that.
    pub product: &'a str,
    /// The version on the first line: our own, or under another name the language version claimed.
    pub version: &'a str,
    /// Our own version.
    pub tool_version: &'a str,
    /// The language version claimed.
    pub language_version: &'a str,
    /// Such as `linux_amd64`.
    pub platform: &'a str,
    /// Versions of providers by source address.
    pub providers: BTreeMap<String, String>,
}

impl Versions<'_> {
    /// As people and pipelines read it: `Formwork v0.1.0`, `on linux_amd64`, a line per provider.
    pub fn text(&self) -> String {
        // writing to a String cannot fail
        let mut out = format!("{} v{}\non {}\n", self.product, self.version, self.platform);
        for (provider, version) in &self.providers {
            let _ = writeln!(out, "+ provider {provider} v{version}");
        }
        out
    }

    /// As `version -json` has it, indented, with a line end.
    pub fn json(&self) -> String {
        let compact = write::object(|o| {
            o.text("terraform_version", self.language_version);
            o.text("platform", self.platform);
            o.object("provider_selections", |o| {
                for (provider, version) in &self.providers {
                    o.text(provider, version);
                }
            });
            o.bool("terraform_outdated", false);
            o.object("formwork", |o| {
                o.text("format_version", "1.0");
                o.text("version", self.tool_version);
            });
        });
        let mut out = write::indented(&compact);
        out.push('\n');
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both() {
        let mut versions = Versions {
            product: "Formwork",
            version: "0.1.0",
            tool_version: "0.1.0",
            language_version: "1.12.2",
            platform: "linux_amd64",
            providers: BTreeMap::new(),
        };
        assert_eq!(versions.text(), "Formwork v0.1.0\non linux_amd64\n");
        versions.providers.insert(
            "registry.terraform.io/hashicorp/google".into(),
            "7.1.0".into(),
        );
        assert_eq!(
            versions.text(),
            "Formwork v0.1.0\non linux_amd64\n+ provider registry.terraform.io/hashicorp/google v7.1.0\n"
        );
        assert_eq!(
            versions.json(),
            "{\n  \"terraform_version\": \"1.12.2\",\n  \"platform\": \"linux_amd64\",\n  \"provider_selections\": {\n    \"registry.terraform.io/hashicorp/google\": \"7.1.0\"\n  },\n  \"terraform_outdated\": false,\n  \"formwork\": {\n    \"format_version\": \"1.0\",\n    \"version\": \"0.1.0\"\n  }\n}\n"
        );
    }
}
