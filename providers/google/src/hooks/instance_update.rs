//! Changing a machine in place: one method per matter, some of them on a stopped machine only.

use formwork_google_client::{Body, Method};
use formwork_google_schema::Act;
use formwork_provider::OperationLog;
use formwork_values::Value;
use serde_json::{Map, Value as Json, json};

use crate::draft::text;
use crate::engine::Subject;
use crate::failure::Failure;
use crate::hooks::instance::NEED_STOP;
use crate::names;

/// Sends a method of the machine: `VERB .../instances/I/SUFFIX`.
async fn call(
    subject: &Subject<'_>,
    method: Method,
    suffix: &str,
    query: &[(&str, &str)],
    body: Option<Json>,
    log: &dyn OperationLog,
) -> Result<(), Failure> {
    let key = subject.key().ok_or_else(|| subject.no_address())?;
    let mut request = subject
        .cloud
        .request(method, "compute", format!("{}/{suffix}", key.path));
    for (name, value) in query {
        request
            .query
            .push(((*name).to_owned(), (*value).to_owned()));
    }
    request.body = body.map_or(Body::None, Body::Json);
    subject.send_update(request, log).await
}

/// Starts, stops or suspends the machine.
pub(crate) async fn power(
    subject: &Subject<'_>,
    verb: &str,
    log: &dyn OperationLog,
) -> Result<(), Failure> {
    call(subject, Method::Post, verb, &[], None, log).await
}

fn at<'j>(json: &'j Json, pointer: &str) -> &'j Json {
    json.pointer(pointer).unwrap_or(&Json::Null)
}

/// Changes the machine from `prior` to the planned object.
pub(crate) async fn update(
    subject: &Subject<'_>,
    prior: &Value,
    log: &dyn OperationLog,
) -> Result<(), Failure> {
    let changed: Vec<String> = subject
        .changed(prior)
        .iter()
        .map(|n| n.name.to_string())
        .collect();
    let has = |name: &str| changed.iter().any(|c| c == name);
    let body = subject.body(Act::Update, Some(prior)).await?;
    let mut done: Vec<&str> = Vec::new();
    let current = subject.read().await?.unwrap_or(Json::Null);
    let take = |keys: &[&str]| -> Map<String, Json> {
        keys.iter()
            .map(|k| ((*k).to_owned(), body.get(*k).cloned().unwrap_or(Json::Null)))
            .collect()
    };

    if has("labels") {
        done.push("labels");
        let labels = body.get("labels").cloned().unwrap_or_else(|| json!({}));
        let body = json!({"labels": labels, "labelFingerprint": at(&current, "/labelFingerprint")});
        call(subject, Method::Post, "setLabels", &[], Some(body), log).await?;
    }
    if has("metadata") || has("metadata_startup_script") {
        done.extend(["metadata", "metadata_startup_script"]);
        let items = body
            .get("metadata")
            .and_then(|m| m.get("items"))
            .cloned()
            .unwrap_or_else(|| json!([]));
        let body = json!({"items": items, "fingerprint": at(&current, "/metadata/fingerprint")});
        call(subject, Method::Post, "setMetadata", &[], Some(body), log).await?;
    }
    if has("tags") {
        done.push("tags");
        let items = body
            .get("tags")
            .and_then(|t| t.get("items"))
            .cloned()
            .unwrap_or_else(|| json!([]));
        let body = json!({"items": items, "fingerprint": at(&current, "/tags/fingerprint")});
        call(subject, Method::Post, "setTags", &[], Some(body), log).await?;
    }
    if has("resource_policies") {
        done.push("resource_policies");
        policies(subject, prior, log).await?;
    }
    if has("scheduling") {
        done.push("scheduling");
        let scheduling = body.get("scheduling").cloned().unwrap_or_else(|| json!({}));
        call(
            subject,
            Method::Post,
            "setScheduling",
            &[],
            Some(scheduling),
            log,
        )
        .await?;
    }
    if has("deletion_protection") {
        done.push("deletion_protection");
        let on = subject
            .object
            .attribute("deletion_protection")
            .and_then(Value::as_bool)
            == Some(true);
        let on = if on { "true" } else { "false" };
        call(
            subject,
            Method::Post,
            "setDeletionProtection",
            &[("deletionProtection", on)],
            None,
            log,
        )
        .await?;
    }
    if has("attached_disk") {
        done.push("attached_disk");
        disks(subject, prior, &current, log).await?;
    }
    if has("network_interface") {
        done.push("network_interface");
        interfaces(subject, &body, &current, log).await?;
    }

    let stopped: Vec<&str> = NEED_STOP.into_iter().filter(|name| has(name)).collect();
    let status = at(&current, "/status")
        .as_str()
        .unwrap_or_default()
        .to_owned();
    let was_running = matches!(status.as_str(), "RUNNING" | "STAGING" | "PROVISIONING");
    let desired = text(subject.object, "desired_status");
    let mut running = was_running;
    if !stopped.is_empty() {
        if running {
            power(subject, "stop", log).await?;
            running = false;
        }
        for name in &stopped {
            done.push(name);
            while_stopped(subject, name, &body, &take, log).await?;
        }
    }
    if has("desired_status") || (!stopped.is_empty() && was_running) {
        done.push("desired_status");
        match desired {
            Some("TERMINATED") if running => power(subject, "stop", log).await?,
            Some("SUSPENDED") if running => power(subject, "suspend", log).await?,
            Some("RUNNING") if status == "SUSPENDED" => power(subject, "resume", log).await?,
            Some("RUNNING") | None if !running && (was_running || desired.is_some()) => {
                power(subject, "start", log).await?;
            }
            _ => {}
        }
    }
    let left: Vec<&str> = changed
        .iter()
        .map(String::as_str)
        .filter(|name| !done.contains(name) && !matches!(*name, "boot_disk"))
        .collect();
    if left.is_empty() {
        return Ok(());
    }
    if left.iter().all(|name| {
        matches!(
            *name,
            "description" | "can_ip_forward" | "key_revocation_action_type"
        )
    }) {
        // No method of their own: the whole machine is written with them changed.
        let mut whole = current.clone();
        for name in &left {
            if let Some(path) = subject
                .resource
                .field(name)
                .and_then(|n| n.path.clone())
                .and_then(|p| p.first().cloned())
            {
                whole[&*path] = body.get(&*path).cloned().unwrap_or(Json::Null);
            }
        }
        let key = subject.key().ok_or_else(|| subject.no_address())?;
        let mut request = subject.cloud.request(Method::Put, "compute", key.path);
        request.body = Body::Json(whole);
        return subject.send_update(request, log).await;
    }
    Err(Failure::Refused(
        "Unsupported by the provider",
        format!(
            "{} cannot be changed in {} by this provider yet. What else was planned for it has been done.",
            subject.title(),
            left.join(", ")
        ),
        "",
    ))
}

async fn while_stopped(
    subject: &Subject<'_>,
    name: &str,
    body: &Map<String, Json>,
    take: &(dyn Fn(&[&str]) -> Map<String, Json> + Send + Sync),
    log: &dyn OperationLog,
) -> Result<(), Failure> {
    match name {
        "machine_type" => {
            let body = Json::Object(take(&["machineType"]));
            call(
                subject,
                Method::Post,
                "setMachineType",
                &[],
                Some(body),
                log,
            )
            .await
        }
        "min_cpu_platform" => {
            let body = Json::Object(take(&["minCpuPlatform"]));
            call(
                subject,
                Method::Post,
                "setMinCpuPlatform",
                &[],
                Some(body),
                log,
            )
            .await
        }
        "service_account" => {
            let account = body
                .get("serviceAccounts")
                .and_then(|a| a.get(0))
                .cloned()
                .unwrap_or_else(|| json!({}));
            call(
                subject,
                Method::Post,
                "setServiceAccount",
                &[],
                Some(account),
                log,
            )
            .await
        }
        "enable_display" => {
            let on = subject
                .object
                .attribute("enable_display")
                .and_then(Value::as_bool)
                == Some(true);
            call(
                subject,
                Method::Patch,
                "updateDisplayDevice",
                &[],
                Some(json!({"enableDisplay": on})),
                log,
            )
            .await
        }
        "shielded_instance_config" => {
            let config = body
                .get("shieldedInstanceConfig")
                .cloned()
                .unwrap_or_else(|| json!({}));
            call(
                subject,
                Method::Patch,
                "updateShieldedInstanceConfig",
                &[],
                Some(config),
                log,
            )
            .await
        }
        _ => {
            // advanced_machine_features has no setter: the whole is written.
            let mut whole = subject.read().await?.unwrap_or(Json::Null);
            whole["advancedMachineFeatures"] = body
                .get("advancedMachineFeatures")
                .cloned()
                .unwrap_or(Json::Null);
            let key = subject.key().ok_or_else(|| subject.no_address())?;
            let mut request = subject.cloud.request(Method::Put, "compute", key.path);
            request.body = Body::Json(whole);
            subject.send_update(request, log).await
        }
    }
}

fn texts(object: &Value, name: &str) -> Vec<String> {
    object
        .attribute(name)
        .and_then(Value::as_sequence)
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .map(str::to_owned)
        .collect()
}

async fn policies(
    subject: &Subject<'_>,
    prior: &Value,
    log: &dyn OperationLog,
) -> Result<(), Failure> {
    let (old, new) = (
        texts(prior, "resource_policies"),
        texts(subject.object, "resource_policies"),
    );
    let not_in = |a: &[String], b: &[String]| -> Vec<String> {
        a.iter()
            .filter(|x| !b.iter().any(|y| names::same_link_or_name(x, y)))
            .cloned()
            .collect()
    };
    for (list, method) in [
        (not_in(&old, &new), "removeResourcePolicies"),
        (not_in(&new, &old), "addResourcePolicies"),
    ] {
        if !list.is_empty() {
            call(
                subject,
                Method::Post,
                method,
                &[],
                Some(json!({"resourcePolicies": list})),
                log,
            )
            .await?;
        }
    }
    Ok(())
}

async fn disks(
    subject: &Subject<'_>,
    prior: &Value,
    current: &Json,
    log: &dyn OperationLog,
) -> Result<(), Failure> {
    let blocks = |object: &Value| -> Vec<Value> {
        object
            .attribute("attached_disk")
            .and_then(Value::as_sequence)
            .map(<[_]>::to_vec)
            .unwrap_or_default()
    };
    let source = |block: &Value| text(block, "source").unwrap_or_default().to_owned();
    let (old, new) = (blocks(prior), blocks(subject.object));
    for block in &old {
        if new
            .iter()
            .any(|n| names::same_link_or_name(&source(n), &source(block)))
        {
            continue;
        }
        let device = current
            .get("disks")
            .and_then(Json::as_array)
            .into_iter()
            .flatten()
            .find(|d| {
                at(d, "/source")
                    .as_str()
                    .is_some_and(|s| names::same_link_or_name(s, &source(block)))
            })
            .and_then(|d| at(d, "/deviceName").as_str().map(str::to_owned));
        if let Some(device) = device {
            call(
                subject,
                Method::Post,
                "detachDisk",
                &[("deviceName", &device)],
                None,
                log,
            )
            .await?;
        }
    }
    let Some(node) = subject.resource.field("attached_disk") else {
        return Ok(());
    };
    for block in &new {
        if old
            .iter()
            .any(|o| names::same_link_or_name(&source(o), &source(block)))
        {
            continue;
        }
        let mut disk = Map::new();
        crate::json::expand(&node.children, block, &subject.located(), &mut disk);
        disk.remove("forceAttach");
        call(
            subject,
            Method::Post,
            "attachDisk",
            &[],
            Some(Json::Object(disk)),
            log,
        )
        .await?;
    }
    Ok(())
}

/// External addresses and alias ranges; what else of an interface changes needs a new machine.
async fn interfaces(
    subject: &Subject<'_>,
    body: &Map<String, Json>,
    current: &Json,
    log: &dyn OperationLog,
) -> Result<(), Failure> {
    let wanted = body
        .get("networkInterfaces")
        .and_then(Json::as_array)
        .cloned()
        .unwrap_or_default();
    let there = current
        .get("networkInterfaces")
        .and_then(Json::as_array)
        .cloned()
        .unwrap_or_default();
    for (want, have) in wanted.iter().zip(&there) {
        let name = at(have, "/name").as_str().unwrap_or_default().to_owned();
        let configs = |nic: &Json| {
            at(nic, "/accessConfigs")
                .as_array()
                .cloned()
                .unwrap_or_default()
        };
        let (new, old) = (configs(want), configs(have));
        let same = new.len() == old.len()
            && new
                .iter()
                .zip(&old)
                .all(|(n, o)| crate::engine::carries::contradiction(o, n).is_none());
        if !same {
            for config in &old {
                let config = at(config, "/name")
                    .as_str()
                    .unwrap_or("External NAT")
                    .to_owned();
                call(
                    subject,
                    Method::Post,
                    "deleteAccessConfig",
                    &[("accessConfig", &config), ("networkInterface", &name)],
                    None,
                    log,
                )
                .await?;
            }
            for config in new {
                call(
                    subject,
                    Method::Post,
                    "addAccessConfig",
                    &[("networkInterface", &name)],
                    Some(config),
                    log,
                )
                .await?;
            }
        }
        let mut patch = Map::new();
        for key in [
            "aliasIpRanges",
            "stackType",
            "networkIP",
            "subnetwork",
            "network",
        ] {
            let (new, old) = (at(want, &format!("/{key}")), at(have, &format!("/{key}")));
            let differs = match (new, old) {
                (Json::Null, Json::Array(old)) if key == "aliasIpRanges" => !old.is_empty(),
                (Json::Null, _) => false,
                (new, old) => {
                    !crate::engine::carries::shows(&json!({key: old}), &json!({key: new}))
                }
            };
            if differs {
                patch.insert(
                    key.to_owned(),
                    if new.is_null() {
                        json!([])
                    } else {
                        new.clone()
                    },
                );
            }
        }
        if !patch.is_empty() {
            // The interface's own token, read afresh: a change above may have moved it.
            let fresh = subject.read().await?.unwrap_or(Json::Null);
            let token = fresh
                .get("networkInterfaces")
                .and_then(Json::as_array)
                .into_iter()
                .flatten()
                .find(|n| at(n, "/name").as_str() == Some(&name))
                .map_or(Json::Null, |n| at(n, "/fingerprint").clone());
            patch.insert("fingerprint".into(), token);
            call(
                subject,
                Method::Patch,
                "updateNetworkInterface",
                &[("networkInterface", &name)],
                Some(Json::Object(patch)),
                log,
            )
            .await?;
        }
    }
    Ok(())
}
