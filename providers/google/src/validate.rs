//! What can be told to be wrong of a configuration without asking Google.
//!
//! Errors are for what Google refuses for certain: names, ranges, sizes, blocks that exclude each
//! other. A value that Google's documents do not list is a warning only, since a newer one may exist.

use formwork_diagnostics::{Diagnostic, nearest};
use formwork_google_schema::{Node, NodeKind, Resource, Suppress};
use formwork_provider::Reported;
use formwork_values::{Kind, Path, Value};

use crate::draft::text;

/// Checks the configuration of a resource.
pub(crate) fn resource(resource: &Resource, config: &Value) -> Vec<Reported> {
    let mut reported = Vec::new();
    let mut path = Path::ROOT;
    values(&resource.fields, config, &mut path, &mut reported);
    name(resource, config, &mut reported);
    ranges(resource, config, &mut reported);
    match &*resource.name {
        "google_compute_network" => mtu(config, &mut reported),
        "google_compute_firewall" => firewall(config, &mut reported),
        "google_compute_instance" | "google_compute_instance_template" => {
            scheduling(config, &mut reported);
        }
        _ => {}
    }
    reported
}

fn error(path: Path, summary: &str, detail: String) -> Reported {
    Reported::at(path, Diagnostic::error(summary, detail))
}

/// Values that the API's documents do not list.
fn values(nodes: &[Node], object: &Value, path: &mut Path, reported: &mut Vec<Reported>) {
    let Kind::Object(_, all) = object.kind() else {
        return;
    };
    for (node, value) in nodes.iter().zip(all) {
        path.push(formwork_values::Step::Attribute(node.name.clone()));
        if node.is_nested() {
            for (i, item) in value.as_sequence().unwrap_or_default().iter().enumerate() {
                let key = if node.kind == NodeKind::ObjectSet {
                    item.clone()
                } else {
                    Value::int(i64::try_from(i).unwrap_or(i64::MAX))
                };
                path.push(formwork_values::Step::Index(key));
                values(&node.children, item, path, reported);
                path.pop();
            }
        } else if !node.values.is_empty() {
            let one = |said: &str| {
                let known = node.values.iter().any(|v| {
                    **v == *said
                        || (node.suppress == Some(Suppress::Case) && v.eq_ignore_ascii_case(said))
                });
                (!known && !said.is_empty()).then(|| unlisted(node, said))
            };
            let said: Vec<&str> = match value.kind() {
                Kind::String(s) => vec![&**s],
                Kind::List(items) | Kind::Set(items) => {
                    items.iter().filter_map(Value::as_str).collect()
                }
                _ => Vec::new(),
            };
            for warning in said.into_iter().filter_map(one) {
                reported.push(Reported::at(path.clone(), warning));
            }
        }
        path.pop();
    }
}

fn unlisted(node: &Node, said: &str) -> Diagnostic {
    let hint = nearest(said, node.values.iter().map(|v| &**v))
        .map(|v| format!(" Did you mean \"{v}\"?"))
        .unwrap_or_default();
    let listed: Vec<String> = node
        .values
        .iter()
        .filter(|v| !v.ends_with("UNSPECIFIED"))
        .map(|v| format!("\"{v}\""))
        .collect();
    Diagnostic::warning(
        "Value that Google does not list",
        format!(
            "Google's documents do not list \"{said}\" for {}.{hint} Listed are {}.",
            node.name,
            listed.join(", ")
        ),
    )
}

/// RFC 1035 labels, which compute's names are.
fn is_label(name: &str) -> bool {
    let bytes = name.as_bytes();
    let ok = |b: &u8| b.is_ascii_lowercase() || b.is_ascii_digit() || *b == b'-';
    (1..=63).contains(&bytes.len())
        && bytes.first().is_some_and(u8::is_ascii_lowercase)
        && bytes.iter().all(ok)
        && bytes.last() != Some(&b'-')
}

fn name(resource: &Resource, config: &Value, reported: &mut Vec<Reported>) {
    let mut check = |attribute: &str, ok: &dyn Fn(&str) -> bool, rule: &str| {
        if let Some(said) = text(config, attribute)
            && !ok(said)
        {
            reported.push(error(
                Path::ROOT.attribute(attribute),
                "Invalid name",
                format!(
                    "\"{said}\" cannot be the {attribute} of a {}: {rule}.",
                    resource.name
                ),
            ));
        }
    };
    match (&*resource.service, &*resource.name) {
        ("compute", _) => check(
            "name",
            &is_label,
            "it must be 1 to 63 lower-case letters, digits and dashes, begin with a letter and not end with a dash",
        ),
        (_, "google_storage_bucket") => check(
            "name",
            &|n| {
                (3..=222).contains(&n.len())
                    && n.bytes().all(|b| {
                        b.is_ascii_lowercase()
                            || b.is_ascii_digit()
                            || matches!(b, b'-' | b'_' | b'.')
                    })
                    && n.bytes().next().is_some_and(|b| b.is_ascii_alphanumeric())
                    && n.bytes().last().is_some_and(|b| b.is_ascii_alphanumeric())
            },
            "it must be 3 to 63 lower-case letters, digits, dashes, underscores and dots, and begin and end with a letter or digit",
        ),
        (_, "google_service_account") => check(
            "account_id",
            &|n| (6..=30).contains(&n.len()) && is_label(n),
            "it must be 6 to 30 lower-case letters, digits and dashes, begin with a letter and not end with a dash",
        ),
        (_, "google_filestore_instance") => check(
            "name",
            &is_label,
            "it must be 1 to 63 lower-case letters, digits and dashes, begin with a letter and not end with a dash",
        ),
        _ => {}
    }
}

/// Whether a text is an address range, with no bits set beyond its length.
fn range(text: &str) -> Result<(), String> {
    let (address, bits) = match text.split_once('/') {
        Some((address, bits)) => (address, bits.parse::<u32>().ok()),
        None => (text, None),
    };
    let (value, width) = match address.parse() {
        Ok(std::net::IpAddr::V4(a)) => (u128::from(u32::from(a)), 32u32),
        Ok(std::net::IpAddr::V6(a)) => (u128::from(a), 128),
        Err(_) => return Err(format!("\"{text}\" is no address range")),
    };
    match (bits, text.contains('/')) {
        (None, true) => Err(format!("\"{text}\" has no length that could be read")),
        (Some(bits), _) if bits > width => Err(format!("\"{text}\" has more than {width} bits")),
        (Some(bits), _) if bits < width && value & ((1u128 << (width - bits)) - 1) != 0 => {
            Err(format!("\"{text}\" has bits set beyond its length"))
        }
        _ => Ok(()),
    }
}

fn ranges(resource: &Resource, config: &Value, reported: &mut Vec<Reported>) {
    let names: &[&str] = match &*resource.name {
        "google_compute_subnetwork" => &["ip_cidr_range"],
        "google_compute_firewall" => &["source_ranges", "destination_ranges"],
        "google_compute_route" => &["dest_range"],
        _ => return,
    };
    for name in names {
        let Some(value) = config.attribute(name) else {
            continue;
        };
        let said: Vec<&str> = match value.kind() {
            Kind::String(s) => vec![&**s],
            Kind::Set(items) | Kind::List(items) => {
                items.iter().filter_map(Value::as_str).collect()
            }
            _ => continue,
        };
        for wrong in said.into_iter().filter_map(|s| range(s).err()) {
            reported.push(error(
                Path::ROOT.attribute(*name),
                "Invalid address range",
                format!("{wrong}. A range is written as its first address and its length, like \"10.0.0.0/16\"."),
            ));
        }
    }
}

fn mtu(config: &Value, reported: &mut Vec<Reported>) {
    let Some(Kind::Number(mtu)) = config.attribute("mtu").map(Value::kind) else {
        return;
    };
    if !mtu
        .to_i64()
        .is_some_and(|m| (1300..=8896).contains(&m) || m == 0)
    {
        reported.push(error(
            Path::ROOT.attribute("mtu"),
            "Invalid MTU",
            format!("The MTU is {}; Google takes 1300 to 8896.", mtu.to_text()),
        ));
    }
}

fn firewall(config: &Value, reported: &mut Vec<Reported>) {
    let blocks = |name: &str| {
        config
            .attribute(name)
            .filter(|v| v.is_known())
            .map(|v| v.as_sequence().map_or(0, <[_]>::len))
    };
    match (blocks("allow"), blocks("deny")) {
        (Some(0), Some(0)) => reported.push(error(
            Path::ROOT,
            "Invalid combination of arguments",
            "A firewall rule needs at least one allow or deny block, which says what it is about.".into(),
        )),
        (Some(a), Some(d)) if a > 0 && d > 0 => reported.push(error(
            Path::ROOT.attribute("deny"),
            "Invalid combination of arguments",
            "A firewall rule either allows or denies. Write two rules, one with the allow blocks and one with the deny blocks.".into(),
        )),
        _ => {}
    }
}

/// A spot machine that Google stops does not come back by itself, and Google refuses to promise it.
fn scheduling(config: &Value, reported: &mut Vec<Reported>) {
    let Some([block, ..]) = config.attribute("scheduling").and_then(Value::as_sequence) else {
        return;
    };
    if text(block, "provisioning_model") != Some("SPOT") {
        return;
    }
    let restart = block.attribute("automatic_restart");
    if restart.is_some_and(|r| r.is_null() || r.as_bool() == Some(true)) {
        reported.push(error(
            Path::ROOT.attribute("scheduling").position(0).attribute("automatic_restart"),
            "Invalid combination of arguments",
            "A machine with provisioning_model = \"SPOT\" cannot be restarted automatically. Set automatic_restart = false.".into(),
        ));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value as Json, json};

    fn check(kind: &str, config: Json) -> Vec<String> {
        let config = crate::mock_tests::lab::configured(kind, config);
        let kind = formwork_google_schema::resource(kind).unwrap();
        resource(&kind, &config)
            .iter()
            .map(|r| {
                format!(
                    "{}{}: {}",
                    if r.is_error() { "" } else { "warning " },
                    r.path,
                    r.diagnostic.summary
                )
            })
            .collect()
    }

    #[test]
    fn what_google_refuses_for_certain() {
        let cases = [
            (
                "google_compute_network",
                json!({"name": "n", "mtu": 8896}),
                "",
            ),
            (
                "google_compute_network",
                json!({"name": "N"}),
                "Invalid name",
            ),
            (
                "google_compute_network",
                json!({"name": "n-"}),
                "Invalid name",
            ),
            (
                "google_compute_network",
                json!({"name": "n", "mtu": 9000}),
                "Invalid MTU",
            ),
            (
                "google_compute_subnetwork",
                json!({"name": "n", "network": "n", "ip_cidr_range": "10.0.0.0/8"}),
                "",
            ),
            (
                "google_compute_subnetwork",
                json!({"name": "n", "network": "n", "ip_cidr_range": "10.0.0.1/8"}),
                "Invalid address range",
            ),
            (
                "google_compute_subnetwork",
                json!({"name": "n", "network": "n", "ip_cidr_range": "ten"}),
                "Invalid address range",
            ),
            (
                "google_compute_firewall",
                json!({"name": "n", "network": "n", "allow": [{"protocol": "tcp"}], "source_ranges": ["10.0.0.1", "fd00::/8"]}),
                "",
            ),
            (
                "google_compute_firewall",
                json!({"name": "n", "network": "n"}),
                "Invalid combination of arguments",
            ),
            (
                "google_compute_firewall",
                json!({"name": "n", "network": "n", "allow": [{"protocol": "tcp"}], "deny": [{"protocol": "udp"}]}),
                "Invalid combination of arguments",
            ),
            (
                "google_compute_instance",
                json!({"name": "n", "machine_type": "m", "scheduling": [{"provisioning_model": "SPOT"}]}),
                "Invalid combination of arguments",
            ),
            (
                "google_compute_instance",
                json!({"name": "n", "machine_type": "m", "scheduling": [{"provisioning_model": "SPOT", "automatic_restart": false}]}),
                "",
            ),
            (
                "google_compute_instance",
                json!({"name": "n", "machine_type": "m", "network_interface": [{"nic_type": "MRDAM"}]}),
                "Value that Google does not list",
            ),
            (
                "google_service_account",
                json!({"account_id": "abc"}),
                "Invalid name",
            ),
            (
                "google_storage_bucket",
                json!({"name": "Upper", "location": "US"}),
                "Invalid name",
            ),
        ];
        for (kind, config, summary) in cases {
            let found = check(kind, config.clone());
            if summary.is_empty() {
                assert!(found.is_empty(), "{config}: {found:?}");
            } else {
                assert!(
                    found.len() == 1 && found[0].ends_with(summary),
                    "{config}: {found:?}"
                );
            }
        }
        let found = check(
            "google_compute_instance",
            json!({"name": "n", "machine_type": "m", "network_interface": [{"nic_type": "MRDAM"}]}),
        );
        assert!(
            found[0].starts_with("warning ") && found[0].contains("nic_type"),
            "{found:?}"
        );
    }
}
