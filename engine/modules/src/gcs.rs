//! Google Cloud Storage: an archive, or all objects below a prefix.
//!
//! Only two methods of the service are needed (list and get of objects), so they are asked over plain
//! HTTP with a token that the caller gives. Without one it is tried without: buckets may be public.

use crate::address::{Address, decoded};
use crate::fetch::{packing, unpack_checked};
use crate::http::{Http, refused, shown};
use crate::problem::{Outcome, Problem};
use crate::settings::Settings;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use reqwest::Url;
use std::path::Path;

const SEGMENT: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'_')
    .remove(b'.')
    .remove(b'~');

/// A bucket, and the token for it.
struct Bucket<'a> {
    http: &'a Http,
    token: Option<String>,
    base: String,
    name: String,
}

/// Fetches what an address names into `folder`.
pub(crate) async fn fetch(
    address: &Address,
    folder: &Path,
    beside: &Path,
    http: &Http,
    settings: &Settings,
) -> Outcome<()> {
    let (_, path) = address
        .without_query()
        .split_once("/storage/v1/")
        .unwrap_or_default();
    let (bucket, object) = path.split_once('/').unwrap_or_default();
    let object = decoded(object);
    let generation = address
        .exposed()
        .split_once('#')
        .map(|(_, generation)| generation.to_owned());
    let environment = &settings.environment;
    // an emulator is spoken to as Google's own libraries do: by this variable, without credentials
    let emulator = environment.variable("STORAGE_EMULATOR_HOST");
    let base = match emulator {
        Some(host) if host.contains("://") => host.trim_end_matches('/').to_owned(),
        Some(host) => format!("http://{host}"),
        None => "https://storage.googleapis.com".to_owned(),
    };
    let token = if emulator.is_some() {
        None
    } else if let Some(token) = environment.variable("GOOGLE_OAUTH_ACCESS_TOKEN") {
        Some(token.trim().to_owned())
    } else if let Some(google) = &settings.google {
        google.token().await.map_err(Problem::failed)?
    } else {
        None
    };
    let bucket = Bucket {
        http,
        token,
        base,
        name: decoded(bucket),
    };
    if let Some(packing) = packing(address)? {
        let archive = beside.join("archive");
        bucket
            .save(&object, generation.as_deref(), &archive)
            .await?;
        return unpack_checked(address, archive, packing, folder, settings).await;
    }
    let prefix = format!("{}/", object.trim_end_matches('/'));
    let names = bucket.list(&prefix, settings.limits.entries).await?;
    if names.is_empty() {
        return Err(Problem::failed(format!(
            "The bucket {} holds nothing below \"{prefix}\".",
            bucket.name
        )));
    }
    for name in names {
        let Some(rest) = name
            .strip_prefix(&prefix)
            .filter(|r| !r.is_empty() && !r.ends_with('/'))
        else {
            continue;
        };
        let parts: Vec<&str> = rest.split('/').collect();
        if parts
            .iter()
            .any(|p| matches!(*p, "" | "." | "..") || p.contains('\\'))
        {
            return Err(Problem::failed(format!(
                "The bucket {} holds an object, \"{name}\", whose name is no path within the module.",
                bucket.name
            )));
        }
        bucket
            .save(&name, None, &folder.join(parts.join("/")))
            .await?;
    }
    Ok(())
}

impl Bucket<'_> {
    fn url(&self, rest: &str) -> Outcome<Url> {
        let bucket = utf8_percent_encode(&self.name, SEGMENT);
        let text = format!("{}/storage/v1/b/{bucket}/o{rest}", self.base);
        Url::parse(&text).map_err(|e| Problem::failed(format!("{text} is no URL: {e}.")))
    }

    async fn ask(&self, url: &Url) -> Outcome<reqwest::Response> {
        let answer = self.http.get(url, self.token.as_deref()).await?;
        let status = answer.status();
        if status.is_success() {
            return Ok(answer);
        }
        let problem = refused(url, status);
        Err(if matches!(status.as_u16(), 401 | 403) {
            let hint = if self.token.is_some() {
                "The account in use may not read this bucket: it needs the role Storage Object Viewer (roles/storage.objectViewer)."
            } else {
                "No Google credentials were found, so it was tried without. Run `gcloud auth application-default login`, or set GOOGLE_OAUTH_ACCESS_TOKEN."
            };
            Problem {
                hint: Some(hint.to_owned()),
                ..problem
            }
        } else {
            problem
        })
    }

    async fn save(&self, object: &str, generation: Option<&str>, to: &Path) -> Outcome<()> {
        let object = utf8_percent_encode(object, SEGMENT);
        let generation = generation.map_or_else(String::new, |g| format!("&generation={g}"));
        let url = self.url(&format!("/{object}?alt=media{generation}"))?;
        let answer = self.ask(&url).await?;
        self.http.save(answer, to).await
    }

    /// The names of all objects below a prefix.
    async fn list(&self, prefix: &str, most: u64) -> Outcome<Vec<String>> {
        let mut names = Vec::new();
        let mut page: Option<String> = None;
        loop {
            let mut url = self.url("")?;
            url.query_pairs_mut()
                .append_pair("prefix", prefix)
                .append_pair("fields", "items(name),nextPageToken");
            if let Some(page) = &page {
                url.query_pairs_mut().append_pair("pageToken", page);
            }
            let answer = self.ask(&url).await?;
            let body = self.http.body(answer).await?;
            let read: serde_json::Value = serde_json::from_slice(&body).map_err(|_| {
                Problem::failed(format!("What {} answers is no JSON.", shown(&url)))
            })?;
            let items = read.get("items").and_then(serde_json::Value::as_array);
            for item in items.into_iter().flatten() {
                if let Some(name) = item.get("name").and_then(serde_json::Value::as_str) {
                    names.push(name.to_owned());
                }
            }
            if names.len() as u64 > most {
                return Err(Problem::failed(format!(
                    "The bucket {} holds more than {most} objects below \"{prefix}\", which no module does.",
                    self.name
                )));
            }
            match read
                .get("nextPageToken")
                .and_then(serde_json::Value::as_str)
            {
                Some(next) if !next.is_empty() => page = Some(next.to_owned()),
                _ => return Ok(names),
            }
        }
    }
}
