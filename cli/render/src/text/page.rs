//! Lines with signs in front, as plans are written.
//!
//! Each line has a depth; in front of its text stands room for a sign of up to three characters, as
//! in `  + `. Tools that colour or cut plans look for exactly these places.

use crate::style::{Role, Style};
use formwork_values::{Kind, Value, print};
use std::borrow::Cow;

/// What happens to what a line says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sign {
    None,
    Add,
    Change,
    Remove,
    /// Removed first, then added.
    Replace,
    /// Added first, then removed.
    ReplaceAddedFirst,
    Read,
    Forget,
}

impl Sign {
    pub(crate) fn text(self) -> &'static str {
        match self {
            Self::None => "",
            Self::Add => "+",
            Self::Change => "~",
            Self::Remove => "-",
            Self::Replace => "-/+",
            Self::ReplaceAddedFirst => "+/-",
            Self::Read => "<=",
            Self::Forget => ".",
        }
    }

    fn role(self) -> Option<Role> {
        match self {
            Self::None => None,
            Self::Add => Some(Role::Add),
            Self::Change => Some(Role::Change),
            Self::Remove | Self::Replace | Self::ReplaceAddedFirst => Some(Role::Remove),
            Self::Read => Some(Role::Read),
            Self::Forget => Some(Role::Faint),
        }
    }
}

/// Text being written line by line.
pub(crate) struct Page {
    pub out: String,
    pub style: Style,
}

impl Page {
    pub(crate) fn new(style: Style) -> Self {
        Self {
            out: String::new(),
            style,
        }
    }

    /// A line with its sign.
    pub(crate) fn line(&mut self, depth: usize, sign: Sign, text: &str) {
        self.indent(4 * depth);
        let mark = sign.text();
        self.indent(3 - mark.len().min(3));
        match sign.role() {
            Some(role) => self.style.push(&mut self.out, role, mark),
            None => self.out.push_str(mark),
        }
        self.out.push(' ');
        self.out.push_str(text);
        self.end();
    }

    /// A remark at the place of a line's text.
    pub(crate) fn remark(&mut self, depth: usize, text: &str) {
        self.indent(4 * depth + 4);
        let text = format!("# {text}");
        self.style.push(&mut self.out, Role::Faint, &text);
        self.end();
    }

    /// A remark that names many things: broken into lines after commas.
    pub(crate) fn long_remark(&mut self, depth: usize, open: &str, items: &[&str], close: &str) {
        let width = self
            .style
            .width
            .unwrap_or(100)
            .saturating_sub(4 * depth + 6);
        let mut line = open.to_owned();
        let mut first = true;
        for (i, item) in items.iter().enumerate() {
            let piece = match i + 1 == items.len() {
                true => format!("{item}{close}"),
                false => format!("{item},"),
            };
            if !first && line.chars().count() + 1 + piece.chars().count() > width.max(20) {
                self.remark(depth, &line);
                line = " ".repeat(2);
                line.push_str(&piece);
            } else {
                if !first || !line.is_empty() {
                    line.push(' ');
                }
                line.push_str(&piece);
            }
            first = false;
        }
        self.remark(depth, &line);
    }

    pub(crate) fn blank(&mut self) {
        self.out.push('\n');
    }

    fn indent(&mut self, columns: usize) {
        self.out.extend(std::iter::repeat_n(' ', columns));
    }

    /// Ends the line, without blanks at its end.
    fn end(&mut self) {
        let kept = self.out.trim_end_matches(' ').len();
        self.out.truncate(kept);
        self.out.push('\n');
    }
}

/// A key of an object or map as written: bare if it is a name.
pub(crate) fn key(name: &str) -> Cow<'_, str> {
    if formwork_addresses::is_identifier(name) {
        Cow::Borrowed(name)
    } else {
        Cow::Owned(formwork_syntax::quote(name))
    }
}

/// `name = `, padded so that the equals signs of a body stand below each other.
pub(crate) fn label(name: &str, width: usize) -> String {
    format!("{name:width$} = ")
}

/// A value that fits on a line; `None` for anything else. Redacting.
pub(crate) fn inline(value: &Value) -> Option<String> {
    match value.kind() {
        Kind::Marked(_, marks) if marks.is_sensitive() => Some(SENSITIVE.to_owned()),
        Kind::Marked(_, marks) if marks.is_ephemeral() => Some("(ephemeral value)".to_owned()),
        Kind::Marked(inner, _) => inline(inner),
        Kind::Null(_) => Some("null".to_owned()),
        Kind::Unknown(_) => Some(UNKNOWN.to_owned()),
        Kind::Bool(_) | Kind::Number(_) => Some(print::console(value)),
        Kind::String(s) => (!s.contains('\n')).then(|| print::console(value)),
        Kind::List(v) | Kind::Set(v) | Kind::Tuple(v) => v.is_empty().then(|| "[]".to_owned()),
        Kind::Map(e) => e.is_empty().then(|| "{}".to_owned()),
        Kind::Object(_, v) => v.is_empty().then(|| "{}".to_owned()),
    }
}

/// A value in few words, for what is replaced by something not yet known.
pub(crate) fn brief(value: &Value) -> String {
    let count = |n: usize, one: &str| format!("({})", counted(n, one));
    match value.kind() {
        Kind::List(v) | Kind::Set(v) | Kind::Tuple(v) if !v.is_empty() => count(v.len(), "element"),
        Kind::Map(e) if !e.is_empty() => count(e.len(), "element"),
        Kind::Object(_, v) if !v.is_empty() => {
            count(v.iter().filter(|v| !v.is_null()).count(), "attribute")
        }
        Kind::String(s) if s.contains('\n') => count(text_lines(s).len(), "line"),
        _ => inline(value).unwrap_or_default(),
    }
}

/// `1 line`, `2 lines`.
pub(crate) fn counted(n: usize, one: &str) -> String {
    format!("{n} {one}{}", if n == 1 { "" } else { "s" })
}

/// The lines of a text; a line feed at its end begins no further one.
pub(crate) fn text_lines(text: &str) -> Vec<&str> {
    text.strip_suffix('\n')
        .unwrap_or(text)
        .split('\n')
        .collect()
}

/// A line of a text, control characters named instead of obeyed by a terminal.
pub(crate) fn tame(line: &str) -> Cow<'_, str> {
    if !line.chars().any(|c| c.is_control() && c != '\t') {
        return Cow::Borrowed(line);
    }
    Cow::Owned(
        line.chars()
            .map(|c| match c {
                '\t' => "\t".to_owned(),
                c if c.is_control() => c.escape_default().to_string(),
                c => c.to_string(),
            })
            .collect(),
    )
}

/// What stands for a sensitive value.
pub(crate) const SENSITIVE: &str = "(sensitive value)";
/// What stands for a value that is not known yet.
pub(crate) const UNKNOWN: &str = "(known after apply)";
/// What marks the reason of a replacement.
pub(crate) const FORCES: &str = " # forces replacement";
