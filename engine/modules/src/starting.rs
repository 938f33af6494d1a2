//! Beginning with somebody else's configuration: `init -from-module=`.

use crate::address::Source;
use crate::content;
use crate::install::fetch_alone;
use crate::installed::diagnostic;
use crate::problem::{Outcome, Problem};
use crate::settings::Settings;
use formwork_configuration::{
    Configuration, DiskReader, LanguageLevel, Loading, LocalModulesOnly, ModuleSource,
    StaticInputs, load,
};
use formwork_diagnostics::{Diagnostic, SourceMap};
use std::fs;
use std::path::{Component, Path, PathBuf};

/// Copies the module at `source` (a local path or anything else but a registry address, or one with its
/// package's own address) into the working directory, which must be empty.
///
/// # Errors
/// Why it was not copied; the working directory is then as it was.
pub fn copy_into(source: &str, settings: &Settings) -> Result<(), Box<Diagnostic>> {
    copied(source, settings).map_err(|p| Box::new(diagnostic(p)))
}

fn copied(source: &str, settings: &Settings) -> Outcome<()> {
    let working = &settings.environment.working;
    let failed = |e| Problem::local("The working directory cannot be written to", &e);
    let there: Vec<String> = fs::read_dir(working)
        .map_err(failed)?
        .flatten()
        .map(|e| e.file_name().to_string_lossy().into_owned())
        .filter(|name| *name != settings.data_directory.to_string_lossy())
        .collect();
    if let Some(first) = there.iter().min() {
        return Err(Problem::new(
            "Working directory is not empty",
            format!(
                "With -from-module a module is copied into the working directory, which must be empty; it \
                 holds \"{first}\"."
            ),
        )
        .hint("To prepare the configuration that is here, leave -from-module out."));
    }
    let work = working
        .join(&settings.data_directory)
        .join(format!("from-module-{}", settings.environment.uuid()));
    let outcome = bring(source, &work, settings);
    // nothing of it is needed any more, whatever came of it
    let _ = fs::remove_dir_all(&work);
    outcome
}

fn bring(source: &str, work: &Path, settings: &Settings) -> Outcome<()> {
    let invalid = |why: String| {
        Problem::new(
            "Invalid module source address",
            format!(
                "\"{}\" is no module source: {why}.",
                crate::address::Address::new(source)
            ),
        )
    };
    let working = &settings.environment.working;
    let parsed = ModuleSource::parse(source).map_err(invalid)?;
    let is_local = matches!(parsed, ModuleSource::Local(_));
    let (package, sub) = match parsed {
        ModuleSource::Local(path) => (working.join(&*path), None),
        ModuleSource::Registry { .. } => {
            return Err(invalid(
                "-from-module does not ask registries; name the repository or archive that holds the module"
                    .to_owned(),
            ));
        }
        ModuleSource::Remote(text) => {
            let parsed = Source::parse(&text).map_err(invalid)?;
            fs::create_dir_all(work)
                .map_err(|e| Problem::local("A folder for what is fetched cannot be made", &e))?;
            fetch_alone(&parsed, work, settings)?
        }
    };
    let root = match &sub {
        None => package.clone(),
        Some(sub) => package.join(sub),
    };
    if !root.is_dir() {
        return Err(Problem::new(
            "Unreadable module directory",
            format!(
                "There is no directory {}.",
                sub.as_deref().unwrap_or(source)
            ),
        ));
    }
    if let Some(parent) = above(&root) {
        return Err(Problem::new(
            "Root module references parent directory",
            format!(
                "The module calls another one beside it (\"{parent}\"), which would be left behind if it were \
                 copied alone."
            ),
        )
        .hint("Copy the whole package, or call the module from a configuration of your own."));
    }
    let staged = work.join("staged");
    let failed = |e| Problem::local("The module cannot be copied", &e);
    content::copy(&root, &staged).map_err(failed)?;
    if !is_local {
        // of a package, a part is copied: its links may not lead out of that
        content::settle(&staged)?;
    }
    for entry in fs::read_dir(&staged).map_err(failed)?.flatten() {
        // what the other configuration's runs have left is not a part of it
        if entry.file_name() == ".terraform"
            || entry
                .path()
                .starts_with(working.join(&settings.data_directory))
                && entry.file_name() == settings.data_directory.as_os_str()
        {
            continue;
        }
        fs::rename(entry.path(), working.join(entry.file_name())).map_err(failed)?;
    }
    Ok(())
}

/// A directory above `root` that a module of its tree is read from.
fn above(root: &Path) -> Option<String> {
    let reader = DiskReader {
        base: root.to_owned(),
    };
    let loading = Loading {
        reader: &reader,
        fetcher: &LocalModulesOnly,
        level: LanguageLevel::default(),
        statics: StaticInputs::default(),
    };
    let (configuration, _): (Configuration, _) =
        load(Path::new("."), &loading, &mut SourceMap::new());
    configuration
        .modules()
        .map(|(_, m)| PathBuf::from(&m.directory))
        .find(|d| d.components().next() == Some(Component::ParentDir))
        .map(|d| d.display().to_string())
}
