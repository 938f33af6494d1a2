//! From a configuration to one that is damaged in its structure, or in its tokens.
//!
//! A mutation cuts and pastes bytes, but where it cuts is taken from the tree that our own parser
//! makes of the text, or from its tokens: the first kind mostly gives text that parses and means
//! something else, the second mostly gives text that does not.

use crate::choices::Choices;
use formwork_diagnostics::{FileId, SourceRange};
use formwork_syntax::{
    Body, Expression, ExpressionKind as K, ObjectKey, ScanMode, TemplatePart, TokenKind, parse,
    scan,
};
use std::ops::Range;

/// Where something can be done to a text.
#[derive(Default)]
struct Spots {
    items: Vec<Range<usize>>,
    blocks: Vec<Range<usize>>,
    values: Vec<Range<usize>>,
    expressions: Vec<Range<usize>>,
    references: Vec<Range<usize>>,
    numbers: Vec<Range<usize>>,
    strings: Vec<Range<usize>>,
    bools: Vec<Range<usize>>,
    labels: Vec<Range<usize>>,
    names: Vec<Range<usize>>,
    /// Where an item may be inserted: ends of bodies.
    ends: Vec<usize>,
}

fn span(range: SourceRange) -> Range<usize> {
    range.start as usize..range.end as usize
}

impl Spots {
    fn of(text: &[u8]) -> Self {
        let mut spots = Self::default();
        let (body, _) = parse(FileId(0), text);
        spots.body(&body, 0);
        let fits = |r: &Range<usize>| r.start < r.end && r.end <= text.len();
        for list in [
            &mut spots.items,
            &mut spots.blocks,
            &mut spots.values,
            &mut spots.expressions,
            &mut spots.references,
            &mut spots.numbers,
            &mut spots.strings,
            &mut spots.bools,
            &mut spots.labels,
            &mut spots.names,
        ] {
            list.retain(fits);
        }
        spots.ends.push(text.len());
        spots.ends.retain(|e| *e <= text.len());
        spots
    }

    fn body(&mut self, body: &Body, depth: usize) {
        if depth > 40 {
            return;
        }
        for a in body.attributes() {
            self.items.push(span(a.range));
            self.names.push(span(a.name_range));
            self.values.push(span(a.expression.range()));
            self.expression(&a.expression, 0);
        }
        for b in body.blocks() {
            self.items.push(span(b.range()));
            self.blocks.push(span(b.range()));
            self.names.push(span(b.type_range));
            self.labels.extend(b.labels.iter().map(|l| span(l.range)));
            self.ends.push(b.close_brace.start as usize);
            self.body(&b.body, depth + 1);
        }
    }

    fn parts(&mut self, parts: &[TemplatePart], depth: usize) {
        for part in parts {
            match part {
                TemplatePart::Literal { .. } => {}
                TemplatePart::Interpolation { expression, .. } => {
                    self.expression(expression, depth);
                }
                TemplatePart::If {
                    condition,
                    then,
                    otherwise,
                    ..
                } => {
                    self.expression(condition, depth);
                    self.parts(then, depth + 1);
                    if let Some(otherwise) = otherwise {
                        self.parts(otherwise, depth + 1);
                    }
                }
                TemplatePart::For {
                    collection, body, ..
                } => {
                    self.expression(collection, depth);
                    self.parts(body, depth + 1);
                }
            }
        }
    }

    fn expression(&mut self, e: &Expression, depth: usize) {
        if depth > 60 {
            return;
        }
        self.expressions.push(span(e.range()));
        let depth = depth + 1;
        match e.kind() {
            K::Invalid | K::Null | K::SplatItem => {}
            K::Bool(_) => self.bools.push(span(e.range())),
            K::String(_) => self.strings.push(span(e.range())),
            K::Number(_) => self.numbers.push(span(e.range())),
            K::Traversal(_) => self.references.push(span(e.range())),
            K::Template(t) => self.parts(&t.parts, depth),
            K::TemplateWrap(e) | K::Parentheses(e) => self.expression(e, depth),
            K::Relative { source, .. } => self.expression(source, depth),
            K::Index {
                collection, key, ..
            } => {
                self.expression(collection, depth);
                self.expression(key, depth);
            }
            K::Splat(s) => self.expression(&s.source, depth),
            K::FunctionCall(f) => {
                self.names.push(span(f.name_range));
                f.arguments.iter().for_each(|a| self.expression(a, depth));
            }
            K::Conditional(c) => {
                for e in [&c.condition, &c.yes, &c.no] {
                    self.expression(e, depth);
                }
            }
            K::Unary { operand, .. } => self.expression(operand, depth),
            K::Binary { left, right, .. } => {
                self.expression(left, depth);
                self.expression(right, depth);
            }
            K::Tuple(items) => items.iter().for_each(|i| self.expression(i, depth)),
            K::Object(items) => {
                for item in items {
                    match &item.key {
                        ObjectKey::Name { range, .. } => self.names.push(span(*range)),
                        ObjectKey::Expression(e) => self.expression(e, depth),
                    }
                    self.expression(&item.value, depth);
                }
            }
            K::For(f) => {
                self.expression(&f.collection, depth);
                f.key.iter().for_each(|e| self.expression(e, depth));
                self.expression(&f.value, depth);
                f.condition.iter().for_each(|e| self.expression(e, depth));
            }
        }
    }
}

const VALUES: &[&str] = &[
    "null",
    "true",
    "false",
    "0",
    "1",
    "-1",
    "1.5",
    "3",
    "1e30",
    "-1e400",
    "1e-400",
    "123456789012345678901234567890123456789012345678901234567890.5",
    "9223372036854775808",
    "\"\"",
    "\"x\"",
    "\"0\"",
    "\"true\"",
    "\" \"",
    "\"1e5\"",
    "\"größe\"",
    "\"\\u0000\"",
    "\"e\\u0301\"",
    "\"\\U0001F469\u{200d}\\U0001F52C\"",
    "\"a\\nb\\tc\"",
    "\"$${x}%%{y}\"",
    "\"../../..\"",
    "\"10.0.0.0/8\"",
    "\"projects/p/global/networks/n\"",
    "[]",
    "{}",
    "[null]",
    "[[], {}, null]",
    "{ a = null }",
    "{ a = { a = [] } }",
    "[1, \"a\", true]",
    "{ \"\" = 1 }",
    "{ \"a.b c\" = 1, a-b = 2 }",
    "toset([])",
    "toset([\"a\", null])",
    "tomap({})",
    "tolist([])",
    "uuid()",
    "timestamp()",
    "plantimestamp()",
    "sensitive(\"s3cr3t\")",
    "sensitive(null)",
    "sensitive(\"s3cr3t\")",
    "sensitive({ a = 1 })",
    "[sensitive(1)]",
    "{ k = sensitive(uuid()) }",
    "toset([uuid()])",
    "{ a = uuid() }",
    "{ (uuid()) = 1 }",
    "[uuid(), uuid()]",
    "jsondecode(\"null\")",
    "file(\"missing\")",
    "range(3)",
    "1 / 0",
    "terraform_data.a.id",
    "terraform_data.one.output",
    "self.id",
    "self",
    "each.key",
    "each.value",
    "count.index",
    "path.module",
    "terraform.workspace",
    "local.nope",
    "var.nope",
    "module.nope.x",
    "data.nope.x.y",
    "nope",
    "each",
    "var",
    "local",
    "module",
    "data.a",
    "terraform_data",
    "terraform_data.all",
    "resource.terraform_data.a",
    "ephemeral.x.y.z",
    "provider::a::b()",
    "nope()",
    "<<E\nline ${1 + 1}\nE\n",
    "<<-E\n    a\n  b\n  E\n",
    "\"${null}\"",
    "\"%{ if true }%{ endif }\"",
    "\"%{ for x in [] }${x}%{ endfor }\"",
    "all",
    "string",
    "list(string)",
    "map(any)",
    "object({ a = optional(string, 1) })",
    "set(object({}))",
    "any",
    "optional(any)",
    "tuple([])",
];

const NUMBERS: &[&str] = &[
    "0",
    "1",
    "2",
    "-1",
    "7",
    "0.5",
    "1e3",
    "300",
    "2147483648",
    "4294967296",
    "1e20",
    "1e100",
    "0.1000000000000000055511151231257827",
    "-0",
];

const STRINGS: &[&str] = &[
    "\"\"",
    "\"x\"",
    "\"X\"",
    "\"a-b\"",
    "\"größe\"",
    "\"true\"",
    "\"12\"",
    "\"null\"",
    "\"10.0.0.0/8\"",
    "\"10.0.0.1/33\"",
    "\"fd00::/8\"",
    "\"us-east1\"",
    "\"us-east1-z\"",
    "\"a4-highgpu-8g\"",
    "\"nope-nope\"",
    "\"https://www.googleapis.com/compute/v1/projects/p/global/networks/n\"",
    "\"projects/p\"",
    "\"//\"",
    "\"a/b/c/d\"",
    "\" x \"",
    "\"\\n\"",
    "\"$${x}\"",
    "\"%\"",
    "\"*\"",
    "\"(\"",
    "\"[a-\"",
    "\"2024-01-01T00:00:00Z\"",
    "\"1h\"",
    "\"-1h\"",
    "\"allUsers\"",
    "\"roles/owner\"",
    "\"serviceAccount:x@y\"",
    "\"0\"",
    "\"ENABLED\"",
    "\"TCP\"",
    "\"aGVsbG8=\"",
    "\"YYYY-MM\"",
    "\"%d %s\"",
    "\"t.tftpl\"",
    "\"d.json\"",
];

/// `@` is what is wrapped.
const WRAPS: &[&str] = &[
    "[@]",
    "{ a = @ }",
    "(@)",
    "\"${@}\"",
    "\"a${@}b\"",
    "sensitive(@)",
    "nonsensitive(@)",
    "try(@, null)",
    "can(@)",
    "@ == null ? @ : null",
    "true ? @ : []",
    "uuid() == \"\" ? @ : null",
    "[for v in @ : v]",
    "{ for k, v in @ : k => v }",
    "{ for v in @ : \"k\" => v... }",
    "[for k, v in @ : k if v]",
    "@[*]",
    "@[0]",
    "@.id",
    "@[\"a\"]",
    "@.0",
    "@.*.a",
    "@[*].a[0]",
    "@[@]",
    "@[uuid()]",
    "-@",
    "!@",
    "@ + 1",
    "@ == @",
    "@ && true",
    "@ > 0",
    "@ % 0",
    "tostring(@)",
    "tonumber(@)",
    "tobool(@)",
    "toset(@)",
    "tolist(@)",
    "tomap(@)",
    "toset([@])",
    "jsonencode(@)",
    "jsondecode(jsonencode(@))",
    "yamlencode(@)",
    "yamldecode(yamlencode(@))",
    "keys(@)",
    "values(@)",
    "length(@)",
    "merge(@, @)",
    "merge(@...)",
    "flatten(@)",
    "element(@, 7)",
    "coalesce(@, 1)",
    "coalescelist(@, [1])",
    "one(@)",
    "setproduct(@, @)",
    "ephemeralasnull(@)",
    "zipmap(@, @)",
    "lookup(@, \"a\", null)",
    "distinct(@)",
    "sort(@)",
    "reverse(@)",
    "format(\"%s %d\", @, @)",
    "formatlist(\"%s\", @)",
    "cidrsubnet(@, 4, 1)",
    "range(@)",
    "slice(@, 0, 1)",
    "sum(@)",
    "transpose(@)",
    "concat(@, @)",
    "contains(@, 1)",
    "compact(@)",
    "chunklist(@, 0)",
    "split(\",\", @)",
    "join(\",\", @)",
    "regex(\"(a)|b\", @)",
    "regexall(@, @)",
    "replace(@, \"/a/\", \"$1\")",
    "substr(@, -1, 99)",
    "matchkeys(@, @, @)",
    "index(@, 1)",
    "issensitive(@)",
    "base64decode(@)",
    "base64gzip(@)",
    "csvdecode(@)",
    "templatefile(\"t.tftpl\", @)",
    "templatestring(@, {})",
    "provider::terraform::encode_expr(@)",
    "provider::terraform::encode_tfvars(@)",
    "provider::terraform::decode_tfvars(@)",
    "provider::formwork::machine(@)",
    "provider::formwork::fabric(@, @)",
    "timeadd(@, \"1h\")",
    "formatdate(\"YYYY\", @)",
    "parseint(@, 36)",
    "pow(@, @)",
    "log(@, 10)",
    "max(@...)",
    "title(@)",
    "md5(@)",
    "bcrypt(@, 4)",
    "rsadecrypt(@, @)",
    "strrev(@)",
    "indent(2, @)",
    "abspath(@)",
    "fileset(@, \"**\")",
    "file(@)",
    "sha256(@)",
    "type(@)",
    "setsubtract(@, @)",
    "setunion(@)",
    "alltrue(@)",
    "textdecodebase64(@, \"UTF-16LE\")",
];

const NAMES: &[&str] = &[
    "count",
    "for_each",
    "depends_on",
    "provider",
    "lifecycle",
    "source",
    "version",
    "providers",
    "type",
    "default",
    "value",
    "sensitive",
    "nullable",
    "ephemeral",
    "condition",
    "error_message",
    "content",
    "dynamic",
    "labels",
    "iterator",
    "validation",
    "precondition",
    "postcondition",
    "ignore_changes",
    "replace_triggered_by",
    "create_before_destroy",
    "prevent_destroy",
    "resource",
    "data",
    "module",
    "variable",
    "output",
    "locals",
    "terraform",
    "moved",
    "removed",
    "import",
    "check",
    "assert",
    "from",
    "to",
    "id",
    "alias",
    "input",
    "name",
    "project",
    "region",
    "zone",
    "timeouts",
    "required_providers",
    "required_version",
    "backend",
    "cloud",
    "connection",
    "provisioner",
    "nope",
    "_",
    "größe",
    "a-b",
    "ephemeral",
    "write_only",
    "action",
    "list",
    "length",
    "keys",
    "tostring",
    "description",
    "config",
];

const LABELS: &[&str] = &[
    "\"\"",
    "\"1a\"",
    "\"a.b\"",
    "\"größe\"",
    "\"a b\"",
    "\"count\"",
    "\"each\"",
    "\"terraform_data\"",
    "\"google_compute_network\"",
    "\"google_nope\"",
    "\"nope_thing\"",
    "\"google\"",
    "\"formwork\"",
    "\"\\n\"",
    "\"x${y}\"",
    "plain",
    "\"source\"",
    "\"allow\"",
    "\"nope\"",
    "\"a\" \"b\"",
    "",
    "\"provider\"",
    "\"google_compute_instance\"",
    "\"terraform_remote_state\"",
];

const PIECES: &[&str] = &[
    "\"",
    "${",
    "%{",
    "}",
    "{",
    "[",
    "]",
    "(",
    ")",
    "=",
    ",",
    ".",
    "...",
    "*",
    "# c\n",
    "/*",
    "*/",
    "<<E\n",
    "E\n",
    "\n",
    "\r\n",
    "\\",
    "~",
    "$",
    "for ",
    " in ",
    " if ",
    "::",
    "=>",
    "?",
    ":",
    "1.5.5",
    ".0.1",
    "'",
    "`",
    ";",
    "&",
    "|",
    "\u{201c}",
    "\u{feff}",
    "%{ if x }",
    "%{ endif }",
    "\\u12",
    "é",
    "\0",
    "==",
    "-",
    "!",
    "null",
    "0",
    "\"x\"",
    "\u{202e}",
    "\u{2028}",
];

/// A mutant of `text`, with pieces of `donor` where it takes some.
pub fn mutate(choices: &mut Choices, text: &str, donor: &str, json: bool) -> Vec<u8> {
    let mut out = text.as_bytes().to_vec();
    if json {
        for _ in 0..=choices.below(2) {
            if choices.one_in(4) {
                token(choices, &mut out, donor.as_bytes());
            } else {
                json_value(choices, &mut out);
            }
        }
        return out;
    }
    // Some mutations of the structure break the text as well, so these are not quite half.
    let kind = choices.below(100);
    if kind < 52 {
        let further = [0, 0, 0, 1, 2][choices.below(5)];
        for _ in 0..=further {
            structure(choices, &mut out, donor.as_bytes());
        }
    } else if kind < 90 {
        for _ in 0..=choices.below(3) {
            token(choices, &mut out, donor.as_bytes());
        }
    } else {
        for _ in 0..=choices.below(2) {
            bytes(choices, &mut out);
        }
    }
    out
}

fn put(text: &mut Vec<u8>, range: Range<usize>, new: &[u8]) {
    text.splice(range, new.iter().copied());
}

fn paste(text: &mut Vec<u8>, at: usize, item: &[u8]) {
    let mut new = b"\n".to_vec();
    new.extend_from_slice(item);
    new.push(b'\n');
    put(text, at..at, &new);
}

fn structure(choices: &mut Choices, text: &mut Vec<u8>, donor: &[u8]) {
    let spots = Spots::of(text);
    let piece = |text: &[u8], r: &Range<usize>| text[r.clone()].to_vec();
    match choices.below(29) {
        0 => {
            if let Some(r) = choices.pick(&spots.items) {
                put(text, r.clone(), b"");
            }
        }
        1 => {
            if let Some(r) = choices.pick(&spots.blocks) {
                let item = piece(text, r);
                paste(text, r.end, &item);
            }
        }
        2 => {
            // Moved to another body: cut after pasting, whichever comes later first.
            let end = choices.pick(&spots.ends).copied();
            if let (Some(r), Some(at)) = (choices.pick(&spots.items), end) {
                let item = piece(text, r);
                if at >= r.end {
                    paste(text, at, &item);
                    put(text, r.clone(), b"");
                } else if at <= r.start {
                    put(text, r.clone(), b"");
                    paste(text, at, &item);
                }
            }
        }
        3..=6 => {
            let new = choices.of(VALUES);
            if let Some(r) = choices.pick(&spots.values) {
                put(text, r.clone(), new.as_bytes());
            }
        }
        7 => {
            let new = choices.of(VALUES);
            if let Some(r) = choices.pick(&spots.expressions) {
                put(text, r.clone(), new.as_bytes());
            }
        }
        8..=11 => {
            let wrap = choices.of(WRAPS);
            if let Some(r) = choices.pick(&spots.expressions) {
                let inner = String::from_utf8_lossy(&text[r.clone()]).into_owned();
                put(text, r.clone(), wrap.replace('@', &inner).as_bytes());
            }
        }
        12 | 13 => {
            let other = choices.pick(&spots.references).cloned();
            if let (Some(r), Some(o)) = (choices.pick(&spots.references), other) {
                let new = piece(text, &o);
                put(text, r.clone(), &new);
            }
        }
        14 => {
            let theirs = Spots::of(donor);
            let new = choices.pick(&theirs.expressions).map(|r| piece(donor, r));
            if let (Some(r), Some(new)) = (choices.pick(&spots.expressions), new) {
                put(text, r.clone(), &new);
            }
        }
        15 => {
            let other = choices.pick(&spots.expressions).cloned();
            if let (Some(r), Some(o)) = (choices.pick(&spots.expressions), other) {
                let new = piece(text, &o);
                put(text, r.clone(), &new);
            }
        }
        16 => {
            let new = if choices.one_in(2) {
                choices.of(LABELS).as_bytes().to_vec()
            } else {
                let other = choices.pick(&spots.labels).cloned();
                other.map(|o| piece(text, &o)).unwrap_or_default()
            };
            if let Some(r) = choices.pick(&spots.labels) {
                put(text, r.clone(), &new);
            }
        }
        17 | 18 => {
            let new = if choices.one_in(2) {
                choices.of(NAMES).as_bytes().to_vec()
            } else {
                let other = choices.pick(&spots.names).cloned();
                other.map(|o| piece(text, &o)).unwrap_or_default()
            };
            if let Some(r) = choices.pick(&spots.names) {
                put(text, r.clone(), &new);
            }
        }
        19 | 20 => {
            // Spliced in from elsewhere: a whole block at the top, or anything anywhere.
            let theirs = Spots::of(donor);
            let from = if choices.one_in(2) {
                &theirs.blocks
            } else {
                &theirs.items
            };
            let item = choices.pick(from).map(|r| piece(donor, r));
            if let (Some(item), Some(at)) = (item, choices.pick(&spots.ends)) {
                paste(text, *at, &item);
            }
        }
        23..=26 => {
            // Of the same kind: it still means something, but something odd.
            let (list, new) = match choices.below(5) {
                0 => (&spots.numbers, choices.of(NUMBERS)),
                1 => (&spots.bools, choices.of(&["true", "false", "null"])),
                _ => (&spots.strings, choices.of(STRINGS)),
            };
            let other = choices.pick(list).cloned();
            let new = match other {
                Some(o) if choices.one_in(3) => piece(text, &o),
                _ => new.as_bytes().to_vec(),
            };
            if let Some(r) = choices.pick(list) {
                put(text, r.clone(), &new);
            }
        }
        21 => {
            let name = choices.of(NAMES);
            let value = choices.of(VALUES);
            if let Some(at) = choices.pick(&spots.ends) {
                paste(text, *at, format!("{name} = {value}").as_bytes());
            }
        }
        22 => {
            let n = [3, 50, 300, 1_100][choices.below(4)];
            let (open, close) = [
                ("(", ")"),
                ("[", "]"),
                ("{a=", "}"),
                ("-", ""),
                ("true ? ", " : null"),
                ("\"${", "}\""),
                ("1 + ", ""),
                ("tostring(", ")"),
                ("[for x in ", " : x]"),
            ][choices.below(9)];
            if let Some(r) = choices.pick(&spots.expressions) {
                let inner = String::from_utf8_lossy(&text[r.clone()]).into_owned();
                let new = format!("{}{inner}{}", open.repeat(n), close.repeat(n));
                put(text, r.clone(), new.as_bytes());
            }
        }
        _ => {
            let new = match choices.below(4) {
                0 => "9".repeat(400),
                1 => format!("\"{}\"", "long é ".repeat(3_000)),
                2 => format!("[{}]", "\"x\", ".repeat(500)),
                _ => format!("0.{}1", "0".repeat(200)),
            };
            if let Some(r) = choices.pick(&spots.expressions) {
                put(text, r.clone(), new.as_bytes());
            }
        }
    }
}

fn tokens(text: &[u8]) -> Vec<(TokenKind, Range<usize>)> {
    scan(text, ScanMode::Code)
        .iter()
        .map(|t| (t.kind, t.start as usize..t.end as usize))
        .filter(|(_, r)| r.start < r.end)
        .collect()
}

fn token(choices: &mut Choices, text: &mut Vec<u8>, donor: &[u8]) {
    let all = tokens(text);
    let other = choices.pick(&all).cloned();
    let (Some((_, a)), Some((_, b))) = (choices.pick(&all).cloned(), other) else {
        return;
    };
    match choices.below(7) {
        0 => put(text, a, b""),
        1 => {
            let new = text[a.clone()].to_vec();
            put(text, a.end..a.end, &new);
        }
        2 => {
            let (first, second) = if a.start <= b.start { (a, b) } else { (b, a) };
            if first.end <= second.start {
                let (x, y) = (text[first.clone()].to_vec(), text[second.clone()].to_vec());
                put(text, second, &x);
                put(text, first, &y);
            }
        }
        3 => {
            let new = text[b].to_vec();
            put(text, a, &new);
        }
        4 => {
            let theirs = tokens(donor);
            if let Some((_, r)) = choices.pick(&theirs) {
                put(text, a, &donor[r.clone()]);
            }
        }
        5 => {
            let new = choices.of(PIECES);
            put(text, a, new.as_bytes());
        }
        _ => {
            let new = choices.of(PIECES);
            put(text, a.start..a.start, new.as_bytes());
        }
    }
}

fn bytes(choices: &mut Choices, text: &mut Vec<u8>) {
    let at = choices.below(text.len() + 1);
    match choices.below(4) {
        0 => put(text, at..at, choices.of(PIECES).as_bytes()),
        1 => {
            let end = (at + 1 + choices.below(30)).min(text.len());
            put(text, at.min(end)..end, b"");
        }
        2 => {
            let end = (at + choices.below(60)).min(text.len());
            let piece = text[at.min(end)..end].to_vec();
            let to = choices.below(text.len() + 1);
            put(text, to..to, &piece);
        }
        _ => {
            let byte = u8::try_from(choices.below(256)).expect("a byte");
            text.insert(at, byte);
        }
    }
}

/// Replaces a string, number or word of JSON.
fn json_value(choices: &mut Choices, text: &mut Vec<u8>) {
    const NEW: &[&str] = &[
        "null",
        "0",
        "-1.5e400",
        "\"\"",
        "\"${\"",
        "\"${var.x}\"",
        "\"${nope(\"",
        "[]",
        "{}",
        "[[]]",
        "[{}, {}]",
        "{\"a\": 1}",
        "true",
        "\"%{ if }\"",
        "\"local.y\"",
        "\"terraform_data.one\"",
        "\"for_each\"",
        "\"count\"",
        "\"\\ud83d\\ude00\"",
        "\"${terraform_data.one[*].id}\"",
        "\"string\"",
        "\"${uuid()}\"",
        "\"lifecycle\"",
    ];
    let all: Vec<_> = tokens(text);
    // A string is a quote, text and a quote.
    let mut values: Vec<Range<usize>> = Vec::new();
    for (i, (kind, r)) in all.iter().enumerate() {
        match kind {
            TokenKind::Number | TokenKind::Identifier => values.push(r.clone()),
            TokenKind::OpenQuote => {
                let close = all[i..].iter().find(|(k, _)| *k == TokenKind::CloseQuote);
                values.extend(close.map(|(_, c)| r.start..c.end));
            }
            _ => {}
        }
    }
    let new = choices.of(NEW);
    if let Some(r) = choices.pick(&values) {
        put(text, r.clone(), new.as_bytes());
    }
}
