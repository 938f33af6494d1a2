//! [`Builtins`]: the functions of the language.
//!
//! One table names each function with its signature in a short notation and the function that
//! answers it. The notation: parameters `name: type`, separated by commas; after a name `?` takes
//! null, `~` takes unknown values, `!` takes marks, `...` takes the rest; then `-> type`.
//!
//! Answers are Terraform's (recorded, and compared live by the tests), but for a few places where
//! those would do harm: `yamldecode` takes block scalars as the text they are, `element` counts
//! backwards with a negative index, null given to `format` is an error or `null` and not an unknown
//! value, `cidrsubnets` finds networks at the very beginning of all addresses too, `try` and `coalesce`
//! keep the marks of what is unknown, and what can be said of unknown values, mistakes included, is said
//! more often. Bytes of `base64gzip` are a compressor's own. Code pages of DOS, EUC-JP beyond JIS X 0208
//! and HZ are encodings that are not known here.
//!
//! `base64gunzip`, `cidrcontains` and `urldecode` are OpenTofu's, `convert` is there since Terraform
//! 1.15 and OpenTofu 1.13; their answers follow what those tools' documentation promises.
//!
//! Functions see their arguments converted; unless they take unknown values or marks, none of the
//! arguments is unknown at its top or marked at all. They may still hold unknown values inside.

mod collections;
mod conversion;
mod csv;
mod encoding;
mod files;
mod fileset;
mod filesystem;
mod format;
mod hashing;
mod json;
mod network;
mod numeric;
mod pattern;
mod powers;
mod re2;
mod regular;
mod rsa;
mod sets;
mod strings;
mod templates;
mod time;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::SystemTime;

use formwork_diagnostics::Diagnostics;
use formwork_environment::{Clock, Randomness};
use formwork_values::{Refinement, Type, Value};

use crate::functions::{Call, CallError, Functions, Outcome, Parameter, Signature};

pub use files::{DirectoryEntry, FileError, Files, NoFiles, WorkingDirectory};

/// What functions reach outside the expression.
#[derive(Clone)]
pub struct Surroundings {
    /// Files, for `file`, `templatefile`, `fileset` and their like.
    pub files: Arc<dyn Files>,
    /// Time, for `timestamp`.
    pub clock: Arc<dyn Clock>,
    /// Randomness, for `uuid` and `bcrypt`.
    pub randomness: Arc<dyn Randomness>,
    /// When the plan was made, for `plantimestamp`; `None` leaves it unknown.
    pub plan_time: Option<SystemTime>,
    /// Whether `timestamp`, `uuid` and `bcrypt` answer now. While planning they must not: each call
    /// answers otherwise, so what they give is known only when it is applied.
    pub settle_impure: bool,
}

/// The functions of the language, over given surroundings.
#[derive(Clone)]
pub struct Builtins {
    surroundings: Surroundings,
    patterns: pattern::Patterns,
    table: Arc<BTreeMap<Arc<str>, Entry>>,
}

struct Entry {
    signature: Arc<Signature>,
    body: Body,
}

/// What a function's body is given.
struct Given<'a> {
    arguments: &'a [Value],
    builtins: &'a Builtins,
}

impl<'a> Given<'a> {
    fn at(&self, position: usize) -> &'a Value {
        static NOTHING: Value = Value::NULL;
        self.arguments.get(position).unwrap_or(&NOTHING)
    }

    /// A known text argument; empty if it is none, which the signature excludes.
    fn text(&self, position: usize) -> &'a str {
        self.at(position).as_str().unwrap_or_default()
    }

    /// A whole number within the range of 64 bits.
    fn whole(&self, position: usize) -> Result<i64, CallError> {
        self.at(position)
            .as_number()
            .and_then(formwork_values::Number::to_i64)
            .ok_or_else(|| {
                CallError::call(format!(
                    "Argument {} must be a whole number between {} and {}.",
                    position + 1,
                    i64::MIN,
                    i64::MAX
                ))
            })
    }

    fn surroundings(&self) -> &'a Surroundings {
        &self.builtins.surroundings
    }
}

/// How long a text may be, in bytes, that is put together of others. Texts that are read may be longer.
pub(crate) const MOST_TEXT: usize = 32 * 1024 * 1024;
/// Into how many pieces a text may be cut.
const MOST_PIECES: usize = 4_000_000;

/// Refuses a text longer than [`MOST_TEXT`], before it is made or while it grows.
fn room_for_text(length: usize) -> Result<(), CallError> {
    if length <= MOST_TEXT {
        Ok(())
    } else {
        Err(too_long())
    }
}

fn too_long() -> CallError {
    CallError::call(format!(
        "The text would be longer than {} MiB, which is more than any argument takes.",
        MOST_TEXT / (1024 * 1024)
    ))
}

/// Refuses more pieces than [`MOST_PIECES`].
fn room_for_pieces(count: usize) -> Result<(), CallError> {
    if count <= MOST_PIECES {
        return Ok(());
    }
    Err(CallError::call(format!(
        "The text falls into more than {MOST_PIECES} pieces."
    )))
}

type Answer = Result<Value, CallError>;
type Body = fn(&Given<'_>) -> Answer;

const TABLE: &[(&str, &str, Body)] = &[
    ("abs", "num: number -> number", numeric::abs),
    ("abspath", "path: string -> string", filesystem::abspath),
    ("alltrue", "list: list(bool) -> bool", collections::alltrue),
    ("anytrue", "list: list(bool) -> bool", collections::anytrue),
    (
        "base64decode",
        "str: string -> string",
        encoding::base64decode,
    ),
    (
        "base64encode",
        "str: string -> string",
        encoding::base64encode,
    ),
    (
        "base64gunzip",
        "str: string -> string",
        encoding::base64gunzip,
    ),
    ("base64gzip", "str: string -> string", encoding::base64gzip),
    (
        "base64sha256",
        "str: string -> string",
        hashing::base64sha256,
    ),
    (
        "base64sha512",
        "str: string -> string",
        hashing::base64sha512,
    ),
    ("basename", "path: string -> string", filesystem::basename),
    (
        "bcrypt",
        "str: string, cost...: number -> string",
        hashing::bcrypt,
    ),
    ("can", "expression: any -> bool", conversion::lazily),
    ("ceil", "num: number -> number", numeric::ceil),
    ("chomp", "str: string -> string", strings::chomp),
    (
        "chunklist",
        "list~!: list(any), size~: number -> list(list(any))",
        collections::chunklist,
    ),
    (
        "cidrcontains",
        "containing_prefix: string, contained_ip_or_prefix: string -> bool",
        network::cidrcontains,
    ),
    (
        "cidrhost",
        "prefix: string, hostnum: number -> string",
        network::cidrhost,
    ),
    (
        "cidrnetmask",
        "prefix: string -> string",
        network::cidrnetmask,
    ),
    (
        "cidrsubnet",
        "prefix: string, newbits: number, netnum: number -> string",
        network::cidrsubnet,
    ),
    (
        "cidrsubnets",
        "prefix: string, newbits...: number -> list(string)",
        network::cidrsubnets,
    ),
    ("coalesce", "vals?~!...: any -> any", collections::coalesce),
    (
        "coalescelist",
        "vals?~!...: any -> any",
        collections::coalescelist,
    ),
    (
        "compact",
        "list: list(string) -> list(string)",
        collections::compact,
    ),
    ("concat", "seqs~!...: any -> any", collections::concat),
    (
        "contains",
        "list~: any, value~: any -> any",
        collections::contains,
    ),
    (
        "convert",
        "value?~!: any, type: any -> any",
        conversion::lazily,
    ),
    ("csvdecode", "str: string -> any", csv::csvdecode),
    ("dirname", "path: string -> string", filesystem::dirname),
    (
        "distinct",
        "list~: list(any) -> list(any)",
        collections::distinct,
    ),
    (
        "element",
        "list~!: any, index~: number -> any",
        collections::element,
    ),
    (
        "endswith",
        "str: string, suffix: string -> bool",
        strings::endswith,
    ),
    (
        "ephemeralasnull",
        "value?~!: any -> any",
        conversion::ephemeralasnull,
    ),
    ("file", "path: string -> string", filesystem::file),
    (
        "filebase64",
        "path: string -> string",
        filesystem::filebase64,
    ),
    (
        "filebase64sha256",
        "path: string -> string",
        filesystem::filebase64sha256,
    ),
    (
        "filebase64sha512",
        "path: string -> string",
        filesystem::filebase64sha512,
    ),
    ("fileexists", "path: string -> bool", filesystem::fileexists),
    ("filemd5", "path: string -> string", filesystem::filemd5),
    (
        "fileset",
        "path: string, pattern: string -> set(string)",
        fileset::fileset,
    ),
    ("filesha1", "path: string -> string", filesystem::filesha1),
    (
        "filesha256",
        "path: string -> string",
        filesystem::filesha256,
    ),
    (
        "filesha512",
        "path: string -> string",
        filesystem::filesha512,
    ),
    ("flatten", "list~!: any -> any", collections::flatten),
    ("floor", "num: number -> number", numeric::floor),
    (
        "format",
        "format~: string, args?~...: any -> any",
        format::format,
    ),
    (
        "formatdate",
        "format: string, time: string -> string",
        time::formatdate,
    ),
    (
        "formatlist",
        "format~: string, args?~...: any -> any",
        format::formatlist,
    ),
    (
        "indent",
        "spaces: number, str: string -> string",
        strings::indent,
    ),
    (
        "index",
        "list~: any, value~: any -> any",
        collections::index,
    ),
    (
        "issensitive",
        "value?~!: any -> bool",
        conversion::issensitive,
    ),
    (
        "join",
        "separator: string, lists~...: list(string) -> string",
        strings::join,
    ),
    ("jsondecode", "str: string -> any", json::jsondecode),
    ("jsonencode", "val?~: any -> string", json::jsonencode),
    ("keys", "inputMap~!: any -> any", collections::keys),
    ("length", "value~!: any -> number", collections::length),
    ("log", "num: number, base: number -> number", numeric::log),
    (
        "lookup",
        "inputMap~!: any, key~: string, default?~!...: any -> any",
        collections::lookup,
    ),
    ("lower", "str~: string -> string", strings::lower),
    (
        "matchkeys",
        "values~: list(any), keys~: list(any), searchset~: list(any) -> list(any)",
        sets::matchkeys,
    ),
    ("max", "numbers...: number -> number", numeric::max),
    ("md5", "str: string -> string", hashing::md5),
    ("merge", "maps?~!...: any -> any", collections::merge),
    ("min", "numbers...: number -> number", numeric::min),
    (
        "nonsensitive",
        "value?~!: any -> any",
        conversion::nonsensitive,
    ),
    ("one", "list~!: any -> any", collections::one),
    (
        "parseint",
        "number~: any, base~: number -> any",
        numeric::parseint,
    ),
    (
        "pathexpand",
        "path: string -> string",
        filesystem::pathexpand,
    ),
    ("plantimestamp", "-> string", time::plantimestamp),
    ("pow", "num: number, power: number -> number", numeric::pow),
    ("range", "params...: number -> list(number)", numeric::range),
    (
        "regex",
        "pattern~: string, string~: string -> any",
        regular::regex,
    ),
    (
        "regexall",
        "pattern~: string, string~: string -> list(any)",
        regular::regexall,
    ),
    (
        "replace",
        "str: string, substr: string, replace: string -> string",
        regular::replace,
    ),
    ("reverse", "list~!: any -> any", collections::reverse),
    (
        "rsadecrypt",
        "ciphertext: string, privatekey: string -> string",
        rsa::rsadecrypt,
    ),
    ("sensitive", "value?~!: any -> any", conversion::sensitive),
    (
        "setintersection",
        "first_set~: set(any), other_sets~...: set(any) -> set(any)",
        sets::setintersection,
    ),
    ("setproduct", "sets~!...: any -> any", sets::setproduct),
    (
        "setsubtract",
        "a~: set(any), b~: set(any) -> set(any)",
        sets::setsubtract,
    ),
    (
        "setunion",
        "first_set~: set(any), other_sets~...: set(any) -> set(any)",
        sets::setunion,
    ),
    ("sha1", "str: string -> string", hashing::sha1),
    ("sha256", "str: string -> string", hashing::sha256),
    ("sha512", "str: string -> string", hashing::sha512),
    ("signum", "num: number -> number", numeric::signum),
    (
        "slice",
        "list~!: any, start_index~: number, end_index~: number -> any",
        collections::slice,
    ),
    (
        "sort",
        "list~: list(string) -> list(string)",
        collections::sort,
    ),
    (
        "split",
        "separator: string, str: string -> list(string)",
        strings::split,
    ),
    (
        "startswith",
        "str~: string, prefix~: string -> bool",
        strings::startswith,
    ),
    (
        "strcontains",
        "str: string, substr: string -> bool",
        strings::strcontains,
    ),
    ("strrev", "str: string -> string", strings::strrev),
    (
        "substr",
        "str: string, offset: number, length: number -> string",
        strings::substr,
    ),
    ("sum", "list~: any -> any", numeric::sum),
    (
        "templatefile",
        "path: string, vars~!: any -> any",
        templates::templatefile,
    ),
    (
        "templatestring",
        "template: string, vars~!: any -> string",
        templates::templatestring,
    ),
    (
        "textdecodebase64",
        "source: string, encoding: string -> string",
        encoding::textdecodebase64,
    ),
    (
        "textencodebase64",
        "string: string, encoding: string -> string",
        encoding::textencodebase64,
    ),
    (
        "timeadd",
        "timestamp: string, duration: string -> string",
        time::timeadd,
    ),
    (
        "timecmp",
        "timestamp_a: string, timestamp_b: string -> number",
        time::timecmp,
    ),
    ("timestamp", "-> string", time::timestamp),
    ("title", "str: string -> string", strings::title),
    ("tobool", "v?~!: any -> bool", conversion::tobool),
    ("tolist", "v?~!: any -> list(any)", conversion::tolist),
    ("tomap", "v?~!: any -> map(any)", conversion::tomap),
    ("tonumber", "v?~!: any -> number", conversion::tonumber),
    ("toset", "v?~!: any -> set(any)", conversion::toset),
    ("tostring", "v?~!: any -> string", conversion::tostring),
    (
        "transpose",
        "values~: map(list(string)) -> map(list(string))",
        collections::transpose,
    ),
    (
        "trim",
        "str: string, cutset: string -> string",
        strings::trim,
    ),
    (
        "trimprefix",
        "str: string, prefix: string -> string",
        strings::trimprefix,
    ),
    ("trimspace", "str: string -> string", strings::trimspace),
    (
        "trimsuffix",
        "str: string, suffix: string -> string",
        strings::trimsuffix,
    ),
    ("try", "expressions...: any -> any", conversion::lazily),
    ("upper", "str~: string -> string", strings::upper),
    ("urldecode", "str: string -> string", encoding::urldecode),
    ("urlencode", "str: string -> string", encoding::urlencode),
    ("uuid", "-> string", hashing::uuid),
    (
        "uuidv5",
        "namespace: string, name: string -> string",
        hashing::uuidv5,
    ),
    ("values", "mapping~!: any -> any", collections::values),
    ("yamldecode", "src: string -> any", json::yamldecode),
    ("yamlencode", "value?~: any -> string", json::yamlencode),
    (
        "zipmap",
        "keys~: list(string), values~!: any -> any",
        collections::zipmap,
    ),
];

impl Builtins {
    /// What time it is.
    pub fn now(&self) -> SystemTime {
        self.surroundings.clock.now()
    }

    /// The functions over these surroundings.
    pub fn new(surroundings: Surroundings) -> Self {
        let table = TABLE
            .iter()
            .map(|(name, notation, body)| {
                let name: Arc<str> = Arc::from(*name);
                let signature = Arc::new(read_signature(&name, notation));
                (
                    name,
                    Entry {
                        signature,
                        body: *body,
                    },
                )
            })
            .collect();
        Self {
            surroundings,
            patterns: pattern::Patterns::default(),
            table: Arc::new(table),
        }
    }

    /// The same functions over other surroundings.
    #[must_use]
    pub fn with(&self, surroundings: Surroundings) -> Self {
        Self {
            surroundings,
            patterns: self.patterns.clone(),
            table: self.table.clone(),
        }
    }

    /// All signatures by name, for listings.
    pub fn signatures(&self) -> impl Iterator<Item = &Arc<Signature>> {
        self.table.values().map(|e| &e.signature)
    }

    fn entry(&self, name: &str) -> Option<&Entry> {
        self.table.get(name.strip_prefix("core::").unwrap_or(name))
    }
}

impl Functions for Builtins {
    fn signature(&self, name: &str) -> Option<Arc<Signature>> {
        self.entry(name).map(|e| e.signature.clone())
    }

    fn call(&self, call: &Call<'_>) -> Outcome {
        let Some(entry) = self.entry(call.name) else {
            return Outcome::Failed(CallError::call("There is no such function."));
        };
        let given = Given {
            arguments: call.arguments,
            builtins: self,
        };
        match (entry.body)(&given) {
            Ok(value) => Outcome::Value(value, Diagnostics::new()),
            Err(error) => Outcome::Failed(error),
        }
    }

    fn names(&self) -> Vec<Arc<str>> {
        self.table.keys().cloned().collect()
    }
}

/// A value of this type that is not null and known later.
fn unknown(ty: Type) -> Value {
    Value::unknown_with(ty, Refinement::NOT_NULL)
}

/// Reads the notation of the table.
fn read_signature(name: &Arc<str>, notation: &str) -> Signature {
    let (parameters, returns) = notation.split_once("->").unwrap_or((notation, "any"));
    let mut signature = Signature {
        name: name.clone(),
        parameters: Vec::new(),
        variadic: None,
        returns: read_type(returns.trim()),
        // those that may answer null deal with unknown arguments themselves
        may_answer_null: false,
    };
    for parameter in parameters
        .split(", ")
        .map(str::trim)
        .filter(|p| !p.is_empty())
    {
        let (label, ty) = parameter.split_once(": ").unwrap_or((parameter, "any"));
        let rest = label.ends_with("...");
        let label = label.trim_end_matches('.');
        let read = Parameter {
            name: label.trim_end_matches(['?', '~', '!']).into(),
            ty: read_type(ty),
            nullable: label.contains('?'),
            takes_unknown: label.contains('~'),
            takes_marks: label.contains('!'),
        };
        if rest {
            signature.variadic = Some(read);
        } else {
            signature.parameters.push(read);
        }
    }
    signature
}

fn read_type(text: &str) -> Type {
    let inner = |prefix: &str| {
        text.strip_prefix(prefix)
            .and_then(|t| t.strip_suffix(')'))
            .map(read_type)
    };
    if let Some(element) = inner("list(") {
        return Type::list(element);
    }
    if let Some(element) = inner("set(") {
        return Type::set(element);
    }
    if let Some(element) = inner("map(") {
        return Type::map(element);
    }
    match text {
        "string" => Type::String,
        "number" => Type::Number,
        "bool" => Type::Bool,
        _ => Type::Dynamic,
    }
}
