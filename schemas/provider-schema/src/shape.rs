//! What a schema says of the parts of a value: which are sensitive, which are write-only, and how a
//! loosely made object becomes one of the schema's type.

use std::sync::Arc;

use formwork_values::{
    ConvertError, ConvertErrorKind, Kind, Marks, Path, PathMarks, Step, Value, convert,
};

use crate::proposed::object;
use crate::{Attribute, AttributeKind, Block, Field};

/// The paths of the parts that the schema calls sensitive. Inside a set there are no paths: then it
/// is the set as a whole.
pub fn sensitive_paths(block: &Block, value: &Value) -> Vec<Path> {
    let mut found = Vec::new();
    attributes(
        block,
        value,
        &mut Path::default(),
        &|a, _| a.sensitive,
        &mut found,
    );
    found
}

/// The marks that the schema puts on a value: sensitive parts, and uses of deprecated attributes are
/// not among them.
pub fn schema_marks(block: &Block, value: &Value) -> PathMarks {
    sensitive_paths(block, value)
        .into_iter()
        .map(|path| (path, Marks::SENSITIVE))
        .collect()
}

/// The paths of write-only attributes that are not null; a set as a whole for what lies in it.
pub fn write_only_paths(block: &Block, value: &Value) -> Vec<Path> {
    let mut found = Vec::new();
    let wanted = |a: &Attribute, v: &Value| a.write_only && !v.is_null();
    attributes(block, value, &mut Path::default(), &wanted, &mut found);
    found
}

/// The value with write-only attributes null: what may be planned, shown and stored.
pub fn without_write_only(block: &Block, value: &Value) -> Value {
    if write_only_paths(block, value).is_empty() {
        return value.clone();
    }
    strip(block, value)
}

fn strip(block: &Block, value: &Value) -> Value {
    let (bare, marks) = value.clone().unmark();
    let Kind::Object(_, values) = bare.kind() else {
        return value.clone();
    };
    let parts = block
        .fields()
        .iter()
        .zip(values)
        .map(|(field, value)| match field {
            Field::Attribute(a) if a.write_only => Value::null(value.type_of()),
            Field::Attribute(a) => match &a.kind {
                AttributeKind::Nested(nested) => each(value, &|v| strip(&nested.object, v)),
                AttributeKind::Value(_) => value.clone(),
            },
            Field::Block(nested) => each(value, &|v| strip(&nested.block, v)),
        });
    object(block, parts.collect()).with_marks(&marks)
}

/// Changes the objects of a nested attribute or of nested blocks, however they are arranged.
fn each(value: &Value, change: &dyn Fn(&Value) -> Value) -> Value {
    let (bare, marks) = value.clone().unmark();
    let element = bare.type_of().element().cloned();
    let changed = match (bare.kind(), element) {
        (Kind::List(values), Some(e)) => Value::list(e, values.iter().map(change).collect()),
        (Kind::Set(values), Some(e)) => Value::set(e, values.iter().map(change).collect()),
        (Kind::Map(entries), Some(e)) => {
            Value::map(e, entries.iter().map(|(k, v)| (k.clone(), change(v))))
        }
        (Kind::Tuple(values), _) => Value::tuple(values.iter().map(change).collect()),
        (Kind::Object(..), _) => change(&bare),
        _ => return value.clone(),
    };
    changed.with_marks(&marks)
}

fn attributes(
    block: &Block,
    value: &Value,
    path: &mut Path,
    wanted: &dyn Fn(&Attribute, &Value) -> bool,
    found: &mut Vec<Path>,
) {
    let Kind::Object(_, values) = value.unmarked().kind() else {
        return;
    };
    for ((name, field), value) in block.iter().zip(values) {
        path.push(Step::Attribute(name.clone()));
        match field {
            Field::Attribute(a) if wanted(a, value) => found.push(path.clone()),
            Field::Attribute(a) => {
                if let AttributeKind::Nested(nested) = &a.kind {
                    inside(&nested.object, value, path, wanted, found);
                }
            }
            Field::Block(nested) => inside(&nested.block, value, path, wanted, found),
        }
        path.pop();
    }
}

fn inside(
    block: &Block,
    value: &Value,
    path: &mut Path,
    wanted: &dyn Fn(&Attribute, &Value) -> bool,
    found: &mut Vec<Path>,
) {
    let value = value.unmarked();
    match value.kind() {
        Kind::Object(ty, _) if ty.names() == block.object_type().names() => {
            attributes(block, value, path, wanted, found);
        }
        Kind::Set(values) => {
            let mut inner = Vec::new();
            for value in values {
                attributes(block, value, &mut Path::default(), wanted, &mut inner);
            }
            if !inner.is_empty() {
                found.push(path.clone());
            }
        }
        _ => {
            for (key, value) in value.elements().unwrap_or_default() {
                path.push(Step::Index(key));
                attributes(block, &value, path, wanted, found);
                path.pop();
            }
        }
    }
}

impl Block {
    /// An object of the block's type from one made loosely: attributes convert, absent ones are
    /// null, absent blocks are empty. Null and unknown stay so.
    ///
    /// # Errors
    /// An attribute that the block lacks, a required one that is absent, or a part that does not
    /// convert.
    pub fn coerce(&self, value: Value) -> Result<Value, ConvertError> {
        self.coerce_at(value, &mut Path::default())
    }

    fn coerce_at(&self, value: Value, path: &mut Path) -> Result<Value, ConvertError> {
        let (value, marks) = value.unmark();
        if value.is_null() {
            return Ok(Value::null(self.ty()).with_marks(&marks));
        }
        if !value.is_known() {
            return Ok(convert(value, &self.ty())?.with_marks(&marks));
        }
        let given: Vec<(Arc<str>, Value)> = match value.kind() {
            Kind::Object(ty, values) => ty
                .names()
                .iter()
                .cloned()
                .zip(values.iter().cloned())
                .collect(),
            Kind::Map(entries) => entries.to_vec(),
            _ => return Err(self.misfit(&value, path)),
        };
        if given.iter().any(|(name, _)| self.field(name).is_none()) {
            return Err(self.misfit(&value, path));
        }
        let mut parts = Vec::with_capacity(given.len());
        for (name, field) in self.iter() {
            path.push(Step::Attribute(name.clone()));
            let given = value.attribute(name).cloned();
            let part = match (field, given) {
                (Field::Attribute(a), None) if a.required => {
                    path.pop();
                    let kind = ConvertErrorKind::MissingAttributes(vec![name.clone()]);
                    return Err(ConvertError {
                        path: path.clone(),
                        kind,
                    });
                }
                (Field::Attribute(a), None) => Value::null(a.ty().without_optional()),
                (Field::Attribute(a), Some(given)) => {
                    let given = match &a.kind {
                        AttributeKind::Nested(nested) => fill(&nested.object, given, path)?,
                        AttributeKind::Value(_) => given,
                    };
                    located(convert(given, a.ty()), path)?
                }
                (Field::Block(nested), None) => nested.empty_value(),
                (Field::Block(nested), Some(given)) => {
                    if given.is_null() && !given.is_marked() {
                        nested.empty_value()
                    } else {
                        let filled = fill(&nested.block, given, path)?;
                        located(convert(filled, nested.ty()), path)?
                    }
                }
            };
            path.pop();
            parts.push(part);
        }
        Ok(object(self, parts).with_marks(&marks))
    }

    fn misfit(&self, value: &Value, path: &Path) -> ConvertError {
        let kind = ConvertErrorKind::Incompatible {
            got: value.type_of(),
            want: self.ty(),
        };
        ConvertError {
            path: path.clone(),
            kind,
        }
    }
}

fn located(result: Result<Value, ConvertError>, path: &Path) -> Result<Value, ConvertError> {
    result.map_err(|e| ConvertError {
        path: path.clone().joined(&e.path),
        kind: e.kind,
    })
}

/// Coerces the objects of nested blocks and attributes, in whatever collection they are given.
fn fill(block: &Block, value: Value, path: &mut Path) -> Result<Value, ConvertError> {
    let (value, marks) = value.unmark();
    let filled = match value.kind() {
        Kind::List(values) | Kind::Set(values) | Kind::Tuple(values) => {
            let mut all = Vec::with_capacity(values.len());
            for (i, value) in values.iter().enumerate() {
                path.push(Step::Index(Value::int(
                    i64::try_from(i).unwrap_or(i64::MAX),
                )));
                all.push(block.coerce_at(value.clone(), path)?);
                path.pop();
            }
            Value::tuple(all)
        }
        Kind::Map(entries) => {
            let mut all = Vec::with_capacity(entries.len());
            for (key, value) in entries {
                path.push(Step::Index(Value::shared_string(key.clone())));
                all.push((key.clone(), block.coerce_at(value.clone(), path)?));
                path.pop();
            }
            Value::object(all)
        }
        Kind::Object(ty, _) if ty.names().iter().all(|n| block.field(n).is_some()) => {
            block.coerce_at(value.clone(), path)?
        }
        Kind::Object(ty, values) => {
            let mut all = Vec::with_capacity(values.len());
            for (key, value) in ty.names().iter().zip(values) {
                path.push(Step::Index(Value::shared_string(key.clone())));
                all.push((key.clone(), block.coerce_at(value.clone(), path)?));
                path.pop();
            }
            Value::object(all)
        }
        _ => value.clone(),
    };
    Ok(filled.with_marks(&marks))
}
