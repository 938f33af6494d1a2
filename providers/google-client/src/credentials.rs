//! Who we are to Google.

use std::fmt;
use std::sync::Arc;

use google_cloud_auth::credentials::{self, AccessTokenCredentials};
use serde_json::Value;

use crate::error::{ErrorKind, GoogleError};
use crate::impersonation::Impersonation;

const SCOPES: [&str; 2] = [
    "https://www.googleapis.com/auth/cloud-platform",
    "https://www.googleapis.com/auth/userinfo.email",
];

/// Where tokens come from.
#[derive(Clone)]
pub enum Credentials {
    /// None: a mock cloud asks for nothing.
    None,
    /// A token that somebody else got and renews.
    AccessToken(Arc<str>),
    /// Google's own library, renewing as needed.
    Library(AccessTokenCredentials),
    /// A service account that we act as.
    Impersonated(Arc<Impersonation>),
}

impl fmt::Debug for Credentials {
    /// The kind only.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::None => "Credentials::None",
            Self::AccessToken(_) => "Credentials::AccessToken(..)",
            Self::Library(_) => "Credentials::Library(..)",
            Self::Impersonated(_) => "Credentials::Impersonated(..)",
        })
    }
}

impl Credentials {
    /// A given access token.
    pub fn token(token: &str) -> Self {
        Self::AccessToken(Arc::from(token.trim()))
    }

    /// Application default credentials: the file of `GOOGLE_APPLICATION_CREDENTIALS`, gcloud's
    /// file, or the metadata server. The library reads the process's environment itself (listed
    /// among the exceptions in tests/tidy).
    ///
    /// # Errors
    /// When a file is there and cannot be used. That nothing at all is configured shows only when
    /// the first token is asked for, because the metadata server has to be tried.
    pub fn application_default(scopes: &[String]) -> Result<Self, GoogleError> {
        credentials::Builder::default()
            .with_scopes(scopes_or_default(scopes))
            .build_access_token_credentials()
            .map(Self::Library)
            .map_err(|e| denied(&e.to_string()))
    }

    /// Credentials given as the JSON text of a credentials file (service account key, authorised
    /// user, external account, impersonated service account).
    ///
    /// # Errors
    /// When the text is none of these. The text itself is never quoted.
    pub fn json(text: &str, scopes: &[String]) -> Result<Self, GoogleError> {
        let json: Value = serde_json::from_str(text)
            .map_err(|_| denied("the credentials are not the JSON of a credentials file"))?;
        let kind = json
            .get("type")
            .and_then(Value::as_str)
            .unwrap_or_default()
            .to_owned();
        let scopes = scopes_or_default(scopes);
        let built = match kind.as_str() {
            "service_account" => credentials::service_account::Builder::new(json)
                .with_access_specifier(credentials::service_account::AccessSpecifier::from_scopes(
                    scopes,
                ))
                .build_access_token_credentials(),
            "authorized_user" => credentials::user_account::Builder::new(json)
                .with_scopes(scopes)
                .build_access_token_credentials(),
            "external_account" => credentials::external_account::Builder::new(json)
                .with_scopes(scopes)
                .build_access_token_credentials(),
            "impersonated_service_account" => credentials::impersonated::Builder::new(json)
                .with_scopes(scopes)
                .build_access_token_credentials(),
            _ => {
                return Err(denied(
                    "the credentials' \"type\" is none of service_account, authorized_user, external_account, impersonated_service_account",
                ));
            }
        };
        built.map(Self::Library).map_err(|e| denied(&e.to_string()))
    }

    /// The service account `account` (its e-mail address), which these credentials may act as, directly
    /// or through `delegates`, each of which may act as the next.
    #[must_use]
    pub fn impersonating(self, account: &str, delegates: &[String], scopes: &[String]) -> Self {
        let scopes = scopes_or_default(scopes);
        Self::Impersonated(Arc::new(Impersonation::new(
            self, account, delegates, scopes,
        )))
    }

    /// The token for the next request; `None` when none is needed.
    ///
    /// # Errors
    /// When no token can be had.
    pub async fn access_token(&self) -> Result<Option<Arc<str>>, GoogleError> {
        match self {
            Self::None => Ok(None),
            Self::AccessToken(token) => Ok(Some(Arc::clone(token))),
            Self::Impersonated(account) => account.token().await.map(Some),
            Self::Library(library) => match library.access_token().await {
                Ok(token) => Ok(Some(Arc::from(token.token.as_str()))),
                Err(e) => {
                    // The library speaks at length of what it did when nothing is configured.
                    let cause = std::error::Error::source(&e)
                        .map_or_else(|| e.to_string(), ToString::to_string);
                    let why = if cause.contains("not configured local credentials") {
                        "none are configured on this machine, and it is no machine of Google's"
                            .to_owned()
                    } else {
                        format!("no token could be had: {cause}")
                    };
                    Err(denied(&why))
                }
            },
        }
    }
}

fn scopes_or_default(scopes: &[String]) -> Vec<String> {
    if scopes.is_empty() {
        SCOPES.iter().map(|s| (*s).to_owned()).collect()
    } else {
        scopes.to_vec()
    }
}

fn denied(why: &str) -> GoogleError {
    GoogleError::local(
        ErrorKind::Credentials,
        format!(
            "no Google credentials can be used ({}). Set access_token in the provider block or GOOGLE_OAUTH_ACCESS_TOKEN in the environment (`gcloud auth print-access-token` prints one), or run `gcloud auth application-default login`",
            why.trim_end_matches('.')
        ),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn debug_and_errors_show_no_secret() {
        let token = Credentials::token("ya29.secret\n");
        assert_eq!(format!("{token:?}"), "Credentials::AccessToken(..)");
        let e = Credentials::json(r#"{"type":"x","private_key":"secret"}"#, &[]).unwrap_err();
        assert_eq!(e.kind, ErrorKind::Credentials);
        assert!(!e.to_string().contains("secret") && e.to_string().contains("access_token"));
    }

    #[tokio::test]
    async fn given_tokens_are_handed_on() {
        let token = Credentials::token(" t ").access_token().await.unwrap();
        assert_eq!(token.as_deref(), Some("t"));
        assert_eq!(Credentials::None.access_token().await.unwrap(), None);
    }
}
