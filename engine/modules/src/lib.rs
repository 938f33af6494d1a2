//! Fetches modules and installs them.
//!
//! A module's source names a package: a git repository, a module of a registry, an archive behind
//! http(s), objects of Google Cloud Storage. [`Installer`] fetches those that a configuration asks for
//! while its tree is loaded, and lays them out as Terraform does (`.terraform/modules`, with its
//! manifest `modules.json`), so that other tools find them and `path.module` reads the same.
//! [`Installed`] answers with what is there and fetches nothing.
//!
//! Invariants:
//!
//! - A module is installed whole or not at all, whenever a run is killed; runs that install in one
//!   folder wait for each other.
//! - No archive and no repository writes, or links, outside its own folder, and there is a limit to
//!   what one may hold.
//! - Nothing of an address becomes an option of a program, and no program is run but `git` (and what
//!   unpacks bzip2, xz and zstd archives). Nobody is ever asked anything.
//! - No credential is shown, written to the manifest, or handed over as an argument.
//!
//! It does not serve Amazon S3 and Mercurial, and no absolute paths; each is refused by name. It does
//! not read the dependency lock file, which has nothing to say about modules.
#![forbid(unsafe_code)]

mod address;
mod archive;
mod content;
mod fetch;
mod gcs;
mod git;
mod http;
mod install;
mod installed;
mod locate;
mod manifest;
mod netrc;
mod problem;
mod registry;
mod settings;
mod starting;
mod wanted;

pub use address::{Address, Package, Source};
pub use archive::Limits;
pub use install::Installer;
pub use installed::Installed;
pub use manifest::{Entry, Manifest};
pub use settings::{GoogleTokens, Settings, Told};
pub use starting::copy_into;
