//! Marks and unknown values through every function.
//!
//! Each function has a call here that works. Each of its arguments in turn is made sensitive, ephemeral
//! and unknown: a mark must be on the result, and what is said of a result that is not known yet must
//! hold of the one that was there. A function without a call here fails the test.

use std::sync::Arc;

use formwork_diagnostics::FileId;
use formwork_eval::{Builtins, MapScope, evaluate};
use formwork_syntax::OffsetMap;
use formwork_values::{Kind, Mark, Type, Value};

#[rustfmt::skip] // a table
const CALLS: &[(&str, &[&str])] = &[
    ("abs", &["-1"]), ("abspath", &["\"a\""]), ("alltrue", &["[true]"]), ("anytrue", &["[true]"]),
    ("base64decode", &["\"Zm9v\""]), ("base64encode", &["\"a\""]),
    ("base64gunzip", &["base64gzip(\"a\")"]), ("base64gzip", &["\"a\""]),
    ("base64sha256", &["\"a\""]), ("base64sha512", &["\"a\""]), ("basename", &["\"a/b\""]), ("bcrypt", &["\"a\"", "4"]),
    ("ceil", &["1.5"]), ("chomp", &["\"a\\n\""]), ("chunklist", &["[1, 2]", "1"]),
    ("cidrcontains", &["\"10.0.0.0/8\"", "\"10.0.0.1\""]), ("cidrhost", &["\"10.0.0.0/8\"", "1"]),
    ("cidrnetmask", &["\"10.0.0.0/8\""]), ("cidrsubnet", &["\"10.0.0.0/8\"", "1", "1"]),
    ("cidrsubnets", &["\"10.0.0.0/8\"", "1"]), ("coalesce", &["\"a\"", "\"b\""]), ("coalescelist", &["[1]", "[2]"]),
    ("compact", &["[\"a\"]"]), ("concat", &["[1]", "[2]"]), ("contains", &["[1]", "1"]), ("csvdecode", &["\"a\\n1\\n\""]),
    ("dirname", &["\"a/b\""]), ("distinct", &["[1]"]), ("element", &["[1]", "0"]), ("endswith", &["\"a\"", "\"a\""]),
    ("file", &["\"files/plain.txt\""]), ("filebase64", &["\"files/plain.txt\""]),
    ("filebase64sha256", &["\"files/plain.txt\""]), ("filebase64sha512", &["\"files/plain.txt\""]),
    ("fileexists", &["\"files/plain.txt\""]), ("filemd5", &["\"files/plain.txt\""]), ("fileset", &["\".\"", "\"*\""]),
    ("filesha1", &["\"files/plain.txt\""]), ("filesha256", &["\"files/plain.txt\""]),
    ("filesha512", &["\"files/plain.txt\""]), ("flatten", &["[[1], 2]"]), ("floor", &["1.5"]),
    ("format", &["\"%s\"", "\"a\""]), ("formatdate", &["\"YYYY\"", "\"2024-01-01T00:00:00Z\""]),
    ("formatlist", &["\"%s\"", "[\"a\"]"]), ("indent", &["1", "\"a\""]), ("index", &["[1]", "1"]),
    ("join", &["\",\"", "[\"a\"]"]), ("jsondecode", &["\"[1]\""]), ("jsonencode", &["[1]"]), ("keys", &["{ a = 1 }"]),
    ("length", &["[1]"]), ("log", &["8", "2"]), ("lookup", &["{ a = 1 }", "\"a\"", "2"]), ("lower", &["\"A\""]),
    ("matchkeys", &["[1]", "[\"a\"]", "[\"a\"]"]), ("max", &["1", "2"]), ("md5", &["\"a\""]),
    ("merge", &["{ a = 1 }", "{ b = 2 }"]), ("min", &["1", "2"]), ("one", &["[1]"]), ("parseint", &["\"10\"", "10"]),
    ("pathexpand", &["\"~/a\""]), ("pow", &["2", "2"]), ("range", &["1", "3"]), ("regex", &["\"a\"", "\"a\""]),
    ("regexall", &["\"a\"", "\"a\""]), ("replace", &["\"a\"", "\"a\"", "\"b\""]), ("reverse", &["[1]"]),
    ("rsadecrypt", &["trimspace(file(\"files/cipher.b64\"))", "file(\"files/key.pem\")"]), ("sensitive", &["1"]), ("setintersection", &["[1]", "[1]"]), ("setproduct", &["[1]", "[2]"]),
    ("setsubtract", &["[1]", "[2]"]), ("setunion", &["[1]", "[2]"]), ("sha1", &["\"a\""]), ("sha256", &["\"a\""]),
    ("sha512", &["\"a\""]), ("signum", &["1"]), ("slice", &["[1, 2]", "0", "1"]), ("sort", &["[\"a\"]"]),
    ("split", &["\",\"", "\"a\""]), ("startswith", &["\"a\"", "\"a\""]), ("strcontains", &["\"a\"", "\"a\""]),
    ("strrev", &["\"ab\""]), ("substr", &["\"abc\"", "0", "1"]), ("sum", &["[1]"]),
    ("templatefile", &["\"files/up.tftpl\"", "{ name = \"a\" }"]),
    ("textdecodebase64", &["\"Zm9v\"", "\"UTF-8\""]), ("textencodebase64", &["\"a\"", "\"UTF-8\""]),
    ("timeadd", &["\"2024-01-01T00:00:00Z\"", "\"1h\""]),
    ("timecmp", &["\"2024-01-01T00:00:00Z\"", "\"2024-01-01T00:00:00Z\""]), ("title", &["\"a\""]),
    ("tobool", &["\"true\""]), ("tolist", &["[1]"]), ("tomap", &["{ a = 1 }"]), ("tonumber", &["\"1\""]),
    ("toset", &["[1]"]), ("tostring", &["1"]), ("transpose", &["{ a = [\"b\"] }"]), ("trim", &["\" a\"", "\" \""]),
    ("trimprefix", &["\"ab\"", "\"a\""]), ("trimspace", &["\" a\""]), ("trimsuffix", &["\"ab\"", "\"b\""]),
    ("try", &["1"]), ("upper", &["\"a\""]), ("urldecode", &["\"a+b\""]), ("urlencode", &["\"a b\""]),
    ("uuidv5", &["\"dns\"", "\"a\""]), ("values", &["{ a = 1 }"]), ("yamldecode", &["\"a: 1\""]),
    ("yamlencode", &["[1]"]), ("zipmap", &["[\"a\"]", "[1]"]),
];

/// Functions that are about marks, about whether something works, or without arguments; `convert` and
/// `templatestring` want what the table cannot give and have tests of their own.
const OTHERS: &[&str] = &[
    "can",
    "convert",
    "ephemeralasnull",
    "issensitive",
    "nonsensitive",
    "plantimestamp",
    "templatestring",
    "timestamp",
    "uuid",
];

fn evaluated(text: &str, argument: Option<Value>, functions: &Builtins) -> Result<Value, String> {
    let scope: MapScope = argument.into_iter().map(|v| (Arc::from("x"), v)).collect();
    let (expression, said) =
        formwork_syntax::parse_expression(FileId(0), text.as_bytes(), OffsetMap::PLAIN);
    let found = evaluate(&expression, &scope, functions);
    match said
        .iter()
        .chain(found.diagnostics.iter())
        .find(|d| d.is_error())
    {
        Some(d) => Err(format!("{text}: {}: {}", d.summary, d.detail)),
        None => Ok(found.value),
    }
}

/// Whether a value of the second type may come where the first was announced.
fn fits(announced: &Type, found: &Type) -> bool {
    match (announced, found) {
        (Type::Dynamic, _) => true,
        (Type::List(a), Type::List(b))
        | (Type::Set(a), Type::Set(b))
        | (Type::Map(a), Type::Map(b)) => fits(a, b),
        (Type::Tuple(a), Type::Tuple(b)) => {
            a.len() == b.len() && a.iter().zip(b.iter()).all(|(a, b)| fits(a, b))
        }
        (Type::Object(a), Type::Object(b)) => {
            a.names() == b.names() && a.types().iter().zip(b.types()).all(|(a, b)| fits(a, b))
        }
        (a, b) => a == b,
    }
}

#[test]
fn marks_and_unknown_values_go_through_every_function() {
    let functions = super::recorded::builtins();
    let mut wrong = Vec::new();
    let mut seen = 0;
    for signature in functions.signatures() {
        let name = &*signature.name;
        if OTHERS.contains(&name) {
            continue;
        }
        let Some((_, arguments)) = CALLS.iter().find(|(n, _)| *n == name) else {
            wrong.push(format!("{name} has no call here"));
            continue;
        };
        let whole = format!("{name}({})", arguments.join(", "));
        let plain = match evaluated(&whole, None, &functions) {
            Ok(value) => value,
            Err(why) => {
                wrong.push(why);
                continue;
            }
        };
        for (at, argument) in arguments.iter().enumerate() {
            let mut with_x = arguments.to_vec();
            with_x[at] = "x";
            let text = format!("{name}({})", with_x.join(", "));
            let given = evaluated(argument, None, &functions).expect("an argument");
            for mark in [Mark::Sensitive, Mark::Ephemeral] {
                seen += 1;
                match evaluated(&text, Some(given.clone().mark(mark.clone())), &functions) {
                    Err(why) => wrong.push(why),
                    Ok(value) => {
                        let marks = value.all_marks();
                        let kept = match mark {
                            Mark::Sensitive => marks.is_sensitive(),
                            _ => marks.is_ephemeral(),
                        };
                        // a default that is not taken tells nothing
                        let untaken = name == "lookup" && at == 2;
                        if !kept && !untaken {
                            wrong.push(format!("{text}, argument {at}: {mark:?} is lost"));
                        }
                        let bare = value.unmark_deep().0;
                        if name != "bcrypt" && bare != plain.clone().unmark_deep().0 {
                            wrong.push(format!("{text}: {bare:?} instead of {plain:?}"));
                        }
                    }
                }
            }
            // the same text with something marked inside
            if let Kind::Tuple([first, ..]) = given.kind() {
                seen += 1;
                let inner = Value::tuple(vec![first.clone().sensitive()]);
                if let Ok(value) = evaluated(&text, Some(inner), &functions)
                    && !value.all_marks().is_sensitive()
                    // a length is no secret
                    && name != "length"
                {
                    wrong.push(format!("{text}, within argument {at}: the mark is lost"));
                }
            }
            for unknown in [Value::unknown(given.type_of()), Value::dynamic()] {
                seen += 1;
                match evaluated(&text, Some(unknown.clone()), &functions) {
                    Err(why) => wrong.push(format!("{why}, with {unknown:?}")),
                    Ok(value) => {
                        let plain = plain.clone().unmark_deep().0;
                        let value = value.unmark_deep().0;
                        if !fits(&value.type_of(), &plain.type_of()) {
                            wrong.push(format!(
                                "{text}: {} was announced, and {} came",
                                value.type_of(),
                                plain.type_of()
                            ));
                        }
                        if value.is_wholly_known() && value != plain {
                            wrong
                                .push(format!("{text}: {value:?} though argument {at} is unknown"));
                        }
                    }
                }
            }
        }
    }
    assert!(seen > 700, "{seen}");
    assert!(
        wrong.is_empty(),
        "{} wrong:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}
