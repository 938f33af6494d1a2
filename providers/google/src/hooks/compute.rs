//! Small oddities of compute's networking and scheduling types.

use async_trait::async_trait;
use formwork_google_client::{Listing, Method, OperationKind};
use formwork_google_schema::{Act, Setter};
use formwork_provider::OperationLog;
use formwork_values::Value;
use serde_json::{Map, Value as Json, json};

use crate::draft::Draft;
use crate::engine::Subject;
use crate::engine::exchange::Change;
use crate::failure::Failure;
use crate::hooks::Hooks;
use crate::names;
use crate::plan::Plan;

/// Default routes can be removed right after the network is made.
pub(crate) struct Network;

#[async_trait]
impl Hooks for Network {
    async fn created(
        &self,
        subject: &Subject<'_>,
        log: &dyn OperationLog,
    ) -> Result<bool, Failure> {
        if subject
            .object
            .attribute("delete_default_routes_on_create")
            .and_then(Value::as_bool)
            != Some(true)
        {
            return Ok(false);
        }
        let cloud = subject.cloud;
        let project = subject
            .located()
            .project()
            .ok_or_else(|| subject.no_address())?;
        let path = format!("compute/v1/projects/{project}/global/routes");
        let listed = cloud
            .client
            .list(
                &cloud.get("compute", path.clone()),
                &Listing::Array("items".into()),
            )
            .await?;
        let own = crate::draft::text(subject.object, "self_link").unwrap_or_default();
        for route in listed.items {
            let text = |key: &str| {
                route
                    .get(key)
                    .and_then(Json::as_str)
                    .unwrap_or_default()
                    .to_owned()
            };
            let default = text("destRange") == "0.0.0.0/0" || text("destRange") == "::/0";
            if !default || !names::same_link(&text("network"), own) {
                continue;
            }
            let mut request = cloud.request(
                Method::Delete,
                "compute",
                format!("{path}/{}", text("name")),
            );
            request.user_project = None;
            let change = Change {
                act: Act::Delete,
                key: Some(cloud.get("compute", request.path.clone())),
                request,
                request_id: true,
                operation: Some(OperationKind::Compute),
                sent: Json::Null,
                limit: subject.limit(Act::Create),
            };
            cloud.change(&change, log).await?;
        }
        Ok(false)
    }
}

/// Logging is an object with a switch; here it is a block that is there or not. The primary range can
/// only grow.
pub(crate) struct Subnetwork;

#[async_trait]
impl Hooks for Subnetwork {
    fn plan(&self, plan: &mut Plan<'_>) {
        let new = plan.planned.text("ip_cidr_range").map(str::to_owned);
        let old = plan.before("ip_cidr_range").and_then(Value::as_str);
        if let (Some(old), Some(new)) = (old, new)
            && !contains(&new, old)
        {
            plan.replace("ip_cidr_range");
        }
        // Absent blocks mean "leave them" unless the user says that they mean "none".
        let empty = plan
            .config
            .attribute("secondary_ip_range")
            .and_then(Value::as_sequence)
            .is_some_and(<[_]>::is_empty);
        if empty && plan.planned.bool("send_secondary_ip_range_if_empty") == Some(true) {
            let ty = plan.planned.ty("secondary_ip_range");
            if let Some(element) = ty.element() {
                plan.planned.set(
                    "secondary_ip_range",
                    Value::list(element.clone(), Vec::new()),
                );
            }
        }
    }

    fn decode(&self, _subject: &Subject<'_>, json: &mut Json) {
        switch_off(json);
    }

    async fn encode(
        &self,
        _subject: &Subject<'_>,
        act: Act,
        _prior: Option<&Value>,
        body: &mut Map<String, Json>,
    ) -> Result<(), Failure> {
        switch_on(act, body);
        Ok(())
    }
}

/// Whether range `outer` contains range `inner` (`10.0.0.0/16`, `10.0.1.0/24`).
fn contains(outer: &str, inner: &str) -> bool {
    let parse = |s: &str| -> Option<(u128, u32, u32)> {
        let (address, bits) = s.split_once('/')?;
        let bits: u32 = bits.parse().ok()?;
        match address.parse().ok()? {
            std::net::IpAddr::V4(a) => Some((u128::from(u32::from(a)), bits, 32)),
            std::net::IpAddr::V6(a) => Some((u128::from(a), bits, 128)),
        }
    };
    match (parse(outer), parse(inner)) {
        (Some((a, x, width)), Some((b, y, other))) => {
            width == other
                && x <= y
                && x <= width
                && (x == 0 || (a >> (width - x)) == (b >> (width - x)))
        }
        _ => outer == inner,
    }
}

/// `logConfig {enable: false}` is no block.
fn switch_off(json: &mut Json) {
    if json.pointer("/logConfig/enable").and_then(Json::as_bool) != Some(true)
        && let Some(object) = json.as_object_mut()
    {
        object.remove("logConfig");
    }
}

/// A block switches logging on; its absence switches it off where it may have been on.
fn switch_on(act: Act, body: &mut Map<String, Json>) {
    match body.get_mut("logConfig") {
        Some(Json::Object(log)) => {
            log.insert("enable".into(), Json::Bool(true));
        }
        _ if act == Act::Update => {
            body.insert("logConfig".into(), json!({"enable": false}));
        }
        _ => {}
    }
}

/// Logging as with subnetworks, and an old switch for it.
pub(crate) struct Firewall;

#[async_trait]
impl Hooks for Firewall {
    fn plan(&self, plan: &mut Plan<'_>) {
        if plan.configured("enable_logging").is_none() && plan.prior.is_some() {
            let on = plan
                .planned
                .get("log_config")
                .and_then(Value::as_sequence)
                .is_some_and(|blocks| !blocks.is_empty());
            plan.planned.set("enable_logging", Value::bool(on));
        }
    }

    fn decode(&self, _subject: &Subject<'_>, json: &mut Json) {
        switch_off(json);
    }

    fn derive(
        &self,
        _subject: &Subject<'_>,
        json: &Json,
        draft: &mut Draft,
        _known: Option<&Value>,
    ) {
        draft.set(
            "enable_logging",
            Value::bool(json.get("logConfig").is_some()),
        );
    }

    async fn encode(
        &self,
        subject: &Subject<'_>,
        act: Act,
        _prior: Option<&Value>,
        body: &mut Map<String, Json>,
    ) -> Result<(), Failure> {
        if subject
            .object
            .attribute("enable_logging")
            .and_then(Value::as_bool)
            == Some(true)
            && !body.contains_key("logConfig")
        {
            body.insert("logConfig".into(), json!({}));
        }
        switch_on(act, body);
        Ok(())
    }
}

/// The zone of the next hop's instance is read off its link.
pub(crate) struct Route;

#[async_trait]
impl Hooks for Route {
    fn derive(
        &self,
        _subject: &Subject<'_>,
        json: &Json,
        draft: &mut Draft,
        _known: Option<&Value>,
    ) {
        let zone = json
            .get("nextHopInstance")
            .and_then(Json::as_str)
            .and_then(|link| names::after(link, "zones"));
        if let Some(zone) = zone {
            draft.set("next_hop_instance_zone", Value::string(zone));
        }
    }
}

/// A consistency group is an empty object on the wire and a switch here.
pub(crate) struct ResourcePolicy;

#[async_trait]
impl Hooks for ResourcePolicy {
    async fn encode(
        &self,
        _subject: &Subject<'_>,
        _act: Act,
        _prior: Option<&Value>,
        body: &mut Map<String, Json>,
    ) -> Result<(), Failure> {
        if body.contains_key("diskConsistencyGroupPolicy") {
            body.insert("diskConsistencyGroupPolicy".into(), json!({}));
        }
        Ok(())
    }

    fn derive(
        &self,
        _subject: &Subject<'_>,
        json: &Json,
        draft: &mut Draft,
        _known: Option<&Value>,
    ) {
        if json.get("diskConsistencyGroupPolicy").is_none() {
            return;
        }
        let ty = draft.ty("disk_consistency_group_policy");
        if let Some(element) = ty.element() {
            let group = Value::object([("enabled", Value::TRUE)]);
            draft.set(
                "disk_consistency_group_policy",
                Value::list(element.clone(), vec![group]),
            );
        }
    }
}

/// The number of machines changes by `resize`; what else may change, by PATCH.
pub(crate) struct Reservation;

#[async_trait]
impl Hooks for Reservation {
    fn setter_fits(&self, subject: &Subject<'_>, _setter: &Setter, prior: &Value) -> bool {
        // Resize knows the number only.
        let rest = |v: &Value| {
            v.attribute("specific_reservation")
                .and_then(Value::as_sequence)
                .and_then(|s| s.first().cloned())
                .and_then(|o| o.attribute("instance_properties").cloned())
        };
        rest(subject.object) == rest(prior)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_contain_ranges() {
        for (outer, inner, want) in [
            ("10.0.0.0/16", "10.0.1.0/24", true),
            ("10.0.0.0/24", "10.0.0.0/16", false),
            ("10.0.0.0/16", "10.0.0.0/16", true),
            ("10.1.0.0/16", "10.0.0.0/16", false),
            ("0.0.0.0/0", "10.0.0.0/8", true),
            ("fd00::/48", "fd00::/64", true),
        ] {
            assert_eq!(contains(outer, inner), want, "{outer} {inner}");
        }
    }
}
