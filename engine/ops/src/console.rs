//! The console: expressions over the state as it is.

use crate::load::{Evaluation, Loaded, disk, load};
use crate::session::Session;
use crate::state::read_state;
use formwork_addresses::ModuleInstance;
use formwork_diagnostics::{Diagnostics, SourceMap};
use formwork_eval::ConsoleResult;
use formwork_evaluation::Evaluator;
use formwork_planner::objects_of_state;
use std::sync::Arc;

/// A console on a configuration and its state.
pub struct Console {
    loaded: Loaded,
    evaluator: Arc<Evaluator>,
    lines: usize,
}

/// Opens a console. Values that the state lacks are unknown.
///
/// # Errors
/// What is wrong with the configuration or the state, with the files that it points into.
pub async fn console(
    session: &Session,
) -> Result<(Console, Diagnostics), (Diagnostics, SourceMap)> {
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
    let objects = objects_of_state(&view.state, &providers).await;
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
    Ok((
        Console {
            loaded,
            evaluator,
            lines: 0,
        },
        said,
    ))
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
        loop {
            let scope = self.evaluator.scope(&root);
            let (result, problems) =
                formwork_eval::evaluate_console(&expression, &scope, &functions);
            let mut pending = scope.take_pending();
            if pending.is_empty()
                && let ConsoleResult::Value(_) = &result
            {
                pending = formwork_eval::evaluate(&expression, &scope, &functions).pending;
            }
            if pending.is_empty() {
                said.append(problems);
                let result = (!said.has_errors()).then_some(result);
                return (result, said);
            }
            self.evaluator.calls().fetch(&pending).await;
        }
    }

    /// The files that diagnostics point into.
    pub fn sources(&self) -> &SourceMap {
        &self.loaded.sources
    }
}
