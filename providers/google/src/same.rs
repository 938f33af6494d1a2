//! Differences that are none: when two spellings mean one value.

use formwork_google_schema::{Node, NodeKind, Suppress};
use formwork_values::{Kind, Value};

use crate::names;

/// Whether a value says as much as null: false, zero, empty text, nothing inside, or an object of
/// such.
pub(crate) fn is_zero(value: &Value) -> bool {
    match value.kind() {
        Kind::Null(_) => true,
        Kind::Bool(b) => !b,
        Kind::Number(n) => n.is_zero(),
        Kind::String(s) => s.is_empty(),
        Kind::List(v) | Kind::Set(v) | Kind::Tuple(v) => v.is_empty(),
        Kind::Map(m) => m.is_empty(),
        Kind::Object(_, v) => v.iter().all(is_zero),
        Kind::Unknown(_) | Kind::Marked(..) => false,
    }
}

/// Whether nested objects say no more than their defaults: what a server fills in where the
/// configuration has no block.
pub(crate) fn is_idle(node: &Node, value: &Value) -> bool {
    match value.kind() {
        Kind::List(objects) | Kind::Set(objects) if node.is_nested() => {
            objects.iter().all(|object| match object.kind() {
                Kind::Object(_, values) => node
                    .children
                    .iter()
                    .zip(values)
                    .all(|(child, v)| is_idle(child, v)),
                _ => is_zero(object),
            })
        }
        _ => is_zero(value) || is_default(node, value),
    }
}

/// Whether a value is the node's default.
pub(crate) fn is_default(node: &Node, value: &Value) -> bool {
    let Some(default) = &node.default else {
        return false;
    };
    match (value.kind(), default) {
        (Kind::Bool(b), serde_json::Value::Bool(d)) => b == *d,
        (Kind::String(s), serde_json::Value::String(d)) => **s == **d,
        (Kind::Number(n), serde_json::Value::Number(d)) => {
            n.to_f64_exact() == d.as_f64() || n.to_text() == d.to_string()
        }
        _ => false,
    }
}

/// Whether two known values of a node mean the same.
pub(crate) fn same(node: &Node, a: &Value, b: &Value) -> bool {
    if a == b {
        return true;
    }
    let empty = |v: &Value| matches!(v.kind(), Kind::Null(_)) || v.as_str() == Some("");
    match node.kind {
        NodeKind::String => match (a.as_str(), b.as_str()) {
            (Some(x), Some(y)) => same_text(node.suppress.as_ref(), node.name_only, x, y),
            (Some(x), None) if empty(b) => is_stand_in(node, x),
            (None, Some(y)) if empty(a) => is_stand_in(node, y),
            _ => empty(a) && empty(b),
        },
        NodeKind::Set(_) | NodeKind::List(_) => {
            if node.suppress == Some(Suppress::FirewallSources) {
                let anywhere = |v: &Value| {
                    v.as_sequence()
                        .is_some_and(|s| s.len() == 1 && s[0].as_str() == Some("0.0.0.0/0"))
                };
                if (is_zero(a) && anywhere(b)) || (is_zero(b) && anywhere(a)) {
                    return true;
                }
            }
            let (Some(x), Some(y)) = (a.as_sequence(), b.as_sequence()) else {
                return is_zero(a) && is_zero(b) && a.is_known() && b.is_known();
            };
            let pair = |x: &Value, y: &Value| match (x.as_str(), y.as_str()) {
                (Some(x), Some(y)) => {
                    x == y || same_text(node.suppress.as_ref(), node.reference.is_some(), x, y)
                }
                _ => x == y,
            };
            if x.len() != y.len() {
                return false;
            }
            if matches!(node.kind, NodeKind::Set(_)) {
                let mut left: Vec<&Value> = y.iter().collect();
                x.iter().all(|one| {
                    left.iter()
                        .position(|other| pair(one, other))
                        .map(|at| left.swap_remove(at))
                        .is_some()
                })
            } else {
                x.iter().zip(y).all(|(x, y)| pair(x, y))
            }
        }
        NodeKind::Int | NodeKind::Float | NodeKind::Bool => {
            // Absent and zero are one where the wire does not carry zeros.
            (a.is_null() && is_zero(b)) || (b.is_null() && is_zero(a))
        }
        NodeKind::Map(_) => is_zero(a) && is_zero(b),
        NodeKind::Objects | NodeKind::ObjectSet | NodeKind::Timeouts => false,
    }
}

/// Whether a text stands for "nothing said".
fn is_stand_in(node: &Node, text: &str) -> bool {
    match &node.suppress {
        Some(Suppress::Default(default)) => text == &**default || text.is_empty(),
        _ => text.is_empty(),
    }
}

fn same_text(rule: Option<&Suppress>, by_name: bool, a: &str, b: &str) -> bool {
    if a == b {
        return true;
    }
    if by_name && names::same_link_or_name(a, b) {
        return true;
    }
    match rule {
        None | Some(Suppress::Other(_) | Suppress::EmptyBlock | Suppress::FirewallSources) => false,
        Some(Suppress::LinkOrName) => names::same_link_or_name(a, b),
        Some(Suppress::Link) => names::same_link(a, b),
        Some(Suppress::LastSegment) => names::last(a) == names::last(b),
        Some(Suppress::Image) => same_image(a, b),
        Some(Suppress::KeyVersion) => {
            let base = |s: &str| {
                names::relative(s)
                    .split("/cryptoKeyVersions/")
                    .next()
                    .unwrap_or_default()
                    .to_owned()
            };
            base(a) == base(b)
        }
        Some(Suppress::Case) => a.eq_ignore_ascii_case(b),
        Some(Suppress::Netmask) => same_netmask(a, b),
        Some(Suppress::Address) => {
            match (a.parse::<std::net::IpAddr>(), b.parse::<std::net::IpAddr>()) {
                (Ok(a), Ok(b)) => a == b,
                _ => false,
            }
        }
        Some(Suppress::Duration) => match (seconds(a), seconds(b)) {
            (Some(a), Some(b)) => (a - b).abs() < 1e-9,
            _ => false,
        },
        Some(Suppress::Time) => {
            let plain = |s: &str| s.replace(".000", "").replace("+00:00", "Z");
            plain(a) == plain(b)
        }
        Some(Suppress::PortRange) => {
            let range = |s: &str| {
                if s.contains('-') {
                    s.to_owned()
                } else {
                    format!("{s}-{s}")
                }
            };
            range(a) == range(b)
        }
        Some(Suppress::Base64) => a.trim_end_matches('=') == b.trim_end_matches('='),
        Some(Suppress::Trim) => a.trim() == b.trim(),
        Some(Suppress::Hourly) => a.trim_start_matches('0') == b.trim_start_matches('0'),
        Some(Suppress::Default(default)) => {
            (a.is_empty() && b == &**default) || (b.is_empty() && a == &**default)
        }
        Some(Suppress::Scope) => scope(a) == scope(b),
        Some(Suppress::Bucket) => {
            a.strip_prefix("b/").unwrap_or(a) == b.strip_prefix("b/").unwrap_or(b)
        }
        Some(Suppress::Project) => {
            a.strip_prefix("projects/").unwrap_or(a) == b.strip_prefix("projects/").unwrap_or(b)
        }
    }
}

/// Short names of access scopes, and what comes after `https://www.googleapis.com/auth/` in full.
const SCOPES: [(&str, &str); 23] = [
    ("bigquery", "bigquery"),
    ("cloud-platform", "cloud-platform"),
    ("cloud-source-repos", "source.full_control"),
    ("cloud-source-repos-ro", "source.read_only"),
    ("compute-ro", "compute.readonly"),
    ("compute-rw", "compute"),
    ("datastore", "datastore"),
    ("logging-write", "logging.write"),
    ("monitoring", "monitoring"),
    ("monitoring-read", "monitoring.read"),
    ("monitoring-write", "monitoring.write"),
    ("pubsub", "pubsub"),
    ("service-control", "servicecontrol"),
    ("service-management", "service.management.readonly"),
    ("sql", "sqlservice"),
    ("sql-admin", "sqlservice.admin"),
    ("storage-full", "devstorage.full_control"),
    ("storage-ro", "devstorage.read_only"),
    ("storage-rw", "devstorage.read_write"),
    ("taskqueue", "taskqueue"),
    ("trace", "trace.append"),
    ("useraccounts-ro", "cloud.useraccounts.readonly"),
    ("userinfo-email", "userinfo.email"),
];

/// A scope in full: the only form that the API takes.
pub(crate) fn scope(name: &str) -> String {
    match SCOPES.iter().find(|(short, _)| *short == name) {
        Some((_, rest)) => format!("https://www.googleapis.com/auth/{rest}"),
        None => name.to_owned(),
    }
}

/// `/24` against `10.1.2.0/24`, `10.0.0.1` against `10.0.0.1/32`.
fn same_netmask(a: &str, b: &str) -> bool {
    let split = |s: &str| match s.split_once('/') {
        Some((address, bits)) => (address.to_owned(), bits.to_owned()),
        None => (
            s.to_owned(),
            if s.contains(':') { "128" } else { "32" }.to_owned(),
        ),
    };
    let ((a, x), (b, y)) = (split(a), split(b));
    x == y && (a.is_empty() || b.is_empty() || a == b)
}

/// An image's link against a family, a short name, or a family's link: whether the one may stand for
/// the other can be told by name only; the resolved name begins with the family's.
fn same_image(a: &str, b: &str) -> bool {
    if names::same_link_or_name(a, b) {
        return true;
    }
    let family = |s: &str| names::relative(s).contains("/family/");
    let project = |s: &str| names::after(names::relative(s), "projects").map(str::to_owned);
    let may_be = |short: &str, full: &str| {
        let name = names::last(short);
        let resolved = names::last(full);
        let projects = match (project(short), project(full)) {
            (Some(x), Some(y)) => x == y,
            // debian-cloud/debian-12
            (None, Some(y)) => short.split('/').next().is_none_or(|head| {
                !short.contains('/') || head == "family" || head == "global" || head == y
            }),
            _ => true,
        };
        projects && (resolved == name || resolved.starts_with(&format!("{name}-")))
    };
    match (family(a), family(b)) {
        (true, false) => may_be(a, b),
        (false, true) => may_be(b, a),
        _ if a.len() < b.len() => may_be(a, b),
        _ => may_be(b, a),
    }
}

/// A duration in seconds: `3600s`, `1h30m`, `60.5s`.
pub(crate) fn seconds(text: &str) -> Option<f64> {
    let (mut total, mut rest) = (0.0, text.trim());
    if rest.is_empty() {
        return None;
    }
    while !rest.is_empty() {
        let digits = rest
            .find(|c: char| !(c.is_ascii_digit() || c == '.'))
            .unwrap_or(rest.len());
        let number: f64 = rest[..digits].parse().ok()?;
        rest = &rest[digits..];
        let unit = rest
            .find(|c: char| c.is_ascii_digit())
            .unwrap_or(rest.len());
        total += number
            * match &rest[..unit] {
                "s" => 1.0,
                "m" => 60.0,
                "h" => 3600.0,
                "ms" => 0.001,
                _ => return None,
            };
        rest = &rest[unit..];
    }
    Some(total)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spellings_of_text() {
        let t = |rule: Suppress, a: &str, b: &str| same_text(Some(&rule), false, a, b);
        let yes = [
            (Suppress::Case, "tcp", "TCP"),
            (Suppress::Netmask, "/24", "10.1.0.0/24"),
            (Suppress::Netmask, "10.0.0.1", "10.0.0.1/32"),
            (Suppress::Address, "2001:db8::1", "2001:0db8:0:0:0:0:0:1"),
            (Suppress::Duration, "1m", "60s"),
            (Suppress::Duration, "3600.0s", "1h"),
            (Suppress::PortRange, "80", "80-80"),
            (Suppress::Hourly, "4:00", "04:00"),
            (
                Suppress::LastSegment,
                "pd-ssd",
                "projects/p/zones/z/diskTypes/pd-ssd",
            ),
            (
                Suppress::KeyVersion,
                "projects/p/keys/k",
                "projects/p/keys/k/cryptoKeyVersions/3",
            ),
            (Suppress::Bucket, "b/x", "x"),
            (
                Suppress::Scope,
                "storage-ro",
                "https://www.googleapis.com/auth/devstorage.read_only",
            ),
            (
                Suppress::Image,
                "debian-cloud/debian-12",
                "https://www.googleapis.com/compute/v1/projects/debian-cloud/global/images/debian-12-bookworm-v2",
            ),
            (
                Suppress::Image,
                "projects/debian-cloud/global/images/family/debian-12",
                "projects/debian-cloud/global/images/debian-12-bookworm-v2",
            ),
        ];
        for (rule, a, b) in yes {
            assert!(t(rule.clone(), a, b) && t(rule, b, a), "{a} {b}");
        }
        let no = [
            (Suppress::Netmask, "/24", "10.1.0.0/20"),
            (Suppress::Duration, "1m", "61s"),
            (
                Suppress::Image,
                "debian-cloud/debian-11",
                "projects/debian-cloud/global/images/debian-12-x",
            ),
            (
                Suppress::Image,
                "a/debian-12",
                "projects/b/global/images/debian-12-x",
            ),
            (Suppress::Other("x".into()), "a", "b"),
        ];
        for (rule, a, b) in no {
            assert!(!t(rule.clone(), a, b) && !t(rule, b, a), "{a} {b}");
        }
    }
}
