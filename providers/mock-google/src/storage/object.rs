//! Objects.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use super::content::{crc32c, md5_hash, parts};
use super::{SELF, bucket_of, encoded, next_metageneration, preconditions};
use crate::catalogue::object as fields;
use crate::checking::{Body, check, merge, without_nothing};
use crate::dispatch::json as answer;
use crate::error::ApiError;
use crate::lists::page;
use crate::request::{Answer, Request};
use crate::routing::Upload;
use crate::store::Object;
use crate::time::zulu;
use crate::transaction::Transaction;

pub(crate) fn handle(request: &Request, tx: &mut Transaction) -> Result<Answer, ApiError> {
    bucket_of(request, tx)?;
    match request.verb() {
        "insert" => insert(request, tx),
        "get" => get(request, tx),
        "list" => list(request, tx),
        "patch" | "update" => change(request, tx),
        "delete" => {
            let (key, object) = found(request, tx)?;
            tx.target = Some(key.clone());
            preconditions(request, Some(&object.body))?;
            tx.remove(&key);
            Ok(Answer::Empty)
        }
        "testIamPermissions" => Ok(crate::policy::test(request)),
        _ => Err(ApiError::not_played(&request.method.id)),
    }
}

fn found<'a>(request: &Request, tx: &Transaction<'a>) -> Result<(String, &'a Object), ApiError> {
    let (bucket, name) = (request.variable("bucket"), request.variable("object"));
    let key = format!("storage/b/{bucket}/o/{name}");
    let object = tx.get(&key).filter(|object| {
        request
            .query("generation")
            .is_none_or(|wanted| object.text("generation") == Some(wanted))
    });
    match object {
        Some(object) => Ok((key, object)),
        None => Err(ApiError::new(
            404,
            "notFound",
            "NOT_FOUND",
            format!("No such object: {bucket}/{name}"),
        )),
    }
}

fn insert(request: &Request, tx: &mut Transaction) -> Result<Answer, ApiError> {
    if request.upload == Some(Upload::Resumable) || request.query("uploadType") == Some("resumable")
    {
        return super::parts::take(request, tx);
    }
    if request.upload.is_none() {
        return Err(ApiError::not_played(&format!(
            "{} without content",
            request.method.id
        )));
    }
    let (body, content_type, content) = match request.query("uploadType") {
        Some("multipart") => {
            let parts = parts(&request.content_type, &request.content)?;
            let body = check(
                request.document,
                "Object",
                &request.method.id,
                &parts.metadata,
            )?;
            (body, parts.content_type, parts.content)
        }
        Some("media") | None => {
            let kind = Some(request.content_type.clone()).filter(|kind| !kind.is_empty());
            (Body::new(), kind, request.content.clone())
        }
        Some(other) => {
            return Err(ApiError::invalid(
                "uploadType",
                other,
                "It must be media or multipart.",
            ));
        }
    };
    store(request, tx, body, content_type, &content)
}

/// The name that an upload gives its object.
pub(super) fn named(request: &Request, body: &Body) -> Result<String, ApiError> {
    let name = request
        .query("name")
        .or_else(|| body.get("name").and_then(Value::as_str))
        .filter(|name| !name.is_empty())
        .ok_or_else(|| ApiError::required("name"))?
        .to_owned();
    if name.len() > 1024 || name.contains(['\r', '\n']) || matches!(name.as_str(), "." | "..") {
        return Err(ApiError::bad(format!("Invalid object name: '{name}'.")));
    }
    Ok(name)
}

/// Makes an object of its metadata and its content, or puts them in its place.
pub(super) fn store(
    request: &Request,
    tx: &mut Transaction,
    mut body: Body,
    content_type: Option<String>,
    content: &[u8],
) -> Result<Answer, ApiError> {
    let (bucket_key, bucket) = bucket_of(request, tx)?;
    without_nothing(&mut body);
    let name = named(request, &body)?;
    let key = format!("{bucket_key}/o/{name}");
    tx.target = Some(key.clone());
    let old = tx.get(&key);
    preconditions(request, old.map(|object| &object.body))?;
    for (field, sum) in [("md5Hash", md5_hash(content)), ("crc32c", crc32c(content))] {
        if body.get(field).is_some_and(|given| *given != sum.as_str()) {
            return Err(ApiError::bad(format!(
                "The content does not match the {field} that came with it."
            )));
        }
        body.insert(field.into(), sum.into());
    }
    if let Some(kind) = content_type {
        body.entry("contentType").or_insert(kind.into());
    }
    if let Some(encoding) = request.query("contentEncoding") {
        body.insert("contentEncoding".into(), encoding.into());
    }
    let bucket_name = bucket.text("name").unwrap_or_default();
    let before = old
        .and_then(|object| object.text("generation"))
        .and_then(|text| text.parse::<u64>().ok());
    let generation = (tx.now * 1000 + tx.next % 1000)
        .max(before.unwrap_or(0) + 1)
        .to_string();
    let now = zulu(tx.now);
    let path = format!("b/{bucket_name}/o/{}", encoded(&name));
    body.entry("storageClass").or_insert_with(|| {
        bucket
            .body
            .get("storageClass")
            .cloned()
            .unwrap_or("STANDARD".into())
    });
    body.extend(fields(json!({
        "kind": "storage#object", "id": format!("{bucket_name}/{name}/{generation}"),
        "selfLink": format!("{SELF}{path}"),
        "mediaLink": format!("https://storage.googleapis.com/download/storage/v1/{path}?generation={generation}&alt=media"),
        "name": name, "bucket": bucket_name, "generation": generation, "metageneration": "1",
        "size": content.len().to_string(), "etag": tx.fingerprint(),
        "timeCreated": now, "updated": now, "timeStorageClassUpdated": now, "timeFinalized": now,
    })));
    let object = Object {
        collection: "storage.objects".to_owned(),
        body: body.clone(),
        hidden: fields(json!({"content": STANDARD.encode(content)})),
        pending: None,
    };
    tx.put(&key, object);
    Ok(answer(body))
}

fn get(request: &Request, tx: &Transaction) -> Result<Answer, ApiError> {
    let (_, object) = found(request, tx)?;
    preconditions(request, Some(&object.body))?;
    if request.query("alt") != Some("media") {
        return Ok(answer(object.body.clone()));
    }
    let bytes = STANDARD
        .decode(object.hidden_text("content").unwrap_or_default())
        .unwrap_or_default();
    let text = |field: &str| object.text(field).unwrap_or_default().to_owned();
    Ok(Answer::Content {
        content_type: object
            .text("contentType")
            .unwrap_or("application/octet-stream")
            .to_owned(),
        bytes,
        headers: vec![
            ("etag", text("etag")),
            ("x-goog-generation", text("generation")),
            ("x-goog-metageneration", text("metageneration")),
            ("x-goog-storage-class", text("storageClass")),
            (
                "x-goog-hash",
                format!("crc32c={},md5={}", text("crc32c"), text("md5Hash")),
            ),
        ],
    })
}

fn list(request: &Request, tx: &Transaction) -> Result<Answer, ApiError> {
    let (bucket, _) = bucket_of(request, tx)?;
    let prefix = request.query("prefix").unwrap_or_default();
    let delimiter = request.query("delimiter").filter(|text| !text.is_empty());
    let (start, end) = (
        request.query("startOffset").unwrap_or_default(),
        request.query("endOffset"),
    );
    let home = format!("{bucket}/o/");
    let mut prefixes: Vec<String> = Vec::new();
    let mut items = Vec::new();
    for (key, object) in tx.store.below(&format!("{home}{prefix}")) {
        let name = &key[home.len()..];
        if name < start || end.is_some_and(|end| name >= end) {
            continue;
        }
        let rest = name.get(prefix.len()..).unwrap_or_default();
        match delimiter.and_then(|delimiter| rest.find(delimiter).map(|at| at + delimiter.len())) {
            Some(at) => {
                let common = format!("{prefix}{}", rest.get(..at).unwrap_or_default());
                if prefixes.last() != Some(&common) {
                    prefixes.push(common);
                }
            }
            None => items.push(object.body.clone()),
        }
    }
    let page = page(request, items, ("maxResults", 1000, 1000))?;
    let mut out = json!({"kind": "storage#objects"});
    if !page.items.is_empty() {
        out["items"] = page.items.into();
    }
    if !prefixes.is_empty() {
        out["prefixes"] = prefixes.into();
    }
    if let Some(token) = page.next {
        out["nextPageToken"] = token.into();
    }
    Ok(Answer::Json(out))
}

fn change(request: &Request, tx: &mut Transaction) -> Result<Answer, ApiError> {
    let (key, object) = found(request, tx)?;
    tx.target = Some(key.clone());
    preconditions(request, Some(&object.body))?;
    let mut body = object.body.clone();
    // only metadata can be changed; content is replaced by another upload
    const OPEN: [&str; 10] = [
        "contentType",
        "contentEncoding",
        "contentDisposition",
        "contentLanguage",
        "cacheControl",
        "metadata",
        "customTime",
        "eventBasedHold",
        "temporaryHold",
        "retention",
    ];
    if request.verb() == "update" {
        body.retain(|name, _| !OPEN.contains(&name.as_str()));
    }
    let patch: Body = request
        .body
        .iter()
        .filter(|(name, _)| OPEN.contains(&name.as_str()))
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect();
    merge(&mut body, &patch);
    without_nothing(&mut body);
    body.insert(
        "metageneration".into(),
        next_metageneration(&object.body).into(),
    );
    body.insert("etag".into(), tx.fingerprint().into());
    body.insert("updated".into(), zulu(tx.now).into());
    tx.put(
        &key,
        Object {
            body: body.clone(),
            ..object.clone()
        },
    );
    Ok(answer(body))
}
