//! Cloud Storage: buckets, their policies, folders, and objects with content.
//!
//! Not played: older versions of objects, ACLs, Anywhere Cache. A bucket with
//! `versioning` keeps the setting and no versions.

mod bucket;
mod content;
mod folder;
mod object;
mod parts;

use serde_json::Value;

use crate::checking::Body;
use crate::error::ApiError;
use crate::policy;
use crate::request::{Answer, Request};
use crate::store::Object;
use crate::transaction::Transaction;

const SELF: &str = "https://www.googleapis.com/storage/v1/";

pub(crate) fn handle(request: &Request, tx: &mut Transaction) -> Result<Answer, ApiError> {
    match (request.collection(), request.verb()) {
        ("buckets", "getIamPolicy") => policy::get(request, bucket_of(request, tx)?.1),
        ("buckets", "setIamPolicy") => {
            let (key, object) = bucket_of(request, tx)?;
            policy::set(request, tx, &key, object, request.body.clone())
        }
        ("buckets", "testIamPermissions") => Ok(policy::test(request)),
        ("buckets", _) => bucket::handle(request, tx),
        ("folders", _) => folder::handle(request, tx),
        ("objects", _) => object::handle(request, tx),
        _ => Err(ApiError::not_played(&request.method.id)),
    }
}

/// The bucket that a request is in, with its key.
fn bucket_of<'a>(
    request: &Request,
    tx: &Transaction<'a>,
) -> Result<(String, &'a Object), ApiError> {
    let key = format!("storage/b/{}", request.variable("bucket"));
    match tx.get(&key) {
        Some(object) => Ok((key, object)),
        None => Err(ApiError::new(
            404,
            "notFound",
            "NOT_FOUND",
            "The specified bucket does not exist.",
        )),
    }
}

/// Refuses a request whose preconditions do not hold. `current` is what is there, if anything is.
fn preconditions(request: &Request, current: Option<&Body>) -> Result<(), ApiError> {
    let number = |field: &str| {
        current.map_or(0, |body| {
            body.get(field)
                .and_then(Value::as_str)
                .and_then(|text| text.parse::<i64>().ok())
                .unwrap_or(0)
        })
    };
    for (parameter, field, wanted) in [
        ("ifGenerationMatch", "generation", true),
        ("ifGenerationNotMatch", "generation", false),
        ("ifMetagenerationMatch", "metageneration", true),
        ("ifMetagenerationNotMatch", "metageneration", false),
    ] {
        let Some(given) = request
            .query(parameter)
            .and_then(|text| text.parse::<i64>().ok())
        else {
            continue;
        };
        if (number(field) == given) != wanted {
            return Err(ApiError::condition_not_met(
                "At least one of the pre-conditions you specified did not hold.",
            ));
        }
    }
    Ok(())
}

/// A name as a path segment of a self link.
fn encoded(name: &str) -> String {
    percent_encoding::utf8_percent_encode(name, percent_encoding::NON_ALPHANUMERIC)
        .to_string()
        .replace("%2E", ".")
        .replace("%2D", "-")
        .replace("%5F", "_")
        .replace("%7E", "~")
}

/// The next metageneration.
fn next_metageneration(body: &Body) -> String {
    let old = body
        .get("metageneration")
        .and_then(Value::as_str)
        .and_then(|text| text.parse::<u64>().ok())
        .unwrap_or(0);
    (old + 1).to_string()
}
