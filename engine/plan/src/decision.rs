//! Reading a provider's plan: which action it amounts to.
//!
//! The planner decides by it, and apply sees by it whether planning again with everything known
//! still gives what was approved.

use crate::action::Action;
use formwork_values::{Path, Value};

/// What a provider's plan amounts to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decision {
    /// What is done, replacement order not yet considered: no-op, create, update or (as
    /// delete-create) replace.
    pub action: Action,
    /// Paths that force a replacement.
    pub replace_paths: Vec<Path>,
}

/// Reads a provider's answer: `prior` and `planned` are without marks.
pub fn decide(prior: &Value, planned: &Value, requires_replace: &[Path]) -> Decision {
    if prior.is_null() {
        return Decision {
            action: Action::Create,
            replace_paths: Vec::new(),
        };
    }
    if prior == planned {
        return Decision {
            action: Action::NoOp,
            replace_paths: Vec::new(),
        };
    }
    // A provider may name paths whose value does not change; only changes count.
    let mut replace_paths: Vec<Path> = Vec::new();
    for path in requires_replace {
        let (before, after) = (at_or_null(prior, path), at_or_null(planned, path));
        let same = match (&before, &after) {
            (Some(b), Some(a)) => b == a && b.is_wholly_known() && a.is_wholly_known(),
            (None, None) => true,
            _ => false,
        };
        if !same && !replace_paths.contains(path) {
            replace_paths.push(path.clone());
        }
    }
    let action = if replace_paths.is_empty() {
        Action::Update
    } else {
        Action::DeleteThenCreate
    };
    Decision {
        action,
        replace_paths,
    }
}

/// The value at a path, `None` if there is nothing.
fn at_or_null(value: &Value, path: &Path) -> Option<Value> {
    value.at(path).ok().filter(|v| !v.is_null())
}

#[cfg(test)]
mod tests {
    use super::*;
    use formwork_values::Type;

    fn object(a: i64, b: Option<i64>) -> Value {
        let b = b.map_or_else(|| Value::unknown(Type::Number), Value::int);
        Value::object([("a", Value::int(a)), ("b", b)])
    }

    fn path(name: &str) -> Path {
        Path::ROOT.attribute(name)
    }

    #[test]
    fn decisions() {
        let null = Value::null(object(1, Some(1)).type_of());
        let d = |prior: &Value, planned: &Value, paths: &[Path]| decide(prior, planned, paths);
        assert_eq!(
            d(&null, &object(1, None), &[path("a")]).action,
            Action::Create
        );
        assert_eq!(
            d(&object(1, Some(2)), &object(1, Some(2)), &[path("a")]).action,
            Action::NoOp
        );
        assert_eq!(
            d(&object(1, Some(2)), &object(1, None), &[]).action,
            Action::Update
        );
        // a path that does not change forces nothing
        assert_eq!(
            d(&object(1, Some(2)), &object(1, Some(3)), &[path("a")]).action,
            Action::Update
        );
        let replaced = d(
            &object(1, Some(2)),
            &object(2, Some(2)),
            &[path("a"), path("b"), path("a")],
        );
        assert_eq!(
            replaced,
            Decision {
                action: Action::DeleteThenCreate,
                replace_paths: vec![path("a")]
            }
        );
        // an unknown may turn out to be the same, but nobody can promise it
        assert_eq!(
            d(&object(1, Some(2)), &object(1, None), &[path("b")]).action,
            Action::DeleteThenCreate
        );
    }
}
