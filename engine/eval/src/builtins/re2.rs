//! Reads regular expressions of RE2's syntax, as Go takes it and so the language does.
//!
//! What a pattern means is told to the engine as [`Hir`], not as another text: the syntax of the
//! `regex` crate differs in places where nothing would be said. Where it matters:
//!
//! - `\d \w \s \b` and `[[:name:]]` are ASCII; under `(?i)` their letters gain what folds to them
//!   (`ſ`, `K`).
//! - A repetition binds to what was read last, over flags between them (`a(?i)*`), may repeat a mere
//!   position (`^*`), and may not directly follow another. Counts end at 1,000, those within each
//!   other multiplied.
//! - A brace that counts nothing is itself, as are `]`, `}` and a bracket within a class.
//! - Groups have names of letters, digits and `_`, two may have the same.
//! - `\pN`, `\p{Greek}`: general categories by their short names and scripts, spelled exactly so.
//!
//! Sources: the documented syntax of RE2 and of Go's regexp/syntax package, and what the binary answers
//! to generated patterns (tests).

use std::sync::Arc;

use regex_syntax::hir::{Capture, ClassUnicode, ClassUnicodeRange, Hir, Look, Repetition};

/// The greatest count of a repetition, and the greatest product of those within each other.
const MOST: u32 = 1_000;
/// How deep groups may lie in each other.
const DEEPEST: usize = 1_000;

/// A pattern that was read.
pub(super) struct Parsed {
    /// What it matches.
    pub hir: Hir,
    /// The groups that capture, the first at 0, by their names.
    pub groups: Vec<Option<Arc<str>>>,
}

/// Reads a pattern.
///
/// # Errors
/// A sentence.
pub(super) fn parse(pattern: &str) -> Result<Parsed, String> {
    let mut parser = Parser {
        rest: pattern,
        flags: Flags::default(),
        open: Vec::new(),
        level: Level::default(),
        groups: Vec::new(),
    };
    parser.read()?;
    if !parser.open.is_empty() {
        return Err("The pattern has a \"(\" without \")\".".to_owned());
    }
    Ok(Parsed {
        hir: std::mem::take(&mut parser.level).close().hir,
        groups: parser.groups,
    })
}

#[derive(Clone, Copy, Default)]
struct Flags {
    /// `i`
    fold: bool,
    /// `m`
    lines: bool,
    /// `s`
    dot_newline: bool,
    /// `U`
    lazy: bool,
}

/// A part, and how often its most repeated part is repeated by counts.
struct Part {
    hir: Hir,
    copies: u32,
    /// How deep repetitions and groups lie in it.
    depth: usize,
}

impl Part {
    fn plain(hir: Hir) -> Self {
        Self {
            hir,
            copies: 1,
            depth: 1,
        }
    }

    fn of(parts: Vec<Part>, join: fn(Vec<Hir>) -> Hir) -> Self {
        let copies = parts.iter().map(|p| p.copies).max().unwrap_or(1);
        let depth = parts.iter().map(|p| p.depth).max().unwrap_or(0) + 1;
        Self {
            hir: join(parts.into_iter().map(|p| p.hir).collect()),
            copies,
            depth,
        }
    }
}

/// What stands between two parentheses so far.
#[derive(Default)]
struct Level {
    /// Alternatives that are finished.
    alternatives: Vec<Part>,
    /// The parts of the one being read.
    parts: Vec<Part>,
}

impl Level {
    fn next_alternative(&mut self) {
        let parts = std::mem::take(&mut self.parts);
        self.alternatives.push(Part::of(parts, Hir::concat));
    }

    fn close(mut self) -> Part {
        self.next_alternative();
        Part::of(self.alternatives, Hir::alternation)
    }
}

/// An open parenthesis.
struct Open {
    outer: Level,
    flags: Flags,
    /// The group it captures as, from 1.
    captures: Option<u32>,
}

struct Parser<'p> {
    rest: &'p str,
    flags: Flags,
    open: Vec<Open>,
    level: Level,
    groups: Vec<Option<Arc<str>>>,
}

/// Ranges of characters, not in order.
type Set = ClassUnicode;

fn set(ranges: &[(char, char)]) -> Set {
    ClassUnicode::new(ranges.iter().map(|(a, b)| ClassUnicodeRange::new(*a, *b)))
}

fn single(c: char) -> Set {
    set(&[(c, c)])
}

impl Parser<'_> {
    fn next(&mut self) -> Option<char> {
        let c = self.rest.chars().next()?;
        self.rest = &self.rest[c.len_utf8()..];
        Some(c)
    }

    fn skip(&mut self, text: &str) -> bool {
        match self.rest.strip_prefix(text) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    fn push(&mut self, hir: Hir) {
        self.level.parts.push(Part::plain(hir));
    }

    fn push_set(&mut self, set: Set) {
        self.push(Hir::class(regex_syntax::hir::Class::Unicode(set)));
    }

    /// One character as itself; `None` is a code that is no character and so is nowhere.
    fn push_char(&mut self, c: Option<char>) {
        let Some(c) = c else {
            return self.push(Hir::fail());
        };
        if self.flags.fold {
            let set = self.folded(single(c));
            self.push_set(set);
        } else {
            self.push(Hir::literal(c.encode_utf8(&mut [0; 4]).as_bytes().to_vec()));
        }
    }

    fn folded(&self, mut set: Set) -> Set {
        if self.flags.fold {
            set.case_fold_simple();
        }
        set
    }

    fn read(&mut self) -> Result<(), String> {
        // whether a repetition just ended, so that another one would be doubled
        let mut repeated = false;
        while let Some(c) = self.next() {
            let was_repeated = std::mem::take(&mut repeated);
            match c {
                '(' if self.rest.starts_with('?') => self.special_group()?,
                '(' => {
                    self.groups.push(None);
                    self.begin(true)?;
                }
                ')' => self.end()?,
                '|' => self.level.next_alternative(),
                '^' if self.flags.lines => self.push(Hir::look(Look::StartLF)),
                '^' => self.push(Hir::look(Look::Start)),
                '$' if self.flags.lines => self.push(Hir::look(Look::EndLF)),
                '$' => self.push(Hir::look(Look::End)),
                '.' if self.flags.dot_newline => self.push_set(set(&[('\0', char::MAX)])),
                '.' => self.push_set(set(&[('\0', '\x09'), ('\x0b', char::MAX)])),
                '[' => {
                    let set = self.class()?;
                    self.push_set(set);
                }
                '*' | '+' | '?' => {
                    let (min, max) = match c {
                        '*' => (0, None),
                        '+' => (1, None),
                        _ => (0, Some(1)),
                    };
                    self.repeat(min, max, false, was_repeated)?;
                    repeated = true;
                }
                '{' => match self.counts()? {
                    Some((min, max)) => {
                        self.repeat(min, max, true, was_repeated)?;
                        repeated = true;
                    }
                    None => self.push_char(Some('{')),
                },
                '\\' => self.escape()?,
                c => self.push_char(Some(c)),
            }
        }
        Ok(())
    }

    fn begin(&mut self, captures: bool) -> Result<(), String> {
        if self.open.len() >= DEEPEST {
            return Err(format!(
                "The pattern has groups more than {DEEPEST} deep in each other."
            ));
        }
        let number = u32::try_from(self.groups.len()).unwrap_or(u32::MAX);
        self.open.push(Open {
            outer: std::mem::take(&mut self.level),
            flags: self.flags,
            captures: captures.then_some(number),
        });
        Ok(())
    }

    fn end(&mut self) -> Result<(), String> {
        let Some(open) = self.open.pop() else {
            return Err("The pattern has a \")\" without \"(\".".to_owned());
        };
        let mut part = std::mem::replace(&mut self.level, open.outer).close();
        self.flags = open.flags;
        if let Some(index) = open.captures {
            // the names are kept here: two groups may have the same, which the engine does not take
            part.hir = Hir::capture(Capture {
                index,
                name: None,
                sub: Box::new(part.hir),
            });
        }
        self.level.parts.push(part);
        Ok(())
    }

    /// After `(`, where `?` stands: a group with a name, with flags, or flags alone.
    fn special_group(&mut self) -> Result<(), String> {
        if let Some(ahead) = ["?=", "?!", "?<=", "?<!"]
            .iter()
            .find(|a| self.rest.starts_with(**a))
        {
            return Err(format!(
                "The pattern looks ahead or behind with \"({ahead}\", which is not possible: no pattern may take \
                 longer than in proportion to the text."
            ));
        }
        if self.skip("?P<") || self.skip("?<") {
            let name = self.rest.split_once('>').map(|(name, rest)| {
                self.rest = rest;
                name
            });
            let Some(name) = name else {
                return Err(
                    "The name of a group in the pattern has no \">\" at its end.".to_owned(),
                );
            };
            let fits =
                !name.is_empty() && name.bytes().all(|b| b == b'_' || b.is_ascii_alphanumeric());
            if !fits {
                return Err(format!(
                    "The pattern names a group {name:?}; names are made of letters, digits and \"_\"."
                ));
            }
            self.groups.push(Some(Arc::from(name)));
            return self.begin(true);
        }
        self.rest = &self.rest[1..];
        let mut flags = self.flags;
        let mut on = true;
        // flags after "-" are wanted, others may be none
        let mut any = true;
        loop {
            let flag = match self.next() {
                Some('i') => &mut flags.fold,
                Some('m') => &mut flags.lines,
                Some('s') => &mut flags.dot_newline,
                Some('U') => &mut flags.lazy,
                Some('-') if on => {
                    on = false;
                    any = false;
                    continue;
                }
                Some(')') if any => {
                    self.flags = flags;
                    return Ok(());
                }
                Some(':') if any => {
                    self.begin(false)?;
                    self.flags = flags;
                    return Ok(());
                }
                other => {
                    let found = other.map_or_else(|| "its end".to_owned(), |c| format!("{c:?}"));
                    return Err(format!(
                        "The pattern has \"(?\" and then {found}, which opens no group. Groups are \
                         (...), (?:...), (?P<name>...) and (?flags:...) with the flags i, m, s and U."
                    ));
                }
            };
            *flag = on;
            any = true;
        }
    }

    /// `n}`, `n,}` or `n,m}` after the brace; `None`, with nothing consumed, if it is none.
    fn counts(&mut self) -> Result<Option<(u32, Option<u32>)>, String> {
        let Some((inner, rest)) = self.rest.split_once('}') else {
            return Ok(None);
        };
        let (low, high) = match inner.split_once(',') {
            None => (inner, Some(inner)),
            Some((low, "")) => (low, None),
            Some((low, high)) => (low, Some(high)),
        };
        let is_count = |t: &str| {
            !t.is_empty()
                && t.bytes().all(|b| b.is_ascii_digit())
                && (t == "0" || !t.starts_with('0'))
        };
        if !is_count(low) || !high.is_none_or(is_count) {
            return Ok(None);
        }
        self.rest = rest;
        let count = |t: &str| t.parse::<u32>().ok().filter(|n| *n <= MOST);
        let (low, high) = (count(low), high.map(count));
        match (low, high) {
            (Some(low), None) => Ok(Some((low, None))),
            (Some(low), Some(Some(high))) if low <= high => Ok(Some((low, Some(high)))),
            (Some(_), Some(Some(_))) => Err(format!(
                "The pattern repeats {{{inner}}}: the second count is smaller than the first."
            )),
            _ => Err(format!(
                "The pattern repeats {{{inner}}}; counts go up to {MOST}."
            )),
        }
    }

    fn repeat(
        &mut self,
        min: u32,
        max: Option<u32>,
        counted: bool,
        was_repeated: bool,
    ) -> Result<(), String> {
        // a question mark after it turns what holds
        let greedy = self.skip("?") == self.flags.lazy;
        if was_repeated {
            return Err(
                "The pattern repeats a repetition, as in \"a**\"; write (?:a*)* for that."
                    .to_owned(),
            );
        }
        let Some(part) = self.level.parts.pop() else {
            return Err(
                "The pattern has a repetition with nothing before it to repeat.".to_owned(),
            );
        };
        let times = match max {
            _ if !counted => 1,
            Some(0) => 0,
            Some(max) => max,
            None => min,
        };
        // a part that never stands there has no copies, whatever it holds
        let copies = match (counted, times) {
            (true, 0) if max == Some(0) => 1,
            _ => part.copies.saturating_mul(times.max(1)),
        };
        if copies > MOST {
            return Err(format!(
                "The pattern repeats a part that is repeated itself, together more than {MOST} times."
            ));
        }
        let depth = part.depth + 1;
        if depth > DEEPEST {
            return Err(format!("The pattern nests more than {DEEPEST} deep."));
        }
        self.level.parts.push(Part {
            hir: Hir::repetition(Repetition {
                min,
                max,
                greedy,
                sub: Box::new(part.hir),
            }),
            copies,
            depth,
        });
        Ok(())
    }

    /// After a backslash outside a class.
    fn escape(&mut self) -> Result<(), String> {
        let before = self.rest;
        match self.next() {
            Some('A') => self.push(Hir::look(Look::Start)),
            Some('z') => self.push(Hir::look(Look::End)),
            Some('b') => self.push(Hir::look(Look::WordAscii)),
            Some('B') => self.push(Hir::look(Look::WordAsciiNegate)),
            Some('C') => {
                return Err("The pattern has \\C, a single byte, which is not possible: text is made of characters.".to_owned());
            }
            Some('Q') => {
                let (quoted, rest) = self.rest.split_once("\\E").unwrap_or((self.rest, ""));
                self.rest = rest;
                for c in quoted.chars() {
                    self.push_char(Some(c));
                }
            }
            _ => {
                self.rest = before;
                match self.set_escape()? {
                    Some(set) => self.push_set(set),
                    None => {
                        let c = self.char_escape()?;
                        self.push_char(c);
                    }
                }
            }
        }
        Ok(())
    }

    /// `\d`, `\pL` and their like after the backslash; `None`, with nothing consumed, for others.
    fn set_escape(&mut self) -> Result<Option<Set>, String> {
        let mut chars = self.rest.chars();
        let Some(c) = chars.next() else {
            return Ok(None);
        };
        let found = match c.to_ascii_lowercase() {
            'd' => set(&[('0', '9')]),
            's' => set(&[('\t', '\n'), ('\x0c', '\r'), (' ', ' ')]),
            'w' => set(WORD),
            'p' => {
                self.rest = chars.as_str();
                return self.property(c == 'P').map(Some);
            }
            _ => return Ok(None),
        };
        self.rest = chars.as_str();
        Ok(Some(self.turned(found, c.is_ascii_uppercase())))
    }

    /// Folded if wanted, then negated if wanted.
    fn turned(&self, found: Set, negated: bool) -> Set {
        let mut found = self.folded(found);
        if negated {
            found.negate();
        }
        found
    }

    /// After `\p`.
    fn property(&mut self, negated: bool) -> Result<Set, String> {
        let text = self.rest;
        let name = match self.next() {
            Some('{') => match self.rest.split_once('}') {
                Some((name, rest)) => {
                    self.rest = rest;
                    name
                }
                None => return Err("The pattern has \"\\p{\" without \"}\".".to_owned()),
            },
            Some(c) => &text[..c.len_utf8()],
            None => "",
        };
        let (name, turned) = match name.strip_prefix('^') {
            Some(name) => (name, true),
            None => (name, false),
        };
        let Some(found) = property(name) else {
            return Err(format!(
                "The pattern has the property {name:?}, which is none: they are general categories, such as \
                 L or Lu, and scripts, such as Greek."
            ));
        };
        Ok(self.turned(found, negated != turned))
    }

    /// One character by its escape, after the backslash.
    fn char_escape(&mut self) -> Result<Option<char>, String> {
        let wrong = |what: &str| {
            Err(format!(
                "The pattern has the escape \\{what}, which does not exist."
            ))
        };
        let Some(c) = self.next() else {
            return Err("The pattern ends in a backslash.".to_owned());
        };
        let code = match c {
            '0'..='7' => {
                let first = c.to_digit(8).unwrap_or(0);
                if c != '0' && !self.rest.starts_with(|c| ('0'..='7').contains(&c)) {
                    return Err(format!(
                        "The pattern refers back to a group by \\{c}, which is not possible."
                    ));
                }
                let mut code = first;
                for _ in 0..2 {
                    let Some(digit) = self.rest.chars().next().and_then(|c| c.to_digit(8)) else {
                        break;
                    };
                    code = code * 8 + digit;
                    self.rest = &self.rest[1..];
                }
                code
            }
            'x' => {
                let digits = if self.skip("{") {
                    self.rest.split_once('}').map(|(digits, rest)| {
                        self.rest = rest;
                        digits
                    })
                } else {
                    let digits = self.rest.get(..2);
                    self.rest = self.rest.get(2..).unwrap_or("");
                    digits
                };
                let digits =
                    digits.filter(|d| !d.is_empty() && d.bytes().all(|b| b.is_ascii_hexdigit()));
                let digits = digits.map(|d| d.trim_start_matches('0'));
                let code = digits.and_then(|d| match d {
                    "" => Some(0),
                    d => u32::from_str_radix(d, 16).ok(),
                });
                match code.filter(|c| *c <= u32::from(char::MAX)) {
                    Some(code) => code,
                    None => return wrong("x with these digits"),
                }
            }
            'a' => 7,
            'f' => 0x0c,
            'n' => 0x0a,
            'r' => 0x0d,
            't' => 0x09,
            'v' => 0x0b,
            c if c.is_ascii() && !c.is_ascii_alphanumeric() => u32::from(c),
            c => return wrong(c.encode_utf8(&mut [0; 4])),
        };
        Ok(char::from_u32(code))
    }

    /// After `[`.
    fn class(&mut self) -> Result<Set, String> {
        let negated = self.skip("^");
        let mut found = Set::empty();
        let mut first = true;
        while first || !self.rest.starts_with(']') {
            first = false;
            if self.rest.starts_with("[:")
                && let Some(end) = self.rest[2..].find(":]")
            {
                let name = &self.rest[2..2 + end];
                let (plain, turned) = match name.strip_prefix('^') {
                    Some(plain) => (plain, true),
                    None => (name, false),
                };
                let Some((_, ranges)) = NAMED.iter().find(|(n, _)| *n == plain) else {
                    return Err(format!(
                        "The pattern has the class [:{name}:], which does not exist."
                    ));
                };
                self.rest = &self.rest[2 + end + 2..];
                found.union(&self.turned(set(ranges), turned));
                continue;
            }
            if let Some(after) = self.rest.strip_prefix('\\') {
                let before = std::mem::replace(&mut self.rest, after);
                if let Some(set) = self.set_escape()? {
                    found.union(&set);
                    continue;
                }
                self.rest = before;
            }
            let begin = self.rest;
            let low = self.class_char()?;
            let mut high = low;
            if self.rest.starts_with('-') && !self.rest.starts_with("-]") && self.rest.len() > 1 {
                self.rest = &self.rest[1..];
                high = self.class_char()?;
            }
            if high < low {
                let range = &begin[..begin.len() - self.rest.len()];
                return Err(format!(
                    "The pattern has the range {range}, whose end comes before its beginning."
                ));
            }
            // codes that are no characters are nowhere in a text
            let low = char::from_u32(low).or_else(|| (low < 0xe000).then_some('\u{e000}'));
            let high = char::from_u32(high).or_else(|| (high > 0xd7ff).then_some('\u{d7ff}'));
            if let (Some(low), Some(high)) = (low, high)
                && low <= high
            {
                found.union(&self.folded(set(&[(low, high)])));
            }
        }
        self.rest = &self.rest[1..];
        if negated {
            found.negate();
        }
        Ok(found)
    }

    fn class_char(&mut self) -> Result<u32, String> {
        match self.next() {
            None => Err("The pattern has a \"[\" without \"]\".".to_owned()),
            Some('\\') => Ok(self.char_escape()?.map_or(0xd800, u32::from)),
            Some(c) => Ok(u32::from(c)),
        }
    }
}

const WORD: &[(char, char)] = &[('0', '9'), ('A', 'Z'), ('_', '_'), ('a', 'z')];

/// Classes by name, within another class.
const NAMED: &[(&str, &[(char, char)])] = &[
    ("alnum", &[('0', '9'), ('A', 'Z'), ('a', 'z')]),
    ("alpha", &[('A', 'Z'), ('a', 'z')]),
    ("ascii", &[('\0', '\x7f')]),
    ("blank", &[('\t', '\t'), (' ', ' ')]),
    ("cntrl", &[('\0', '\x1f'), ('\x7f', '\x7f')]),
    ("digit", &[('0', '9')]),
    ("graph", &[('!', '~')]),
    ("lower", &[('a', 'z')]),
    ("print", &[(' ', '~')]),
    ("punct", &[('!', '/'), (':', '@'), ('[', '`'), ('{', '~')]),
    ("space", &[('\t', '\r'), (' ', ' ')]),
    ("upper", &[('A', 'Z')]),
    ("word", WORD),
    ("xdigit", &[('0', '9'), ('A', 'F'), ('a', 'f')]),
];

/// The general categories by which properties are named; `C` and `Cs` are made of others here.
#[rustfmt::skip] // a table
const CATEGORIES: &[&str] = &[
    "Cc", "Cf", "Co", "L", "Ll", "Lm", "Lo", "Lt", "Lu", "M", "Mc", "Me", "Mn", "N", "Nd", "Nl",
    "No", "P", "Pc", "Pd", "Pe", "Pf", "Pi", "Po", "Ps", "S", "Sc", "Sk", "Sm", "So", "Z", "Zl",
    "Zp", "Zs",
];

/// Scripts, as Unicode 15 has them.
#[rustfmt::skip] // a table
const SCRIPTS: &[&str] = &[
    "Adlam", "Ahom", "Anatolian_Hieroglyphs", "Arabic", "Armenian", "Avestan", "Balinese", "Bamum",
    "Bassa_Vah", "Batak", "Bengali", "Bhaiksuki", "Bopomofo", "Brahmi", "Braille", "Buginese",
    "Buhid", "Canadian_Aboriginal", "Carian", "Caucasian_Albanian", "Chakma", "Cham", "Cherokee",
    "Chorasmian", "Common", "Coptic", "Cuneiform", "Cypriot", "Cypro_Minoan", "Cyrillic", "Deseret",
    "Devanagari", "Dives_Akuru", "Dogra", "Duployan", "Egyptian_Hieroglyphs", "Elbasan", "Elymaic",
    "Ethiopic", "Georgian", "Glagolitic", "Gothic", "Grantha", "Greek", "Gujarati", "Gunjala_Gondi",
    "Gurmukhi", "Han", "Hangul", "Hanifi_Rohingya", "Hanunoo", "Hatran", "Hebrew", "Hiragana",
    "Imperial_Aramaic", "Inherited", "Inscriptional_Pahlavi", "Inscriptional_Parthian", "Javanese",
    "Kaithi", "Kannada", "Katakana", "Kawi", "Kayah_Li", "Kharoshthi", "Khitan_Small_Script",
    "Khmer", "Khojki", "Khudawadi", "Lao", "Latin", "Lepcha", "Limbu", "Linear_A", "Linear_B",
    "Lisu", "Lycian", "Lydian", "Mahajani", "Makasar", "Malayalam", "Mandaic", "Manichaean",
    "Marchen", "Masaram_Gondi", "Medefaidrin", "Meetei_Mayek", "Mende_Kikakui", "Meroitic_Cursive",
    "Meroitic_Hieroglyphs", "Miao", "Modi", "Mongolian", "Mro", "Multani", "Myanmar", "Nabataean",
    "Nag_Mundari", "Nandinagari", "New_Tai_Lue", "Newa", "Nko", "Nushu", "Nyiakeng_Puachue_Hmong",
    "Ogham", "Ol_Chiki", "Old_Hungarian", "Old_Italic", "Old_North_Arabian", "Old_Permic",
    "Old_Persian", "Old_Sogdian", "Old_South_Arabian", "Old_Turkic", "Old_Uyghur", "Oriya", "Osage",
    "Osmanya", "Pahawh_Hmong", "Palmyrene", "Pau_Cin_Hau", "Phags_Pa", "Phoenician",
    "Psalter_Pahlavi", "Rejang", "Runic", "Samaritan", "Saurashtra", "Sharada", "Shavian",
    "Siddham", "SignWriting", "Sinhala", "Sogdian", "Sora_Sompeng", "Soyombo", "Sundanese",
    "Syloti_Nagri", "Syriac", "Tagalog", "Tagbanwa", "Tai_Le", "Tai_Tham", "Tai_Viet", "Takri",
    "Tamil", "Tangsa", "Tangut", "Telugu", "Thaana", "Thai", "Tibetan", "Tifinagh", "Tirhuta",
    "Toto", "Ugaritic", "Vai", "Vithkuqi", "Wancho", "Warang_Citi", "Yezidi", "Yi",
    "Zanabazar_Square",
];

/// The characters with a property.
fn property(name: &str) -> Option<Set> {
    match name {
        "Any" => return Some(set(&[('\0', char::MAX)])),
        "Cs" => return Some(Set::empty()),
        "C" => {
            let mut all = Set::empty();
            for part in ["Cc", "Cf", "Co"] {
                all.union(&property(part)?);
            }
            return Some(all);
        }
        _ => {}
    }
    let query = if CATEGORIES.binary_search(&name).is_ok() {
        format!("\\p{{gc={name}}}")
    } else if SCRIPTS.binary_search(&name).is_ok() {
        format!("\\p{{sc={name}}}")
    } else {
        return None;
    };
    // the tables are those of the engine, asked for by a pattern that is ours
    let hir = regex_syntax::parse(&query).ok()?;
    match hir.into_kind() {
        regex_syntax::hir::HirKind::Class(regex_syntax::hir::Class::Unicode(set)) => Some(set),
        // a class of one character
        regex_syntax::hir::HirKind::Literal(one) => {
            let text = std::str::from_utf8(&one.0).ok()?;
            text.chars().next().map(single)
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_are_sorted_and_known() {
        assert!(CATEGORIES.is_sorted() && SCRIPTS.is_sorted());
        for name in CATEGORIES.iter().chain(SCRIPTS) {
            assert!(property(name).is_some(), "{name}");
        }
    }
}
