//! Acting as a service account: our own credentials are exchanged for a token of its own.
//!
//! One request to IAM Credentials (`generateAccessToken`), by whoever we are, says which account is
//! meant and through which others; the token lasts an hour and is asked for again before that.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::sync::Mutex;
use tokio::time::Instant;

use crate::credentials::Credentials;
use crate::error::{ErrorKind, GoogleError};
use crate::request::encode_segment;

/// How long a token is asked for.
const LIFETIME: Duration = Duration::from_secs(3600);
/// How long one is used: it must last as long as the requests it goes with.
const USED_FOR: Duration = Duration::from_secs(3000);
/// Where tokens are made.
const IAM: &str = "https://iamcredentials.googleapis.com";

/// A service account that is acted as.
pub struct Impersonation {
    source: Credentials,
    account: String,
    delegates: Vec<String>,
    scopes: Vec<String>,
    base: String,
    token: Mutex<Option<(Arc<str>, Instant)>>,
}

impl Impersonation {
    pub(crate) fn new(
        source: Credentials,
        account: &str,
        delegates: &[String],
        scopes: Vec<String>,
    ) -> Self {
        Self {
            source,
            account: account.to_owned(),
            delegates: delegates.to_vec(),
            scopes,
            base: IAM.to_owned(),
            token: Mutex::new(None),
        }
    }

    /// The account's token, a new one if there is none or it is old.
    pub(crate) async fn token(&self) -> Result<Arc<str>, GoogleError> {
        let mut kept = self.token.lock().await;
        if let Some((token, since)) = &*kept
            && since.elapsed() < USED_FOR
        {
            return Ok(Arc::clone(token));
        }
        let token = self.exchange().await?;
        *kept = Some((Arc::clone(&token), Instant::now()));
        Ok(token)
    }

    async fn exchange(&self) -> Result<Arc<str>, GoogleError> {
        // boxed: credentials may themselves be impersonated
        let own = Box::pin(self.source.access_token()).await?;
        let failed = |why: String| {
            GoogleError::local(
                ErrorKind::Credentials,
                format!(
                    "no token of the service account {} could be had: {why}",
                    self.account
                ),
            )
        };
        let name = |account: &str| format!("projects/-/serviceAccounts/{account}");
        let url = format!(
            "{}/v1/projects/-/serviceAccounts/{}:generateAccessToken",
            self.base,
            encode_segment(&self.account)
        );
        let delegates: Vec<String> = self.delegates.iter().map(|d| name(d)).collect();
        let client = reqwest::Client::builder()
            .connect_timeout(Duration::from_secs(20))
            .timeout(Duration::from_secs(60))
            .redirect(reqwest::redirect::Policy::none())
            .build()
            .map_err(|e| failed(e.without_url().to_string()))?;
        let mut request = client.post(url).json(&json!({
            "delegates": delegates,
            "scope": self.scopes,
            "lifetime": format!("{}s", LIFETIME.as_secs()),
        }));
        if let Some(own) = own {
            request = request.bearer_auth(own);
        }
        let answer = request
            .send()
            .await
            .map_err(|e| failed(e.without_url().to_string()))?;
        let status = answer.status();
        let body: Value = answer.json().await.unwrap_or_default();
        if !status.is_success() {
            let why = body.pointer("/error/message").and_then(Value::as_str);
            return Err(failed(why.map_or_else(
                || format!("IAM Credentials answered {status}"),
                |why| why.trim_end_matches('.').to_owned(),
            )));
        }
        let token = body.get("accessToken").and_then(Value::as_str);
        token
            .map(Arc::from)
            .ok_or_else(|| failed("IAM Credentials answered without one".to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wiremock::matchers::{body_partial_json, header, method, path};
    use wiremock::{Mock, MockServer, ResponseTemplate};

    fn as_account(base: &str) -> Impersonation {
        let mut made = Impersonation::new(
            Credentials::token("own"),
            "sa@p.iam.gserviceaccount.com",
            &["via@p".to_owned()],
            vec!["scope".to_owned()],
        );
        made.base = base.to_owned();
        made
    }

    #[tokio::test]
    async fn a_token_is_had_once_for_many_requests() {
        let _ = rustls::crypto::aws_lc_rs::default_provider().install_default();
        let server = MockServer::start().await;
        Mock::given(method("POST"))
            .and(path(
                "/v1/projects/-/serviceAccounts/sa@p.iam.gserviceaccount.com:generateAccessToken",
            ))
            .and(header("authorization", "Bearer own"))
            .and(body_partial_json(json!({
                "delegates": ["projects/-/serviceAccounts/via@p"], "scope": ["scope"],
            })))
            .respond_with(ResponseTemplate::new(200).set_body_json(json!({"accessToken": "t"})))
            .expect(1)
            .mount(&server)
            .await;
        let account = as_account(&server.uri());
        for _ in 0..3 {
            assert_eq!(&*account.token().await.unwrap(), "t");
        }
    }

    #[tokio::test]
    async fn a_refusal_names_the_account_and_no_token() {
        let _ = rustls::crypto::aws_lc_rs::default_provider().install_default();
        let server = MockServer::start().await;
        Mock::given(method("POST"))
            .respond_with(ResponseTemplate::new(403).set_body_json(
                json!({"error": {"message": "Permission iam.serviceAccounts.getAccessToken denied."}}),
            ))
            .mount(&server)
            .await;
        let error = as_account(&server.uri()).token().await.unwrap_err();
        assert_eq!(error.kind, ErrorKind::Credentials);
        let told = error.to_string();
        assert!(
            told.contains("sa@p.iam.gserviceaccount.com") && told.contains("getAccessToken denied"),
            "{told}"
        );
        assert!(!told.contains("own"), "{told}");
    }
}
