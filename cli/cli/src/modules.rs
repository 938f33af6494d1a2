//! Modules that do not lie beside their caller: where commands look for them, and what installs them.

use crate::cli_config;
use crate::runtime::Interrupts;
use crate::session::Session;
use formwork_diagnostics::{Diagnostics, SourceMap};
use formwork_google_client::Credentials;
use formwork_modules::{GoogleTokens, Installed, Installer, Settings, Told};
use std::sync::Arc;

/// The modules that are installed.
pub fn installed(session: &Session) -> Installed {
    Installed::new(
        &session.environment.working,
        &session.data_directory,
        &session.called,
    )
}

/// What installs modules, and what there is to say about how it was configured.
///
/// # Errors
/// That the CLI configuration cannot be read.
pub fn installer(
    session: &Session,
    interrupts: &Interrupts,
    upgrade: bool,
) -> Result<(Installer, Diagnostics), Box<(Diagnostics, SourceMap)>> {
    let (settings, said) = settings(session, interrupts)?;
    Ok((Installer::new(settings, upgrade), said))
}

/// How modules are fetched.
///
/// # Errors
/// That the CLI configuration cannot be read.
pub fn settings(
    session: &Session,
    interrupts: &Interrupts,
) -> Result<(Settings, Diagnostics), Box<(Diagnostics, SourceMap)>> {
    let mut sources = SourceMap::new();
    let (config, said) = cli_config::read(&session.environment, &mut sources);
    if said.has_errors() {
        return Err(Box::new((said, sources)));
    }
    let mut settings = Settings::new(session.environment.clone(), &session.data_directory);
    settings.credentials = config.credentials;
    settings.services = config.services;
    settings.google = Some(Arc::new(DefaultCredentials));
    settings.own_files = session.files_within.is_none();
    let cancellation = interrupts.cancellation().clone();
    settings.cancelled = Arc::new(move || cancellation.is_cancelled());
    let listening = session.clone();
    settings.tell = Arc::new(move |told| {
        let line = line(&told);
        listening.tell(&line);
        if let Some(stream) = &listening.stream {
            stream.log(line.trim_end());
        }
    });
    Ok((settings, said))
}

/// A line of progress.
fn line(told: &Told) -> String {
    match told {
        Told::Fetching { package, modules } if modules.is_empty() => {
            format!("Fetching {package}...\n")
        }
        Told::Fetching { package, modules } => {
            format!("Fetching {package} for {}...\n", modules.join(", "))
        }
        Told::Installed { module, directory } => {
            format!("- {module} in {}\n", directory.display())
        }
        Told::Damaged { module } => {
            format!("- {module} is not as it was installed, and is fetched again\n")
        }
        Told::Waiting => "Another run installs modules here; waiting for it to end...\n".to_owned(),
    }
}

/// Google's application default credentials, looked for when the first bucket is read.
struct DefaultCredentials;

#[async_trait::async_trait]
impl GoogleTokens for DefaultCredentials {
    async fn token(&self) -> Result<Option<String>, String> {
        let credentials = Credentials::application_default(&[]).map_err(|e| e.to_string())?;
        match credentials.access_token().await {
            Ok(token) => Ok(token.map(|t| t.to_string())),
            Err(e) if e.to_string().contains("none are configured") => Ok(None),
            Err(e) => Err(format!("{e}.")),
        }
    }
}
