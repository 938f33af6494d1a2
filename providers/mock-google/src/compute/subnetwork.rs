//! Subnetworks: ranges that may not overlap, and grow only.

use serde_json::{Value, json};

use super::cidr::Range;
use super::generic::{Making, change, changeable, only};
use super::network::{blocked, profile_of};
use crate::checking::Body;
use crate::error::ApiError;
use crate::links::{key_of, name_of};
use crate::request::{Answer, Request};
use crate::store::Object;
use crate::transaction::Transaction;

pub(crate) fn prepare(making: &mut Making, tx: &mut Transaction) -> Result<(), ApiError> {
    making.take(tx, "SUBNETWORKS", 1)?;
    let network = making
        .text("network")
        .ok_or_else(|| ApiError::required("resource.network"))?
        .to_owned();
    let region = making.place.region.clone().unwrap_or_default();
    making.default("purpose", "PRIVATE");
    making.default("stackType", "IPV4_ONLY");
    if let Some(profile) = profile_of(&network, tx) {
        if !profile.allows("SubnetworkCreation") {
            return Err(blocked(
                "resource.network",
                &network,
                "subnetworks of one's own",
            ));
        }
        if tx.catalogue.region_of(&profile.zone) != Some(&region) {
            return Err(ApiError::invalid(
                "resource.region",
                &region,
                format!("The network's profile belongs to zone {}.", profile.zone),
            ));
        }
        let stack = making.text("stackType").unwrap_or_default();
        if !profile.lists("subnetworkStackTypes", stack) {
            return Err(blocked("resource.stackType", stack, "this stack type"));
        }
        let purpose = making.text("purpose").unwrap_or_default();
        if !profile.lists("subnetworkPurposes", purpose) {
            return Err(blocked("resource.purpose", purpose, "this purpose"));
        }
        if making.body.get("privateIpGoogleAccess") == Some(&Value::Bool(true))
            && !profile.allows("PrivateGoogleAccess")
        {
            return Err(blocked(
                "resource.privateIpGoogleAccess",
                "true",
                "Private Google Access",
            ));
        }
        if making.body.contains_key("secondaryIpRanges") && !profile.allows("AliasIpRanges") {
            return Err(blocked("resource.secondaryIpRanges", "", "alias ranges"));
        }
    }
    let ipv6_only = making.text("stackType") == Some("IPV6_ONLY");
    if !ipv6_only && !making.body.contains_key("reservedInternalRange") {
        let text = making
            .text("ipCidrRange")
            .ok_or_else(|| ApiError::required("resource.ipCidrRange"))?;
        let range = primary(text)?;
        if making.text("purpose") != Some("PRIVATE_SERVICE_CONNECT") {
            let gateway = range.first_host().to_string();
            making.body.insert("gatewayAddress".into(), gateway.into());
        }
    }
    check_ranges(&making.key, &network, &making.body, tx)?;
    making.default("privateIpGoogleAccess", false);
    making.default("privateIpv6GoogleAccess", "DISABLE_GOOGLE_ACCESS");
    if making.text("stackType") != Some("IPV4_ONLY") {
        making.default("ipv6AccessType", "INTERNAL");
    }
    if let Some(Value::Object(log)) = making.body.get_mut("logConfig")
        && log.get("enable") == Some(&Value::Bool(true))
    {
        log.entry("aggregationInterval")
            .or_insert("INTERVAL_5_SEC".into());
        log.entry("flowSampling").or_insert(json!(0.5));
        log.entry("metadata")
            .or_insert("EXCLUDE_ALL_METADATA".into());
    }
    making.default("state", "READY");
    Ok(())
}

fn primary(text: &str) -> Result<Range, ApiError> {
    let range =
        Range::parse(text).map_err(|why| ApiError::invalid("resource.ipCidrRange", text, why))?;
    if !(4..=29).contains(&range.length()) {
        return Err(ApiError::invalid(
            "resource.ipCidrRange",
            text,
            "The length of a subnetwork's range is between 4 and 29.",
        ));
    }
    Ok(range)
}

/// All ranges of a subnetwork with the field each stands in.
fn ranges(body: &Body) -> Vec<(String, String)> {
    let mut out = Vec::new();
    if let Some(text) = body.get("ipCidrRange").and_then(Value::as_str) {
        out.push(("resource.ipCidrRange".to_owned(), text.to_owned()));
    }
    for (index, secondary) in crate::usage::list(body.get("secondaryIpRanges"))
        .iter()
        .enumerate()
    {
        if let Some(text) = secondary.get("ipCidrRange").and_then(Value::as_str) {
            out.push((
                format!("resource.secondaryIpRanges[{index}].ipCidrRange"),
                text.to_owned(),
            ));
        }
    }
    out
}

/// Refuses ranges that overlap each other, or those of another subnetwork of the network.
fn check_ranges(key: &str, network: &str, body: &Body, tx: &Transaction) -> Result<(), ApiError> {
    let mut own: Vec<(String, Range)> = Vec::new();
    for (field, text) in ranges(body) {
        let range = Range::parse(&text).map_err(|why| ApiError::invalid(&field, &text, why))?;
        if let Some((other, _)) = own.iter().find(|(_, other)| other.overlaps(range)) {
            return Err(ApiError::invalid(
                &field,
                &text,
                format!("It overlaps with {other} of the same subnetwork."),
            ));
        }
        own.push((field, range));
    }
    let network_key = key_of(network).unwrap_or_default();
    if let Some(object) = tx.get(&network_key)
        && object.body.get("autoCreateSubnetworks") == Some(&Value::Bool(true))
        && let Ok(automatic) = Range::parse("10.128.0.0/9")
        && let Some((field, range)) = own.iter().find(|(_, range)| range.overlaps(automatic))
    {
        return Err(ApiError::invalid(
            field,
            &range.to_string(),
            "It conflicts with 10.128.0.0/9, which belongs to the auto mode of the network.",
        ));
    }
    for (user, other) in tx.store.users(&network_key) {
        if user == key || other.collection != "compute.subnetworks" {
            continue;
        }
        for (_, text) in ranges(&other.body) {
            let Ok(taken) = Range::parse(&text) else {
                continue;
            };
            if let Some((field, range)) = own.iter().find(|(_, range)| range.overlaps(taken)) {
                return Err(ApiError::invalid(
                    field,
                    &range.to_string(),
                    format!(
                        "Invalid IPCidrRange: {range} conflicts with existing subnetwork '{}' ({taken}) in region '{}'.",
                        other.text("name").unwrap_or_default(),
                        other.text("region").map(name_of).unwrap_or_default(),
                    ),
                ));
            }
        }
    }
    Ok(())
}

pub(crate) fn revise(
    key: &str,
    object: &Object,
    body: &mut Body,
    tx: &mut Transaction,
) -> Result<(), ApiError> {
    let network = object.text("network").unwrap_or_default();
    if object.body.get("ipCidrRange") != body.get("ipCidrRange") {
        grow(object, body)?;
    }
    check_ranges(key, network, body, tx)?;
    only(
        object,
        body,
        &[
            "ipCidrRange",
            "secondaryIpRanges",
            "logConfig",
            "privateIpGoogleAccess",
            "privateIpv6GoogleAccess",
            "stackType",
            "ipv6AccessType",
            "role",
            "purpose",
            "allowSubnetCidrRoutesOverlap",
            "enableFlowLogs",
            "externalIpv6Prefix",
            "internalIpv6Prefix",
            "resolveSubnetMask",
            "gatewayAddress",
            "description",
        ],
    )
}

/// A primary range may only grow.
fn grow(object: &Object, body: &Body) -> Result<(), ApiError> {
    let text = body
        .get("ipCidrRange")
        .and_then(Value::as_str)
        .unwrap_or_default();
    let new = primary(text)?;
    let old = object
        .text("ipCidrRange")
        .and_then(|text| Range::parse(text).ok());
    if old.is_some_and(|old| !new.holds(old) || new == old) {
        return Err(ApiError::invalid(
            "resource.ipCidrRange",
            text,
            "The range of a subnetwork can only grow: the new one must hold the old one.",
        ));
    }
    Ok(())
}

pub(crate) fn custom(request: &Request, tx: &mut Transaction) -> Result<Answer, ApiError> {
    let (key, object) = changeable(request, tx)?;
    let mut body = object.body.clone();
    if request.verb() == "expandIpCidrRange" {
        let text = request.required("ipCidrRange")?;
        body.insert("ipCidrRange".into(), text.into());
        grow(object, &body)?;
        check_ranges(&key, object.text("network").unwrap_or_default(), &body, tx)?;
        if let Ok(range) = Range::parse(text) {
            body.insert(
                "gatewayAddress".into(),
                range.first_host().to_string().into(),
            );
        }
    } else {
        let on = request.body.get("privateIpGoogleAccess") == Some(&Value::Bool(true));
        body.insert("privateIpGoogleAccess".into(), on.into());
    }
    body.insert("fingerprint".into(), tx.fingerprint().into());
    Ok(Answer::Json(change(
        request,
        tx,
        &key,
        object,
        body,
        request.verb(),
    )))
}
