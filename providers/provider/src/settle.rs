//! How the outcome of an operation is found again after a crash.

use crate::requests::{Bytes, Reported};
use async_trait::async_trait;
use formwork_values::Value;
use std::fmt;

/// A note could not be made durable; the request must not be sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoteError {
    /// Why, as a full sentence.
    pub reason: String,
}

impl fmt::Display for NoteError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.reason)
    }
}

impl std::error::Error for NoteError {}

/// Where a provider notes what it is about to do.
#[async_trait]
pub trait OperationLog: Send + Sync {
    /// Keeps `note`, durable when this returns.
    ///
    /// The native provider notes the request before its first byte is sent (method, URL, request id
    /// where the API has one, the key by which the object can be found), and the name of the
    /// operation as soon as it is known.
    ///
    /// # Errors
    /// If the note could not be made durable: then the request must not be sent.
    async fn note(&self, note: Vec<u8>) -> Result<(), NoteError>;
}

/// An operation that was begun and of whose end nothing is known.
#[derive(Clone)]
pub struct PendingOperation {
    /// Type name.
    pub kind: String,
    /// The object before; null for a creation.
    pub prior: Value,
    /// As planned; null for a deletion.
    pub planned: Value,
    /// Private data from planning.
    pub planned_private: Bytes,
    /// Everything noted, in order; empty if the process died before the first note. Of a provider that
    /// keeps notes no request was sent then, and it is not asked.
    pub notes: Vec<Bytes>,
}

/// What became of it.
pub enum Settlement {
    /// It was done: the object as it now is (null if it was a deletion), and its private data.
    Done {
        /// The object.
        object: Value,
        /// Private data to keep with it.
        private: Bytes,
        /// What there is to say, such as that the operation ended with an error.
        reported: Vec<Reported>,
    },
    /// It was never done: the object is as before.
    NotDone,
    /// It still runs; ask again later.
    StillRunning,
    /// It cannot be told. The user must say.
    Unknown {
        /// Why, as full sentences.
        reason: String,
    },
}
