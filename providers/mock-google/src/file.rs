//! Filestore instances.

use std::net::Ipv4Addr;

use serde_json::{Value, json};

use crate::catalogue::object as fields;
use crate::checking::{Body, merge, without_nothing};
use crate::dispatch::json as answer;
use crate::error::ApiError;
use crate::lists::page;
use crate::request::{Answer, Request};
use crate::store::{Change, Object, Work};
use crate::time::zulu;
use crate::transaction::{Begin, Transaction, created, deleting, path};

const KIND: &str = "type.googleapis.com/google.cloud.filestore.v1.Instance";

pub(crate) fn handle(request: &Request, tx: &mut Transaction) -> Result<Answer, ApiError> {
    match (request.method.collection(), request.verb()) {
        ("file.projects.locations.operations", verb) => operations(request, tx, verb),
        ("file.projects.locations.instances", "create") => create(request, tx),
        ("file.projects.locations.instances", "get") => {
            Ok(answer(found(request, tx)?.1.body.clone()))
        }
        ("file.projects.locations.instances", "list") => list(request, tx),
        ("file.projects.locations.instances", "patch") => patch(request, tx),
        ("file.projects.locations.instances", "delete") => delete(request, tx),
        _ => Err(ApiError::not_played(&request.method.id)),
    }
}

fn operations(request: &Request, tx: &Transaction, verb: &str) -> Result<Answer, ApiError> {
    match verb {
        "get" => tx
            .store
            .operation(&request.key())
            .map(|operation| Answer::Json(operation.show(tx.now)))
            .ok_or_else(|| missing(&request.path)),
        "list" => {
            let prefix = format!("{}/", request.key());
            let operations: Vec<Value> = tx
                .store
                .operations_below(&prefix)
                .map(|operation| operation.show(tx.now))
                .collect();
            Ok(Answer::Json(json!({ "operations": operations })))
        }
        _ => Err(ApiError::not_played(&request.method.id)),
    }
}

fn missing(path: &str) -> ApiError {
    ApiError::new(
        404,
        "notFound",
        "NOT_FOUND",
        format!("Resource '{path}' was not found"),
    )
}

fn found<'a>(request: &Request, tx: &Transaction<'a>) -> Result<(String, &'a Object), ApiError> {
    let key = request.key();
    match tx.get(&key) {
        Some(object) => Ok((key, object)),
        None => Err(missing(&request.path)),
    }
}

/// The least capacity of a tier in GiB, and whether it stands in a region instead of a zone.
fn tier(name: &str) -> Option<(i64, bool)> {
    Some(match name {
        "STANDARD" | "BASIC_HDD" => (1024, false),
        "PREMIUM" | "BASIC_SSD" => (2560, false),
        "HIGH_SCALE_SSD" => (10240, false),
        "ZONAL" => (1024, false),
        "ENTERPRISE" | "REGIONAL" => (1024, true),
        _ => return None,
    })
}

fn capacity(body: &Body) -> i64 {
    crate::usage::list(body.get("fileShares"))
        .first()
        .and_then(|share| share.get("capacityGb"))
        .and_then(|value| {
            value
                .as_str()
                .and_then(|text| text.parse().ok())
                .or_else(|| value.as_i64())
        })
        .unwrap_or_default()
}

fn create(request: &Request, tx: &mut Transaction) -> Result<Answer, ApiError> {
    let project = request.project.clone().unwrap_or_default();
    let location = request.variable("locationsId").to_owned();
    let id = request.query("instanceId").unwrap_or_default().to_owned();
    if !super::compute::is_name(&id) {
        return Err(ApiError::bad(format!("The instance id '{id}' is no name.")));
    }
    let key = format!("{}/{id}", request.key());
    tx.target = Some(key.clone());
    if tx.get(&key).is_some() {
        return Err(ApiError::new(
            409,
            "alreadyExists",
            "ALREADY_EXISTS",
            format!("Resource '{}' already exists", path(&key)),
        ));
    }
    let mut body = request.body.clone();
    without_nothing(&mut body);
    let name = body
        .get("tier")
        .and_then(Value::as_str)
        .unwrap_or_default()
        .to_owned();
    let (least, regional) =
        tier(&name).ok_or_else(|| ApiError::bad(format!("The tier '{name}' is not known.")))?;
    let there = if regional {
        tx.catalogue.has_region(&location)
    } else {
        tx.catalogue.region_of(&location).is_some()
    };
    if !there {
        return Err(ApiError::bad(format!(
            "The location '{location}' is no {} where tier {name} is offered.",
            if regional { "region" } else { "zone" }
        )));
    }
    let shares = crate::usage::list(body.get("fileShares"));
    if shares.len() != 1 {
        return Err(ApiError::bad("An instance has exactly one file share."));
    }
    if capacity(&body) < least {
        return Err(ApiError::bad(format!(
            "The capacity of tier {name} is at least {least} GiB, not {}.",
            capacity(&body)
        )));
    }
    export_options(&mut body);
    let holds = networks(&mut body, &project, &name, tx)?;
    body.insert("name".into(), path(&key).into());
    body.insert("createTime".into(), zulu(tx.now).into());
    body.insert("state".into(), "CREATING".into());
    let object = Object {
        collection: "file.projects.locations.instances".to_owned(),
        body,
        hidden: fields(json!({ "holds": [holds] })),
        pending: None,
    };
    tx.creating(&key, object);
    let success = created(&key, fields(json!({"state": "READY"})));
    let failure = vec![Change::Remove { key: key.clone() }];
    begin(request, tx, &key, "create", success, failure)
}

/// What an export that says nothing of it takes for security.
fn export_options(body: &mut Body) {
    let shares = body.get_mut("fileShares").and_then(Value::as_array_mut);
    for share in shares.into_iter().flatten() {
        let options = share
            .get_mut("nfsExportOptions")
            .and_then(Value::as_array_mut);
        for option in options
            .into_iter()
            .flatten()
            .filter_map(Value::as_object_mut)
        {
            option
                .entry("securityFlavors")
                .or_insert(json!(["AUTH_SYS"]));
        }
    }
}

/// Checks the network and gives the instance its addresses. Answers the network's key.
fn networks(
    body: &mut Body,
    project: &str,
    tier: &str,
    tx: &Transaction,
) -> Result<String, ApiError> {
    let taken: Vec<String> = tx
        .store
        .below("file/projects/")
        .flat_map(|(_, object)| crate::usage::list(object.body.get("networks")))
        .filter_map(|network| network.get("reservedIpRange")?.as_str().map(str::to_owned))
        .collect();
    let Some(network) = body
        .get_mut("networks")
        .and_then(Value::as_array_mut)
        .and_then(|all| all.first_mut())
    else {
        return Err(ApiError::bad("An instance has exactly one network."));
    };
    let text = network
        .get("network")
        .and_then(Value::as_str)
        .unwrap_or("default")
        .to_owned();
    let link = crate::links::normalise(
        &text,
        project,
        &format!("projects/{project}/global/networks"),
    );
    let key = crate::links::key_of(&link).unwrap_or_default();
    match tx.get(&key) {
        None => {
            return Err(ApiError::bad(format!(
                "The network '{text}' does not exist."
            )));
        }
        Some(object) if object.is(Work::Creating) => {
            return Err(ApiError::failed_precondition(format!(
                "The network '{text}' is not ready."
            )));
        }
        _ => {}
    }
    // in its own project a network is shown by its bare name
    if link.contains(&format!("/projects/{project}/")) {
        network["network"] = crate::links::name_of(&link).into();
    }
    let size = if tier.starts_with("BASIC") || matches!(tier, "STANDARD" | "PREMIUM") {
        29
    } else {
        26
    };
    let range = match network.get("reservedIpRange").and_then(Value::as_str) {
        Some(range) if range.contains('/') => range.to_owned(),
        _ => {
            let step = 1u32 << (32 - size);
            let base = u32::from(Ipv4Addr::new(172, 20, 0, 0));
            (0..4096u32)
                .map(|index| format!("{}/{size}", Ipv4Addr::from(base + index * step)))
                .find(|range| !taken.contains(range))
                .ok_or_else(|| {
                    ApiError::failed_precondition("There is no free range for the instance.")
                })?
        }
    };
    let first = range
        .split('/')
        .next()
        .and_then(|address| address.parse::<Ipv4Addr>().ok())
        .ok_or_else(|| ApiError::bad(format!("'{range}' is no range.")))?;
    network["reservedIpRange"] = range.into();
    network["ipAddresses"] = json!([Ipv4Addr::from(u32::from(first) + 2).to_string()]);
    Ok(key)
}

fn begin(
    request: &Request,
    tx: &mut Transaction,
    key: &str,
    verb: &str,
    success: Vec<Change>,
    failure: Vec<Change>,
) -> Result<Answer, ApiError> {
    let (name, _) = tx.operation_name();
    let project = request.project.clone().unwrap_or_default();
    let location = request.variable("locationsId");
    let operation = format!("projects/{project}/locations/{location}/operations/{name}");
    let metadata = fields(json!({
        "@type": "type.googleapis.com/google.cloud.common.OperationMetadata",
        "apiVersion": request.document.version, "createTime": "", "target": path(key), "verb": verb,
    }));
    let kind = (verb != "delete").then_some(KIND);
    let begin = Begin {
        kind: verb.to_owned(),
        target: key.to_owned(),
        target_id: String::new(),
        success,
        failure,
        error: None,
    };
    Ok(Answer::Json(tx.begin_long_running(
        request, begin, operation, metadata, kind,
    )))
}

fn list(request: &Request, tx: &Transaction) -> Result<Answer, ApiError> {
    let project = request.project.clone().unwrap_or_default();
    let prefix = match request.variable("locationsId") {
        "-" => format!("file/projects/{project}/locations/"),
        location => format!("file/projects/{project}/locations/{location}/instances/"),
    };
    let items = tx
        .store
        .below(&prefix)
        .map(|(_, object)| object.body.clone())
        .collect();
    let page = page(request, items, ("pageSize", 500, 1000))?;
    let mut out = json!({});
    if !page.items.is_empty() {
        out["instances"] = page.items.into();
    }
    if let Some(token) = page.next {
        out["nextPageToken"] = token.into();
    }
    Ok(Answer::Json(out))
}

fn ready<'a>(
    request: &Request,
    tx: &mut Transaction<'a>,
) -> Result<(String, &'a Object), ApiError> {
    let (key, object) = found(request, tx)?;
    tx.target = Some(key.clone());
    if object.is(Work::Creating) {
        return Err(ApiError::new(
            409,
            "aborted",
            "ABORTED",
            format!("There is an operation in progress on '{}'.", request.path),
        ));
    }
    Ok((key, object))
}

fn patch(request: &Request, tx: &mut Transaction) -> Result<Answer, ApiError> {
    let (key, object) = ready(request, tx)?;
    let mask = request
        .mask()
        .ok_or_else(|| ApiError::required("updateMask"))?;
    let mut body = object.body.clone();
    for field in mask {
        let name = field.split('.').next().unwrap_or_default();
        match name {
            "description"
            | "labels"
            | "fileShares"
            | "performanceConfig"
            | "deletionProtectionEnabled"
            | "deletionProtectionReason" => {
                let value = request.body.get(name).cloned().unwrap_or(Value::Null);
                let mut one = Body::new();
                one.insert(name.to_owned(), value);
                body.remove(name);
                merge(&mut body, &one);
            }
            _ => {
                return Err(ApiError::bad(format!(
                    "The field '{field}' cannot be changed."
                )));
            }
        }
    }
    without_nothing(&mut body);
    export_options(&mut body);
    let (old, new) = (capacity(&object.body), capacity(&body));
    let shrinks = matches!(
        object.text("tier"),
        Some("HIGH_SCALE_SSD" | "ZONAL" | "REGIONAL" | "ENTERPRISE")
    );
    if new < old && !shrinks {
        return Err(ApiError::bad(format!(
            "The capacity can only grow: it is {old} GiB, not {new}."
        )));
    }
    let changed = crate::compute::difference(&object.body, body);
    let success = vec![Change::Set {
        key: key.clone(),
        body: changed,
        hidden: Body::new(),
    }];
    begin(request, tx, &key, "update", success, Vec::new())
}

fn delete(request: &Request, tx: &mut Transaction) -> Result<Answer, ApiError> {
    let (key, object) = ready(request, tx)?;
    if object.body.get("deletionProtectionEnabled") == Some(&Value::Bool(true)) {
        return Err(ApiError::failed_precondition(
            "The instance is protected against deletion.",
        ));
    }
    let success = vec![Change::Remove { key: key.clone() }];
    let failure = vec![Change::Mark {
        key: key.clone(),
        pending: None,
    }];
    tx.changes.push(deleting(&key));
    tx.set(&key, fields(json!({"state": "DELETING"})));
    begin(request, tx, &key, "delete", success, failure)
}
