//! [`ModuleScope`]: one place in a module, as the evaluator of expressions asks it.

use crate::evaluator::Evaluator;
use crate::in_test::InTest;
use crate::objects::{Expansion, Found};
use crate::reading::Reading;
use formwork_addresses::{InstanceKey, ModuleInstance, Resource, Subject};
use formwork_configuration::{Module, Repetition, parse_reference, parse_test_reference};
use formwork_diagnostics::{Diagnostic, nearest};
use formwork_eval::{CallId, Functions, Resolved, Scope, evaluate};
use formwork_syntax::{Expression, Traversal};
use formwork_values::{Mark, Type, Value};
use std::cell::RefCell;
use std::sync::Arc;

/// What `count.index`, `each.key` and `each.value` are.
#[derive(Clone, Debug, Default)]
pub struct RepetitionData {
    /// `count.index`.
    pub count_index: Option<Value>,
    /// `each.key`.
    pub each_key: Option<Value>,
    /// `each.value`.
    pub each_value: Option<Value>,
}

impl RepetitionData {
    /// For an instance that stands for all while they are not known.
    pub fn unknown() -> Self {
        Self {
            count_index: Some(Value::unknown(Type::Number)),
            each_key: Some(Value::unknown(Type::String)),
            each_value: Some(Value::dynamic()),
        }
    }
}

/// A module instance, and which instance of a block in it expressions are evaluated for.
pub struct ModuleScope<'e> {
    evaluator: &'e Evaluator,
    instance: &'e ModuleInstance,
    repetition: RepetitionData,
    self_value: Option<Value>,
    /// Whether a test is evaluated here, which sees more than the module does.
    of_test: bool,
    /// Calls that something referred to must wait for, found while resolving.
    pending: RefCell<Vec<CallId>>,
}

impl<'e> ModuleScope<'e> {
    /// A place in a module instance.
    pub fn new(
        evaluator: &'e Evaluator,
        instance: &'e ModuleInstance,
        repetition: RepetitionData,
    ) -> Self {
        Self {
            evaluator,
            instance,
            repetition,
            self_value: None,
            of_test: false,
            pending: RefCell::default(),
        }
    }

    /// The same place, where `self` means an object.
    #[must_use]
    pub fn with_self(mut self, value: Value) -> Self {
        self.self_value = Some(value.with_own_types());
        self
    }

    /// The same place as a test sees it.
    #[must_use]
    pub(crate) fn of_test(mut self) -> Self {
        self.of_test = true;
        self
    }

    /// What evaluates here.
    pub(crate) fn evaluator(&self) -> &'e Evaluator {
        self.evaluator
    }

    /// The module instance.
    pub fn instance(&self) -> &ModuleInstance {
        self.instance
    }

    /// Calls found to be waited for while resolving references, since last asked.
    pub fn take_pending(&self) -> Vec<CallId> {
        self.pending.take()
    }

    /// Evaluates an expression here; what it must wait for goes into the reading.
    pub fn read(
        &self,
        expression: &Expression,
        functions: &dyn Functions,
        reading: &mut Reading,
    ) -> Value {
        let evaluated = evaluate(expression, self, functions);
        let pending = self.take_pending();
        reading.diagnostics.append(evaluated.diagnostics);
        reading.pending.extend(evaluated.pending);
        reading.pending.extend(pending);
        evaluated.value
    }

    /// The test around this place, where it is a test that is evaluated.
    fn test(&self) -> Option<&'e InTest> {
        self.evaluator.test().filter(|_| self.of_test)
    }

    fn module(&self) -> Option<&'e Arc<Module>> {
        self.evaluator.module(self.instance)
    }

    fn resource(
        &self,
        resource: &Resource,
        key: Option<&InstanceKey>,
        steps: usize,
        at: &Traversal,
    ) -> Resolved {
        let objects = self.evaluator.objects();
        let address = resource.in_module(self.instance);
        match objects.find(&address, key) {
            Found::NotExpanded => {
                let declared = self
                    .module()
                    .is_some_and(|m| m.resource(resource).is_some());
                if declared {
                    // It failed, or is being asked for too early; either has been said elsewhere.
                    return Resolved::new(Value::dynamic(), at.steps.len());
                }
                Resolved::failed(self.undeclared_resource(resource, at))
            }
            // The index is part of the subject: one instance, without making the whole.
            Found::Instance(value) => Resolved::new(value, steps),
            Found::Only(value) if key.is_some() => Resolved::new(value, steps - 1),
            Found::Only(value) => Resolved::new(value, steps),
            // A wrong key: the evaluator says so, over the whole.
            Found::All if key.is_some() => Resolved::new(objects.whole(&address), steps - 1),
            Found::All => Resolved::new(objects.whole(&address), steps),
        }
    }

    fn undeclared_resource(&self, resource: &Resource, at: &Traversal) -> Diagnostic {
        let names: Vec<String> = self
            .module()
            .into_iter()
            .flat_map(|m| m.resources.keys())
            .filter(|r| r.mode == resource.mode)
            .map(ToString::to_string)
            .collect();
        let mut d = Diagnostic::error(
            "Reference to undeclared resource",
            format!("No resource {resource} is declared in {}.", self.place()),
        )
        .at(at.range());
        if let Some(near) = nearest(&resource.to_string(), names.iter().map(String::as_str)) {
            d = d.hint(format!("Did you mean {near}?"));
        }
        d
    }

    fn place(&self) -> String {
        if self.instance.is_root() {
            "the root module".to_owned()
        } else {
            self.instance.path().to_string()
        }
    }

    fn missing(&self, what: &str, name: &str, at: &Traversal) -> Resolved {
        Resolved::failed(
            Diagnostic::error(
                format!("Reference to undeclared {what}"),
                format!("No {what} \"{name}\" is declared in {}.", self.place()),
            )
            .at(at.range()),
        )
    }

    /// All outputs of one instance of a call, as an object.
    fn outputs(&self, name: &str, key: InstanceKey) -> Value {
        let child = self.instance.child(name, key);
        let Some(module) = self.evaluator.module(&child) else {
            return Value::dynamic();
        };
        if let Some(values) = self.evaluator.stand_in(&child) {
            let outputs = module.outputs.keys();
            return Value::object(
                outputs
                    .map(|o| (o.clone(), stood_in(&values, o)))
                    .collect::<Vec<_>>(),
            );
        }
        let mut pending = self.pending.borrow_mut();
        Value::object(
            module
                .outputs
                .keys()
                .map(|o| (o.clone(), self.evaluator.output_in(&child, o, &mut pending)))
                .collect::<Vec<_>>(),
        )
    }

    fn call(&self, name: &Arc<str>) -> Option<Expansion> {
        let call = self.module()?.calls.get(name)?;
        if self.evaluator.setting().validating && call.repetition.is_repeated() {
            return Some(Expansion::Unknown);
        }
        let known = self.evaluator.objects().call_expansion(self.instance, name);
        Some(known.unwrap_or(Expansion::Unknown))
    }

    /// All instances of a call as one value. Made once, however many refer to it, unless something in
    /// it is still to become known.
    fn whole_call(&self, name: &Arc<str>, expansion: &Expansion) -> Value {
        if let Some(whole) = self.evaluator.whole_call(self.instance, name) {
            return whole;
        }
        let waited = self.pending.borrow().len();
        let whole = self.make_whole_call(name, expansion);
        let settled = !matches!(expansion, Expansion::Unknown);
        if settled && self.pending.borrow().len() == waited {
            self.evaluator.keep_whole_call(self.instance, name, &whole);
        }
        whole
    }

    fn make_whole_call(&self, name: &Arc<str>, expansion: &Expansion) -> Value {
        match expansion {
            Expansion::Single => self.outputs(name, InstanceKey::None),
            Expansion::Count(_) => Value::tuple(
                expansion
                    .keys()
                    .into_iter()
                    .map(|k| self.outputs(name, k))
                    .collect(),
            ),
            Expansion::ForEach(map) => Value::object(
                map.keys()
                    .map(|k| (k.clone(), self.outputs(name, InstanceKey::Text(k.clone()))))
                    .collect::<Vec<_>>(),
            ),
            Expansion::Keys(keys) => Value::object(
                keys.iter()
                    .map(|k| (k.clone(), self.outputs(name, InstanceKey::Text(k.clone()))))
                    .collect::<Vec<_>>(),
            ),
            Expansion::Disabled => Value::null(Type::Dynamic),
            Expansion::Unknown => Value::dynamic(),
        }
    }

    fn call_output(
        &self,
        name: &Arc<str>,
        key: &InstanceKey,
        output: &Arc<str>,
        steps: usize,
        at: &Traversal,
    ) -> Resolved {
        let Some(expansion) = self.call(name) else {
            return self.missing("module", name, at);
        };
        let child = self.instance.path().child(name);
        let outputs = self
            .evaluator
            .configuration()
            .module(&child)
            .map(|m| &m.outputs);
        if let Some(outputs) = outputs
            && !outputs.contains_key(output)
            && (expansion.has(key) || matches!(expansion, Expansion::Unknown))
        {
            let range = at
                .steps
                .get(steps.saturating_sub(1))
                .map_or_else(|| at.range(), |s| s.range());
            let mut d = Diagnostic::error(
                "Unsupported attribute",
                format!("module.{name} has no output named \"{output}\"."),
            )
            .at(range);
            if let Some(near) = nearest(output, outputs.keys().map(|k| &**k)) {
                d = d.hint(format!("Did you mean \"{near}\"?"));
            } else if outputs.is_empty() {
                d = d.hint(
                    "Only outputs of a module can be referred to from outside, and this one has none.",
                );
            } else {
                let mut names: Vec<&str> = outputs.keys().map(|k| &**k).take(8).collect();
                if outputs.len() > names.len() {
                    names.push("...");
                }
                d = d.hint(format!(
                    "Only outputs of a module can be referred to from outside. It has: {}.",
                    names.join(", ")
                ));
            }
            return Resolved::failed_operation(d);
        }
        let counted = self
            .module()
            .and_then(|m| m.calls.get(name))
            .is_some_and(|c| matches!(c.repetition, Repetition::Count(_)));
        if counted && *key == InstanceKey::None {
            let range = at.steps.get(1).map_or_else(|| at.range(), |s| s.range());
            return Resolved::failed_operation(
                Diagnostic::error(
                    "Unsupported attribute",
                    format!(
                        "module.{name} sets \"count\", so it is a list of objects, which has no \
                         attribute \"{output}\". Say which is meant, as in module.{name}[0].{output}, or \
                         take all by module.{name}[*].{output}."
                    ),
                )
                .at(range),
            );
        }
        if expansion.has(key) {
            let instance = self.instance.child(name, key.clone());
            if let Some(values) = self.evaluator.stand_in(&instance) {
                return Resolved::new(stood_in(&values, output), steps);
            }
            let value = self
                .evaluator
                .output_in(&instance, output, &mut self.pending.borrow_mut());
            return Resolved::new(value, steps);
        }
        if matches!(expansion, Expansion::Unknown) {
            let call = self.module().and_then(|m| m.calls.get(name));
            if *key == InstanceKey::None
                && call.is_some_and(|c| matches!(c.repetition, Repetition::Count(_)))
            {
                // A list, however long, has no attributes: the evaluator says so.
                return Resolved::new(Value::unknown(Type::list(Type::Dynamic)), 1);
            }
            return Resolved::new(Value::dynamic(), steps);
        }
        // A key that is not there, or none where one is needed: the evaluator says so.
        let consumed = 1;
        Resolved::new(self.whole_call(name, &expansion), consumed)
    }

    fn repeated(
        &self,
        value: Option<&Value>,
        what: &str,
        needs: &str,
        steps: usize,
        at: &Traversal,
    ) -> Resolved {
        match value {
            Some(value) => Resolved::new(value.clone(), steps),
            None => Resolved::failed(
                Diagnostic::error(
                    format!("Reference to \"{what}\" in non-{needs} context"),
                    format!("\"{what}\" has a meaning only in a block that has {needs} set."),
                )
                .at(at.range()),
            ),
        }
    }
}

/// An output of what stands in the place of a module; null where nothing is said of it.
fn stood_in(values: &Value, output: &str) -> Value {
    values
        .attribute(output)
        .or_else(|| {
            let entries = values.as_map()?.iter();
            entries.rev().find(|(k, _)| &**k == output).map(|(_, v)| v)
        })
        .cloned()
        .unwrap_or_else(|| Value::null(Type::Dynamic))
}

impl Scope for ModuleScope<'_> {
    fn resolve(&self, reference: &Traversal) -> Resolved {
        let parsed = if self.of_test {
            parse_test_reference(reference)
        } else {
            parse_reference(reference)
        };
        let found = match parsed {
            Ok(found) => found,
            Err(d) => return Resolved::failed(*d),
        };
        let steps = found.subject_steps;
        let setting = self.evaluator.setting();
        match &found.reference.subject {
            Subject::InputVariable(name) => {
                if !self.module().is_some_and(|m| m.variables.contains_key(name)) {
                    let of_test = self.test().and_then(|t| t.variables.get(name));
                    if let Some(value) = of_test {
                        return Resolved::new(value.clone(), steps);
                    }
                    return self.missing("input variable", name, reference);
                }
                let value = self.evaluator.variable_in(self.instance, name, &mut self.pending.borrow_mut());
                Resolved::new(value, steps)
            }
            Subject::LocalValue(name) => {
                if !self.module().is_some_and(|m| m.locals.contains_key(name)) {
                    return self.missing("local value", name, reference);
                }
                let value = self.evaluator.local_in(self.instance, name, &mut self.pending.borrow_mut());
                Resolved::new(value, steps)
            }
            Subject::Resource(r) => self.resource(r, None, steps, reference),
            Subject::ResourceInstance(r) => {
                self.resource(&r.resource, Some(&r.key), steps, reference)
            }
            Subject::ModuleCall(name) => match self.call(name) {
                None => self.missing("module", name, reference),
                Some(e) => Resolved::new(self.whole_call(name, &e), steps),
            },
            Subject::ModuleCallInstance(name, key) => match self.call(name) {
                None => self.missing("module", name, reference),
                Some(e) if e.has(key) => Resolved::new(self.outputs(name, key.clone()), steps),
                Some(e) => Resolved::new(self.whole_call(name, &e), steps - 1),
            },
            Subject::ModuleCallOutput(name, key, output) => {
                self.call_output(name, key, output, steps, reference)
            }
            Subject::CountIndex => {
                self.repeated(self.repetition.count_index.as_ref(), "count", "count", steps, reference)
            }
            Subject::EachKey => {
                self.repeated(self.repetition.each_key.as_ref(), "each", "for_each", steps, reference)
            }
            Subject::EachValue => {
                self.repeated(self.repetition.each_value.as_ref(), "each", "for_each", steps, reference)
            }
            Subject::Path(name) => {
                let text = match &**name {
                    "cwd" => setting.working_directory.clone(),
                    "root" => setting.root_directory.clone(),
                    _ => self
                        .module()
                        .map(|m| m.directory.to_string_lossy().into_owned())
                        .unwrap_or_default(),
                };
                let text = if text.is_empty() { ".".to_owned() } else { text };
                Resolved::new(Value::string(text), steps)
            }
            Subject::Terraform(name) => match &**name {
                "applying" => {
                    Resolved::new(Value::bool(setting.applying).mark(Mark::Ephemeral), steps)
                }
                _ => Resolved::new(Value::string(&setting.workspace), steps),
            },
            Subject::SelfObject => match &self.self_value {
                Some(value) => Resolved::new(value.clone(), steps),
                None => Resolved::failed(
                    Diagnostic::error(
                        "Invalid \"self\" reference",
                        "\"self\" has a meaning only in postconditions, provisioners and connections: \
                         it is the object of the resource they stand in.",
                    )
                    .at(reference.range()),
                ),
            },
            Subject::OutputValue(name) if self.of_test => {
                if !self.module().is_some_and(|m| m.outputs.contains_key(name)) {
                    return self.missing("output value", name, reference);
                }
                let value = self.evaluator.output_in(self.instance, name, &mut self.pending.borrow_mut());
                Resolved::new(value, steps)
            }
            Subject::Run(name) if let Some(test) = self.test() => {
                test.runs.resolve(name, steps, reference)
            }
            Subject::OutputValue(_) | Subject::Run(_) | Subject::Check(_) => Resolved::failed(
                Diagnostic::error(
                    "Invalid reference",
                    format!("{} can be referred to in tests only.", found.reference.subject),
                )
                .at(reference.range()),
            ),
        }
    }
}
