//! Makes odd expressions: every function with arguments that suit it, nearly suit it or do not suit it
//! at all, and the syntax around them.
//!
//! What [`super::live::Maker`] makes are expressions as people write them; what is made here are those
//! nobody would write. The names it uses are those of [`super::pools::NAMES`].

use std::sync::Arc;

use formwork_environment::{Fixed, Randomness as _};
use formwork_eval::{Builtins, Signature};
use formwork_syntax::quote;

use super::pools::{
    BASE64, CSVS, DURATIONS, ENCODINGS, JSONS, LEFT_OUT, NAMES, NETWORKS, NUMBERS, TEXTS, TIMES,
    YAMLS,
};

/// Makes them.
pub struct Odd {
    /// Where chance comes from.
    pub source: Fixed,
    signatures: Vec<Arc<Signature>>,
}

#[rustfmt::skip] // lists of things to pick from
impl Odd {
    /// With a seed.
    pub fn new(seed: u64, functions: &Builtins) -> Self {
        let signatures = functions
            .signatures()
            .filter(|s| !LEFT_OUT.contains(&&*s.name))
            .cloned()
            .collect();
        Self {
            source: Fixed::new(0, seed),
            signatures,
        }
    }

    /// A number below `n`.
    pub fn below(&mut self, n: usize) -> usize {
        let mut bytes = [0u8; 8];
        self.source.fill(&mut bytes);
        usize::try_from(u64::from_le_bytes(bytes) % (n as u64)).expect("small")
    }

    pub fn pick<'a>(&mut self, from: &[&'a str]) -> &'a str {
        from[self.below(from.len())]
    }

    pub fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }

    fn name(&mut self) -> String {
        let (name, _) = NAMES[self.below(NAMES.len())];
        format!("local.{name}")
    }

    fn quoted(&mut self, from: &[&str]) -> String {
        quote(self.pick(from))
    }

    fn text(&mut self) -> String {
        match self.below(12) {
            0 => self
                .pick(&["local.us", "local.up", "local.ss", "local.su", "local.ns"])
                .to_owned(),
            1 => {
                let (a, b) = (self.pick(TEXTS), self.pick(TEXTS));
                quote(&format!("{a}{b}"))
            }
            _ => self.quoted(TEXTS),
        }
    }

    fn number(&mut self) -> String {
        match self.below(12) {
            0 => self.pick(&["local.un", "local.sn"]).to_owned(),
            1 => format!(
                "({} {} {})",
                self.pick(NUMBERS),
                self.pick(&["+", "-", "*", "/", "%"]),
                self.pick(NUMBERS)
            ),
            _ => format!("({})", self.pick(NUMBERS)),
        }
    }

    fn truth(&mut self) -> String {
        self.pick(&[
            "true", "false", "true", "false", "local.ub", "\"true\"", "1 == 1", "sensitive(true)",
        ])
        .to_owned()
    }

    fn list(&mut self, depth: usize) -> String {
        if self.one_in(4) {
            return self
                .pick(&[
                    "local.ul", "local.ulm", "local.sl", "local.slm", "local.ls", "local.ln",
                    "local.lo", "local.st", "local.so", "local.el", "local.es", "local.els",
                    "local.nl", "local.uset",
                ])
                .to_owned();
        }
        let kind = self.below(7);
        let items: Vec<String> = (0..self.below(4))
            .map(|_| match kind {
                0 | 1 => self.text(),
                2 => self.number(),
                3 => self.truth(),
                4 => self.list(depth.saturating_sub(1)),
                5 => self.map(depth.saturating_sub(1)),
                _ => self.any(depth.saturating_sub(1)),
            })
            .collect();
        let list = format!("[{}]", items.join(", "));
        match self.below(5) {
            0 => format!("tolist({list})"),
            1 => format!("toset({list})"),
            _ => list,
        }
    }

    fn map(&mut self, depth: usize) -> String {
        if self.one_in(4) {
            return self
                .pick(&[
                    "local.um", "local.uo", "local.sm", "local.smm", "local.ms", "local.ml",
                    "local.mo", "local.ob", "local.em", "local.nm",
                ])
                .to_owned();
        }
        let kind = self.below(5);
        let items: Vec<String> = (0..self.below(4))
            .map(|_| {
                let key = match self.below(5) {
                    0 => format!("({})", self.text()),
                    1 => self.quoted(TEXTS),
                    _ => self.pick(&["a", "b", "c", "z1", "a-b"]).to_owned(),
                };
                let value = match kind {
                    0 => self.text(),
                    1 => self.number(),
                    2 => self.list(depth.saturating_sub(1)),
                    _ => self.any(depth.saturating_sub(1)),
                };
                format!("{key} = {value}")
            })
            .collect();
        let map = format!("{{{}}}", items.join(", "));
        if self.one_in(4) {
            format!("tomap({map})")
        } else {
            map
        }
    }

    fn leaf(&mut self) -> String {
        match self.below(9) {
            0 => self.number(),
            1 => self.truth(),
            2 => "null".to_owned(),
            3 => self.list(0),
            4 => self.map(0),
            5 | 6 => self.name(),
            _ => self.text(),
        }
    }

    /// An expression of some depth.
    pub fn any(&mut self, depth: usize) -> String {
        if depth == 0 {
            return self.leaf();
        }
        let d = depth - 1;
        match self.below(30) {
            0 => format!(
                "({} {} {})",
                self.any(d),
                self.pick(&["+", "-", "*", "/", "%"]),
                self.any(d)
            ),
            1 => format!(
                "({} {} {})",
                self.any(d),
                self.pick(&["==", "!="]),
                self.any(d)
            ),
            2 => format!(
                "({} {} {})",
                self.any(d),
                self.pick(&["<", "<=", ">", ">="]),
                self.any(d)
            ),
            3 => format!("({} ? {} : {})", self.truth(), self.any(d), self.any(d)),
            4 => format!("{}{}", self.pick(&["-", "!"]), self.parenthesised(d)),
            5 => {
                let head = self.pick(&["x", "k, x"]);
                let value = self.pick(&[
                    "x", "[x]", "x == 1", "\"${x}!\"", "x.a", "x[0]", "{ v = x }", "x[*]",
                    "length(x)",
                ]);
                let condition = self.pick(&["", "", " if x != null", " if length(x) > 0", " if x"]);
                format!(
                    "[for {head} in {} : {value}{condition}]",
                    self.collection(d)
                )
            }
            6 => {
                let key = self.pick(&[
                    "k", "\"p${k}\"", "upper(k)", "v", "\"same\"", "k == null ? \"n\" : k",
                ]);
                let value = self.pick(&["v", "k", "[v, k]", "v...", "k..."]);
                let condition = self.pick(&["", "", "", " if v != null", " if k != \"a\""]);
                format!(
                    "{{for k, v in {} : {key} => {value}{condition}}}",
                    self.collection(d)
                )
            }
            7 => self.template(d),
            8 => format!("{}[{}]", self.parenthesised(d), self.leaf()),
            9 => format!(
                "{}.{}",
                self.parenthesised(d),
                self.pick(&["a", "b", "0", "c.d", "k"])
            ),
            10 => format!(
                "{}[*]{}",
                self.parenthesised(d),
                self.pick(&["", ".a", "[0]", ".a.b"])
            ),
            11 => format!(
                "{}.*{}",
                self.parenthesised(d),
                self.pick(&[".a", "", ".b", "[0]"])
            ),
            12 => format!(
                "{}({}...)",
                self.pick(&[
                    "max", "concat", "merge", "setunion", "coalesce", "format", "join",
                    "setproduct", "min", "concat", "flatten",
                    "upper"
                ]),
                self.list(d)
            ),
            13 => format!(
                "[{}, {}][{}]",
                self.any(d),
                self.any(d),
                self.pick(&["0", "1", "-1", "2", "\"0\"", "0.5", "\"x\"", "true", "null"])
            ),
            14 => format!(
                "({} {} {})",
                self.truth(),
                self.pick(&["&&", "||"]),
                self.truth()
            ),
            15 => format!(
                "{}({})",
                self.pick(&[
                    "nonsensitive", "issensitive", "sensitive", "can", "ephemeralasnull",
                    "jsonencode", "length", "tostring", "tolist", "toset", "tomap", "tonumber",
                    "yamlencode", "keys",
                    "values"
                ]),
                self.any(d)
            ),
            _ => self.call(d),
        }
    }

    fn parenthesised(&mut self, depth: usize) -> String {
        match self.below(3) {
            0 => self.list(depth),
            1 => self.map(depth),
            _ => format!("({})", self.any(depth)),
        }
    }

    fn collection(&mut self, depth: usize) -> String {
        match self.below(5) {
            0 | 1 => self.list(depth),
            2 | 3 => self.map(depth),
            _ => self.any(depth),
        }
    }

    /// A template, quoted or a heredoc.
    fn template(&mut self, depth: usize) -> String {
        let heredoc = self.one_in(4);
        let mut out = String::new();
        for _ in 0..=self.below(4) {
            let (open, close) = (self.pick(&["", "~", "~ "]), self.pick(&["", "~", " ~"]));
            let part = match self.below(6) {
                0 => format!("${{{open}{}{close}}}", self.any(depth)),
                1 => {
                    let otherwise = self.pick(&["", "%{ else }no", "%{~ else ~} no "]);
                    format!(
                        "%{{{open} if {} {close}}} yes {otherwise}%{{{close} endif {open}}}",
                        self.truth()
                    )
                }
                2 => format!(
                    "%{{ for v in {} {close}}}<${{v}}>%{{{open} endfor }}",
                    self.list(0)
                ),
                3 => self
                    .pick(&["$${x}", "%%{x}", "$", "%", "$$", "{", "}"])
                    .to_owned(),
                4 if heredoc => self
                    .pick(&["\n", "\n  ", "\n    x", "\n\t", " \n", "\\n"])
                    .to_owned(),
                4 => self
                    .pick(&[
                        "\\n", "\\t", "\\\\", "\\\"", "\\u00e9", "\\U0001F600", "\\r",
                    ])
                    .to_owned(),
                _ => self.pick(&["a", " ", "é", "x y", "-", "  "]).to_owned(),
            };
            out.push_str(&part);
        }
        if heredoc {
            let open = self.pick(&["<<E", "<<-E"]);
            format!("({open}\n{out}\n{}E\n)", self.pick(&["", "  ", "    "]))
        } else {
            format!("\"{out}\"")
        }
    }

    /// A call of any function.
    pub fn call(&mut self, depth: usize) -> String {
        let at = self.below(self.signatures.len());
        let signature = self.signatures[at].clone();
        let mut count = signature.parameters.len();
        if signature.variadic.is_some() {
            count += self.below(4);
        }
        if self.one_in(60) {
            count += 1;
        } else if count > 0 && self.one_in(60) {
            count -= 1;
        }
        let arguments: Vec<String> = (0..count)
            .map(|at| self.argument(&signature, at, depth))
            .collect();
        format!("{}({})", signature.name, arguments.join(", "))
    }

    fn argument(&mut self, signature: &Signature, at: usize, depth: usize) -> String {
        let name = &*signature.name;
        if self.one_in(9) {
            return self.any(depth);
        }
        if self.one_in(25) {
            return self.name();
        }
        match (name, at) {
            ("format" | "formatlist", 0) => return self.format(),
            ("format", _) => return self.leaf(),
            ("formatlist", _) => {
                return if self.one_in(2) {
                    self.list(0)
                } else {
                    self.leaf()
                };
            }
            ("formatdate", 0) => return self.layout(),
            ("formatdate", 1) | ("timeadd", 0) | ("timecmp", _) => return self.quoted(TIMES),
            ("timeadd", 1) => return self.quoted(DURATIONS),
            ("cidrhost" | "cidrnetmask" | "cidrsubnet" | "cidrsubnets", 0) => {
                return self.quoted(NETWORKS);
            }
            ("cidrsubnet", 2) => {
                return self
                    .pick(&["0", "1", "2", "3", "7", "15", "255", "256", "65535", "1e10"])
                    .to_owned();
            }
            ("cidrsubnet" | "cidrsubnets", _) => {
                return self
                    .pick(&["0", "1", "2", "3", "4", "8", "16", "32", "33", "1.5", "64"])
                    .to_owned();
            }
            ("base64decode", _) | ("textdecodebase64", 0) => return self.quoted(BASE64),
            ("textdecodebase64" | "textencodebase64", 1) => return self.quoted(ENCODINGS),
            ("jsondecode", _) => return self.quoted(JSONS),
            ("yamldecode", _) => return self.quoted(YAMLS),
            ("csvdecode", _) => return self.quoted(CSVS),
            ("parseint", 0) => {
                return self.quoted(&[
                    "10", "ff", "-7", "zZ", "0x10", "", " 1", "1_0", "99999999999999999999999",
                    "é", "+5", "1.5", "0b1", "Z", "_1", "12e",
                ]);
            }
            ("parseint", 1) => {
                return self
                    .pick(&[
                        "2", "8", "10", "16", "36", "37", "62", "63", "1", "0", "-2", "10.5",
                    ])
                    .to_owned();
            }
            ("regex" | "regexall", 0) => {
                return self.quoted(&[
                    "[a-z]+", "(\\d+)", "(?P<x>a)(?P<y>b)?", "^", "\\b", "(a)|(b)", ".", "\\pL",
                    "(", "(?i)A", "a*?",
                ]);
            }
            ("replace", 1) if self.one_in(2) => {
                return self.quoted(&[
                    "/a/", "/[aeiou]/", "/(.)/", "//", "/", "/(?P<n>.)/", "/^|$/", "/(/",
                ]);
            }
            ("replace", 2) if self.one_in(2) => {
                return self.quoted(&["$0", "${1}x", "$1x", "$n", "$$", "$", "${n}", "\\1"]);
            }
            ("templatestring", 0) => {
                return self
                    .pick(&[
                        "local.t0", "local.t1", "local.t2", "local.t3", "local.t4", "local.t5",
                    ])
                    .to_owned();
            }
            ("templatestring", 1) => {
                return format!(
                    "{{ x = {}, b = {}, l = {} }}",
                    self.leaf(),
                    self.truth(),
                    self.list(0)
                );
            }
            ("substr", 1 | 2) => {
                return self
                    .pick(&["0", "1", "2", "-1", "-2", "5", "100", "1.5", "-100"])
                    .to_owned();
            }
            ("element" | "slice" | "chunklist" | "range", 1..) => {
                return self
                    .pick(&["0", "1", "2", "-1", "3", "10", "0.5", "-2", "1.5"])
                    .to_owned();
            }
            ("range", 0) => {
                return self
                    .pick(&["0", "1", "3", "-3", "5.5", "1025", "0.1", "10"])
                    .to_owned();
            }
            ("indent", 0) => return self.pick(&["0", "1", "4", "-1", "1.5", "100"]).to_owned(),
            ("log" | "pow", _) => {
                return self
                    .pick(&[
                        "0", "1", "2", "4", "8", "-1", "0.5", "10", "100", "-2", "16", "3",
                    ])
                    .to_owned();
            }
            ("uuidv5", 0) => {
                return self.quoted(&[
                    "dns", "url", "oid", "x500", "6ba7b810-9dad-11d1-80b4-00c04fd430c8", "", "x",
                    "6BA7B810-9DAD-11D1-80B4-00C04FD430C8",
                ]);
            }
            ("zipmap", 0) | ("join", 1..) | ("sort" | "compact", _) => {
                return if self.one_in(3) {
                    self.list(0)
                } else {
                    self.texts()
                };
            }
            (
                "trim" | "trimprefix" | "trimsuffix" | "split" | "startswith" | "endswith"
                | "strcontains",
                _,
            ) if self.one_in(3) => {
                return self.quoted(&[
                    "a", "", "e\u{301}", "é", "\u{301}", "\n", " ", "b", "👩", "語", "x", ",",
                ]);
            }
            ("transpose", _) => {
                return self
                    .pick(&[
                        "local.ml", "{ a = [\"x\", \"y\"], b = [\"x\"] }", "{ a = [] }", "{}",
                        "{ a = [null] }", "{ a = null }", "{ a = [1, 2] }", "{ a = \"x\" }",
                        "local.um",
                    ])
                    .to_owned();
            }
            ("lookup", 0) | ("keys" | "values" | "merge", _) => return self.map(depth),
            ("lookup", 1) => return self.quoted(&["a", "b", "z", "k", ""]),
            ("try" | "can", _) => return self.any(depth),
            _ => {}
        }
        let parameter = signature
            .parameter(at)
            .map(|p| p.ty.to_string())
            .unwrap_or_default();
        match parameter.as_str() {
            "string" => self.text(),
            "number" => self.number(),
            "bool" => self.truth(),
            t if t.starts_with("list") || t.starts_with("set") => self.list(depth),
            t if t.starts_with("map") => self.map(depth),
            _ => match name {
                "sum" | "index" | "contains" | "element" | "slice" | "reverse" | "one"
                | "flatten" | "concat" | "coalescelist" | "setproduct" | "distinct"
                    if at == 0 || self.one_in(2) =>
                {
                    self.list(depth)
                }
                _ => self.any(depth),
            },
        }
    }

    fn texts(&mut self) -> String {
        let items: Vec<String> = (0..self.below(4)).map(|_| self.quoted(TEXTS)).collect();
        format!("[{}]", items.join(", "))
    }

    /// A format: text and verbs of all kinds.
    fn format(&mut self) -> String {
        let mut out = String::new();
        for _ in 0..=self.below(3) {
            out.push_str(self.pick(&["", "", "x", "é ", "%%", "\n"]));
            out.push('%');
            for _ in 0..self.below(3) {
                out.push_str(self.pick(&["", "+", "-", " ", "0", "#", "'"]));
            }
            out.push_str(self.pick(&["", "", "", "3", "8", "12", "*", "1"]));
            out.push_str(self.pick(&["", "", "", ".0", ".2", ".5", ".", ".10", ".*"]));
            out.push_str(self.pick(&["", "", "", "", "[1]", "[2]", "[3]", "[0]", "[x]", "[1"]));
            out.push_str(self.pick(&[
                "v", "v", "s", "d", "t", "b", "o", "x", "X", "e", "E", "f", "F", "g", "G", "s",
                "q", "%", "c", "U", "p", "", "z", "é", "T", "w", "i", "O",
            ]));
        }
        quote(&out)
    }

    /// A layout of a date.
    fn layout(&mut self) -> String {
        let mut out = String::new();
        for _ in 0..=self.below(6) {
            out.push_str(self.pick(&[
                "YYYY", "YY", "Y", "YYYYY", "MMMM", "MMM", "MM", "M", "DD", "D", "DDD", "EEEE",
                "EEE", "EE", "hh", "h", "HH", "H", "AA", "aa", "A", "a", "mm", "m", "ss", "s",
                "sss", "ZZZZZ", "ZZZZ", "ZZZ", "Z", "ZZ", "-", ":", " ", "'T'", "'it''s'", "''",
                "'", "x", "é", "1", "/", "'h'", "hhh",
            ]));
        }
        quote(&out)
    }
}
