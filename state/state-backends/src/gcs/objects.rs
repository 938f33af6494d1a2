//! Objects of one bucket: read, create or replace by generation, delete, list.

use super::CustomerKey;
use formwork_google_client::{
    Body, Client, ErrorKind, GoogleError, Listing, Method, Request, encode_segment,
};
use serde_json::Value;

/// The bucket, and who speaks to it.
pub(super) struct Objects {
    pub client: Client,
    pub bucket: String,
    pub kms_key: Option<String>,
    pub customer_key: Option<CustomerKey>,
}

/// The version of an object's content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Generation(pub u64);

impl Generation {
    /// Of an object that is not there.
    pub const NONE: Self = Self(0);
}

/// How a conditional write ended.
#[derive(Debug)]
pub(super) enum Written {
    /// The object is as it was to be, and this is its generation.
    Done(Generation),
    /// Somebody else has written it; what was to be replaced is not there any more.
    Lost,
}

/// How often a request whose answer was lost is looked into and sent again.
const TRIES: usize = 5;

impl Objects {
    fn path(&self, name: &str) -> String {
        format!(
            "storage/v1/b/{}/o/{}",
            encode_segment(&self.bucket),
            encode_segment(name)
        )
    }

    /// A request that reads or writes content, with the key if the caller keeps it.
    fn keyed(&self, request: Request) -> Request {
        let headers = self.customer_key.iter().flat_map(CustomerKey::headers);
        headers.fold(request, |r, (name, value)| r.header(name, value))
    }

    /// `gs://bucket/name`
    pub fn shown(&self, name: &str) -> String {
        format!("gs://{}/{name}", self.bucket)
    }

    /// The generation of an object, [`Generation::NONE`] if it is not there.
    pub async fn generation(&self, name: &str) -> Result<Generation, GoogleError> {
        let request = Request::get("storage", self.path(name)).query("fields", "generation");
        match self.client.send(&request).await {
            Ok(answer) => generation_of(&answer.body),
            Err(e) if e.kind == ErrorKind::NotFound && is_object(&e) => Ok(Generation::NONE),
            Err(e) => Err(e),
        }
    }

    /// An object and its generation; `None` if it is not there.
    pub async fn read(&self, name: &str) -> Result<Option<(Vec<u8>, Generation)>, GoogleError> {
        // an object may be replaced between the two requests, but not for ever
        for _ in 0..TRIES {
            let generation = self.generation(name).await?;
            if generation == Generation::NONE {
                return Ok(None);
            }
            let request = Request::get("storage", self.path(name))
                .query("alt", "media")
                .query("generation", generation.0.to_string());
            let request = self.keyed(request);
            match self.download(&request).await {
                Ok(bytes) => return Ok(Some((bytes, generation))),
                Err(e) if e.kind == ErrorKind::NotFound => {}
                Err(e) => return Err(e),
            }
        }
        Err(GoogleError::local(
            ErrorKind::Conflict,
            format!("{} is being replaced all the time", self.shown(name)),
        ))
    }

    /// An object that was listed; its generation does not matter, because it is never replaced.
    pub async fn content(&self, name: &str) -> Result<Vec<u8>, GoogleError> {
        let request = Request::get("storage", self.path(name)).query("alt", "media");
        self.download(&self.keyed(request)).await
    }

    /// A download, sent again where the service failed or the line was cut: it changes nothing.
    async fn download(&self, request: &Request) -> Result<Vec<u8>, GoogleError> {
        let mut tries = 0;
        loop {
            tries += 1;
            match self.client.download(request).await {
                Err(e) if tries < TRIES && may_pass(e.kind) => self.pause(tries).await,
                answer => return answer,
            }
        }
    }

    async fn pause(&self, tries: usize) {
        let policy = &self.client.config().retry;
        let attempt = u32::try_from(tries).unwrap_or(u32::MAX);
        tokio::time::sleep(policy.delay(attempt, 0)).await;
    }

    /// Writes an object in place of the one of `before`. If the answer is lost, what is there says
    /// whether it was written: `bytes` must then tell this writer from any other.
    pub async fn write(
        &self,
        name: &str,
        bytes: &[u8],
        before: Generation,
    ) -> Result<Written, GoogleError> {
        let path = format!("upload/storage/v1/b/{}/o", encode_segment(&self.bucket));
        let mut request = Request::new(Method::Post, "storage", path)
            .query("uploadType", "media")
            .query("name", name)
            .query("ifGenerationMatch", before.0.to_string());
        if let Some(key) = &self.kms_key {
            request = request.query("kmsKeyName", key);
        }
        request = self.keyed(request);
        request.body = Body::Bytes("application/json".to_owned(), bytes.to_vec());
        let mut tries = 0;
        loop {
            tries += 1;
            let error = match self.client.send(&request).await {
                Ok(answer) => return generation_of(&answer.body).map(Written::Done),
                Err(e) => e,
            };
            let refused = super::is_precondition(error.kind, error.http_status);
            if !refused && error.outcome_known() {
                return Err(error);
            }
            match self.read(name).await? {
                Some((there, generation)) if generation != before => {
                    return Ok(if there == bytes {
                        Written::Done(generation)
                    } else {
                        Written::Lost
                    });
                }
                None if before != Generation::NONE => return Ok(Written::Lost),
                // it is as it was: nothing has been written, so it may be sent again
                _ if tries < TRIES => self.pause(tries).await,
                _ => return Err(error),
            }
        }
    }

    /// Deletes an object of this generation; whether it was there.
    pub async fn delete(&self, name: &str, of: Generation) -> Result<bool, GoogleError> {
        let request = Request::new(Method::Delete, "storage", self.path(name))
            .query("ifGenerationMatch", of.0.to_string());
        let mut tries = 0;
        loop {
            tries += 1;
            let error = match self.client.send(&request).await {
                Ok(_) => return Ok(true),
                Err(e) => e,
            };
            if error.kind == ErrorKind::NotFound && is_object(&error) {
                // by an earlier try of ours, if there was one
                return Ok(tries > 1);
            }
            if super::is_precondition(error.kind, error.http_status) {
                return Ok(false);
            }
            if error.outcome_known() || tries == TRIES {
                return Err(error);
            }
            self.pause(tries).await;
        }
    }

    /// Names and generations of the objects whose names begin with `prefix`, in order of their names.
    pub async fn list(&self, prefix: &str) -> Result<Vec<(String, Generation)>, GoogleError> {
        let path = format!("storage/v1/b/{}/o", encode_segment(&self.bucket));
        let request = Request::get("storage", path)
            .query("prefix", prefix)
            .query("fields", "nextPageToken,items(name,generation)");
        let listed = self
            .client
            .list(&request, &Listing::Array("items".to_owned()))
            .await?;
        let mut all = Vec::with_capacity(listed.items.len());
        for item in &listed.items {
            if let Some(name) = item.get("name").and_then(Value::as_str) {
                all.push((name.to_owned(), generation_of(item)?));
            }
        }
        all.sort();
        Ok(all)
    }
}

impl PartialOrd for Generation {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Generation {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.0.cmp(&other.0)
    }
}

fn may_pass(kind: ErrorKind) -> bool {
    matches!(
        kind,
        ErrorKind::Server | ErrorKind::Cut | ErrorKind::RateLimited | ErrorKind::Unreachable
    )
}

/// Whether "not found" speaks of the object, not of the bucket.
fn is_object(error: &GoogleError) -> bool {
    !error.message.contains("bucket")
}

fn generation_of(body: &Value) -> Result<Generation, GoogleError> {
    let text = body.get("generation").and_then(Value::as_str);
    text.and_then(|t| t.parse().ok())
        .map(Generation)
        .ok_or_else(|| {
            GoogleError::local(
                ErrorKind::Malformed,
                "the service answered without a generation",
            )
        })
}
