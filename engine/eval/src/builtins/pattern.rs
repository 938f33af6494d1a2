//! Regular expressions, compiled, and what they find.
//!
//! [`super::re2`] reads them; the engine is that of the `regex` crate. It answers in time linear in the
//! text, whatever the pattern.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use regex_automata::meta;
use regex_automata::util::captures::Captures;

use super::re2;

/// How much memory a compiled pattern may take. Counts go up to 1,000, of anything.
const LARGEST: usize = 100 * 1024 * 1024;

/// A compiled pattern.
pub(super) struct Pattern {
    engine: meta::Regex,
    /// The groups that capture, the first at 0, by their names.
    pub groups: Vec<Option<Arc<str>>>,
}

/// One match: the whole and its groups, as places in the text.
pub(super) struct Match<'t> {
    text: &'t str,
    found: Captures,
}

impl<'t> Match<'t> {
    /// A group's text, 0 for the whole; `None` if it took no part.
    pub fn group(&self, number: usize) -> Option<&'t str> {
        let span = self.found.get_group(number)?;
        self.text.get(span.range())
    }

    fn range(&self) -> std::ops::Range<usize> {
        self.found.get_match().map_or(0..0, |m| m.range())
    }
}

/// Compiles a pattern.
///
/// # Errors
/// A sentence.
fn compile(pattern: &str) -> Result<Pattern, String> {
    let parsed = re2::parse(pattern)?;
    let config = meta::Config::new()
        .nfa_size_limit(Some(LARGEST))
        .onepass_size_limit(Some(1024 * 1024));
    // the compiler goes down into the pattern, which may be as deep as groups may be
    let built = stacker::maybe_grow(2 * 1024 * 1024, 16 * 1024 * 1024, || {
        meta::Builder::new()
            .configure(config)
            .build_from_hir(&parsed.hir)
            .map_err(|_| "The pattern grows too large when compiled.".to_owned())
    });
    Ok(Pattern {
        engine: built?,
        groups: parsed.groups,
    })
}

/// How many compiled patterns are kept.
const KEPT: usize = 256;
/// How much memory one that is kept may take.
const LARGEST_KEPT: usize = 512 * 1024;

/// Patterns that were compiled, so that an expression that is evaluated for each of many instances
/// compiles its pattern once.
#[derive(Clone, Default)]
pub(super) struct Patterns(Arc<Mutex<HashMap<Box<str>, Arc<Pattern>>>>);

impl Patterns {
    /// The pattern, compiled now or before.
    ///
    /// # Errors
    /// A sentence.
    pub fn compiled(&self, pattern: &str) -> Result<Arc<Pattern>, String> {
        let kept = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(found) = kept().get(pattern) {
            return Ok(found.clone());
        }
        // not while others wait: it may take long
        let compiled = Arc::new(compile(pattern)?);
        if compiled.engine.memory_usage() > LARGEST_KEPT {
            return Ok(compiled);
        }
        let mut kept = kept();
        if kept.len() >= KEPT {
            kept.clear();
        }
        kept.insert(pattern.into(), compiled.clone());
        Ok(compiled)
    }
}

impl Pattern {
    /// The first match.
    pub fn first<'t>(&self, text: &'t str) -> Option<Match<'t>> {
        let mut found = self.engine.create_captures();
        self.engine.captures(text, &mut found);
        found.is_match().then_some(Match { text, found })
    }

    /// All matches that do not overlap, in order. An empty one that touches the one before is none.
    pub fn all<'t>(&self, text: &'t str) -> impl Iterator<Item = Match<'t>> {
        self.engine
            .captures_iter(text)
            .map(move |found| Match { text, found })
    }

    /// The text with each match replaced. In the replacement `$1`, `$name` and `${name}` stand for
    /// groups and `$$` for a dollar; a group that is not there or took no part stands for nothing.
    /// `None` if it would grow beyond `longest` bytes.
    pub fn replace_all(&self, text: &str, replacement: &str, longest: usize) -> Option<String> {
        let longest = longest.max(text.len());
        let mut out = String::with_capacity(text.len());
        let mut done = 0;
        for found in self.all(text) {
            let range = found.range();
            out.push_str(text.get(done..range.start).unwrap_or_default());
            self.expand(&found, replacement, &mut out);
            done = range.end;
            if out.len() > longest {
                return None;
            }
        }
        out.push_str(text.get(done..).unwrap_or_default());
        (out.len() <= longest).then_some(out)
    }

    fn expand(&self, found: &Match<'_>, replacement: &str, out: &mut String) {
        let mut rest = replacement;
        while let Some((before, after)) = rest.split_once('$') {
            out.push_str(before);
            if let Some(after) = after.strip_prefix('$') {
                out.push('$');
                rest = after;
                continue;
            }
            match reference(after) {
                Some((name, after)) => {
                    out.push_str(self.named(found, name).unwrap_or_default());
                    rest = after;
                }
                None => {
                    out.push('$');
                    rest = after;
                }
            }
        }
        out.push_str(rest);
    }

    /// The text of a group by number or name; of several of a name the first that took part.
    fn named<'t>(&self, found: &Match<'t>, name: &str) -> Option<&'t str> {
        let is_number = name.bytes().all(|b| b.is_ascii_digit());
        if is_number && (name == "0" || !name.starts_with('0')) {
            return found.group(name.parse().ok()?);
        }
        let of_name = |(at, group): (usize, &Option<Arc<str>>)| {
            (group.as_deref() == Some(name))
                .then(|| found.group(at + 1))
                .flatten()
        };
        self.groups.iter().enumerate().find_map(of_name)
    }
}

/// The name of a group after a dollar, with braces or without, and what follows.
fn reference(text: &str) -> Option<(&str, &str)> {
    let braced = text.strip_prefix('{');
    let begin = braced.unwrap_or(text);
    let end = begin
        .find(|c: char| c != '_' && !c.is_alphabetic() && !is_digit(c))
        .unwrap_or(begin.len());
    let (name, rest) = begin.split_at(end);
    if name.is_empty() {
        return None;
    }
    match braced {
        None => Some((name, rest)),
        Some(_) => Some((name, rest.strip_prefix('}')?)),
    }
}

/// A decimal digit of any script.
fn is_digit(c: char) -> bool {
    c.is_ascii_digit() || (!c.is_ascii() && c.is_numeric())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn finds(pattern: &str, text: &str) -> Option<String> {
        let pattern = compile(pattern).ok()?;
        let found = pattern.first(text)?;
        found.group(0).map(str::to_owned)
    }

    #[test]
    fn classes_are_ascii_and_oddities_are_literal() {
        for (pattern, text, found) in [
            (r"\d+", "٣42", Some("42")),
            (r"\w+", "é_a", Some("_a")),
            (r"[\w-]+", "é-b", Some("-b")),
            (r"[^\W]+", "é_a", Some("_a")),
            (r"\bb", "éb", Some("b")),
            (r"\Qa.b*\E+", "a.b**", Some("a.b**")),
            ("${x}", "${x}", None),
            (r"\${x}", "${x}", Some("${x}")),
            ("a{,2}", "a{,2}", Some("a{,2}")),
            ("a{02}", "a{02}", Some("a{02}")),
            ("a{2}", "aaa", Some("aa")),
            ("[[]", "[", Some("[")),
            ("[]a]+", "]a", Some("]a")),
            ("[a&&b]+", "&b", Some("&b")),
            ("[[:alpha:]]+", "1ab", Some("ab")),
            (r"\x{e9}\x41", "éA", Some("éA")),
            (r"\101", "A", Some("A")),
            (r"a\-b\_c", "a-b_c", Some("a-b_c")),
            ("(?i)É", "é", Some("é")),
            (r"(?i)\w", "ſ", Some("ſ")),
            (r"(?i)[^k]", "\u{212a}", None),
            ("(?P<n>a)|(?:b)", "b", Some("b")),
            ("(?P<1>a)(?<1>b)", "ab", Some("ab")),
            ("a]", "a]", Some("a]")),
            (r"[a-c-]+", "b-", Some("b-")),
            (r"\<", "<", Some("<")),
            ("^*a", "a", Some("a")),
            ("a(?i)*", "aaA", Some("aa")),
            ("(?)a", "a", Some("a")),
            ("(a){0}b", "ab", Some("b")),
            (r"(?U)a+", "aaa", Some("a")),
            (r"(?U)a+?", "aaa", Some("aaa")),
            (r"(?s).+", "a\nb", Some("a\nb")),
            ("(?m)^b$", "a\nb\nc", Some("b")),
            ("b$", "b\n", None),
            (r"\pL{200}|x", "x", Some("x")),
            (r"\x{d800}|a", "a", Some("a")),
            (r"\p{^Greek}\PL", "a1", Some("a1")),
        ] {
            assert_eq!(
                finds(pattern, text).as_deref(),
                found,
                "{pattern} in {text}"
            );
        }
        for wrong in [
            "a**",
            "(?=a)",
            r"\1",
            "(?x)a",
            "a{1001}",
            "[a",
            "(",
            r"\y",
            "*a",
            "a\\",
            r"\C",
            r"\E",
            ")",
            "(?i",
            "(?-)",
            "(?P<a-b>x)",
            "(?P<n",
            r"\p{Letter}",
            r"\p{greek}",
            r"\pX",
            "(a{100}){11}",
            "a{2,1}",
            "[b-a]",
            "[[:foo:]]",
            r"[\d-\w]x[a-\d]",
            r"\x{110000}",
            r"\x4",
            "|*",
            "(*)",
            "a|*",
            r"\8",
        ] {
            assert!(compile(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn deep_and_large_patterns() {
        let deep = format!("{}a{}", "(".repeat(1_000), ")".repeat(1_000));
        assert!(finds(&deep, "a").is_some());
        let deeper = format!("{}a{}", "(".repeat(1_001), ")".repeat(1_001));
        assert!(compile(&deeper).is_err());
        assert!(finds(&"(?:a*)*".repeat(2_000), "b").is_some());
    }

    #[test]
    fn replacements() {
        let pattern = compile("(?P<n>a)(b)?").expect("a pattern");
        for (by, expected) in [
            ("<$0>", "<ab>x<a>"),
            ("$1x", "x"),
            ("${1}x", "axxax"),
            ("$n-$2", "a-bxa-"),
            ("$$1", "$1x$1"),
            ("$", "$x$"),
            ("${", "${x${"),
            ("$é", "x"),
            ("${n", "${nx${n"),
            ("$01", "x"),
            ("$9", "x"),
        ] {
            assert_eq!(
                pattern.replace_all("abxa", by, 100).as_deref(),
                Some(expected),
                "{by}"
            );
        }
    }
}
