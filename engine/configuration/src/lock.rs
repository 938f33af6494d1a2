//! `.terraform.lock.hcl`: which versions of providers were chosen. Read, and left as it is.

use crate::constant::{text, text_argument};
use crate::depends_on::static_list;
use crate::provider::constraints;
use crate::shape::labels;
use crate::version::{VersionConstraints, parse_version};
use formwork_addresses::ProviderAddr;
use formwork_diagnostics::{Checked, Diagnostic, Diagnostics, SourceMap};
use semver::Version;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The name of the file, in the root module's directory.
pub const LOCK_FILE: &str = ".terraform.lock.hcl";

/// The contents of a dependency lock file.
#[derive(Clone, Debug, Default)]
pub struct DependencyLock {
    /// By provider.
    pub providers: BTreeMap<ProviderAddr, LockedProvider>,
    /// The file's bytes, which a plan keeps; `None` if there is no file.
    pub bytes: Option<Arc<[u8]>>,
}

/// What the file says of one provider.
#[derive(Clone, Debug)]
pub struct LockedProvider {
    /// The version that was chosen.
    pub version: Version,
    /// The constraints it was chosen by.
    pub constraints: Option<VersionConstraints>,
    /// Checksums of its packages, as written (`h1:`, `zh:`).
    pub hashes: Vec<Arc<str>>,
}

impl DependencyLock {
    /// Reads a lock file.
    pub fn parse(name: &str, bytes: &[u8], sources: &mut SourceMap) -> Checked<Self> {
        let file = sources.add(name, bytes);
        let (body, mut diagnostics) = formwork_syntax::parse(file, bytes);
        let mut lock = Self {
            bytes: Some(Arc::from(bytes)),
            ..Self::default()
        };
        for block in body.blocks_of("provider") {
            let Some([source]) = labels(block, ["source"], &mut diagnostics) else {
                continue;
            };
            let source: ProviderAddr = match source.parse() {
                Ok(s) => s,
                Err(why) => {
                    diagnostics.push(
                        Diagnostic::error(
                            "Invalid provider source address",
                            format!("The lock file names a provider that cannot exist: {why}."),
                        )
                        .at(block.header_range()),
                    );
                    continue;
                }
            };
            if let Some(locked) = locked(block, &mut diagnostics) {
                lock.providers.insert(source, locked);
            }
        }
        (lock, diagnostics)
    }
}

fn locked(block: &formwork_syntax::Block, diagnostics: &mut Diagnostics) -> Option<LockedProvider> {
    let body = &block.body;
    let Some((given, a)) = text_argument(body, "version", diagnostics) else {
        if body.attribute("version").is_none() {
            diagnostics.push(crate::shape::missing_argument("version", block.open_brace));
        }
        return None;
    };
    let version = match parse_version(&given) {
        Ok(v) => v,
        Err(why) => {
            diagnostics.push(
                Diagnostic::error(
                    "Invalid provider version number",
                    format!("The lock file cannot be read here: {why}."),
                )
                .at(a.expression.range()),
            );
            return None;
        }
    };
    let constraints = text_argument(body, "constraints", diagnostics)
        .and_then(|(given, a)| constraints(&given, a.expression.range(), diagnostics));
    let hashes = match body.attribute("hashes") {
        None => Vec::new(),
        Some(a) => static_list(&a.expression, diagnostics)
            .to_vec()
            .iter()
            .filter_map(|e| text(e, diagnostics))
            .collect(),
    };
    Some(LockedProvider {
        version,
        constraints,
        hashes,
    })
}
