//! The order of set elements: numbers by size, text by bytes, false before true, null after what is
//! known and not null, unknown last; compound values by the bytes of a written form.
//!
//! The written form is Terraform's, since its order shows: `tolist(set)` and every plan walk sets
//! so. It is checked against recorded answers in the tests.

use std::cmp::Ordering;

use crate::Value;
use crate::text::write_go_quoted;
use crate::value::Repr;

/// Sorts the elements and drops duplicates. Elements that are not wholly known stay all: they may
/// turn out different. The elements carry no marks.
pub(crate) fn canonical(values: &mut Vec<Value>) {
    if values.len() < 2 {
        return;
    }
    if values.iter().any(is_compound) {
        let mut keyed: Vec<(String, Value)> = values.drain(..).map(|v| (written(&v), v)).collect();
        keyed.sort_by(|(ka, a), (kb, b)| rank(a).cmp(&rank(b)).then_with(|| ka.cmp(kb)));
        keyed.dedup_by(|(ka, a), (kb, b)| ka == kb && same(a, b));
        values.extend(keyed.into_iter().map(|(_, v)| v));
    } else {
        values.sort_by(primitive_order);
        values.dedup_by(|a, b| same(a, b));
    }
}

fn same(a: &Value, b: &Value) -> bool {
    !a.inside().unknown && a == b
}

fn is_compound(value: &Value) -> bool {
    matches!(
        value.0,
        Repr::List(_) | Repr::Set(_) | Repr::Map(_) | Repr::Object(_) | Repr::Tuple(_)
    )
}

fn rank(value: &Value) -> u8 {
    match &value.0 {
        Repr::Unknown(_) => 2,
        Repr::Null(_) => 1,
        _ => 0,
    }
}

fn primitive_order(a: &Value, b: &Value) -> Ordering {
    match (&a.0, &b.0) {
        (Repr::Number(x), Repr::Number(y)) => x.cmp(y),
        (Repr::String(x), Repr::String(y)) => x.as_bytes().cmp(y.as_bytes()),
        (Repr::Bool(x), Repr::Bool(y)) => x.cmp(y),
        _ => rank(a).cmp(&rank(b)),
    }
}

/// The written form by which compound elements are ordered.
fn written(value: &Value) -> String {
    let mut out = String::new();
    write_form(&mut out, value);
    out
}

fn write_form(out: &mut String, value: &Value) {
    match &value.0 {
        Repr::Unknown(_) => out.push('?'),
        Repr::Null(_) => out.push('~'),
        Repr::Bool(b) => out.push(if *b { 'T' } else { 'F' }),
        Repr::Number(n) => out.push_str(&n.short_form()),
        Repr::String(s) => write_go_quoted(out, s),
        Repr::List(s) | Repr::Set(s) => write_all(out, '[', s.values.iter(), ']'),
        Repr::Tuple(t) => write_all(out, '<', t.values.iter(), '>'),
        Repr::Object(o) => write_all(out, '<', o.values.iter(), '>'),
        Repr::Map(m) => {
            out.push('{');
            for (key, value) in &m.entries {
                write_go_quoted(out, key);
                out.push(':');
                crate::with_stack(|| write_form(out, value));
                out.push(';');
            }
            out.push('}');
        }
        Repr::Marked(m) => write_form(out, &m.value),
    }
}

fn write_all<'a>(
    out: &mut String,
    open: char,
    values: impl Iterator<Item = &'a Value>,
    close: char,
) {
    out.push(open);
    for value in values {
        crate::with_stack(|| write_form(out, value));
        out.push(';');
    }
    out.push(close);
}
