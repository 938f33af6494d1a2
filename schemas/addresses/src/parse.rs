//! Reading addresses from text, and quoting keys in them.

use crate::instance::{InstanceKey, Resource, ResourceInstance, ResourceMode};
use crate::is_identifier;
use crate::module::{ModuleInstance, ModuleInstanceStep};
use std::fmt;
use std::sync::Arc;

/// Why a text is no address of the kind wanted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseError {
    /// The text.
    pub text: String,
    /// What is wrong with it, as a clause without a full stop.
    pub reason: String,
}

impl ParseError {
    pub(crate) fn new(text: &str, reason: impl Into<String>) -> Self {
        Self {
            text: text.to_owned(),
            reason: reason.into(),
        }
    }
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "\"{}\" is not a valid address: {}",
            self.text, self.reason
        )
    }
}

impl std::error::Error for ParseError {}

/// The text as a quoted string of the language: escapes for quote, backslash, control characters
/// and for the template markers `${` and `%{`.
pub(crate) fn quote(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '$' | '%' if chars.peek() == Some(&'{') => {
                out.push(c);
                out.push(c);
            }
            c if c.is_control() => {
                let n = u32::from(c);
                out.push_str(&format!("\\u{n:04x}"));
            }
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

#[derive(Clone, Debug, PartialEq)]
enum Step {
    Name(String),
    Key(InstanceKey),
}

/// The steps of an address text, consumed from the front.
pub(crate) struct Steps<'a> {
    text: &'a str,
    steps: std::collections::VecDeque<Step>,
}

impl<'a> Steps<'a> {
    pub(crate) fn new(text: &'a str) -> Result<Self, ParseError> {
        let mut steps = std::collections::VecDeque::new();
        let mut rest = text;
        loop {
            let end = rest.find(['.', '[']).unwrap_or(rest.len());
            let name = &rest[..end];
            if !is_identifier(name) {
                return Err(ParseError::new(
                    text,
                    if name.is_empty() {
                        "a name is missing".to_owned()
                    } else {
                        format!("\"{name}\" is not a name")
                    },
                ));
            }
            steps.push_back(Step::Name(name.to_owned()));
            rest = &rest[end..];
            if let Some(inner) = rest.strip_prefix('[') {
                let (key, after) = key(inner).map_err(|reason| ParseError::new(text, reason))?;
                steps.push_back(Step::Key(key));
                rest = after;
            }
            match rest.chars().next() {
                None => break,
                Some('.') => rest = &rest[1..],
                Some(c) => {
                    return Err(ParseError::new(
                        text,
                        format!("\"{c}\" is unexpected; a dot is wanted"),
                    ));
                }
            }
        }
        Ok(Self { text, steps })
    }

    fn error(&self, reason: impl Into<String>) -> ParseError {
        ParseError::new(self.text, reason)
    }

    fn name(&mut self, what: &str) -> Result<String, ParseError> {
        match self.steps.pop_front() {
            Some(Step::Name(n)) => Ok(n),
            Some(Step::Key(_)) => Err(self.error(format!("{what} is wanted before the key"))),
            None => Err(self.error(format!("{what} is missing"))),
        }
    }

    fn key(&mut self) -> InstanceKey {
        match self.steps.front() {
            Some(Step::Key(k)) => {
                let k = k.clone();
                self.steps.pop_front();
                k
            }
            _ => InstanceKey::None,
        }
    }

    fn at(&self, word: &str) -> bool {
        matches!(self.steps.front(), Some(Step::Name(n)) if n == word)
    }

    /// Consumes leading `module.NAME[KEY]` pairs.
    pub(crate) fn module(&mut self) -> Result<ModuleInstance, ParseError> {
        let mut calls = Vec::new();
        while self.at("module") {
            self.steps.pop_front();
            let name = self.name("the name of a module call")?;
            calls.push(ModuleInstanceStep {
                name: Arc::from(name),
                key: self.key(),
            });
        }
        Ok(ModuleInstance::from_steps(calls))
    }

    pub(crate) fn resource_instance(&mut self) -> Result<ResourceInstance, ParseError> {
        let mode = if self.at("data") {
            ResourceMode::Data
        } else if self.at("ephemeral") {
            ResourceMode::Ephemeral
        } else {
            ResourceMode::Managed
        };
        let spelled_out = self.at("resource") && self.steps.len() > 2;
        if mode != ResourceMode::Managed || spelled_out {
            self.steps.pop_front();
        }
        let kind = self.name("a resource type")?;
        let name = self.name("a resource name")?;
        let resource = Resource {
            mode,
            kind: Arc::from(kind),
            name: Arc::from(name),
        };
        Ok(ResourceInstance {
            resource,
            key: self.key(),
        })
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.steps.is_empty()
    }

    pub(crate) fn end(&self) -> Result<(), ParseError> {
        match self.steps.front() {
            None => Ok(()),
            Some(Step::Name(n)) => {
                Err(self.error(format!("nothing may follow the instance, but \"{n}\" does")))
            }
            Some(Step::Key(_)) => Err(self.error("only one key may follow a name")),
        }
    }
}

/// Reads a key after its opening bracket; gives what follows the closing one.
pub(crate) fn key(text: &str) -> Result<(InstanceKey, &str), String> {
    let Some(quoted) = text.strip_prefix('"') else {
        let end = text.find(']').ok_or("the key is not closed by \"]\"")?;
        let digits = &text[..end];
        let n = digits.parse::<i64>().map_err(|_| {
            format!("the key {digits:?} is neither a whole number nor a quoted text")
        })?;
        return Ok((InstanceKey::Int(n), &text[end + 1..]));
    };
    let mut out = String::new();
    let mut chars = quoted.char_indices().peekable();
    while let Some((i, c)) = chars.next() {
        match c {
            '"' => {
                let after = quoted[i + 1..]
                    .strip_prefix(']')
                    .ok_or("\"]\" is wanted after the key")?;
                return Ok((InstanceKey::Text(Arc::from(out)), after));
            }
            '\\' => {
                let (_, e) = chars.next().ok_or("the key ends within an escape")?;
                match e {
                    'n' => out.push('\n'),
                    'r' => out.push('\r'),
                    't' => out.push('\t'),
                    '"' | '\\' => out.push(e),
                    'u' | 'U' => {
                        let len = if e == 'u' { 4 } else { 8 };
                        let hex: String = chars.by_ref().take(len).map(|(_, c)| c).collect();
                        let c = u32::from_str_radix(&hex, 16).ok().and_then(char::from_u32);
                        out.push(
                            c.filter(|_| hex.len() == len)
                                .ok_or("the key holds an invalid \\u escape")?,
                        );
                    }
                    other => return Err(format!("the key holds the unknown escape \\{other}")),
                }
            }
            '$' | '%'
                if chars.peek().is_some_and(|(_, n)| *n == c)
                    && quoted[i + 2..].starts_with('{') =>
            {
                chars.next();
                out.push(c);
            }
            '$' | '%' if chars.peek().is_some_and(|(_, n)| *n == '{') => {
                return Err("a key may not hold a template".to_owned());
            }
            c => out.push(c),
        }
    }
    Err("the key's closing quote is missing".to_owned())
}

#[cfg(test)]
mod tests {
    use crate::{AbsResource, AbsResourceInstance, DeposedKey, ModuleInstance};

    fn round_trip(text: &str) {
        let address: AbsResourceInstance = text.parse().unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(address.to_string(), text);
    }

    #[test]
    fn instances_round_trip() {
        for text in [
            "terraform_data.a",
            "terraform_data.a[0]",
            "terraform_data.a[-3]",
            "data.google_project.p",
            "ephemeral.random_password.p[\"x\"]",
            "module.a.module.b[\"k.[\\\"]\"].google_compute_network.n-1[\"\\\\ \\n$${x} %%{y} $5 é\"]",
            "module.a[12].data.x_y.z",
            "x.größe[\"\\u0007\"]",
        ] {
            round_trip(text);
        }
    }

    #[test]
    fn modules_round_trip() {
        for text in ["", "module.a", "module.a[0].module.b[\"x\"]"] {
            let m: ModuleInstance = text.parse().unwrap_or_else(|e| panic!("{e}"));
            assert_eq!(m.to_string(), text);
        }
        let m: ModuleInstance = "module.a[0].module.b".parse().expect("valid");
        assert_eq!(m.path().to_string(), "module.a.module.b");
        assert!(m.is_within(&"module.a[0]".parse().expect("valid")));
        assert!(!m.is_within(&"module.a[1]".parse().expect("valid")));
    }

    #[test]
    fn wrong_addresses_say_why() {
        for (text, reason) in [
            ("", "a name is missing"),
            ("a", "a resource name is missing"),
            ("a.b.c", "nothing may follow the instance, but \"c\" does"),
            (
                "a.b[x]",
                "the key \"x\" is neither a whole number nor a quoted text",
            ),
            ("a.b[\"x]", "the key's closing quote is missing"),
            ("a.b[0]c", "\"c\" is unexpected; a dot is wanted"),
            ("a.b[0][1]", "\"[\" is unexpected; a dot is wanted"),
            ("module.x", "a resource type is missing"),
            ("a[0].b", "a resource name is wanted before the key"),
            ("a.b[\"${x}\"]", "a key may not hold a template"),
        ] {
            let error = text.parse::<AbsResourceInstance>().expect_err(text);
            assert_eq!(error.reason, reason, "{text}");
        }
        assert!("a.b[0]".parse::<AbsResource>().is_err());
        assert!("0123456".parse::<DeposedKey>().is_err());
        assert_eq!(
            "0123abcd".parse::<DeposedKey>().expect("valid").as_str(),
            "0123abcd"
        );
    }

    #[test]
    fn order_is_numbers_then_text() {
        let mut v: Vec<AbsResourceInstance> = [
            "b.a",
            "a.b[\"x\"]",
            "a.b[10]",
            "a.b[2]",
            "data.z.z",
            "module.m.a.a",
        ]
        .iter()
        .map(|t| t.parse().unwrap_or_else(|e| panic!("{e}")))
        .collect();
        v.sort();
        let text: Vec<String> = v.iter().map(ToString::to_string).collect();
        assert_eq!(
            text,
            [
                "data.z.z",
                "a.b[2]",
                "a.b[10]",
                "a.b[\"x\"]",
                "b.a",
                "module.m.a.a"
            ]
        );
    }
}
