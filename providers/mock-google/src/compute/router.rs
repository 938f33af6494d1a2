//! Routers with their NATs, and static routes.

use serde_json::{Value, json};

use super::cidr::Range;
use super::generic::Making;
use super::network::{blocked, profile_of};
use crate::checking::Body;
use crate::error::ApiError;
use crate::transaction::Transaction;

pub(crate) fn prepare(making: &mut Making, tx: &mut Transaction) -> Result<(), ApiError> {
    making.take(tx, "ROUTERS", 1)?;
    let network = making.text("network").unwrap_or_default();
    if let Some(profile) = profile_of(network, tx) {
        if !profile.allows("CloudRouter") {
            return Err(blocked("resource.network", network, "Cloud Routers"));
        }
        if making.body.contains_key("nats") && !profile.allows("CloudNat") {
            return Err(blocked("resource.nats", "", "Cloud NAT"));
        }
    }
    if making.text("encryptedInterconnectRouter").is_none() {
        making.default("encryptedInterconnectRouter", false);
    }
    revise(&mut making.body)
}

/// Checks and fills in the parts of a router, on creation and on every change.
pub(crate) fn revise(body: &mut Body) -> Result<(), ApiError> {
    if let Some(Value::Object(bgp)) = body.get_mut("bgp") {
        bgp.entry("advertiseMode").or_insert("DEFAULT".into());
        bgp.entry("keepaliveInterval").or_insert(20.into());
    }
    for interface in body
        .get_mut("interfaces")
        .and_then(Value::as_array_mut)
        .into_iter()
        .flatten()
        .filter_map(Value::as_object_mut)
    {
        if interface
            .get("ipRange")
            .and_then(Value::as_str)
            .is_none_or(|range| !range.contains("::"))
        {
            interface.entry("ipVersion").or_insert("IPV4".into());
        }
    }
    let mut names = std::collections::BTreeSet::new();
    for (index, nat) in body
        .get_mut("nats")
        .and_then(Value::as_array_mut)
        .into_iter()
        .flatten()
        .enumerate()
    {
        let Some(nat) = nat.as_object_mut() else {
            continue;
        };
        let field = |name: &str| format!("resource.nats[{index}].{name}");
        let name = nat.get("name").and_then(Value::as_str).unwrap_or_default();
        if !super::generic::is_name(name) {
            return Err(ApiError::invalid(&field("name"), name, "Must be a name."));
        }
        if !names.insert(name.to_owned()) {
            return Err(ApiError::invalid(
                &field("name"),
                name,
                "The name is taken by another NAT of the router.",
            ));
        }
        nat.entry("type").or_insert("PUBLIC".into());
        if nat.get("type").is_some_and(|kind| kind == "PUBLIC") {
            let automatic = match nat.get("natIpAllocateOption").and_then(Value::as_str) {
                Some(option) => option == "AUTO_ONLY",
                None => {
                    return Err(ApiError::required(&field("natIpAllocateOption")));
                }
            };
            let given = !crate::usage::list(nat.get("natIps")).is_empty();
            if automatic == given {
                return Err(ApiError::invalid(
                    &field("natIps"),
                    "",
                    "Addresses are given with MANUAL_ONLY, and with it alone.",
                ));
            }
            nat.entry("autoNetworkTier").or_insert("PREMIUM".into());
        }
        let listed = nat
            .get("sourceSubnetworkIpRangesToNat")
            .and_then(Value::as_str)
            .ok_or_else(|| ApiError::required(&field("sourceSubnetworkIpRangesToNat")))?
            == "LIST_OF_SUBNETWORKS";
        if listed == crate::usage::list(nat.get("subnetworks")).is_empty() {
            return Err(ApiError::invalid(
                &field("subnetworks"),
                "",
                "Subnetworks are listed with LIST_OF_SUBNETWORKS, and with it alone.",
            ));
        }
        nat.entry("endpointTypes")
            .or_insert(json!(["ENDPOINT_TYPE_VM"]));
        nat.entry("effectiveTcpTimeWaitTimeoutSec")
            .or_insert(120.into());
    }
    Ok(())
}

pub(crate) fn prepare_route(making: &mut Making, tx: &mut Transaction) -> Result<(), ApiError> {
    making.take(tx, "ROUTES", 1)?;
    let network = making.text("network").unwrap_or_default();
    if profile_of(network, tx).is_some_and(|profile| !profile.allows("StaticRoutes")) {
        return Err(blocked("resource.network", network, "static routes"));
    }
    let range = making.text("destRange").unwrap_or_default();
    if !range.contains(':') {
        Range::parse(range).map_err(|why| ApiError::invalid("resource.destRange", range, why))?;
    }
    let hops = [
        "nextHopInstance",
        "nextHopIp",
        "nextHopNetwork",
        "nextHopGateway",
        "nextHopVpnTunnel",
        "nextHopIlb",
        "nextHopPeering",
        "nextHopHub",
    ];
    if hops
        .iter()
        .filter(|hop| making.body.contains_key(**hop))
        .count()
        != 1
    {
        return Err(ApiError::bad(
            "Invalid value for field 'resource': a route has exactly one next hop.",
        ));
    }
    making.default("priority", 1000);
    Ok(())
}
