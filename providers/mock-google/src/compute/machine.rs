//! What can be done with an instance once it is there.

use serde_json::{Value, json};

use super::generic::{change, changeable, difference};
use super::references::{Place, settle};
use super::{attached, nic};
use crate::checking::{Body, merge, without_nothing};
use crate::error::ApiError;
use crate::links::name_of;
use crate::request::{Answer, Request};
use crate::store::{Change, Object};
use crate::time::pacific;
use crate::transaction::{Begin, Transaction, path};

/// Plays a custom method of instances.
pub(crate) fn custom(request: &Request, tx: &mut Transaction) -> Result<Answer, ApiError> {
    if request.verb() == "getSerialPortOutput" {
        let (key, object) = super::generic::found(request, tx)?;
        return Ok(Answer::Json(json!({
            "kind": "compute#serialPortOutput", "contents": "", "start": "0", "next": "0",
            "selfLink": format!("{}/serialPort", object.text("selfLink").unwrap_or(path(&key))),
        })));
    }
    let (key, object) = changeable(request, tx)?;
    let place = Place::of(path(&key), tx);
    let verb = request.verb();
    match verb {
        "start" | "resume" => return start(request, tx, &key, object),
        "stop" | "suspend" => return stop(request, tx, &key, object),
        _ => {}
    }
    let mut body = object.body.clone();
    let mut given = request.body.clone();
    let stopped = object.text("status") == Some("TERMINATED");
    let needs_stop = || {
        ApiError::new(
            400,
            "invalidUsage",
            "FAILED_PRECONDITION",
            format!("Invalid resource usage: 'The instance must be stopped before {verb}.'."),
        )
    };
    match verb {
        "setMetadata" | "setTags" => {
            let field = if verb == "setTags" {
                "tags"
            } else {
                "metadata"
            };
            let own = body.get(field).and_then(|own| own.get("fingerprint"));
            if given.get("fingerprint") != own {
                return Err(ApiError::condition_not_met(format!(
                    "Supplied fingerprint does not match current {field} fingerprint."
                )));
            }
            given.insert("fingerprint".into(), tx.fingerprint().into());
            if field == "metadata" {
                given.insert("kind".into(), "compute#metadata".into());
            }
            without_nothing(&mut given);
            body.insert(field.into(), given.into());
        }
        "setMachineType" => {
            if !stopped {
                return Err(needs_stop());
            }
            settle("instances", &mut given, &place, tx)?;
            let link = given
                .get("machineType")
                .and_then(Value::as_str)
                .unwrap_or_default();
            let zone = place.zone.as_deref().unwrap_or_default();
            let machine = tx
                .catalogue
                .machine_type(zone, name_of(link))
                .ok_or_else(|| {
                    ApiError::invalid("machineType", link, "The zone has no such machine type.")
                })?;
            body.insert("machineType".into(), link.into());
            body.insert("cpuPlatform".into(), machine.cpu_platform.into());
        }
        "setMinCpuPlatform" => {
            if !stopped {
                return Err(needs_stop());
            }
            merge(&mut body, &given);
        }
        "setServiceAccount" => {
            if !stopped {
                return Err(needs_stop());
            }
            let email = given
                .get("email")
                .and_then(Value::as_str)
                .unwrap_or_default();
            if email.is_empty() {
                body.remove("serviceAccounts");
            } else {
                body.insert("serviceAccounts".into(), json!([given]));
            }
        }
        "setScheduling" => {
            let old = body
                .get("scheduling")
                .and_then(Value::as_object)
                .cloned()
                .unwrap_or_default();
            let mut new = old.clone();
            merge(&mut new, &given);
            if old.get("provisioningModel") != new.get("provisioningModel") {
                return Err(ApiError::invalid(
                    "scheduling.provisioningModel",
                    "",
                    "The provisioning model of an instance cannot be changed.",
                ));
            }
            body.insert("scheduling".into(), new.into());
        }
        "setDeletionProtection" => {
            let on = request
                .query("deletionProtection")
                .is_none_or(|text| text.eq_ignore_ascii_case("true"));
            body.insert("deletionProtection".into(), on.into());
        }
        "setDiskAutoDelete" => {
            let on = request
                .query("autoDelete")
                .is_some_and(|text| text.eq_ignore_ascii_case("true"));
            let device = request.query("deviceName").unwrap_or_default();
            let at = device_at(&body, device)?;
            if let Some(disk) = body.get_mut("disks").and_then(|disks| disks.get_mut(at)) {
                disk["autoDelete"] = on.into();
            }
        }
        "attachDisk" => {
            // the reference table knows it as one of the instance's disks
            let mut wrapped = crate::catalogue::object(json!({ "disks": [given] }));
            settle("instances", &mut wrapped, &place, tx)?;
            let disk = match wrapped.get_mut("disks").and_then(|disks| disks.get_mut(0)) {
                Some(Value::Object(disk)) => std::mem::take(disk),
                _ => Body::new(),
            };
            let mut disks = crate::usage::list(body.get("disks")).to_vec();
            attached::attach(&mut disks, disk, tx)?;
            body.insert("disks".into(), disks.into());
        }
        "detachDisk" => {
            let at = device_at(&body, request.query("deviceName").unwrap_or_default())?;
            let mut disks = crate::usage::list(body.get("disks")).to_vec();
            if disks
                .get(at)
                .is_some_and(|disk| disk.get("boot") == Some(&Value::Bool(true)))
                && !stopped
            {
                return Err(needs_stop());
            }
            disks.remove(at);
            body.insert("disks".into(), disks.into());
        }
        "addAccessConfig" | "deleteAccessConfig" | "updateAccessConfig" => {
            access(request, &mut body, tx)?
        }
        "updateNetworkInterface" => {
            let mut wrapped = crate::catalogue::object(json!({ "networkInterfaces": [given] }));
            settle("instances", &mut wrapped, &place, tx)?;
            let patch = match wrapped
                .get_mut("networkInterfaces")
                .and_then(|nics| nics.get_mut(0))
            {
                Some(Value::Object(nic)) => std::mem::take(nic),
                _ => Body::new(),
            };
            nic::update(
                &mut body,
                request.query("networkInterface").unwrap_or_default(),
                &patch,
                tx,
            )?;
        }
        "updateDisplayDevice" => {
            body.insert("displayDevice".into(), given.into());
        }
        "updateShieldedInstanceConfig" => {
            let mut config = body
                .get("shieldedInstanceConfig")
                .and_then(Value::as_object)
                .cloned()
                .unwrap_or_default();
            merge(&mut config, &given);
            body.insert("shieldedInstanceConfig".into(), config.into());
        }
        "addResourcePolicies" | "removeResourcePolicies" => {
            settle("instances", &mut given, &place, tx)?;
            let given = crate::usage::list(given.get("resourcePolicies")).to_vec();
            let mut policies = crate::usage::list(body.get("resourcePolicies")).to_vec();
            if verb == "addResourcePolicies" {
                policies.extend(given);
            } else {
                policies.retain(|policy| !given.contains(policy));
            }
            body.insert("resourcePolicies".into(), policies.into());
            without_nothing(&mut body);
        }
        "reset" => {}
        _ => return Err(ApiError::not_played(&request.method.id)),
    }
    body.insert("fingerprint".into(), tx.fingerprint().into());
    Ok(Answer::Json(change(request, tx, &key, object, body, verb)))
}

fn device_at(body: &Body, device: &str) -> Result<usize, ApiError> {
    crate::usage::list(body.get("disks"))
        .iter()
        .position(|disk| disk.get("deviceName").is_some_and(|own| own == device))
        .ok_or_else(|| {
            ApiError::invalid(
                "deviceName",
                device,
                "No attached disk found with this device name.",
            )
        })
}

fn access(request: &Request, body: &mut Body, tx: &mut Transaction) -> Result<(), ApiError> {
    let wanted = request.query("networkInterface").unwrap_or_default();
    let nic = body
        .get_mut("networkInterfaces")
        .and_then(Value::as_array_mut)
        .into_iter()
        .flatten()
        .filter_map(Value::as_object_mut)
        .find(|nic| nic.get("name").is_some_and(|own| own == wanted))
        .ok_or_else(|| {
            ApiError::invalid(
                "networkInterface",
                wanted,
                "The instance has no such interface.",
            )
        })?;
    let mut configs = crate::usage::list(nic.get("accessConfigs")).to_vec();
    match request.verb() {
        "addAccessConfig" => {
            if !configs.is_empty() {
                return Err(ApiError::invalid(
                    "networkInterface",
                    wanted,
                    "At most one access config is supported.",
                ));
            }
            let mut config = request.body.clone();
            without_nothing(&mut config);
            nic::fill_access(&mut config, tx)?;
            configs.push(config.into());
        }
        "deleteAccessConfig" => {
            let name = request.query("accessConfig").unwrap_or_default();
            let before = configs.len();
            configs.retain(|config| config.get("name").is_none_or(|own| own != name));
            if configs.len() == before {
                return Err(ApiError::invalid(
                    "accessConfig",
                    name,
                    "There is no such access config.",
                ));
            }
        }
        _ => {
            if let Some(Value::Object(config)) = configs.first_mut() {
                merge(config, &request.body);
            }
        }
    }
    nic.insert("accessConfigs".into(), configs.into());
    without_nothing(nic);
    Ok(())
}

fn start(
    request: &Request,
    tx: &mut Transaction,
    key: &str,
    object: &Object,
) -> Result<Answer, ApiError> {
    let mut body = object.body.clone();
    body.insert("status".into(), "RUNNING".into());
    body.insert("lastStartTimestamp".into(), pacific(tx.now).into());
    let uses = object.hidden.get("running").cloned().unwrap_or(json!({}));
    power(request, tx, key, object, body, uses, "STAGING")
}

fn stop(
    request: &Request,
    tx: &mut Transaction,
    key: &str,
    object: &Object,
) -> Result<Answer, ApiError> {
    let suspend = request.verb() == "suspend";
    let mut body = object.body.clone();
    body.insert(
        "status".into(),
        if suspend { "SUSPENDED" } else { "TERMINATED" }.into(),
    );
    body.insert("lastStopTimestamp".into(), pacific(tx.now).into());
    // a stopped machine gives its seat free
    power(
        request,
        tx,
        key,
        object,
        body,
        json!({}),
        if suspend { "SUSPENDING" } else { "STOPPING" },
    )
}

fn power(
    request: &Request,
    tx: &mut Transaction,
    key: &str,
    object: &Object,
    body: Body,
    uses: Value,
    meanwhile: &str,
) -> Result<Answer, ApiError> {
    let fields = difference(&object.body, body);
    let status = |text: Option<&str>| crate::catalogue::object(json!({ "status": text }));
    tx.set(key, status(Some(meanwhile)));
    let hidden = crate::catalogue::object(json!({ "uses": uses }));
    Ok(Answer::Json(tx.begin_compute(
        request,
        Begin {
            kind: request.verb().to_owned(),
            target: key.to_owned(),
            target_id: object.text("id").unwrap_or_default().to_owned(),
            success: vec![Change::Set {
                key: key.to_owned(),
                body: fields,
                hidden,
            }],
            failure: vec![Change::Set {
                key: key.to_owned(),
                body: status(object.text("status")),
                hidden: Body::new(),
            }],
            error: None,
        },
    )))
}

/// What goes with an instance that is deleted: the disks that are to go with it.
pub(crate) fn goes_along(object: &Object) -> Vec<Change> {
    crate::usage::list(object.body.get("disks"))
        .iter()
        .filter(|disk| disk.get("autoDelete") == Some(&Value::Bool(true)))
        .filter_map(|disk| crate::links::key_of(disk.get("source")?.as_str()?))
        .map(|key| Change::Remove { key })
        .collect()
}
