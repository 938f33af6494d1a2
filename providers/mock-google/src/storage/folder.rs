//! Folders of buckets with a hierarchical namespace.

use serde_json::{Value, json};

use super::{SELF, bucket_of, encoded, preconditions};
use crate::catalogue::object as fields;
use crate::dispatch::json as answer;
use crate::error::ApiError;
use crate::lists::page;
use crate::request::{Answer, Request};
use crate::store::Object;
use crate::time::zulu;
use crate::transaction::Transaction;

pub(crate) fn handle(request: &Request, tx: &mut Transaction) -> Result<Answer, ApiError> {
    let (bucket_key, bucket) = bucket_of(request, tx)?;
    let nested = bucket
        .body
        .get("hierarchicalNamespace")
        .is_some_and(|own| own.get("enabled") == Some(&Value::Bool(true)));
    if !nested {
        return Err(ApiError::new(
            409,
            "conflict",
            "FAILED_PRECONDITION",
            "The bucket does not support hierarchical namespace.",
        ));
    }
    let home = format!("{bucket_key}/folders/");
    match request.verb() {
        "insert" => insert(request, tx, &home),
        "get" => {
            let (_, object) = found(request, tx, &home)?;
            Ok(answer(object.body.clone()))
        }
        "list" => {
            let prefix = format!("{home}{}", request.query("prefix").unwrap_or_default());
            let items = tx
                .store
                .below(&prefix)
                .map(|(_, object)| object.body.clone())
                .collect();
            let page = page(request, items, ("pageSize", 1000, 1000))?;
            let mut out = json!({"kind": "storage#folders"});
            if !page.items.is_empty() {
                out["items"] = page.items.into();
            }
            if let Some(token) = page.next {
                out["nextPageToken"] = token.into();
            }
            Ok(Answer::Json(out))
        }
        "delete" => {
            let (key, object) = found(request, tx, &home)?;
            tx.target = Some(key.clone());
            preconditions(request, Some(&object.body))?;
            let objects = key.replacen("/folders/", "/o/", 1);
            let full = tx.store.below(&key).any(|(other, _)| other != key)
                || tx.store.below(&objects).any(|(other, _)| other != objects);
            if full {
                return Err(ApiError::new(
                    409,
                    "conflict",
                    "FAILED_PRECONDITION",
                    "The folder you tried to delete is not empty.",
                ));
            }
            tx.remove(&key);
            Ok(Answer::Empty)
        }
        _ => Err(ApiError::not_played(&request.method.id)),
    }
}

/// Names end in a slash, written or not.
fn slashed(name: &str) -> String {
    if name.ends_with('/') {
        name.to_owned()
    } else {
        format!("{name}/")
    }
}

fn found<'a>(
    request: &Request,
    tx: &Transaction<'a>,
    home: &str,
) -> Result<(String, &'a Object), ApiError> {
    let key = format!("{home}{}", slashed(request.variable("folder")));
    match tx.get(&key) {
        Some(object) => Ok((key, object)),
        None => Err(ApiError::new(
            404,
            "notFound",
            "NOT_FOUND",
            "The specified folder does not exist.",
        )),
    }
}

fn insert(request: &Request, tx: &mut Transaction, home: &str) -> Result<Answer, ApiError> {
    let name = slashed(request.required("name")?);
    let key = format!("{home}{name}");
    tx.target = Some(key.clone());
    if tx.get(&key).is_some() {
        return Err(ApiError::new(
            409,
            "conflict",
            "ALREADY_EXISTS",
            "The folder already exists.",
        ));
    }
    let recursive = request
        .query("recursive")
        .is_some_and(|text| text.eq_ignore_ascii_case("true"));
    let parts: Vec<&str> = name.trim_end_matches('/').split('/').collect();
    let bucket = request.variable("bucket").to_owned();
    let mut made = json!({});
    for depth in 1..=parts.len() {
        let name = format!("{}/", parts.get(..depth).unwrap_or_default().join("/"));
        let own = format!("{home}{name}");
        if tx.get(&own).is_some() {
            continue;
        }
        if depth < parts.len() && !recursive {
            return Err(ApiError::failed_precondition(
                "The parent folder does not exist.",
            ));
        }
        let now = zulu(tx.now);
        made = json!({
            "kind": "storage#folder", "id": format!("{bucket}/{name}"), "bucket": bucket, "name": name,
            "selfLink": format!("{SELF}b/{bucket}/folders/{}", encoded(name.trim_end_matches('/'))), "metageneration": "1",
            "createTime": now, "updateTime": now,
        });
        tx.put(
            &own,
            Object {
                collection: "storage.folders".to_owned(),
                body: fields(made.clone()),
                hidden: Default::default(),
                pending: None,
            },
        );
    }
    Ok(Answer::Json(made))
}
