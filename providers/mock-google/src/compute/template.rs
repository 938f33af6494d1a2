//! Instance templates: an instance's body, kept for later.

use serde_json::{Value, json};

use super::generic::Making;
use crate::checking::Body;
use crate::error::ApiError;
use crate::links::full;
use crate::transaction::Transaction;

pub(crate) fn prepare(making: &mut Making, tx: &mut Transaction) -> Result<(), ApiError> {
    let project = making.place.project.clone();
    let Some(Value::Object(mut properties)) = making.body.remove("properties") else {
        return Err(ApiError::required("resource.properties"));
    };
    for (index, disk) in objects(&mut properties, "disks").enumerate() {
        disk.insert("index".into(), index.into());
        disk.insert("kind".into(), "compute#attachedDisk".into());
        disk.entry("mode").or_insert("READ_WRITE".into());
        disk.entry("type").or_insert("PERSISTENT".into());
        disk.entry("boot").or_insert((index == 0).into());
        disk.entry("deviceName")
            .or_insert(format!("persistent-disk-{index}").into());
        let Some(Value::Object(parameters)) = disk.get_mut("initializeParams") else {
            continue;
        };
        if let Some(text) = parameters
            .get("sourceImage")
            .and_then(Value::as_str)
            .map(str::to_owned)
        {
            super::disk::image(&text, &project, tx).map_err(|_| {
                ApiError::invalid(
                    &format!("resource.properties.disks[{index}].initializeParams.sourceImage"),
                    &text,
                    "The referenced image resource cannot be found.",
                )
            })?;
            // a family stays a family: which image it means is asked when a machine is made
            if text.starts_with("projects/") {
                parameters.insert("sourceImage".into(), full(&text).into());
            } else if text.starts_with("global/") {
                parameters.insert(
                    "sourceImage".into(),
                    full(&format!("projects/{project}/{text}")).into(),
                );
            }
        }
    }
    for (index, nic) in objects(&mut properties, "networkInterfaces").enumerate() {
        nic.insert("kind".into(), "compute#networkInterface".into());
        nic.insert("name".into(), format!("nic{index}").into());
        if !nic.contains_key("network") && !nic.contains_key("subnetwork") {
            let default = full(&format!("projects/{project}/global/networks/default"));
            nic.insert("network".into(), default.into());
        }
        if let Some(configs) = nic.get_mut("accessConfigs").and_then(Value::as_array_mut) {
            for config in configs.iter_mut().filter_map(Value::as_object_mut) {
                config.insert("kind".into(), "compute#accessConfig".into());
                config.entry("name").or_insert("External NAT".into());
                config.entry("type").or_insert("ONE_TO_ONE_NAT".into());
                config.entry("networkTier").or_insert("PREMIUM".into());
            }
        }
    }
    let mut metadata = match properties.remove("metadata") {
        Some(Value::Object(metadata)) => metadata,
        _ => Body::new(),
    };
    metadata.insert("kind".into(), "compute#metadata".into());
    metadata.insert("fingerprint".into(), tx.fingerprint().into());
    properties.insert("metadata".into(), metadata.into());
    let scheduling = properties.entry("scheduling").or_insert_with(|| json!({}));
    if let Some(scheduling) = scheduling.as_object_mut() {
        let spot = scheduling
            .get("provisioningModel")
            .is_some_and(|model| model == "SPOT")
            || scheduling.get("preemptible") == Some(&Value::Bool(true));
        scheduling
            .entry("provisioningModel")
            .or_insert(if spot { "SPOT" } else { "STANDARD" }.into());
        scheduling.entry("preemptible").or_insert(spot.into());
        scheduling
            .entry("automaticRestart")
            .or_insert((!spot).into());
        scheduling
            .entry("onHostMaintenance")
            .or_insert(if spot { "TERMINATE" } else { "MIGRATE" }.into());
    }
    properties.entry("canIpForward").or_insert(false.into());
    making.body.insert("properties".into(), properties.into());
    Ok(())
}

fn objects<'a>(body: &'a mut Body, field: &str) -> impl Iterator<Item = &'a mut Body> {
    body.get_mut(field)
        .and_then(Value::as_array_mut)
        .into_iter()
        .flatten()
        .filter_map(Value::as_object_mut)
}
