//! Where a command finds the state: what the configuration says of its backend, what `init` has
//! remembered of it, and which of the two counts.
//!
//! As Terraform does it, so that either tool goes on where the other stopped: `init` writes what a
//! backend is configured as into the data directory ([`remembered`]), with the hash of the block that
//! said so; other commands take it from there as long as the block has that hash, and refuse to work when
//! it has not. So what `-backend-config` said at `init` need not be said again.
//!
//! One thing is easier than with Terraform: a backend `local` need not be initialised while there is no
//! state that could be left behind.

mod initialise;
mod migrate;
mod remembered;

pub use initialise::{Initialising, initialise};

use crate::mock::STATE;
use crate::preview::Preview;
use crate::session::Session;
use formwork_diagnostics::{Diagnostic, Diagnostics, SourceRange};
use formwork_state_backends::{DEFAULT_WORKSPACE, Misconfigured, Place, Settings, unserved};
use formwork_values::{Value, value_to_json};
use serde_json::Value as Json;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// What a configuration says of its backend.
pub struct Configured {
    /// The arguments.
    settings: Settings,
    /// Where each stands.
    places: BTreeMap<String, SourceRange>,
    /// Where the block stands; nowhere if only a command line speaks of the backend.
    range: Option<SourceRange>,
}

/// Where the state of a command is.
pub struct Found {
    /// All states of the configuration.
    pub place: Place,
    /// Which of them.
    pub workspace: String,
}

impl Configured {
    /// What the root module says; `None` if it has no `backend` block.
    ///
    /// # Errors
    /// That the backend is not served, that its arguments are wrong, or that the configuration, which
    /// may speak of a backend, cannot be read: nobody falls back to a local file then.
    pub fn of(preview: &Preview) -> Result<Option<Self>, Diagnostics> {
        let root = preview.configuration.root();
        let Some(backend) = root.and_then(|m| m.backend.as_ref()) else {
            // what is wrong in other modules, or with getting them, has no say in where the state is
            if root.is_none_or(|r| !r.is_readable) && preview.diagnostics.has_errors() {
                return Err(preview.diagnostics.clone());
            }
            return Ok(None);
        };
        let Some(settings) = Settings::new(&backend.kind) else {
            let d = unserved(&backend.kind).at(backend.range).hint(
                "Use -mock to try the configuration against the embedded mock cloud, where the \
                 backend is passed over.",
            );
            return Err(d.into());
        };
        let mut said = Diagnostics::new();
        let mut configured = Self {
            settings,
            places: BTreeMap::new(),
            range: Some(backend.range),
        };
        for block in backend.body.blocks() {
            said.push(
                Diagnostic::error(
                    "Unsupported block type",
                    format!(
                        "The backend \"{}\" has no blocks, so \"{}\" cannot stand here.",
                        backend.kind, block.block_type
                    ),
                )
                .at(block.type_range),
            );
        }
        let attributes = if backend.body.is_json() {
            said.take(backend.body.just_attributes())
        } else {
            backend.body.attributes().to_vec()
        };
        for a in attributes {
            let range = a.expression.range();
            // It has not come to a value: why is said already.
            if a.expression.is_computed() && preview.diagnostics.has_errors() {
                return Err(preview.diagnostics.clone());
            }
            let value = said.take(formwork_eval::evaluate_literal(&a.expression.as_constant()));
            if !said.has_errors()
                && let Err(d) = configured.set(&a.name, &value, range)
            {
                let unknown = d.summary == "Unsupported argument";
                said.push(d.at(if unknown { a.name_range } else { range }));
            }
        }
        if said.has_errors() {
            return Err(said);
        }
        Ok(Some(configured))
    }

    fn set(
        &mut self,
        name: &str,
        value: &Value,
        range: SourceRange,
    ) -> Result<(), Box<Diagnostic>> {
        let json = value_to_json(value)
            .ok()
            .and_then(|text| serde_json::from_str::<Json>(&text).ok())
            // what is unknown is of no kind that an argument has
            .unwrap_or_else(|| Json::Object(serde_json::Map::new()));
        self.settings.set(name, json)?;
        self.places.insert(name.to_owned(), range);
        Ok(())
    }

    /// The place that it comes to.
    ///
    /// # Errors
    /// An argument that is missing or cannot be used.
    pub fn place(&self, session: &Session) -> Result<Place, Diagnostics> {
        Place::of(&self.settings, &session.environment).map_err(|wrong| self.blamed(wrong))
    }

    fn blamed(&self, wrong: Misconfigured) -> Diagnostics {
        let range = wrong.argument.and_then(|name| self.places.get(name));
        wrong
            .diagnostic
            .at_opt(range.copied().or(self.range))
            .into()
    }
}

/// Whether the configured backend is passed over for the mock's own files.
fn is_passed_over(session: &Session, configured: Option<&Configured>) -> bool {
    session.is_mock()
        && !(session.mock_backend && configured.is_some_and(|c| c.settings.backend() == "gcs"))
}

/// Where states are kept that were made in a mock cloud.
fn mock_place() -> Place {
    Place::Local {
        path: STATE.into(),
        folder: Path::new(STATE).with_file_name("terraform.tfstate.d"),
    }
}

/// Where a command finds the state. `given` is the file that `-state` names; `edits` says whether the
/// command may write.
///
/// # Errors
/// That the backend is not served or not configured well, or must be initialised first.
pub fn find(
    session: &Session,
    preview: &Preview,
    given: Option<&Path>,
    edits: bool,
) -> Result<Found, Diagnostics> {
    if let Some(given) = given.filter(|_| session.is_mock() && !session.mock_backend) {
        return Ok(file(mock_place(), given));
    }
    let configured = if session.is_mock() && !session.mock_backend {
        None
    } else {
        match Configured::of(preview) {
            Ok(configured) => configured,
            // a file that was named can be looked at whatever the configuration says
            Err(_) if given.is_some() && !edits => None,
            Err(said) => return Err(said),
        }
    };
    let place = match (given, &configured) {
        (Some(given), Some(c)) if edits && c.settings.backend() != "local" => {
            return Err(Diagnostic::error(
                "State is kept in a backend",
                format!(
                    "-state names the file {}, but the state of this configuration is kept in its backend \
                     of type \"{}\". Two states of one world lose each other's work.",
                    given.display(),
                    c.settings.backend()
                ),
            )
            .at_opt(c.range)
            .hint("Leave -state out.")
            .into());
        }
        (Some(given), _) => return Ok(file(Place::default(), given)),
        (None, _) if is_passed_over(session, configured.as_ref()) => mock_place(),
        (None, _) => initialised(session, configured)?,
    };
    Ok(Found {
        place,
        workspace: session.workspace(),
    })
}

/// A file that was named is the state, whichever workspace is selected.
fn file(place: Place, given: &Path) -> Found {
    let folder = match place {
        Place::Local { folder, .. } => folder,
        _ => PathBuf::new(),
    };
    Found {
        place: Place::Local {
            path: given.to_owned(),
            folder,
        },
        workspace: DEFAULT_WORKSPACE.to_owned(),
    }
}

/// The place that a configuration comes to, which `init` must have seen.
fn initialised(session: &Session, configured: Option<Configured>) -> Result<Place, Diagnostics> {
    let remembered = remembered::read(session)?;
    match (configured, remembered) {
        (None, None) => Ok(Place::default()),
        (Some(c), None) => {
            // in a mock cloud there is nothing that could be left behind
            let nothing_lost =
                session.is_mock() || c.settings.backend() == "local" && !holds_state(session);
            if nothing_lost {
                return c.place(session);
            }
            Err(required(
                session,
                "Backend initialization required, please run \"terraform init\"",
                &format!(
                    "The configuration keeps its state in a backend of type \"{}\", which has not been made \
                     ready here yet",
                    c.settings.backend()
                ),
                c.range,
            ))
        }
        (None, Some(r)) => Err(required(
            session,
            "Backend initialization required, please run \"terraform init\"",
            &format!(
                "The state was last kept in a backend of type \"{}\", of which the configuration says \
                 nothing any more",
                r.backend
            ),
            None,
        )),
        (Some(c), Some(r)) => {
            if r.is_of(&c.settings) {
                let settings = r.settings()?;
                return Place::of(&settings, &session.environment).map_err(|wrong| c.blamed(wrong));
            }
            if session.is_mock() {
                return c.place(session);
            }
            let why = if r.backend == c.settings.backend() {
                format!(
                    "The configuration of the backend \"{}\" is not the one with which it was last made \
                     ready",
                    r.backend
                )
            } else {
                format!(
                    "The state was last kept in a backend of type \"{}\", and is now to be kept in one of \
                     type \"{}\"",
                    r.backend,
                    c.settings.backend()
                )
            };
            Err(required(
                session,
                "Backend initialization required: please run \"terraform init\"",
                &why,
                c.range,
            ))
        }
    }
}

/// Whether there is a state where one is kept that nobody speaks of.
fn holds_state(session: &Session) -> bool {
    let working = &session.environment.working;
    let filled = |path: &Path| std::fs::metadata(working.join(path)).is_ok_and(|m| m.len() > 0);
    matches!(Place::default(), Place::Local { path, .. } if filled(&path))
}

/// That `init` must be run first. Pipelines look for the summary.
fn required(
    session: &Session,
    summary: &str,
    why: &str,
    range: Option<SourceRange>,
) -> Diagnostics {
    Diagnostic::error(
        summary,
        format!(
            "{why}. Commands do not decide by themselves whether a state that lies elsewhere is left \
             behind, so nothing was done."
        ),
    )
    .at_opt(range)
    .hint(format!(
        "Run \"{} init\". If a state is to be brought along, add -migrate-state; if the new place is to be \
         taken as it is, add -reconfigure.",
        session.called
    ))
    .into()
}
