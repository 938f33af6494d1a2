//! The table of types: each once, made of earlier ones by number.

use super::records::TypeRecord;
use super::with_stack;
use formwork_values::{ObjectType, Type};
use rustc_hash::FxHashMap;
use std::collections::HashMap;
use std::sync::Arc;

/// Types being written.
#[derive(Default)]
pub(super) struct TypeWriter {
    pub table: Vec<TypeRecord>,
    known: FxHashMap<TypeRecord, u32>,
    /// Object types by where they lie, so that the one that a thousand instances share is looked at
    /// once. They are held, lest another takes a freed one's place.
    by_place: FxHashMap<usize, (Arc<ObjectType>, u32)>,
}

impl TypeWriter {
    /// The position of a type in the table.
    pub fn add(&mut self, ty: &Type) -> u32 {
        with_stack(|| {
            let record = match ty {
                Type::Dynamic => TypeRecord::Dynamic,
                Type::Bool => TypeRecord::Bool,
                Type::Number => TypeRecord::Number,
                Type::String => TypeRecord::String,
                Type::List(e) => TypeRecord::List(self.add(e)),
                Type::Set(e) => TypeRecord::Set(self.add(e)),
                Type::Map(e) => TypeRecord::Map(self.add(e)),
                Type::Tuple(ts) => TypeRecord::Tuple(ts.iter().map(|t| self.add(t)).collect()),
                Type::Object(o) => return self.add_object(o),
            };
            self.put(record)
        })
    }

    /// The position of an object type in the table.
    pub fn add_object(&mut self, ty: &Arc<ObjectType>) -> u32 {
        let place = Arc::as_ptr(ty).addr();
        if let Some((_, at)) = self.by_place.get(&place) {
            return *at;
        }
        let attributes = ty
            .iter()
            .map(|(name, ty)| (name.to_string(), self.add(ty)))
            .collect();
        let optional = (0..ty.len())
            .filter(|i| ty.is_optional(*i))
            .filter_map(|i| u32::try_from(i).ok())
            .collect();
        let at = self.put(TypeRecord::Object(attributes, optional));
        self.by_place.insert(place, (ty.clone(), at));
        at
    }

    fn put(&mut self, record: TypeRecord) -> u32 {
        if let Some(at) = self.known.get(&record) {
            return *at;
        }
        let at = u32::try_from(self.table.len()).unwrap_or(u32::MAX);
        self.known.insert(record.clone(), at);
        self.table.push(record);
        at
    }
}

/// Builds the types of a table; names and inner types are shared.
pub(super) fn read(table: &[TypeRecord]) -> Result<Vec<Type>, String> {
    let mut types: Vec<Type> = Vec::with_capacity(table.len());
    let mut names: HashMap<String, Arc<str>> = HashMap::new();
    for record in table {
        let earlier = |at: &u32| {
            types
                .get(*at as usize)
                .cloned()
                .ok_or_else(|| "a type is made of a later one".to_owned())
        };
        let ty = match record {
            TypeRecord::Dynamic => Type::Dynamic,
            TypeRecord::Bool => Type::Bool,
            TypeRecord::Number => Type::Number,
            TypeRecord::String => Type::String,
            TypeRecord::List(e) => Type::list(earlier(e)?),
            TypeRecord::Set(e) => Type::set(earlier(e)?),
            TypeRecord::Map(e) => Type::map(earlier(e)?),
            TypeRecord::Tuple(ts) => {
                Type::tuple(ts.iter().map(earlier).collect::<Result<Vec<_>, _>>()?)
            }
            TypeRecord::Object(attributes, optional) => {
                let mut all: Vec<(Arc<str>, Type)> = Vec::with_capacity(attributes.len());
                for (name, at) in attributes {
                    let name = match names.get(name) {
                        Some(known) => known.clone(),
                        None => {
                            let new: Arc<str> = name.as_str().into();
                            names.insert(name.clone(), new.clone());
                            new
                        }
                    };
                    all.push((name, earlier(at)?));
                }
                let mut ty = ObjectType::new(all);
                if ty.len() != attributes.len() {
                    return Err("an object type names an attribute twice".to_owned());
                }
                if !optional.is_empty() {
                    let flags: Vec<&str> = optional
                        .iter()
                        .filter_map(|i| attributes.get(*i as usize))
                        .map(|(name, _)| name.as_str())
                        .collect();
                    ty = ty.with_optional(|name| flags.binary_search(&name).is_ok());
                }
                Type::Object(Arc::new(ty))
            }
        };
        types.push(ty);
    }
    Ok(types)
}
