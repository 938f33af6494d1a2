//! Compute Engine.
//!
//! One generic life for all its collections (insert, get, list, aggregatedList, patch, update, delete,
//! setLabels, IAM policies), and per collection what it checks and fills in (`prepare`), what a change
//! may touch (`revise`) and what keeps an object alive (`blocker`). Custom methods stand with their
//! collection.

mod address;
mod attached;
mod cidr;
mod disk;
mod firewall;
mod generic;
mod instance;
mod machine;
mod network;
mod nic;
mod references;
mod reservation;
mod router;
mod subnetwork;
mod template;

use serde_json::{Value, json};

use crate::checking::Body;
use crate::dispatch::json as answer;
use crate::error::ApiError;
use crate::links::full;
use crate::lists::page;
use crate::policy;
use crate::request::{Answer, Request};
use crate::store::{Change, Object, Store};
use crate::transaction::{Begin, Transaction};

pub(crate) use cidr::Range;
pub(crate) use generic::{difference, is_name};
pub(crate) use reservation::blocks as reservation_blocks;

/// Plays a method of compute.
pub(crate) fn handle(request: &Request, tx: &mut Transaction) -> Result<Answer, ApiError> {
    check_place(request, tx)?;
    if let Some(answer) = repeated(request, tx)? {
        return Ok(answer);
    }
    let verb = request.verb();
    match (request.collection(), verb) {
        ("globalOperations" | "regionOperations" | "zoneOperations", _) => operations(request, tx),
        ("projects", "get") => Ok(answer(project(request, tx))),
        (
            "zones" | "regions" | "machineTypes" | "diskTypes" | "acceleratorTypes"
            | "networkProfiles",
            _,
        ) => offered(request, tx),
        ("images", "get" | "getFromFamily" | "list") => images(request, tx),
        ("networks", "addPeering" | "removePeering" | "updatePeering" | "switchToCustomMode") => {
            network::custom(request, tx)
        }
        ("subnetworks", "expandIpCidrRange" | "setPrivateIpGoogleAccess") => {
            subnetwork::custom(request, tx)
        }
        ("disks", "resize" | "addResourcePolicies" | "removeResourcePolicies") => {
            disk::custom(request, tx)
        }
        ("reservations", "resize") => reservation::resize(request, tx),
        (_, "getIamPolicy") => {
            let (_, object) = generic::found(request, tx)?;
            policy::get(request, object)
        }
        (_, "setIamPolicy") => {
            let (key, object) = generic::found(request, tx)?;
            let given = match request.body.get("policy") {
                Some(Value::Object(policy)) => policy.clone(),
                _ => request.body.clone(),
            };
            policy::set(request, tx, &key, object, given)
        }
        (_, "testIamPermissions") => Ok(policy::test(request)),
        // machines that come and go by themselves are more than an object
        ("instanceGroupManagers" | "regionInstanceGroupManagers", "insert") => {
            Err(ApiError::not_played(&request.method.id))
        }
        (_, "insert") => generic::insert(request, tx),
        (_, "get") => generic::get(request, tx),
        (_, "list") => generic::list(request, tx),
        (_, "aggregatedList") => generic::aggregated(request, tx),
        (_, "delete") => generic::delete(request, tx),
        (_, "patch" | "update") => generic::patch(request, tx),
        (_, "setLabels") => generic::set_labels(request, tx),
        ("instances", _) => machine::custom(request, tx),
        ("projects", "setCommonInstanceMetadata") => set_common_metadata(request, tx),
        _ => Err(ApiError::not_played(&request.method.id)),
    }
}

/// An object with the fields that are made from others.
pub(crate) fn shown(store: &Store, key: &str, object: &Object) -> Body {
    let mut body = object.body.clone();
    match object.collection.as_str() {
        "compute.networks" => network::show(store, key, &mut body),
        "compute.disks" => disk::show(store, key, &mut body),
        "compute.addresses" | "compute.globalAddresses" => address::show(store, &mut body),
        "compute.reservations" | "compute.reservationBlocks" => {
            reservation::show(store, key, &mut body)
        }
        _ => {}
    }
    body
}

/// Refuses a zone or region that the world does not have.
fn check_place(request: &Request, tx: &Transaction) -> Result<(), ApiError> {
    let zone = request.variable("zone");
    if !zone.is_empty() && tx.catalogue.region_of(zone).is_none() {
        return Err(if request.collection() == "zones" {
            ApiError::not_found(&request.path)
        } else {
            ApiError::invalid("zone", zone, "Unknown zone.")
        });
    }
    let region = request.variable("region");
    if !region.is_empty() && !tx.catalogue.has_region(region) {
        return Err(if request.collection() == "regions" {
            ApiError::not_found(&request.path)
        } else {
            ApiError::invalid("region", region, "Unknown region.")
        });
    }
    Ok(())
}

/// The operation that the same request id began before.
fn repeated(request: &Request, tx: &Transaction) -> Result<Option<Answer>, ApiError> {
    let Some(id) = request.query("requestId").filter(|id| !id.is_empty()) else {
        return Ok(None);
    };
    let shape = id.len() == 36
        && id.char_indices().all(|(at, c)| match at {
            8 | 13 | 18 | 23 => c == '-',
            _ => c.is_ascii_hexdigit(),
        });
    if !shape || id.chars().all(|c| matches!(c, '0' | '-')) {
        return Err(ApiError::invalid(
            "requestId",
            id,
            "It must be a UUID, and not the zero UUID.",
        ));
    }
    let project = request.project.as_deref().unwrap_or_default();
    let Some(operation) = tx
        .store
        .requested(project, id)
        .and_then(|key| tx.store.operation(key))
    else {
        return Ok(None);
    };
    if operation.method != request.method.id {
        return Err(ApiError::invalid(
            "requestId",
            id,
            "It was already used for a request of another method.",
        ));
    }
    Ok(Some(Answer::Json(operation.show(tx.now))))
}

fn operations(request: &Request, tx: &mut Transaction) -> Result<Answer, ApiError> {
    let key = format!("compute/{}", request.path.trim_end_matches("/wait"));
    match request.verb() {
        "get" => tx
            .store
            .operation(&key)
            .map(|operation| Answer::Json(operation.show(tx.now)))
            .ok_or_else(|| ApiError::not_found(&request.path)),
        "wait" => match tx.store.operation(&key) {
            Some(_) => Ok(Answer::Wait { key }),
            None => Err(ApiError::not_found(crate::transaction::path(&key))),
        },
        "list" => {
            let prefix = format!("{key}/");
            let items: Vec<Body> = tx
                .store
                .operations_below(&prefix)
                .filter_map(|operation| match operation.show(tx.now) {
                    Value::Object(body) => Some(body),
                    _ => None,
                })
                .collect();
            generic::listing(request, items, "compute#operationList")
        }
        "delete" => match tx.store.operation(&key) {
            // nothing is lost by keeping it
            Some(_) => Ok(Answer::Empty),
            None => Err(ApiError::not_found(&request.path)),
        },
        "aggregatedList" => {
            let project = request.project.clone().unwrap_or_default();
            let prefix = format!("compute/projects/{project}/");
            let mut items = serde_json::Map::new();
            for operation in tx.store.operations_below(&prefix) {
                let scope = operation
                    .path
                    .strip_prefix(&format!("projects/{project}/"))
                    .and_then(|rest| rest.split_once("/operations/"))
                    .map_or("global", |(scope, _)| scope);
                let entry = items
                    .entry(scope.to_owned())
                    .or_insert_with(|| json!({"operations": []}));
                if let Some(list) = entry.get_mut("operations").and_then(Value::as_array_mut) {
                    list.push(operation.show(tx.now));
                }
            }
            Ok(Answer::Json(
                json!({"kind": "compute#operationAggregatedList", "items": items}),
            ))
        }
        _ => Err(ApiError::not_played(&request.method.id)),
    }
}

/// What Google offers: only reading.
fn offered(request: &Request, tx: &Transaction) -> Result<Answer, ApiError> {
    let project = request.project.as_deref().unwrap_or_default();
    let collection = request.collection();
    let zone = request.variable("zone");
    let scope = match collection {
        "zones" | "regions" => String::new(),
        "networkProfiles" => "global".to_owned(),
        _ => format!("zones/{zone}"),
    };
    match request.verb() {
        "get" => {
            let name = crate::links::name_of(&request.path);
            if collection == "machineTypes"
                && name.contains("custom")
                && let Some(machine) = tx.catalogue.machine_type(zone, name)
            {
                let mut body = machine.body;
                body.insert("selfLink".into(), full(&request.path).into());
                body.insert("zone".into(), zone.into());
                return Ok(answer(body));
            }
            tx.catalogue
                .listing(project, &scope, collection)
                .into_iter()
                .find(|body| body.get("name").is_some_and(|own| own == name))
                .map(|body| answer(with_quotas(body, request, tx)))
                .ok_or_else(|| ApiError::not_found(&request.path))
        }
        "list" => {
            let items = tx.catalogue.listing(project, &scope, collection);
            let kind = format!("compute#{}List", collection.trim_end_matches('s'));
            generic::listing(request, items, &kind)
        }
        "aggregatedList" => {
            let mut scopes = serde_json::Map::new();
            for (zone, _) in tx.catalogue.zones() {
                let scope = format!("zones/{zone}");
                let page = page(
                    request,
                    tx.catalogue.listing(project, &scope, collection),
                    ("maxResults", 500, 500),
                )?;
                scopes.insert(
                    scope.clone(),
                    generic::scoped(collection, &scope, page.items),
                );
            }
            let kind = format!("compute#{}AggregatedList", collection.trim_end_matches('s'));
            Ok(Answer::Json(
                json!({"kind": kind, "id": request.path, "items": scopes}),
            ))
        }
        _ => Err(ApiError::not_played(&request.method.id)),
    }
}

/// Quotas stand on regions (and on the project), with their usage.
fn quotas(tx: &Transaction, project: &str, place: &str) -> Vec<Value> {
    let mut seen = std::collections::BTreeSet::new();
    tx.scenario
        .quotas
        .iter()
        .filter(|quota| seen.insert(&quota.metric))
        .filter_map(|quota| tx.scenario.quota(project, place, &quota.metric))
        .map(|quota| {
            #[allow(clippy::cast_precision_loss)] // limits are far below 2^53
            let (limit, usage) = (
                quota.limit as f64,
                tx.store
                    .usage(&format!("quota/{project}/{place}/{}", quota.metric))
                    as f64,
            );
            json!({"metric": quota.metric, "limit": limit, "usage": usage})
        })
        .collect()
}

fn with_quotas(mut body: Body, request: &Request, tx: &Transaction) -> Body {
    if request.collection() == "regions" {
        let project = request.project.as_deref().unwrap_or_default();
        let name = body
            .get("name")
            .and_then(Value::as_str)
            .unwrap_or_default()
            .to_owned();
        body.insert("quotas".into(), quotas(tx, project, &name).into());
    }
    body
}

fn project(request: &Request, tx: &Transaction) -> Body {
    let id = request.project.clone().unwrap_or_default();
    let mut body = crate::catalogue::object(json!({
        "kind": "compute#project",
        "id": tx.number(&id),
        "creationTimestamp": "2026-01-01T00:00:00.000-08:00",
        "name": id,
        "defaultServiceAccount": format!("{}-compute@developer.gserviceaccount.com", tx.number(&id)),
        "defaultNetworkTier": "PREMIUM",
        "xpnProjectStatus": "UNSPECIFIED_XPN_PROJECT_STATUS",
        "selfLink": full(&request.path),
        "quotas": quotas(tx, &id, "global"),
        "commonInstanceMetadata": {"kind": "compute#metadata", "fingerprint": "AAAAAAAAAAA="},
    }));
    if let Some(own) = tx.get(&format!("compute/projects/{id}")) {
        for (name, value) in &own.body {
            body.insert(name.clone(), value.clone());
        }
    }
    body
}

/// Metadata of the whole project, replaced as a whole.
fn set_common_metadata(request: &Request, tx: &mut Transaction) -> Result<Answer, ApiError> {
    let id = request.project.clone().unwrap_or_default();
    let key = format!("compute/projects/{id}");
    tx.target = Some(key.clone());
    let own = tx
        .get(&key)
        .and_then(|object| {
            object
                .body
                .get("commonInstanceMetadata")?
                .get("fingerprint")?
                .as_str()
        })
        .unwrap_or("AAAAAAAAAAA=");
    let given = request.body.get("fingerprint").and_then(Value::as_str);
    if given.is_some_and(|given| given != own) {
        return Err(ApiError::condition_not_met(
            "Supplied fingerprint does not match current metadata fingerprint.",
        ));
    }
    let mut metadata = request.body.clone();
    metadata.insert("kind".into(), "compute#metadata".into());
    metadata.insert("fingerprint".into(), tx.fingerprint().into());
    crate::checking::without_nothing(&mut metadata);
    let object = Object {
        collection: "compute.projects".to_owned(),
        body: crate::catalogue::object(json!({ "commonInstanceMetadata": metadata })),
        hidden: crate::catalogue::object(json!({ "owner": full(&format!("projects/{id}")) })),
        pending: None,
    };
    let begin = Begin {
        kind: "setCommonInstanceMetadata".to_owned(),
        target: key.clone(),
        target_id: tx.number(&id).to_owned(),
        success: vec![Change::Put { key, object }],
        failure: Vec::new(),
        error: None,
    };
    Ok(Answer::Json(tx.begin_compute(request, begin)))
}

fn images(request: &Request, tx: &mut Transaction) -> Result<Answer, ApiError> {
    let owner = request.variable("project");
    let prefix = format!("compute/projects/{owner}/global/images/");
    match request.verb() {
        "getFromFamily" => {
            let family = request.variable("family");
            let own = tx
                .store
                .children(&prefix)
                .filter(|(_, object)| object.text("family") == Some(family))
                .max_by(|(_, one), (_, other)| {
                    one.text("creationTimestamp")
                        .cmp(&other.text("creationTimestamp"))
                })
                .map(|(_, object)| object.body.clone());
            own.or_else(|| {
                tx.catalogue
                    .image(owner, &format!("family/{family}"))
                    .cloned()
            })
            .map(answer)
            .ok_or_else(|| ApiError::not_found(&request.path))
        }
        "get" => match tx.catalogue.image(owner, request.variable("image")) {
            Some(body) => Ok(answer(body.clone())),
            None => generic::get(request, tx),
        },
        _ => {
            let mut items = tx.catalogue.listing(owner, "global", "images");
            items.extend(
                tx.store
                    .children(&prefix)
                    .map(|(_, object)| object.body.clone()),
            );
            generic::listing(request, items, "compute#imageList")
        }
    }
}
