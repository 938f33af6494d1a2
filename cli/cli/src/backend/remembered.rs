//! What `init` remembers of a backend: `terraform.tfstate` in the data directory, as Terraform writes
//! it. Not a state, in spite of its name. It may hold credentials, so it is readable by its owner only.
//!
//! With a mock cloud it is remembered beside the cloud, so that nothing real is taken for initialised.

use crate::session::Session;
use formwork_diagnostics::{Diagnostic, Diagnostics};
use formwork_state_backends::Settings;
use serde_json::{Map, Value as Json, json};
use std::io::{ErrorKind, Write};
use std::path::PathBuf;

/// What a backend was configured as when it was last made ready.
pub struct Remembered {
    /// Its type.
    pub backend: String,
    /// All its arguments, `-backend-config` included.
    pub config: Map<String, Json>,
    /// The hash of the `backend` block alone.
    pub hash: u64,
}

impl Remembered {
    /// As it is to be remembered: `said` with all that the command line added, `block` without.
    pub fn new(said: &Settings, block: &Settings) -> Self {
        Self {
            backend: said.backend().to_owned(),
            config: said.to_json(),
            hash: block.hash().into(),
        }
    }

    /// Whether it was made of this block, or comes to the same.
    pub fn is_of(&self, block: &Settings) -> bool {
        self.backend == block.backend()
            && (self.hash == u64::from(block.hash()) || self.is_same(block))
    }

    /// Whether these are its arguments.
    pub fn is_same(&self, settings: &Settings) -> bool {
        self.backend == settings.backend()
            && self
                .settings()
                .is_ok_and(|own| own.to_json() == settings.to_json())
    }

    /// Its arguments.
    ///
    /// # Errors
    /// That another version or another tool has remembered what does not mean anything here.
    pub fn settings(&self) -> Result<Settings, Diagnostics> {
        // arguments that only other versions know matter where they were set
        let known = self.config.iter().filter(|(_, v)| !v.is_null());
        let known = known.map(|(k, v)| (k.clone(), v.clone())).collect();
        Settings::from_json(&self.backend, &known).map_err(|d| {
            Diagnostic::error(
                "Backend cannot be taken as it was initialised",
                format!(
                    "What was remembered of the backend \"{}\" cannot be used: {}",
                    self.backend, d.detail
                ),
            )
            .hint("Run init -reconfigure, which remembers it anew.")
            .into()
        })
    }
}

fn path(session: &Session) -> PathBuf {
    let folder = if session.is_mock() {
        PathBuf::from(crate::mock::STATE).with_file_name("backend")
    } else {
        session.data_directory.clone()
    };
    session
        .environment
        .working
        .join(folder)
        .join("terraform.tfstate")
}

/// What is remembered; `None` if nothing is.
///
/// # Errors
/// That the file is there and cannot be read.
pub fn read(session: &Session) -> Result<Option<Remembered>, Diagnostics> {
    let path = path(session);
    let failed = |why: &str| -> Diagnostics {
        Diagnostic::error(
            "Failed to read what init remembered",
            format!("The file {} {why}.", path.display()),
        )
        .hint("It holds no state, only how the backend was configured. Run init -reconfigure, which writes it anew.")
        .into()
    };
    let bytes = match std::fs::read(&path) {
        Ok(bytes) if bytes.is_empty() => return Ok(None),
        Ok(bytes) => bytes,
        Err(e) if matches!(e.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            return Ok(None);
        }
        Err(e) => return Err(failed(&format!("cannot be read: {e}"))),
    };
    let json: Json =
        serde_json::from_slice(&bytes).map_err(|_| failed("is not what init writes"))?;
    let Some(backend) = json.get("backend").filter(|b| !b.is_null()) else {
        return Ok(None);
    };
    let Some(kind) = backend.get("type").and_then(Json::as_str) else {
        return Err(failed("names no type of backend"));
    };
    if kind.is_empty() {
        return Ok(None);
    }
    let config = backend.get("config").and_then(Json::as_object);
    Ok(Some(Remembered {
        backend: kind.to_owned(),
        config: config.cloned().unwrap_or_default(),
        hash: backend.get("hash").and_then(Json::as_u64).unwrap_or(0),
    }))
}

/// Remembers, or remembers that there is nothing to remember.
///
/// # Errors
/// Why it cannot be written.
pub fn write(session: &Session, remembered: Option<&Remembered>) -> Result<(), Diagnostics> {
    let path = path(session);
    if remembered.is_none() && !path.exists() {
        // a file that was never there need not come to be
        return Ok(());
    }
    // in Terraform's order, which a map of JSON does not keep
    let version = session.level(false).version;
    let mut text = format!("{{\n  \"version\": 3,\n  \"terraform_version\": \"{version}\"");
    if let Some(r) = remembered {
        let (kind, config) = (json!(r.backend), json!(r.config));
        let config = format!("{config:#}").replace('\n', "\n    ");
        text.push_str(&format!(
            ",\n  \"backend\": {{\n    \"type\": {kind},\n    \"config\": {config},\n    \"hash\": {}\n  }}",
            r.hash
        ));
    }
    text.push_str("\n}");
    let folder = path.parent().unwrap_or(&path);
    let written = std::fs::create_dir_all(folder).and_then(|()| {
        // readable by its owner only, and whole or not at all
        let mut file = tempfile::NamedTempFile::new_in(folder)?;
        file.write_all(text.as_bytes())?;
        file.persist(&path)?;
        Ok(())
    });
    written.map_err(|error| {
        Diagnostic::error(
            "Failed to remember the backend",
            format!("The file {} cannot be written: {error}.", path.display()),
        )
        .into()
    })
}
