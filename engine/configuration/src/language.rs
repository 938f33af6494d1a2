//! The language level that we claim, and `required_version`.

use crate::version::{Verdict, VersionConstraints, parse_version};
use formwork_diagnostics::{Diagnostic, SourceRange};
use semver::Version;

/// The level of Terraform's language that Formwork runs.
pub const LANGUAGE_LEVEL: Version = Version::new(1, 12, 2);

/// What we claim to be when a configuration asks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LanguageLevel {
    /// The claimed version of Terraform.
    pub version: Version,
    /// Whether constraints that exclude us only from above are errors, as in Terraform.
    pub strict: bool,
}

impl Default for LanguageLevel {
    fn default() -> Self {
        Self {
            version: LANGUAGE_LEVEL,
            strict: false,
        }
    }
}

impl LanguageLevel {
    /// The level, with a claim (`FORMWORK_TERRAFORM_VERSION`) in place of our own, if there is one.
    ///
    /// # Errors
    /// Why the claim is no version.
    pub fn new(claim: Option<&str>, strict: bool) -> Result<Self, String> {
        let version = claim.map_or(Ok(LANGUAGE_LEVEL), parse_version)?;
        Ok(Self { version, strict })
    }

    /// What there is to say about a `required_version` at `range`.
    pub(crate) fn check(
        &self,
        required: &VersionConstraints,
        range: SourceRange,
    ) -> Option<Diagnostic> {
        let verdict = required.verdict(&self.version);
        let level = &self.version;
        let older = match verdict {
            Verdict::Allowed => return None,
            Verdict::TooOld => {
                return Some(
                    Diagnostic::error(
                        "Unsupported Terraform Core version",
                        format!(
                            "The module requires Terraform {required}, and Formwork runs the \
                             language of Terraform {level}: what the module uses may be missing."
                        ),
                    )
                    .at(range)
                    .hint(
                        "If the module works with less, widen its constraint; if you want to try it \
                         as it is, claim another version with FORMWORK_TERRAFORM_VERSION.",
                    ),
                );
            }
            Verdict::TooNew => "only versions older than that",
            Verdict::Excluded => "any version but that",
        };
        let detail = format!(
            "The module requires Terraform {required}, that is {older}. Formwork runs the language \
             of Terraform {level}, in which later versions run what earlier ones did."
        );
        let d = if self.strict {
            Diagnostic::error("Unsupported Terraform Core version", detail)
        } else {
            Diagnostic::warning("Unsupported Terraform Core version", detail)
        };
        Some(d.at(range))
    }
}
