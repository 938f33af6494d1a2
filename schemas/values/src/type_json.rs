//! Types as JSON, as state files, plans and provider schemas write them.
//!
//! `"string"`, `"dynamic"`, `["list","string"]`, `["object",{"a":"string"}]`,
//! `["object",{"a":"string"},["a"]]` (the third names optional attributes), `["tuple",["bool"]]`.

use std::fmt;

use serde_json::Value as Json;

use crate::{ObjectType, Type};

/// Why a JSON text is no type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TypeJsonError(pub String);

impl fmt::Display for TypeJsonError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for TypeJsonError {}

impl Type {
    /// The type written as JSON.
    pub fn to_json(&self) -> Json {
        let of = |word: &str, inner: &Type| {
            Json::Array(vec![word.into(), crate::with_stack(|| inner.to_json())])
        };
        match self {
            Type::Dynamic => "dynamic".into(),
            Type::Bool => "bool".into(),
            Type::Number => "number".into(),
            Type::String => "string".into(),
            Type::List(e) => of("list", e),
            Type::Set(e) => of("set", e),
            Type::Map(e) => of("map", e),
            Type::Object(o) => {
                let attributes = o
                    .iter()
                    .map(|(name, ty)| (name.to_string(), crate::with_stack(|| ty.to_json())))
                    .collect();
                let mut parts = vec!["object".into(), Json::Object(attributes)];
                let optional: Vec<Json> = o.optional_names().map(|n| Json::from(&**n)).collect();
                if !optional.is_empty() {
                    parts.push(Json::Array(optional));
                }
                Json::Array(parts)
            }
            Type::Tuple(ts) => {
                let types = ts
                    .iter()
                    .map(|t| crate::with_stack(|| t.to_json()))
                    .collect();
                Json::Array(vec!["tuple".into(), Json::Array(types)])
            }
        }
    }

    /// Reads a type from parsed JSON.
    pub fn from_json(json: &Json) -> Result<Type, TypeJsonError> {
        let wrong = |what: &str| Err(TypeJsonError(what.to_owned()));
        let parts = match json {
            Json::String(word) => {
                return match word.as_str() {
                    "dynamic" => Ok(Type::Dynamic),
                    "bool" => Ok(Type::Bool),
                    "number" => Ok(Type::Number),
                    "string" => Ok(Type::String),
                    other => Err(TypeJsonError(format!("\"{other}\" is no type"))),
                };
            }
            Json::Array(parts) => parts,
            _ => return wrong("a type is a word or an array"),
        };
        match parts.as_slice() {
            [Json::String(word), inner] if matches!(word.as_str(), "list" | "set" | "map") => {
                let inner = crate::with_stack(|| Type::from_json(inner))?;
                Ok(match word.as_str() {
                    "list" => Type::list(inner),
                    "set" => Type::set(inner),
                    _ => Type::map(inner),
                })
            }
            [Json::String(word), Json::Array(types)] if word == "tuple" => {
                let types: Result<Vec<Type>, _> = types
                    .iter()
                    .map(|t| crate::with_stack(|| Type::from_json(t)))
                    .collect();
                Ok(Type::tuple(types?))
            }
            [Json::String(word), Json::Object(attributes), rest @ ..] if word == "object" => {
                let mut all = Vec::with_capacity(attributes.len());
                for (name, ty) in attributes {
                    let ty = crate::with_stack(|| Type::from_json(ty))?;
                    all.push((crate::normalise(name).into_owned(), ty));
                }
                let object = ObjectType::new(all);
                let object = match rest {
                    [] => object,
                    [Json::Array(names)] => {
                        for name in names {
                            if !name.as_str().is_some_and(|n| object.has(n)) {
                                return wrong("an optional attribute must be one of the object's");
                            }
                        }
                        object.with_optional(|n| names.iter().any(|name| name.as_str() == Some(n)))
                    }
                    _ => return wrong("an object type has at most a list of optional attributes"),
                };
                Ok(Type::Object(object.into()))
            }
            _ => wrong("a compound type is an array of its word and its contents"),
        }
    }

    /// Reads a type from JSON text.
    pub fn from_json_bytes(text: &[u8]) -> Result<Type, TypeJsonError> {
        match serde_json::from_slice::<Json>(text) {
            Ok(json) => Type::from_json(&json),
            Err(error) => Err(TypeJsonError(error.to_string())),
        }
    }
}
