//! Sets, and `matchkeys`.

use formwork_values::{Marks, Type, Value};

use super::collections::{common_type, is_open_set, named};
use super::{Answer, Given, unknown};
use crate::convert::Converts;
use crate::functions::CallError;

/// The element type, and the elements of each set unless one of them is not known.
type Aligned = (Type, Option<Vec<Vec<Value>>>);

/// The sets with their elements converted to one type, and that type; `None` where one is unknown.
fn aligned(given: &Given<'_>) -> Result<Aligned, CallError> {
    let element = common_element(given)?;
    if given.arguments.iter().any(|v| !v.is_wholly_known()) {
        return Ok((element, None));
    }
    let ty = Type::set(element.clone());
    let mut sets = Vec::with_capacity(given.arguments.len());
    for (at, set) in given.arguments.iter().enumerate() {
        sets.push(
            converted(set, at, &ty)?
                .as_sequence()
                .unwrap_or(&[])
                .to_vec(),
        );
    }
    Ok((element, Some(sets)))
}

/// The one type of the elements of all sets.
fn common_element(given: &Given<'_>) -> Result<Type, CallError> {
    let element_of = |v: &Value| v.type_of().element().cloned().unwrap_or(Type::Dynamic);
    common_type(given.arguments.iter().map(element_of)).ok_or_else(|| {
        CallError::call("The elements of all sets must be of one type, or convert to one.")
    })
}

fn converted(set: &Value, at: usize, ty: &Type) -> Answer {
    set.convert(ty).map_err(|error| {
        CallError::argument(
            at,
            format!("It does not convert to {}: {error}.", named(ty)),
        )
    })
}

fn combined(
    given: &Given<'_>,
    combine: impl Fn(Vec<Value>, &rustc_hash::FxHashSet<&Value>, &[Value]) -> Vec<Value>,
) -> Answer {
    let (element, sets) = aligned(given)?;
    let Some(sets) = sets else {
        return Ok(unknown(Type::set(element)));
    };
    let mut sets = sets.into_iter();
    let mut result = sets.next().unwrap_or_default();
    for set in sets {
        let members = set.iter().collect();
        result = combine(result, &members, &set);
    }
    Ok(Value::set(element, result))
}

pub(super) fn setunion(given: &Given<'_>) -> Answer {
    let element = common_element(given)?;
    let ty = Type::set(element.clone());
    let mut all = Vec::new();
    for (at, set) in given.arguments.iter().enumerate() {
        // elements may be unknown: whatever they turn out to be, they belong to the union
        let converted = converted(set, at, &ty)?;
        match converted.as_sequence() {
            Some(items) => all.extend(items.iter().cloned()),
            None => return Ok(unknown(ty)),
        }
    }
    Ok(Value::set(element, all))
}

pub(super) fn setintersection(given: &Given<'_>) -> Answer {
    combined(given, |mut all, members, _| {
        all.retain(|v| members.contains(v));
        all
    })
}

pub(super) fn setsubtract(given: &Given<'_>) -> Answer {
    combined(given, |mut all, members, _| {
        all.retain(|v| !members.contains(v));
        all
    })
}

/// The most tuples `setproduct` makes: beyond that it is a mistake, and memory would not last.
const LARGEST_PRODUCT: usize = 1_000_000;

pub(super) fn setproduct(given: &Given<'_>) -> Answer {
    if given.arguments.len() < 2 {
        return Err(CallError::call("At least two sets or lists must be given."));
    }
    let mut marks = Marks::NONE;
    let mut lists = true;
    let mut open = false;
    let mut types = Vec::new();
    let mut factors: Vec<Vec<Value>> = Vec::new();
    for (at, argument) in given.arguments.iter().enumerate() {
        let (value, own) = argument.clone().unmark();
        marks.extend(&own);
        let element = match value.type_of() {
            Type::Set(e) => {
                lists = false;
                (*e).clone()
            }
            Type::List(e) => (*e).clone(),
            Type::Tuple(ts) => match common_type(ts.iter().cloned()) {
                Some(ty) => ty,
                None => {
                    return Err(CallError::argument(
                        at,
                        "Its elements must be of one type, or convert to one.",
                    ));
                }
            },
            Type::Dynamic => return Ok(Value::dynamic().with_marks(&marks)),
            ty => {
                return Err(CallError::argument(
                    at,
                    format!("It must be a set, list or tuple, not {}.", named(&ty)),
                ));
            }
        };
        match value.as_sequence().filter(|_| !is_open_set(&value)) {
            Some(items) => factors.push(
                items
                    .iter()
                    .map(|v| v.convert(&element).unwrap_or_else(|_| v.clone()))
                    .collect(),
            ),
            None => open = true,
        }
        types.push(element);
    }
    let tuple = Type::tuple(types);
    if open {
        let ty = if lists {
            Type::list(tuple)
        } else {
            Type::set(tuple)
        };
        return Ok(unknown(ty).with_marks(&marks));
    }
    let total = factors
        .iter()
        .try_fold(1usize, |n, f| n.checked_mul(f.len()));
    if total.is_none_or(|n| n > LARGEST_PRODUCT) {
        return Err(CallError::call(format!(
            "The product has more than {LARGEST_PRODUCT} elements."
        )));
    }
    let mut product: Vec<Vec<Value>> = vec![Vec::new()];
    for factor in &factors {
        product = product
            .iter()
            .flat_map(|start| {
                factor.iter().map(move |v| {
                    let mut longer = start.clone();
                    longer.push(v.clone());
                    longer
                })
            })
            .collect();
    }
    let tuples = product.into_iter().map(Value::tuple).collect();
    let value = if lists {
        Value::list(tuple, tuples)
    } else {
        Value::set(tuple, tuples)
    };
    Ok(value.with_marks(&marks))
}

pub(super) fn matchkeys(given: &Given<'_>) -> Answer {
    let (values, keys, wanted) = (given.at(0), given.at(1), given.at(2));
    let ty = values.type_of();
    let elements = [keys.type_of(), wanted.type_of()].map(|t| t.element().cloned());
    if let [Some(of_keys), Some(of_wanted)] = &elements
        && common_type([of_keys.clone(), of_wanted.clone()]).is_none()
    {
        return Err(CallError::call(
            "The keys and the set searched must be of one type.",
        ));
    }
    let known = keys.is_wholly_known() && wanted.is_wholly_known();
    let (Some(values), Some(keys)) = (values.as_sequence(), keys.as_sequence()) else {
        return Ok(unknown(ty));
    };
    if values.len() != keys.len() {
        return Err(CallError::call(format!(
            "There are {} values but {} keys; each value needs one.",
            values.len(),
            keys.len()
        )));
    }
    let Some(wanted) = wanted.as_sequence().filter(|_| known) else {
        return Ok(unknown(ty));
    };
    let types = keys.iter().chain(wanted).map(Value::type_of);
    let Some(key_type) = common_type(types) else {
        return Err(CallError::call(
            "The keys and the set searched must be of one type.",
        ));
    };
    let convert = |v: &Value| v.convert(&key_type).unwrap_or_else(|_| v.clone());
    let searched: rustc_hash::FxHashSet<Value> = wanted.iter().map(convert).collect();
    let found = values
        .iter()
        .zip(keys)
        .filter(|(_, key)| searched.contains(&convert(key)))
        .map(|(value, _)| value.clone())
        .collect();
    Ok(Value::list(
        ty.element().cloned().unwrap_or(Type::Dynamic),
        found,
    ))
}
