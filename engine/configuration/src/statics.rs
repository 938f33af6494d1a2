//! Static evaluation: expressions whose values are needed before anything is planned.
//!
//! Where a module lies, which version of it or of a provider will do, where state is kept: such
//! arguments may use variables, local values, `path`, `terraform.workspace` and functions, as long as
//! no resource, data source, module output or instance stands behind them. Values of root variables
//! are handed in ([`StaticInputs`]); those of child modules are the arguments of their calls, evaluated
//! the same way in the caller. Each is evaluated once per module path, when first asked for.
//!
//! What cannot be known is one error, at the place that needed it, which names the whole chain. What
//! is told once is not told again by the next place that needs the same; that place then has no value.
//!
//! The places themselves, and what is done with the values, are in `computed`. A variable's
//! validations are not judged here: they may refer to anything, and planning judges them.

use crate::configuration::Configuration;
use crate::inputs::{InputLayer, root_value};
use crate::module::Module;
use crate::references::{FoundReference, parse_reference};
use crate::static_checks::undeclared_in_module;
use crate::variable::InputVariable;
use formwork_addresses::{ModulePath, ResourceMode, Subject};
use formwork_diagnostics::{Diagnostic, Diagnostics, SourceMap, SourceRange};
use formwork_eval::{Call, CallError, Functions, Outcome, Resolved, Scope, Signature, explain};
use formwork_syntax::{Expression, Traversal, on_deep_stack};
use formwork_values::{Type, Value, convert};
use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::sync::Arc;

/// What static places are evaluated over, besides the text.
#[derive(Clone, Copy)]
pub struct StaticInputs<'a> {
    /// Values of root variables.
    pub variables: StaticVariables<'a>,
    /// `terraform.workspace`.
    pub workspace: &'a str,
    /// `path.cwd`.
    pub working_directory: &'a str,
    /// The functions that can be called. Those that answer otherwise each time must answer that they
    /// do not know. None can be called without.
    pub functions: Option<&'a dyn Functions>,
    /// Whether values of required variables may be missing, as where a configuration is only looked
    /// at. What is needed to find modules and providers must be given all the same; where state is
    /// kept is left as it is written.
    pub partial: bool,
}

impl Default for StaticInputs<'_> {
    /// No values, no functions: a look at the text.
    fn default() -> Self {
        Self {
            variables: StaticVariables::Layers(&[]),
            workspace: "default",
            working_directory: ".",
            functions: None,
            partial: true,
        }
    }
}

/// Values of root variables.
#[derive(Clone, Copy)]
pub enum StaticVariables<'a> {
    /// As they are given, lowest layer first.
    Layers(&'a [InputLayer]),
    /// As a plan keeps them: converted, defaults filled in.
    Values(&'a BTreeMap<Arc<str>, Value>),
}

/// A place that is evaluated, for what is said about it.
pub(crate) struct StaticPlace<'a> {
    /// What it is, as the subject of a sentence: `The source of module "m"`.
    pub what: &'a str,
    /// Whether sensitive values are allowed there.
    pub takes_secrets: bool,
    /// Whether it can be left without a value where the inputs are partial.
    pub can_wait: bool,
    /// Roots of references that belong to the place itself, and are unknown.
    pub own_roots: &'static [&'static str],
}

impl<'a> StaticPlace<'a> {
    /// A place that must have a value that anybody may see.
    pub fn of(what: &'a str) -> Self {
        Self {
            what,
            takes_secrets: false,
            can_wait: false,
            own_roots: &[],
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Named {
    Variable,
    Local,
}

type Key = (ModulePath, Named, Arc<str>);

enum Memo {
    /// Being evaluated: to meet it again is a circle.
    Open,
    /// Evaluated; `None` if that failed, which has been said.
    Done(Option<Value>),
}

/// A root variable's value, if it has one, and what is wrong with it.
type RootValue = (Option<Value>, Diagnostics);

/// A step on the way from the place to what is being evaluated.
struct Link {
    key: Key,
    label: String,
    range: SourceRange,
}

/// Evaluates the static places of one configuration while it is loaded.
pub(crate) struct Statics<'a> {
    inputs: StaticInputs<'a>,
    /// Values of root variables with what there is to say about each; taken when first needed.
    roots: Option<BTreeMap<Arc<str>, RootValue>>,
    memos: RefCell<BTreeMap<Key, Memo>>,
    links: RefCell<Vec<Link>>,
    /// Whether something met on the way has failed before, or waits for a value.
    gave_up: Cell<bool>,
    /// Whether it waits: then it must be asked for again by the next place, which may not wait.
    waits: Cell<bool>,
}

impl<'a> Statics<'a> {
    pub fn new(inputs: StaticInputs<'a>) -> Self {
        Self {
            inputs,
            roots: None,
            memos: RefCell::default(),
            links: RefCell::default(),
            gave_up: Cell::new(false),
            waits: Cell::new(false),
        }
    }

    /// Reads the values of root variables. Must have been called before anything is evaluated.
    pub fn read_inputs(&mut self, root: &Module, sources: &mut SourceMap) {
        let inputs = &self.inputs;
        self.roots.get_or_insert_with(|| {
            let value_of = |v: &InputVariable| match inputs.variables {
                StaticVariables::Layers(layers) => {
                    let mut said = Diagnostics::new();
                    let value = root_value(v, layers, sources, &mut said);
                    (value, said)
                }
                StaticVariables::Values(values) => {
                    (values.get(&v.name).cloned(), Diagnostics::new())
                }
            };
            let mut value_of = value_of;
            root.variables
                .values()
                .map(|v| (v.name.clone(), value_of(v)))
                .collect()
        });
    }

    /// The value of an expression in a module; `None` if it has none, which has been said, or if it
    /// can wait.
    pub fn evaluate(
        &self,
        configuration: &Configuration,
        path: &ModulePath,
        place: &StaticPlace<'_>,
        e: &Expression,
        diagnostics: &mut Diagnostics,
    ) -> Option<Value> {
        if e.is_invalid() {
            diagnostics.append(e.syntax_diagnostics());
            return None;
        }
        let scope = StaticScope {
            statics: self,
            configuration,
            path,
            place,
        };
        self.gave_up.set(false);
        self.waits.set(false);
        let value = scope.value_of(e, diagnostics)?;
        let problem = |summary: &str, detail: String| {
            let mut d = Diagnostic::error(summary, detail).at(e.range());
            d.values = explain(e, &scope);
            Some(d)
        };
        let marks = value.all_marks();
        let d = if marks.is_ephemeral() {
            problem(
                "Ephemeral value not allowed",
                format!(
                    "{} is kept beyond this run, so nothing that lives for the run only can be \
                     used in it.",
                    place.what
                ),
            )
        } else if marks.is_sensitive() && !place.takes_secrets {
            problem(
                "Sensitive value not allowed",
                format!(
                    "{} is shown and kept as plain text, so no sensitive value can be used in it. \
                     Use another value, or nonsensitive() if it is no secret.",
                    place.what
                ),
            )
        } else if !value.is_wholly_known() && place.own_roots.is_empty() {
            if self.gave_up.get() {
                return None;
            }
            problem(
                DYNAMIC,
                format!(
                    "{} must be known before anything is planned, but what it is made of is known \
                     only when it is applied.",
                    place.what
                ),
            )
        } else {
            return Some(value.unmark_deep().0);
        };
        diagnostics.extend(d);
        None
    }

    /// The value as text; null counts as absent.
    pub fn text(
        &self,
        configuration: &Configuration,
        path: &ModulePath,
        place: &StaticPlace<'_>,
        e: &Expression,
        diagnostics: &mut Diagnostics,
    ) -> Option<Arc<str>> {
        let value = self.evaluate(configuration, path, place, e, diagnostics)?;
        let given = value.type_of();
        if let Ok(v) = convert(value, &Type::String) {
            return v.as_shared_str().cloned();
        }
        let mut d = Diagnostic::error(
            "Unsuitable value type",
            format!(
                "{} must be a text, but it is of type {}.",
                place.what,
                given.friendly_name()
            ),
        )
        .at(e.range());
        d.values = self.explain(configuration, path, e);
        diagnostics.push(d);
        None
    }

    /// What the references in an expression stand for, for a diagnostic about its value.
    pub fn explain(
        &self,
        configuration: &Configuration,
        path: &ModulePath,
        e: &Expression,
    ) -> Vec<formwork_diagnostics::ExpressionValue> {
        let scope = StaticScope {
            statics: self,
            configuration,
            path,
            place: &StaticPlace::of(""),
        };
        explain(e, &scope)
    }
}

const DYNAMIC: &str = "Dynamic value in static context";

/// One module, as static expressions in it see it.
struct StaticScope<'s> {
    statics: &'s Statics<'s>,
    configuration: &'s Configuration,
    path: &'s ModulePath,
    place: &'s StaticPlace<'s>,
}

impl StaticScope<'_> {
    fn value_of(&self, e: &Expression, diagnostics: &mut Diagnostics) -> Option<Value> {
        let functions = StaticFunctions(self.statics.inputs.functions);
        let evaluated = on_deep_stack(|| formwork_eval::evaluate(e, self, &functions));
        let (value, said) = evaluated.into_checked();
        let failed = said.has_errors();
        diagnostics.append(said);
        (!failed).then_some(value)
    }

    fn module(&self) -> Option<&Arc<Module>> {
        self.configuration.module(self.path)
    }

    /// The place of the mistake: where the place itself names what leads to it.
    fn blamed(&self, here: SourceRange) -> SourceRange {
        self.statics
            .links
            .borrow()
            .first()
            .map_or(here, |l| l.range)
    }

    /// `The source of module "m" uses local.a, which uses local.b`, cut in the middle if it is long;
    /// with a last step that is not on the way yet.
    fn way(&self, last: Option<&str>) -> String {
        let links = self.statics.links.borrow();
        let mut labels: Vec<&str> = links.iter().map(|l| l.label.as_str()).collect();
        labels.extend(last);
        if labels.len() > 8 {
            labels.splice(4..labels.len() - 3, ["..."]);
        }
        format!("{} uses {}", self.place.what, labels.join(", which uses "))
    }

    fn labelled(&self, name: &str) -> String {
        if self.path.is_root() {
            name.to_owned()
        } else {
            format!("{name} of {}", self.path)
        }
    }

    /// The error for something that is not known by now.
    fn dynamic(&self, f: &FoundReference, why: &str) -> Resolved {
        let label = self.labelled(&f.reference.subject.to_string());
        Resolved::failed(
            Diagnostic::error(
                DYNAMIC,
                format!(
                    "{}, {why}. What is used here must be known before anything is planned: \
                     variables, local values, path, terraform.workspace, and what functions make of \
                     them.",
                    self.way(Some(&label))
                ),
            )
            .at(self.blamed(f.range())),
        )
    }

    /// A variable or local, evaluated once.
    fn named(&self, named: Named, name: &Arc<str>, f: &FoundReference) -> Resolved {
        let key: Key = (self.path.clone(), named, name.clone());
        let open = match self.statics.memos.borrow().get(&key) {
            Some(Memo::Done(Some(value))) => {
                return Resolved::new(value.clone(), f.subject_steps);
            }
            Some(Memo::Done(None)) => {
                self.statics.gave_up.set(true);
                return Resolved::new(Value::dynamic(), f.traversal.steps.len());
            }
            Some(Memo::Open) => true,
            None => false,
        };
        let label = self.labelled(&f.reference.subject.to_string());
        if open {
            let links = self.statics.links.borrow();
            let from = links.iter().position(|l| l.key == key).unwrap_or(0);
            let circle: Vec<&str> = links.iter().skip(from).map(|l| l.label.as_str()).collect();
            return Resolved::failed(
                Diagnostic::error(
                    "Circular reference",
                    format!(
                        "{} cannot be known: it uses {}, which uses {label} again.",
                        self.place.what,
                        circle.join(", which uses ")
                    ),
                )
                .at(links.first().map_or(f.range(), |l| l.range)),
            );
        }
        self.statics
            .memos
            .borrow_mut()
            .insert(key.clone(), Memo::Open);
        self.statics.links.borrow_mut().push(Link {
            key: key.clone(),
            label,
            range: f.range(),
        });
        let mut said = Diagnostics::new();
        let value = match named {
            Named::Local => {
                let local = self.module().and_then(|m| m.locals.get(name));
                local.and_then(|l| self.value_of(&l.expression, &mut said))
            }
            Named::Variable => self.variable(name, f, &mut said),
        };
        self.statics.links.borrow_mut().pop();
        let value = value
            .filter(|v| !said.has_errors() && (v.is_wholly_known() || !self.statics.gave_up.get()));
        let failed = value.is_none();
        let answer = value.clone().unwrap_or_else(Value::dynamic);
        let mut memos = self.statics.memos.borrow_mut();
        if self.statics.waits.get() {
            memos.remove(&key);
        } else {
            memos.insert(key, Memo::Done(value));
        }
        if failed {
            self.statics.gave_up.set(true);
        }
        let steps = if failed {
            f.traversal.steps.len()
        } else {
            f.subject_steps
        };
        Resolved {
            value: answer,
            consumed: steps,
            diagnostics: said,
            firm: true,
        }
    }

    fn variable(
        &self,
        name: &Arc<str>,
        f: &FoundReference,
        said: &mut Diagnostics,
    ) -> Option<Value> {
        let variable = self.module()?.variables.get(name)?;
        if variable.constant == Some(false) {
            said.push(
                Diagnostic::error(
                    DYNAMIC,
                    format!(
                        "{} cannot use var.{name}: its declaration says const = false, which keeps \
                         it out of everything that must be known before anything is planned.",
                        self.place.what
                    ),
                )
                .at(self.blamed(f.range())),
            );
            return None;
        }
        let value = match self.path.parent() {
            None => self.root_variable(variable, f, said),
            Some(parent) => self.argument(&parent, variable, said),
        };
        value.map(|v| v.with_marks(&variable.marks()))
    }

    fn root_variable(
        &self,
        v: &InputVariable,
        f: &FoundReference,
        said: &mut Diagnostics,
    ) -> Option<Value> {
        let (value, problems) = self.statics.roots.as_ref()?.get(&v.name)?;
        said.extend(problems.iter().cloned());
        if problems.has_errors() {
            return None;
        }
        if value.is_none() && !(self.place.can_wait && self.statics.inputs.partial) {
            let name = &v.name;
            said.push(
                Diagnostic::error(
                    "No value for required variable",
                    format!(
                        "{}, which has no default, and no value is given for it. It is needed \
                         before anything is planned: give one with -var=\"{name}=...\", in a file \
                         named by -var-file or called terraform.tfvars, or in the environment as \
                         TF_VAR_{name}.",
                        self.way(None)
                    ),
                )
                .at(self.blamed(f.range()))
                .about(format_args!("var.{name}")),
            );
        } else if value.is_none() {
            self.statics.waits.set(true);
        }
        value.clone()
    }

    /// The value that the caller gives to a variable, or its default.
    fn argument(
        &self,
        parent: &ModulePath,
        v: &InputVariable,
        said: &mut Diagnostics,
    ) -> Option<Value> {
        let (_, call) = self.configuration.call_of(self.path)?;
        let Some(argument) = call.argument(&v.name) else {
            // That it is missing, if it must be given, is told where calls are checked.
            return v.default.clone();
        };
        let outside = StaticScope {
            path: parent,
            ..*self
        };
        let value = outside.value_of(&argument.expression, said)?;
        match v.accept(value) {
            Ok(value) => Some(value),
            Err(why) => {
                said.push(
                    Diagnostic::error(
                        "Invalid value for input variable",
                        format!(
                            "The value given for the variable \"{}\" of {} does not fit its \
                             declaration: {why}.",
                            v.name, self.path
                        ),
                    )
                    .at(argument.expression.range()),
                );
                None
            }
        }
    }
}

impl Scope for StaticScope<'_> {
    fn resolve(&self, reference: &Traversal) -> Resolved {
        if self.place.own_roots.contains(&&*reference.root) {
            return Resolved::new(Value::dynamic(), reference.steps.len());
        }
        let found = match parse_reference(reference) {
            Ok(found) => found,
            Err(d) => return Resolved::failed(*d),
        };
        if let Some(module) = self.module()
            && let Some(d) = undeclared_in_module(module, &found)
        {
            return Resolved::failed(d);
        }
        let text = |text: &str| Resolved::new(Value::string(text), found.subject_steps);
        match &found.reference.subject {
            Subject::InputVariable(name) => self.named(Named::Variable, name, &found),
            Subject::LocalValue(name) => self.named(Named::Local, name, &found),
            Subject::Path(name) => match &**name {
                "cwd" => text(self.statics.inputs.working_directory),
                "root" => text("."),
                _ => {
                    let directory = self.module().map(|m| m.directory.to_string_lossy());
                    text(
                        directory
                            .as_deref()
                            .filter(|d| !d.is_empty())
                            .unwrap_or("."),
                    )
                }
            },
            Subject::Terraform(name) if &**name == "workspace" => {
                text(self.statics.inputs.workspace)
            }
            Subject::Terraform(_) => self.dynamic(&found, "which is another while planning"),
            Subject::Resource(r) => self.dynamic(&found, known_when(r.mode)),
            Subject::ResourceInstance(r) => self.dynamic(&found, known_when(r.resource.mode)),
            Subject::ModuleCall(_)
            | Subject::ModuleCallInstance(..)
            | Subject::ModuleCallOutput(..) => {
                self.dynamic(&found, "which is known only when that module is planned")
            }
            Subject::CountIndex | Subject::EachKey | Subject::EachValue => {
                self.dynamic(&found, "which is another for each instance")
            }
            _ => self.dynamic(&found, "which has no meaning here"),
        }
    }
}

fn known_when(mode: ResourceMode) -> &'static str {
    match mode {
        ResourceMode::Managed => "which is only known after apply",
        ResourceMode::Data => "which is only read while planning",
        ResourceMode::Ephemeral => "which is only opened while planning",
    }
}

/// The functions that can be called in static places: not those of providers, which are found by what
/// is evaluated here.
struct StaticFunctions<'a>(Option<&'a dyn Functions>);

impl Functions for StaticFunctions<'_> {
    fn signature(&self, name: &str) -> Option<Arc<Signature>> {
        self.0?.signature(name)
    }

    fn call(&self, call: &Call<'_>) -> Outcome {
        match self.0 {
            Some(functions) => functions.call(call),
            None => Outcome::Failed(CallError::call("Functions cannot be called here.")),
        }
    }

    fn names(&self) -> Vec<Arc<str>> {
        self.0.map_or_else(Vec::new, Functions::names)
    }
}
