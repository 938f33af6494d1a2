//! [`HttpStore`]: a state at an address, as Terraform's backend `http` speaks of it.
//!
//! - `GET address`: 200 with the state; 204 or 404 if there is none.
//! - `POST address` (or another method), with `ID=` of the lock behind it while it is locked: writes it.
//!   Both ways `Content-MD5` guards the bytes.
//! - `LOCK lock_address` (or another method) with who locks as JSON; 423 or 409 answers who holds it.
//!   `UNLOCK unlock_address` with the same JSON.
//!
//! There is no place for a journal in this protocol ([`JournalSupport::Unsupported`]).
//!
//! A request is sent again where no answer came or the server failed (5xx): a write replaces all of the
//! state and may be repeated, and a lock that is refused in the name of its own id is held.

use async_trait::async_trait;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use formwork_diagnostics::{Diagnostic, Diagnostics};
use formwork_state::{
    Durable, JournalStore, JournalSupport, LockError, LockInfo, SnapshotStore, StateLock,
};
use md5::{Digest, Md5};
use reqwest::{Method, StatusCode, header};
use std::fmt;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// Where a state is, and how the server is spoken to. The fields are the arguments of Terraform's
/// backend. The debug form shows no secret.
#[derive(Clone)]
pub struct HttpConfig {
    /// Where the state is read and written.
    pub address: String,
    /// The method that writes it.
    pub update_method: String,
    /// Where it is locked; it is not locked at all without.
    pub lock_address: Option<String>,
    /// The method that locks it.
    pub lock_method: String,
    /// Where the lock is released; it is left without.
    pub unlock_address: Option<String>,
    /// The method that releases it.
    pub unlock_method: String,
    /// User and password of basic authentication.
    pub credentials: Option<(String, String)>,
    /// Whether any certificate of the server will do.
    pub skip_cert_verification: bool,
    /// How often a request is sent again.
    pub retry_max: u32,
    /// The shortest pause before that; it doubles.
    pub retry_wait_min: Duration,
    /// The longest.
    pub retry_wait_max: Duration,
    /// A certificate authority that the server's certificate may be of, in PEM.
    pub client_ca_certificate_pem: Option<String>,
    /// Certificate and private key of the client, in PEM.
    pub client_identity_pem: Option<(String, String)>,
}

impl HttpConfig {
    /// The state at `address`, everything else as it is when nothing is said of it.
    pub fn at(address: &str) -> Self {
        Self {
            address: address.to_owned(),
            update_method: "POST".to_owned(),
            lock_address: None,
            lock_method: "LOCK".to_owned(),
            unlock_address: None,
            unlock_method: "UNLOCK".to_owned(),
            credentials: None,
            skip_cert_verification: false,
            retry_max: 2,
            retry_wait_min: Duration::from_secs(1),
            retry_wait_max: Duration::from_secs(30),
            client_ca_certificate_pem: None,
            client_identity_pem: None,
        }
    }
}

impl fmt::Debug for HttpConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpConfig")
            .field("address", &shown(&self.address))
            .finish_non_exhaustive()
    }
}

/// A state behind an address.
pub struct HttpStore {
    config: HttpConfig,
    client: reqwest::Client,
    addresses: Addresses,
    held: Mutex<Option<LockInfo>>,
}

struct Addresses {
    state: reqwest::Url,
    lock: Option<reqwest::Url>,
    unlock: Option<reqwest::Url>,
}

/// What a server said.
struct Answer {
    status: StatusCode,
    md5: Option<String>,
    body: Vec<u8>,
}

impl HttpStore {
    /// The state that a configuration names. Nothing is sent yet.
    ///
    /// # Errors
    /// What is wrong with the configuration: an address that is none, a certificate that is none.
    pub fn new(config: HttpConfig) -> Result<Self, Diagnostics> {
        // The library wants a process-wide choice; a second installation is refused and harmless.
        let _ = rustls::crypto::aws_lc_rs::default_provider().install_default();
        let mut builder = reqwest::Client::builder()
            .user_agent(concat!("formwork/", env!("CARGO_PKG_VERSION")))
            .connect_timeout(Duration::from_secs(20))
            .timeout(Duration::from_secs(120))
            // credentials go to the address that was named, and to no other
            .redirect(reqwest::redirect::Policy::none());
        if config.skip_cert_verification {
            builder = builder.tls_danger_accept_invalid_certs(true);
        }
        if let Some(pem) = &config.client_ca_certificate_pem {
            let roots = reqwest::Certificate::from_pem_bundle(pem.as_bytes()).map_err(|_| {
                wrong(
                    "client_ca_certificate_pem",
                    "It holds no certificate in PEM.",
                )
            })?;
            builder = builder.tls_certs_merge(roots);
        }
        if let Some((certificate, key)) = &config.client_identity_pem {
            let pem = format!("{certificate}\n{key}");
            let identity = reqwest::Identity::from_pem(pem.as_bytes()).map_err(|_| {
                wrong(
                    "client_certificate_pem",
                    "It and client_private_key_pem must be a certificate and its private key in PEM.",
                )
            })?;
            builder = builder.identity(identity);
        }
        let client = builder
            .build()
            .map_err(|e| wrong("http", &format!("TLS cannot be set up: {e}.")))?;
        let url = |name: &str, text: &str| {
            let url = reqwest::Url::parse(text)
                .ok()
                .filter(|u| matches!(u.scheme(), "http" | "https") && u.has_host());
            url.ok_or_else(|| {
                wrong(
                    name,
                    "It must be an address that begins with http:// or https://.",
                )
            })
        };
        let addresses = Addresses {
            state: url("address", &config.address)?,
            lock: config
                .lock_address
                .as_ref()
                .map(|a| url("lock_address", a))
                .transpose()?,
            unlock: config
                .unlock_address
                .as_ref()
                .map(|a| url("unlock_address", a))
                .transpose()?,
        };
        for (name, method) in [
            ("update_method", &config.update_method),
            ("lock_method", &config.lock_method),
            ("unlock_method", &config.unlock_method),
        ] {
            if Method::from_bytes(method.as_bytes()).is_err() {
                return Err(wrong(name, "It is not the name of an HTTP method."));
            }
        }
        Ok(Self {
            config,
            client,
            addresses,
            held: Mutex::new(None),
        })
    }

    fn held(&self) -> std::sync::MutexGuard<'_, Option<LockInfo>> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sends a request until it is answered by anything but a failure of the server.
    async fn send(
        &self,
        method: &str,
        url: &reqwest::Url,
        body: Option<&[u8]>,
    ) -> Result<Answer, String> {
        let method = Method::from_bytes(method.as_bytes()).unwrap_or(Method::GET);
        let mut pause = self.config.retry_wait_min;
        let mut tries = 0;
        loop {
            let answer = self.once(method.clone(), url.clone(), body).await;
            let again = match &answer {
                Ok(a) => a.status.is_server_error() && a.status != StatusCode::NOT_IMPLEMENTED,
                Err(_) => true,
            };
            if !again || tries >= self.config.retry_max {
                return answer;
            }
            tries += 1;
            tokio::time::sleep(pause).await;
            pause = (pause * 2).min(self.config.retry_wait_max);
        }
    }

    async fn once(
        &self,
        method: Method,
        url: reqwest::Url,
        body: Option<&[u8]>,
    ) -> Result<Answer, String> {
        let mut request = self.client.request(method, url);
        if let Some((user, password)) = &self.config.credentials {
            request = request.basic_auth(user, Some(password));
        }
        if let Some(bytes) = body {
            request = request
                .header(header::CONTENT_TYPE, "application/json")
                .header("content-md5", sum(bytes))
                .body(bytes.to_vec());
        }
        // its address may hold credentials
        let said = |e: reqwest::Error| {
            let e = e.without_url();
            let source = std::error::Error::source(&e).map(ToString::to_string);
            source.map_or_else(|| e.to_string(), |why| format!("{e}: {why}"))
        };
        let answer = request.send().await.map_err(said)?;
        let status = answer.status();
        let md5 = answer.headers().get("content-md5");
        let md5 = md5.and_then(|v| v.to_str().ok()).map(str::to_owned);
        let body = answer.bytes().await.map_err(said)?.to_vec();
        Ok(Answer { status, md5, body })
    }

    /// What a server says, without what it was sent to be let in: some repeat that.
    fn without_credentials(&self, said: &[u8]) -> Vec<u8> {
        let mut secrets = Vec::new();
        if let Some((user, password)) = &self.config.credentials {
            secrets.push(STANDARD.encode(format!("{user}:{password}")));
            secrets.push(password.clone());
        }
        let addresses = [&self.addresses.state]
            .into_iter()
            .chain(&self.addresses.lock);
        for url in addresses {
            secrets.extend(url.password().map(str::to_owned));
            secrets.extend(url.query().map(str::to_owned));
            secrets.extend(url.query_pairs().map(|(_, value)| value.into_owned()));
        }
        let escaped: Vec<String> = secrets
            .iter()
            .filter_map(|text| serde_json::to_string(text).ok())
            .map(|text| text.trim_matches('"').to_owned())
            .collect();
        secrets.extend(escaped);
        secrets.retain(|secret| secret.len() >= SHORTEST_SECRET);
        // a longer one may hold a shorter one
        secrets.sort_by_key(|secret| std::cmp::Reverse(secret.len()));
        let mut said = String::from_utf8_lossy(said).into_owned();
        for secret in secrets {
            said = said.replace(&secret, "(not shown)");
        }
        said.into_bytes()
    }

    fn failed(&self, summary: &str, tried: &str, why: &str) -> Diagnostics {
        let address = shown(&self.config.address);
        Diagnostic::error(summary, format!("{tried} {address} failed: {why}.")).into()
    }

    fn refused(&self, summary: &str, tried: &str, status: StatusCode) -> Diagnostics {
        let address = shown(&self.config.address);
        let d = Diagnostic::error(
            summary,
            format!("{tried} {address} failed: the server answered {status}."),
        );
        let advice = match status {
            StatusCode::UNAUTHORIZED => {
                "Give username and password, or TF_HTTP_USERNAME and TF_HTTP_PASSWORD."
            }
            StatusCode::FORBIDDEN => "This user may not do that, says the server.",
            s if s.is_redirection() => {
                "Name the address that the server points to: none is followed."
            }
            _ => return d.into(),
        };
        d.hint(advice).into()
    }
}

/// What is shorter than this many bytes may be any part of a word.
const SHORTEST_SECRET: usize = 4;

fn sum(bytes: &[u8]) -> String {
    STANDARD.encode(Md5::digest(bytes))
}

/// An address without what may be secret in it: user, password and query.
fn shown(address: &str) -> String {
    match reqwest::Url::parse(address) {
        Ok(mut url) => {
            // an address that can have none of these has nothing to hide
            let _ = url.set_username("");
            let _ = url.set_password(None);
            url.set_query(None);
            url.to_string()
        }
        Err(_) => "the configured address".to_owned(),
    }
}

fn wrong(argument: &str, why: &str) -> Diagnostics {
    Diagnostic::error(
        "Invalid backend configuration",
        format!("The argument \"{argument}\" of the backend \"http\" is not suitable. {why}"),
    )
    .into()
}

#[async_trait]
impl SnapshotStore for HttpStore {
    fn describe(&self) -> String {
        shown(&self.config.address)
    }

    async fn read_snapshot(&self) -> Result<Option<Vec<u8>>, Diagnostics> {
        const SUMMARY: &str = "Failed to read the state";
        let answer = self
            .send("GET", &self.addresses.state, None)
            .await
            .map_err(|why| self.failed(SUMMARY, "Reading", &why))?;
        match answer.status {
            StatusCode::OK => {}
            StatusCode::NO_CONTENT | StatusCode::NOT_FOUND => return Ok(None),
            other => return Err(self.refused(SUMMARY, "Reading", other)),
        }
        if answer.md5.is_some_and(|md5| md5 != sum(&answer.body)) {
            return Err(self.failed(
                SUMMARY,
                "Reading",
                "the bytes are not those of the checksum that came with them (Content-MD5)",
            ));
        }
        Ok(Some(answer.body).filter(|b| !b.is_empty()))
    }

    async fn write_snapshot(&self, bytes: &[u8]) -> Result<(), Diagnostics> {
        const SUMMARY: &str = "Failed to write the state";
        let mut url = self.addresses.state.clone();
        if let Some(held) = self.held().as_ref() {
            url.query_pairs_mut().append_pair("ID", &held.id);
        }
        let answer = self
            .send(&self.config.update_method, &url, Some(bytes))
            .await
            .map_err(|why| self.failed(SUMMARY, "Writing", &why))?;
        match answer.status {
            StatusCode::OK | StatusCode::CREATED | StatusCode::NO_CONTENT => Ok(()),
            other => Err(self.refused(SUMMARY, "Writing", other)),
        }
    }
}

#[async_trait]
impl StateLock for HttpStore {
    async fn lock(&self, info: &LockInfo) -> Result<(), LockError> {
        const SUMMARY: &str = "Error acquiring the state lock";
        let Some(url) = &self.addresses.lock else {
            return Ok(());
        };
        let text = info.to_json();
        let answer = self
            .send(&self.config.lock_method, url, Some(text.as_bytes()))
            .await
            .map_err(|why| LockError::Failed(self.failed(SUMMARY, "Locking", &why)))?;
        let holder = LockInfo::from_json(&self.without_credentials(&answer.body));
        match answer.status {
            StatusCode::OK => {}
            StatusCode::LOCKED | StatusCode::CONFLICT
                // refused in our own name: an earlier try was heard, its answer was not
                if holder.as_ref().is_some_and(|h| h.id == info.id) => {}
            StatusCode::LOCKED | StatusCode::CONFLICT => {
                return Err(LockError::Held {
                    what: self.describe(),
                    holder: holder.map(Box::new),
                });
            }
            other => return Err(LockError::Failed(self.refused(SUMMARY, "Locking", other))),
        }
        *self.held() = Some(info.clone());
        Ok(())
    }

    async fn unlock(&self, id: &str) -> Result<(), Diagnostics> {
        const SUMMARY: &str = "Error releasing the state lock";
        let info = self.held().take_if(|held| held.id == id);
        let Some(url) = &self.addresses.unlock else {
            return Ok(());
        };
        let text = match info {
            Some(info) => info.to_json(),
            // of a lock that somebody else took no more is known
            None => serde_json::json!({"ID": id}).to_string(),
        };
        let answer = self
            .send(&self.config.unlock_method, url, Some(text.as_bytes()))
            .await
            .map_err(|why| self.failed(SUMMARY, "Unlocking", &why))?;
        if answer.status == StatusCode::OK {
            Ok(())
        } else {
            Err(self.refused(SUMMARY, "Unlocking", answer.status))
        }
    }

    async fn break_lock(&self, id: &str) -> Result<(), Diagnostics> {
        if self.addresses.unlock.is_some() {
            return self.unlock(id).await;
        }
        Err(Diagnostic::error(
            "Error releasing the state lock",
            format!(
                "No unlock_address says where a lock of {} is released.",
                self.describe()
            ),
        )
        .into())
    }
}

#[async_trait]
impl JournalStore for HttpStore {
    fn journal_support(&self) -> JournalSupport {
        JournalSupport::Unsupported
    }

    async fn read_journal(&self) -> Result<Vec<u8>, Diagnostics> {
        Ok(Vec::new())
    }

    async fn lock_journal(&self) -> Result<(), LockError> {
        Ok(())
    }

    fn append_journal(&self, _bytes: Vec<u8>) -> Durable {
        let refused = self.failed(
            "Failed to write the journal",
            "Writing beside",
            "this backend keeps no journal",
        );
        Box::pin(async move { Err(refused) })
    }

    async fn replace_journal(&self, bytes: Vec<u8>) -> Result<(), Diagnostics> {
        if bytes.is_empty() {
            return Ok(());
        }
        self.append_journal(bytes).await
    }

    async fn unlock_journal(&self) {}
}

#[cfg(test)]
mod tests {
    use super::*;
    use wiremock::matchers::{basic_auth, body_json, header, method, path, query_param};
    use wiremock::{Mock, MockServer, ResponseTemplate};

    fn store(server: &MockServer) -> HttpStore {
        let uri = server.uri();
        HttpStore::new(HttpConfig {
            lock_address: Some(format!("{uri}/lock")),
            unlock_address: Some(format!("{uri}/lock")),
            credentials: Some(("ci".to_owned(), "hunter2".to_owned())),
            retry_wait_min: Duration::from_millis(1),
            ..HttpConfig::at(&format!("{uri}/state?token=hunter2"))
        })
        .expect("a configuration")
    }

    fn info() -> LockInfo {
        LockInfo {
            id: "own".to_owned(),
            who: "u@h".to_owned(),
            ..LockInfo::default()
        }
    }

    fn text(d: Diagnostics) -> String {
        d.iter()
            .map(|d| format!("{}: {} {:?}", d.summary, d.detail, d.hints))
            .collect()
    }

    #[tokio::test]
    async fn reads_and_writes_under_the_name_of_its_lock() {
        let server = MockServer::start().await;
        let json: serde_json::Value = serde_json::from_str(&info().to_json()).expect("JSON");
        for name in ["LOCK", "UNLOCK"] {
            Mock::given(method(name))
                .and(path("/lock"))
                .and(basic_auth("ci", "hunter2"))
                .and(body_json(&json))
                .respond_with(ResponseTemplate::new(200))
                .expect(1)
                .mount(&server)
                .await;
        }
        Mock::given(method("POST"))
            .and(path("/state"))
            .and(query_param("ID", "own"))
            .and(query_param("token", "hunter2"))
            .and(header("content-md5", sum(b"{}").as_str()))
            .respond_with(ResponseTemplate::new(200))
            .expect(1)
            .mount(&server)
            .await;
        Mock::given(method("GET"))
            .respond_with(
                ResponseTemplate::new(200)
                    .set_body_bytes(b"{}".to_vec())
                    .insert_header("content-md5", sum(b"{}").as_str()),
            )
            .mount(&server)
            .await;
        let store = store(&server);
        store.lock(&info()).await.expect("locked");
        store.write_snapshot(b"{}").await.expect("written");
        let read = store.read_snapshot().await.expect("readable");
        assert_eq!(read.as_deref(), Some(&b"{}"[..]));
        store.unlock("own").await.expect("unlocked");
    }

    #[tokio::test]
    async fn answers_of_servers() {
        let server = MockServer::start().await;
        let answer = |verb: &str, answer: ResponseTemplate| {
            Mock::given(method(verb))
                .respond_with(answer)
                .up_to_n_times(1)
        };
        let store = store(&server);
        for status in [204, 404] {
            answer("GET", ResponseTemplate::new(status))
                .mount(&server)
                .await;
            assert_eq!(store.read_snapshot().await.expect("none"), None);
        }
        // a failure passes, and one that does not is told
        answer("GET", ResponseTemplate::new(503))
            .mount(&server)
            .await;
        answer("GET", ResponseTemplate::new(200).set_body_string("x"))
            .mount(&server)
            .await;
        assert_eq!(
            store.read_snapshot().await.expect("there").as_deref(),
            Some(&b"x"[..])
        );
        let damaged = ResponseTemplate::new(200)
            .set_body_string("x")
            .insert_header("content-md5", sum(b"y").as_str());
        answer("GET", damaged).mount(&server).await;
        let told = text(store.read_snapshot().await.expect_err("damaged"));
        assert!(told.contains("Content-MD5"), "{told}");
        for (status, word) in [
            (401, "TF_HTTP_USERNAME"),
            (403, "may not"),
            (302, "points to"),
        ] {
            answer("POST", ResponseTemplate::new(status))
                .mount(&server)
                .await;
            let told = text(store.write_snapshot(b"{}").await.expect_err("refused"));
            assert!(
                told.contains(word) && told.contains(&status.to_string()),
                "{told}"
            );
            assert!(!told.contains("hunter2"), "{told}");
        }
        for status in [423, 409] {
            let other = LockInfo {
                id: "other".to_owned(),
                ..info()
            };
            let held = ResponseTemplate::new(status).set_body_string(other.to_json());
            answer("LOCK", held).mount(&server).await;
            let Err(LockError::Held { holder, .. }) = store.lock(&info()).await else {
                panic!("it is held");
            };
            assert_eq!(holder.map(|h| h.id).as_deref(), Some("other"));
        }
        let own = ResponseTemplate::new(423).set_body_string(info().to_json());
        answer("LOCK", ResponseTemplate::new(500))
            .mount(&server)
            .await;
        answer("LOCK", own).mount(&server).await;
        store.lock(&info()).await.expect("heard the first time");
    }

    #[tokio::test]
    async fn what_is_wrong_with_a_configuration() {
        for (config, word) in [
            (HttpConfig::at("ftp://h/x"), "\"address\""),
            (HttpConfig::at("nonsense"), "\"address\""),
            (
                HttpConfig {
                    lock_address: Some("x".to_owned()),
                    ..HttpConfig::at("http://h")
                },
                "\"lock_address\"",
            ),
            (
                HttpConfig {
                    update_method: "a b".to_owned(),
                    ..HttpConfig::at("http://h")
                },
                "\"update_method\"",
            ),
            (
                HttpConfig {
                    client_ca_certificate_pem: Some("-----BEGIN CERTIFICATE-----\nx\n".to_owned()),
                    ..HttpConfig::at("http://h")
                },
                "\"client_ca_certificate_pem\"",
            ),
        ] {
            let told = text(HttpStore::new(config).err().expect("refused"));
            assert!(told.contains(word), "{told}");
        }
        let debug = format!("{:?}", HttpConfig::at("http://u:hunter2@h/x?token=hunter2"));
        assert!(
            !debug.contains("hunter2") && debug.contains("http://h/x"),
            "{debug}"
        );
        // nobody is there
        let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = format!("http://{}/", listener.local_addr().expect("bound"));
        drop(listener);
        let store = HttpStore::new(HttpConfig {
            retry_max: 1,
            retry_wait_min: Duration::from_millis(1),
            ..HttpConfig::at(&address)
        })
        .expect("a configuration");
        let told = text(store.read_snapshot().await.expect_err("nobody"));
        assert!(told.contains("Failed to read the state"), "{told}");
    }
}
