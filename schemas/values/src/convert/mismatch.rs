//! The innermost reason why one type does not convert to another.

use super::plan::plan;
use super::{ConvertError, ConvertErrorKind, unify};
use crate::walk::position;
use crate::{Path, Step, Type, Value};

pub(super) fn explain(got: &Type, want: &Type) -> ConvertError {
    explain_at(got, want, &mut Path::default())
}

pub(super) fn explain_at(got: &Type, want: &Type, path: &mut Path) -> ConvertError {
    crate::with_stack(|| find(got, want, path)).unwrap_or_else(|| {
        let kind = ConvertErrorKind::Incompatible {
            got: got.clone(),
            want: want.clone(),
        };
        ConvertError::at(path, kind)
    })
}

/// A reason further inside, or the whole if the kinds of type differ; `None` if it converts.
fn find(got: &Type, want: &Type, path: &mut Path) -> Option<ConvertError> {
    if plan(got, want, true).is_some() {
        return None;
    }
    let whole = ConvertErrorKind::Incompatible {
        got: got.clone(),
        want: want.clone(),
    };
    let inside = |path: &mut Path, step: Step, got: &Type, want: &Type| {
        path.push(step);
        let found = crate::with_stack(|| find(got, want, path));
        path.pop();
        found
    };
    let found = match (got, want) {
        (Type::Object(g), Type::Object(w)) => {
            let missing: Vec<_> = w
                .iter()
                .enumerate()
                .filter(|(i, (name, _))| !w.is_optional(*i) && !g.has(name))
                .map(|(_, (name, _))| name.clone())
                .collect();
            if !missing.is_empty() {
                return Some(ConvertError::at(
                    path,
                    ConvertErrorKind::MissingAttributes(missing),
                ));
            }
            w.iter().find_map(|(name, want)| {
                let got = g.attribute(name)?;
                inside(path, Step::Attribute(name.clone()), got, want)
            })
        }
        (Type::Tuple(g), Type::Tuple(w)) => {
            if g.len() != w.len() {
                let kind = ConvertErrorKind::Length {
                    want: w.len(),
                    got: g.len(),
                };
                return Some(ConvertError::at(path, kind));
            }
            g.iter()
                .zip(w.iter())
                .enumerate()
                .find_map(|(i, (g, w))| inside(path, position(i), g, w))
        }
        (Type::Tuple(g), Type::List(w) | Type::Set(w)) => g
            .iter()
            .enumerate()
            .find_map(|(i, g)| inside(path, position(i), g, w)),
        (Type::Object(g), Type::Map(w)) => g
            .iter()
            .find_map(|(name, g)| inside(path, Step::Attribute(name.clone()), g, w)),
        (Type::List(g) | Type::Set(g), Type::List(w) | Type::Set(w))
        | (Type::Map(g), Type::Map(w)) => {
            // some element: no key can be named
            inside(path, Step::Index(Value::unknown(Type::Dynamic)), g, w)
        }
        _ => None,
    };
    if found.is_some() {
        return found;
    }
    let lacks_common_type = match (got, want) {
        (Type::Tuple(g), Type::List(w) | Type::Set(w)) if w.is_dynamic() => unify(g).is_none(),
        (Type::Object(g), Type::Map(w)) if w.is_dynamic() => unify(g.types()).is_none(),
        _ => false,
    };
    let kind = if lacks_common_type {
        ConvertErrorKind::NoCommonType { want: want.clone() }
    } else {
        whole
    };
    Some(ConvertError::at(path, kind))
}
