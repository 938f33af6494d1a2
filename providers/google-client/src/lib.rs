//! Speaks to Google: credentials, transport, retries, rate, long-running operations.
//!
//! A [`Client`] sends a [`Request`] to a service (named as in its host: `compute`, `storage`) and
//! returns its JSON or a [`GoogleError`] of a known [`ErrorKind`], whichever of Google's three error
//! forms the service writes. A long-running [`Operation`] is awaited by [`Client::wait`]: by the
//! API's own `wait` where it has one, else by polling that adapts.
//!
//! Invariants:
//!
//! - A request that changes something is sent again only if the service has said that it did not do
//!   it (rate, not ready, busy), or if no connection was made. After a cut connection or a 5xx
//!   answer the outcome is not known: the caller gets an error whose
//!   [`outcome_known`](GoogleError::outcome_known) is false and looks for the object or the
//!   operation. A request id is no licence to send again: few services have one.
//! - No token ever reaches a log, an error or `Debug`.
//! - Waiting is tokio's, so tests can pause it. There is no clock and no randomness here: retries
//!   are spread by a counter.
//!
//! It knows no resource type.
#![forbid(unsafe_code)]

mod client;
mod credentials;
mod endpoints;
mod error;
mod impersonation;
mod operation;
mod pages;
mod rate;
mod request;
mod retry;

pub use client::{Client, ClientConfig};
pub use credentials::Credentials;
pub use endpoints::Endpoints;
pub use error::{ErrorAnswer, ErrorKind, GoogleError};
pub use impersonation::Impersonation;
pub use operation::{Operation, OperationKind, OperationState};
pub use pages::{Listed, Listing};
pub use rate::Rate;
pub use request::{Body, Effect, Method, Request, Response, encode_segment};
pub use retry::RetryPolicy;
