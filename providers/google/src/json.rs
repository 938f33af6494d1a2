//! Values to the API's JSON and back.
//!
//! *Expand* writes what a plan knows: null and unknown are left out, because the API fills them in.
//! *Flatten* reads what the API says and holds it against what was known before: where both mean the
//! same the former spelling stays, so that a state never drifts by spelling; where the configuration
//! said nothing and the API says nothing but zeros and defaults, null stays null.

use std::sync::Arc;

use formwork_google_schema::{Element, Node, NodeKind, Wire};
use formwork_values::{Kind, Number, Type, Value};
use serde_json::{Map, Value as Json};

use crate::names;
use crate::same::{is_idle, is_zero, same};

/// What templates of references need to know.
pub(crate) trait Place {
    /// Fills `{project}` and the like; `None` when a part is not known.
    fn fill(&self, template: &str) -> Option<String>;
}

/// Writes the fields of an object into the API's object.
pub(crate) fn expand(
    nodes: &[Node],
    object: &Value,
    place: &dyn Place,
    out: &mut Map<String, Json>,
) {
    let Kind::Object(_, values) = object.kind() else {
        return;
    };
    for (node, value) in nodes.iter().zip(values) {
        expand_field(node, value, place, out);
    }
}

/// Writes one field into the API's object.
pub(crate) fn expand_field(
    node: &Node,
    value: &Value,
    place: &dyn Place,
    out: &mut Map<String, Json>,
) {
    if node.read_only || node.in_url || !node.configurable() {
        return;
    }
    let Some(path) = &node.path else { return };
    if path.is_empty() {
        // A block that only groups fields of the same object.
        if let Some([object, ..]) = value.as_sequence() {
            expand(&node.children, object, place, out);
        }
        return;
    }
    if let Some(json) = expand_value(node, value, place) {
        put(out, path, json);
    }
}

/// The API's form of a field's value, if there is something to send.
pub(crate) fn expand_value(node: &Node, value: &Value, place: &dyn Place) -> Option<Json> {
    match value.kind() {
        Kind::Null(_) | Kind::Unknown(_) | Kind::Marked(..) => None,
        Kind::Bool(b) => Some(match node.wire {
            Wire::String => Json::String(b.to_string()),
            _ => Json::Bool(b),
        }),
        Kind::Number(n) => Some(number(n, &node.wire)),
        Kind::String(s) => {
            if s.is_empty() && node.computed {
                return None;
            }
            Some(text(node, s, place))
        }
        Kind::Map(entries) => {
            let known = entries
                .iter()
                .filter_map(|(k, v)| Some((k.to_string(), Json::String(v.as_str()?.to_owned()))));
            Some(match node.wire {
                Wire::Items => Json::Array(
                    known
                        .map(|(k, v)| serde_json::json!({"key": k, "value": v}))
                        .collect(),
                ),
                _ => Json::Object(known.collect()),
            })
        }
        Kind::List(values) | Kind::Set(values) | Kind::Tuple(values) => {
            if node.is_nested() {
                return objects(node, values, place);
            }
            let items = values.iter().filter_map(|v| match v.kind() {
                Kind::String(s) => Some(text(node, s, place)),
                Kind::Number(n) => Some(number(
                    n,
                    match &node.wire {
                        Wire::Array(inner) => inner,
                        other => other,
                    },
                )),
                Kind::Bool(b) => Some(Json::Bool(b)),
                _ => None,
            });
            Some(Json::Array(match &node.via {
                Some(key) => items
                    .map(|item| Json::Object(Map::from_iter([(key.to_string(), item)])))
                    .collect(),
                None => items.collect(),
            }))
        }
        Kind::Object(..) => None,
    }
}

fn objects(node: &Node, values: &[Value], place: &dyn Place) -> Option<Json> {
    let one = |object: &Value| {
        let mut map = Map::new();
        expand(&node.children, object, place, &mut map);
        map
    };
    match &node.wire {
        Wire::Object | Wire::Any => values.first().map(|v| Json::Object(one(v))),
        Wire::Map(_) => {
            // A set of objects, one of whose fields is the map's key.
            let mut map = Map::new();
            for value in values {
                let mut object = one(value);
                let key = object
                    .remove("key")
                    .and_then(|k| k.as_str().map(str::to_owned));
                let inner = object.remove("value").unwrap_or(Json::Object(object));
                if let Some(key) = key {
                    map.insert(key, inner);
                }
            }
            Some(Json::Object(map))
        }
        _ => Some(Json::Array(
            values.iter().map(|v| Json::Object(one(v))).collect(),
        )),
    }
}

fn text(node: &Node, s: &str, place: &dyn Place) -> Json {
    match (&node.wire, &node.reference) {
        (Wire::Int | Wire::Number, _) => s
            .parse::<serde_json::Number>()
            .map_or_else(|_| Json::String(s.to_owned()), Json::Number),
        (Wire::Bool, _) => Json::Bool(s == "true"),
        (_, Some(template)) if !s.contains('/') && !s.is_empty() => Json::String(
            place
                .fill(template)
                .map_or_else(|| s.to_owned(), |head| format!("{head}{s}")),
        ),
        _ => Json::String(s.to_owned()),
    }
}

fn number(n: &Number, wire: &Wire) -> Json {
    match wire {
        Wire::Int64 | Wire::String => {
            Json::String(n.to_integer_text().unwrap_or_else(|| n.to_text()))
        }
        _ => n
            .to_i64()
            .map(Json::from)
            .or_else(|| serde_json::Number::from_f64(n.to_f64()).map(Json::Number))
            .unwrap_or(Json::Null),
    }
}

/// Puts a value at a path, making objects on the way.
pub(crate) fn put(out: &mut Map<String, Json>, path: &[Arc<str>], json: Json) {
    match path {
        [] => {}
        [last] => {
            out.insert(last.to_string(), json);
        }
        [first, rest @ ..] => {
            let inner = out
                .entry(first.to_string())
                .or_insert_with(|| Json::Object(Map::new()));
            if !inner.is_object() {
                *inner = Json::Object(Map::new());
            }
            if let Json::Object(map) = inner {
                put(map, rest, json);
            }
        }
    }
}

/// The value at a path of the API's object.
pub(crate) fn at<'j>(json: &'j Json, path: &[Arc<str>]) -> Option<&'j Json> {
    path.iter()
        .try_fold(json, |at, part| at.get(&**part))
        .filter(|j| !j.is_null())
}

/// Reads the fields of the API's object. `prior` is the object as it was known, if any.
pub(crate) fn flatten(nodes: &[Node], json: &Json, prior: Option<&Value>) -> Vec<Value> {
    let known = match prior.map(Value::kind) {
        Some(Kind::Object(_, values)) if values.len() == nodes.len() => Some(values),
        _ => None,
    };
    nodes
        .iter()
        .enumerate()
        .map(|(i, node)| {
            let before = known
                .and_then(|values| values.get(i))
                .filter(|v| v.is_known());
            flatten_field(node, json, before)
        })
        .collect()
}

/// Reads one field. `before` is its known value, `None` when nothing was known of it.
pub(crate) fn flatten_field(node: &Node, json: &Json, before: Option<&Value>) -> Value {
    let null = || {
        if node.is_nested() && node.block {
            empty(node)
        } else {
            Value::null(node.ty.clone())
        }
    };
    let keep = || before.cloned().unwrap_or_else(null);
    let Some(path) = &node.path else {
        return keep();
    };
    if node.write_only {
        return Value::null(node.ty.clone());
    }
    let found = at(json, path);
    if found.is_none() && (node.sensitive || node.in_url) {
        // Keys are taken and never given back; what is in the address need not be repeated.
        return keep();
    }
    let fresh = if node.is_nested() {
        let grouped = if path.is_empty() { Some(json) } else { found };
        nested(node, grouped, before)
    } else {
        let absent = || match node.kind {
            // The wire does not carry false; of an object that nothing is known of, absent means it.
            NodeKind::Bool if before.is_none() && node.configurable() && !node.computed => {
                Value::FALSE
            }
            _ => Value::null(node.ty.clone()),
        };
        found.map_or_else(absent, |j| primitive(node, j))
    };
    settle(node, before, fresh)
}

/// Of two values, the one known before where both mean the same.
fn settle(node: &Node, before: Option<&Value>, fresh: Value) -> Value {
    let Some(before) = before.filter(|b| !(node.block && b.is_null())) else {
        return fresh;
    };
    if same(node, before, &fresh) {
        return before.clone();
    }
    if node.is_nested() && is_zero(before) && !node.computed && is_idle(node, &fresh) {
        return before.clone();
    }
    if node.is_nested() && is_zero(&fresh) && is_idle(node, before) {
        return before.clone();
    }
    if before.is_null() && !node.computed && is_zero(&fresh) {
        return before.clone();
    }
    fresh
}

fn empty(node: &Node) -> Value {
    let element = node.element_type();
    if node.is_set() {
        Value::set(element, Vec::new())
    } else {
        Value::list(element, Vec::new())
    }
}

fn collection(node: &Node, values: Vec<Value>) -> Value {
    let element = node.element_type();
    if node.is_set() {
        Value::set(element, values)
    } else {
        Value::list(element, values)
    }
}

fn nested(node: &Node, json: Option<&Json>, before: Option<&Value>) -> Value {
    let known: &[Value] = before.and_then(Value::as_sequence).unwrap_or_default();
    let Some(object) = node.element_type().as_object().cloned() else {
        return Value::null(node.ty.clone());
    };
    let one = |json: &Json, prior: Option<&Value>| {
        Value::object_of(Arc::clone(&object), flatten(&node.children, json, prior))
    };
    let items: Vec<Json> = match json {
        Some(Json::Array(items)) => items.clone(),
        Some(Json::Object(map)) if matches!(node.wire, Wire::Map(_)) => map
            .iter()
            .map(|(k, v)| serde_json::json!({"key": k, "value": v}))
            .collect(),
        Some(whole @ Json::Object(map)) => {
            if map.is_empty() && known.is_empty() {
                Vec::new()
            } else {
                vec![whole.clone()]
            }
        }
        _ => Vec::new(),
    };
    let grouped = node.path.as_ref().is_some_and(|p| p.is_empty());
    if node.is_set() {
        let mut left: Vec<&Value> = known.iter().collect();
        let values = items
            .iter()
            .map(|item| {
                // The element that was known under another spelling keeps it.
                let found = left
                    .iter()
                    .position(|prior| one(item, Some(prior)) == **prior);
                match found {
                    Some(i) => left.swap_remove(i).clone(),
                    None => one(item, None),
                }
            })
            .collect();
        return collection(node, values);
    }
    let values: Vec<Value> = items
        .iter()
        .enumerate()
        .map(|(i, item)| one(item, known.get(i)))
        .filter(|v| !(grouped && is_zero(v)))
        .collect();
    if values.is_empty() && !node.block {
        return Value::null(node.ty.clone());
    }
    collection(node, values)
}

fn primitive(node: &Node, json: &Json) -> Value {
    let null = || Value::null(node.ty.clone());
    match node.kind {
        NodeKind::String => scalar_text(json).map_or_else(null, |t| {
            Value::string(if node.name_only { names::last(&t) } else { &t })
        }),
        NodeKind::Int | NodeKind::Float => scalar_number(json).map_or_else(null, Value::number),
        NodeKind::Bool => match json {
            Json::Bool(b) => Value::bool(*b),
            Json::String(s) => Value::bool(s.eq_ignore_ascii_case("true")),
            _ => null(),
        },
        NodeKind::Map(element) => match json {
            Json::Object(map) => Value::map(
                element.ty(),
                map.iter()
                    .filter_map(|(k, v)| Some((Arc::from(k.as_str()), scalar(element, v)?)))
                    .collect::<Vec<(Arc<str>, Value)>>(),
            ),
            // Metadata: [{key, value}].
            Json::Array(items) => Value::map(
                element.ty(),
                items
                    .iter()
                    .filter_map(|item| {
                        let key = item.get("key")?.as_str()?;
                        let value = item.get("value").unwrap_or(&Json::Null);
                        let value = scalar(element, value).unwrap_or_else(|| Value::string(""));
                        Some((Arc::from(key), value))
                    })
                    .collect::<Vec<(Arc<str>, Value)>>(),
            ),
            _ => null(),
        },
        NodeKind::List(element) | NodeKind::Set(element) => match json {
            Json::Array(items) => {
                let values = items
                    .iter()
                    .filter_map(|item| match &node.via {
                        Some(key) => scalar(element, item.get(&**key)?),
                        None => scalar(element, item),
                    })
                    .collect();
                collection(node, values)
            }
            _ => null(),
        },
        NodeKind::Objects | NodeKind::ObjectSet | NodeKind::Timeouts => null(),
    }
}

fn scalar(element: Element, json: &Json) -> Option<Value> {
    match element {
        Element::String => scalar_text(json).map(Value::string),
        Element::Int | Element::Float => scalar_number(json).map(Value::number),
        Element::Bool => json.as_bool().map(Value::bool),
    }
}

fn scalar_text(json: &Json) -> Option<String> {
    match json {
        Json::String(s) => Some(s.clone()),
        Json::Number(n) => Some(n.to_string()),
        Json::Bool(b) => Some(b.to_string()),
        _ => None,
    }
}

fn scalar_number(json: &Json) -> Option<Number> {
    match json {
        Json::Number(n) => Number::parse(&n.to_string()).ok(),
        Json::String(s) => Number::parse(s).ok(),
        _ => None,
    }
}

/// Reads a stored object by a type: missing attributes are null, unknown ones are dropped.
pub(crate) fn decode(ty: &Type, json: &Json) -> Value {
    let null = || Value::null(ty.clone());
    match (ty, json) {
        (_, Json::Null) => null(),
        (Type::String, _) => scalar_text(json).map_or_else(null, Value::string),
        (Type::Number, _) => scalar_number(json).map_or_else(null, Value::number),
        (Type::Bool, Json::Bool(b)) => Value::bool(*b),
        (Type::Bool, Json::String(s)) if s == "true" || s == "false" => Value::bool(s == "true"),
        (Type::List(element), Json::Array(items)) => Value::list(
            (**element).clone(),
            items.iter().map(|i| decode(element, i)).collect(),
        ),
        (Type::Set(element), Json::Array(items)) => Value::set(
            (**element).clone(),
            items.iter().map(|i| decode(element, i)).collect(),
        ),
        (Type::Map(element), Json::Object(map)) => Value::map(
            (**element).clone(),
            map.iter()
                .map(|(k, v)| (Arc::from(k.as_str()), decode(element, v)))
                .collect::<Vec<(Arc<str>, Value)>>(),
        ),
        (Type::Object(object), Json::Object(map)) => Value::object_of(
            Arc::clone(object),
            object
                .iter()
                .map(|(name, ty)| decode(ty, map.get(&**name).unwrap_or(&Json::Null)))
                .collect(),
        ),
        _ => null(),
    }
}
