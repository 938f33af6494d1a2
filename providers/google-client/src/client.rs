//! The client: one per configured provider.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use reqwest::header;
use serde_json::Value;
use tokio::time::Instant;

use crate::credentials::Credentials;
use crate::endpoints::Endpoints;
use crate::error::{ErrorKind, GoogleError};
use crate::rate::{Limiter, Rate};
use crate::request::{Body, Effect, Method, Request, Response};
use crate::retry::RetryPolicy;

/// How a [`Client`] behaves.
#[derive(Debug, Clone)]
pub struct ClientConfig {
    /// The `User-Agent` header.
    pub user_agent: String,
    /// Who we are.
    pub credentials: Credentials,
    /// Where the services are.
    pub endpoints: Endpoints,
    /// Patience with refusals.
    pub retry: RetryPolicy,
    /// Pace.
    pub rate: Rate,
    /// The time one HTTP exchange may take.
    pub request_timeout: Duration,
    /// A reason for the audit log (`X-Goog-Request-Reason`).
    pub request_reason: Option<String>,
}

impl ClientConfig {
    /// Google itself, with the given credentials.
    pub fn google(credentials: Credentials) -> Self {
        Self {
            user_agent: concat!("formwork/", env!("CARGO_PKG_VERSION")).to_owned(),
            credentials,
            endpoints: Endpoints::google(),
            retry: RetryPolicy::default(),
            rate: Rate::default(),
            request_timeout: Duration::from_secs(120),
            request_reason: None,
        }
    }

    /// A mock cloud at `base`: no credentials, no pacing.
    pub fn mock(base: &str) -> Self {
        Self {
            endpoints: Endpoints::below(base),
            rate: Rate::unlimited(),
            // A server on this machine answers, or is gone: nobody needs to wait long to know.
            retry: RetryPolicy {
                first: Duration::from_millis(50),
                longest: Duration::from_secs(1),
                budget: Duration::from_secs(12),
                busy_budget: Duration::from_secs(60),
            },
            ..Self::google(Credentials::None)
        }
    }
}

/// Speaks to Google. Cheap to clone; clones share connections and pace.
#[derive(Debug, Clone)]
pub struct Client {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    http: reqwest::Client,
    config: ClientConfig,
    limiter: Limiter,
    spread: AtomicU64,
}

impl Client {
    /// Makes a client. Nothing is sent.
    ///
    /// # Errors
    /// When TLS cannot be set up.
    pub fn new(config: ClientConfig) -> Result<Self, GoogleError> {
        // The library wants a process-wide choice; a second installation is refused and harmless.
        let _ = rustls::crypto::aws_lc_rs::default_provider().install_default();
        let http = builder(&config)
            .build()
            .or_else(|_| {
                // A host without a bundle of certificates (a bare container): bring our own. Not
                // done always, because a host's own bundle may say less on purpose.
                let roots = webpki_root_certs::TLS_SERVER_ROOT_CERTS
                    .iter()
                    .filter_map(|der| reqwest::Certificate::from_der(der).ok());
                builder(&config).tls_certs_merge(roots).build()
            })
            .map_err(|e| {
                GoogleError::local(
                    ErrorKind::Unreachable,
                    format!("TLS cannot be set up on this host: {e}"),
                )
            })?;
        let limiter = Limiter::new(config.rate);
        Ok(Self {
            shared: Arc::new(Shared {
                http,
                config,
                limiter,
                spread: AtomicU64::new(0),
            }),
        })
    }

    /// How the client was made.
    pub fn config(&self) -> &ClientConfig {
        &self.shared.config
    }

    /// Sends a request, patiently: what was refused without effect is sent again within the
    /// policy's budget.
    ///
    /// # Errors
    /// The last refusal. For a mutating request look at [`GoogleError::outcome_known`].
    pub async fn send(&self, request: &Request) -> Result<Response, GoogleError> {
        let mut refused_since = None;
        let policy = &self.shared.config.retry;
        let mut attempt = 0u32;
        loop {
            attempt += 1;
            let error = match self.once(request).await {
                Ok(response) => return Ok(response),
                Err(error) => error,
            };
            // Not from the first attempt: a call that held the line for minutes before it was cut off
            // deserves as much patience as any.
            let since: Instant = *refused_since.get_or_insert_with(Instant::now);
            let Some(budget) = policy.budget_for(&error, request.effect) else {
                return Err(error);
            };
            let spread = self.shared.spread.fetch_add(1, Ordering::Relaxed);
            let delay = policy
                .delay(attempt, spread)
                .max(error.retry_after.unwrap_or_default());
            if since.elapsed() + delay > budget {
                return Err(error);
            }
            tracing::debug!(
                request = %request.line(), kind = ?error.kind, status = error.http_status,
                attempt, delay_ms = u64::try_from(delay.as_millis()).unwrap_or(u64::MAX),
                "refused, will be sent again"
            );
            tokio::time::sleep(delay).await;
        }
    }

    /// Sends a request exactly once.
    ///
    /// # Errors
    /// The refusal.
    pub async fn once(&self, request: &Request) -> Result<Response, GoogleError> {
        let line = request.line();
        let (status, retry_after, bytes) = self.exchange(request).await.map_err(|e| e.of(&line))?;
        if !(200..300).contains(&status) {
            let error = GoogleError::from_answer(status, retry_after, &bytes).of(&line);
            tracing::debug!(request = %line, status, reason = %error.reason, "refused");
            return Err(error);
        }
        tracing::debug!(request = %line, status, "answered");
        let body = if bytes.is_empty() {
            Value::Null
        } else {
            serde_json::from_slice(&bytes).map_err(|e| {
                GoogleError::local(
                    ErrorKind::Malformed,
                    format!("the service answered {status} with something that is not JSON: {e}"),
                )
                .of(&line)
            })?
        };
        Ok(Response { status, body })
    }

    /// Sends a reading request and returns the bytes of the answer: media downloads.
    ///
    /// # Errors
    /// The refusal.
    pub async fn download(&self, request: &Request) -> Result<Vec<u8>, GoogleError> {
        let line = request.line();
        let (status, retry_after, bytes) = self.exchange(request).await.map_err(|e| e.of(&line))?;
        if (200..300).contains(&status) {
            Ok(bytes)
        } else {
            Err(GoogleError::from_answer(status, retry_after, &bytes).of(&line))
        }
    }

    async fn exchange(
        &self,
        request: &Request,
    ) -> Result<(u16, Option<Duration>, Vec<u8>), GoogleError> {
        let shared = &self.shared;
        let token = shared.config.credentials.access_token().await?;
        shared.limiter.turn(&request.service).await;
        let flights = shared.limiter.flights(&request.service);
        let _permit = flights.acquire().await;

        let url = shared.config.endpoints.url(&request.service, &request.path);
        let method = match request.method {
            Method::Get => reqwest::Method::GET,
            Method::Post => reqwest::Method::POST,
            Method::Put => reqwest::Method::PUT,
            Method::Patch => reqwest::Method::PATCH,
            Method::Delete => reqwest::Method::DELETE,
        };
        let mut sending = shared.http.request(method, url);
        if !request.query.is_empty() {
            sending = sending.query(&request.query);
        }
        if let Some(token) = token {
            sending = sending.bearer_auth(token);
        }
        if let Some(project) = &request.user_project {
            sending = sending.header("x-goog-user-project", project);
        }
        for (name, value) in &request.headers {
            sending = sending.header(*name, value);
        }
        if let Some(reason) = &shared.config.request_reason {
            sending = sending.header("x-goog-request-reason", reason);
        }
        sending = match &request.body {
            // Google's front end refuses a POST without a length.
            Body::None if request.method != Method::Get && request.method != Method::Delete => {
                sending.header(header::CONTENT_LENGTH, "0").body(Vec::new())
            }
            Body::None => sending,
            Body::Json(json) => sending.json(json),
            Body::Bytes(kind, bytes) => sending
                .header(header::CONTENT_TYPE, kind)
                .body(bytes.clone()),
        };
        let answer = sending.send().await.map_err(|e| transport(request, &e))?;
        let status = answer.status().as_u16();
        let retry_after = answer
            .headers()
            .get(header::RETRY_AFTER)
            .and_then(|v| v.to_str().ok())
            .and_then(|v| v.trim().parse().ok())
            .map(Duration::from_secs);
        let bytes = answer.bytes().await.map_err(|e| transport(request, &e))?;
        Ok((status, retry_after, bytes.to_vec()))
    }
}

fn builder(config: &ClientConfig) -> reqwest::ClientBuilder {
    let mut builder = reqwest::Client::builder()
        .user_agent(config.user_agent.clone())
        .connect_timeout(Duration::from_secs(20))
        .timeout(config.request_timeout)
        // Google closes idle connections on its side; ours must go first.
        .pool_idle_timeout(Duration::from_secs(30))
        .http2_keep_alive_interval(Duration::from_secs(20))
        .http2_adaptive_window(true)
        // An API that redirects is not the API we asked.
        .redirect(reqwest::redirect::Policy::none());
    if config.endpoints.is_mock() {
        // A proxy of the environment has no business between us and our own loopback.
        builder = builder.no_proxy();
    }
    builder
}

fn transport(request: &Request, error: &reqwest::Error) -> GoogleError {
    // Its URL is ours to print; its source says why.
    let mut why = String::new();
    let mut source: Option<&dyn std::error::Error> = std::error::Error::source(error);
    while let Some(cause) = source {
        why = cause.to_string();
        source = cause.source();
    }
    if error.is_builder() || error.is_connect() {
        return GoogleError::local(
            ErrorKind::Unreachable,
            format!("{} cannot be reached: {why}", request.service),
        );
    }
    let effect = match request.effect {
        Effect::Reads => "",
        Effect::Mutates => "; whether the service did what was asked is not known",
    };
    let what = if error.is_timeout() {
        "no answer came in time".to_owned()
    } else {
        format!("the connection was lost: {why}")
    };
    GoogleError::local(
        ErrorKind::Cut,
        format!("{} was asked and {what}{effect}", request.service),
    )
}
