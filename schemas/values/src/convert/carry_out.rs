//! Carrying a planned conversion out on a value.

use std::sync::Arc;

use super::plan::{Collection, Plan, plan};
use super::{ConvertError, ConvertErrorKind, mismatch, unify};
use crate::value::Repr;
use crate::walk::{key, position};
use crate::{Number, ObjectType, Path, Refinement, Step, Type, Unknown, Value};

type Converted = Result<Value, ConvertError>;

pub(super) fn carry_out(how: &Plan, value: Value, to: &Type, path: &mut Path) -> Converted {
    crate::with_stack(|| step(how, value, to, path))
}

fn step(how: &Plan, value: Value, to: &Type, path: &mut Path) -> Converted {
    if let Plan::Keep = how {
        return Ok(value);
    }
    match &value.0 {
        Repr::Marked(_) => {
            let (bare, marks) = value.unmark();
            return match carry_out(how, bare, to, path) {
                Ok(converted) => Ok(converted.with_marks(&marks)),
                // keys inside are content too
                Err(error) if marks.is_sensitive() || marks.is_ephemeral() => {
                    Err(ConvertError::at(path, error.kind))
                }
                Err(error) => Err(error),
            };
        }
        Repr::Unknown(u) => {
            let ty = filled(&u.ty, &to.without_optional());
            return Ok(Value::unknown_like(u, ty.clone(), known_after(u, &ty)));
        }
        Repr::Null(ty) => return Ok(Value::null(filled(ty, &to.without_optional()))),
        _ => {}
    }
    match (how, &value.0) {
        (Plan::Decide, _) => {
            let from = value.type_of();
            match plan(&from, to, true) {
                Some(how) => carry_out(&how, value, to, path),
                None => Err(mismatch::explain_at(&from, to, path)),
            }
        }
        (Plan::ToString, Repr::Number(n)) => Ok(Value::string(n.to_text())),
        (Plan::ToString, Repr::Bool(b)) => Ok(Value::string(if *b { "true" } else { "false" })),
        (Plan::ToNumber, Repr::String(s)) => match Number::parse(s) {
            Ok(n) => Ok(Value::number(n)),
            Err(_) => Err(ConvertError::at(path, ConvertErrorKind::NotNumber)),
        },
        (Plan::ToBool, Repr::String(s)) => match &**s {
            "true" | "1" => Ok(Value::TRUE),
            "false" | "0" => Ok(Value::FALSE),
            _ => Err(ConvertError::at(path, ConvertErrorKind::NotBool)),
        },
        (Plan::Object { ty, fields }, Repr::Object(o)) => {
            let mut values = Vec::with_capacity(fields.len());
            for ((name, want), (at, how)) in ty.iter().zip(fields) {
                values.push(match at {
                    None => Value::null(want.without_optional()),
                    Some(at) => {
                        let inner = o.values[*at].clone();
                        within(path, Step::Attribute(name.clone()), |path| {
                            carry_out(how, inner, want, path)
                        })?
                    }
                });
            }
            Ok(object(ty, values))
        }
        (Plan::MapToObject { ty, fields }, Repr::Map(m)) => {
            let mut values = Vec::with_capacity(fields.len());
            let mut missing = Vec::new();
            for (i, ((name, want), how)) in ty.iter().zip(fields).enumerate() {
                let found = m.entries.binary_search_by(|e| e.0.cmp(name)).ok();
                values.push(match (found, how) {
                    (Some(at), Some(how)) => {
                        let inner = m.entries[at].1.clone();
                        within(path, key(name), |path| carry_out(how, inner, want, path))?
                    }
                    (Some(at), None) => {
                        let from = m.entries[at].1.type_of();
                        return within(path, key(name), |path| {
                            Err(mismatch::explain_at(&from, want, path))
                        });
                    }
                    (None, _) if ty.is_optional(i) => Value::null(want.without_optional()),
                    (None, _) => {
                        missing.push(name.clone());
                        continue;
                    }
                });
            }
            if !missing.is_empty() {
                return Err(ConvertError::at(
                    path,
                    ConvertErrorKind::MissingAttributes(missing),
                ));
            }
            Ok(object(ty, values))
        }
        (Plan::Tuple(each), Repr::Tuple(t)) => {
            let Type::Tuple(wanted) = to else {
                return Ok(value);
            };
            let mut values = Vec::with_capacity(each.len());
            for (i, ((how, want), inner)) in
                each.iter().zip(wanted.iter()).zip(&t.values).enumerate()
            {
                let inner = inner.clone();
                values.push(within(path, position(i), |path| {
                    carry_out(how, inner, want, path)
                })?);
            }
            Ok(Value::tuple(values))
        }
        (Plan::Elements { to, element, each }, Repr::List(s) | Repr::Set(s)) => {
            let of_set = matches!(value.0, Repr::Set(_));
            let mut values = Vec::with_capacity(s.values.len());
            for (i, inner) in s.values.iter().enumerate() {
                let step = if of_set {
                    // naming the element would show content
                    Step::Index(Value::dynamic())
                } else {
                    position(i)
                };
                let inner = inner.clone();
                values.push(within(path, step, |path| {
                    carry_out(each, inner, element, path)
                })?);
            }
            let most = values.len() as u64;
            let made = collect(*to, element, values, Vec::new(), path)?;
            if of_set && s.inside.unknown && most > 1 && matches!(to, Collection::List) {
                // unknown elements may turn out equal to others and stand anywhere in the order, so
                // a list of them promises nothing but that it has one
                let refinement = Refinement::length(1, Some(most));
                return Ok(Value::unknown_with(made.type_of(), refinement));
            }
            Ok(made)
        }
        (Plan::Elements { to, element, each }, Repr::Map(m)) => {
            let mut values = Vec::with_capacity(m.entries.len());
            for (name, inner) in &m.entries {
                let inner = inner.clone();
                values.push(within(path, key(name), |path| {
                    carry_out(each, inner, element, path)
                })?);
            }
            let keys = m.entries.iter().map(|e| e.0.clone()).collect();
            collect(*to, element, values, keys, path)
        }
        (Plan::Gather { to, element, each }, Repr::Tuple(t)) => {
            let mut values = Vec::with_capacity(each.len());
            for (i, (how, inner)) in each.iter().zip(&t.values).enumerate() {
                let inner = inner.clone();
                values.push(within(path, position(i), |path| {
                    carry_out(how, inner, element, path)
                })?);
            }
            collect(*to, element, values, Vec::new(), path)
        }
        (Plan::Gather { to, element, each }, Repr::Object(o)) => {
            let mut values = Vec::with_capacity(each.len());
            for ((how, inner), name) in each.iter().zip(&o.values).zip(o.ty.names()) {
                let inner = inner.clone();
                let step = Step::Attribute(name.clone());
                values.push(within(path, step, |path| {
                    carry_out(how, inner, element, path)
                })?);
            }
            collect(*to, element, values, o.ty.names().to_vec(), path)
        }
        // the plan was made for another type than the value's: an element of unstated type
        _ => {
            let from = value.type_of();
            match plan(&from, to, true) {
                Some(Plan::Keep) => Ok(value),
                Some(how) if !matches!(how, Plan::Decide) => carry_out(&how, value, to, path),
                _ => Err(mismatch::explain_at(&from, to, path)),
            }
        }
    }
}

fn within<R>(path: &mut Path, step: Step, inside: impl FnOnce(&mut Path) -> R) -> R {
    path.push(step);
    let result = inside(path);
    path.pop();
    result
}

fn object(ty: &Arc<ObjectType>, values: Vec<Value>) -> Value {
    let whole = Type::Object(ty.clone());
    if !whole.has_dynamic() && !whole.has_optional() {
        Value::object_of(ty.clone(), values)
    } else {
        Value::object(ty.names().iter().cloned().zip(values))
    }
}

/// Makes the collection, after bringing elements of an unstated type to one.
fn collect(
    to: Collection,
    element: &Type,
    mut values: Vec<Value>,
    keys: Vec<Arc<str>>,
    path: &Path,
) -> Converted {
    let mut ty = element.without_optional();
    let of = |ty: Type| match to {
        Collection::List => Type::list(ty),
        Collection::Set => Type::set(ty),
        Collection::Map => Type::map(ty),
    };
    if ty.has_dynamic() && !values.is_empty() {
        let types: Vec<Type> = values.iter().map(Value::type_of).collect();
        if types.iter().all(|t| *t == types[0]) {
            ty = types[0].clone();
        } else {
            let undecided = values
                .iter()
                .any(|v| v.as_unknown().is_some_and(|u| u.ty.has_dynamic()));
            let common = match to {
                // null and unknown entries of a map take the type of the others, if that is one
                Collection::Map => sole_type(&types),
                _ => unify(&types).filter(|c| undecided || !c.has_dynamic()),
            };
            match common {
                // what the unknown ones turn out to be decides
                Some(common) if undecided && common.has_dynamic() => {
                    let marks = values.iter().fold(crate::Marks::NONE, |mut all, v| {
                        all.extend(&v.all_marks());
                        all
                    });
                    return Ok(Value::unknown(of(common)).with_marks(&marks));
                }
                Some(common) => {
                    let converted: Result<Vec<Value>, ConvertError> = values
                        .into_iter()
                        .map(|v| super::convert(v, &common))
                        .collect();
                    values = converted?;
                    ty = common;
                }
                None => {
                    let want = of(Type::Dynamic);
                    return Err(ConvertError::at(
                        path,
                        ConvertErrorKind::NoCommonType { want },
                    ));
                }
            }
        }
    }
    Ok(match to {
        Collection::List => Value::list(ty, values),
        Collection::Set => Value::set(ty, values),
        Collection::Map => Value::map(ty, keys.into_iter().zip(values)),
    })
}

/// The one type among these that is not dynamic itself.
fn sole_type(types: &[Type]) -> Option<Type> {
    let mut stated = types.iter().filter(|t| !t.is_dynamic());
    let first = stated.next()?;
    stated.all(|t| t == first).then(|| first.clone())
}

/// The target type with what is dynamic in it taken from the source, where that is known.
fn filled(from: &Type, to: &Type) -> Type {
    if !to.has_dynamic() {
        return to.clone();
    }
    let fill = |from: &Type, to: &Type| crate::with_stack(|| filled(from, to));
    match (from, to) {
        (_, Type::Dynamic) => from.clone(),
        (Type::List(f) | Type::Set(f), Type::List(t)) => Type::list(fill(f, t)),
        (Type::List(f) | Type::Set(f), Type::Set(t)) => Type::set(fill(f, t)),
        (Type::Map(f), Type::Map(t)) => Type::map(fill(f, t)),
        (Type::Tuple(f), Type::Tuple(t)) if f.len() == t.len() => {
            Type::tuple(f.iter().zip(t.iter()).map(|(f, t)| fill(f, t)))
        }
        (Type::Object(f), Type::Object(t)) => Type::object(t.iter().map(|(name, want)| {
            let ty = match f.attribute(name) {
                Some(from) => fill(from, want),
                None => want.clone(),
            };
            (name.clone(), ty)
        })),
        (Type::Map(f), Type::Object(t)) => {
            Type::object(t.iter().map(|(name, want)| (name.clone(), fill(f, want))))
        }
        (Type::Tuple(f), Type::List(t)) => Type::list(gathered(f, t)),
        (Type::Tuple(f), Type::Set(t)) => Type::set(gathered(f, t)),
        (Type::Object(f), Type::Map(t)) => Type::map(gathered(f.types(), t)),
        _ => to.clone(),
    }
}

fn gathered(from: &[Type], element: &Type) -> Type {
    if from.is_empty() {
        return element.clone();
    }
    match unify(from) {
        Some(common) => filled(&common, element),
        None => element.clone(),
    }
}

/// What stays known of an unknown value when it becomes one of another type.
fn known_after(unknown: &Unknown, to: &Type) -> Refinement {
    let known = &unknown.refinement;
    let not_null = Refinement {
        not_null: known.not_null,
        ..Refinement::NONE
    };
    let length = |min: usize, max: usize| Refinement {
        min_length: min as u64,
        max_length: Some(max as u64),
        ..not_null.clone()
    };
    match (&unknown.ty, to) {
        (Type::List(_), Type::Set(_)) => Refinement {
            min_length: known.min_length.min(1),
            ..known.clone()
        },
        (from, to) if from.is_collection() && to.is_collection() => known.clone(),
        (Type::Tuple(ts), Type::List(_)) if known.not_null => length(ts.len(), ts.len()),
        (Type::Tuple(ts), Type::Set(_)) if known.not_null => length(ts.len().min(1), ts.len()),
        (Type::Object(o), Type::Map(_)) if known.not_null => length(o.len(), o.len()),
        (from, to) if from == to => known.clone(),
        _ => not_null,
    }
}
