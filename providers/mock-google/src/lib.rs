//! Google Cloud on a loopback port: lifecycles, constraints, quotas, capacity, faults.
//!
//! An HTTP server made from Google's discovery documents (`schemas/discovery`): they give the routes
//! and the types, and a request that does not fit them is refused as Google refuses it. On top comes
//! behaviour: operations that take time, fingerprints, defaults that the server fills in, references
//! that must exist, ranges that must not overlap, things in use that cannot be deleted, network
//! profiles with their rules, reservations, capacity, quotas, and whatever else the scenario makes go
//! wrong.
//!
//! What holds always:
//!
//! * A request that changes something is durable before it is answered; a world opened again is the
//!   same world, its running operations included ([`journal`](self) and `store`).
//! * It is an oracle for our own provider, so it shares nothing with it but Google's documents: no
//!   arrow leads from here to google-schema or topology, and the machine types and network profiles
//!   are data with sources of their own.
//! * A method that is known and not played answers 501 and names itself; no request is waved through.
//! * Ids, fingerprints, latencies and faults are functions of the scenario's seed and a counter.
//!
//! What it does not do: run machines, move packets, check credentials (any bearer will do), or play
//! APIs beyond the discovery documents.
//!
//! Order of reading: `scenario` and `catalogue` (the world as data), `routing`, `checking` and
//! `request` (in), `store`, `operations`, `transaction` and `journal` (memory), `dispatch` and the
//! services (behaviour), `cloud` and `server` (all together).
#![forbid(unsafe_code)]

mod catalogue;
mod chance;
mod checking;
mod cloud;
mod compute;
mod control;
mod dispatch;
mod error;
mod faults;
mod file;
mod filter;
mod iam;
mod journal;
mod links;
mod lists;
mod operations;
mod policy;
mod request;
mod request_log;
mod resource_manager;
mod routing;
mod scenario;
mod seed;
mod server;
mod service_usage;
mod storage;
mod store;
mod time;
mod transaction;
mod usage;

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;

use formwork_environment::{Clock, Randomness};

pub use cloud::Listed;
pub use journal::{OpenError, Served, Serving, served};
pub use request_log::LogLine;
pub use scenario::{FORMAT as SCENARIO_FORMAT, Scenario};
pub use server::Server;

/// What a mock cloud is made from.
pub struct Config {
    /// Where its world lives; in memory without.
    pub directory: Option<PathBuf>,
    /// What its world is like. The first objects are made only in a new world.
    pub scenario: Scenario,
    /// Time.
    pub clock: Arc<dyn Clock>,
    /// Where the world's id comes from.
    pub randomness: Arc<dyn Randomness>,
    /// The process id that others are told.
    pub process: u32,
}

/// A mock cloud, served or not.
#[derive(Clone)]
pub struct Mock {
    cloud: Arc<cloud::Cloud>,
    process: u32,
}

impl std::fmt::Debug for Mock {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Mock")
            .field("world", &self.world())
            .finish_non_exhaustive()
    }
}

impl Mock {
    /// Opens a world: reads its journal, or begins a new one with the scenario's first objects.
    ///
    /// # Errors
    ///
    /// [`OpenError::Busy`] if another process has the directory open; others if it cannot be read.
    pub fn open(config: Config) -> Result<Self, OpenError> {
        let Config {
            directory,
            scenario,
            clock,
            randomness,
            process,
        } = config;
        let cloud = cloud::Cloud::open(directory.as_deref(), scenario, clock, randomness)?;
        Ok(Self {
            cloud: Arc::new(cloud),
            process,
        })
    }

    /// The world's random id, made at its first start.
    #[must_use]
    pub fn world(&self) -> String {
        self.cloud.id()
    }

    /// The scenario's first project: the one that is meant where nobody names one.
    #[must_use]
    pub fn project(&self) -> Option<String> {
        self.cloud.project()
    }

    /// Every object, in order of service and path.
    #[must_use]
    pub fn list(&self) -> Vec<Listed> {
        self.cloud.list()
    }

    /// Every request, oldest first.
    #[must_use]
    pub fn log(&self) -> Vec<LogLine> {
        self.cloud.log()
    }

    /// Empties the world: new id, the scenario's first objects, no log. Answers the new id.
    ///
    /// # Errors
    ///
    /// As [`Mock::open`].
    pub fn reset(&self) -> Result<String, OpenError> {
        self.cloud.reset()
    }

    /// Serves it on an address of the loopback interface (port 0 for a free one). Must be called in a
    /// tokio runtime. While it serves, `serve.json` in its directory tells where.
    ///
    /// # Errors
    ///
    /// When the address cannot be had, or `serve.json` not be written.
    pub async fn serve(&self, listen: SocketAddr) -> std::io::Result<Server> {
        server::serve(Arc::clone(&self.cloud), listen, self.process).await
    }
}

/// What stands in the place of a service's root URL (`https://file.googleapis.com/`) when a mock
/// serves at `base`: `http://127.0.0.1:PORT/file/`. To it comes the service path and the path of the
/// discovery document: `.../file/v1/projects/...`, `.../compute/compute/v1/projects/...`,
/// `.../storage/upload/storage/v1/b/...`.
#[must_use]
pub fn endpoint(base: &str, service: &str) -> String {
    format!("{}/{service}/", base.trim_end_matches('/'))
}
