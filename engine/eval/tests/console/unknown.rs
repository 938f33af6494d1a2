//! What evaluation says while values are unknown holds for what they turn out to be.
//!
//! Expressions are generated with names in them, evaluated with the names unknown, and again with
//! values given to them. Whatever the first answer states (a known part, a type, a prefix, a bound,
//! that something is not null) must be true of the second; and what fails while unknown must fail
//! then too.

use std::sync::Arc;
use std::time::{Duration, Instant};

use formwork_environment::Fixed;
use formwork_eval::{Evaluated, MapScope, evaluate};
use formwork_syntax::{Expression, OffsetMap};
use formwork_values::{Kind, Refinement, Type, Value};

use super::live::Maker;

const SEED: u64 = 20_261_130;

fn unknown_names() -> MapScope {
    let text = || Type::String;
    [
        ("u", Value::unknown_with(text(), Refinement::NOT_NULL)),
        ("n", Value::unknown_with(Type::Number, Refinement::NOT_NULL)),
        ("b", Value::unknown_with(Type::Bool, Refinement::NOT_NULL)),
        (
            "l",
            Value::unknown_with(Type::list(text()), Refinement::NOT_NULL),
        ),
        (
            "m",
            Value::unknown_with(Type::map(text()), Refinement::NOT_NULL),
        ),
        ("d", Value::dynamic()),
    ]
    .into_iter()
    .map(|(name, value)| (Arc::from(name), value))
    .collect()
}

fn known_names(maker: &mut Maker) -> MapScope {
    let texts = ["", "a", "abc", "10", "x,y", "true", "é"];
    let text = Value::string(texts[maker.below(texts.len())]);
    let number = [0, 1, 2, 5, -3][maker.below(5)];
    let count = maker.below(4);
    let list: Vec<Value> = (0..count)
        .map(|i| Value::string(texts[(i * 3 + 1) % 7]))
        .collect();
    let map: Vec<(&str, Value)> = ["a", "b", "c"].into_iter().zip(list.clone()).collect();
    let anything = match maker.below(6) {
        0 => text.clone(),
        1 => Value::int(number),
        2 => Value::tuple(list.clone()),
        3 => Value::NULL,
        4 => Value::object(map.clone()),
        _ => Value::list(Type::String, list.clone()),
    };
    [
        ("u", text),
        ("n", Value::int(number)),
        ("b", Value::bool(maker.below(2) == 0)),
        ("l", Value::list(Type::String, list)),
        ("m", Value::map(Type::String, map)),
        ("d", anything),
    ]
    .into_iter()
    .map(|(name, value)| (Arc::from(name), value))
    .collect()
}

/// Whether a value of the second type may be what was promised as the first.
fn type_fits(promised: &Type, found: &Type) -> bool {
    match (promised, found) {
        (Type::Dynamic, _) => true,
        (Type::List(a), Type::List(b))
        | (Type::Set(a), Type::Set(b))
        | (Type::Map(a), Type::Map(b)) => type_fits(a, b),
        (Type::Tuple(a), Type::Tuple(b)) => {
            a.len() == b.len() && a.iter().zip(b.iter()).all(|(a, b)| type_fits(a, b))
        }
        (Type::Object(a), Type::Object(b)) => {
            a.names() == b.names()
                && a.types()
                    .iter()
                    .zip(b.types())
                    .all(|(a, b)| type_fits(a, b))
        }
        (a, b) => a == b,
    }
}

/// What of the promise the found value breaks, if anything.
fn broken(promise: &Value, found: &Value) -> Option<String> {
    let all = |a: &[Value], b: &[Value]| {
        if a.len() != b.len() {
            return Some(format!("{} elements, not {}", b.len(), a.len()));
        }
        a.iter().zip(b).find_map(|(a, b)| broken(a, b))
    };
    match (promise.kind(), found.kind()) {
        (Kind::Unknown(u), _) => {
            if !type_fits(&u.ty, &found.type_of()) {
                return Some(format!("a {}, not a {}", found.type_of(), u.ty));
            }
            let r = &u.refinement;
            let length = found
                .as_sequence()
                .map(<[Value]>::len)
                .or(found.as_map().map(<[_]>::len));
            let length = length.map(|n| n as u64);
            let fits = !(r.not_null && found.is_null())
                && r.prefix
                    .as_ref()
                    .is_none_or(|p| found.as_str().is_none_or(|s| s.starts_with(&**p)))
                && found.as_number().is_none_or(|n| {
                    r.lower
                        .as_ref()
                        .is_none_or(|(low, own)| n > low || (*own && n == low))
                        && r.upper
                            .as_ref()
                            .is_none_or(|(high, own)| n < high || (*own && n == high))
                })
                && length.is_none_or(|n| n >= r.min_length && r.max_length.is_none_or(|m| n <= m));
            (!fits).then(|| format!("{found:?} where {r:?} was promised"))
        }
        (Kind::Null(_), Kind::Null(_)) => None,
        (Kind::List(a), Kind::List(b)) | (Kind::Tuple(a), Kind::Tuple(b)) => all(a, b),
        (Kind::Set(a), Kind::Set(b)) if promise.is_wholly_known() => all(a, b),
        (Kind::Set(a), Kind::Set(b)) => {
            // unknown elements may have become equal to others
            let kept = a
                .iter()
                .filter(|v| v.is_wholly_known())
                .all(|v| b.contains(v));
            (b.len() > a.len() || !kept).then(|| format!("the set {found:?} for {promise:?}"))
        }
        (Kind::Map(a), Kind::Map(b)) => {
            if a.iter().map(|e| &e.0).ne(b.iter().map(|e| &e.0)) {
                return Some("other keys".to_owned());
            }
            a.iter().zip(b).find_map(|(a, b)| broken(&a.1, &b.1))
        }
        (Kind::Object(s, a), Kind::Object(t, b)) if s.names() == t.names() => all(a, b),
        _ if promise.known_equal(found) == Some(true) => None,
        _ => Some(format!("{found:?} instead of {promise:?}")),
    }
}

/// Where the language itself promises too much, and we with it: going through a set of which an
/// element is unknown gives each of its elements, though some may turn out equal; where a type is not
/// known, several values are not brought to one type; what is known though a part of it may yet fail
/// (`try`, `can`); and a branch that fails has no type, while it
/// has one as long as nobody knows that it will.
fn unsound_there_too(text: &str) -> bool {
    let goes_through = text.contains("for ") || text.contains("[*]") || text.contains("...");
    let untyped = text
        .split(|c: char| !c.is_alphanumeric() && c != '"')
        .any(|word| word == "d");
    let gathers = ["coalesce", " ? ", "tomap(", "tolist(", "toset("];
    let decodes = ["decode(", "coalescelist(", "for ", "[n]", "[u]"];
    let mixed =
        gathers.iter().any(|g| text.contains(g)) && decodes.iter().any(|d| text.contains(d));
    let tries = text.contains("try(") || text.contains("can(");
    tries
        || (text.contains("set") && goes_through)
        || untyped
        || text.contains(" ? ")
        || mixed
        || (text.contains("set") && text.contains("reverse("))
}

#[test]
fn what_is_said_of_unknown_values_holds() {
    let budget = std::env::var("FORMWORK_TEST_BUDGET")
        .ok()
        .and_then(|b| b.parse().ok());
    let budget: u64 = budget.unwrap_or(10).min(60);
    let end = Instant::now() + Duration::from_secs(budget) / 2;
    println!("seed {SEED}");
    let mut maker = Maker {
        source: Fixed::new(0, SEED),
        names: true,
    };
    let functions = super::recorded::builtins();
    let unknown = unknown_names();
    let (mut made, mut told) = (0, 0);
    let mut wrong = Vec::new();
    let run = |e: &Expression, scope: &MapScope| -> Evaluated { evaluate(e, scope, &functions) };
    // a faster machine tries nothing that a slower one did not
    while made < budget * 300 && Instant::now() < end {
        let depth = 1 + maker.below(3);
        let text = maker.any(depth);
        let (expression, diagnostics) = formwork_syntax::parse_expression(
            formwork_diagnostics::FileId(0),
            text.as_bytes(),
            OffsetMap::PLAIN,
        );
        assert!(!diagnostics.has_errors(), "{text}");
        if unsound_there_too(&text) {
            continue;
        }
        let first = run(&expression, &unknown);
        made += 1;
        if first.value.is_wholly_known() || !first.value.type_of().is_dynamic() {
            told += 1;
        }
        for _ in 0..4 {
            let names = known_names(&mut maker);
            let second = run(&expression, &names);
            if second.diagnostics.has_errors() {
                continue;
            }
            if first.diagnostics.has_errors() {
                let summary = first
                    .diagnostics
                    .iter()
                    .map(|d| d.summary.as_str())
                    .collect::<Vec<_>>();
                wrong.push(format!(
                    "{text}\n    failed while unknown: {summary:?}, then {:?}",
                    second.value
                ));
            } else if let Some(reason) = broken(&first.value, &second.value) {
                wrong.push(format!(
                    "{text}\n    {reason}\n    {:?} became {:?}",
                    first.value, second.value
                ));
            }
        }
    }
    println!("{made} expressions, something said of {told}");
    assert!(
        wrong.is_empty(),
        "{} broken:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}
