//! `init` and the backend: what is configured is checked, compared with what is remembered, asked
//! whether it answers, and remembered; states are brought along where that is wanted.

use super::migrate::{self, Wanted};
use super::remembered::{self, Remembered};
use super::{Configured, is_passed_over};
use crate::operation::Operation;
use crate::session::Session;
use formwork_configuration::parse_tfvars;
use formwork_diagnostics::{Diagnostic, Diagnostics, SourceMap};
use formwork_state_backends::{ArgumentKind, Backup, DEFAULT_WORKSPACE, Place, arguments};
use serde_json::Value as Json;

/// What `init` is told of the backend.
#[derive(Clone, Copy, Debug)]
pub struct Initialising<'a> {
    /// `-backend-config`: `KEY=VALUE`, or files, in their order.
    pub given: &'a [String],
    /// Take the configuration as it is, and no state along.
    pub reconfigure: bool,
    /// Bring states along.
    pub migrate: bool,
    /// Without asking.
    pub force_copy: bool,
    /// Whether anybody may be asked.
    pub may_ask: bool,
}

/// Makes the backend ready. What there is to say to people is told.
///
/// # Errors
/// Why it cannot be used as it is configured; what was remembered stays.
pub async fn initialise(
    session: &Session,
    operation: &Operation,
    how: &Initialising<'_>,
    sources: &mut SourceMap,
) -> Result<Diagnostics, Diagnostics> {
    let mut said = Diagnostics::new();
    if session.is_mock() && !session.mock_backend {
        return Ok(said);
    }
    let mut configured = Configured::of(&operation.preview)?;
    let block = configured.as_ref().map(|c| c.settings.clone());
    let old = match remembered::read(session) {
        Ok(old) => old,
        // what is to be written anew need not be legible
        Err(_) if how.reconfigure => None,
        Err(d) => return Err(d),
    };
    // What was said beside the block once need not be said again as long as the block is the same.
    if let (Some(c), Some(old)) = (&mut configured, &old)
        && how.given.is_empty()
        && !how.reconfigure
        && old.is_of(&c.settings)
    {
        c.settings = old.settings()?;
    }
    match &mut configured {
        Some(c) => {
            for text in how.given {
                give(session, c, text, sources)?;
            }
        }
        None if !how.given.is_empty() => said.push(
            Diagnostic::warning(
                "Missing backend configuration",
                "-backend-config says how a backend is configured, but the configuration names no \
                 backend, so nothing comes of it.",
            )
            .hint("Add a block such as terraform { backend \"gcs\" {} }."),
        ),
        None => {}
    }
    if is_passed_over(session, configured.as_ref()) {
        return Ok(said);
    }
    let mut place = match &configured {
        Some(c) => c.place(session)?,
        None => Place::default(),
    };
    operation.open_in_mock(session, &mut place).await?;
    let new = configured.as_ref().zip(block.as_ref());
    let new = new.map(|(c, block)| Remembered::new(&c.settings, block));
    let changed = match (&old, &configured) {
        (None, None) => return Ok(said),
        (Some(old), Some(c)) => !old.is_same(&c.settings),
        _ => true,
    };
    if changed && old.is_some() && !how.migrate && !how.reconfigure && !session.is_mock() {
        return Err(has_changed(session, configured.as_ref()));
    }
    reaches(session, &place).await?;
    if changed && !how.reconfigure && !session.is_mock() {
        let from = match &old {
            None => Place::default(),
            Some(old) => old_place(session, old)?,
        };
        let wanted = Wanted {
            from: &from,
            to: &place,
            // a state that lay where nobody spoke of it would be found again by mistake
            leave: old.is_some(),
            how,
        };
        said.append(migrate::migrate(session, operation, &wanted).await?);
    }
    remembered::write(session, new.as_ref())?;
    if changed {
        let told = match (&configured, &old) {
            (Some(c), _) => format!(
                "Successfully configured the backend \"{}\"! {} will automatically\nuse this backend \
                 unless the backend configuration changes.",
                c.settings.backend(),
                session.product()
            ),
            (None, Some(old)) => format!(
                "Successfully unset the backend \"{}\". {} will now operate locally.",
                old.backend,
                session.product()
            ),
            (None, None) => String::new(),
        };
        session.tell(&format!("\n{}\n", session.style.good(&told)));
    }
    Ok(said)
}

fn has_changed(session: &Session, configured: Option<&Configured>) -> Diagnostics {
    Diagnostic::error(
        "Backend configuration changed",
        "The backend is configured otherwise than when it was last made ready here, so the state may have \
         to be brought along from where it was.",
    )
    .at_opt(configured.and_then(|c| c.range))
    .hint(format!(
        "To bring it along: {0} init -migrate-state. To take the new place as it is: {0} init -reconfigure.",
        session.called
    ))
    .into()
}

fn old_place(session: &Session, old: &Remembered) -> Result<Place, Diagnostics> {
    let settings = old.settings()?;
    Place::of(&settings, &session.environment).map_err(|wrong| {
        wrong
            .diagnostic
            .hint("This is the backend that the state was kept in until now. Where that is gone, -reconfigure takes the new one as it is.")
            .into()
    })
}

/// Asks a backend that is elsewhere whether it answers.
async fn reaches(session: &Session, place: &Place) -> Result<(), Diagnostics> {
    match place {
        Place::Local { .. } => Ok(()),
        Place::Gcs(_) => place.workspaces(&session.environment).await.map(drop),
        Place::Http(_) => {
            let store = place.store(&session.environment, DEFAULT_WORKSPACE, Backup::None)?;
            store.read_snapshot().await.map(drop)
        }
    }
}

/// Adds what one `-backend-config` says.
fn give(
    session: &Session,
    configured: &mut Configured,
    text: &str,
    sources: &mut SourceMap,
) -> Result<(), Diagnostics> {
    let Some((name, value)) = text.split_once('=') else {
        return give_file(session, configured, text, sources);
    };
    let name = name.trim();
    let backend = configured.settings.backend();
    let kind = arguments(backend)
        .into_iter()
        .flatten()
        .find(|a| a.name == name)
        .map(|a| a.kind);
    let set = match kind {
        Some(ArgumentKind::Texts) => {
            let (values, said) = parse_tfvars(
                "-backend-config",
                format!("{name} = {value}").as_bytes(),
                sources,
            );
            if said.has_errors() {
                return Err(said);
            }
            match values.get(name) {
                Some(v) => configured.set(name, &v.value, v.range),
                None => Ok(()),
            }
        }
        _ => configured
            .settings
            .set(name, Json::String(value.to_owned())),
    };
    set.map_err(|d| {
        let mut told = Diagnostic::error(
            "Invalid backend configuration argument",
            format!("-backend-config cannot say \"{name}\": {}", d.detail),
        );
        told.hints = d.hints;
        told.into()
    })
}

fn give_file(
    session: &Session,
    configured: &mut Configured,
    name: &str,
    sources: &mut SourceMap,
) -> Result<(), Diagnostics> {
    let bytes = std::fs::read(session.environment.working.join(name)).map_err(|error| {
        Diagnostics::from(
            Diagnostic::error(
                "Failed to read file",
                format!("The file {name}, which -backend-config names, cannot be read: {error}."),
            )
            .hint("To say one argument, write -backend-config=\"NAME=VALUE\"."),
        )
    })?;
    let mut said = Diagnostics::new();
    let values = said.take(parse_tfvars(name, &bytes, sources));
    for (name, given) in values {
        if let Err(d) = configured.set(&name, &given.value, given.range) {
            said.push(d.at(given.range));
        }
    }
    if said.has_errors() { Err(said) } else { Ok(()) }
}
