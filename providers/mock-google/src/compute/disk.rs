//! Persistent disks.

use serde_json::{Value, json};

use super::generic::{Making, change, changeable};
use crate::checking::Body;
use crate::error::ApiError;
use crate::links::{full, key_of, name_of, normalise, path_of};
use crate::request::{Answer, Request};
use crate::store::Store;
use crate::transaction::{Transaction, path};

pub(crate) fn prepare(
    request: &Request,
    making: &mut Making,
    tx: &mut Transaction,
) -> Result<(), ApiError> {
    if let Some(source) = request.query("sourceImage").filter(|text| !text.is_empty()) {
        making.default("sourceImage", source);
    }
    complete(making, tx)
}

/// Fills in a disk's body, made by itself or along with an instance.
pub(crate) fn complete(making: &mut Making, tx: &mut Transaction) -> Result<(), ApiError> {
    let zone = making.place.zone.clone().unwrap_or_default();
    let project = making.place.project.clone();
    let types = format!("projects/{project}/zones/{zone}/diskTypes");
    making.default("type", full(&format!("{types}/pd-standard")));
    let kind = name_of(making.text("type").unwrap_or_default()).to_owned();
    let default_size = tx.catalogue.disk_type(&kind).unwrap_or(10);
    let mut least = 0;
    if let Some(text) = making.text("sourceImage").map(str::to_owned) {
        let (link, image) = image(&text, &project, tx)?;
        let copy = |making: &mut Making, from: &str, to: &str| {
            if let Some(value) = image.get(from) {
                making.default(to, value.clone());
            }
        };
        making.body.insert("sourceImage".into(), link.into());
        copy(making, "id", "sourceImageId");
        copy(making, "architecture", "architecture");
        copy(making, "guestOsFeatures", "guestOsFeatures");
        copy(making, "licenses", "licenses");
        least = image.get("diskSizeGb").and_then(number).unwrap_or(10);
    }
    for (field, id) in [
        ("sourceSnapshot", "sourceSnapshotId"),
        ("sourceDisk", "sourceDiskId"),
    ] {
        let Some(source) = making
            .text(field)
            .and_then(key_of)
            .and_then(|key| tx.get(&key))
        else {
            continue;
        };
        if let Some(value) = source.body.get("id") {
            making.default(id, value.clone());
        }
        let size = source
            .body
            .get("diskSizeGb")
            .or_else(|| source.body.get("sizeGb"));
        least = least.max(size.and_then(number).unwrap_or_default());
    }
    let size = match making.body.get("sizeGb").and_then(number) {
        Some(size) if size < least => {
            return Err(ApiError::invalid(
                "resource.sizeGb",
                &size.to_string(),
                format!("The disk must be at least as large as its source, {least} GB."),
            ));
        }
        Some(size) => size,
        None if least > 0 => least,
        None => i64::from(default_size),
    };
    if size < 1
        || (kind.starts_with("pd-") && size < 10 && making.collection == "disks")
        || size > 65536
    {
        return Err(ApiError::invalid(
            "resource.sizeGb",
            &size.to_string(),
            format!("It is not a size that {kind} can have."),
        ));
    }
    making.body.insert("sizeGb".into(), size.to_string().into());
    let metric = if kind.starts_with("hyperdisk") {
        "HDB_TOTAL_GB"
    } else if kind == "pd-standard" {
        "DISKS_TOTAL_GB"
    } else {
        "SSD_TOTAL_GB"
    };
    making.take(tx, metric, size)?;
    making.default("physicalBlockSizeBytes", "4096");
    making.default("enableConfidentialCompute", false);
    if kind == "hyperdisk-balanced" {
        // 3000 operations and 140 MB per second come free
        making.default(
            "provisionedIops",
            (3000 + 6 * size).min(160_000).to_string(),
        );
        making.default("provisionedThroughput", "140");
    }
    if kind.starts_with("hyperdisk") {
        making.default("accessMode", "READ_WRITE_SINGLE");
    }
    making.body.insert("status".into(), "CREATING".into());
    making.finish.insert("status".into(), "READY".into());
    Ok(())
}

/// A 64-bit number as it travels.
pub(crate) fn number(value: &Value) -> Option<i64> {
    value
        .as_str()
        .and_then(|text| text.parse().ok())
        .or_else(|| value.as_i64())
}

/// The image that a text names, with its link: by name, by family, of any project.
pub(crate) fn image(
    text: &str,
    project: &str,
    tx: &Transaction,
) -> Result<(String, Body), ApiError> {
    let missing = || {
        ApiError::invalid(
            "resource.sourceImage",
            text,
            "The referenced image resource cannot be found.",
        )
    };
    // `family/NAME` and bare names belong to the own project
    let link = match text.strip_prefix("family/") {
        Some(family) => full(&format!("projects/{project}/global/images/family/{family}")),
        None => normalise(text, project, &format!("projects/{project}/global/images")),
    };
    let image_path = path_of(&link).ok_or_else(missing)?;
    let (owner, name) = image_path
        .strip_prefix("projects/")
        .and_then(|rest| rest.split_once("/global/images/"))
        .ok_or_else(missing)?;
    if let Some(body) = tx.catalogue.image(owner, name) {
        let link = body
            .get("selfLink")
            .and_then(Value::as_str)
            .unwrap_or(&link)
            .to_owned();
        return Ok((link, body.clone()));
    }
    let prefix = format!("compute/projects/{owner}/global/images/");
    let own = match name.strip_prefix("family/") {
        Some(family) => tx
            .store
            .children(&prefix)
            .filter(|(_, object)| object.text("family") == Some(family))
            .max_by(|(_, one), (_, other)| {
                one.text("creationTimestamp")
                    .cmp(&other.text("creationTimestamp"))
            }),
        None => tx
            .store
            .children(&prefix)
            .find(|(key, _)| name_of(key) == name),
    };
    own.map(|(key, object)| (full(path(key)), object.body.clone()))
        .ok_or_else(missing)
}

/// Who uses it.
pub(crate) fn show(store: &Store, key: &str, body: &mut Body) {
    let users: Vec<Value> = store
        .users(key)
        .filter(|(_, user)| user.collection == "compute.instances")
        .map(|(user, _)| full(path(user)).into())
        .collect();
    if !users.is_empty() {
        body.insert("users".into(), users.into());
    }
}

pub(crate) fn custom(request: &Request, tx: &mut Transaction) -> Result<Answer, ApiError> {
    let (key, object) = changeable(request, tx)?;
    let mut body = object.body.clone();
    match request.verb() {
        "resize" => {
            let new = request
                .body
                .get("sizeGb")
                .and_then(number)
                .unwrap_or_default();
            let old = body.get("sizeGb").and_then(number).unwrap_or_default();
            if new <= old {
                return Err(ApiError::invalid(
                    "sizeGb",
                    &new.to_string(),
                    "New disk size must be larger than the current size; a disk can only grow.",
                ));
            }
            body.insert("sizeGb".into(), new.to_string().into());
        }
        verb => {
            let place = super::references::Place::of(path(&key), tx);
            let mut given = Body::new();
            given.insert(
                "resourcePolicies".into(),
                request
                    .body
                    .get("resourcePolicies")
                    .cloned()
                    .unwrap_or(json!([])),
            );
            super::references::settle("disks", &mut given, &place, tx)?;
            let given = crate::usage::list(given.get("resourcePolicies")).to_vec();
            let mut policies = crate::usage::list(body.get("resourcePolicies")).to_vec();
            if verb == "addResourcePolicies" {
                policies.extend(given);
                policies.dedup();
            } else {
                policies.retain(|policy| !given.contains(policy));
            }
            body.insert("resourcePolicies".into(), policies.into());
            crate::checking::without_nothing(&mut body);
        }
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
