//! Reservations, and the blocks of dense ones.

use serde_json::{Value, json};

use super::disk::number;
use super::generic::{Making, change, changeable, only};
use crate::catalogue::object as fields;
use crate::checking::Body;
use crate::error::ApiError;
use crate::links::full;
use crate::request::{Answer, Request};
use crate::scenario::Block;
use crate::store::{Change, Object, Store};
use crate::transaction::{Transaction, path};

pub(crate) fn prepare(making: &mut Making, tx: &mut Transaction) -> Result<(), ApiError> {
    let zone = making.place.zone.clone().unwrap_or_default();
    let Some(Value::Object(specific)) = making.body.get_mut("specificReservation") else {
        if making.body.contains_key("aggregateReservation") {
            making.default("status", "READY");
            return Ok(());
        }
        return Err(ApiError::required("resource.specificReservation"));
    };
    let count = specific.get("count").and_then(number).unwrap_or_default();
    if count < 1 {
        return Err(ApiError::invalid(
            "resource.specificReservation.count",
            &count.to_string(),
            "A reservation is of at least one machine.",
        ));
    }
    specific.insert("count".into(), count.to_string().into());
    specific.insert("assuredCount".into(), count.to_string().into());
    specific.insert("inUseCount".into(), "0".into());
    let machine = specific
        .get("instanceProperties")
        .and_then(|properties| properties.get("machineType"))
        .and_then(Value::as_str);
    if let Some(machine) = machine
        && tx.catalogue.machine_type(&zone, machine).is_none()
    {
        return Err(ApiError::invalid(
            "resource.specificReservation.instanceProperties.machineType",
            machine,
            format!("Zone {zone} has no such machine type."),
        ));
    }
    making.default("specificReservationRequired", false);
    making.default("shareSettings", json!({"shareType": "LOCAL"}));
    making.default(
        "reservationSharingPolicy",
        json!({"serviceShareType": "DISALLOW_ALL"}),
    );
    making.body.insert("status".into(), "CREATING".into());
    making.finish.insert("status".into(), "READY".into());
    Ok(())
}

pub(crate) fn revise(object: &Object, body: &mut Body) -> Result<(), ApiError> {
    only(
        object,
        body,
        &[
            "shareSettings",
            "specificReservation",
            "reservationSharingPolicy",
            "description",
            "deleteAtTime",
            "deleteAfterDuration",
            "enableEmergentMaintenance",
            "schedulingType",
            "labels",
            "advancedDeploymentControl",
        ],
    )
}

pub(crate) fn resize(request: &Request, tx: &mut Transaction) -> Result<Answer, ApiError> {
    let (key, object) = changeable(request, tx)?;
    let count = request
        .body
        .get("specificSkuCount")
        .and_then(number)
        .unwrap_or_default();
    let used = tx.store.usage(&format!("reservation/{key}"));
    if count < 1 || count < used {
        return Err(ApiError::invalid(
            "specificSkuCount",
            &count.to_string(),
            format!("It must be at least 1, and no fewer than the {used} machines in use."),
        ));
    }
    let mut body = object.body.clone();
    if let Some(Value::Object(specific)) = body.get_mut("specificReservation") {
        specific.insert("count".into(), count.to_string().into());
        specific.insert("assuredCount".into(), count.to_string().into());
    }
    Ok(Answer::Json(change(
        request, tx, &key, object, body, "resize",
    )))
}

/// How many of its machines are in use.
pub(crate) fn show(store: &Store, key: &str, body: &mut Body) {
    if let Some(Value::Object(specific)) = body.get_mut("specificReservation") {
        let used = store.usage(&format!("reservation/{key}"));
        specific.insert("inUseCount".into(), used.to_string().into());
    }
    if body.contains_key("inUseCount") {
        let used = store.usage(&format!("block/{key}"));
        body.insert(
            "inUseCount".into(),
            used.try_into().unwrap_or(i32::MAX).into(),
        );
    }
}

/// The objects of the blocks that a scenario gives a reservation.
pub(crate) fn blocks(key: &str, blocks: &[Block]) -> Vec<Change> {
    blocks
        .iter()
        .map(|block| {
            let block_path = format!("{}/reservationBlocks/{}", path(key), block.name);
            let zone = crate::links::part_after(&block_path, "zones").unwrap_or_default();
            let project = crate::store::project_of(&block_path);
            let body = fields(json!({
                "kind": "compute#reservationBlock",
                "id": crate::chance::id(17, crate::chance::of_text(&block_path)),
                "creationTimestamp": "2026-01-01T00:00:00.000-08:00",
                "name": block.name, "count": block.count, "inUseCount": 0, "status": "ACTIVE",
                "selfLink": full(&block_path),
                "zone": full(&format!("projects/{project}/zones/{zone}")),
                "physicalTopology": {"cluster": format!("cluster-{zone}"), "block": block.name},
            }));
            Change::Put {
                key: format!("compute/{block_path}"),
                object: Object {
                    collection: "compute.reservationBlocks".to_owned(),
                    body,
                    hidden: fields(json!({"owner": full(path(key))})),
                    pending: None,
                },
            }
        })
        .collect()
}
