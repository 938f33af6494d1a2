//! The one type that several types convert to.

use std::cmp::Ordering;

use super::plan::plan;
use crate::Type;

/// The type to which all of these convert, conversions that may fail included. Of no types, none.
///
/// Text wins over numbers and bools; objects of the same attributes stay objects, others become a
/// map if their attributes have a type in common; tuples of the same length stay tuples, others
/// become a list. With a dynamic type among structural ones the answer is dynamic.
pub fn unify(types: &[Type]) -> Option<Type> {
    unify_for(types, true)
}

/// [`unify`] by conversions that cannot fail.
pub fn unify_safely(types: &[Type]) -> Option<Type> {
    unify_for(types, false)
}

pub(super) fn unify_for(types: &[Type], lossy: bool) -> Option<Type> {
    crate::with_stack(|| unify_step(types, lossy))
}

#[derive(Default)]
struct Count {
    maps: usize,
    lists: usize,
    sets: usize,
    objects: usize,
    tuples: usize,
    dynamic: usize,
}

fn unify_step(types: &[Type], lossy: bool) -> Option<Type> {
    let first = types.first()?;
    if types.iter().all(|t| t == first) {
        return Some(first.without_optional());
    }
    let mut count = Count::default();
    for ty in types {
        match ty {
            Type::Map(_) => count.maps += 1,
            Type::List(_) => count.lists += 1,
            Type::Set(_) => count.sets += 1,
            Type::Object(_) => count.objects += 1,
            Type::Tuple(_) => count.tuples += 1,
            Type::Dynamic => count.dynamic += 1,
            _ => {}
        }
    }
    let all = |n: usize| n > 0 && n + count.dynamic == types.len();
    let open = count.dynamic > 0;
    if all(count.maps) {
        return collection(types, Type::map, open, lossy);
    }
    // objects often are maps in disguise, and tuples lists: a type of that kind is tried first
    if count.maps > 0 && all(count.maps + count.objects) {
        let elements = types.iter().flat_map(|ty| match ty {
            Type::Object(o) => o.types(),
            Type::Map(e) => std::slice::from_ref(&**e),
            _ => &[],
        });
        let common = unify_for(&elements.cloned().collect::<Vec<_>>(), lossy).map(Type::map);
        if let Some(common) = reachable(types, common, lossy) {
            return Some(common);
        }
    }
    if all(count.lists) {
        return collection(types, Type::list, open, lossy);
    }
    if count.lists > 0 && all(count.lists + count.tuples) {
        let elements = types.iter().flat_map(|ty| match ty {
            Type::Tuple(ts) => &**ts,
            Type::List(e) => std::slice::from_ref(&**e),
            _ => &[],
        });
        let common = unify_for(&elements.cloned().collect::<Vec<_>>(), lossy).map(Type::list);
        if let Some(common) = reachable(types, common, lossy) {
            return Some(common);
        }
    }
    if all(count.sets) {
        return collection(types, Type::set, open, lossy);
    }
    if all(count.objects) {
        return if open {
            Some(Type::Dynamic)
        } else {
            objects(types, lossy)
        };
    }
    if all(count.tuples) {
        return if open {
            Some(Type::Dynamic)
        } else {
            tuples(types, lossy)
        };
    }
    if count.objects > 0 && count.tuples > 0 {
        return None;
    }
    by_preference(types, lossy)
}

/// The common type, if all types do convert to it.
fn reachable(types: &[Type], common: Option<Type>, lossy: bool) -> Option<Type> {
    common.filter(|c| types.iter().all(|ty| plan(ty, c, lossy).is_some()))
}

fn collection(types: &[Type], of: fn(Type) -> Type, open: bool, lossy: bool) -> Option<Type> {
    if open {
        return Some(Type::Dynamic);
    }
    let elements: Vec<Type> = types.iter().filter_map(|t| t.element().cloned()).collect();
    unify_for(&elements, lossy).map(of)
}

fn objects(types: &[Type], lossy: bool) -> Option<Type> {
    let all: Vec<_> = types.iter().filter_map(Type::as_object).collect();
    let first = all.first()?;
    if all.iter().any(|o| o.names() != first.names()) {
        let attributes: Vec<Type> = all.iter().flat_map(|o| o.types()).cloned().collect();
        return reachable(types, unify_for(&attributes, lossy).map(Type::map), lossy);
    }
    let mut attributes = Vec::with_capacity(first.len());
    for (i, name) in first.names().iter().enumerate() {
        let across: Vec<Type> = all.iter().map(|o| o.types()[i].clone()).collect();
        attributes.push((name.clone(), unify_for(&across, lossy)?));
    }
    Some(Type::object(attributes))
}

fn tuples(types: &[Type], lossy: bool) -> Option<Type> {
    let all: Vec<&[Type]> = types
        .iter()
        .filter_map(|t| match t {
            Type::Tuple(ts) => Some(&**ts),
            _ => None,
        })
        .collect();
    let first = all.first()?;
    if all.iter().any(|ts| ts.len() != first.len()) {
        let elements: Vec<Type> = all.iter().flat_map(|ts| ts.iter()).cloned().collect();
        return reachable(types, unify_for(&elements, lossy).map(Type::list), lossy);
    }
    let mut elements = Vec::with_capacity(first.len());
    for i in 0..first.len() {
        let across: Vec<Type> = all.iter().map(|ts| ts[i].clone()).collect();
        elements.push(unify_for(&across, lossy)?);
    }
    Some(Type::tuple(elements))
}

/// The first, in order of preference, of the given types to which all others convert.
fn by_preference(types: &[Type], lossy: bool) -> Option<Type> {
    let mut order: Vec<&Type> = types.iter().collect();
    order.sort_by(|a, b| preference(a, b));
    order.dedup();
    order
        .into_iter()
        .find(|want| {
            types
                .iter()
                .all(|ty| ty == *want || plan(ty, want, lossy).is_some())
        })
        .map(Type::without_optional)
}

/// Which of two types is tried first as the common one.
fn preference(a: &Type, b: &Type) -> Ordering {
    fn rank(ty: &Type) -> u8 {
        match ty {
            Type::String => 0,
            Type::List(_) => 1,
            Type::Set(_) => 2,
            Type::Map(_) => 3,
            Type::Bool | Type::Number | Type::Object(_) | Type::Tuple(_) => 4,
            Type::Dynamic => 5,
        }
    }
    match (a, b) {
        (Type::List(x), Type::List(y))
        | (Type::Set(x), Type::Set(y))
        | (Type::Map(x), Type::Map(y)) => preference(x, y),
        _ => rank(a).cmp(&rank(b)),
    }
}
