//! An object is uploaded with its metadata in one request; its content is compared by MD5.

use async_trait::async_trait;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use formwork_google_client::{Body, Method, encode_segment};
use formwork_google_schema::Act;
use formwork_provider::OperationLog;
use formwork_values::Value;
use md5::{Digest, Md5};
use serde_json::{Map, Value as Json};

use crate::draft::{Draft, text};
use crate::engine::Subject;
use crate::engine::exchange::{Change, Outcome};
use crate::failure::Failure;
use crate::hooks::Hooks;
use crate::plan::Plan;

pub(crate) struct BucketObject;

fn md5_of(bytes: &[u8]) -> String {
    STANDARD.encode(Md5::digest(bytes))
}

/// What the object is to hold: its text, or the file's bytes. `None` when neither is known.
fn content(subject: &Subject<'_>) -> Result<Option<Vec<u8>>, Failure> {
    if let Some(content) = subject.object.attribute("content").and_then(Value::as_str)
        && text(subject.object, "source").is_none()
    {
        return Ok(Some(content.as_bytes().to_vec()));
    }
    let Some(source) = text(subject.object, "source") else {
        return Ok(None);
    };
    let path = subject.cloud.environment.working.join(source);
    std::fs::read(&path).map(Some).map_err(|e| {
        Failure::Refused(
            "File cannot be read",
            format!("The file \"{source}\", which is to be uploaded, cannot be read: {e}."),
            "source",
        )
    })
}

async fn upload(subject: &Subject<'_>, act: Act, log: &dyn OperationLog) -> Result<Json, Failure> {
    let bytes = content(subject)?.ok_or_else(|| {
        Failure::Refused(
            "Nothing to upload",
            format!("{} has neither content nor source.", subject.title()),
            "content",
        )
    })?;
    let located = subject.located();
    let bucket = located
        .url("{bucket}")
        .ok_or_else(|| subject.no_address())?;
    let md5 = md5_of(&bytes);
    let mut metadata = subject.body(act, None).await?;
    metadata.insert("md5Hash".into(), Json::String(md5.clone()));
    let kind = text(subject.object, "content_type").map_or_else(
        || match std::str::from_utf8(&bytes) {
            Ok(_) => "text/plain; charset=utf-8".to_owned(),
            Err(_) => "application/octet-stream".to_owned(),
        },
        str::to_owned,
    );
    metadata.insert("contentType".into(), Json::String(kind.clone()));
    // The boundary must not occur in the content; its digest does not.
    let boundary = format!("formwork-{}", hex(&Md5::digest(&bytes)));
    let mut body = Vec::with_capacity(bytes.len() + 1024);
    body.extend_from_slice(format!("--{boundary}\r\nContent-Type: application/json; charset=UTF-8\r\n\r\n{}\r\n--{boundary}\r\nContent-Type: {kind}\r\n\r\n", Json::Object(metadata.clone())).as_bytes());
    body.extend_from_slice(&bytes);
    body.extend_from_slice(format!("\r\n--{boundary}--\r\n").as_bytes());
    let mut request = subject
        .cloud
        .request(
            Method::Post,
            "storage",
            format!("upload/storage/v1/b/{bucket}/o"),
        )
        .query("uploadType", "multipart");
    request.body = Body::Bytes(format!("multipart/related; boundary={boundary}"), body);
    let mapping = subject
        .resource
        .methods
        .create
        .as_ref()
        .ok_or_else(|| subject.no_method("created"))?;
    let mut change = Change::new(act, request, mapping, subject.key(), subject.limit(act));
    change.sent = Json::Object(Map::from_iter([("md5Hash".to_owned(), Json::String(md5))]));
    match subject.cloud.change(&change, log).await? {
        Outcome::Answered(json) | Outcome::Found(json) => Ok(json),
        Outcome::Gone => Err(subject.no_address()),
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|b| format!("{b:02x}")).collect()
}

#[async_trait]
impl Hooks for BucketObject {
    fn plan(&self, plan: &mut Plan<'_>) {
        // The hash of what is to be there, as far as the plan can know it.
        let wanted = match (plan.planned.get("content"), plan.planned.text("source")) {
            (Some(content), None) => content.as_str().map(|c| md5_of(c.as_bytes())),
            // A file is read at apply; the user's own hash of it decides before.
            (_, Some(_)) => plan.planned.text("source_md5hash").and_then(|h| {
                let h = h.to_owned();
                (h.len() == 24).then_some(h)
            }),
            _ => None,
        };
        let before = plan
            .before("md5hash")
            .and_then(Value::as_str)
            .map(str::to_owned);
        let content_known = plan.planned.get("content").is_some_and(Value::is_known);
        let differs = match (&wanted, &before) {
            (Some(wanted), Some(before)) => wanted != before,
            (None, Some(_)) => {
                !content_known
                    || plan.before("source_md5hash") != plan.planned.get("source_md5hash")
            }
            (_, None) => true,
        };
        let string = || Value::unknown(formwork_values::Type::String);
        if !differs {
            if let Some(before) = plan.before("detect_md5hash") {
                plan.planned.set("detect_md5hash", before.clone());
            }
            return;
        }
        plan.planned.set(
            "detect_md5hash",
            wanted.as_deref().map_or_else(string, Value::string),
        );
        plan.planned
            .set("md5hash", wanted.map_or_else(string, Value::string));
        for name in ["crc32c", "md5hexhash", "media_link"] {
            plan.planned.set(name, string());
        }
        plan.planned
            .set("generation", Value::unknown(formwork_values::Type::Number));
    }

    fn listable(&self) -> bool {
        false
    }

    async fn create(
        &self,
        subject: &Subject<'_>,
        log: &dyn OperationLog,
    ) -> Option<Result<Json, Failure>> {
        Some(upload(subject, Act::Create, log).await)
    }

    async fn update(
        &self,
        subject: &Subject<'_>,
        prior: &Value,
        log: &dyn OperationLog,
    ) -> Option<Result<(), Failure>> {
        let differs = ["content", "source", "source_md5hash", "detect_md5hash"]
            .iter()
            .any(|name| subject.object.attribute(name) != prior.attribute(name));
        if differs {
            return Some(upload(subject, Act::Update, log).await.map(drop));
        }
        let fields = subject.changed(prior);
        if fields.is_empty() {
            return Some(Ok(()));
        }
        let changed = async {
            let body = subject.body(Act::Update, Some(prior)).await?;
            let part = subject.part_of(&fields, &body);
            let key = subject.key().ok_or_else(|| subject.no_address())?;
            let mut request = subject.cloud.request(Method::Patch, "storage", key.path);
            request.body = Body::Json(Json::Object(part));
            subject.send_update(request, log).await
        };
        Some(changed.await)
    }

    fn derive(&self, subject: &Subject<'_>, json: &Json, draft: &mut Draft, known: Option<&Value>) {
        let get = |key: &str| json.get(key).and_then(Json::as_str);
        if let Some(md5) = get("md5Hash") {
            draft.set("detect_md5hash", Value::string(md5));
            if let Ok(bytes) = STANDARD.decode(md5) {
                draft.set("md5hexhash", Value::string(hex(&bytes)));
            }
        }
        // The content is not read back; it is what was sent, or nothing.
        let sent = known
            .and_then(|k| k.attribute("content"))
            .filter(|c| c.is_known());
        draft.set(
            "content",
            sent.cloned()
                .unwrap_or_else(|| Value::null(formwork_values::Type::String)),
        );
        if let (Some(bucket), Some(name)) = (
            text(subject.object, "bucket"),
            get("name").or_else(|| text(subject.object, "name")),
        ) {
            let bucket = bucket.strip_prefix("b/").unwrap_or(bucket);
            draft.set("id", Value::string(format!("{bucket}-{name}")));
        }
    }

    fn path(&self, subject: &Subject<'_>) -> Option<String> {
        let bucket = subject.located().url("{bucket}")?;
        Some(format!(
            "storage/v1/b/{bucket}/o/{}",
            encode_segment(text(subject.object, "name")?)
        ))
    }
}
