//! How one type converts to another.

use std::sync::Arc;

use super::unify::unify_for;
use crate::{ObjectType, Type};

/// What to do with each value of the source type.
#[derive(Debug)]
pub(super) enum Plan {
    /// Nothing: the type is right, or any will do.
    Keep,
    /// The source type is not known: decide on the value.
    Decide,
    ToString,
    ToNumber,
    ToBool,
    /// To an object: for each wanted attribute the source's position, none if it is absent.
    Object {
        ty: Arc<ObjectType>,
        fields: Vec<(Option<usize>, Plan)>,
    },
    /// From a map to an object: what to do with the element for each attribute, none if it could
    /// not become that attribute and must be absent.
    MapToObject {
        ty: Arc<ObjectType>,
        fields: Vec<Option<Plan>>,
    },
    Tuple(Vec<Plan>),
    /// Between collections of one element type each.
    Elements {
        to: Collection,
        element: Type,
        each: Box<Plan>,
    },
    /// From a tuple to a list or set, or from an object to a map.
    Gather {
        to: Collection,
        element: Type,
        each: Vec<Plan>,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Collection {
    List,
    Set,
    Map,
}

/// How to convert; `None` if there is no way. With `lossy` ways that fail on some values count.
pub(super) fn plan(from: &Type, to: &Type, lossy: bool) -> Option<Plan> {
    crate::with_stack(|| plan_step(from, to, lossy))
}

fn plan_step(from: &Type, to: &Type, lossy: bool) -> Option<Plan> {
    if to.is_dynamic() || from == to {
        return Some(Plan::Keep);
    }
    match (from, to) {
        (Type::Dynamic, _) => lossy.then_some(Plan::Decide),
        (Type::Number | Type::Bool, Type::String) => Some(Plan::ToString),
        (Type::String, Type::Number) => lossy.then_some(Plan::ToNumber),
        (Type::String, Type::Bool) => lossy.then_some(Plan::ToBool),
        (Type::Object(from), Type::Object(to)) => {
            let fields = to
                .iter()
                .enumerate()
                .map(|(i, (name, want))| match from.position(name) {
                    None => to.is_optional(i).then_some((None, Plan::Keep)),
                    Some(at) => plan(&from.types()[at], want, lossy).map(|p| (Some(at), p)),
                });
            Some(Plan::Object {
                ty: to.clone(),
                fields: fields.collect::<Option<_>>()?,
            })
        }
        (Type::Map(element), Type::Object(to)) => {
            if !lossy {
                return None;
            }
            let fields =
                to.iter()
                    .enumerate()
                    .map(|(i, (_, want))| match plan(element, want, lossy) {
                        Some(plan) => Some(Some(plan)),
                        None => to.is_optional(i).then_some(None),
                    });
            Some(Plan::MapToObject {
                ty: to.clone(),
                fields: fields.collect::<Option<_>>()?,
            })
        }
        (Type::Tuple(from), Type::Tuple(to)) => {
            if from.len() != to.len() {
                return None;
            }
            let each = from.iter().zip(to.iter()).map(|(f, t)| plan(f, t, lossy));
            Some(Plan::Tuple(each.collect::<Option<_>>()?))
        }
        (Type::List(_), Type::Set(_)) if !lossy => None,
        (Type::List(f) | Type::Set(f), Type::List(t)) => elements(Collection::List, f, t, lossy),
        (Type::List(f) | Type::Set(f), Type::Set(t)) => elements(Collection::Set, f, t, lossy),
        (Type::Map(f), Type::Map(t)) => elements(Collection::Map, f, t, lossy),
        (Type::Tuple(from), Type::List(t)) => gather(Collection::List, from, t, lossy),
        (Type::Tuple(from), Type::Set(t)) => gather(Collection::Set, from, t, lossy),
        (Type::Object(from), Type::Map(t)) => gather(Collection::Map, from.types(), t, lossy),
        _ => None,
    }
}

fn elements(to: Collection, from: &Type, element: &Type, lossy: bool) -> Option<Plan> {
    let each = Box::new(plan(from, element, lossy)?);
    let element = if element.is_dynamic() {
        from.clone()
    } else {
        element.clone()
    };
    Some(Plan::Elements { to, element, each })
}

fn gather(to: Collection, from: &[Type], element: &Type, lossy: bool) -> Option<Plan> {
    let mut element = element.clone();
    if element.is_dynamic() && !from.is_empty() {
        element = unify_for(from, lossy)?;
    }
    let each = from
        .iter()
        .map(|f| plan(f, &element, lossy))
        .collect::<Option<_>>()?;
    Some(Plan::Gather { to, element, each })
}
