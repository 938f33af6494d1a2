//! Buckets.

use serde_json::{Value, json};

use super::{SELF, bucket_of, next_metageneration, preconditions};
use crate::catalogue::object as fields;
use crate::checking::{Body, merge, without_nothing};
use crate::dispatch::json as answer;
use crate::error::ApiError;
use crate::lists::page;
use crate::request::{Answer, Request};
use crate::store::Object;
use crate::time::zulu;
use crate::transaction::Transaction;

pub(crate) fn handle(request: &Request, tx: &mut Transaction) -> Result<Answer, ApiError> {
    match request.verb() {
        "insert" => insert(request, tx),
        "get" => {
            let (_, object) = bucket_of(request, tx)?;
            preconditions(request, Some(&object.body))?;
            Ok(answer(shown(request, object)))
        }
        "list" => list(request, tx),
        "patch" | "update" => change(request, tx),
        "delete" => delete(request, tx),
        _ => Err(ApiError::not_played(&request.method.id)),
    }
}

fn is_name(name: &str) -> bool {
    let bytes = name.as_bytes();
    let end =
        |byte: Option<&u8>| byte.is_some_and(|b| b.is_ascii_lowercase() || b.is_ascii_digit());
    (3..=63).contains(&bytes.len())
        && end(bytes.first())
        && end(bytes.last())
        && bytes
            .iter()
            .all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b"-_.".contains(b))
        && !name.starts_with("goog")
        && name.parse::<std::net::Ipv4Addr>().is_err()
}

fn insert(request: &Request, tx: &mut Transaction) -> Result<Answer, ApiError> {
    let given = request.query("project").unwrap_or_default();
    let project = tx.scenario.project(given).ok_or_else(|| {
        ApiError::new(
            404,
            "notFound",
            "NOT_FOUND",
            format!("The project '{given}' was not found."),
        )
    })?;
    let on = tx
        .get(&crate::service_usage::key(&project.id, "storage"))
        .is_some_and(|service| service.text("state") == Some("ENABLED"));
    if !on {
        return Err(ApiError::service_off("storage", &project.number));
    }
    let name = request.required("name")?.to_owned();
    if !is_name(&name) {
        return Err(ApiError::bad(format!("Invalid bucket name: '{name}'.")));
    }
    let key = format!("storage/b/{name}");
    tx.target = Some(key.clone());
    if tx.get(&key).is_some() {
        return Err(ApiError::new(
            409,
            "conflict",
            "ALREADY_EXISTS",
            "The requested bucket name is not available. The bucket namespace is shared by all users \
             of the system. Please select a different name and try again.",
        ));
    }
    let now = zulu(tx.now);
    let mut body = request.body.clone();
    without_nothing(&mut body);
    body.remove("acl");
    body.remove("defaultObjectAcl");
    body.extend(fields(json!({
        "kind": "storage#bucket", "id": name, "selfLink": format!("{SELF}b/{name}"),
        "projectNumber": project.number, "metageneration": "1",
        "generation": (tx.now * 1000 + tx.next % 1000).to_string(), "etag": tx.fingerprint(),
        "timeCreated": now, "updated": now,
    })));
    complete(&mut body, tx)?;
    let hidden = json!({"policy": {
        "version": 1, "etag": tx.fingerprint(),
        "bindings": [
            {"role": "roles/storage.legacyBucketOwner",
             "members": [format!("projectEditor:{}", project.id), format!("projectOwner:{}", project.id)]},
            {"role": "roles/storage.legacyBucketReader", "members": [format!("projectViewer:{}", project.id)]},
        ],
    }});
    let object = Object {
        collection: "storage.buckets".to_owned(),
        body,
        hidden: fields(hidden),
        pending: None,
    };
    let shown = shown(request, &object);
    tx.put(&key, object);
    Ok(answer(shown))
}

/// What the server fills in, at the beginning and after each change.
fn complete(body: &mut Body, tx: &Transaction) -> Result<(), ApiError> {
    let location = body
        .get("location")
        .and_then(Value::as_str)
        .unwrap_or("US")
        .to_uppercase();
    let kind = match location.as_str() {
        "US" | "EU" | "ASIA" => "multi-region",
        "NAM4" | "EUR4" | "EUR5" | "EUR7" | "EUR8" | "ASIA1" => "dual-region",
        place if body.contains_key("customPlacementConfig") && place.len() <= 4 => "dual-region",
        place => {
            let place = place.to_lowercase();
            if !tx.catalogue.has_region(&place) && tx.catalogue.region_of(&place).is_none() {
                return Err(ApiError::bad(format!(
                    "The specified location constraint is not valid: {location}."
                )));
            }
            if tx.catalogue.has_region(&place) {
                "region"
            } else {
                "zone"
            }
        }
    };
    body.insert("location".into(), location.into());
    body.insert("locationType".into(), kind.into());
    if kind.ends_with("-region") {
        body.entry("rpo").or_insert("DEFAULT".into());
    }
    let class = body.entry("storageClass").or_insert("STANDARD".into());
    let known = [
        "STANDARD",
        "NEARLINE",
        "COLDLINE",
        "ARCHIVE",
        "RAPID",
        "MULTI_REGIONAL",
        "REGIONAL",
        "DURABLE_REDUCED_AVAILABILITY",
    ];
    if !class.as_str().is_some_and(|class| known.contains(&class)) {
        return Err(ApiError::bad(
            "Invalid argument: the storage class is not known.",
        ));
    }
    if let Some(Value::Object(autoclass)) = body.get_mut("autoclass")
        && autoclass.get("enabled") == Some(&Value::Bool(true))
    {
        autoclass.entry("toggleTime").or_insert(zulu(tx.now).into());
        autoclass
            .entry("terminalStorageClass")
            .or_insert("NEARLINE".into());
        autoclass
            .entry("terminalStorageClassUpdateTime")
            .or_insert(zulu(tx.now).into());
        // objects begin in the standard class and move on from there
        body.insert("storageClass".into(), "STANDARD".into());
    }
    body.entry("softDeletePolicy").or_insert_with(
        || json!({"retentionDurationSeconds": "604800", "effectiveTime": zulu(tx.now)}),
    );
    if let Some(policy) = body
        .get_mut("softDeletePolicy")
        .and_then(Value::as_object_mut)
    {
        policy.entry("effectiveTime").or_insert(zulu(tx.now).into());
    }
    let access = body.entry("iamConfiguration").or_insert_with(|| json!({}));
    let Some(access) = access.as_object_mut() else {
        return Ok(());
    };
    access
        .entry("publicAccessPrevention")
        .or_insert("inherited".into());
    let uniform = access
        .get("uniformBucketLevelAccess")
        .or_else(|| access.get("bucketPolicyOnly"))
        .and_then(|uniform| uniform.get("enabled"))
        == Some(&Value::Bool(true));
    let old = access
        .get("uniformBucketLevelAccess")
        .and_then(|own| own.get("lockedTime"))
        .cloned();
    let mut setting = json!({ "enabled": uniform });
    if uniform {
        // ninety days later nobody can turn it off again
        setting["lockedTime"] = old.unwrap_or_else(|| zulu(tx.now + 90 * 86_400_000).into());
    }
    access.insert("bucketPolicyOnly".into(), setting.clone());
    access.insert("uniformBucketLevelAccess".into(), setting);
    let nested = body
        .get("hierarchicalNamespace")
        .is_some_and(|own| own.get("enabled") == Some(&Value::Bool(true)));
    if nested && !uniform {
        return Err(ApiError::bad(
            "Hierarchical namespace buckets must have uniform bucket-level access enabled.",
        ));
    }
    Ok(())
}

/// A bucket as it is shown: with its access lists to who asks for all, where it has any.
fn shown(request: &Request, object: &Object) -> Body {
    let mut body = object.body.clone();
    let uniform = body
        .get("iamConfiguration")
        .and_then(|access| access.get("uniformBucketLevelAccess"))
        .is_some_and(|own| own.get("enabled") == Some(&Value::Bool(true)));
    // who changes a bucket is shown all of it, who reads it only what is asked for
    let usual = if matches!(request.verb(), "patch" | "update") {
        "full"
    } else {
        "noAcl"
    };
    if request.query("projection").unwrap_or(usual) != "full" || uniform {
        return body;
    }
    let name = object.text("name").unwrap_or_default();
    let number = object.text("projectNumber").unwrap_or_default();
    let teams = [
        ("owners", "OWNER"),
        ("editors", "OWNER"),
        ("viewers", "READER"),
    ];
    let list = |of_objects: bool| -> Value {
        teams
            .iter()
            .map(|(team, role)| {
                let entity = format!("project-{team}-{number}");
                let mut entry = json!({
                    "kind": "storage#objectAccessControl", "entity": entity, "role": role, "etag": "CAE=",
                    "projectTeam": {"projectNumber": number, "team": team},
                });
                if !of_objects {
                    entry["kind"] = "storage#bucketAccessControl".into();
                    entry["bucket"] = name.into();
                    entry["id"] = format!("{name}/{entity}").into();
                    entry["selfLink"] = format!("{SELF}b/{name}/acl/{entity}").into();
                }
                entry
            })
            .collect()
    };
    body.insert("acl".into(), list(false));
    body.insert("defaultObjectAcl".into(), list(true));
    body.insert(
        "owner".into(),
        json!({"entity": format!("project-owners-{number}")}),
    );
    body
}

fn list(request: &Request, tx: &Transaction) -> Result<Answer, ApiError> {
    let given = request.query("project").unwrap_or_default();
    let number = tx
        .scenario
        .project(given)
        .map(|project| project.number.as_str())
        .ok_or_else(|| {
            ApiError::new(
                404,
                "notFound",
                "NOT_FOUND",
                format!("The project '{given}' was not found."),
            )
        })?;
    let prefix = request.query("prefix").unwrap_or_default();
    let items = tx
        .store
        .children("storage/b/")
        .filter(|(_, object)| object.text("projectNumber") == Some(number))
        .filter(|(_, object)| {
            object
                .text("name")
                .is_some_and(|name| name.starts_with(prefix))
        })
        .map(|(_, object)| shown(request, object))
        .collect();
    let page = page(request, items, ("maxResults", 1000, 1000))?;
    let mut out = json!({"kind": "storage#buckets"});
    if !page.items.is_empty() {
        out["items"] = page.items.into();
    }
    if let Some(token) = page.next {
        out["nextPageToken"] = token.into();
    }
    Ok(Answer::Json(out))
}

fn change(request: &Request, tx: &mut Transaction) -> Result<Answer, ApiError> {
    let (key, object) = bucket_of(request, tx)?;
    tx.target = Some(key.clone());
    preconditions(request, Some(&object.body))?;
    let mut patch = request.body.clone();
    patch.remove("acl");
    patch.remove("defaultObjectAcl");
    let mut body = object.body.clone();
    if request.verb() == "update" {
        const KEPT: [&str; 14] = [
            "kind",
            "id",
            "name",
            "selfLink",
            "projectNumber",
            "generation",
            "timeCreated",
            "location",
            "locationType",
            "storageClass",
            "iamConfiguration",
            "softDeletePolicy",
            "hierarchicalNamespace",
            "rpo",
        ];
        body.retain(|name, _| KEPT.contains(&name.as_str()));
    }
    merge(&mut body, &patch);
    without_nothing(&mut body);
    let same = |field: &str| {
        let text = |body: &Body| {
            body.get(field)
                .and_then(Value::as_str)
                .map(str::to_uppercase)
        };
        text(&body) == text(&object.body)
    };
    if !same("location") || !same("name") {
        return Err(ApiError::bad(
            "Invalid argument: name and location of a bucket cannot be changed.",
        ));
    }
    if body.get("hierarchicalNamespace") != object.body.get("hierarchicalNamespace") {
        return Err(ApiError::bad(
            "Invalid argument: the namespace of a bucket cannot be changed.",
        ));
    }
    complete(&mut body, tx)?;
    body.insert(
        "metageneration".into(),
        next_metageneration(&object.body).into(),
    );
    body.insert("etag".into(), tx.fingerprint().into());
    body.insert("updated".into(), zulu(tx.now).into());
    let changed = Object {
        body,
        ..object.clone()
    };
    let shown = shown(request, &changed);
    tx.put(&key, changed);
    Ok(answer(shown))
}

fn delete(request: &Request, tx: &mut Transaction) -> Result<Answer, ApiError> {
    let (key, object) = bucket_of(request, tx)?;
    tx.target = Some(key.clone());
    preconditions(request, Some(&object.body))?;
    if tx.store.below(&format!("{key}/o/")).next().is_some() {
        return Err(ApiError::new(
            409,
            "conflict",
            "FAILED_PRECONDITION",
            "The bucket you tried to delete is not empty.",
        ));
    }
    let folders: Vec<String> = tx
        .store
        .below(&format!("{key}/folders/"))
        .map(|(key, _)| key.to_owned())
        .collect();
    for folder in folders {
        tx.remove(&folder);
    }
    tx.remove(&key);
    Ok(Answer::Empty)
}
