//! The configuration that a plan holds: its own files, at the places where they lay, with what was
//! known when it was made. Nothing of the folder, of what is installed there or of values given now
//! has a say in it.

use crate::files::PlannedFiles;
use formwork_addresses::ModulePath;
use formwork_configuration::{
    Configuration, LanguageLevel, Loading, MemoryReader, ModuleFetcher, ModuleRequest,
    StaticInputs, StaticVariables,
};
use formwork_diagnostics::{Checked, Diagnostic, SourceMap};
use formwork_eval::{Builtins, Surroundings};
use formwork_plan::{Plan, PlannedVariable};
use formwork_values::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Where a plan's configuration is read.
pub struct PlanPlace<'a> {
    /// What functions reach that the plan has not kept.
    pub surroundings: Surroundings,
    /// `path.cwd`.
    pub called_in: &'a Path,
    /// `terraform.workspace`.
    pub workspace: &'a str,
    /// The language level claimed.
    pub level: LanguageLevel,
    /// Whether blocks that were generated for imported objects belong to it, as they do for applying;
    /// otherwise it is as it was written.
    pub generated: bool,
}

/// Reads the configuration of a plan.
pub fn planned_configuration(
    plan: &Plan,
    place: PlanPlace<'_>,
    sources: &mut SourceMap,
) -> Checked<Configuration> {
    let mut reader = MemoryReader::new();
    for text in &plan.sources {
        reader.insert(&text.name, text.bytes.clone());
    }
    let blocks: Vec<&str> = plan
        .changes
        .iter()
        .filter_map(|c| c.importing.as_ref()?.generated.as_deref())
        .collect();
    if place.generated && !blocks.is_empty() {
        let taken = |name: &str| plan.sources.iter().any(|s| s.name == name);
        let mut name = "generated.tf".to_owned();
        while taken(&name) {
            name.insert(0, '_');
        }
        reader.insert(&name, blocks.join("\n\n").into_bytes());
    }
    let folders = PlannedFolders {
        folders: plan
            .folders
            .iter()
            .map(|f| (&f.module, f.folder.as_str()))
            .collect(),
    };
    // An ephemeral value is no part of anything static.
    let variables: BTreeMap<Arc<str>, Value> = plan
        .variables
        .iter()
        .filter_map(|(name, v)| match v {
            PlannedVariable::Value(value) => Some((Arc::from(name.as_str()), value.clone())),
            PlannedVariable::Ephemeral => None,
        })
        .collect();
    let builtins = Builtins::new(Surroundings {
        files: Arc::new(PlannedFiles {
            inner: place.surroundings.files.clone(),
            answers: plan.files.clone(),
        }),
        ..place.surroundings
    });
    let working_directory = place.called_in.to_string_lossy();
    let loading = Loading {
        reader: &reader,
        fetcher: &folders,
        level: place.level,
        statics: StaticInputs {
            variables: StaticVariables::Values(&variables),
            workspace: place.workspace,
            working_directory: &working_directory,
            functions: Some(&builtins),
            partial: false,
        },
    };
    formwork_configuration::load(Path::new("."), &loading, sources)
}

/// Modules where they lay when the plan was made.
struct PlannedFolders<'a> {
    folders: BTreeMap<&'a ModulePath, &'a str>,
}

impl ModuleFetcher for PlannedFolders<'_> {
    fn directory(&self, request: &ModuleRequest<'_>) -> Result<PathBuf, Box<Diagnostic>> {
        let path = request.path();
        match self.folders.get(&path) {
            Some(folder) => Ok(PathBuf::from(folder)),
            None => Err(Box::new(Diagnostic::error(
                "Module not in the plan",
                format!(
                    "The plan does not hold {path}, which its configuration calls. Plan again."
                ),
            ))),
        }
    }
}
