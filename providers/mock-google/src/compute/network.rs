//! Networks, and what a network profile allows in them.

use serde_json::{Value, json};

use super::generic::{Making, change, changeable, only};
use crate::catalogue::{NetworkProfile, object as fields};
use crate::checking::Body;
use crate::error::ApiError;
use crate::links::{full, key_of, name_of, normalise};
use crate::request::{Answer, Request};
use crate::store::{Change, Object, Store};
use crate::time::pacific;
use crate::transaction::{Transaction, path};

pub(crate) fn prepare(making: &mut Making, tx: &mut Transaction) -> Result<(), ApiError> {
    making.take(tx, "NETWORKS", 1)?;
    check_mtu(&making.body)?;
    let profile = profile_named(&making.body, tx);
    let automatic = making.body.get("autoCreateSubnetworks") == Some(&Value::Bool(true));
    if let Some(profile) = profile {
        if automatic && !profile.allows("AutoModeSubnet") {
            return Err(blocked(
                "resource.autoCreateSubnetworks",
                "true",
                "auto mode subnetworks",
            ));
        }
        match making.body.get("mtu").and_then(Value::as_i64) {
            Some(mtu) if mtu != profile.mtu => {
                return Err(ApiError::invalid(
                    "resource.mtu",
                    &mtu.to_string(),
                    format!("A network of this profile has an MTU of {}.", profile.mtu),
                ));
            }
            _ => {
                making.default("mtu", profile.mtu);
            }
        }
    }
    if making.body.get("enableUlaInternalIpv6") == Some(&Value::Bool(false)) {
        making.body.remove("enableUlaInternalIpv6");
    }
    making.default("autoCreateSubnetworks", false);
    making.default(
        "networkFirewallPolicyEnforcementOrder",
        "AFTER_CLASSIC_FIREWALL",
    );
    fill_routing(&mut making.body);
    fill_ipv6(&mut making.body, tx);
    if profile.is_none_or(|profile| profile.allows("StaticRoutes")) {
        default_route(making, tx);
    }
    for (prefix, range) in profile.map_or(&[][..], |profile| &profile.predefined) {
        predefined_subnetwork(making, profile, prefix, range, tx);
    }
    if automatic {
        automatic_subnetworks(making, tx);
    }
    Ok(())
}

fn fill_routing(body: &mut Body) {
    let routing = body.entry("routingConfig").or_insert_with(|| json!({}));
    if let Some(routing) = routing.as_object_mut() {
        routing.entry("routingMode").or_insert("REGIONAL".into());
        routing
            .entry("bgpBestPathSelectionMode")
            .or_insert("LEGACY".into());
    }
}

fn check_mtu(body: &Body) -> Result<(), ApiError> {
    match body.get("mtu").and_then(Value::as_i64) {
        Some(mtu) if !(1300..=8896).contains(&mtu) => Err(ApiError::invalid(
            "resource.mtu",
            &mtu.to_string(),
            "Must be greater than or equal to 1300 and less than or equal to 8896.",
        )),
        _ => Ok(()),
    }
}

/// The profile that a network's body names.
fn profile_named<'a>(body: &Body, tx: &Transaction<'a>) -> Option<&'a NetworkProfile> {
    let link = body.get("networkProfile").and_then(Value::as_str)?;
    tx.catalogue.profile(name_of(link))
}

/// The profile of the network that a link names.
pub(crate) fn profile_of<'a>(link: &str, tx: &Transaction<'a>) -> Option<&'a NetworkProfile> {
    let network = tx.get(&key_of(link)?)?;
    profile_named(&network.body, tx)
}

/// What the profile of a network does not allow.
pub(crate) fn blocked(field: &str, value: &str, what: &str) -> ApiError {
    ApiError::invalid(
        field,
        value,
        format!("The network's profile does not allow {what}."),
    )
}

/// The route to the internet that comes with a network and goes with it.
fn default_route(making: &mut Making, tx: &mut Transaction) {
    let project = making.place.project.clone();
    let id = tx.id();
    let name = format!(
        "default-route-{:016x}",
        id.parse::<u64>().unwrap_or_default()
    );
    let route = format!("projects/{project}/global/routes/{name}");
    let link = making.link();
    let body = fields(json!({
        "kind": "compute#route", "id": id, "creationTimestamp": pacific(tx.now), "name": name,
        "description": "Default route to the Internet.", "network": link, "destRange": "0.0.0.0/0",
        "priority": 1000, "selfLink": full(&route),
        "nextHopGateway": full(&format!("projects/{project}/global/gateways/default-internet-gateway")),
    }));
    making
        .along
        .push(owned(&route, "compute.routes", body, &link));
    making.failure.push(Change::Remove {
        key: format!("compute/{route}"),
    });
}

fn owned(path: &str, collection: &str, body: Body, owner: &str) -> Change {
    Change::Put {
        key: format!("compute/{path}"),
        object: Object {
            collection: collection.to_owned(),
            body,
            hidden: fields(json!({ "owner": owner })),
            pending: None,
        },
    }
}

/// A subnetwork that the server makes for a profile that lets nobody else make any.
fn predefined_subnetwork(
    making: &mut Making,
    profile: Option<&NetworkProfile>,
    prefix: &str,
    range: &str,
    tx: &mut Transaction,
) {
    let project = making.place.project.clone();
    let region = profile
        .and_then(|profile| tx.catalogue.region_of(&profile.zone))
        .unwrap_or_default()
        .to_owned();
    let name = format!("{prefix}-{}", making.text("name").unwrap_or_default());
    let path = format!("projects/{project}/regions/{region}/subnetworks/{name}");
    let link = making.link();
    let body = fields(json!({
        "kind": "compute#subnetwork", "id": tx.id(), "creationTimestamp": pacific(tx.now), "name": name,
        "network": link, "region": full(&format!("projects/{project}/regions/{region}")),
        "selfLink": full(&path), "stackType": "IPV6_ONLY", "ipv6AccessType": "INTERNAL",
        "internalIpv6Prefix": range, "purpose": "PRIVATE", "state": "READY",
        "fingerprint": tx.fingerprint(),
    }));
    making
        .along
        .push(owned(&path, "compute.subnetworks", body, &link));
    making.failure.push(Change::Remove {
        key: format!("compute/{path}"),
    });
}

/// One subnetwork of 10.128.0.0/9 in each region.
fn automatic_subnetworks(making: &mut Making, tx: &mut Transaction) {
    let project = making.place.project.clone();
    let link = making.link();
    let name = making.text("name").unwrap_or_default().to_owned();
    let regions: Vec<String> = tx.catalogue.regions().map(str::to_owned).collect();
    for (index, region) in regions.iter().enumerate() {
        let path = format!("projects/{project}/regions/{region}/subnetworks/{name}");
        let block = 128 + 2 * index;
        let body = fields(json!({
            "kind": "compute#subnetwork", "id": tx.id(), "creationTimestamp": pacific(tx.now),
            "name": name, "network": link, "selfLink": full(&path),
            "region": full(&format!("projects/{project}/regions/{region}")),
            "ipCidrRange": format!("10.{block}.0.0/20"), "gatewayAddress": format!("10.{block}.0.1"),
            "privateIpGoogleAccess": false, "privateIpv6GoogleAccess": "DISABLE_GOOGLE_ACCESS",
            "purpose": "PRIVATE", "stackType": "IPV4_ONLY", "state": "READY",
            "fingerprint": tx.fingerprint(),
        }));
        making
            .along
            .push(owned(&path, "compute.subnetworks", body, &link));
        making.failure.push(Change::Remove {
            key: format!("compute/{path}"),
        });
    }
}

/// A network with internal IPv6 has a range of its own, asked for or not.
fn fill_ipv6(body: &mut Body, tx: &mut Transaction) {
    if body.get("enableUlaInternalIpv6") == Some(&Value::Bool(true))
        && !body.contains_key("internalIpv6Range")
    {
        let number: u64 = tx.id().parse().unwrap_or_default();
        let range = format!(
            "fd20:{:x}:{:x}:0:0:0:0:0/48",
            number >> 16 & 0xfff,
            number & 0xfff
        );
        body.insert("internalIpv6Range".into(), range.into());
    }
}

pub(crate) fn revise(
    key: &str,
    object: &Object,
    body: &mut Body,
    tx: &mut Transaction,
) -> Result<(), ApiError> {
    check_mtu(body)?;
    if object.body.get("mtu") != body.get("mtu") {
        if let Some(profile) = profile_named(&object.body, tx) {
            return Err(ApiError::invalid(
                "resource.mtu",
                &body.get("mtu").map_or(String::new(), Value::to_string),
                format!("A network of this profile has an MTU of {}.", profile.mtu),
            ));
        }
        let running = tx.store.users(key).find(|(_, user)| {
            user.collection == "compute.instances" && user.text("status") != Some("TERMINATED")
        });
        if let Some((user, _)) = running {
            return Err(ApiError::failed_precondition(format!(
                "The MTU of a network cannot change while machines in it run: '{}'.",
                path(user)
            )));
        }
    }
    fill_routing(body);
    fill_ipv6(body, tx);
    only(
        object,
        body,
        &[
            "routingConfig",
            "mtu",
            "networkFirewallPolicyEnforcementOrder",
            "enableUlaInternalIpv6",
            "internalIpv6Range",
        ],
    )
}

/// The links of its subnetworks.
pub(crate) fn show(store: &Store, key: &str, body: &mut Body) {
    let mut links: Vec<String> = store
        .users(key)
        .filter(|(_, user)| user.collection == "compute.subnetworks")
        .map(|(user, _)| full(path(user)))
        .collect();
    links.sort();
    if !links.is_empty() {
        body.insert("subnetworks".into(), links.into());
    }
}

/// Peerings and the switch to custom mode.
pub(crate) fn custom(request: &Request, tx: &mut Transaction) -> Result<Answer, ApiError> {
    let (key, object) = changeable(request, tx)?;
    let mut body = object.body.clone();
    let project = request.project.clone().unwrap_or_default();
    let mut peerings = crate::usage::list(body.get("peerings")).to_vec();
    match request.verb() {
        "switchToCustomMode" => {
            body.insert("autoCreateSubnetworks".into(), false.into());
        }
        "addPeering" => {
            let mut peering = match request.body.get("networkPeering") {
                Some(Value::Object(peering)) => peering.clone(),
                _ => fields(json!({
                    "name": request.body.get("name"), "network": request.body.get("peerNetwork"),
                    "exchangeSubnetRoutes": request.body.get("autoCreateRoutes"),
                })),
            };
            let name = peering
                .get("name")
                .and_then(Value::as_str)
                .unwrap_or_default()
                .to_owned();
            if peerings
                .iter()
                .any(|own| own.get("name").is_some_and(|own| *own == name.as_str()))
            {
                return Err(ApiError::already_exists(&name));
            }
            let text = peering
                .get("network")
                .and_then(Value::as_str)
                .unwrap_or_default();
            let peer = normalise(
                text,
                &project,
                &format!("projects/{project}/global/networks"),
            );
            let there = key_of(&peer).and_then(|key| tx.get(&key));
            if there.is_none() && peer.contains(&format!("/projects/{project}/")) {
                return Err(ApiError::invalid(
                    "networkPeering.network",
                    text,
                    "The referenced network resource cannot be found.",
                ));
            }
            if [profile_named(&object.body, tx), profile_of(&peer, tx)]
                .into_iter()
                .flatten()
                .any(|profile| !profile.allows("VpcPeering"))
            {
                return Err(blocked("networkPeering.network", text, "VPC peering"));
            }
            let mutual = there.is_some_and(|peer| {
                crate::usage::list(peer.body.get("peerings"))
                    .iter()
                    .any(|back| {
                        back.get("network")
                            .and_then(Value::as_str)
                            .and_then(key_of)
                            .as_deref()
                            == Some(&key)
                    })
            });
            peering.insert("network".into(), peer.into());
            peering.insert(
                "state".into(),
                if mutual { "ACTIVE" } else { "INACTIVE" }.into(),
            );
            peering.entry("exchangeSubnetRoutes").or_insert(true.into());
            for field in ["exportCustomRoutes", "importCustomRoutes"] {
                peering.entry(field).or_insert(false.into());
            }
            peering.entry("stackType").or_insert("IPV4_ONLY".into());
            crate::checking::without_nothing(&mut peering);
            peerings.push(peering.into());
        }
        verb => {
            let wanted = match request.body.get("networkPeering") {
                Some(peering) => peering.get("name"),
                None => request.body.get("name"),
            };
            let at = peerings
                .iter()
                .position(|own| own.get("name") == wanted && wanted.is_some())
                .ok_or_else(|| {
                    ApiError::invalid(
                        "name",
                        wanted.and_then(Value::as_str).unwrap_or_default(),
                        "There is no peering of that name.",
                    )
                })?;
            if verb == "removePeering" {
                peerings.remove(at);
            } else if let (Some(Value::Object(own)), Some(Value::Object(patch))) =
                (peerings.get_mut(at), request.body.get("networkPeering"))
            {
                let mut patch = patch.clone();
                patch.remove("network");
                crate::checking::merge(own, &patch);
            }
        }
    }
    if peerings.is_empty() {
        body.remove("peerings");
    } else {
        body.insert("peerings".into(), peerings.into());
    }
    Ok(Answer::Json(change(
        request,
        tx,
        &key,
        object,
        body,
        request.verb(),
    )))
}
