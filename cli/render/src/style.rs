//! How text looks: colours, boxes and width, decided by the caller.

use anstyle::{AnsiColor, Color};
use std::fmt::Write as _;

/// How text is drawn. The default is plain: no colour, no boxes, no wrapping.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Style {
    /// Whether escape sequences for colour may be written.
    pub colour: bool,
    /// Whether diagnostics stand in a box of line-drawing characters. Plain text has none, because
    /// pipelines search it line by line.
    pub boxes: bool,
    /// How many columns there are; `None` to wrap nothing, as for a pipe, where a wrapped sentence
    /// could no longer be matched.
    pub width: Option<usize>,
    /// The name by which text speaks of the tool: `Formwork`, or the name it was called by, where
    /// pipelines look for that.
    pub product: &'static str,
}

impl Default for Style {
    fn default() -> Self {
        Self::PLAIN
    }
}

/// What a piece of text is, which decides its colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// Stands out.
    Strong,
    /// Recedes.
    Faint,
    /// Something is wrong.
    Error,
    /// Something is odd.
    Warning,
    /// All went well.
    Good,
    /// The offending text.
    Offending,
    /// Something is made.
    Add,
    /// Something is changed.
    Change,
    /// Something goes.
    Remove,
    /// Something is read.
    Read,
}

impl Style {
    /// No colour, no boxes, no wrapping: for pipes, files and `-no-color`.
    pub const PLAIN: Style = Style {
        colour: false,
        boxes: false,
        width: None,
        product: "Formwork",
    };

    /// For a terminal of this width.
    pub fn terminal(width: usize) -> Self {
        Self {
            colour: true,
            boxes: true,
            width: Some(width),
            ..Self::PLAIN
        }
    }

    /// `text` as news that all went well.
    pub fn good(self, text: &str) -> String {
        self.paint(Role::Good, text)
    }

    /// Appends `text` as this role.
    pub(crate) fn push(self, out: &mut String, role: Role, text: &str) {
        if !self.colour {
            out.push_str(text);
            return;
        }
        let style = look(role);
        // writing to a String cannot fail
        let _ = write!(out, "{style}{text}{style:#}");
    }

    /// `text` as this role.
    pub(crate) fn paint(self, role: Role, text: &str) -> String {
        let mut out = String::new();
        self.push(&mut out, role, text);
        out
    }
}

fn look(role: Role) -> anstyle::Style {
    let plain = anstyle::Style::new();
    let colour = |c: AnsiColor| plain.fg_color(Some(Color::Ansi(c)));
    match role {
        Role::Strong => plain.bold(),
        Role::Faint => colour(AnsiColor::BrightBlack),
        Role::Error => colour(AnsiColor::Red).bold(),
        Role::Warning => colour(AnsiColor::Yellow).bold(),
        Role::Good => colour(AnsiColor::Green).bold(),
        Role::Offending => plain.bold().underline(),
        Role::Add => colour(AnsiColor::Green),
        Role::Change => colour(AnsiColor::Yellow),
        Role::Remove => colour(AnsiColor::Red),
        Role::Read => colour(AnsiColor::Cyan),
    }
}

/// `text` broken into lines of at most `width` columns at spaces; a longer word stays whole. Lines
/// that begin with a space are left as they are: somebody has laid them out.
pub(crate) fn wrap(text: &str, width: Option<usize>) -> Vec<String> {
    let mut lines = Vec::new();
    for line in text.split('\n') {
        let Some(width) = width.filter(|_| !line.starts_with([' ', '\t'])) else {
            lines.push(line.to_owned());
            continue;
        };
        let (mut current, mut used) = (String::new(), 0);
        for word in line.split(' ') {
            let columns = word.chars().count();
            if used > 0 && used + 1 + columns > width {
                lines.push(std::mem::take(&mut current));
                used = 0;
            }
            if used > 0 {
                current.push(' ');
                used += 1;
            }
            current.push_str(word);
            used += columns;
        }
        lines.push(current);
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wrapping() {
        let check = |text: &str, width: usize, want: &[&str]| {
            assert_eq!(wrap(text, Some(width)), want, "{text}");
        };
        check("", 10, &[""]);
        check("one two three", 7, &["one two", "three"]);
        check("incomprehensible yes", 5, &["incomprehensible", "yes"]);
        check(
            "a\n  laid out by hand\nb",
            4,
            &["a", "  laid out by hand", "b"],
        );
        assert_eq!(wrap("one two three", None), ["one two three"]);
    }

    #[test]
    fn plain_text_has_no_escapes() {
        assert_eq!(Style::PLAIN.paint(Role::Error, "x"), "x");
        assert_eq!(
            Style::terminal(80).paint(Role::Strong, "x"),
            "\u{1b}[1mx\u{1b}[0m"
        );
    }
}
