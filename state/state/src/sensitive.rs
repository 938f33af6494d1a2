//! Paths of sensitive attributes, in the notation of the format.
//!
//! A path is a list of steps, `{"type":"get_attr","value":"input"}` or
//! `{"type":"index","value":{"value":0,"type":"number"}}`. What cannot be said in a [`Path`] (keys
//! that a later version adds) stays as text and is written back.

use crate::raw::RawJson;
use formwork_values::{Kind, Number, Path, Step, Value};
use serde_json::Value as Json;
use serde_json::value::RawValue;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Which attributes of an object are sensitive, beyond those that the schema says are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SensitivePaths {
    paths: Arc<[Path]>,
    written: Written,
}

/// How it is spelt in the file.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Written {
    /// As we would write it.
    Usual,
    /// Not at all.
    Absent,
    /// In another way.
    Verbatim(RawJson),
}

impl SensitivePaths {
    /// None.
    pub fn none() -> Self {
        Self::from_paths(Vec::new())
    }

    /// These, sorted by their text and without duplicates.
    ///
    /// Steps into sets cannot be said; marks never lie inside a set, so none arise.
    pub fn from_paths(paths: Vec<Path>) -> Self {
        let sorted: BTreeMap<String, Path> =
            paths.into_iter().map(|p| (p.to_string(), p)).collect();
        Self {
            paths: sorted.into_values().collect(),
            written: Written::Usual,
        }
    }

    /// The paths.
    pub fn paths(&self) -> &[Path] {
        &self.paths
    }

    /// Whether no attribute is sensitive.
    pub fn is_empty(&self) -> bool {
        self.paths.is_empty()
    }

    /// As for an object in a file without the key.
    pub(crate) fn absent() -> Self {
        Self {
            paths: Arc::from([]),
            written: Written::Absent,
        }
    }

    /// From the format's JSON; why not, as a clause, if it is not such a list.
    pub(crate) fn from_json(raw: &RawValue) -> Result<Self, String> {
        if raw.get() == "[]" {
            return Ok(Self::none());
        }
        let text = RawJson::from_raw(raw);
        if text.is_null() {
            return Ok(Self {
                paths: Arc::from([]),
                written: Written::Verbatim(text),
            });
        }
        let json: Json = serde_json::from_str(text.get())
            .map_err(|_| "\"sensitive_attributes\" is nested too deeply".to_owned())?;
        let paths = json.as_array().and_then(|list| {
            list.iter()
                .map(|p| {
                    let steps = p.as_array()?.iter().map(step).collect::<Option<Vec<_>>>()?;
                    Some(Path::new(steps))
                })
                .collect::<Option<Vec<_>>>()
        });
        let paths = paths.ok_or(
            "\"sensitive_attributes\" must be a list of paths, each a list of steps with \"type\" and \"value\"",
        )?;
        let mut result = Self {
            paths: paths.into(),
            written: Written::Usual,
        };
        if result.usual().as_deref() != Some(text.get()) {
            result.written = Written::Verbatim(text);
        }
        Ok(result)
    }

    /// The format's JSON; `None` if the key was not there.
    pub(crate) fn to_json(&self) -> Option<RawJson> {
        match &self.written {
            Written::Verbatim(text) => Some(text.clone()),
            Written::Absent => None,
            Written::Usual => self.usual().and_then(|t| RawJson::parse(&t).ok()),
        }
    }

    fn usual(&self) -> Option<String> {
        let mut out = String::from("[");
        for (i, path) in self.paths.iter().enumerate() {
            out.push_str(if i > 0 { ",[" } else { "[" });
            for (j, step) in path.steps().iter().enumerate() {
                if j > 0 {
                    out.push(',');
                }
                match step {
                    Step::Attribute(name) => {
                        out.push_str("{\"type\":\"get_attr\",\"value\":");
                        crate::raw::push_string(&mut out, name);
                    }
                    Step::Index(key) => {
                        out.push_str("{\"type\":\"index\",\"value\":{\"value\":");
                        match key.kind() {
                            Kind::String(text) => {
                                crate::raw::push_string(&mut out, text);
                                out.push_str(",\"type\":\"string\"}");
                            }
                            Kind::Number(n) => {
                                out.push_str(&n.to_string());
                                out.push_str(",\"type\":\"number\"}");
                            }
                            _ => return None,
                        }
                    }
                }
                out.push('}');
            }
            out.push(']');
        }
        out.push(']');
        Some(out)
    }
}

fn step(json: &Json) -> Option<Step> {
    let value = json.get("value")?;
    match json.get("type")?.as_str()? {
        "get_attr" => Some(Step::Attribute(Arc::from(value.as_str()?))),
        "index" => {
            let key = value.get("value")?;
            Some(Step::Index(match value.get("type")?.as_str()? {
                "string" => Value::string(key.as_str()?),
                // positions of a list or tuple: whole numbers, exact in serde_json's form
                "number" => Value::number(Number::from(key.as_i64()?)),
                _ => return None,
            }))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<SensitivePaths, String> {
        SensitivePaths::from_json(serde_json::from_str(text).expect("JSON"))
    }

    #[test]
    fn round_trips() {
        for (text, paths) in [
            ("[]", ""),
            ("null", ""),
            (
                r#"[[{"type":"get_attr","value":"input"},{"type":"index","value":{"value":1,"type":"number"}}],[{"type":"get_attr","value":"a"},{"type":"index","value":{"value":"k","type":"string"}}]]"#,
                ".input[1] .a[\"k\"]",
            ),
            (
                r#"[[{"value":"input","type":"get_attr","new":[1.0]}]]"#,
                ".input",
            ),
        ] {
            let read = read(text).expect(text);
            let shown: Vec<String> = read.paths().iter().map(ToString::to_string).collect();
            assert_eq!(shown.join(" "), paths);
            assert_eq!(read.to_json().expect("present").get(), text);
        }
        for text in ["{}", "[1]", "[[{\"type\":\"other\",\"value\":1}]]"] {
            assert!(read(text).is_err(), "{text}");
        }
        assert!(SensitivePaths::absent().to_json().is_none());
    }
}
