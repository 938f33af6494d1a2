//! Lists, maps, objects, tuples.

use std::sync::Arc;

use formwork_values::{Kind, Marks, Refinement, Type, Value};
use unicode_segmentation::UnicodeSegmentation;

use super::{Answer, Given, unknown};
use crate::convert::Converts;
use crate::functions::CallError;

/// The type in words with its article, for messages.
pub(super) fn named(ty: &Type) -> String {
    let name = ty.friendly_name();
    let article = if name.starts_with(['a', 'e', 'i', 'o', 'u']) {
        "an"
    } else {
        "a"
    };
    format!("{article} {name}")
}

fn int(n: usize) -> Value {
    Value::int(i64::try_from(n).unwrap_or(i64::MAX))
}

fn truths<'a>(given: &Given<'a>) -> &'a [Value] {
    given.at(0).as_sequence().unwrap_or(&[])
}

pub(super) fn alltrue(given: &Given<'_>) -> Answer {
    let mut open = false;
    for item in truths(given) {
        match item.kind() {
            Kind::Bool(true) => {}
            Kind::Unknown(_) => open = true,
            _ => return Ok(Value::FALSE),
        }
    }
    Ok(if open {
        unknown(Type::Bool)
    } else {
        Value::TRUE
    })
}

pub(super) fn anytrue(given: &Given<'_>) -> Answer {
    let mut open = false;
    for item in truths(given) {
        match item.kind() {
            Kind::Bool(true) => return Ok(Value::TRUE),
            Kind::Unknown(_) => open = true,
            _ => {}
        }
    }
    Ok(if open {
        unknown(Type::Bool)
    } else {
        Value::FALSE
    })
}

pub(super) fn chunklist(given: &Given<'_>) -> Answer {
    let (list, marks) = given.at(0).clone().unmark();
    let ty = list.type_of();
    let Some(items) = list.as_sequence().filter(|_| given.at(1).is_known()) else {
        return Ok(unknown(Type::list(ty)).with_marks(&marks));
    };
    let size = given.whole(1)?;
    let Ok(size) = usize::try_from(size) else {
        return Err(CallError::argument(
            1,
            "The size of a chunk must not be negative.",
        ));
    };
    let element = ty.element().cloned().unwrap_or(Type::Dynamic);
    let chunk = |part: &[Value]| Value::list(element.clone(), part.to_vec());
    let chunks = match size {
        _ if items.is_empty() => Vec::new(),
        0 => vec![chunk(items)],
        n => items.chunks(n).map(chunk).collect(),
    };
    Ok(Value::list(ty.clone(), chunks).with_marks(&marks))
}

/// The one type for all of these, those of no known type left out; dynamic if there is none.
pub(super) fn common_type(types: impl IntoIterator<Item = Type>) -> Option<Type> {
    let known: Vec<Type> = types.into_iter().filter(|t| !t.is_dynamic()).collect();
    match known.split_first() {
        None => Some(Type::Dynamic),
        Some((first, rest)) if rest.iter().all(|t| t == first) => Some(first.clone()),
        _ => crate::convert::unify(&known),
    }
}

pub(super) fn coalesce(given: &Given<'_>) -> Answer {
    // a null of no type is of any, and then so is the result
    let open = given.arguments.iter().any(|v| v.type_of().is_dynamic());
    let ty = match common_type(given.arguments.iter().map(Value::type_of)) {
        Some(ty) => ty,
        None if open => Type::Dynamic,
        None => {
            return Err(CallError::call(
                "All arguments must be of one type, or convert to one.",
            ));
        }
    };
    // marks inside, and on what is not taken, are on the whole: that it was taken tells of both
    let mut marks = Marks::NONE;
    let arguments: Vec<Value> = given
        .arguments
        .iter()
        .map(|a| crate::evaluate::strip(a.clone(), &mut marks))
        .collect();
    for (at, value) in arguments.into_iter().enumerate() {
        if !value.is_known() {
            return Ok(unknown(ty).with_marks(&marks));
        }
        if value.is_null() || (ty == Type::String && value.as_str() == Some("")) {
            continue;
        }
        let converted = value.convert(&ty).map_err(|error| {
            CallError::argument(
                at,
                format!("It does not convert to {}: {error}.", named(&ty)),
            )
        })?;
        return Ok(converted.with_marks(&marks));
    }
    Err(CallError::call(
        "There is nothing to choose: all arguments are null or empty strings.",
    ))
}

pub(super) fn coalescelist(given: &Given<'_>) -> Answer {
    let mut types = given.arguments.iter().map(Value::type_of);
    let first = types.next();
    let same = first.filter(|f| types.all(|t| t == *f));
    // marks inside, and on what is not taken, are on the whole: that it was taken tells of both
    let mut marks = Marks::NONE;
    let arguments: Vec<Value> = given
        .arguments
        .iter()
        .map(|a| crate::evaluate::strip(a.clone(), &mut marks))
        .collect();
    let misfit = |argument: &Value| match argument.type_of() {
        Type::List(_) | Type::Tuple(_) => None,
        Type::Dynamic if !argument.is_known() => None,
        ty => Some(CallError::call(format!(
            "All arguments must be lists or tuples, but one is {}.",
            named(&ty)
        ))),
    };
    if arguments.iter().all(Value::is_known)
        && let Some(error) = arguments.iter().find_map(misfit)
    {
        return Err(error);
    }
    for argument in arguments {
        if let Some(error) = misfit(&argument) {
            return Err(error);
        }
        if argument.is_null() {
            continue;
        }
        match argument.as_sequence() {
            Some([]) => {}
            Some(_) => return Ok(argument.with_marks(&marks)),
            None => {
                return Ok(Value::unknown(same.unwrap_or(Type::Dynamic)).with_marks(&marks));
            }
        }
    }
    Err(CallError::call(
        "There is nothing to choose: no argument has an element.",
    ))
}

pub(super) fn compact(given: &Given<'_>) -> Answer {
    let items = given.at(0).as_sequence().unwrap_or(&[]);
    if items.iter().any(|v| !v.is_known()) {
        let longest = Some(items.len() as u64);
        let refinement = Refinement::length(0, longest);
        return Ok(Value::unknown_with(Type::list(Type::String), refinement));
    }
    let kept = items
        .iter()
        .filter(|v| v.as_str().is_some_and(|s| !s.is_empty()));
    Ok(Value::list(Type::String, kept.cloned().collect()))
}

pub(super) fn concat(given: &Given<'_>) -> Answer {
    if given.arguments.is_empty() {
        return Err(CallError::call("At least one list must be given."));
    }
    let mut marks = Marks::NONE;
    let mut elements = Vec::new();
    let mut all_lists = true;
    let mut open = false;
    let mut parts = Vec::new();
    for (at, argument) in given.arguments.iter().enumerate() {
        let (value, own) = argument.clone().unmark();
        marks.extend(&own);
        match value.type_of() {
            Type::List(e) => elements.push((*e).clone()),
            Type::Tuple(_) => all_lists = false,
            Type::Dynamic => return Ok(Value::dynamic().with_marks(&marks)),
            ty => {
                return Err(CallError::argument(
                    at,
                    format!("It must be a list or tuple, not {}.", named(&ty)),
                ));
            }
        }
        open |= !value.is_known();
        parts.push(value);
    }
    let element = if all_lists {
        common_type(elements)
    } else {
        None
    };
    if open {
        return Ok(match element {
            Some(e) => unknown(Type::list(e)),
            None => Value::dynamic(),
        }
        .with_marks(&marks));
    }
    let mut joined = Vec::new();
    for part in &parts {
        for item in part.as_sequence().unwrap_or(&[]) {
            joined.push(match &element {
                Some(e) if !e.is_dynamic() => item.convert(e).unwrap_or_else(|_| item.clone()),
                _ => item.clone(),
            });
        }
    }
    Ok(match element {
        Some(e) => Value::list(e, joined),
        None => Value::tuple(joined),
    }
    .with_marks(&marks))
}

pub(super) fn contains(given: &Given<'_>) -> Answer {
    let (list, wanted) = (given.at(0), given.at(1));
    let Some(items) = list.as_sequence() else {
        return match list.type_of() {
            Type::List(_) | Type::Set(_) | Type::Tuple(_) | Type::Dynamic => {
                Ok(unknown(Type::Bool))
            }
            ty => Err(CallError::call(format!(
                "The first argument must be a list, set or tuple, not {}.",
                named(&ty)
            ))),
        };
    };
    let mut open = false;
    for item in items {
        match item.known_equal(wanted) {
            Some(true) => return Ok(Value::TRUE),
            Some(false) => {}
            None => open = true,
        }
    }
    Ok(if open {
        unknown(Type::Bool)
    } else {
        Value::FALSE
    })
}

pub(super) fn distinct(given: &Given<'_>) -> Answer {
    let list = given.at(0);
    let ty = list.type_of();
    let Some(items) = list.as_sequence().filter(|_| list.is_wholly_known()) else {
        return Ok(unknown(ty));
    };
    let mut seen: rustc_hash::FxHashSet<&Value> = rustc_hash::FxHashSet::default();
    let kept = items.iter().filter(|v| seen.insert(v)).cloned().collect();
    Ok(Value::list(
        ty.element().cloned().unwrap_or(Type::Dynamic),
        kept,
    ))
}

pub(super) fn element(given: &Given<'_>) -> Answer {
    let (list, marks) = given.at(0).clone().unmark();
    let ty = list.type_of();
    let known_length = match (&ty, list.as_sequence()) {
        (Type::List(_) | Type::Tuple(_), Some(items)) => Some(items.len()),
        (Type::Tuple(types), None) => Some(types.len()),
        (Type::List(_) | Type::Dynamic, None) => None,
        _ => {
            return Err(CallError::call(format!(
                "The elements of {} have no order, so none can be picked by number.",
                named(&ty)
            )));
        }
    };
    if known_length == Some(0) {
        return Err(CallError::call(
            "The list is empty, so it has no element to pick.",
        ));
    }
    if !given.at(1).is_known() {
        return Ok(list
            .index(given.at(1))
            .unwrap_or_else(|_| Value::dynamic())
            .with_marks(&marks));
    }
    let at = given.whole(1)?;
    let Some(length) = known_length else {
        let element = ty.element().cloned().unwrap_or(Type::Dynamic);
        return Ok(Value::unknown(element).with_marks(&marks));
    };
    // counted round and round, backwards too
    let at = at.rem_euclid(i64::try_from(length).unwrap_or(i64::MAX));
    Ok(list
        .index(&Value::int(at))
        .unwrap_or_else(|_| Value::dynamic())
        .with_marks(&marks))
}

pub(super) fn flatten(given: &Given<'_>) -> Answer {
    let (list, mut marks) = given.at(0).clone().unmark();
    match list.type_of() {
        Type::List(_) | Type::Set(_) | Type::Tuple(_) => {}
        Type::Dynamic if !list.is_known() => return Ok(Value::dynamic().with_marks(&marks)),
        ty => {
            return Err(CallError::call(format!(
                "Only lists, sets and tuples can be flattened, not {}.",
                named(&ty)
            )));
        }
    }
    let mut out = Vec::new();
    let complete = flatten_into(&list, &mut out, &mut marks);
    let value = if complete {
        Value::tuple(out)
    } else {
        Value::dynamic()
    };
    Ok(value.with_marks(&marks))
}

/// Whether it is a set whose elements, being unknown in part, may turn out fewer or otherwise ordered.
pub(super) fn is_open_set(value: &Value) -> bool {
    matches!(value.kind(), Kind::Set(items) if items.len() > 1) && !value.is_wholly_known()
}

/// Adds the elements, those of nested sequences one by one; false if their number is not known.
fn flatten_into(list: &Value, out: &mut Vec<Value>, marks: &mut Marks) -> bool {
    let Some(items) = list.as_sequence().filter(|_| !is_open_set(list)) else {
        return false;
    };
    items.iter().all(|item| match item.unmarked().type_of() {
        Type::List(_) | Type::Set(_) | Type::Tuple(_) if !item.is_null() => {
            marks.extend(item.marks());
            stacker::maybe_grow(64 * 1024, 1024 * 1024, || {
                flatten_into(item.unmarked(), out, marks)
            })
        }
        Type::Dynamic if !item.is_known() => false,
        _ => {
            out.push(item.clone());
            true
        }
    })
}

pub(super) fn index(given: &Given<'_>) -> Answer {
    let (list, wanted) = (given.at(0), given.at(1));
    let ty = list.type_of();
    if !matches!(ty, Type::List(_) | Type::Tuple(_) | Type::Dynamic) {
        return Err(CallError::call(format!(
            "The first argument must be a list or tuple, not {}.",
            named(&ty)
        )));
    }
    let Some(items) = list.as_sequence() else {
        return Ok(unknown(Type::Number));
    };
    for (at, item) in items.iter().enumerate() {
        match item.known_equal(wanted) {
            Some(true) => return Ok(int(at)),
            Some(false) => {}
            None => return Ok(unknown(Type::Number)),
        }
    }
    Err(CallError::call(if items.is_empty() {
        "The list is empty, so nothing can be found in it."
    } else {
        "No element of the list equals the value. Test first with contains, or wrap in try."
    }))
}

pub(super) fn keys(given: &Given<'_>) -> Answer {
    let (map, marks) = given.at(0).clone().unmark();
    let names = |names: &[Arc<str>]| {
        Value::tuple(names.iter().cloned().map(Value::shared_string).collect())
    };
    let value = match map.kind() {
        Kind::Object(ty, _) => names(ty.names()),
        Kind::Map(entries) => Value::list(
            Type::String,
            entries
                .iter()
                .map(|e| Value::shared_string(e.0.clone()))
                .collect(),
        ),
        Kind::Unknown(u) => match &u.ty {
            Type::Object(ty) => names(ty.names()),
            Type::Map(_) => Value::unknown_with(
                Type::list(Type::String),
                Refinement::length(u.refinement.min_length, u.refinement.max_length),
            ),
            Type::Dynamic => Value::dynamic(),
            other => return Err(not_a_map(other)),
        },
        _ => return Err(not_a_map(&map.type_of())),
    };
    Ok(value.with_marks(&marks))
}

fn not_a_map(ty: &Type) -> CallError {
    CallError::argument(0, format!("It must be a map or object, not {}.", named(ty)))
}

pub(super) fn length(given: &Given<'_>) -> Answer {
    let value = given.at(0);
    match value.unmarked().kind() {
        Kind::String(s) => Ok(int(s.graphemes(true).count()).with_marks(value.marks())),
        Kind::Unknown(u) if u.ty == Type::String => {
            // what follows a prefix may join its last character, but takes none away
            let prefix = u.refinement.prefix.as_deref().unwrap_or_default();
            let least = prefix.graphemes(true).count() as u64;
            let refinement = Refinement {
                lower: Some((least.into(), true)),
                ..Refinement::NOT_NULL
            };
            Ok(Value::unknown_with(Type::Number, refinement).with_marks(value.marks()))
        }
        _ => value.length().map_err(|_| {
            CallError::call(format!(
                "Only text, lists, sets, maps, tuples and objects have a length; this is {}.",
                named(&value.type_of())
            ))
        }),
    }
}

pub(super) fn lookup(given: &Given<'_>) -> Answer {
    if given.arguments.len() > 3 {
        return Err(CallError::call(
            "It takes a map, a key and at most one default.",
        ));
    }
    let (map, mut marks) = given.at(0).clone().unmark();
    let default = given.arguments.get(2);
    let key = match given.at(1).kind() {
        Kind::String(key) => Some(key.clone()),
        _ => None,
    };
    match map.type_of() {
        Type::Object(ty) => {
            let Some(key) = key else {
                return Ok(Value::dynamic().with_marks(&marks));
            };
            if ty.has(&key) {
                let found = map.get_attribute(&key).unwrap_or_else(|_| Value::dynamic());
                return Ok(found.with_marks(&marks));
            }
            match default {
                Some(default) => Ok(default.clone().with_marks(&marks)),
                None => Err(no_such_key(&key)),
            }
        }
        Type::Map(element) => {
            let default = match default {
                None => None,
                Some(default) => Some(default.convert(&element).map_err(|error| {
                    CallError::argument(
                        2,
                        format!(
                            "The default must be {} as the elements are: {error}.",
                            named(&element)
                        ),
                    )
                })?),
            };
            match (map.as_map(), key) {
                (Some(entries), Some(key)) => {
                    if let Ok(at) = entries.binary_search_by(|e| e.0.cmp(&key)) {
                        return Ok(entries[at].1.clone().with_marks(&marks));
                    }
                    match default {
                        Some(default) => Ok(default.with_marks(&marks)),
                        None => Err(no_such_key(&key)),
                    }
                }
                _ => {
                    if let Some(default) = default {
                        marks.extend(default.marks());
                    }
                    Ok(Value::unknown((*element).clone()).with_marks(&marks))
                }
            }
        }
        Type::Dynamic if !map.is_known() => Ok(Value::dynamic().with_marks(&marks)),
        ty => Err(not_a_map(&ty)),
    }
}

fn no_such_key(key: &str) -> CallError {
    CallError::argument(
        0,
        format!("It has no element with the key {key:?}, and no default is given."),
    )
}

pub(super) fn merge(given: &Given<'_>) -> Answer {
    let mut marks = Marks::NONE;
    let mut parts = Vec::new();
    let mut open = false;
    let mut same: Option<Type> = None;
    let mut matching = true;
    for argument in given.arguments {
        let (value, own) = argument.clone().unmark();
        marks.extend(&own);
        match value.type_of() {
            Type::Dynamic if value.is_null() => {
                matching = false;
                continue;
            }
            Type::Dynamic => return Ok(Value::dynamic().with_marks(&marks)),
            ty @ (Type::Map(_) | Type::Object(_)) => match &same {
                None => same = Some(ty),
                Some(first) => matching &= *first == ty,
            },
            ty => {
                return Err(CallError::call(format!(
                    "All arguments must be maps or objects, but one is {}.",
                    named(&ty)
                )));
            }
        }
        if value.is_null() {
            continue;
        }
        open |= !value.is_known();
        parts.push(value);
    }
    let result = match same {
        None => return Ok(Value::empty_object().with_marks(&marks)),
        Some(ty) if matching => Some(ty),
        Some(_) => None,
    };
    if open {
        let value = match result {
            Some(ty) => unknown(ty),
            None => Value::dynamic(),
        };
        return Ok(value.with_marks(&marks));
    }
    let mut entries: Vec<(Arc<str>, Value)> = Vec::new();
    for part in &parts {
        match part.kind() {
            Kind::Map(all) => entries.extend(all.iter().cloned()),
            Kind::Object(ty, values) => {
                entries.extend(ty.names().iter().cloned().zip(values.iter().cloned()));
            }
            _ => {}
        }
    }
    let value = match result {
        Some(Type::Map(element)) => Value::map((*element).clone(), entries),
        _ => Value::object(entries),
    };
    Ok(value.with_marks(&marks))
}

pub(super) fn one(given: &Given<'_>) -> Answer {
    let mut marks = Marks::NONE;
    let list = crate::evaluate::strip(given.at(0).clone(), &mut marks);
    let ty = list.type_of();
    let value = match (&ty, list.as_sequence()) {
        (Type::List(e) | Type::Set(e), Some([])) => Value::null((**e).clone()),
        (Type::Tuple(_), Some([])) => Value::NULL,
        (Type::List(_) | Type::Set(_) | Type::Tuple(_), Some([only])) => only.clone(),
        (Type::Set(e), Some(_)) if !list.is_wholly_known() => Value::unknown((**e).clone()),
        (Type::List(_) | Type::Set(_) | Type::Tuple(_), Some(items)) => {
            return Err(CallError::argument(
                0,
                format!("It must have no or one element, but has {}.", items.len()),
            ));
        }
        (Type::List(e) | Type::Set(e), None) => Value::unknown((**e).clone()),
        (Type::Tuple(_), None) => list.index(&Value::int(0)).unwrap_or(Value::NULL),
        (Type::Dynamic, None) if !list.is_known() => Value::dynamic(),
        _ => {
            return Err(CallError::argument(
                0,
                format!("It must be a list, set or tuple, not {}.", named(&ty)),
            ));
        }
    };
    Ok(value.with_marks(&marks))
}

pub(super) fn reverse(given: &Given<'_>) -> Answer {
    let (list, marks) = given.at(0).clone().unmark();
    let ty = list.type_of();
    let value = match (&ty, list.as_sequence()) {
        (Type::Tuple(_), Some(items)) => Value::tuple(items.iter().rev().cloned().collect()),
        // of a set with something unknown in it too, as Terraform has it
        (Type::List(e) | Type::Set(e), Some(items)) => {
            Value::list((**e).clone(), items.iter().rev().cloned().collect())
        }
        (Type::Tuple(types), None) => Value::unknown(Type::tuple(types.iter().rev().cloned())),
        (Type::List(e) | Type::Set(e), None) => unknown(Type::list((**e).clone())),
        (Type::Dynamic, None) if !list.is_known() => Value::dynamic(),
        _ => {
            return Err(CallError::argument(
                0,
                format!("It must be a list, set or tuple, not {}.", named(&ty)),
            ));
        }
    };
    Ok(value.with_marks(&marks))
}

pub(super) fn slice(given: &Given<'_>) -> Answer {
    let (list, marks) = given.at(0).clone().unmark();
    let ty = list.type_of();
    let items = match &ty {
        Type::List(_) | Type::Tuple(_) => list.as_sequence(),
        Type::Dynamic if !list.is_known() => None,
        _ => {
            return Err(CallError::argument(
                0,
                format!("It must be a list or tuple, not {}.", named(&ty)),
            ));
        }
    };
    let known = given.at(1).is_known() && given.at(2).is_known();
    if known && list.as_sequence().is_none() {
        let (start, end) = (given.whole(1)?, given.whole(2)?);
        if start < 0 || start > end {
            return Err(CallError::argument(
                1,
                format!("The start {start} must not be negative or lie behind the end {end}."),
            ));
        }
    }
    let Some(items) = items.filter(|_| known) else {
        let value = match ty {
            Type::List(_) => unknown(ty),
            _ => Value::dynamic(),
        };
        return Ok(value.with_marks(&marks));
    };
    let (start, end) = (given.whole(1)?, given.whole(2)?);
    let length = i64::try_from(items.len()).unwrap_or(i64::MAX);
    let problem = if start < 0 {
        Some((1, "The start must not be negative.".to_owned()))
    } else if start > length {
        Some((
            1,
            format!("The start {start} lies past the end: the list has {length} elements."),
        ))
    } else if end > length {
        Some((
            2,
            format!("The end {end} lies past the end: the list has {length} elements."),
        ))
    } else if start > end {
        Some((1, format!("The start {start} lies behind the end {end}.")))
    } else {
        None
    };
    if let Some((at, detail)) = problem {
        return Err(CallError::argument(at, detail));
    }
    let within = |n: i64| usize::try_from(n).unwrap_or(0);
    let part = items
        .get(within(start)..within(end))
        .unwrap_or(&[])
        .to_vec();
    let value = match ty.element() {
        Some(element) => Value::list(element.clone(), part),
        None => Value::tuple(part),
    };
    Ok(value.with_marks(&marks))
}

pub(super) fn sort(given: &Given<'_>) -> Answer {
    let list = given.at(0);
    let Some(items) = list.as_sequence() else {
        return Ok(unknown(Type::list(Type::String)));
    };
    if items.iter().any(Value::is_null) {
        return Err(CallError::call(
            "An element is null, which has no place in an order.",
        ));
    }
    if items.iter().any(|v| !v.is_known()) {
        // as many as before, but nobody knows which stands where
        let each = vec![Value::unknown(Type::String); items.len()];
        return Ok(Value::list(Type::String, each));
    }
    let mut sorted = items.to_vec();
    sorted.sort_by(|a, b| a.as_str().cmp(&b.as_str()));
    Ok(Value::list(Type::String, sorted))
}

pub(super) fn transpose(given: &Given<'_>) -> Answer {
    let map = given.at(0);
    let list = Type::list(Type::String);
    let Some(entries) = map.as_map().filter(|_| map.is_wholly_known()) else {
        return Ok(unknown(Type::map(list)));
    };
    let mut turned: std::collections::BTreeMap<Arc<str>, Vec<Value>> =
        std::collections::BTreeMap::new();
    for (key, values) in entries {
        let Some(values) = values.as_sequence() else {
            return Err(CallError::argument(
                0,
                format!("The list of {key:?} is null."),
            ));
        };
        for value in values {
            let Some(name) = value.as_shared_str() else {
                return Err(CallError::argument(
                    0,
                    format!("An element of {key:?} is null."),
                ));
            };
            turned
                .entry(name.clone())
                .or_default()
                .push(Value::shared_string(key.clone()));
        }
    }
    let entries = turned
        .into_iter()
        .map(|(k, v)| (k, Value::list(Type::String, v)));
    Ok(Value::map(list, entries))
}

pub(super) fn values(given: &Given<'_>) -> Answer {
    let (map, marks) = given.at(0).clone().unmark();
    let ty = map.type_of();
    let value = match (map.kind(), &ty) {
        (Kind::Object(_, values), _) => Value::tuple(values.to_vec()),
        (Kind::Map(entries), Type::Map(e)) => {
            Value::list((**e).clone(), entries.iter().map(|e| e.1.clone()).collect())
        }
        (Kind::Unknown(u), Type::Map(e)) => Value::unknown_with(
            Type::list((**e).clone()),
            Refinement::length(u.refinement.min_length, u.refinement.max_length),
        ),
        (Kind::Unknown(_), Type::Object(o)) => Value::tuple(
            o.names()
                .iter()
                .map(|name| map.get_attribute(name).unwrap_or_else(|_| Value::dynamic()))
                .collect(),
        ),
        (Kind::Unknown(_), Type::Dynamic) => Value::dynamic(),
        _ => {
            return Err(CallError::call(format!(
                "Only maps and objects have values by key; this is {}.",
                named(&ty)
            )));
        }
    };
    Ok(value.with_marks(&marks))
}

pub(super) fn zipmap(given: &Given<'_>) -> Answer {
    let keys = given.at(0);
    let (values, marks) = given.at(1).clone().unmark();
    let ty = values.type_of();
    let element = match &ty {
        Type::List(e) => Some((**e).clone()),
        Type::Tuple(_) => None,
        Type::Dynamic if !values.is_known() => return Ok(Value::dynamic().with_marks(&marks)),
        _ => {
            return Err(CallError::argument(
                1,
                format!("It must be a list or tuple, not {}.", named(&ty)),
            ));
        }
    };
    let (Some(names), Some(items)) = (
        keys.as_sequence().filter(|_| keys.is_wholly_known()),
        values.as_sequence(),
    ) else {
        let value = match element {
            Some(e) => unknown(Type::map(e)),
            None => Value::dynamic(),
        };
        return Ok(value.with_marks(&marks));
    };
    if names.len() != items.len() {
        return Err(CallError::call(format!(
            "There are {} keys but {} values; each key needs one.",
            names.len(),
            items.len()
        )));
    }
    let mut entries = Vec::with_capacity(names.len());
    for (name, item) in names.iter().zip(items) {
        let Some(name) = name.as_shared_str() else {
            return Err(CallError::argument(0, "A key is null."));
        };
        entries.push((name.clone(), item.clone()));
    }
    let value = match element {
        Some(e) => Value::map(e, entries),
        None => Value::object(entries),
    };
    Ok(value.with_marks(&marks))
}
