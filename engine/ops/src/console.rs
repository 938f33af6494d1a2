//! The console: expressions over the state as it is, or over what a plan would make of it.
//!
//! Nothing is written: a plan made for the console is dropped with its lock.

use crate::load::{Evaluation, Loaded, disk, load};
use crate::plan::{PlanOptions, plan};
use crate::session::Session;
use crate::state::read_state;
use formwork_addresses::{ModuleInstance, ModulePath, ResourceMode};
use formwork_configuration::Repetition;
use formwork_diagnostics::{Diagnostics, SourceMap};
use formwork_eval::{ConsoleResult, Functions as _};
use formwork_evaluation::Evaluator;
use formwork_planner::{Needed, objects_of_state};
use formwork_provider::Providers;
use std::sync::Arc;

/// What the console is to look at.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ConsoleView {
    /// The objects of the state; what it lacks is unknown.
    #[default]
    State,
    /// The objects as a plan of the configuration would make them.
    Plan,
}

/// A console on a configuration.
pub struct Console {
    loaded: Loaded,
    evaluator: Arc<Evaluator>,
    providers: Arc<Providers>,
    lines: usize,
}

/// Opens a console.
///
/// # Errors
/// What is wrong with the configuration, the state or the plan, with the files that it points into.
pub async fn console(
    session: &Session,
    view: ConsoleView,
) -> Result<(Console, Diagnostics), (Diagnostics, SourceMap)> {
    match view {
        ConsoleView::State => over_state(session).await,
        ConsoleView::Plan => over_plan(session).await,
    }
}

async fn over_state(session: &Session) -> Result<(Console, Diagnostics), (Diagnostics, SourceMap)> {
    let (mut loaded, mut said) = load(session);
    if said.has_errors() {
        return Err((said, loaded.sources));
    }
    let (variables, problems) = loaded.variables(session);
    said.append(problems);
    let view = match read_state(session).await {
        Ok((view, problems)) => {
            said.append(problems);
            view
        }
        Err(d) => {
            said.append(d);
            return Err((said, loaded.sources));
        }
    };
    let (providers, problems) = loaded.launch(session, Some(&view.state)).await;
    said.append(problems);
    if said.has_errors() {
        return Err((said, loaded.sources));
    }
    let objects = objects_of_state(&view.state, &providers, Needed::Everything).await;
    let evaluation = Evaluation {
        session,
        configuration: &loaded.configuration,
        providers: &providers,
        files: disk(session),
        plan_time: Some(session.environment.clock.now()),
        applying: true,
        validating: false,
    };
    let evaluator = evaluation.over(objects, variables);
    let console = Console {
        loaded,
        evaluator,
        providers,
        lines: 0,
    };
    Ok((console, said))
}

async fn over_plan(session: &Session) -> Result<(Console, Diagnostics), (Diagnostics, SourceMap)> {
    let outcome = plan(session, &PlanOptions::default()).await;
    let mut said = outcome.diagnostics;
    if let Some(held) = outcome.held {
        said.append(held.release(session).await);
    }
    match outcome.evaluator {
        Some(evaluator) if !said.has_errors() => {
            let console = Console {
                loaded: outcome.loaded,
                evaluator,
                providers: outcome.providers,
                lines: 0,
            };
            Ok((console, said))
        }
        _ => Err((said, outcome.loaded.sources)),
    }
}

impl Console {
    /// Evaluates one expression.
    pub async fn evaluate(&mut self, text: &str) -> (Option<ConsoleResult>, Diagnostics) {
        self.lines += 1;
        let file = self
            .loaded
            .sources
            .add(format!("<console-input:{}>", self.lines), text.as_bytes());
        let (expression, mut said) = formwork_syntax::parse_expression(
            file,
            text.as_bytes(),
            formwork_syntax::OffsetMap::PLAIN,
        );
        if said.has_errors() {
            return (None, said);
        }
        let root = ModuleInstance::root();
        let Some(module) = self.evaluator.module(&root).cloned() else {
            return (None, said);
        };
        let functions = self.evaluator.functions(&module);
        let (asked, is_type) = formwork_eval::console_question(&expression);
        loop {
            let scope = self.evaluator.scope(&root);
            let evaluated = formwork_eval::evaluate(asked, &scope, &functions);
            let mut pending = scope.take_pending();
            pending.extend(&evaluated.pending);
            if pending.is_empty() {
                said.append(evaluated.diagnostics);
                let result = if is_type {
                    ConsoleResult::Type(evaluated.value.type_of())
                } else {
                    ConsoleResult::Value(evaluated.value)
                };
                return ((!said.has_errors()).then_some(result), said);
            }
            self.evaluator.calls().fetch(&pending).await;
        }
    }

    /// Everything that an expression may begin with or name, sorted: functions, with the parenthesis
    /// that opens their arguments, and references as far as the text of the configuration and the
    /// schemas of its resources know them.
    pub fn names(&self) -> Vec<String> {
        let mut names: Vec<String> = [
            "path.cwd",
            "path.module",
            "path.root",
            "terraform.workspace",
            "terraform.applying",
            "type(",
        ]
        .into_iter()
        .map(str::to_owned)
        .collect();
        if let Some(module) = self.loaded.configuration.root() {
            let functions = self.evaluator.functions(module);
            names.extend(functions.names().iter().map(|f| format!("{f}(")));
            names.extend(module.variables.keys().map(|n| format!("var.{n}")));
            names.extend(module.locals.keys().map(|n| format!("local.{n}")));
            for name in module.calls.keys() {
                let call = format!("module.{name}");
                let path = ModulePath::root().child(name);
                let outputs = self.loaded.configuration.module(&path);
                for output in outputs.iter().flat_map(|m| m.outputs.keys()) {
                    names.push(format!("{call}.{output}"));
                }
                names.push(call);
            }
            for (address, block) in &module.resources {
                let provider = self
                    .loaded
                    .configuration
                    .provider_of(&ModulePath::root(), block)
                    .config
                    .provider;
                let schemas = self.providers.schemas(&provider);
                let schema = schemas.and_then(|s| match address.mode {
                    ResourceMode::Managed => s.resource(&address.kind),
                    ResourceMode::Data => s.data_source(&address.kind),
                    ResourceMode::Ephemeral => s.ephemeral_resource(&address.kind),
                });
                // where there are several instances, a key comes before the attribute
                if let (Some(schema), Repetition::Single) = (schema, &block.repetition) {
                    let attributes = schema.object_type().names();
                    names.extend(attributes.iter().map(|a| format!("{address}.{a}")));
                }
                names.push(address.to_string());
            }
        }
        names.sort();
        names.dedup();
        names
    }

    /// The files that diagnostics point into.
    pub fn sources(&self) -> &SourceMap {
        &self.loaded.sources
    }
}
