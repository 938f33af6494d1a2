//! What a resource's lifecycle settings and marks do to its objects.

use crate::{Block, Field, NestedBlock, schema_marks};
use formwork_values::{Kind, Path, PathMarks, Step, Type, Value};
use std::sync::Arc;

/// What of a configuration is to be left as it is.
#[derive(Clone, Debug, Default)]
pub enum Ignored {
    /// Nothing.
    #[default]
    Nothing,
    /// Everything: `ignore_changes = all`.
    All,
    /// These paths.
    Paths(Vec<Path>),
}

/// The marks of a configuration with those of what is to be ignored taken from the prior object.
pub fn marks_without_ignored(
    config_marks: PathMarks,
    prior: &Value,
    ignored: &Ignored,
) -> PathMarks {
    if prior.is_null() || matches!(ignored, Ignored::Nothing) {
        return config_marks;
    }
    let covered = |path: &Path| match ignored {
        Ignored::Nothing => false,
        Ignored::All => true,
        Ignored::Paths(paths) => paths.iter().any(|p| path.steps().starts_with(p.steps())),
    };
    let (_, former) = prior.clone().unmark_deep();
    config_marks
        .into_iter()
        .filter(|(path, _)| !covered(path))
        .chain(former.into_iter().filter(|(path, _)| covered(path)))
        .collect()
}

/// The configuration with what is to be ignored taken from the prior object.
pub fn without_ignored(block: &Block, config: &Value, prior: &Value, ignored: &Ignored) -> Value {
    if prior.is_null() || config.is_null() {
        return config.clone();
    }
    match ignored {
        Ignored::Nothing => config.clone(),
        Ignored::All => {
            let names = block.object_type().names();
            let kept = names.iter().map(|name| {
                // What only the provider sets is never in a configuration.
                let computed_only = block
                    .attribute(name)
                    .is_some_and(|a| a.computed && !a.optional);
                let value = if computed_only {
                    config.attribute(name)
                } else {
                    prior.attribute(name)
                };
                (
                    name.clone(),
                    value.cloned().unwrap_or_else(|| Value::null(Type::Dynamic)),
                )
            });
            let values = kept.map(|(_, v)| v).collect();
            Value::object_of(block.object_type().clone(), values)
        }
        Ignored::Paths(paths) => paths
            .iter()
            .fold(config.clone(), |config, path| set_from(config, prior, path)),
    }
}

/// `config` with the value at `path` as `prior` has it. A map key that `prior` has and `config` lacks
/// is added; one that `prior` lacks is taken away. A key of anything but a map stands for all of it.
fn set_from(config: Value, prior: &Value, path: &Path) -> Value {
    let wanted = prior.at(path).ok();
    if let Some((Step::Index(key), parent)) = path.steps().split_last()
        && let Some(key) = key.as_shared_str().cloned()
    {
        let parent = Path::new(parent.to_vec());
        return config.transform(&mut |at, value| {
            if *at != parent || !value.is_known() {
                return value;
            }
            let ty = value.type_of();
            // what has no such keys is kept as it is, whole
            let Type::Map(element) = &ty else {
                return prior.at(&parent).unwrap_or(value);
            };
            let mut entries: Vec<(Arc<str>, Value)> = value
                .as_map()
                .map(|entries| entries.to_vec())
                .unwrap_or_default()
                .into_iter()
                .filter(|(k, _)| *k != key)
                .collect();
            if let Some(wanted) = &wanted {
                entries.push((key.clone(), wanted.clone()));
            } else if value.is_null() {
                return value;
            }
            Value::map((**element).clone(), entries)
        });
    }
    let Some(wanted) = wanted else { return config };
    config.transform(&mut |at, value| if at == path { wanted.clone() } else { value })
}

/// Marks of the configuration and of the schema, on a planned object.
pub fn marked(block: &Block, planned: &Value, config_marks: &PathMarks) -> Value {
    let mut marks: PathMarks = config_marks
        .iter()
        .filter(|(path, _)| planned.at(path).is_ok())
        .cloned()
        .collect();
    marks.extend(schema_marks(block, planned));
    planned.clone().mark_with_paths(&marks)
}

/// A provider's answer as an object of the block's own type: where the type is dynamic the answer may
/// be of any, elsewhere it must be of just that type. `None` if it is not such an object.
///
/// Afterwards objects of one type compare by their content alone, whoever made them.
pub fn adopted(block: &Block, value: Value) -> Option<Value> {
    let ours = block.object_type();
    match value.kind() {
        Kind::Null(_) => Some(Value::null(block.ty())),
        Kind::Object(ty, _) if Arc::ptr_eq(ty, ours) => Some(value),
        Kind::Object(ty, values) if ty.names() == ours.names() => {
            let fits = values
                .iter()
                .zip(ours.types())
                .all(|(v, t)| accepts(t, &v.type_of()));
            fits.then(|| Value::object_of(ours.clone(), values.to_vec()))
        }
        _ => None,
    }
}

/// The same for answers that may be of the legacy type system: what is read and imported (nobody says
/// there of which it is), and what such a provider plans and makes. What stands for nested blocks is
/// brought into shape ([`normalise_legacy`](crate::normalise_legacy)).
pub fn adopted_loosely(block: &Block, value: Value) -> Option<Value> {
    let value = adopted(block, value)?;
    match crate::conformance::lacks_blocks(block, &value) {
        true => Some(crate::normalise_legacy(block, &value)),
        false => Some(value),
    }
}

/// Whether values of type `given` may stand where `wanted` is declared.
fn accepts(wanted: &Type, given: &Type) -> bool {
    match (wanted, given) {
        (Type::Dynamic, _) => true,
        (Type::List(w), Type::List(g))
        | (Type::Set(w), Type::Set(g))
        | (Type::Map(w), Type::Map(g)) => accepts(w, g),
        (Type::Object(w), Type::Object(g)) => {
            w.names() == g.names() && w.types().iter().zip(g.types()).all(|(w, g)| accepts(w, g))
        }
        (Type::Tuple(w), Type::Tuple(g)) => {
            w.len() == g.len() && w.iter().zip(g.iter()).all(|(w, g)| accepts(w, g))
        }
        (w, g) => w == g,
    }
}

/// The object that a configuration will become when nothing of it exists yet: what the provider may
/// set and the configuration leaves out is unknown. For data sources that are read during apply.
pub fn unknown_computed(block: &Block, config: &Value) -> Value {
    let Kind::Object(ty, values) = config.kind() else {
        return config.clone();
    };
    if *ty != *block.object_type() {
        return config.clone();
    }
    let values = block
        .fields()
        .iter()
        .zip(values)
        .map(|(field, value)| match field {
            Field::Attribute(a) if a.computed && value.is_null() => {
                Value::unknown(a.ty().without_optional())
            }
            Field::Attribute(_) => value.clone(),
            Field::Block(nested) => unknown_computed_in(nested, value),
        });
    Value::object_of(ty.clone(), values.collect())
}

fn unknown_computed_in(nested: &NestedBlock, value: &Value) -> Value {
    let one = |v: &Value| unknown_computed(&nested.block, v);
    match value.kind() {
        Kind::List(values) => Value::list(nested.block.ty(), values.iter().map(one).collect()),
        Kind::Set(values) => Value::set(nested.block.ty(), values.iter().map(one).collect()),
        Kind::Map(entries) => Value::map(
            nested.block.ty(),
            entries.iter().map(|(k, v)| (k.clone(), one(v))),
        ),
        Kind::Object(..) => one(value),
        Kind::Tuple(values) => Value::tuple(values.iter().map(one).collect()),
        _ => value.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(name: &str) -> Path {
        Path::ROOT.attribute(name)
    }

    #[test]
    fn ignored_map_keys() {
        let labels = |pairs: &[(&str, &str)]| {
            let map = Value::map(
                Type::String,
                pairs.iter().map(|(k, v)| (*k, Value::string(v))),
            );
            Value::object([("labels", map)])
        };
        let at = path("labels").key("x");
        let config = labels(&[("x", "new"), ("y", "1")]);
        assert_eq!(
            set_from(config.clone(), &labels(&[("x", "old")]), &at),
            labels(&[("x", "old"), ("y", "1")])
        );
        assert_eq!(set_from(config, &labels(&[]), &at), labels(&[("y", "1")]));
    }
}
