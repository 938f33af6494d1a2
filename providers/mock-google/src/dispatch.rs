//! From a method to the code that plays it.

use serde_json::Value;

use crate::checking::Body;
use crate::error::ApiError;
use crate::request::{Answer, Request};
use crate::scenario::Block;
use crate::store::{Change, Object, Store};
use crate::transaction::Transaction;
use crate::{compute, file, iam, resource_manager, service_usage, storage};

/// Plays a method.
pub(crate) fn handle(request: &Request, tx: &mut Transaction) -> Result<Answer, ApiError> {
    service_on(request, tx)?;
    match request.service() {
        "compute" => compute::handle(request, tx),
        "storage" => storage::handle(request, tx),
        "iam" => iam::handle(request, tx),
        "cloudresourcemanager" => resource_manager::handle(request, tx),
        "serviceusage" => service_usage::handle(request, tx),
        "file" => file::handle(request, tx),
        _ => Err(ApiError::not_played(&request.method.id)),
    }
}

/// Refuses a request whose project has not switched the service on.
fn service_on(request: &Request, tx: &Transaction) -> Result<(), ApiError> {
    let (Some(project), service) = (&request.project, request.service()) else {
        return Ok(());
    };
    if matches!(service, "serviceusage" | "cloudresourcemanager") {
        return Ok(());
    }
    let on = tx
        .get(&service_usage::key(project, service))
        .is_some_and(|object| object.text("state") == Some("ENABLED"));
    if on {
        Ok(())
    } else {
        Err(ApiError::service_off(service, tx.number(project)))
    }
}

/// An object as the API shows it: with the fields that are made from other objects.
pub(crate) fn shown(store: &Store, key: &str, object: &Object) -> Body {
    match object.collection.split('.').next() {
        Some("compute") => compute::shown(store, key, object),
        _ => object.body.clone(),
    }
}

/// The blocks of a reservation that a scenario names.
pub(crate) fn reservation_blocks(key: &str, blocks: &[Block]) -> Vec<Change> {
    compute::reservation_blocks(key, blocks)
}

/// `200 OK` with an object.
pub(crate) fn json(body: Body) -> Answer {
    Answer::Json(Value::Object(body))
}
