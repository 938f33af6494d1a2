//! Reserved addresses: external, internal, global.

use std::net::Ipv4Addr;

use serde_json::Value;

use super::cidr::Range;
use super::generic::Making;
use super::network::{blocked, profile_of};
use crate::checking::Body;
use crate::error::ApiError;
use crate::links::{full, key_of};
use crate::store::Store;
use crate::transaction::{Transaction, path};

pub(crate) fn prepare(making: &mut Making, tx: &mut Transaction) -> Result<(), ApiError> {
    let global = making.collection == "globalAddresses";
    making.default("addressType", "EXTERNAL");
    let internal = making.text("addressType") == Some("INTERNAL");
    if !global {
        making.take(tx, "STATIC_ADDRESSES", 1)?;
    }
    making.default("status", "RESERVED");
    making.default("description", "");
    if !internal {
        making.default("networkTier", "PREMIUM");
        if global {
            making.default("ipVersion", "IPV4");
        }
        if making.text("ipVersion") == Some("IPV6") {
            making.default("address", "2600:1901:0:1::");
            return Ok(());
        }
        let wanted = making.text("address").map(str::to_owned);
        let address = external(tx, wanted.as_deref())?;
        making
            .body
            .insert("address".into(), address.to_string().into());
        return Ok(());
    }
    if let Some(subnetwork) = making.text("subnetwork").map(str::to_owned) {
        making.default("purpose", "GCE_ENDPOINT");
        let object = key_of(&subnetwork).and_then(|key| tx.get(&key));
        if let Some(network) = object.and_then(|object| object.text("network"))
            && profile_of(network, tx).is_some_and(|profile| !profile.allows("AddressCreation"))
        {
            return Err(blocked(
                "resource.subnetwork",
                &subnetwork,
                "reserved addresses",
            ));
        }
        let wanted = making.text("address").map(str::to_owned);
        let address = internal_address(
            tx,
            &subnetwork,
            wanted.as_deref(),
            "resource.address",
            false,
        )?;
        making
            .body
            .insert("address".into(), address.to_string().into());
        return Ok(());
    }
    if global || making.body.contains_key("prefixLength") {
        // a range for services: VPC_PEERING, PRIVATE_SERVICE_CONNECT
        let length = making
            .body
            .get("prefixLength")
            .and_then(Value::as_i64)
            .unwrap_or(32);
        if !(8..=32).contains(&length) {
            return Err(ApiError::invalid(
                "resource.prefixLength",
                &length.to_string(),
                "Must be between 8 and 32.",
            ));
        }
        if !making.body.contains_key("address") {
            let network = making.text("network").unwrap_or_default().to_owned();
            let found = free_range(tx, &network, u8::try_from(length).unwrap_or(32));
            let found = found
                .ok_or_else(|| ApiError::bad("The network has no free range of that size."))?;
            making.body.insert("address".into(), found.into());
        }
        return Ok(());
    }
    Err(ApiError::required("resource.subnetwork"))
}

/// A free range of 10.0.0.0/8 in a network, as its first address.
fn free_range(tx: &Transaction, network: &str, length: u8) -> Option<String> {
    let taken: Vec<Range> = tx
        .store
        .users(&key_of(network)?)
        .filter_map(|(_, user)| match user.text("ipCidrRange") {
            Some(range) => Range::parse(range).ok(),
            None => {
                let length = user.body.get("prefixLength")?.as_i64()?;
                Range::parse(&format!("{}/{length}", user.text("address")?)).ok()
            }
        })
        .collect();
    let step = 1u64 << (32 - u32::from(length));
    let start = u64::from(u32::from(Ipv4Addr::new(10, 10, 0, 0))) / step * step;
    (0..65536u64)
        .map(|index| start + index * step)
        .take_while(|base| *base < u64::from(u32::from(Ipv4Addr::new(11, 0, 0, 0))))
        .filter_map(|base| u32::try_from(base).ok())
        .map(Ipv4Addr::from)
        .find(|base| {
            Range::parse(&format!("{base}/{length}"))
                .is_ok_and(|range| !taken.iter().any(|own| own.overlaps(range)))
        })
        .map(|base| base.to_string())
}

/// A free external address, or the wanted one.
pub(crate) fn external(tx: &mut Transaction, wanted: Option<&str>) -> Result<Ipv4Addr, ApiError> {
    let taken = |address: Ipv4Addr| {
        tx.store.is_taken("reserved/external", address)
            || tx.store.is_taken("nic/external", address)
    };
    if let Some(text) = wanted {
        let address: Ipv4Addr = text
            .parse()
            .map_err(|_| ApiError::invalid("resource.address", text, "It is no IPv4 address."))?;
        if taken(address) {
            return Err(ApiError::invalid(
                "resource.address",
                text,
                "Specified IP address is in-use and would result in a conflict.",
            ));
        }
        return Ok(address);
    }
    // 198.18.0.0/15 is for benchmarks: never a real machine's
    let base = u32::from(Ipv4Addr::new(198, 18, 0, 0));
    let start = u32::try_from(tx.next % 131_072).unwrap_or_default();
    (0..131_072u32)
        .map(|offset| Ipv4Addr::from(base + (start + offset) % 131_072))
        .find(|address| !taken(*address))
        .ok_or_else(|| ApiError::bad("There is no free external address."))
}

/// A free address of a subnetwork, or the wanted one. `reserved` says that the wanted one may be one
/// that was reserved.
pub(crate) fn internal_address(
    tx: &Transaction,
    subnetwork: &str,
    wanted: Option<&str>,
    field: &str,
    reserved: bool,
) -> Result<Ipv4Addr, ApiError> {
    let key = key_of(subnetwork).unwrap_or_default();
    let range = tx
        .get(&key)
        .and_then(|object| object.text("ipCidrRange"))
        .and_then(|text| Range::parse(text).ok())
        .ok_or_else(|| ApiError::invalid(field, subnetwork, "The subnetwork has no IPv4 range."))?;
    let on_nic = format!("nic/{key}");
    let kept = format!("reserved/{key}");
    if let Some(text) = wanted {
        let address: Ipv4Addr = text
            .parse()
            .map_err(|_| ApiError::invalid(field, text, "It is no IPv4 address."))?;
        if !range.contains(address) || address == range.first_host() {
            return Err(ApiError::invalid(
                field,
                text,
                format!("It is not a free address of {range}."),
            ));
        }
        if tx.store.is_taken(&on_nic, address) || (!reserved && tx.store.is_taken(&kept, address)) {
            return Err(ApiError::invalid(
                field,
                text,
                "Specified IP address is in-use and would result in a conflict.",
            ));
        }
        return Ok(address);
    }
    tx.store.free_address(&key, range).ok_or_else(|| {
        ApiError::new(
            400,
            "invalid",
            "RESOURCE_EXHAUSTED",
            format!("IP space of '{}' is exhausted.", path(&key)),
        )
    })
}

/// Whether and by whom it is used.
pub(crate) fn show(store: &Store, body: &mut Body) {
    let text = |name: &str| body.get(name).and_then(Value::as_str);
    let Some(address) = text("address").and_then(|text| text.parse::<Ipv4Addr>().ok()) else {
        return;
    };
    let place = match text("subnetwork").and_then(key_of) {
        Some(subnetwork) => format!("nic/{subnetwork}"),
        None => "nic/external".to_owned(),
    };
    if !store.is_taken(&place, address) {
        return;
    }
    let project = text("selfLink")
        .and_then(crate::links::path_of)
        .map(crate::store::project_of)
        .unwrap_or_default();
    let prefix = format!("compute/projects/{project}/zones/");
    let users: Vec<Value> = store
        .below(&prefix)
        .filter(|(_, object)| object.collection == "compute.instances")
        .filter(|(_, object)| crate::usage::addresses(object).contains(&(place.clone(), address)))
        .map(|(key, _)| full(path(key)).into())
        .collect();
    body.insert("status".into(), "IN_USE".into());
    if !users.is_empty() {
        body.insert("users".into(), users.into());
    }
}
