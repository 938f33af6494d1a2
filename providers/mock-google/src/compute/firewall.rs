//! Firewall rules.

use serde_json::{Value, json};

use super::cidr::Range;
use super::generic::{Making, only};
use super::network::{blocked, profile_of};
use crate::checking::Body;
use crate::error::ApiError;
use crate::links::full;
use crate::store::Object;
use crate::transaction::Transaction;

pub(crate) fn prepare(making: &mut Making, tx: &mut Transaction) -> Result<(), ApiError> {
    making.take(tx, "FIREWALLS", 1)?;
    let default = full(&format!(
        "projects/{}/global/networks/default",
        making.place.project
    ));
    making.default("network", default);
    let network = making.text("network").unwrap_or_default().to_owned();
    if crate::links::key_of(&network)
        .and_then(|key| tx.get(&key))
        .is_none()
    {
        return Err(ApiError::invalid(
            "resource.network",
            &network,
            "The referenced resource cannot be found.",
        ));
    }
    if profile_of(&network, tx).is_some_and(|profile| !profile.allows("VpcFirewallRules")) {
        return Err(blocked("resource.network", &network, "VPC firewall rules"));
    }
    fill(&mut making.body);
    check(&making.body)
}

fn fill(body: &mut Body) {
    let mut default = |field: &str, value: Value| {
        if !body.contains_key(field) {
            body.insert(field.to_owned(), value);
        }
    };
    default("direction", "INGRESS".into());
    default("priority", 1000.into());
    default("disabled", false.into());
    default("logConfig", json!({"enable": false}));
    let ingress = body
        .get("direction")
        .is_some_and(|direction| direction == "INGRESS");
    if ingress
        && !["sourceRanges", "sourceTags", "sourceServiceAccounts"]
            .iter()
            .any(|f| body.contains_key(*f))
    {
        body.insert("sourceRanges".into(), json!(["0.0.0.0/0"]));
    }
    if !ingress && !body.contains_key("destinationRanges") {
        body.insert("destinationRanges".into(), json!(["0.0.0.0/0"]));
    }
    for list in ["allowed", "denied"] {
        for rule in body
            .get_mut(list)
            .and_then(Value::as_array_mut)
            .into_iter()
            .flatten()
        {
            if let Some(Value::String(protocol)) = rule.get_mut("IPProtocol") {
                *protocol = protocol.to_lowercase();
            }
        }
    }
}

fn check(body: &Body) -> Result<(), ApiError> {
    if body.contains_key("allowed") == body.contains_key("denied") {
        return Err(ApiError::bad(
            "Invalid value for field 'resource.allowed': a rule has either allowed or denied.",
        ));
    }
    for field in ["sourceRanges", "destinationRanges"] {
        for (index, range) in crate::usage::list(body.get(field)).iter().enumerate() {
            let text = range.as_str().unwrap_or_default();
            if !text.contains(':') {
                let whole = if text.contains('/') {
                    text.to_owned()
                } else {
                    format!("{text}/32")
                };
                Range::parse(&whole).map_err(|why| {
                    ApiError::invalid(&format!("resource.{field}[{index}]"), text, why)
                })?;
            }
        }
    }
    match body.get("priority").and_then(Value::as_i64) {
        Some(priority) if !(0..=65535).contains(&priority) => Err(ApiError::invalid(
            "resource.priority",
            &priority.to_string(),
            "Must be between 0 and 65535.",
        )),
        _ => Ok(()),
    }
}

pub(crate) fn revise(object: &Object, body: &mut Body) -> Result<(), ApiError> {
    fill(body);
    check(body)?;
    only(
        object,
        body,
        &[
            "allowed",
            "denied",
            "description",
            "destinationRanges",
            "disabled",
            "enableLogging",
            "logConfig",
            "priority",
            "sourceRanges",
            "sourceTags",
            "sourceServiceAccounts",
            "targetTags",
            "targetServiceAccounts",
            "params",
        ],
    )
}
