//! HTTP, as fetching needs it: asking, asking again, and writing what comes to a file.

use crate::archive::Limits;
use crate::netrc::Login;
use crate::problem::{FAILED, Outcome, Problem};
use futures::StreamExt;
use reqwest::{StatusCode, Url, header};
use std::fs;
use std::io::Write;
use std::path::Path;
use std::time::Duration;

/// How often a request that got no answer, or an answer that excuses itself, is made.
const ATTEMPTS: u32 = 3;

/// The longest answer that is read into memory.
const LONGEST: usize = 16 << 20;

/// A client. Cheap to clone.
#[derive(Clone, Debug)]
pub(crate) struct Http {
    client: reqwest::Client,
    limits: Limits,
    pause: Duration,
}

/// Waits and manners.
pub(crate) struct Manners {
    pub user_agent: String,
    /// How long nothing may come.
    pub patience: Duration,
    /// How long before a request is made again.
    pub pause: Duration,
}

impl Http {
    /// Makes a client; nothing is sent.
    pub fn new(manners: &Manners, limits: Limits) -> Outcome<Self> {
        // the library wants a process-wide choice; a second installation is refused and harmless
        let _ = rustls::crypto::aws_lc_rs::default_provider().install_default();
        let builder = || {
            reqwest::Client::builder()
                .user_agent(&manners.user_agent)
                .connect_timeout(Duration::from_secs(30))
                .read_timeout(manners.patience)
                .redirect(reqwest::redirect::Policy::custom(|attempt| {
                    let secure = attempt.previous().iter().any(|u| u.scheme() == "https");
                    if secure && attempt.url().scheme() != "https" {
                        attempt.error("the server leads from https to plain http")
                    } else if attempt.previous().len() > 10 {
                        attempt.error("the server leads from one address to the next without end")
                    } else {
                        attempt.follow()
                    }
                }))
        };
        let client = builder().build().or_else(|_| {
            // a host without a bundle of certificates (a bare container): bring our own
            let roots = webpki_root_certs::TLS_SERVER_ROOT_CERTS
                .iter()
                .filter_map(|der| reqwest::Certificate::from_der(der).ok());
            builder().tls_certs_merge(roots).build()
        });
        let client = client.map_err(|e| {
            Problem::failed(format!("TLS cannot be set up on this host: {}.", flat(e)))
        })?;
        Ok(Self {
            client,
            limits,
            pause: manners.pause,
        })
    }

    /// Asks; the answer may be a refusal. What failed on the way is asked again.
    pub async fn get(&self, url: &Url, token: Option<&str>) -> Outcome<reqwest::Response> {
        self.get_as(url, token, None).await
    }

    /// The same, with a name and a password where the URL has none.
    pub async fn get_as(
        &self,
        url: &Url,
        token: Option<&str>,
        login: Option<Login>,
    ) -> Outcome<reqwest::Response> {
        let login = login.filter(|_| url.username().is_empty() && url.password().is_none());
        let mut attempt = 0;
        loop {
            attempt += 1;
            let mut request = self.client.get(url.clone());
            if let Some(token) = token {
                request = request.bearer_auth(token);
            } else if let Some(login) = &login {
                request = request.basic_auth(&login.name, Some(&login.password));
            }
            match request.send().await {
                Ok(answer) => {
                    let excuse = answer.status().is_server_error()
                        || answer.status() == StatusCode::TOO_MANY_REQUESTS;
                    if !excuse || attempt >= ATTEMPTS {
                        return Ok(answer);
                    }
                }
                Err(e) if attempt >= ATTEMPTS || e.is_redirect() || e.is_builder() => {
                    return Err(Problem::failed(format!(
                        "There is no answer from {}: {}.",
                        shown(url),
                        flat(e)
                    )));
                }
                Err(_) => {}
            }
            tokio::time::sleep(self.pause * attempt).await;
        }
    }

    /// The body of an answer, as long as it is of a sensible length.
    pub async fn body(&self, answer: reqwest::Response) -> Outcome<Vec<u8>> {
        let url = answer.url().clone();
        let mut bytes = Vec::new();
        let mut stream = answer.bytes_stream();
        while let Some(part) = stream.next().await {
            let part = part.map_err(|e| broken_off(&url, e))?;
            if bytes.len() + part.len() > LONGEST {
                return Err(Problem::failed(format!(
                    "The answer of {} is longer than {} MiB.",
                    shown(&url),
                    LONGEST >> 20
                )));
            }
            bytes.extend_from_slice(&part);
        }
        Ok(bytes)
    }

    /// Writes the body of an answer to a file.
    pub async fn save(&self, answer: reqwest::Response, path: &Path) -> Outcome<()> {
        let url = answer.url().clone();
        let local = |e| Problem::local("What is downloaded cannot be written", &e);
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent).map_err(local)?;
        }
        let mut file = fs::File::create(path).map_err(local)?;
        let mut stream = answer.bytes_stream();
        let mut length = 0u64;
        while let Some(part) = stream.next().await {
            let part = part.map_err(|e| broken_off(&url, e))?;
            length += part.len() as u64;
            if length > self.limits.download {
                return Err(Problem::failed(format!(
                    "What {} sends is larger than {} MiB, which no module is; it is not read any \
                     further.",
                    shown(&url),
                    self.limits.download >> 20
                )));
            }
            file.write_all(&part).map_err(local)?;
        }
        Ok(())
    }
}

fn broken_off(url: &Url, error: reqwest::Error) -> Problem {
    Problem::failed(format!(
        "The answer of {} broke off: {}.",
        shown(url),
        flat(error)
    ))
}

/// An answer that is no success, as a problem.
pub(crate) fn refused(url: &Url, status: StatusCode) -> Problem {
    let reason = status.canonical_reason().unwrap_or("no reason given");
    let problem = Problem::new(
        FAILED,
        format!("{} answers {} ({reason}).", shown(url), status.as_u16()),
    );
    match status {
        StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => problem.hint(
            "The server wants to know who asks, or does not let this user in. See that credentials for \
             this host are configured and may read the module.",
        ),
        StatusCode::NOT_FOUND => problem.hint("See that the address is spelt as it should be; some servers also answer this to those who may not see what is there."),
        _ => problem,
    }
}

/// A URL without its credentials.
pub(crate) fn shown(url: &Url) -> String {
    crate::address::Address::new(url.as_str()).to_string()
}

/// What went wrong, with what lies behind it, and without the address, which may hold credentials.
fn flat(error: reqwest::Error) -> String {
    let error = error.without_url();
    let mut text = error.to_string();
    let mut source = std::error::Error::source(&error);
    while let Some(inner) = source {
        let said = inner.to_string();
        if !text.contains(&said) {
            text.push_str(": ");
            text.push_str(&said);
        }
        source = inner.source();
    }
    text
}

/// A header's text.
pub(crate) fn header_text(answer: &reqwest::Response, name: &str) -> Option<String> {
    let name = header::HeaderName::from_bytes(name.as_bytes()).ok()?;
    let value = answer.headers().get(name)?.to_str().ok()?.trim().to_owned();
    (!value.is_empty()).then_some(value)
}
