//! A line of the data files to a [`Resource`].
//!
//! Keys of a field: `n` name, `t` shape, `f` flags (`!` required, `?` optional, `=` computed, `#`
//! force new), `e` element, `d` default, `x` at most one, `s` sensitive, `w` write-only, `dep`
//! deprecated, `sup` equal spellings, `p` place in the API, `wt` the API's type, `via` the one field
//! of the API's objects, `ref` the path that a bare name is short for, `flat` how a URL is shortened,
//! `u` in the address, `ro` read only, `en` known values, `k` nested fields.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;

use crate::node::{Element, Node, NodeKind, Suppress, Wire};
use crate::resource::{
    MethodMapping, Methods, Nested, Resource, Setter, UpdateMapping, UpdateStyle,
};
use crate::schema::{schema, type_of};

/// Decodes one line. A line that is not what the generator writes gives `None`.
pub(crate) fn resource(line: &str) -> Option<Resource> {
    let json: Value = serde_json::from_str(line).ok()?;
    let name = text(&json, "type")?;
    let mut fields: Vec<Node> = json
        .get("fields")?
        .as_array()?
        .iter()
        .filter_map(|f| node(f, false))
        .collect();
    fields.retain(|f| &*f.name != "id");
    fields.push(id_node());
    let timeouts: BTreeMap<Arc<str>, Duration> = json
        .get("timeouts")
        .and_then(Value::as_object)
        .into_iter()
        .flatten()
        .filter_map(|(k, v)| Some((Arc::from(k.as_str()), Duration::from_secs(v.as_u64()?))))
        .collect();
    if !timeouts.is_empty() {
        fields.push(timeouts_node(&timeouts));
    }
    fields.sort_by(|a, b| a.name.cmp(&b.name));
    let version = json.get("version").and_then(Value::as_u64).unwrap_or(0);
    let method = |key: &str| {
        json.get("methods")
            .and_then(|m| m.get(key))
            .and_then(method)
    };
    let has_policy = fields.iter().any(|f| &*f.name == "deletion_policy");
    Some(Resource {
        schema: Arc::new(schema(version, &fields)),
        fields,
        service: text(&json, "service").unwrap_or_default(),
        document: text(&json, "doc").unwrap_or_default(),
        api_schema: text(&json, "schema").unwrap_or_default(),
        methods: Methods {
            create: method("create"),
            read: method("read"),
            update: method("update"),
            delete: method("delete"),
            list: method("list"),
            aggregated: method("aggregated_list"),
        },
        update: json.get("update").map_or_else(no_update, update),
        id: text(&json, "id").unwrap_or_default(),
        import: texts(&json, "import"),
        mutex: text(&json, "mutex"),
        deletion_policy: text(&json, "deletion_policy").filter(|_| has_policy),
        nested: json.get("nested").map(|n| Nested {
            keys: texts(n, "keys"),
        }),
        prefix: text(&json, "prefix")
            .map(|p| p.split('.').map(Arc::from).collect())
            .unwrap_or_default(),
        timeouts,
        wrapped_policy: json.get("wrapped").and_then(Value::as_u64) == Some(1),
        beta: json.get("beta").is_some(),
        identity: json
            .get("identity")
            .and_then(Value::as_object)
            .into_iter()
            .flatten()
            .map(|(k, v)| (Arc::from(k.as_str()), v.as_str() == Some("required")))
            .collect(),
        grade: text(&json, "grade").unwrap_or_default(),
        unmapped: texts(&json, "unmapped"),
        custom_code: texts(&json, "code"),
        name,
    })
}

fn text(json: &Value, key: &str) -> Option<Arc<str>> {
    json.get(key).and_then(Value::as_str).map(Arc::from)
}

fn texts(json: &Value, key: &str) -> Vec<Arc<str>> {
    json.get(key)
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .map(Arc::from)
        .collect()
}

fn flag(json: &Value, key: &str) -> bool {
    json.get(key).and_then(Value::as_u64) == Some(1)
}

fn node(json: &Value, inside_computed: bool) -> Option<Node> {
    let flags = json.get("f").and_then(Value::as_str).unwrap_or_default();
    let (required, optional) = (flags.contains('!'), flags.contains('?'));
    let configurable = (required || optional) && !inside_computed;
    let children: Option<Vec<Node>> = json.get("k").and_then(Value::as_array).map(|kids| {
        let mut nodes: Vec<Node> = kids.iter().filter_map(|k| node(k, !configurable)).collect();
        nodes.sort_by(|a, b| a.name.cmp(&b.name));
        nodes
    });
    let element = match json.get("e").and_then(Value::as_str) {
        Some("int") => Element::Int,
        Some("float") => Element::Float,
        Some("bool") => Element::Bool,
        _ => Element::String,
    };
    let kind = match (json.get("t").and_then(Value::as_str)?, &children) {
        ("string", _) => NodeKind::String,
        ("int", _) => NodeKind::Int,
        ("float", _) => NodeKind::Float,
        ("bool", _) => NodeKind::Bool,
        ("map", _) => NodeKind::Map(element),
        ("list", None) => NodeKind::List(element),
        ("set", None) => NodeKind::Set(element),
        ("list", Some(_)) => NodeKind::Objects,
        ("set", Some(_)) => NodeKind::ObjectSet,
        _ => return None,
    };
    let block = children.is_some() && configurable;
    let children = children.unwrap_or_default();
    Some(Node {
        name: text(json, "n")?,
        kind,
        required,
        optional,
        computed: flags.contains('='),
        force_new: flags.contains('#'),
        default: json.get("d").cloned(),
        max_one: flag(json, "x"),
        sensitive: flag(json, "s"),
        write_only: flag(json, "w"),
        deprecated: flag(json, "dep"),
        suppress: json.get("sup").and_then(Value::as_str).map(suppress),
        path: json.get("p").and_then(Value::as_str).map(|p| {
            p.split('.')
                .filter(|part| !part.is_empty())
                .map(Arc::from)
                .collect()
        }),
        wire: wire(json.get("wt").and_then(Value::as_str).unwrap_or("any")),
        via: text(json, "via"),
        reference: text(json, "ref"),
        name_only: json.get("flat").and_then(Value::as_str) == Some("name"),
        in_url: flag(json, "u"),
        read_only: flag(json, "ro"),
        values: texts(json, "en"),
        block,
        ty: type_of(kind, &children),
        children,
    })
}

fn local(name: &str, kind: NodeKind, optional: bool, computed: bool, children: Vec<Node>) -> Node {
    Node {
        name: Arc::from(name),
        kind,
        required: false,
        optional,
        computed,
        force_new: false,
        default: None,
        max_one: false,
        sensitive: false,
        write_only: false,
        deprecated: false,
        suppress: None,
        path: None,
        wire: Wire::Any,
        via: None,
        reference: None,
        name_only: false,
        in_url: false,
        read_only: false,
        values: Vec::new(),
        block: false,
        ty: type_of(kind, &children),
        children,
    }
}

fn id_node() -> Node {
    local("id", NodeKind::String, true, true, Vec::new())
}

fn timeouts_node(timeouts: &BTreeMap<Arc<str>, Duration>) -> Node {
    let children = timeouts
        .keys()
        .map(|key| local(key, NodeKind::String, true, false, Vec::new()))
        .collect();
    local("timeouts", NodeKind::Timeouts, true, false, children)
}

fn wire(text: &str) -> Wire {
    match text {
        "string" => Wire::String,
        "int" => Wire::Int,
        "int64" => Wire::Int64,
        "number" => Wire::Number,
        "bool" => Wire::Bool,
        "object" => Wire::Object,
        "items" => Wire::Items,
        _ => {
            if let Some(rest) = text.strip_prefix("array:") {
                Wire::Array(Box::new(wire(rest)))
            } else if let Some(rest) = text.strip_prefix("map:") {
                Wire::Map(Box::new(wire(rest)))
            } else {
                Wire::Any
            }
        }
    }
}

fn suppress(text: &str) -> Suppress {
    match text {
        "link_or_name" => Suppress::LinkOrName,
        "link" => Suppress::Link,
        "last_segment" => Suppress::LastSegment,
        "key_version" => Suppress::KeyVersion,
        "case" => Suppress::Case,
        "netmask" => Suppress::Netmask,
        "address" => Suppress::Address,
        "duration" => Suppress::Duration,
        "time" => Suppress::Time,
        "image" => Suppress::Image,
        "port_range" => Suppress::PortRange,
        "base64" => Suppress::Base64,
        "trim" => Suppress::Trim,
        "hourly" => Suppress::Hourly,
        "empty_block" => Suppress::EmptyBlock,
        "firewall_sources" => Suppress::FirewallSources,
        "scope" => Suppress::Scope,
        "bucket" => Suppress::Bucket,
        "project" => Suppress::Project,
        _ => match text.strip_prefix("default:") {
            Some(value) => Suppress::Default(Arc::from(value)),
            None => Suppress::Other(Arc::from(text)),
        },
    }
}

fn method(json: &Value) -> Option<MethodMapping> {
    Some(MethodMapping {
        id: text(json, "id")?,
        http: text(json, "http")?,
        url: text(json, "url")?,
        query: json
            .get("q")
            .and_then(Value::as_object)
            .into_iter()
            .flatten()
            .filter_map(|(k, v)| Some((Arc::from(k.as_str()), Arc::from(v.as_str()?))))
            .collect(),
        request_id: flag(json, "rid"),
        operation: text(json, "op"),
    })
}

fn no_update() -> UpdateMapping {
    UpdateMapping {
        style: UpdateStyle::None,
        mask: false,
        setters: Vec::new(),
    }
}

fn update(json: &Value) -> UpdateMapping {
    UpdateMapping {
        style: match json.get("style").and_then(Value::as_str) {
            Some("patch") => UpdateStyle::Patch,
            Some("put") => UpdateStyle::Put,
            Some("post") => UpdateStyle::Post,
            Some("setters") => UpdateStyle::Setters,
            Some("iam") => UpdateStyle::Iam,
            Some("hook") => UpdateStyle::Hook,
            _ => UpdateStyle::None,
        },
        mask: flag(json, "mask"),
        setters: json
            .get("setters")
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
            .filter_map(|s| {
                Some(Setter {
                    fields: texts(s, "fields"),
                    http: text(s, "http")?,
                    url: text(s, "url")?,
                    fingerprint: text(s, "fp"),
                    shape: text(s, "shape"),
                })
            })
            .collect(),
    }
}
