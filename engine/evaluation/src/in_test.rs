//! What a test puts beside a configuration: its own variables, the outputs of earlier runs, and values
//! in the place of modules.

use formwork_addresses::ModuleInstance;
use formwork_diagnostics::{Diagnostic, nearest};
use formwork_eval::Resolved;
use formwork_syntax::Traversal;
use formwork_values::Value;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The outputs of the runs of a file, as one of them sees them.
#[derive(Clone, Default)]
pub struct Runs {
    /// Runs that have ended, each with its outputs as an object.
    pub ended: BTreeMap<Arc<str>, Value>,
    /// The run that is going on.
    pub current: Arc<str>,
    /// Names of all runs of the file.
    pub names: Arc<[Arc<str>]>,
}

/// Gives the outputs that stand in the place of an instance of a module.
pub type ModuleStandIns = dyn Fn(&ModuleInstance) -> Option<Value> + Send + Sync;

/// What a test puts beside a configuration.
#[derive(Clone)]
pub struct InTest {
    /// Variables of the test, whether the module under test declares them or not.
    pub variables: BTreeMap<Arc<str>, Value>,
    /// Outputs of earlier runs.
    pub runs: Runs,
    /// Values in the place of modules.
    pub modules: Arc<ModuleStandIns>,
}

impl Runs {
    /// What `run.NAME` is; `steps` is how much of the reference it takes.
    pub fn resolve(&self, name: &Arc<str>, steps: usize, at: &Traversal) -> Resolved {
        if let Some(outputs) = self.ended.get(name) {
            return Resolved::new(outputs.clone(), steps);
        }
        let d = if *name == self.current {
            Diagnostic::error(
                "Reference to unevaluated run block",
                format!(
                    "run.{name} is the run that this stands in. Refer to its outputs as output.NAME, and \
                     to its resources by their own addresses."
                ),
            )
        } else if self.names.contains(name) {
            Diagnostic::error(
                "Reference to unavailable run block",
                format!(
                    "The run \"{name}\" has no outputs here: it comes later in the file, or did not end \
                     well. A run can refer to those before it."
                ),
            )
        } else {
            let d = Diagnostic::error(
                "Reference to undeclared run block",
                format!("This file has no run \"{name}\"."),
            );
            match nearest(name, self.names.iter().map(|n| &**n)) {
                Some(near) => d.hint(format!("Did you mean \"{near}\"?")),
                None => d,
            }
        };
        Resolved::failed(d.at(at.range()))
    }
}
