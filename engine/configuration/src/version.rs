//! Versions and version constraints, as Terraform reads them.
//!
//! [`semver`]'s own requirements are Cargo's, not Terraform's: there `1.2` means `^1.2`, here it
//! means exactly 1.2.0, and `~>` does not exist there. So a constraint is a type of our own over
//! [`semver::Version`]. Facts, observed on terraform 1.11.4:
//!
//! - Terms are joined by commas and all must hold; no term may be empty.
//! - A version may have one to any number of parts; missing ones are zero. `v1.2` is `1.2`.
//! - `~> a.b.c` lets only the last written part grow: `~> 1.2` is `>= 1.2, < 2`, `~> 1.2.3` is
//!   `>= 1.2.3, < 1.3`, and `~> 1` is just `>= 1`.
//! - A pre-release satisfies a constraint only if a term names exactly that pre-release.
//! - Build metadata is ignored.
//!
//! Versions with more than three parts are accepted in a constraint; as no version we compare with
//! has a fourth part, it only matters whether it is zero.

use semver::{BuildMetadata, Prerelease, Version};
use std::fmt;

/// How a term compares.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Comparison {
    /// `=`, or no operator.
    Equal,
    /// `!=`.
    NotEqual,
    /// `>`.
    Greater,
    /// `>=`.
    GreaterOrEqual,
    /// `<`.
    Less,
    /// `<=`.
    LessOrEqual,
    /// `~>`: at least this, and only the last written part may grow.
    Pessimistic,
}

impl Comparison {
    fn symbol(self) -> &'static str {
        match self {
            Self::Equal => "=",
            Self::NotEqual => "!=",
            Self::Greater => ">",
            Self::GreaterOrEqual => ">=",
            Self::Less => "<",
            Self::LessOrEqual => "<=",
            Self::Pessimistic => "~>",
        }
    }
}

/// One comparison with one version.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VersionTerm {
    /// How to compare.
    pub comparison: Comparison,
    /// With what; parts that were not written are zero.
    pub version: Version,
    /// How many parts were written, which is what `~>` goes by.
    pub parts: usize,
    /// Whether a fourth or later part is above zero, which lies above the three that we compare.
    beyond: bool,
}

/// Versions that are acceptable: every term must hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VersionConstraints {
    text: String,
    terms: Vec<VersionTerm>,
}

/// How a version relates to constraints, when they are a claim about the tool itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// They hold.
    Allowed,
    /// A lower bound lies above the version: something newer is needed.
    TooOld,
    /// Every term that fails does so because it wants something older.
    TooNew,
    /// Only this very version is excluded, by `!=`.
    Excluded,
}

impl VersionConstraints {
    /// Reads constraints such as `>= 1.3, < 2.0`.
    ///
    /// # Errors
    /// A clause that says which term is wrong and why.
    pub fn parse(text: &str) -> Result<Self, String> {
        let terms = text
            .split(',')
            .map(|t| term(t.trim()))
            .collect::<Result<_, _>>()?;
        Ok(Self {
            text: text.trim().to_owned(),
            terms,
        })
    }

    /// The terms in the order written.
    pub fn terms(&self) -> &[VersionTerm] {
        &self.terms
    }

    /// Whether a term names a pre-release.
    pub fn names_prerelease(&self) -> bool {
        self.terms.iter().any(|t| !t.version.pre.is_empty())
    }

    /// Whether all terms hold for `version`.
    pub fn allows(&self, version: &Version) -> bool {
        if !version.pre.is_empty()
            && !self
                .terms
                .iter()
                .any(|t| t.comparison == Comparison::Equal && same(&t.version, version))
        {
            return false;
        }
        self.terms.iter().all(|t| t.holds(version))
    }

    /// The highest of `versions` that is allowed.
    pub fn highest<'a>(
        &self,
        versions: impl IntoIterator<Item = &'a Version>,
    ) -> Option<&'a Version> {
        versions.into_iter().filter(|v| self.allows(v)).max()
    }

    /// How `version` stands to the constraints; a lower bound that fails weighs most.
    pub fn verdict(&self, version: &Version) -> Verdict {
        let mut verdict = Verdict::Allowed;
        for t in self.terms.iter().filter(|t| !t.holds(version)) {
            let wants_newer = match t.comparison {
                Comparison::NotEqual => {
                    if verdict == Verdict::Allowed {
                        verdict = Verdict::Excluded;
                    }
                    continue;
                }
                Comparison::Greater | Comparison::GreaterOrEqual => true,
                Comparison::Less | Comparison::LessOrEqual => false,
                Comparison::Equal | Comparison::Pessimistic => t.at_least(version).is_gt(),
            };
            if wants_newer {
                return Verdict::TooOld;
            }
            verdict = Verdict::TooNew;
        }
        verdict
    }
}

/// Constraints joined into one text, in the order and spelling that Terraform writes: by version, then
/// by operator; each once; all three parts of a version, but for `~>`, where what was not written
/// counts.
pub fn canonical_constraints<'c>(all: impl IntoIterator<Item = &'c VersionConstraints>) -> String {
    let terms = all.into_iter().flat_map(|c| &c.terms);
    let mut texts: Vec<(&Version, usize, std::cmp::Reverse<usize>, String)> = terms
        .map(|term| {
            let place = match term.comparison {
                Comparison::Greater => 0,
                Comparison::GreaterOrEqual => 1,
                Comparison::Equal => 2,
                Comparison::Pessimistic => 3,
                Comparison::LessOrEqual => 4,
                Comparison::Less => 5,
                Comparison::NotEqual => 6,
            };
            let version = &term.version;
            let text = match term.comparison {
                Comparison::Equal => version.to_string(),
                Comparison::Pessimistic if term.parts < 3 => {
                    format!("~> {}.{}", version.major, version.minor)
                }
                comparison => format!("{} {version}", comparison.symbol()),
            };
            (version, place, std::cmp::Reverse(term.parts), text)
        })
        .collect();
    texts.sort();
    let mut texts: Vec<String> = texts.into_iter().map(|(.., text)| text).collect();
    texts.dedup();
    texts.join(", ")
}

impl fmt::Display for VersionConstraints {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl fmt::Display for VersionTerm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.comparison.symbol(), self.version)
    }
}

impl VersionTerm {
    /// How the term's version, its parts beyond the third included, compares with `version`.
    fn at_least(&self, version: &Version) -> std::cmp::Ordering {
        self.version.cmp_precedence(version).then(if self.beyond {
            std::cmp::Ordering::Greater
        } else {
            std::cmp::Ordering::Equal
        })
    }

    /// Whether the term holds for `version`.
    pub fn holds(&self, version: &Version) -> bool {
        let ours = self.at_least(version);
        match self.comparison {
            Comparison::Equal => ours.is_eq(),
            Comparison::NotEqual => ours.is_ne(),
            Comparison::Greater => ours.is_lt(),
            Comparison::GreaterOrEqual => ours.is_le(),
            Comparison::Less => ours.is_gt(),
            Comparison::LessOrEqual => ours.is_ge(),
            Comparison::Pessimistic => {
                ours.is_le()
                    && (self.parts < 2 || version.major == self.version.major)
                    && (self.parts < 3 || version.minor == self.version.minor)
                    && (self.parts < 4 || version.patch == self.version.patch)
            }
        }
    }
}

fn same(a: &Version, b: &Version) -> bool {
    a.cmp_precedence(b).is_eq()
}

fn term(text: &str) -> Result<VersionTerm, String> {
    if text.is_empty() {
        return Err("a term is empty".to_owned());
    }
    let operators = [
        ("~>", Comparison::Pessimistic),
        (">=", Comparison::GreaterOrEqual),
        ("<=", Comparison::LessOrEqual),
        ("!=", Comparison::NotEqual),
        (">", Comparison::Greater),
        ("<", Comparison::Less),
        ("=", Comparison::Equal),
    ];
    let (comparison, rest) = operators
        .iter()
        .find_map(|(s, c)| text.strip_prefix(s).map(|rest| (*c, rest)))
        .unwrap_or((Comparison::Equal, text));
    let (version, parts, beyond) =
        lenient(rest.trim()).map_err(|reason| format!("in \"{text}\", {reason}"))?;
    Ok(VersionTerm {
        comparison,
        version,
        parts,
        beyond,
    })
}

/// Reads a version as Terraform writes it: one or more parts, an optional `v`, pre-release, build.
///
/// # Errors
/// A clause that says what is wrong.
pub fn parse_version(text: &str) -> Result<Version, String> {
    lenient(text.trim()).map(|(version, _, _)| version)
}

fn lenient(text: &str) -> Result<(Version, usize, bool), String> {
    let wrong = || format!("\"{text}\" is not a version such as 1.2.3");
    let bare = text.strip_prefix('v').unwrap_or(text);
    let (bare, build) = bare.split_once('+').unwrap_or((bare, ""));
    let (numbers, pre) = bare.split_once('-').unwrap_or((bare, ""));
    let mut parts = Vec::new();
    for part in numbers.split('.') {
        if part.is_empty() || !part.bytes().all(|b| b.is_ascii_digit()) {
            return Err(wrong());
        }
        parts.push(part.parse::<u64>().map_err(|_| wrong())?);
    }
    let at = |i: usize| parts.get(i).copied().unwrap_or(0);
    let version = Version {
        major: at(0),
        minor: at(1),
        patch: at(2),
        pre: Prerelease::new(pre).map_err(|_| wrong())?,
        build: BuildMetadata::new(build).map_err(|_| wrong())?,
    };
    let beyond = parts.iter().skip(3).any(|p| *p > 0);
    Ok((version, parts.len(), beyond))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(constraints: &str, version: &str, expected: Verdict) {
        let c = VersionConstraints::parse(constraints).expect("constraints");
        let v = parse_version(version).expect("version");
        assert_eq!(c.verdict(&v), expected, "{constraints} against {version}");
    }

    #[test]
    fn verdicts() {
        use Verdict::{Allowed, Excluded, TooNew, TooOld};
        // The first twelve are what terraform 1.11.4 answers for itself (allowed or not).
        check("~> 0", "1.11.4", Allowed);
        check("~> 1", "1.11.4", Allowed);
        check("~> 2", "1.11.4", TooOld);
        check("~> 1.0", "1.11.4", Allowed);
        check("1.11", "1.11.4", TooNew);
        check("v1.11.4", "1.11.4", Allowed);
        check("~>1.11", "1.11.4", Allowed);
        check(">= 1.0.0.0", "1.11.4", Allowed);
        check("~> 1.11.4.0", "1.11.4", Allowed);
        check("~> 0.0", "1.11.4", TooNew);
        check("1.11.4+meta", "1.11.4", Allowed);
        check(">= 1, != 1.11.4", "1.11.4", Excluded);
        check("~> 1.5.0", "1.12.2", TooNew);
        check("= 1.9.8", "1.12.2", TooNew);
        check("= 1.13.0", "1.12.2", TooOld);
        check(">= 1.3, < 1.6", "1.12.2", TooNew);
        check(">= 1.13, < 1.6", "1.12.2", TooOld);
        check("~> 1.2.3", "1.3.0", TooNew);
        check("~> 1.2.3", "1.2.9", Allowed);
    }

    #[test]
    fn bad_constraints() {
        for text in [
            "",
            ",>= 1",
            ">=1.0,<2,",
            ">= 1.0 < 2",
            "1.x",
            "== 1",
            "=> 1",
        ] {
            assert!(VersionConstraints::parse(text).is_err(), "{text}");
        }
        assert_eq!(
            VersionConstraints::parse(">= 1.x").unwrap_err(),
            "in \">= 1.x\", \"1.x\" is not a version such as 1.2.3"
        );
    }

    #[test]
    fn prereleases_by_exact_match_only() {
        let beta = parse_version("2.0.0-beta1").expect("version");
        let allows = |c: &str| {
            VersionConstraints::parse(c)
                .expect("constraints")
                .allows(&beta)
        };
        assert!(!allows(">= 1.0"));
        assert!(allows("2.0.0-beta1"));
        let versions: Vec<_> = ["5.0.0", "7.11.0", "7.2.0", "8.0.0-rc1"]
            .iter()
            .map(|v| parse_version(v).expect("version"))
            .collect();
        let highest = VersionConstraints::parse(">= 6, < 8")
            .expect("constraints")
            .highest(&versions)
            .map(ToString::to_string);
        assert_eq!(highest.as_deref(), Some("7.11.0"));
    }

    #[test]
    fn canonical() {
        let check = |text: &str, want: &str| {
            let constraints = VersionConstraints::parse(text).expect("constraints");
            assert_eq!(canonical_constraints([&constraints]), want, "{text}");
        };
        check("~> 5", "~> 5.0");
        check(">= 1, < 2", ">= 1.0.0, < 2.0.0");
        check("= 1.2", "1.2.0");
        check("1.2.3-beta1", "1.2.3-beta1");
        check("!= 1, != 1, >1", "> 1.0.0, != 1.0.0");
        check(
            "> 1.0, < 1.0, >= 1.0, <= 1.0, = 1.0, != 1.0, ~> 1.0, ~> 1.0.0",
            "> 1.0.0, >= 1.0.0, 1.0.0, ~> 1.0.0, ~> 1.0, <= 1.0.0, < 1.0.0, != 1.0.0",
        );
        check("< 2, > 1", "> 1.0.0, < 2.0.0");
        check("~> 1.2.3-beta1, > 1.2.3", "~> 1.2.3-beta1, > 1.2.3");
        check(">= 1.10, >= 1.9", ">= 1.9.0, >= 1.10.0");
        check("~> 1.2.3, ~> 1.2", "~> 1.2, ~> 1.2.3");
    }
}
