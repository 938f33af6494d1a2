//! Regular expressions of the language (RE2's syntax) as those of the `regex` crate.
//!
//! The two agree in most; where they differ in silence the text is rewritten: `\d \w \s \b` mean
//! ASCII here, `\Q..\E` quotes, a brace that repeats nothing is itself, a bracket within a class is
//! itself, and so are `&&`, `--` and `~~`.

use regex::Regex;

/// The greatest count of a repetition.
const MOST: u32 = 1_000;

/// Compiles a pattern.
///
/// # Errors
/// A sentence.
pub(super) fn compile(pattern: &str) -> Result<Regex, String> {
    let translated = translate(pattern)?;
    Regex::new(&translated).map_err(|error| match error {
        regex::Error::CompiledTooBig(_) => "The pattern grows too large when compiled.".to_owned(),
        // the last line of a syntax error says what is wrong; the rest draws the translated text
        other => {
            let text = other.to_string();
            let last = text.lines().last().unwrap_or("").trim();
            let reason = last.strip_prefix("error: ").unwrap_or(last);
            format!("The pattern is not a regular expression: {reason}.")
        }
    })
}

struct Translator<'a> {
    rest: std::iter::Peekable<std::str::Chars<'a>>,
    out: String,
}

fn translate(pattern: &str) -> Result<String, String> {
    let mut t = Translator {
        rest: pattern.chars().peekable(),
        out: String::with_capacity(pattern.len() + 16),
    };
    // whether a repetition just ended, so that another one would be doubled
    let mut repeated = false;
    while let Some(c) = t.rest.next() {
        let was_repeated = std::mem::take(&mut repeated);
        match c {
            '\\' => t.escape()?,
            '[' => t.class()?,
            '(' => t.group()?,
            '*' | '+' | '?' => {
                if was_repeated {
                    return Err("The pattern repeats a repetition, as in \"a**\".".to_owned());
                }
                t.out.push(c);
                t.lazy();
                repeated = true;
            }
            '{' => match t.counted()? {
                Some(count) => {
                    if was_repeated {
                        return Err("The pattern repeats a repetition, as in \"a*{2}\".".to_owned());
                    }
                    t.out.push_str(&count);
                    t.lazy();
                    repeated = true;
                }
                None => t.out.push_str("\\{"),
            },
            '}' | ']' => {
                t.out.push('\\');
                t.out.push(c);
            }
            c => t.out.push(c),
        }
    }
    Ok(t.out)
}

impl Translator<'_> {
    fn lazy(&mut self) {
        if self.rest.next_if_eq(&'?').is_some() {
            self.out.push('?');
        }
    }

    /// `{n}`, `{n,}` or `{n,m}` after its brace; `None`, with nothing consumed, if it is none.
    fn counted(&mut self) -> Result<Option<String>, String> {
        let mut ahead = self.rest.clone();
        let mut text = String::from("{");
        loop {
            match ahead.next() {
                Some('}') => break,
                Some(c) if c.is_ascii_digit() || c == ',' => text.push(c),
                _ => return Ok(None),
            }
            if text.len() > 24 {
                return Ok(None);
            }
        }
        let inner = &text[1..];
        let (low, high) = inner.split_once(',').unwrap_or((inner, ""));
        let fits = !low.is_empty() && !high.contains(',');
        if !fits {
            return Ok(None);
        }
        for bound in [low, high].into_iter().filter(|b| !b.is_empty()) {
            if bound.parse::<u32>().map_or(true, |n| n > MOST) {
                return Err(format!("The pattern repeats more than {MOST} times."));
            }
        }
        text.push('}');
        self.rest = ahead;
        Ok(Some(text))
    }

    fn group(&mut self) -> Result<(), String> {
        self.out.push('(');
        if self.rest.next_if_eq(&'?').is_none() {
            return Ok(());
        }
        self.out.push('?');
        while let Some(flag) = self.rest.next_if(|c| c.is_ascii_alphabetic() || *c == '-') {
            match flag {
                'P' => {
                    self.out.push('P');
                    return Ok(());
                }
                'i' | 'm' | 's' | 'U' | '-' => self.out.push(flag),
                other => {
                    return Err(format!(
                        "The pattern has the flag {other:?}, which does not exist."
                    ));
                }
            }
        }
        Ok(())
    }

    fn escape(&mut self) -> Result<(), String> {
        let Some(c) = self.rest.next() else {
            return Err("The pattern ends in a backslash.".to_owned());
        };
        match c {
            'd' => self.out.push_str("[0-9]"),
            'D' => self.out.push_str("[^0-9]"),
            'w' => self.out.push_str("[0-9A-Za-z_]"),
            'W' => self.out.push_str("[^0-9A-Za-z_]"),
            's' => self.out.push_str("[\\t\\n\\x0C\\r ]"),
            'S' => self.out.push_str("[^\\t\\n\\x0C\\r ]"),
            'b' => self.out.push_str("(?-u:\\b)"),
            'B' => self.out.push_str("(?-u:\\B)"),
            'Q' => self.quotation(),
            'E' => {}
            c => self.plain_escape(c)?,
        }
        Ok(())
    }

    /// An escape that means the same in and out of a class.
    fn plain_escape(&mut self, c: char) -> Result<(), String> {
        match c {
            'p' | 'P' | 'x' => {
                self.out.push('\\');
                self.out.push(c);
                if self.rest.next_if_eq(&'{').is_some() {
                    self.out.push('{');
                    while let Some(c) = self.rest.next_if(|c| *c != '}') {
                        self.out.push(c);
                    }
                    if self.rest.next_if_eq(&'}').is_some() {
                        self.out.push('}');
                    }
                }
            }
            'a' | 'f' | 't' | 'n' | 'r' | 'v' | 'A' | 'z' => {
                self.out.push('\\');
                self.out.push(c);
            }
            '0'..='7' => {
                let mut code = c.to_digit(8).unwrap_or(0);
                let mut more = 0;
                while more < 2
                    && let Some(d) = self.rest.next_if(|c| ('0'..='7').contains(c))
                {
                    code = code * 8 + d.to_digit(8).unwrap_or(0);
                    more += 1;
                }
                if c != '0' && more == 0 {
                    return Err(
                        "The pattern refers back to a group, which is not possible.".to_owned()
                    );
                }
                self.out.push_str(&format!("\\x{{{code:x}}}"));
            }
            c if c.is_ascii() && !c.is_ascii_alphanumeric() => {
                self.out.push_str(&format!("\\x{{{:x}}}", u32::from(c)));
            }
            c => {
                return Err(format!(
                    "The pattern has the escape \\{c}, which does not exist."
                ));
            }
        }
        Ok(())
    }

    fn quotation(&mut self) {
        while let Some(c) = self.rest.next() {
            if c == '\\' && self.rest.next_if_eq(&'E').is_some() {
                return;
            }
            self.out
                .push_str(&regex::escape(c.encode_utf8(&mut [0; 4])));
        }
    }

    fn class(&mut self) -> Result<(), String> {
        self.out.push('[');
        if self.rest.next_if_eq(&'^').is_some() {
            self.out.push('^');
        }
        let mut first = true;
        loop {
            let Some(c) = self.rest.next() else {
                return Err("The pattern has a \"[\" without \"]\".".to_owned());
            };
            match c {
                ']' if !first => {
                    self.out.push(']');
                    return Ok(());
                }
                ']' => self.out.push_str("\\]"),
                '[' if self.rest.peek() == Some(&':') => self.named_class(),
                '[' => self.out.push_str("\\["),
                '&' | '~' => {
                    self.out.push('\\');
                    self.out.push(c);
                }
                '-' => {
                    // a dash at either end is itself, and only there: "a--b" is a range to "-"
                    if first || self.rest.peek() == Some(&']') {
                        self.out.push_str("\\-");
                    } else {
                        self.out.push('-');
                        if self.rest.next_if_eq(&'-').is_some() {
                            self.out.push_str("\\-");
                        }
                    }
                }
                '\\' => {
                    let Some(c) = self.rest.next() else {
                        return Err("The pattern ends in a backslash.".to_owned());
                    };
                    match c {
                        'd' => self.out.push_str("0-9"),
                        'D' => self.out.push_str("[^0-9]"),
                        'w' => self.out.push_str("0-9A-Za-z_"),
                        'W' => self.out.push_str("[^0-9A-Za-z_]"),
                        's' => self.out.push_str("\\t\\n\\x0C\\r "),
                        'S' => self.out.push_str("[^\\t\\n\\x0C\\r ]"),
                        'A' | 'z' => {
                            return Err(format!("The pattern has \\{c} within a class."));
                        }
                        c => self.plain_escape(c)?,
                    }
                }
                c => self.out.push(c),
            }
            first = false;
        }
    }

    /// `[:alpha:]` within a class, after its bracket.
    fn named_class(&mut self) {
        let mut ahead = self.rest.clone();
        let mut name = String::new();
        while let Some(c) = ahead.next() {
            name.push(c);
            if name.len() > 2 && name.ends_with(':') && ahead.peek() == Some(&']') {
                ahead.next();
                self.out.push('[');
                self.out.push_str(&name);
                self.out.push(']');
                self.rest = ahead;
                return;
            }
            if name.len() > 12 {
                break;
            }
        }
        self.out.push_str("\\[");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn finds(pattern: &str, text: &str) -> Option<String> {
        compile(pattern)
            .ok()?
            .find(text)
            .map(|m| m.as_str().to_owned())
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
            ("a{2}", "aaa", Some("aa")),
            ("[[]", "[", Some("[")),
            ("[]a]+", "]a", Some("]a")),
            ("[a&&b]+", "&b", Some("&b")),
            ("[[:alpha:]]+", "1ab", Some("ab")),
            (r"\x{e9}\x41", "éA", Some("éA")),
            (r"\101", "A", Some("A")),
            (r"a\-b\_c", "a-b_c", Some("a-b_c")),
            ("(?i)É", "é", Some("é")),
            ("(?P<n>a)|(?:b)", "b", Some("b")),
            ("a]", "a]", Some("a]")),
            (r"[a-c-]+", "b-", Some("b-")),
            (r"\<", "<", Some("<")),
        ] {
            assert_eq!(
                finds(pattern, text).as_deref(),
                found,
                "{pattern} in {text}"
            );
        }
        for wrong in [
            "a**", "(?=a)", r"\1", "(?x)a", "a{1001}", "[a", "(", r"\y", "*a", "a\\",
        ] {
            assert!(compile(wrong).is_err(), "{wrong}");
        }
    }
}
