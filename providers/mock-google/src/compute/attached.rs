//! The disks of an instance: made along with it, attached to it, or local.

use serde_json::{Value, json};

use super::generic::Making;
use crate::catalogue::MachineType;
use crate::checking::Body;
use crate::error::ApiError;
use crate::links::{full, key_of, name_of};
use crate::store::{Change, Object, Work};
use crate::time::pacific;
use crate::transaction::{Transaction, path};

/// Makes and checks the disks of a new instance.
pub(crate) fn prepare(
    making: &mut Making,
    machine_name: &str,
    machine: &MachineType,
    tx: &mut Transaction,
) -> Result<(), ApiError> {
    let mut given = match making.body.remove("disks") {
        Some(Value::Array(disks)) => disks,
        _ => Vec::new(),
    };
    let scratch = |disk: &Value| disk.get("type").is_some_and(|kind| kind == "SCRATCH");
    let local = given.iter().filter(|disk| scratch(disk)).count();
    if machine.local_ssds > 0 && local == 0 {
        // they come with the machine, asked for or not
        given.extend((0..machine.local_ssds).map(|_| {
            json!({"type": "SCRATCH", "interface": "NVME", "autoDelete": true, "mode": "READ_WRITE"})
        }));
    } else if local != machine.local_ssds
        && (machine.local_ssds > 0 || machine_name.ends_with("-nolssd"))
    {
        return Err(ApiError::invalid(
            "resource.disks",
            &local.to_string(),
            format!("{machine_name} has {} local SSDs.", machine.local_ssds),
        ));
    }
    if !given
        .first()
        .is_some_and(|disk| !scratch(disk) && disk.get("boot") != Some(&Value::Bool(false)))
    {
        return Err(ApiError::invalid(
            "resource.disks",
            "",
            "The first disk must be the boot disk.",
        ));
    }
    let mut out = Vec::new();
    let mut locals = 0;
    for (index, disk) in given.into_iter().enumerate() {
        let Value::Object(mut disk) = disk else {
            continue;
        };
        disk.insert("index".into(), index.into());
        disk.insert("kind".into(), "compute#attachedDisk".into());
        disk.entry("boot").or_insert((index == 0).into());
        disk.entry("autoDelete").or_insert(false.into());
        disk.entry("mode").or_insert("READ_WRITE".into());
        disk.entry("type").or_insert("PERSISTENT".into());
        if disk.get("type").is_some_and(|kind| kind == "SCRATCH") {
            scratch_disk(&mut disk, locals, machine_name, making, tx)?;
            locals += 1;
        } else {
            persistent(&mut disk, index, machine_name, machine, making, tx)?;
        }
        out.push(Value::Object(disk));
    }
    making.body.insert("disks".into(), out.into());
    Ok(())
}

fn scratch_disk(
    disk: &mut Body,
    index: usize,
    machine: &str,
    making: &mut Making,
    tx: &Transaction,
) -> Result<(), ApiError> {
    // A4X machines carry few and large ones
    let size = if machine.starts_with("a4x-") {
        3000
    } else {
        375
    };
    disk.remove("initializeParams");
    disk.entry("interface").or_insert("SCSI".into());
    disk.entry("deviceName")
        .or_insert(format!("local-ssd-{index}").into());
    disk.insert("diskSizeGb".into(), size.to_string().into());
    disk.insert("autoDelete".into(), true.into());
    making.take(tx, "LOCAL_SSD_TOTAL_GB", size)
}

fn persistent(
    disk: &mut Body,
    index: usize,
    machine_name: &str,
    machine: &MachineType,
    making: &mut Making,
    tx: &mut Transaction,
) -> Result<(), ApiError> {
    let spot = format!("resource.disks[{index}]");
    disk.entry("interface").or_insert("SCSI".into());
    disk.entry("deviceName")
        .or_insert(format!("persistent-disk-{index}").into());
    let body = match (
        disk.remove("initializeParams"),
        disk.get("source").and_then(Value::as_str),
    ) {
        (Some(Value::Object(parameters)), None) => {
            let (key, body) = make(parameters, index, &spot, making, tx)?;
            disk.insert("source".into(), full(path(&key)).into());
            body
        }
        (None, Some(source)) => {
            let key = key_of(source).unwrap_or_default();
            let object = tx
                .get(&key)
                .ok_or_else(|| ApiError::not_found(path(&key)))?;
            free(&key, object, disk, tx)?;
            object.body.clone()
        }
        (Some(_), Some(_)) => {
            return Err(ApiError::invalid(
                &spot,
                "",
                "A disk has either source or initializeParams.",
            ));
        }
        (_, None) => return Err(ApiError::required(&format!("{spot}.source"))),
    };
    let kind = body
        .get("type")
        .and_then(Value::as_str)
        .map(name_of)
        .unwrap_or_default();
    if machine.hyperdisk_only && !kind.starts_with("hyperdisk") {
        return Err(ApiError::bad(format!(
            "Invalid value for field '{spot}.initializeParams.diskType': '{kind}'. \
             [{kind}] features are not compatible for creating instance: {machine_name} takes Hyperdisk only."
        )));
    }
    let boot = disk.get("boot") == Some(&Value::Bool(true));
    let architecture = body.get("architecture").and_then(Value::as_str);
    if boot && architecture.is_some_and(|own| own != machine.architecture) {
        return Err(ApiError::bad(format!(
            "Requested boot disk architecture ({}) is not compatible with machine type architecture ({}).",
            architecture.unwrap_or_default(),
            machine.architecture
        )));
    }
    for (from, to) in [
        ("sizeGb", "diskSizeGb"),
        ("architecture", "architecture"),
        ("guestOsFeatures", "guestOsFeatures"),
        ("licenses", "licenses"),
    ] {
        if let Some(value) = body.get(from) {
            disk.insert(to.into(), value.clone());
        }
    }
    Ok(())
}

/// Refuses a disk that another instance writes to.
fn free(key: &str, object: &Object, disk: &Body, tx: &Transaction) -> Result<(), ApiError> {
    if object.is(Work::Creating) {
        return Err(ApiError::not_ready(path(key)));
    }
    let shared = object
        .text("accessMode")
        .is_some_and(|mode| mode.ends_with("_MANY"))
        || disk.get("mode").is_some_and(|mode| mode == "READ_ONLY");
    let user = tx
        .store
        .users(key)
        .find(|(_, user)| user.collection == "compute.instances");
    match user {
        Some((user, _)) if !shared => Err(ApiError::in_use(path(key), path(user))),
        _ => Ok(()),
    }
}

/// Makes a disk along with the instance. Answers its key and body.
fn make(
    parameters: Body,
    index: usize,
    spot: &str,
    making: &mut Making,
    tx: &mut Transaction,
) -> Result<(String, Body), ApiError> {
    let instance = making.text("name").unwrap_or_default().to_owned();
    let usual = if index == 0 {
        instance
    } else {
        format!("{instance}-{index}")
    };
    let name = parameters
        .get("diskName")
        .and_then(Value::as_str)
        .map_or(usual, str::to_owned);
    let project = making.place.project.clone();
    let zone = making.place.zone.clone().unwrap_or_default();
    let key = format!("compute/projects/{project}/zones/{zone}/disks/{name}");
    if tx.get(&key).is_some() {
        return Err(ApiError::already_exists(path(&key)));
    }
    let mut body = Body::new();
    for (from, to) in [
        ("diskType", "type"),
        ("diskSizeGb", "sizeGb"),
        ("sourceImage", "sourceImage"),
        ("sourceSnapshot", "sourceSnapshot"),
        ("labels", "labels"),
        ("description", "description"),
        ("provisionedIops", "provisionedIops"),
        ("provisionedThroughput", "provisionedThroughput"),
        ("resourcePolicies", "resourcePolicies"),
        ("storagePool", "storagePool"),
        ("enableConfidentialCompute", "enableConfidentialCompute"),
        ("architecture", "architecture"),
        ("licenses", "licenses"),
    ] {
        if let Some(value) = parameters.get(from) {
            body.insert(to.into(), value.clone());
        }
    }
    super::references::settle("disks", &mut body, &making.place, tx).map_err(|mut error| {
        error.message = error
            .message
            .replace("resource.", &format!("{spot}.initializeParams."));
        error
    })?;
    let mut disk = Making {
        collection: "disks along",
        key: key.clone(),
        place: making.place.clone(),
        body,
        hidden: Body::new(),
        finish: Body::new(),
        along: Vec::new(),
        success: Vec::new(),
        failure: Vec::new(),
        error: None,
    };
    super::disk::complete(&mut disk, tx).map_err(|mut error| {
        error.message = error
            .message
            .replace("resource.", &format!("{spot}.initializeParams."));
        error
    })?;
    making.error = making.error.take().or(disk.error);
    disk.body.extend([
        ("name".to_owned(), Value::from(name)),
        ("kind".to_owned(), "compute#disk".into()),
        ("id".to_owned(), tx.id().into()),
        ("selfLink".to_owned(), full(path(&key)).into()),
        ("creationTimestamp".to_owned(), pacific(tx.now).into()),
        ("labelFingerprint".to_owned(), tx.fingerprint().into()),
        (
            "zone".to_owned(),
            full(&format!("projects/{project}/zones/{zone}")).into(),
        ),
    ]);
    crate::checking::without_nothing(&mut disk.body);
    disk.hidden.insert("owner".into(), making.link().into());
    let object = Object {
        collection: "compute.disks".to_owned(),
        body: disk.body.clone(),
        hidden: disk.hidden,
        pending: Some(Work::Creating),
    };
    making.along.push(Change::Put {
        key: key.clone(),
        object,
    });
    making
        .success
        .extend(crate::transaction::created(&key, disk.finish));
    making.failure.push(Change::Remove { key: key.clone() });
    Ok((key, disk.body))
}

/// Attaches a disk to an instance's list: where it stands, and under what name.
pub(crate) fn attach(
    disks: &mut Vec<Value>,
    mut disk: Body,
    tx: &Transaction,
) -> Result<(), ApiError> {
    let source = disk
        .get("source")
        .and_then(Value::as_str)
        .ok_or_else(|| ApiError::required("source"))?
        .to_owned();
    let key = key_of(&source).unwrap_or_default();
    let object = tx
        .get(&key)
        .ok_or_else(|| ApiError::not_found(path(&key)))?;
    free(&key, object, &disk, tx)?;
    let index = disks.len();
    let device = disk
        .get("deviceName")
        .and_then(Value::as_str)
        .map_or_else(|| format!("persistent-disk-{index}"), str::to_owned);
    if disks.iter().any(|own| {
        own.get("deviceName")
            .is_some_and(|own| *own == device.as_str())
    }) {
        return Err(ApiError::invalid(
            "deviceName",
            &device,
            "The name is taken by another disk of the instance.",
        ));
    }
    disk.insert("deviceName".into(), device.into());
    disk.insert("index".into(), index.into());
    disk.insert("kind".into(), "compute#attachedDisk".into());
    disk.entry("boot").or_insert(false.into());
    disk.entry("autoDelete").or_insert(false.into());
    disk.entry("mode").or_insert("READ_WRITE".into());
    disk.entry("type").or_insert("PERSISTENT".into());
    disk.entry("interface").or_insert("SCSI".into());
    if let Some(size) = object.body.get("sizeGb") {
        disk.insert("diskSizeGb".into(), size.clone());
    }
    crate::checking::without_nothing(&mut disk);
    disks.push(disk.into());
    Ok(())
}
