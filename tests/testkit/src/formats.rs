//! Holds what the binary writes as JSON against the schemas of `schemas/json`.

use boon::{Compiler, SchemaIndex, Schemas};
use serde_json::Value;
use std::sync::OnceLock;

/// A form in which a command answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Format {
    /// `show -json PLANFILE`.
    Plan,
    /// `show -json` of a state.
    State,
    /// A line of the event stream.
    Ui,
    /// `validate -json`.
    Validate,
    /// `providers schema -json`.
    ProviderSchemas,
    /// `metadata functions -json`.
    Functions,
    /// `output -json`.
    Outputs,
    /// `version -json`.
    Version,
    /// `modules -json`.
    Modules,
    /// `workspace list -json`.
    Workspaces,
}

const FILES: [(Option<Format>, &str, &str); 11] = [
    (
        Some(Format::Plan),
        "plan",
        include_str!("../../../schemas/json/plan.schema.json"),
    ),
    (
        Some(Format::State),
        "state",
        include_str!("../../../schemas/json/state.schema.json"),
    ),
    (
        Some(Format::Ui),
        "ui",
        include_str!("../../../schemas/json/ui.schema.json"),
    ),
    (
        Some(Format::Validate),
        "validate",
        include_str!("../../../schemas/json/validate.schema.json"),
    ),
    (
        Some(Format::ProviderSchemas),
        "provider-schemas",
        include_str!("../../../schemas/json/provider-schemas.schema.json"),
    ),
    (
        Some(Format::Functions),
        "functions",
        include_str!("../../../schemas/json/functions.schema.json"),
    ),
    (
        Some(Format::Outputs),
        "outputs",
        include_str!("../../../schemas/json/outputs.schema.json"),
    ),
    (
        Some(Format::Version),
        "version",
        include_str!("../../../schemas/json/version.schema.json"),
    ),
    (
        Some(Format::Modules),
        "modules",
        include_str!("../../../schemas/json/modules.schema.json"),
    ),
    (
        Some(Format::Workspaces),
        "workspaces",
        include_str!("../../../schemas/json/workspaces.schema.json"),
    ),
    (
        None,
        "diagnostic",
        include_str!("../../../schemas/json/diagnostic.schema.json"),
    ),
];

struct Compiled {
    schemas: Schemas,
    index: Vec<(Format, SchemaIndex)>,
}

fn compiled() -> &'static Compiled {
    static COMPILED: OnceLock<Compiled> = OnceLock::new();
    COMPILED.get_or_init(|| {
        let (mut compiler, mut schemas) = (Compiler::new(), Schemas::new());
        // the files name each other by their names
        let url = |name: &str| format!("file:///{name}.schema.json");
        for (_, name, text) in FILES {
            let document: Value = serde_json::from_str(text).expect("JSON");
            compiler
                .add_resource(&url(name), document)
                .expect("a schema");
        }
        let index = FILES
            .iter()
            .filter_map(|(format, name, _)| {
                let place = compiler.compile(&url(name), &mut schemas);
                Some(((*format)?, place.unwrap_or_else(|e| panic!("{name}: {e}"))))
            })
            .collect();
        Compiled { schemas, index }
    })
}

impl Format {
    /// What of a document is not as this format has it.
    ///
    /// # Errors
    /// Where and how it differs.
    pub fn check(self, document: &Value) -> Result<(), String> {
        let compiled = compiled();
        let (_, place) = compiled
            .index
            .iter()
            .find(|(f, _)| *f == self)
            .expect("compiled");
        let checked = compiled.schemas.validate(document, *place);
        checked.map_err(|error| format!("{error:#}"))
    }
}

/// The form in which a run answers on standard output, and whether a document is a line of it; `None`
/// where it is text, or nobody's.
fn of(arguments: &[&str], stdout: &str) -> Option<(Format, bool)> {
    let is_on = |flag: &&str| matches!(flag.trim_start_matches('-'), "json" | "json=true");
    if !arguments.iter().any(|a| a.starts_with('-') && is_on(a)) {
        return None;
    }
    // values of flags may stand as words of their own: the command is the first word that is one
    let words: Vec<&str> = arguments
        .iter()
        .copied()
        .filter(|a| !a.starts_with('-'))
        .collect();
    let whole = |format| Some((format, false));
    match words.first().copied()? {
        "show" if stdout.contains("\"planned_values\"") => whole(Format::Plan),
        "show" => whole(Format::State),
        "state" if words.get(1) == Some(&"show") => whole(Format::State),
        "validate" => whole(Format::Validate),
        "providers" => whole(Format::ProviderSchemas),
        "metadata" => whole(Format::Functions),
        // with a name it is the value alone
        "output" if words.len() == 1 => whole(Format::Outputs),
        "version" => whole(Format::Version),
        "modules" => whole(Format::Modules),
        "workspace" => whole(Format::Workspaces),
        "init" | "plan" | "apply" | "destroy" | "refresh" | "test" => Some((Format::Ui, true)),
        _ => None,
    }
}

/// Holds what a run wrote to standard output against the format of its command.
#[track_caller]
pub(crate) fn check_run(arguments: &[&str], stdout: &str) {
    let Some((format, by_line)) = of(arguments, stdout) else {
        return;
    };
    let documents: Vec<&str> = match by_line {
        true => stdout.lines().filter(|l| l.starts_with('{')).collect(),
        false => vec![stdout.trim()],
    };
    for document in documents.into_iter().filter(|d| !d.is_empty()) {
        // what is no JSON at all is for others to complain of
        let Ok(json) = serde_json::from_str::<Value>(document) else {
            continue;
        };
        if let Err(why) = format.check(&json) {
            panic!("{arguments:?} does not write {format:?}: {why}\n{document}");
        }
    }
}
