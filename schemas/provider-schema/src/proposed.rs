//! The proposed new state: what an object would be if the provider changed nothing but what the
//! configuration asks for.
//!
//! Configured values win. Where the configuration says nothing and the provider may fill in, the
//! prior value stays, except that of an optional nested attribute which can only stem from an
//! earlier configuration. Blocks and nested attributes are paired with their prior counterparts by
//! position, by key, and in sets by everything that the provider cannot have filled in.
//!
//! Values are without marks and conform to the schema's type.

use std::sync::Arc;

use formwork_values::{Kind, Type, Value};

use crate::{Attribute, AttributeKind, AttributeNesting, Block, BlockNesting, Field, NestedBlock};

/// The proposed new object from the prior one and the configuration. A null prior is a new object;
/// a null configuration leaves the prior as it is.
pub fn proposed_new_state(block: &Block, prior: &Value, config: &Value) -> Value {
    if prior.is_null() && config.is_null() {
        return prior.clone();
    }
    if prior.is_null() {
        return merge(block, &blank(block), config);
    }
    merge(block, prior, config)
}

/// The object of a block of which nothing was ever known.
fn blank(block: &Block) -> Value {
    block.empty_value()
}

fn merge(block: &Block, prior: &Value, config: &Value) -> Value {
    let (Kind::Object(_, configured), Kind::Object(..) | Kind::Null(_) | Kind::Unknown(_)) =
        (config.kind(), prior.kind())
    else {
        return prior.clone();
    };
    let mut values = Vec::with_capacity(configured.len());
    for ((name, field), config) in block.iter().zip(configured) {
        let before = prior_attribute(prior, name, field.ty());
        values.push(match field {
            Field::Attribute(attribute) => merge_attribute(attribute, &before, config),
            Field::Block(nested) => merge_blocks(nested, &before, config),
        });
    }
    object(block, values)
}

/// An attribute of the prior object; null if there is no prior object.
fn prior_attribute(prior: &Value, name: &str, ty: &Type) -> Value {
    match prior.kind() {
        Kind::Object(..) => prior
            .attribute(name)
            .cloned()
            .unwrap_or_else(|| Value::null(ty.clone())),
        Kind::Unknown(_) => Value::unknown(ty.clone()),
        _ => Value::null(ty.clone()),
    }
}

/// An object of the block's type; of a type of its own where dynamic parts differ.
pub(crate) fn object(block: &Block, values: Vec<Value>) -> Value {
    let ty = block.object_type();
    if ty.types().iter().any(Type::has_dynamic) {
        Value::object(ty.names().iter().cloned().zip(values))
    } else {
        Value::object_of(ty.clone(), values)
    }
}

fn merge_attribute(attribute: &Attribute, prior: &Value, config: &Value) -> Value {
    if attribute.computed && config.is_null() {
        let configured_before = match &attribute.kind {
            AttributeKind::Nested(nested) if attribute.optional => {
                holds_configured(&nested.object, prior)
            }
            _ => false,
        };
        return if configured_before {
            config.clone()
        } else {
            prior.clone()
        };
    }
    let AttributeKind::Nested(nested) = &attribute.kind else {
        return config.clone();
    };
    if config.is_null() || !config.is_known() {
        return config.clone();
    }
    let merge_one = |prior: &Value, config: &Value| {
        if config.is_null() {
            config.clone()
        } else {
            merge(&nested.object, prior, config)
        }
    };
    match nested.nesting {
        AttributeNesting::Single => merge_one(prior, config),
        AttributeNesting::List => by_position(prior, config, &merge_one),
        AttributeNesting::Map => by_key(prior, config, &merge_one),
        AttributeNesting::Set => by_content(&nested.object, prior, config, &merge_one),
    }
}

fn merge_blocks(nested: &NestedBlock, prior: &Value, config: &Value) -> Value {
    // a dynamic block whose for_each is not known yet
    if !config.is_known() {
        return config.clone();
    }
    let block = &nested.block;
    let merge_one = |prior: &Value, config: &Value| proposed_new_state(block, prior, config);
    match nested.nesting {
        BlockNesting::Single if config.is_null() => config.clone(),
        BlockNesting::Single | BlockNesting::Group => merge_one(prior, config),
        BlockNesting::List => by_position(prior, config, &merge_one),
        BlockNesting::Map => by_key(prior, config, &merge_one),
        BlockNesting::Set => by_content(block, prior, config, &merge_one),
    }
}

type MergeOne<'a> = &'a dyn Fn(&Value, &Value) -> Value;

fn by_position(prior: &Value, config: &Value, merge_one: MergeOne<'_>) -> Value {
    let Some(configured) = config.as_sequence() else {
        return config.clone();
    };
    let before = prior.as_sequence().unwrap_or(&[]);
    let merged = configured
        .iter()
        .enumerate()
        .map(|(i, config)| match before.get(i) {
            Some(prior) => merge_one(prior, config),
            None => config.clone(),
        });
    rebuilt(config, merged.collect())
}

/// A list, set or tuple like `like`, of other elements.
fn rebuilt(like: &Value, values: Vec<Value>) -> Value {
    match (like.kind(), like.type_of()) {
        (Kind::List(_), Type::List(element)) => Value::list((*element).clone(), values),
        (Kind::Set(_), Type::Set(element)) => Value::set((*element).clone(), values),
        _ => Value::tuple(values),
    }
}

fn by_key(prior: &Value, config: &Value, merge_one: MergeOne<'_>) -> Value {
    let merge = |key: &Arc<str>, config: &Value| match prior.attribute(key) {
        Some(prior) => merge_one(prior, config),
        None => config.clone(),
    };
    match (config.kind(), config.type_of()) {
        (Kind::Map(entries), Type::Map(element)) => Value::map(
            (*element).clone(),
            entries
                .iter()
                .map(|(key, config)| (key.clone(), merge(key, config))),
        ),
        (Kind::Object(ty, values), _) => Value::object(
            ty.names()
                .iter()
                .zip(values)
                .map(|(key, config)| (key.clone(), merge(key, config))),
        ),
        _ => config.clone(),
    }
}

fn by_content(block: &Block, prior: &Value, config: &Value, merge_one: MergeOne<'_>) -> Value {
    let Kind::Set(configured) = config.kind() else {
        return config.clone();
    };
    let before = match prior.kind() {
        Kind::Set(values) => values,
        _ => &[],
    };
    let mut free: Vec<&Value> = before.iter().collect();
    let merged = configured.iter().map(|config| {
        match free
            .iter()
            .position(|prior| may_stem_from(block, prior, config))
        {
            Some(at) => merge_one(free.remove(at), config),
            None => merge_one(&Value::null(block.ty()), config),
        }
    });
    rebuilt(config, merged.collect())
}

/// Whether a prior object can be what became of this configuration: they differ only where the
/// provider fills in what the configuration leaves out.
fn may_stem_from(block: &Block, prior: &Value, config: &Value) -> bool {
    if same(prior, config) {
        return true;
    }
    let (Kind::Object(_, before), Kind::Object(_, configured)) = (prior.kind(), config.kind())
    else {
        return false;
    };
    block
        .fields()
        .iter()
        .zip(before)
        .zip(configured)
        .all(|((field, prior), config)| {
            if same(prior, config) {
                return true;
            }
            match field {
                Field::Attribute(attribute) => {
                    if attribute.computed && config.is_null() {
                        return true;
                    }
                    match &attribute.kind {
                        AttributeKind::Value(_) => false,
                        AttributeKind::Nested(nested) => match nested.nesting {
                            AttributeNesting::Single => {
                                may_stem_from(&nested.object, prior, config)
                            }
                            AttributeNesting::Set => false,
                            _ => all_may_stem_from(&nested.object, prior, config),
                        },
                    }
                }
                Field::Block(nested) => match nested.nesting {
                    BlockNesting::Single | BlockNesting::Group => {
                        may_stem_from(&nested.block, prior, config)
                    }
                    // sets inside cannot be paired: they must be the same
                    BlockNesting::Set => false,
                    _ => all_may_stem_from(&nested.block, prior, config),
                },
            }
        })
}

fn all_may_stem_from(block: &Block, prior: &Value, config: &Value) -> bool {
    let (Some(before), Some(configured)) = (prior.elements(), config.elements()) else {
        return false;
    };
    before.len() == configured.len()
        && before
            .iter()
            .zip(&configured)
            .all(|((k, prior), (l, config))| k == l && may_stem_from(block, prior, config))
}

/// The same value, whatever is known of unknown parts.
pub(crate) fn same(a: &Value, b: &Value) -> bool {
    if a == b {
        return true;
    }
    if !(a.contains_unknown() && b.contains_unknown()) {
        return false;
    }
    unrefined(a) == unrefined(b)
}

/// The value with nothing said of its unknown parts.
fn unrefined(value: &Value) -> Value {
    value.clone().transform(&mut |_, v| match v.as_unknown() {
        Some(u) if !u.refinement.is_none() => Value::unknown(u.ty.clone()),
        _ => v,
    })
}

/// Whether a value of an optional nested attribute holds something the provider cannot have made up.
fn holds_configured(object: &Block, value: &Value) -> bool {
    let one = |value: &Value| match value.kind() {
        Kind::Object(_, values) => {
            object
                .fields()
                .iter()
                .zip(values)
                .any(|(field, value)| match field {
                    _ if value.is_null() => false,
                    Field::Attribute(a) if !a.computed => true,
                    Field::Attribute(a) => match &a.kind {
                        AttributeKind::Nested(nested) => holds_configured(&nested.object, value),
                        AttributeKind::Value(_) => false,
                    },
                    Field::Block(_) => false,
                })
        }
        _ => false,
    };
    match value.kind() {
        Kind::Object(ty, _) if Arc::ptr_eq(ty, object.object_type()) => one(value),
        Kind::List(values) | Kind::Set(values) | Kind::Tuple(values) => values.iter().any(one),
        Kind::Map(entries) => entries.iter().any(|e| one(&e.1)),
        Kind::Object(ty, values) if ty.names() != object.object_type().names() => {
            values.iter().any(one)
        }
        Kind::Object(..) => one(value),
        _ => false,
    }
}
