//! Function calls: arguments converted, unknown values and marks dealt with as the signature says,
//! `try` and `can` done here since their arguments are tried, not evaluated.

use std::sync::Arc;

use formwork_diagnostics::{Diagnostic, FunctionCall as CallShown, nearest};
use formwork_syntax::{Expression, ExpressionKind, FunctionCall};
use formwork_values::{Marks, Refinement, Type, Value};

use super::{Evaluator, Locals, unknown_bool};
use crate::convert::Converts;
use crate::functions::{Call, CallError, Outcome, Signature};
use crate::type_constraint::parse_type_constraint;

impl Evaluator<'_> {
    pub(super) fn call(
        &mut self,
        call: &FunctionCall,
        whole: &Expression,
        locals: Locals<'_>,
    ) -> Value {
        let plain = call.name.strip_prefix("core::").unwrap_or(&call.name);
        let Some(signature) = self.functions.signature(&call.name) else {
            return self.unknown_function(call, whole, locals);
        };
        match plain {
            "try" if !call.expand_final => return self.try_call(call, whole, locals),
            "can" if !call.expand_final && call.arguments.len() == 1 => {
                return self.can_call(call, locals);
            }
            "convert" => return self.convert_call(call, &signature, whole, locals),
            _ => {}
        }
        let start = self.bookmark();
        let mut marks = Marks::NONE;
        let Some(arguments) = self.arguments(call, &signature, whole, &mut marks, locals) else {
            return Value::dynamic();
        };
        let mut converted = Vec::with_capacity(arguments.len());
        for (at, (value, place)) in arguments.into_iter().enumerate() {
            if let Some(value) = self.argument(value, at, place, call, &signature, whole, locals) {
                converted.push(value);
            }
        }
        if self.failed_since(start) {
            return Value::dynamic();
        }
        if plain == "templatestring"
            && let Some(failed) = self.reference_wanted(call, &signature, whole, locals)
        {
            return failed;
        }
        self.answer(call, &signature, converted, marks, whole, locals)
    }

    fn unknown_function(
        &mut self,
        call: &FunctionCall,
        whole: &Expression,
        locals: Locals<'_>,
    ) -> Value {
        let names = self.functions.names();
        let mut near = nearest(&call.name, names.iter().map(|n| &**n));
        let lower = call.name.to_lowercase();
        if near.is_none() {
            near = names.iter().map(|n| &**n).find(|n| *n == lower);
        }
        let mut problem = if names.is_empty() {
            Diagnostic::error(
                "Function calls not allowed",
                "Functions cannot be called here, since the value must be known before anything is \
                 evaluated. Write the value itself.",
            )
        } else if call.name.contains("::") {
            Diagnostic::error(
                "Unknown provider function",
                format!(
                    "There is no function \"{}\". A function of a provider is called as \
                     provider::NAME::function, where NAME stands in required_providers.",
                    call.name
                ),
            )
        } else {
            Diagnostic::error(
                "Call to unknown function",
                format!("There is no function named \"{}\".", call.name),
            )
        };
        // two functions of old, which had become syntax long before they went
        let instead = match &*call.name {
            "list" => Some("Write a list as [a, b], or tolist([a, b]) where its type matters."),
            "map" => Some("Write a map as {a = 1, b = 2}, or tomap({...}) where its type matters."),
            _ => None,
        };
        if let Some(instead) = instead {
            problem = problem.hint(instead);
        } else if let Some(near) = near {
            problem = problem.hint(format!("Did you mean \"{near}\"?"));
        }
        // the values of arguments do not matter to this mistake
        problem = problem.at(call.name_range).within(whole.range());
        let _ = locals;
        self.problems.push(super::Problem {
            diagnostic: problem,
            firm: false,
        });
        Value::dynamic()
    }

    /// The arguments with their expressions, the last expanded; `None` after telling what is wrong.
    fn arguments<'c>(
        &mut self,
        call: &'c FunctionCall,
        signature: &Signature,
        whole: &Expression,
        marks: &mut Marks,
        locals: Locals<'_>,
    ) -> Option<Vec<(Value, &'c Expression)>> {
        let start = self.bookmark();
        let mut values: Vec<(Value, &Expression)> = call
            .arguments
            .iter()
            .map(|a| (self.value_of(a, locals), a))
            .collect();
        if self.failed_since(start) {
            return None;
        }
        if call.expand_final
            && let Some((last, place)) = values.pop()
        {
            let (last, own) = last.unmark();
            marks.extend(&own);
            match last.as_sequence() {
                Some(items) => values.extend(items.iter().map(|v| (v.clone(), place))),
                None => {
                    let sequence = matches!(
                        last.type_of(),
                        Type::List(_) | Type::Set(_) | Type::Tuple(_)
                    );
                    if !last.is_known() && (sequence || last.type_of().is_dynamic()) {
                        // it is not even known how many arguments there are: the caller answers
                        // with an unknown value, which an argument of no known type leads to
                        values.clear();
                        let wanted = signature.parameters.len().max(1);
                        values.resize(wanted, (Value::dynamic(), place));
                        return Some(values);
                    }
                    let detail = if last.is_null() {
                        "The argument before \"...\" is null; it must be a list, set or tuple, whose \
                         elements become arguments."
                            .to_owned()
                    } else {
                        format!(
                            "The argument before \"...\" must be a list, set or tuple, whose \
                             elements become arguments, but it is {}.",
                            super::explain::a_type(&last)
                        )
                    };
                    let problem = Diagnostic::error("Invalid expanding argument value", detail)
                        .at(place.range())
                        .within(whole.range());
                    self.tell_call(problem, call, Some(signature), place, locals);
                    return None;
                }
            }
        }
        self.count_fits(
            call,
            signature,
            values.len(),
            values.last().map(|(_, e)| *e),
            whole,
            locals,
        )
        .then_some(values)
    }

    /// Whether there are as many arguments as the function takes; tells it if not. `last` is where
    /// the last of them stands.
    fn count_fits(
        &mut self,
        call: &FunctionCall,
        signature: &Signature,
        given: usize,
        last: Option<&Expression>,
        whole: &Expression,
        locals: Locals<'_>,
    ) -> bool {
        let wanted = signature.parameters.len();
        if given < wanted {
            let missing = &signature.parameters[given].name;
            let problem = Diagnostic::error(
                "Not enough function arguments",
                format!(
                    "The function \"{}\" takes {}{} argument{}; \"{missing}\" is missing.",
                    call.name,
                    if signature.variadic.is_some() {
                        "at least "
                    } else {
                        ""
                    },
                    wanted,
                    if wanted == 1 { "" } else { "s" },
                ),
            )
            .at(call.close)
            .within(whole.range());
            self.tell_call(problem, call, Some(signature), whole, locals);
            return false;
        }
        if signature.variadic.is_none() && given > wanted {
            // expanded arguments all stand where the expanded list stands
            let surplus = call.arguments.get(wanted).or(last).unwrap_or(whole);
            let problem = Diagnostic::error(
                "Too many function arguments",
                format!(
                    "The function \"{}\" takes {wanted} argument{}, but {given} are given.",
                    call.name,
                    if wanted == 1 { "" } else { "s" },
                ),
            )
            .at(surplus.range())
            .within(whole.range());
            self.tell_call(problem, call, Some(signature), surplus, locals);
            return false;
        }
        true
    }

    /// One argument as the parameter wants it; `None` after telling that it does not fit.
    #[allow(clippy::too_many_arguments)] // what it is, where it is, and of which call
    fn argument(
        &mut self,
        value: Value,
        at: usize,
        place: &Expression,
        call: &FunctionCall,
        signature: &Signature,
        whole: &Expression,
        locals: Locals<'_>,
    ) -> Option<Value> {
        let Some(parameter) = signature.parameter(at) else {
            return Some(value);
        };
        let detail = match value.convert(&parameter.ty) {
            Ok(converted) if converted.is_null() && !parameter.nullable => {
                format!("The argument \"{}\" must not be null.", parameter.name)
            }
            Ok(converted) => return Some(converted),
            Err(error) => format!(
                "The argument \"{}\" must be {}, but this is {}{}.",
                parameter.name,
                super::explain::with_article(&parameter.ty.friendly_name_for_constraint()),
                super::explain::a_type(&value),
                super::explain::beyond_types(&error.to_string()),
            ),
        };
        let problem = Diagnostic::error("Invalid function argument", detail)
            .at(place.range())
            .within(whole.range());
        self.tell_call(problem, call, Some(signature), place, locals);
        None
    }

    fn tell_call(
        &mut self,
        problem: Diagnostic,
        call: &FunctionCall,
        signature: Option<&Signature>,
        explained: &Expression,
        locals: Locals<'_>,
    ) -> Value {
        let mut problem = problem;
        problem.function_call = Some(CallShown {
            called_as: call.name.to_string(),
            signature: signature.map(Signature::outline).unwrap_or_default(),
        });
        self.tell(problem, explained, locals)
    }

    /// Asks the function, unless unknown arguments already say what comes.
    fn answer(
        &mut self,
        call: &FunctionCall,
        signature: &Arc<Signature>,
        arguments: Vec<Value>,
        marks: Marks,
        whole: &Expression,
        locals: Locals<'_>,
    ) -> Value {
        let mut marks = marks;
        let mut unknown = false;
        let mut bare = Vec::with_capacity(arguments.len());
        let mut secret = marks.is_sensitive() || marks.is_ephemeral();
        for (at, value) in arguments.into_iter().enumerate() {
            let parameter = signature.parameter(at);
            let value = if parameter.is_some_and(|p| p.takes_marks) {
                secret |= {
                    let all = value.all_marks();
                    all.is_sensitive() || all.is_ephemeral()
                };
                value
            } else {
                super::strip(value, &mut marks)
            };
            unknown |= !value.is_known() && !parameter.is_some_and(|p| p.takes_unknown);
            bare.push(value);
        }
        secret |= marks.is_sensitive() || marks.is_ephemeral();
        if unknown {
            let refinement = if signature.may_answer_null {
                Refinement::NONE
            } else {
                Refinement::NOT_NULL
            };
            return Value::unknown_with(signature.returns.clone(), refinement).with_marks(&marks);
        }
        let outcome = self.functions.call(&Call {
            name: &call.name,
            signature,
            arguments: &bare,
        });
        match outcome {
            Outcome::Value(value, diagnostics) => {
                let failed = diagnostics.has_errors();
                let made = value.as_str().map_or(0, str::len);
                self.work.text = self.work.text.saturating_add(made);
                for diagnostic in diagnostics {
                    let mut diagnostic = diagnostic;
                    diagnostic.subject.get_or_insert(call.name_range);
                    self.problems.push(super::Problem {
                        diagnostic,
                        firm: false,
                    });
                }
                if failed {
                    Value::dynamic()
                } else {
                    value.with_marks(&marks)
                }
            }
            Outcome::Pending(id) => {
                if !self.pending.contains(&id) {
                    self.pending.push(id);
                }
                Value::unknown(signature.returns.clone()).with_marks(&marks)
            }
            Outcome::Failed(error) => {
                self.failed_call(call, signature, error, secret, whole, locals)
            }
        }
    }

    fn failed_call(
        &mut self,
        call: &FunctionCall,
        signature: &Signature,
        error: CallError,
        secret: bool,
        whole: &Expression,
        locals: Locals<'_>,
    ) -> Value {
        let place = error.argument.and_then(|at| {
            // expanded arguments all stand where the expanded list stands
            call.arguments.get(at).or(call.arguments.last())
        });
        let parameter = error.argument.and_then(|at| signature.parameter(at));
        let reason = if secret {
            "The reason is withheld, since it may tell of a sensitive argument.".to_owned()
        } else {
            error.detail
        };
        match (place, parameter) {
            (Some(place), Some(parameter)) => {
                let detail = format!(
                    "The value of the argument \"{}\" cannot be used. {reason}",
                    parameter.name
                );
                let problem = Diagnostic::error("Invalid function argument", detail)
                    .at(place.range())
                    .within(whole.range());
                self.tell_call(problem, call, Some(signature), place, locals)
            }
            _ => {
                let detail = format!("The call of \"{}\" failed. {reason}", call.name);
                let problem = Diagnostic::error("Error in function call", detail)
                    .at(call.name_range.to(call.open))
                    .within(whole.range());
                self.tell_call(problem, call, Some(signature), whole, locals)
            }
        }
    }

    /// `templatestring` takes its template from elsewhere: one written in place would be a template
    /// already.
    fn reference_wanted(
        &mut self,
        call: &FunctionCall,
        signature: &Signature,
        whole: &Expression,
        locals: Locals<'_>,
    ) -> Option<Value> {
        let template = call.arguments.first()?;
        let mut source = template.without_parentheses();
        loop {
            source = match source.kind() {
                ExpressionKind::Relative { source, .. } => source,
                ExpressionKind::Index { collection, .. } => collection,
                ExpressionKind::Splat(splat) => &splat.source,
                _ => break,
            }
            .without_parentheses();
        }
        match source.kind() {
            ExpressionKind::Traversal(_) => None,
            _ => {
                let problem = Diagnostic::error(
                    "Invalid function argument",
                    "The template must be a reference to a value that holds it, such as a local \
                     value or an attribute. Text written here is a template already, and is \
                     evaluated where it stands.",
                )
                .at(template.range())
                .within(whole.range());
                Some(self.tell_call(problem, call, Some(signature), template, locals))
            }
        }
    }

    /// `try(a, b...)`: the first that evaluates without mistakes.
    fn try_call(&mut self, call: &FunctionCall, whole: &Expression, locals: Locals<'_>) -> Value {
        let begin = self.bookmark();
        let mut reasons = Vec::new();
        for argument in &call.arguments {
            let start = self.bookmark();
            let value = self.value_of(argument, locals);
            if !self.failed_since(start) {
                if value.contains_unknown() {
                    // it may fail yet, and then another one counts, of whatever type
                    return Value::dynamic().with_marks(&value.all_marks());
                }
                return value;
            }
            if self.problems[start.0..]
                .iter()
                .any(|p| p.firm && p.diagnostic.is_error())
            {
                return Value::dynamic();
            }
            reasons.extend(
                self.problems[start.0..]
                    .iter()
                    .find(|p| p.diagnostic.is_error())
                    .map(|p| format!("{}: {}", p.diagnostic.summary, p.diagnostic.detail)),
            );
            self.forgive(start, self.bookmark());
        }
        if self.failed_since(begin) {
            return Value::dynamic();
        }
        let detail = if reasons.is_empty() {
            "The function \"try\" needs at least one expression to try.".to_owned()
        } else {
            "None of the expressions given to \"try\" could be evaluated.".to_owned()
        };
        let mut problem = Diagnostic::error("Error in function call", detail)
            .at(call.name_range.to(call.open))
            .within(whole.range());
        for (i, reason) in reasons.into_iter().enumerate() {
            problem = problem.hint(format!("Expression {}: {reason}", i + 1));
        }
        self.tell_call(problem, call, None, whole, locals)
    }

    /// `can(x)`: whether it evaluates without mistakes.
    fn can_call(&mut self, call: &FunctionCall, locals: Locals<'_>) -> Value {
        let Some(argument) = call.arguments.first() else {
            return Value::FALSE;
        };
        let start = self.bookmark();
        let value = self.value_of(argument, locals);
        if self.problems[start.0..]
            .iter()
            .any(|p| p.firm && p.diagnostic.is_error())
        {
            return Value::dynamic();
        }
        let failed = self.failed_since(start);
        self.forgive(start, self.bookmark());
        if !failed && value.contains_unknown() {
            unknown_bool()
        } else {
            // whether it can be evaluated is no secret, as it is none elsewhere in the language
            Value::bool(!failed)
        }
    }

    /// `convert(value, type)`: the second argument is a type, as variables have one, and not an
    /// expression.
    fn convert_call(
        &mut self,
        call: &FunctionCall,
        signature: &Signature,
        whole: &Expression,
        locals: Locals<'_>,
    ) -> Value {
        if call.expand_final {
            let detail = "The arguments of \"convert\" must be written out, since the second is a type and \
                          not a value: \"...\" cannot be used here.";
            let place = call.arguments.last().unwrap_or(whole);
            let problem = Diagnostic::error("Error in function call", detail)
                .at(place.range())
                .within(whole.range());
            return self.tell_call(problem, call, Some(signature), whole, locals);
        }
        let given = call.arguments.len();
        let fits = self.count_fits(call, signature, given, call.arguments.last(), whole, locals);
        let [value_place, type_place] = &*call.arguments else {
            return Value::dynamic();
        };
        if !fits {
            return Value::dynamic();
        }
        let (constraint, problems) = parse_type_constraint(type_place);
        let failed = problems.has_errors();
        self.tell_firm(problems);
        let start = self.bookmark();
        let value = self.value_of(value_place, locals);
        if failed || self.failed_since(start) {
            return Value::dynamic();
        }
        match constraint.apply(value.clone()) {
            Ok(converted) => converted,
            Err(error) => {
                let marks = value.all_marks();
                let reason = if marks.is_sensitive() || marks.is_ephemeral() {
                    "the reason is withheld, since it may tell of a sensitive value".to_owned()
                } else {
                    error.to_string()
                };
                let detail = format!(
                    "The argument \"value\" cannot be made {}: {reason}.",
                    super::explain::with_article(&constraint.ty.friendly_name_for_constraint())
                );
                let problem = Diagnostic::error("Invalid function argument", detail)
                    .at(value_place.range())
                    .within(whole.range());
                self.tell_call(problem, call, Some(signature), value_place, locals)
            }
        }
    }
}
