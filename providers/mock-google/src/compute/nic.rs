//! The interfaces of an instance.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use super::address::{external, internal_address};
use super::generic::Making;
use super::network::{blocked, profile_of};
use crate::catalogue::{MachineType, NetworkProfile};
use crate::checking::Body;
use crate::error::ApiError;
use crate::links::{full, key_of, name_of, part_after};
use crate::store::Object;
use crate::transaction::Transaction;

/// Checks and fills in the interfaces of a new instance.
pub(crate) fn prepare(
    making: &mut Making,
    machine: &MachineType,
    tx: &mut Transaction,
) -> Result<(), ApiError> {
    let mut nics = match making.body.remove("networkInterfaces") {
        Some(Value::Array(nics)) => nics,
        _ => Vec::new(),
    };
    if nics.is_empty() {
        return Err(ApiError::invalid(
            "resource.networkInterfaces",
            "[]",
            "At least one network interface is required.",
        ));
    }
    count(&nics, machine)?;
    let zone = making.place.zone.clone().unwrap_or_default();
    let region = making.place.region.clone().unwrap_or_default();
    let (mut networks, mut subnetworks) = (BTreeSet::new(), BTreeSet::new());
    for (index, nic) in nics.iter_mut().enumerate() {
        let Some(nic) = nic.as_object_mut() else {
            continue;
        };
        let spot = format!("resource.networkInterfaces[{index}]");
        let (subnetwork, object) = find_subnetwork(nic, &spot, &region, making, tx)?;
        let network = object.text("network").unwrap_or_default().to_owned();
        nic.insert("network".into(), network.clone().into());
        nic.insert("subnetwork".into(), subnetwork.clone().into());
        let profile = profile_of(&network, tx);
        check_profile(nic, &spot, index, &zone, profile)?;
        if !networks.insert(network.clone())
            && !profile.is_some_and(|profile| profile.allows("MultiNicInSameNetwork"))
        {
            return Err(ApiError::invalid(
                &format!("{spot}.network"),
                &network,
                "The interfaces of an instance are in different networks, unless a network's profile allows more.",
            ));
        }
        if !subnetworks.insert(subnetwork.clone())
            && !profile.is_some_and(|profile| profile.allows("MultiNicInSameSubnetwork"))
        {
            return Err(ApiError::invalid(
                &format!("{spot}.subnetwork"),
                &subnetwork,
                "The interfaces of an instance are in different subnetworks.",
            ));
        }
        fill(nic, index, &spot, &subnetwork, object, tx)?;
    }
    making.body.insert("networkInterfaces".into(), nics.into());
    Ok(())
}

/// How many interfaces of which type the machine has.
fn count(nics: &[Value], machine: &MachineType) -> Result<(), ApiError> {
    let mut by_type: BTreeMap<&str, usize> = BTreeMap::new();
    for nic in nics {
        let kind = nic
            .get("nicType")
            .and_then(Value::as_str)
            .unwrap_or("GVNIC");
        *by_type.entry(kind).or_default() += 1;
    }
    for (kind, count) in &by_type {
        let rdma = matches!(*kind, "MRDMA" | "IRDMA");
        let most = match machine.nics.get(*kind) {
            Some(most) => *most,
            None if rdma => 0,
            // a plain interface may be of any plain type
            None if machine.nics.is_empty() => {
                usize::try_from(machine.vcpus).unwrap_or(2).clamp(2, 10)
            }
            None => machine
                .nics
                .iter()
                .filter(|(kind, _)| !kind.ends_with("RDMA"))
                .map(|(_, most)| most)
                .sum(),
        };
        if *count > most {
            return Err(ApiError::invalid(
                "resource.networkInterfaces",
                &count.to_string(),
                format!("The machine type has {most} interfaces of type {kind} at most."),
            ));
        }
    }
    Ok(())
}

fn find_subnetwork<'a>(
    nic: &Body,
    spot: &str,
    region: &str,
    making: &Making,
    tx: &Transaction<'a>,
) -> Result<(String, &'a Object), ApiError> {
    let network = nic.get("network").and_then(Value::as_str);
    let subnetwork = match (nic.get("subnetwork").and_then(Value::as_str), network) {
        (Some(subnetwork), _) => subnetwork.to_owned(),
        (None, given) => {
            let home = format!("projects/{}/global/networks", making.place.project);
            let network = given.map_or_else(|| full(&format!("{home}/default")), str::to_owned);
            let object = key_of(&network)
                .and_then(|key| tx.get(&key))
                .ok_or_else(|| {
                    ApiError::invalid(
                        &format!("{spot}.network"),
                        &network,
                        "The referenced network resource cannot be found.",
                    )
                })?;
            let named = object.text("name").unwrap_or_default();
            if object.body.get("autoCreateSubnetworks") == Some(&Value::Bool(true)) {
                full(&format!(
                    "projects/{}/regions/{region}/subnetworks/{named}",
                    making.place.project
                ))
            } else {
                // a profile's own subnetwork is the only one there is
                let own = key_of(&network).and_then(|key| {
                    tx.store
                        .users(&key)
                        .find(|(_, user)| {
                            user.collection == "compute.subnetworks"
                                && user.hidden.contains_key("owner")
                        })
                        .and_then(|(_, user)| user.text("selfLink").map(str::to_owned))
                });
                own.ok_or_else(|| {
                    ApiError::invalid(
                        &format!("{spot}.subnetwork"),
                        "",
                        "A subnetwork must be named when the network is in custom mode.",
                    )
                })?
            }
        }
    };
    let object = key_of(&subnetwork)
        .and_then(|key| tx.get(&key))
        .ok_or_else(|| {
            ApiError::invalid(
                &format!("{spot}.subnetwork"),
                &subnetwork,
                "The referenced subnetwork resource cannot be found.",
            )
        })?;
    if part_after(&subnetwork, "regions") != Some(region) {
        return Err(ApiError::invalid(
            &format!("{spot}.subnetwork"),
            &subnetwork,
            format!("The subnetwork is not in region {region}, where the instance is."),
        ));
    }
    if let Some(network) = network
        && object.text("network") != Some(network)
    {
        return Err(ApiError::invalid(
            &format!("{spot}.subnetwork"),
            &subnetwork,
            format!(
                "The subnetwork does not belong to network {}.",
                name_of(network)
            ),
        ));
    }
    Ok((subnetwork, object))
}

/// What the network's profile asks of an interface.
fn check_profile(
    nic: &Body,
    spot: &str,
    index: usize,
    zone: &str,
    profile: Option<&NetworkProfile>,
) -> Result<(), ApiError> {
    let kind = nic
        .get("nicType")
        .and_then(Value::as_str)
        .unwrap_or("GVNIC");
    let field = format!("{spot}.nicType");
    let Some(profile) = profile else {
        if matches!(kind, "MRDMA" | "IRDMA") {
            return Err(ApiError::invalid(
                &field,
                kind,
                "An RDMA interface is in a network with an RDMA profile.",
            ));
        }
        return Ok(());
    };
    if !profile.lists("interfaceTypes", kind) {
        return Err(blocked(&field, kind, "interfaces of this type"));
    }
    if profile.zone != zone {
        return Err(ApiError::invalid(
            &format!("{spot}.network"),
            zone,
            format!("The network's profile belongs to zone {}.", profile.zone),
        ));
    }
    if index == 0 && !profile.allows("DefaultNicAttachment") {
        return Err(blocked(
            &format!("{spot}.network"),
            "nic0",
            "the first interface",
        ));
    }
    if nic.contains_key("accessConfigs") && !profile.allows("ExternalIpAccess") {
        return Err(blocked(
            &format!("{spot}.accessConfigs"),
            "",
            "external addresses",
        ));
    }
    if nic.contains_key("aliasIpRanges") && !profile.allows("AliasIpRanges") {
        return Err(blocked(
            &format!("{spot}.aliasIpRanges"),
            "",
            "alias ranges",
        ));
    }
    Ok(())
}

fn fill(
    nic: &mut Body,
    index: usize,
    spot: &str,
    subnetwork: &str,
    object: &Object,
    tx: &mut Transaction,
) -> Result<(), ApiError> {
    nic.insert("kind".into(), "compute#networkInterface".into());
    nic.insert("name".into(), format!("nic{index}").into());
    nic.insert("fingerprint".into(), tx.fingerprint().into());
    let stack = object.text("stackType").unwrap_or("IPV4_ONLY");
    if stack == "IPV6_ONLY" {
        nic.insert("stackType".into(), "IPV6_ONLY".into());
        let prefix = object.text("internalIpv6Prefix").unwrap_or("fd20::/64");
        let start = prefix.split("::").next().unwrap_or("fd20");
        let id: u64 = tx.id().parse().unwrap_or_default();
        let host = format!(
            "{start}:{:x}:{:x}:{:x}:{index:x}",
            id >> 48,
            id >> 32 & 0xffff,
            id >> 16 & 0xffff
        );
        nic.entry("ipv6Address").or_insert(host.into());
        nic.insert("ipv6AccessType".into(), "INTERNAL".into());
    } else {
        nic.entry("stackType").or_insert("IPV4_ONLY".into());
        let wanted = nic
            .get("networkIP")
            .and_then(Value::as_str)
            .map(str::to_owned);
        let address = internal_address(
            tx,
            subnetwork,
            wanted.as_deref(),
            &format!("{spot}.networkIP"),
            true,
        )?;
        nic.insert("networkIP".into(), address.to_string().into());
    }
    let configs = nic.get_mut("accessConfigs").and_then(Value::as_array_mut);
    for config in configs.into_iter().flatten() {
        if let Some(config) = config.as_object_mut() {
            fill_access(config, tx)?;
        }
    }
    Ok(())
}

/// An external address of an interface.
pub(crate) fn fill_access(config: &mut Body, tx: &mut Transaction) -> Result<(), ApiError> {
    config.insert("kind".into(), "compute#accessConfig".into());
    config.entry("name").or_insert("External NAT".into());
    config.entry("type").or_insert("ONE_TO_ONE_NAT".into());
    config.entry("networkTier").or_insert("PREMIUM".into());
    let given = config
        .get("natIP")
        .and_then(Value::as_str)
        .filter(|text| !text.is_empty());
    match given {
        Some(text) => {
            let address = text
                .parse()
                .map_err(|_| ApiError::invalid("natIP", text, "It is no IPv4 address."))?;
            if !tx.store.is_taken("reserved/external", address) {
                return Err(ApiError::invalid(
                    "natIP",
                    text,
                    "No address of this project is reserved so.",
                ));
            }
            if tx.store.is_taken("nic/external", address) {
                return Err(ApiError::invalid(
                    "natIP",
                    text,
                    "Specified IP address is in-use and would result in a conflict.",
                ));
            }
        }
        None => {
            tx.id(); // the search begins at another place for each interface
            let address = external(tx, None)?;
            config.insert("natIP".into(), address.to_string().into());
        }
    }
    Ok(())
}

/// Changes one interface of an instance: alias ranges, queue count, stack type, network and
/// subnetwork of a stopped machine.
pub(crate) fn update(
    body: &mut Body,
    name: &str,
    patch: &Body,
    tx: &mut Transaction,
) -> Result<(), ApiError> {
    let nic = body
        .get_mut("networkInterfaces")
        .and_then(Value::as_array_mut)
        .into_iter()
        .flatten()
        .filter_map(Value::as_object_mut)
        .find(|nic| nic.get("name").is_some_and(|own| own == name))
        .ok_or_else(|| {
            ApiError::invalid(
                "networkInterface",
                name,
                "The instance has no such interface.",
            )
        })?;
    match patch.get("fingerprint").and_then(Value::as_str) {
        None => return Err(ApiError::required("resource.fingerprint")),
        Some(given) if nic.get("fingerprint").is_some_and(|own| own == given) => {}
        Some(_) => {
            return Err(ApiError::condition_not_met(
                "Invalid fingerprint: the interface has changed since it was read.",
            ));
        }
    }
    let mut patch = patch.clone();
    patch.remove("fingerprint");
    let moved = patch
        .get("subnetwork")
        .is_some_and(|new| nic.get("subnetwork") != Some(new));
    crate::checking::merge(nic, &patch);
    if moved {
        let subnetwork = nic
            .get("subnetwork")
            .and_then(Value::as_str)
            .unwrap_or_default()
            .to_owned();
        let object = key_of(&subnetwork)
            .and_then(|key| tx.get(&key))
            .ok_or_else(|| {
                ApiError::invalid(
                    "subnetwork",
                    &subnetwork,
                    "The referenced subnetwork resource cannot be found.",
                )
            })?;
        nic.insert("network".into(), json!(object.text("network")));
        let wanted = patch.get("networkIP").and_then(Value::as_str);
        let address = internal_address(tx, &subnetwork, wanted, "networkIP", true)?;
        nic.insert("networkIP".into(), address.to_string().into());
    }
    nic.insert("fingerprint".into(), tx.fingerprint().into());
    crate::checking::without_nothing(nic);
    Ok(())
}
