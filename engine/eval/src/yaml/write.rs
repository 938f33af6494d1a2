//! Writing YAML: the layout rules of the emitter that configuration tools share (two spaces,
//! sequences not indented below their key, lines folded after column 80, keys over 128 bytes or
//! with line breaks in the explicit `? ` form).

use formwork_values::{Kind, Value};

const WIDTH: usize = 80;
const LONGEST_SIMPLE_KEY: usize = 128;

/// The value as one YAML document with a final line break.
///
/// # Errors
/// A sentence when the value holds something YAML numbers cannot express (infinity). The value must
/// be wholly known and without marks.
pub(crate) fn encode(value: &Value) -> Result<String, String> {
    let mut out = Emitter {
        text: String::new(),
        column: 0,
        whitespace: true,
        indention: true,
    };
    let plain_root = out.node(value, -1, false)?;
    out.write_indent(0);
    if plain_root {
        // a bare word at the top could go on: say that it does not
        out.text.push_str("...\n");
    }
    Ok(out.text)
}

struct Emitter {
    text: String,
    column: usize,
    /// The last thing written was a space or an indicator that counts as one.
    whitespace: bool,
    /// Only indentation and indicators stand on this line so far.
    indention: bool,
}

fn deeper(indent: i32, flow: bool, indentless: bool) -> i32 {
    if indent < 0 {
        if flow { 2 } else { 0 }
    } else if indentless {
        indent
    } else {
        indent + 2
    }
}

impl Emitter {
    /// Writes a node; answers whether it was a plain scalar.
    fn node(&mut self, value: &Value, indent: i32, in_mapping: bool) -> Result<bool, String> {
        stacker::maybe_grow(64 * 1024, 1024 * 1024, || {
            self.node_here(value, indent, in_mapping)
        })
    }

    fn node_here(&mut self, value: &Value, indent: i32, in_mapping: bool) -> Result<bool, String> {
        match value.kind() {
            Kind::Null(_) => self.plain("null"),
            Kind::Bool(b) => self.plain(if b { "true" } else { "false" }),
            Kind::Number(n) => {
                // infinity is `+Inf`, a text to most readers, as Terraform writes it
                self.plain(&crate::numbers::text(n));
            }
            Kind::String(s) => {
                self.scalar(s, indent, true);
                return Ok(false);
            }
            Kind::List(items) | Kind::Set(items) | Kind::Tuple(items) => {
                self.sequence(items, indent, in_mapping)?;
                return Ok(false);
            }
            Kind::Map(entries) => {
                self.mapping(
                    entries.iter().map(|(k, v)| (&**k, v)),
                    entries.len(),
                    indent,
                )?;
                return Ok(false);
            }
            Kind::Object(ty, values) => {
                let entries = ty.names().iter().map(|n| &**n).zip(values);
                self.mapping(entries, values.len(), indent)?;
                return Ok(false);
            }
            Kind::Unknown(_) | Kind::Marked(..) => {
                return Err("only a known value without marks has a YAML form".to_owned());
            }
        }
        Ok(true)
    }

    fn sequence(&mut self, items: &[Value], indent: i32, in_mapping: bool) -> Result<(), String> {
        if items.is_empty() {
            self.indicator("[", true, true, false);
            self.indicator("]", false, false, false);
            return Ok(());
        }
        let indent = deeper(indent, false, in_mapping && !self.indention);
        for item in items {
            self.write_indent(indent);
            self.indicator("-", true, false, true);
            self.node(item, indent, false)?;
        }
        Ok(())
    }

    fn mapping<'a>(
        &mut self,
        entries: impl Iterator<Item = (&'a str, &'a Value)>,
        count: usize,
        indent: i32,
    ) -> Result<(), String> {
        if count == 0 {
            self.indicator("{", true, true, false);
            self.indicator("}", false, false, false);
            return Ok(());
        }
        let indent = deeper(indent, false, false);
        for (key, value) in entries {
            self.write_indent(indent);
            if key.len() <= LONGEST_SIMPLE_KEY && !key.chars().any(is_break) {
                self.scalar(key, indent, false);
                self.indicator(":", false, false, false);
            } else {
                self.indicator("?", true, false, true);
                self.scalar(key, indent, true);
                self.write_indent(indent);
                self.indicator(":", true, false, true);
            }
            self.node(value, indent, true)?;
        }
        Ok(())
    }

    /// Text: a literal block if it has several lines and allows that, else in double quotes.
    fn scalar(&mut self, text: &str, indent: i32, may_break: bool) {
        let indent = deeper(indent, true, false);
        if may_break && text.contains('\n') && literal_allowed(text) {
            self.literal(text, indent);
        } else {
            self.quoted(text, indent, may_break);
        }
    }

    fn quoted(&mut self, text: &str, indent: i32, may_break: bool) {
        self.indicator("\"", true, false, false);
        let mut after_space = false;
        let last = text.len().saturating_sub(1);
        // behind a byte order mark other writers write nothing as it is
        let all = text.starts_with('\u{feff}');
        for (at, c) in text.char_indices() {
            if c == ' ' && !all {
                if may_break && !after_space && self.column > WIDTH && at != 0 && at != last {
                    self.write_indent(indent);
                    if text[at + 1..].starts_with(' ') {
                        self.put("\\");
                    }
                } else {
                    self.put(" ");
                }
                after_space = true;
                continue;
            }
            after_space = false;
            if !all && is_printable(c) && !is_break(c) && c != '"' && c != '\\' {
                self.put_char(c);
                continue;
            }
            let short = match c {
                '\0' => "\\0",
                '\u{7}' => "\\a",
                '\u{8}' => "\\b",
                '\t' => "\\t",
                '\n' => "\\n",
                '\u{b}' => "\\v",
                '\u{c}' => "\\f",
                '\r' => "\\r",
                '\u{1b}' => "\\e",
                '"' => "\\\"",
                '\\' => "\\\\",
                '\u{85}' => "\\N",
                '\u{2028}' => "\\L",
                '\u{2029}' => "\\P",
                _ => "",
            };
            if short.is_empty() {
                let code = u32::from(c);
                let escape = match code {
                    0..=0xff => format!("\\x{code:02X}"),
                    0x100..=0xffff => format!("\\u{code:04X}"),
                    _ => format!("\\U{code:08X}"),
                };
                self.put(&escape);
            } else {
                self.put(short);
            }
        }
        self.indicator("\"", false, false, false);
        self.whitespace = false;
        self.indention = false;
    }

    fn literal(&mut self, text: &str, indent: i32) {
        self.indicator("|", true, false, false);
        if text.starts_with([' ', '\n']) {
            self.put("2");
        }
        let body = text.trim_end_matches('\n');
        match text.len() - body.len() {
            0 => self.put("-"),
            1 if !body.is_empty() => {}
            _ => self.put("+"),
        }
        self.line_break();
        let mut at_start = true;
        for c in text.chars() {
            if c == '\n' {
                self.line_break();
                at_start = true;
            } else {
                if at_start {
                    self.write_indent(indent);
                    at_start = false;
                }
                self.put_char(c);
                self.indention = false;
            }
        }
        self.whitespace = self.column == 0;
    }

    fn plain(&mut self, word: &str) {
        if !self.whitespace {
            self.put(" ");
        }
        self.put(word);
        self.whitespace = false;
        self.indention = false;
    }

    fn indicator(&mut self, sign: &str, spaced: bool, is_space: bool, is_indention: bool) {
        if spaced && !self.whitespace {
            self.put(" ");
        }
        self.put(sign);
        self.whitespace = is_space;
        self.indention = self.indention && is_indention;
    }

    fn write_indent(&mut self, indent: i32) {
        let indent = usize::try_from(indent).unwrap_or(0);
        if !self.indention || self.column > indent || (self.column == indent && !self.whitespace) {
            self.line_break();
        }
        while self.column < indent {
            self.put(" ");
        }
        self.whitespace = true;
        self.indention = true;
    }

    fn line_break(&mut self) {
        // nothing to end at the very start or when the text itself ended the line
        if self.column > 0 || !self.text.is_empty() {
            self.text.push('\n');
        }
        self.column = 0;
        self.whitespace = true;
        self.indention = true;
    }

    fn put(&mut self, text: &str) {
        self.text.push_str(text);
        self.column += text.chars().count();
    }

    fn put_char(&mut self, c: char) {
        self.text.push(c);
        self.column += 1;
        self.whitespace = false;
    }
}

fn is_break(c: char) -> bool {
    matches!(c, '\n' | '\r' | '\u{85}' | '\u{2028}' | '\u{2029}')
}

fn is_printable(c: char) -> bool {
    matches!(u32::from(c),
        0x0a | 0x20..=0x7e | 0xa0..=0xd7ff | 0xe000..=0xfefe | 0xff00..=0xfffd)
}

/// Whether a literal block keeps the text as it is: nothing unprintable, no space before a line
/// break or at the end.
fn literal_allowed(text: &str) -> bool {
    let mut before_break = false;
    for c in text.chars() {
        if !is_printable(c) || (c != '\n' && is_break(c)) {
            return false;
        }
        if c == '\n' && before_break {
            return false;
        }
        before_break = c == ' ';
    }
    !before_break
}
