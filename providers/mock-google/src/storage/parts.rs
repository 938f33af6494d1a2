//! Contents that come in parts (`uploadType=resumable`), as Google's clients send what is large.
//!
//! The first request names the object and is answered with an address; what has come so far lies under
//! the id in that address. Each part says where it begins (`Content-Range: bytes 0-262143/*`), and the
//! last one says how long the whole is. Conditions hold for the first request and for the last.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use super::object::{named, store};
use super::{bucket_of, preconditions};
use crate::catalogue::object as fields;
use crate::checking::{Body, check, without_nothing};
use crate::error::ApiError;
use crate::request::{Answer, Request};
use crate::store::Object;
use crate::transaction::Transaction;

/// Takes a request of an upload in parts.
pub(super) fn take(request: &Request, tx: &mut Transaction) -> Result<Answer, ApiError> {
    match request.query("upload_id") {
        None => begin(request, tx),
        Some(id) => part(request, tx, id),
    }
}

fn key(id: &str) -> String {
    format!("storage/uploads/{id}")
}

fn begin(request: &Request, tx: &mut Transaction) -> Result<Answer, ApiError> {
    let (bucket, _) = bucket_of(request, tx)?;
    let mut body = if request.content.iter().all(u8::is_ascii_whitespace) {
        Body::new()
    } else {
        let given: Value = serde_json::from_slice(&request.content)
            .map_err(|_| ApiError::bad("The metadata of the object are not JSON."))?;
        check(request.document, "Object", &request.method.id, &given)?
    };
    without_nothing(&mut body);
    let name = named(request, &body)?;
    let old = tx.get(&format!("{bucket}/o/{name}"));
    preconditions(request, old.map(|object| &object.body))?;
    let id = tx.id();
    let upload = Object {
        collection: "storage.uploads".to_owned(),
        body: fields(json!({"name": name})),
        hidden: fields(json!({
            "metadata": body, "type": request.upload_type, "content": "",
        })),
        pending: None,
    };
    tx.put(&key(&id), upload);
    Ok(Answer::Session {
        address: format!("{}&upload_id={id}", request.address),
    })
}

/// Where a part begins (none if it holds nothing), and how long the whole is, if it is told.
fn range(text: &str) -> Option<(Option<usize>, Option<usize>)> {
    let (part, whole) = text.strip_prefix("bytes ")?.split_once('/')?;
    let whole = match whole {
        "*" => None,
        number => Some(number.parse().ok()?),
    };
    let from = match part {
        "*" => None,
        part => Some(part.split_once('-')?.0.parse().ok()?),
    };
    Some((from, whole))
}

fn part(request: &Request, tx: &mut Transaction, id: &str) -> Result<Answer, ApiError> {
    let Some(upload) = tx.get(&key(id)) else {
        return Err(ApiError::new(
            404,
            "notFound",
            "NOT_FOUND",
            "There is no upload of this id: it has ended, or it was never begun.",
        ));
    };
    let mut content = STANDARD
        .decode(upload.hidden_text("content").unwrap_or_default())
        .unwrap_or_default();
    // all of it at once needs no range
    let (from, whole) = match &request.content_range {
        None => (Some(0), Some(request.content.len())),
        Some(text) => range(text)
            .ok_or_else(|| ApiError::bad(format!("The Content-Range {text:?} is malformed.")))?,
    };
    if let Some(from) = from {
        if from > content.len() {
            return Err(ApiError::bad(format!(
                "The part begins at byte {from}, but only {} have come.",
                content.len()
            )));
        }
        // what has come before may come again
        content.truncate(from);
        content.extend_from_slice(&request.content);
    }
    if whole == Some(content.len()) {
        let metadata = upload.hidden.get("metadata").and_then(Value::as_object);
        let body = metadata.cloned().unwrap_or_default();
        let kind = upload.hidden_text("type").map(str::to_owned);
        let answer = store(request, tx, body, kind, &content)?;
        tx.remove(&key(id));
        return Ok(answer);
    }
    let mut upload = upload.clone();
    upload
        .hidden
        .insert("content".into(), STANDARD.encode(&content).into());
    tx.put(&key(id), upload);
    Ok(Answer::More {
        received: content.len(),
        no_308: request.no_308,
    })
}

#[cfg(test)]
mod tests {
    use super::range;

    #[test]
    fn ranges() {
        for (text, expected) in [
            ("bytes 0-9/*", Some((Some(0), None))),
            ("bytes 10-19/20", Some((Some(10), Some(20)))),
            ("bytes */20", Some((None, Some(20)))),
            ("bytes */*", Some((None, None))),
            ("bytes x-1/2", None),
            ("0-1/2", None),
        ] {
            assert_eq!(range(text), expected, "{text}");
        }
    }
}
