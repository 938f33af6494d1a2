//! Fields that name other objects: written in many ways, kept in one, and bound to exist.

use serde_json::Value;

use crate::checking::Body;
use crate::error::ApiError;
use crate::links::{full, key_of, normalise, path_of};
use crate::store::Work;
use crate::transaction::Transaction;

/// Where a bare name is looked up.
#[derive(Clone, Copy)]
enum Home {
    Global(&'static str),
    /// In the region of the object (of a zonal object, the zone's).
    Region(&'static str),
    Zone(&'static str),
}

/// Collection (`*` for each), path of the field, home, and whether the object must exist.
const FIELDS: &[(&str, &str, Home, bool)] = &[
    (
        "networks",
        "networkProfile",
        Home::Global("networkProfiles"),
        true,
    ),
    ("subnetworks", "network", Home::Global("networks"), true),
    ("firewalls", "network", Home::Global("networks"), true),
    ("routes", "network", Home::Global("networks"), true),
    ("routes", "nextHopInstance", Home::Zone("instances"), true),
    ("routes", "nextHopGateway", Home::Global("gateways"), false),
    (
        "routes",
        "nextHopIlb",
        Home::Region("forwardingRules"),
        true,
    ),
    (
        "routes",
        "nextHopVpnTunnel",
        Home::Region("vpnTunnels"),
        true,
    ),
    ("routers", "network", Home::Global("networks"), true),
    (
        "routers",
        "nats[].subnetworks[].name",
        Home::Region("subnetworks"),
        true,
    ),
    (
        "routers",
        "nats[].natIps[]",
        Home::Region("addresses"),
        true,
    ),
    (
        "routers",
        "nats[].drainNatIps[]",
        Home::Region("addresses"),
        true,
    ),
    (
        "routers",
        "interfaces[].linkedVpnTunnel",
        Home::Region("vpnTunnels"),
        true,
    ),
    (
        "routers",
        "interfaces[].linkedInterconnectAttachment",
        Home::Region("interconnectAttachments"),
        true,
    ),
    (
        "routers",
        "interfaces[].subnetwork",
        Home::Region("subnetworks"),
        true,
    ),
    ("addresses", "network", Home::Global("networks"), true),
    ("addresses", "subnetwork", Home::Region("subnetworks"), true),
    ("globalAddresses", "network", Home::Global("networks"), true),
    ("disks", "type", Home::Zone("diskTypes"), true),
    ("disks", "sourceSnapshot", Home::Global("snapshots"), true),
    ("disks", "sourceDisk", Home::Zone("disks"), true),
    (
        "disks",
        "resourcePolicies[]",
        Home::Region("resourcePolicies"),
        true,
    ),
    ("disks", "storagePool", Home::Zone("storagePools"), true),
    ("regionDisks", "type", Home::Region("diskTypes"), false),
    (
        "instances",
        "networkInterfaces[].network",
        Home::Global("networks"),
        true,
    ),
    (
        "instances",
        "networkInterfaces[].subnetwork",
        Home::Region("subnetworks"),
        true,
    ),
    ("instances", "machineType", Home::Zone("machineTypes"), true),
    ("instances", "disks[].source", Home::Zone("disks"), true),
    (
        "instances",
        "resourcePolicies[]",
        Home::Region("resourcePolicies"),
        true,
    ),
    (
        "instances",
        "guestAccelerators[].acceleratorType",
        Home::Zone("acceleratorTypes"),
        true,
    ),
    (
        "instanceTemplates",
        "properties.networkInterfaces[].network",
        Home::Global("networks"),
        true,
    ),
    (
        "instanceTemplates",
        "properties.networkInterfaces[].subnetwork",
        Home::Region("subnetworks"),
        true,
    ),
    (
        "regionInstanceTemplates",
        "properties.networkInterfaces[].network",
        Home::Global("networks"),
        true,
    ),
    (
        "regionInstanceTemplates",
        "properties.networkInterfaces[].subnetwork",
        Home::Region("subnetworks"),
        true,
    ),
    ("vpnGateways", "network", Home::Global("networks"), true),
    (
        "vpnTunnels",
        "vpnGateway",
        Home::Region("vpnGateways"),
        true,
    ),
    (
        "vpnTunnels",
        "peerExternalGateway",
        Home::Global("externalVpnGateways"),
        true,
    ),
    ("vpnTunnels", "router", Home::Region("routers"), true),
    ("forwardingRules", "network", Home::Global("networks"), true),
    (
        "forwardingRules",
        "subnetwork",
        Home::Region("subnetworks"),
        true,
    ),
    (
        "networkAttachments",
        "subnetworks[]",
        Home::Region("subnetworks"),
        true,
    ),
    ("images", "sourceDisk", Home::Zone("disks"), true),
    ("images", "sourceSnapshot", Home::Global("snapshots"), true),
    (
        "reservations",
        "resourcePolicies.policy",
        Home::Region("resourcePolicies"),
        true,
    ),
];

/// Where an object is going to be.
#[derive(Debug, Clone)]
pub(crate) struct Place {
    pub(crate) project: String,
    pub(crate) region: Option<String>,
    pub(crate) zone: Option<String>,
}

impl Place {
    /// The place of a path: `projects/p/zones/z/...`.
    pub(crate) fn of(path: &str, tx: &Transaction) -> Self {
        let zone = crate::links::part_after(path, "zones").map(str::to_owned);
        let region = match &zone {
            Some(zone) => tx.catalogue.region_of(zone).map(str::to_owned),
            None => crate::links::part_after(path, "regions").map(str::to_owned),
        };
        Self {
            project: crate::store::project_of(path).to_owned(),
            region,
            zone,
        }
    }

    /// The region, else `global`: where quotas are counted.
    pub(crate) fn quota_place(&self) -> &str {
        self.region.as_deref().unwrap_or("global")
    }

    fn home(&self, home: Home) -> String {
        let project = &self.project;
        match home {
            Home::Global(collection) => format!("projects/{project}/global/{collection}"),
            Home::Region(collection) => format!(
                "projects/{project}/regions/{}/{collection}",
                self.region.as_deref().unwrap_or("-")
            ),
            Home::Zone(collection) => format!(
                "projects/{project}/zones/{}/{collection}",
                self.zone.as_deref().unwrap_or("-")
            ),
        }
    }
}

/// Writes all references of a body in their one form, and refuses those that lead nowhere.
pub(crate) fn settle(
    collection: &str,
    body: &mut Body,
    place: &Place,
    tx: &Transaction,
) -> Result<(), ApiError> {
    for (own, field, home, must_exist) in FIELDS {
        if *own != collection {
            continue;
        }
        let parts: Vec<&str> = field.split('.').collect();
        let mut spot = String::from("resource");
        each(body, &parts, &mut spot, &mut |text, spot| {
            let link = normalise(text, &place.project, &place.home(*home));
            if *must_exist {
                exists(&link, text, spot, tx)?;
            }
            // a NAT shows its subnetworks and addresses as they were written
            if !(field.starts_with("nats") && text.starts_with("projects/")) {
                *text = link;
            }
            Ok(())
        })?;
    }
    // everything else that is a link of compute gets the one host and version
    let mut pending: Vec<&mut Value> = body
        .iter_mut()
        .filter(|(name, _)| !matches!(name.as_str(), "metadata" | "labels" | "description"))
        .map(|(_, value)| value)
        .collect();
    while let Some(value) = pending.pop() {
        match value {
            Value::String(text) if text.starts_with("http") && text.contains("/compute/") => {
                if let Some(path) = path_of(text) {
                    *text = full(path);
                }
            }
            Value::Array(items) => pending.extend(items),
            Value::Object(fields) => pending.extend(
                fields
                    .iter_mut()
                    .filter(|(name, _)| !matches!(name.as_str(), "metadata" | "labels"))
                    .map(|(_, value)| value),
            ),
            _ => {}
        }
    }
    Ok(())
}

/// Refuses a link whose object does not exist, or is still being made.
fn exists(link: &str, written: &str, spot: &str, tx: &Transaction) -> Result<(), ApiError> {
    let missing = || ApiError::invalid(spot, written, "The referenced resource cannot be found.");
    let path = path_of(link).ok_or_else(missing)?;
    let parts: Vec<&str> = path.split('/').collect();
    let there = match parts.as_slice() {
        ["projects", _, "zones", zone, "machineTypes", name] => {
            tx.catalogue.machine_type(zone, name).is_some()
        }
        ["projects", _, "zones", zone, "diskTypes", name] => {
            tx.catalogue.region_of(zone).is_some() && tx.catalogue.disk_type(name).is_some()
        }
        ["projects", project, "zones", zone, "acceleratorTypes", name] => tx
            .catalogue
            .listing(project, &format!("zones/{zone}"), "acceleratorTypes")
            .iter()
            .any(|body| body.get("name").is_some_and(|own| own == name)),
        ["projects", _, "global", "networkProfiles", name] => tx.catalogue.profile(name).is_some(),
        _ => match key_of(link).and_then(|key| tx.get(&key)) {
            Some(object) if object.pending == Some(Work::Creating) => {
                return Err(ApiError::not_ready(path));
            }
            other => other.is_some(),
        },
    };
    if there { Ok(()) } else { Err(missing()) }
}

/// Calls `act` for every text that a field path leads to.
fn each(
    body: &mut Body,
    parts: &[&str],
    spot: &mut String,
    act: &mut dyn FnMut(&mut String, &str) -> Result<(), ApiError>,
) -> Result<(), ApiError> {
    let Some((first, rest)) = parts.split_first() else {
        return Ok(());
    };
    let (name, many) = match first.strip_suffix("[]") {
        Some(name) => (name, true),
        None => (*first, false),
    };
    let Some(value) = body.get_mut(name) else {
        return Ok(());
    };
    let length = spot.len();
    spot.push('.');
    spot.push_str(name);
    let result = if many {
        let mut result = Ok(());
        for (index, item) in value.as_array_mut().into_iter().flatten().enumerate() {
            let inner = spot.len();
            spot.push_str(&format!("[{index}]"));
            result = result.and_then(|()| one(item, rest, spot, act));
            spot.truncate(inner);
        }
        result
    } else {
        one(value, rest, spot, act)
    };
    spot.truncate(length);
    result
}

fn one(
    value: &mut Value,
    rest: &[&str],
    spot: &mut String,
    act: &mut dyn FnMut(&mut String, &str) -> Result<(), ApiError>,
) -> Result<(), ApiError> {
    match value {
        Value::String(text) if rest.is_empty() && !text.is_empty() => act(text, spot),
        // paths are as deep as the table's texts
        Value::Object(fields) => each(fields, rest, spot, act),
        _ => Ok(()),
    }
}

/// Whether a reference from an object of this collection keeps its target alive.
pub(crate) fn holds(collection: &str) -> bool {
    !matches!(
        collection,
        "compute.instanceTemplates"
            | "compute.regionInstanceTemplates"
            | "compute.snapshots"
            | "compute.images"
    )
}
