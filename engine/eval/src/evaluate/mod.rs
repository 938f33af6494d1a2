//! Evaluation: one walk over an expression.
//!
//! Each step answers a value. What goes wrong is noted in the evaluator and the step answers an
//! unknown value of no known type, which every operation passes on in silence: the first mistake is
//! told, what follows from it is not.
//!
//! A [`Problem`] is firm or not. Firm ones (undeclared names, what the parser left unread) are
//! mistakes of the text itself. The others depend on values and are dropped where the language says
//! that a part does not count: the branch not chosen, the side of `&&` that does not matter, what
//! `try` tried.

mod access;
mod calls;
mod conditional;
mod explain;
mod loops;
mod objects;
mod operators;
mod references;
mod templates;
#[cfg(test)]
mod tests;

use formwork_diagnostics::{Checked, Diagnostic, Diagnostics};
use formwork_syntax::{Expression, ExpressionKind, on_deep_stack};
use formwork_values::{Marks, Number, Refinement, Type, Value};

use crate::functions::{CallId, Functions};
use crate::scope::{EmptyScope, Scope};

use explain::Unknowns;
pub use references::check_references;

/// What an expression evaluates to.
#[derive(Debug)]
pub struct Evaluated {
    /// The value; unknown of no known type where something went wrong.
    pub value: Value,
    /// What there is to say.
    pub diagnostics: Diagnostics,
    /// Calls whose answers are needed first. If there is one, the value is not final: fetch the
    /// answers and evaluate again. The diagnostics may change too.
    pub pending: Vec<CallId>,
}

impl Evaluated {
    /// The value with its diagnostics, for callers that have no function to wait for. A pending call
    /// becomes an error.
    pub fn into_checked(self) -> Checked<Value> {
        let mut diagnostics = self.diagnostics;
        if !self.pending.is_empty() && !diagnostics.has_errors() {
            diagnostics.push(Diagnostic::error(
                "Function not available here",
                "The expression calls a function of a provider, which cannot be asked at this \
                 place. Use only functions of the language here.",
            ));
        }
        (self.value, diagnostics)
    }
}

/// What the console shows: a value, or a type (of `type(...)`).
#[derive(Debug)]
pub enum ConsoleResult {
    /// A value.
    Value(Value),
    /// The type that `type(...)` was asked for.
    Type(Type),
}

/// Evaluates an expression.
pub fn evaluate(
    expression: &Expression,
    scope: &dyn Scope,
    functions: &dyn Functions,
) -> Evaluated {
    let mut evaluator = Evaluator::new(scope, functions);
    let value = evaluator.value_of(expression, None);
    evaluator.finish(value)
}

/// What of an expression the console evaluates, and whether its type is wanted instead of its value:
/// `type(x)` on its own asks for the type of `x`.
pub fn console_question(expression: &Expression) -> (&Expression, bool) {
    if let ExpressionKind::FunctionCall(call) = expression.without_parentheses().kind()
        && &*call.name == "type"
        && let [argument] = &*call.arguments
        && !call.expand_final
    {
        return (argument, true);
    }
    (expression, false)
}

/// Evaluates an expression as the console does, where no provider can be asked.
pub fn evaluate_console(
    expression: &Expression,
    scope: &dyn Scope,
    functions: &dyn Functions,
) -> (ConsoleResult, Diagnostics) {
    let (asked, is_type) = console_question(expression);
    let (value, diagnostics) = evaluate(asked, scope, functions).into_checked();
    let result = if is_type {
        ConsoleResult::Type(value.type_of())
    } else {
        ConsoleResult::Value(value)
    };
    (result, diagnostics)
}

/// Evaluates an expression that may hold neither references nor calls: for arguments that must be
/// known from the text alone.
pub fn evaluate_literal(expression: &Expression) -> Checked<Value> {
    evaluate(expression, &EmptyScope, &NoFunctions).into_checked()
}

/// What the references in an expression stand for, for a diagnostic that is not the evaluator's own.
/// Nothing sensitive is told.
pub fn explain(
    expression: &Expression,
    scope: &dyn Scope,
) -> Vec<formwork_diagnostics::ExpressionValue> {
    Evaluator::new(scope, &NoFunctions).values_in(expression, None, Unknowns::Aside)
}

/// The same for a diagnostic that is about a value's not being known.
pub fn explain_unknowns(
    expression: &Expression,
    scope: &dyn Scope,
) -> Vec<formwork_diagnostics::ExpressionValue> {
    Evaluator::new(scope, &NoFunctions).values_in(expression, None, Unknowns::Matter)
}

/// The value of as much of a reference as there is; `None` if it cannot be resolved. Nothing is said.
pub fn value_of_reference(
    reference: &formwork_syntax::Traversal,
    scope: &dyn Scope,
) -> Option<Value> {
    let found = Evaluator::new(scope, &NoFunctions).quiet(reference, None);
    found.map(|(_, value)| value)
}

struct NoFunctions;

impl Functions for NoFunctions {
    fn signature(&self, _name: &str) -> Option<std::sync::Arc<crate::Signature>> {
        None
    }

    fn call(&self, _call: &crate::Call<'_>) -> crate::Outcome {
        crate::Outcome::Failed(crate::CallError::call("Functions cannot be called here."))
    }

    fn names(&self) -> Vec<std::sync::Arc<str>> {
        Vec::new()
    }
}

/// Something to tell, and whether it stays told where its expression turns out not to count.
struct Problem {
    diagnostic: Diagnostic,
    firm: bool,
}

/// A name bound inside the expression, and those bound around it. The element of a splat is bound
/// to the empty name, which no text can spell.
#[derive(Clone, Copy)]
struct Local<'a> {
    name: &'a str,
    value: &'a Value,
    outer: Option<&'a Local<'a>>,
}

impl<'a> Local<'a> {
    fn find(mut at: Option<&'a Local<'a>>, name: &str) -> Option<&'a Value> {
        while let Some(local) = at {
            if local.name == name {
                return Some(local.value);
            }
            at = local.outer;
        }
        None
    }
}

type Locals<'a> = Option<&'a Local<'a>>;

struct Evaluator<'a> {
    scope: &'a dyn Scope,
    functions: &'a dyn Functions,
    problems: Vec<Problem>,
    pending: Vec<CallId>,
    /// Steps taken, and bytes of text made.
    work: Work,
}

/// What evaluating one expression has cost. Loops in loops and texts that double would else fill any
/// memory from a few lines.
#[derive(Default)]
struct Work {
    steps: u64,
    text: usize,
    /// Whether it was told that there was too much of either.
    told: bool,
}

impl Work {
    /// Steps of one evaluation: some seconds of them (our own tests wait for fewer).
    const MOST_STEPS: u64 = if cfg!(test) { 200_000 } else { 20_000_000 };
    /// Bytes of all texts that one evaluation makes.
    const MOST_TEXT: usize = if cfg!(test) { 64 } else { 256 } * 1024 * 1024;

    fn is_too_much(&self) -> bool {
        self.steps > Self::MOST_STEPS || self.text > Self::MOST_TEXT
    }
}

/// A place in the list of problems.
#[derive(Clone, Copy)]
struct Bookmark(usize);

impl<'a> Evaluator<'a> {
    fn new(scope: &'a dyn Scope, functions: &'a dyn Functions) -> Self {
        Self {
            scope,
            functions,
            problems: Vec::new(),
            pending: Vec::new(),
            work: Work::default(),
        }
    }

    fn finish(self, value: Value) -> Evaluated {
        Evaluated {
            value,
            diagnostics: self.problems.into_iter().map(|p| p.diagnostic).collect(),
            pending: self.pending,
        }
    }

    fn bookmark(&self) -> Bookmark {
        Bookmark(self.problems.len())
    }

    /// Whether an error was told since.
    fn failed_since(&self, bookmark: Bookmark) -> bool {
        self.problems[bookmark.0..]
            .iter()
            .any(|p| p.diagnostic.is_error())
    }

    /// Takes back what was told since, but for what is firm.
    fn forgive(&mut self, from: Bookmark, to: Bookmark) {
        let mut at = 0;
        self.problems.retain(|p| {
            let here = at;
            at += 1;
            p.firm || here < from.0 || here >= to.0
        });
    }

    /// Tells something about `expression`, with the values of the references in it; answers what a
    /// failed step answers.
    fn tell(
        &mut self,
        diagnostic: Diagnostic,
        expression: &Expression,
        locals: Locals<'_>,
    ) -> Value {
        let mut diagnostic = diagnostic;
        if diagnostic.context.is_none() && diagnostic.subject != Some(expression.range()) {
            diagnostic = diagnostic.within(expression.range());
        }
        if diagnostic.values.is_empty() {
            diagnostic.values = self.values_in(expression, locals, Unknowns::Aside);
        }
        self.problems.push(Problem {
            diagnostic,
            firm: false,
        });
        Value::dynamic()
    }

    /// Tells what a scope or function said, once: a body that is evaluated for each element says the
    /// same each time.
    fn tell_firm(&mut self, diagnostics: Diagnostics) {
        for diagnostic in diagnostics {
            if self.problems.iter().all(|p| p.diagnostic != diagnostic) {
                self.problems.push(Problem {
                    diagnostic,
                    firm: true,
                });
            }
        }
    }

    /// The value of an expression.
    fn value_of(&mut self, expression: &Expression, locals: Locals<'_>) -> Value {
        on_deep_stack(|| self.value_here(expression, locals))
    }

    fn value_here(&mut self, expression: &Expression, locals: Locals<'_>) -> Value {
        self.work.steps += 1;
        if self.work.is_too_much() {
            return self.give_up(expression);
        }
        match expression.kind() {
            ExpressionKind::Invalid => {
                // Told already, unless it was a JSON string that nobody had read as a template.
                self.tell_firm(expression.syntax_diagnostics());
                Value::dynamic()
            }
            ExpressionKind::Null => Value::NULL,
            ExpressionKind::Bool(b) => Value::bool(*b),
            ExpressionKind::Number(text) => self.number(text, expression),
            ExpressionKind::String(text) => Value::shared_string(text.clone()),
            ExpressionKind::Template(template) => self.template(template, expression, locals),
            ExpressionKind::TemplateWrap(inner) | ExpressionKind::Parentheses(inner) => {
                self.value_of(inner, locals)
            }
            ExpressionKind::Traversal(traversal) => self.traversal(traversal, expression, locals),
            ExpressionKind::Relative { source, steps } => {
                let value = self.value_of(source, locals);
                self.walk(value, steps, expression, locals)
            }
            ExpressionKind::Index {
                collection,
                key,
                brackets,
            } => self.index(collection, key, *brackets, expression, locals),
            ExpressionKind::Splat(splat) => self.splat(splat, locals),
            ExpressionKind::SplatItem => Local::find(locals, "")
                .cloned()
                .unwrap_or_else(Value::dynamic),
            ExpressionKind::FunctionCall(call) => self.call(call, expression, locals),
            ExpressionKind::Conditional(c) => self.conditional(c, expression, locals),
            ExpressionKind::Unary {
                operator, operand, ..
            } => self.unary(*operator, operand, expression, locals),
            ExpressionKind::Binary {
                left,
                operator,
                right,
                ..
            } => self.binary(left, *operator, right, expression, locals),
            ExpressionKind::Tuple(items) => Value::tuple(
                items
                    .iter()
                    .map(|item| self.value_of(item, locals))
                    .collect(),
            ),
            ExpressionKind::Object(items) => self.object(items, locals),
            ExpressionKind::For(f) => self.for_expression(f, expression, locals),
        }
    }

    /// Ends an evaluation that costs too much. Neither `try` nor a loop goes on after that.
    fn give_up(&mut self, expression: &Expression) -> Value {
        if !std::mem::replace(&mut self.work.told, true) {
            let detail = if self.work.text > Work::MOST_TEXT {
                format!(
                    "Evaluating it makes too much text: more than {} MiB in one piece, or {} MiB in all. \
                     Make the texts shorter, or fewer of them at once.",
                    crate::builtins::MOST_TEXT / (1024 * 1024),
                    Work::MOST_TEXT / (1024 * 1024)
                )
            } else {
                format!(
                    "Evaluating it takes more than {} steps: its loops stand in each other, and \
                     their lengths multiply. Loop over fewer elements, or over a table that is made once, \
                     as a local value.",
                    Work::MOST_STEPS
                )
            };
            self.problems.push(Problem {
                diagnostic: Diagnostic::error("Expression too costly", detail)
                    .at(expression.range()),
                firm: true,
            });
        }
        Value::dynamic()
    }

    fn number(&mut self, text: &str, expression: &Expression) -> Value {
        match Number::parse(text) {
            Ok(number) => Value::number(number),
            Err(error) => {
                let detail = format!("The number {text} cannot be computed with: {error}.");
                let diagnostic = Diagnostic::error("Invalid number literal", detail);
                self.tell(diagnostic.at(expression.range()), expression, None)
            }
        }
    }
}

/// A truth value that is not known yet.
fn unknown_bool() -> Value {
    Value::unknown_with(Type::Bool, Refinement::NOT_NULL)
}

/// Takes all marks off a value, at any depth, and collects them.
pub(crate) fn strip(value: Value, marks: &mut Marks) -> Value {
    let (bare, found) = value.unmark_deep();
    for (_, m) in &found {
        marks.extend(m);
    }
    bare
}
