//! Making an instance: machine, scheduling, reservation, disks, interfaces.

use serde_json::{Value, json};

use super::generic::Making;
use super::{attached, nic};
use crate::catalogue::MachineType;
use crate::checking::Body;
use crate::error::ApiError;
use crate::links::{full, name_of};
use crate::operations::OperationError;
use crate::request::Request;
use crate::scenario::matches;
use crate::store::Object;
use crate::time::pacific;
use crate::transaction::Transaction;

pub(crate) fn prepare(
    request: &Request,
    making: &mut Making,
    tx: &mut Transaction,
) -> Result<(), ApiError> {
    if let Some(template) = request
        .query("sourceInstanceTemplate")
        .filter(|text| !text.is_empty())
    {
        from_template(making, template, tx)?;
    }
    let zone = making.place.zone.clone().unwrap_or_default();
    let link = making
        .text("machineType")
        .ok_or_else(|| ApiError::required("resource.machineType"))?;
    let name = name_of(link).to_owned();
    let machine = tx.catalogue.machine_type(&zone, &name).ok_or_else(|| {
        ApiError::invalid(
            "resource.machineType",
            &name,
            format!("Zone {zone} has no such machine type."),
        )
    })?;
    accelerators(making, &machine)?;
    schedule(making, &name, &machine)?;
    take_quota(making, &machine, tx)?;
    let seat = seat(making, &name, tx)?;
    attached::prepare(making, &name, &machine, tx)?;
    nic::prepare(making, &machine, tx)?;
    fill(making, &machine, tx);
    accounts_exist(&making.body, tx)?;
    if let Seat::Reserved { reservation, block } = &seat {
        making.uses(&format!("reservation/{reservation}"), 1);
        if let Some(block) = block {
            making.uses(&format!("block/{block}"), 1);
            let status = making.body.entry("resourceStatus").or_insert(json!({}));
            if let Some(topology) = tx
                .get(block)
                .and_then(|block| block.body.get("physicalTopology"))
            {
                status["physicalHostTopology"] = topology.clone();
            }
        }
    } else {
        making.uses(&format!("machines/{zone}/{name}"), 1);
    }
    // a stopped machine uses nothing; this is what it takes again when it starts
    let running = making.hidden.get("uses").cloned().unwrap_or(json!({}));
    making.hidden.insert("running".into(), running);
    Ok(())
}

/// Lays the request's body over the properties of a template.
fn from_template(making: &mut Making, text: &str, tx: &Transaction) -> Result<(), ApiError> {
    let project = making.place.project.clone();
    let home = format!("projects/{project}/global/instanceTemplates");
    let link = crate::links::normalise(text, &project, &home);
    let template = crate::links::key_of(&link)
        .and_then(|key| tx.get(&key))
        .ok_or_else(|| {
            ApiError::invalid(
                "sourceInstanceTemplate",
                text,
                "The referenced resource cannot be found.",
            )
        })?;
    let mut body = match template.body.get("properties") {
        Some(Value::Object(properties)) => properties.clone(),
        _ => Body::new(),
    };
    for disk in body
        .get_mut("disks")
        .and_then(Value::as_array_mut)
        .into_iter()
        .flatten()
    {
        // the template keeps what only an answer carries
        if let Some(disk) = disk.as_object_mut() {
            disk.remove("index");
            disk.remove("kind");
        }
    }
    crate::checking::merge(&mut body, &making.body);
    super::references::settle("instances", &mut body, &making.place, tx)?;
    making.body = body;
    Ok(())
}

/// Accelerators come with the machine type of most families; only general machines take others.
fn accelerators(making: &mut Making, machine: &MachineType) -> Result<(), ApiError> {
    let project = &making.place.project;
    let zone = making.place.zone.as_deref().unwrap_or_default();
    let Some((kind, count)) = &machine.accelerator else {
        return Ok(());
    };
    if kind.starts_with("ct") || kind.starts_with("tpu") {
        return Ok(());
    }
    let own = json!([{
        "acceleratorType": full(&format!("projects/{project}/zones/{zone}/acceleratorTypes/{kind}")),
        "acceleratorCount": count,
    }]);
    match making.body.get("guestAccelerators") {
        Some(given) if *given != own => Err(ApiError::invalid(
            "resource.guestAccelerators",
            "",
            format!("The machine type comes with {count} of {kind}; no others can be attached."),
        )),
        _ => {
            making.body.insert("guestAccelerators".into(), own);
            Ok(())
        }
    }
}

/// Fills in and checks how the machine is scheduled.
fn schedule(making: &mut Making, name: &str, machine: &MachineType) -> Result<(), ApiError> {
    let affinity = making
        .body
        .get("reservationAffinity")
        .and_then(|affinity| affinity.get("consumeReservationType"))
        .and_then(Value::as_str)
        .unwrap_or("ANY_RESERVATION")
        .to_owned();
    let accelerated =
        making.body.contains_key("guestAccelerators") || machine.accelerator.is_some();
    let scheduling = making.body.entry("scheduling").or_insert_with(|| json!({}));
    let Some(scheduling) = scheduling.as_object_mut() else {
        return Ok(());
    };
    let preemptible = scheduling.get("preemptible") == Some(&Value::Bool(true));
    let model = scheduling
        .get("provisioningModel")
        .and_then(Value::as_str)
        .unwrap_or(if preemptible { "SPOT" } else { "STANDARD" })
        .to_owned();
    let invalid = |field: &str, value: &str, why: String| {
        Err(ApiError::invalid(
            &format!("resource.scheduling.{field}"),
            value,
            why,
        ))
    };
    if !machine.obtained.is_empty() && !machine.obtained.contains(&model) {
        return invalid(
            "provisioningModel",
            &model,
            format!("{name} can be had by {} only.", machine.obtained.join(", ")),
        );
    }
    let given = scheduling
        .get("onHostMaintenance")
        .and_then(Value::as_str)
        .unwrap_or_default()
        .to_owned();
    let must_end = accelerated || matches!(model.as_str(), "SPOT" | "FLEX_START");
    if must_end && given == "MIGRATE" {
        return invalid(
            "onHostMaintenance",
            &given,
            "Instances with accelerators, and those of Spot and flex-start, do not migrate: it must be TERMINATE.".to_owned(),
        );
    }
    let restart = scheduling.get("automaticRestart").and_then(Value::as_bool);
    if model == "SPOT" && restart == Some(true) {
        return invalid(
            "automaticRestart",
            "true",
            "A Spot machine does not restart by itself.".to_owned(),
        );
    }
    if model == "RESERVATION_BOUND" && affinity != "SPECIFIC_RESERVATION" {
        return invalid(
            "provisioningModel",
            &model,
            "A machine that is bound to a reservation names it: reservationAffinity must be SPECIFIC_RESERVATION.".to_owned(),
        );
    }
    if matches!(model.as_str(), "SPOT" | "FLEX_START") && affinity == "SPECIFIC_RESERVATION" {
        return invalid(
            "provisioningModel",
            &model,
            "It cannot consume a reservation.".to_owned(),
        );
    }
    if model == "FLEX_START" && !scheduling.contains_key("maxRunDuration") {
        return invalid(
            "maxRunDuration",
            "",
            "A flex-start machine says how long it runs, 7 days at most.".to_owned(),
        );
    }
    if scheduling.contains_key("maxRunDuration")
        && !scheduling.contains_key("instanceTerminationAction")
    {
        return invalid(
            "instanceTerminationAction",
            "",
            "With maxRunDuration it must be set.".to_owned(),
        );
    }
    scheduling
        .entry("provisioningModel")
        .or_insert(model.clone().into());
    scheduling
        .entry("preemptible")
        .or_insert((model == "SPOT").into());
    scheduling
        .entry("automaticRestart")
        .or_insert((!matches!(model.as_str(), "SPOT" | "FLEX_START")).into());
    scheduling
        .entry("onHostMaintenance")
        .or_insert(if must_end { "TERMINATE" } else { "MIGRATE" }.into());
    Ok(())
}

fn take_quota(
    making: &mut Making,
    machine: &MachineType,
    tx: &Transaction,
) -> Result<(), ApiError> {
    making.take(tx, "INSTANCES", 1)?;
    making.take(tx, "CPUS", machine.vcpus)?;
    let spot = making
        .body
        .get("scheduling")
        .and_then(|scheduling| scheduling.get("provisioningModel"))
        .is_some_and(|model| model == "SPOT");
    let accelerators: Vec<(String, i64)> = crate::usage::list(making.body.get("guestAccelerators"))
        .iter()
        .filter_map(|given| {
            let kind = name_of(given.get("acceleratorType")?.as_str()?).replace("-tesla", "");
            Some((
                kind.to_uppercase().replace('-', "_"),
                given.get("acceleratorCount")?.as_i64()?,
            ))
        })
        .collect();
    for (kind, count) in accelerators {
        let prefix = if spot { "PREEMPTIBLE_" } else { "" };
        making.take(tx, &format!("{prefix}{kind}_GPUS"), count)?;
    }
    Ok(())
}

/// Where the machine stands.
enum Seat {
    Free,
    Reserved {
        reservation: String,
        block: Option<String>,
    },
}

/// Finds the machine a seat: in the reservation it names, in any that fits, or in the zone.
fn seat(making: &mut Making, machine: &str, tx: &Transaction) -> Result<Seat, ApiError> {
    let affinity = making
        .body
        .entry("reservationAffinity")
        .or_insert_with(|| json!({}));
    let Some(affinity) = affinity.as_object_mut() else {
        return Ok(Seat::Free);
    };
    affinity
        .entry("consumeReservationType")
        .or_insert("ANY_RESERVATION".into());
    let affinity = affinity.clone();
    let model = making
        .body
        .get("scheduling")
        .and_then(|scheduling| scheduling.get("provisioningModel"))
        .and_then(Value::as_str)
        .unwrap_or("STANDARD")
        .to_owned();
    match affinity
        .get("consumeReservationType")
        .and_then(Value::as_str)
    {
        Some("SPECIFIC_RESERVATION") => return specific(making, &affinity, machine, tx),
        Some("ANY_RESERVATION") if model == "STANDARD" => {
            if let Some(reservation) = any(making, machine, tx) {
                return Ok(Seat::Reserved {
                    reservation,
                    block: None,
                });
            }
        }
        _ => {}
    }
    let zone = making.place.zone.clone().unwrap_or_default();
    let rule = tx.scenario.capacity.iter().find(|rule| {
        rule.zone == zone
            && matches(&rule.machine_type, machine)
            && rule
                .provisioning_model
                .as_ref()
                .is_none_or(|own| *own == model)
    });
    if rule
        .is_some_and(|rule| tx.store.usage(&format!("machines/{zone}/{machine}")) >= rule.machines)
    {
        exhausted(
            making,
            format!(
                "The zone 'projects/{}/zones/{zone}' does not have enough resources available to fulfill the request. \
                 Try a different zone, or try again later.",
                making.place.project
            ),
            machine,
        );
    }
    Ok(Seat::Free)
}

/// Lets the operation fail for want of machines.
fn exhausted(making: &mut Making, message: String, machine: &str) {
    let zone = making.place.zone.clone().unwrap_or_default();
    making.error.get_or_insert(OperationError {
        code: "ZONE_RESOURCE_POOL_EXHAUSTED".to_owned(),
        message,
        http: 503,
        http_message: "SERVICE UNAVAILABLE".to_owned(),
        rpc: 8,
        details: vec![json!({
            "errorInfo": {
                "reason": "resource_availability",
                "domain": "compute.googleapis.com",
                "metadatas": {"vmType": machine, "zone": zone},
            }
        })],
    });
}

/// How many machines a reservation or block has left.
fn left(tx: &Transaction, key: &str, object: &Object) -> i64 {
    let (count, what) = match object.body.get("specificReservation") {
        Some(specific) => (
            specific.get("count").and_then(super::disk::number),
            "reservation",
        ),
        None => (
            object.body.get("count").and_then(super::disk::number),
            "block",
        ),
    };
    count.unwrap_or_default() - tx.store.usage(&format!("{what}/{key}"))
}

fn machine_of(object: &Object) -> Option<&str> {
    object
        .body
        .get("specificReservation")?
        .get("instanceProperties")?
        .get("machineType")?
        .as_str()
}

/// A reservation that any fitting machine consumes.
fn any(making: &Making, machine: &str, tx: &Transaction) -> Option<String> {
    let zone = making.place.zone.as_deref()?;
    let prefix = format!(
        "compute/projects/{}/zones/{zone}/reservations/",
        making.place.project
    );
    tx.store
        .children(&prefix)
        .find(|(key, object)| {
            object.body.get("specificReservationRequired") != Some(&Value::Bool(true))
                && machine_of(object).map(name_of) == Some(machine)
                && left(tx, key, object) > 0
        })
        .map(|(key, _)| key.to_owned())
}

/// The reservation (or block) that the machine names: `NAME`, `NAME/reservationBlocks/B`, or either
/// after `projects/P/reservations/`.
fn specific(
    making: &mut Making,
    affinity: &Body,
    machine: &str,
    tx: &Transaction,
) -> Result<Seat, ApiError> {
    let field = "resource.reservationAffinity";
    if affinity.get("key").and_then(Value::as_str)
        != Some("compute.googleapis.com/reservation-name")
    {
        return Err(ApiError::invalid(
            &format!("{field}.key"),
            affinity
                .get("key")
                .and_then(Value::as_str)
                .unwrap_or_default(),
            "With SPECIFIC_RESERVATION it is compute.googleapis.com/reservation-name.",
        ));
    }
    let text = crate::usage::list(affinity.get("values"))
        .first()
        .and_then(Value::as_str)
        .ok_or_else(|| ApiError::required(&format!("{field}.values")))?
        .to_owned();
    let zone = making.place.zone.clone().unwrap_or_default();
    let parts: Vec<&str> = text.split('/').collect();
    let (project, rest) = match parts.as_slice() {
        ["projects", project, "reservations", rest @ ..] => ((*project).to_owned(), rest.to_vec()),
        rest => (making.place.project.clone(), rest.to_vec()),
    };
    let project = tx
        .scenario
        .project(&project)
        .map_or(project, |known| known.id.clone());
    let missing = |what: &str| {
        ApiError::invalid(
            &format!("{field}.values[0]"),
            &text,
            format!("The specified {what} does not exist in zone {zone}."),
        )
    };
    let name = rest.first().copied().unwrap_or_default();
    let reservation = format!("compute/projects/{project}/zones/{zone}/reservations/{name}");
    let object = tx.get(&reservation).ok_or_else(|| missing("reservation"))?;
    if machine_of(object).map(name_of) != Some(machine) {
        return Err(ApiError::invalid(
            &format!("{field}.values[0]"),
            &text,
            format!(
                "The reservation is of {}; the instance is a {machine}.",
                machine_of(object).unwrap_or("other machines")
            ),
        ));
    }
    let mut free = left(tx, &reservation, object);
    let block = match rest.get(1..) {
        Some(["reservationBlocks", block, ..]) => {
            let key = format!("{reservation}/reservationBlocks/{block}");
            let object = tx.get(&key).ok_or_else(|| missing("reservation block"))?;
            free = free.min(left(tx, &key, object));
            Some(key)
        }
        Some([]) | None => {
            // any block that has room
            let prefix = format!("{reservation}/reservationBlocks/");
            tx.store
                .children(&prefix)
                .find(|(key, block)| left(tx, key, block) > 0)
                .map(|(key, _)| key.to_owned())
        }
        _ => return Err(missing("reservation")),
    };
    if free < 1 {
        exhausted(
            making,
            format!(
                "Specified reservation '{text}' does not have available resources for the request."
            ),
            machine,
        );
    }
    Ok(Seat::Reserved { reservation, block })
}

/// Refuses a service account of a project of this world that is not there (yet).
fn accounts_exist(body: &Body, tx: &Transaction) -> Result<(), ApiError> {
    for account in crate::usage::list(body.get("serviceAccounts")) {
        let email = account
            .get("email")
            .and_then(Value::as_str)
            .unwrap_or_default();
        if crate::iam::known_missing(email, tx) {
            return Err(ApiError::bad(format!(
                "The user does not have access to service account '{email}'. Or it does not exist."
            )));
        }
    }
    Ok(())
}

/// What every instance has.
fn fill(making: &mut Making, machine: &MachineType, tx: &mut Transaction) {
    making.body.insert("status".into(), "PROVISIONING".into());
    making.finish.insert("status".into(), "RUNNING".into());
    making
        .finish
        .insert("lastStartTimestamp".into(), pacific(tx.now).into());
    making.default("canIpForward", false);
    making.default("deletionProtection", false);
    making.default("startRestricted", false);
    making
        .body
        .insert("cpuPlatform".into(), machine.cpu_platform.clone().into());
    let mut metadata = match making.body.remove("metadata") {
        Some(Value::Object(metadata)) => metadata,
        _ => Body::new(),
    };
    metadata.insert("kind".into(), "compute#metadata".into());
    metadata.insert("fingerprint".into(), tx.fingerprint().into());
    making.body.insert("metadata".into(), metadata.into());
    let mut tags = match making.body.remove("tags") {
        Some(Value::Object(tags)) => tags,
        _ => Body::new(),
    };
    tags.insert("fingerprint".into(), tx.fingerprint().into());
    making.body.insert("tags".into(), tags.into());
    let shielded = making
        .body
        .entry("shieldedInstanceConfig")
        .or_insert_with(|| json!({}));
    if let Some(shielded) = shielded.as_object_mut() {
        shielded.entry("enableSecureBoot").or_insert(false.into());
        shielded.entry("enableVtpm").or_insert(true.into());
        shielded
            .entry("enableIntegrityMonitoring")
            .or_insert(true.into());
    }
    making.default(
        "shieldedInstanceIntegrityPolicy",
        json!({"updateAutoLearnPolicy": true}),
    );
    making.default(
        "resourceStatus",
        json!({"scheduling": {}, "upcomingMaintenance": {}}),
    );
    for account in making
        .body
        .get_mut("serviceAccounts")
        .and_then(Value::as_array_mut)
        .into_iter()
        .flatten()
        .filter_map(Value::as_object_mut)
    {
        if account.get("email").is_some_and(|email| email == "default") {
            let number = tx.number(&making.place.project);
            account.insert(
                "email".into(),
                format!("{number}-compute@developer.gserviceaccount.com").into(),
            );
        }
    }
}
