//! What an object takes up: addresses, quota, capacity, reserved machines.
//!
//! Handlers write what an object uses into its hidden field `uses`, keyed by what is used; the store
//! sums it up. So a stopped machine, a failed insert and a deleted disk give back what they took
//! without anybody counting.
//!
//! | key | counts |
//! |---|---|
//! | `quota/PROJECT/REGION-or-global/METRIC` | against a quota of the scenario |
//! | `machines/ZONE/MACHINE-TYPE` | against the capacity of a zone |
//! | `reservation/KEY` | machines of a reservation |
//! | `block/KEY` | machines of a block of a reservation |

use std::net::Ipv4Addr;

use serde_json::Value;

use crate::links::key_of;
use crate::store::Object;

/// Amounts by key.
pub(crate) fn amounts(_key: &str, object: &Object) -> Vec<(String, i64)> {
    let Some(Value::Object(uses)) = object.hidden.get("uses") else {
        return Vec::new();
    };
    uses.iter()
        .filter_map(|(what, amount)| Some((what.clone(), amount.as_i64()?)))
        .collect()
}

/// The IPv4 addresses that an object holds, each with its place: `nic/SUBNETWORK-KEY` for one on an
/// interface, `reserved/SUBNETWORK-KEY` for a reserved one, `nic/external` and `reserved/external`.
pub(crate) fn addresses(object: &Object) -> Vec<(String, Ipv4Addr)> {
    let mut out = Vec::new();
    let mut hold = |kind: &str, subnetwork: Option<&Value>, address: Option<&Value>| {
        let Some(address) = address
            .and_then(Value::as_str)
            .and_then(|text| text.parse().ok())
        else {
            return;
        };
        let place = subnetwork
            .and_then(Value::as_str)
            .and_then(key_of)
            .unwrap_or_else(|| "external".to_owned());
        out.push((format!("{kind}/{place}"), address));
    };
    match object.collection.as_str() {
        "compute.instances" => {
            for nic in list(object.body.get("networkInterfaces")) {
                hold("nic", nic.get("subnetwork"), nic.get("networkIP"));
                for access in list(nic.get("accessConfigs")) {
                    hold("nic", None, access.get("natIP"));
                }
            }
        }
        "compute.addresses" | "compute.globalAddresses" => {
            hold(
                "reserved",
                object.body.get("subnetwork"),
                object.body.get("address"),
            );
        }
        _ => {}
    }
    out
}

/// The items of a list; none of anything else.
pub(crate) fn list(value: Option<&Value>) -> &[Value] {
    value.and_then(Value::as_array).map_or(&[], Vec::as_slice)
}
