//! [`Evaluator`]: variables, locals and outputs, each evaluated once per module instance.

use crate::Calls;
use crate::calls::ModuleFunctions;
use crate::in_test::InTest;
use crate::objects::{Expansion, Objects};
use crate::provider_config::Elements;
use crate::reading::Reading;
use crate::repetition::{Repeated, expand};
use crate::scope::{ModuleScope, RepetitionData};
use formwork_addresses::{
    AbsProviderConfig, AbsResource, AbsResourceInstance, InstanceKey, ModuleInstance,
};
use formwork_configuration::{Configuration, InputVariable, Module, ModuleCall, Repetition};
use formwork_diagnostics::{Diagnostic, Diagnostics};
use formwork_eval::Builtins;
use formwork_syntax::on_deep_stack;
use formwork_values::{Mark, Marks, Value};
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

/// What surrounds the configuration.
#[derive(Clone, Debug, Default)]
pub struct Setting {
    /// `path.cwd`: where the command was called, before `-chdir`.
    pub working_directory: String,
    /// `path.root`: the root module's directory as shown, usually `.`.
    pub root_directory: String,
    /// `terraform.workspace`.
    pub workspace: String,
    /// `terraform.applying`.
    pub applying: bool,
    /// Whether nothing is known and every block stands for all its instances.
    pub validating: bool,
}

/// A value that was evaluated once, and what there was to say about it.
pub struct Memo {
    /// The value; unknown where it could not be evaluated.
    pub value: Value,
    diagnostics: Diagnostics,
    said: AtomicBool,
}

impl Memo {
    fn new(value: Value, diagnostics: Diagnostics) -> Self {
        Self {
            value,
            diagnostics,
            said: AtomicBool::new(false),
        }
    }

    /// What there is to say, the first time it is asked for; nothing after that.
    pub fn take_diagnostics(&self) -> Diagnostics {
        if self.said.swap(true, Ordering::Relaxed) {
            Diagnostics::new()
        } else {
            self.diagnostics.clone()
        }
    }

    /// Whether it could not be evaluated.
    pub fn has_errors(&self) -> bool {
        self.diagnostics.has_errors()
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Named {
    Variable,
    Local,
    Output,
}

type Key = (Named, ModuleInstance, Arc<str>);

/// Evaluates the parts of one configuration over what is known of its objects.
pub struct Evaluator {
    configuration: Arc<Configuration>,
    objects: Arc<Objects>,
    builtins: Arc<Builtins>,
    calls: Arc<Calls>,
    setting: Setting,
    root_variables: BTreeMap<Arc<str>, Value>,
    memos: RwLock<FxHashMap<Key, Arc<Memo>>>,
    whole_calls: RwLock<FxHashMap<(ModuleInstance, Arc<str>), Value>>,
    provider_elements: RwLock<FxHashMap<AbsProviderConfig, Elements>>,
    in_test: Option<InTest>,
}

impl Evaluator {
    /// An evaluator that has evaluated nothing yet. `root_variables` are converted, defaults filled
    /// in, marked.
    pub fn new(
        configuration: Arc<Configuration>,
        objects: Arc<Objects>,
        builtins: Arc<Builtins>,
        calls: Arc<Calls>,
        setting: Setting,
        root_variables: BTreeMap<Arc<str>, Value>,
    ) -> Self {
        Self {
            configuration,
            objects,
            builtins,
            calls,
            setting,
            root_variables,
            memos: RwLock::default(),
            whole_calls: RwLock::default(),
            provider_elements: RwLock::default(),
            in_test: None,
        }
    }

    /// The same, within a test.
    #[must_use]
    pub fn in_test(mut self, test: InTest) -> Self {
        self.in_test = Some(test);
        self
    }

    /// What the test around it says, if there is one.
    pub(crate) fn test(&self) -> Option<&InTest> {
        self.in_test.as_ref()
    }

    /// The outputs that stand in the place of a module's instance.
    pub(crate) fn stand_in(&self, instance: &ModuleInstance) -> Option<Value> {
        (self.in_test.as_ref()?.modules)(instance)
    }

    /// The root module as a test sees it: with outputs, and with what the test itself has.
    pub fn test_scope<'e>(&'e self, root: &'e ModuleInstance) -> ModuleScope<'e> {
        self.scope(root).of_test()
    }

    /// The configuration.
    pub fn configuration(&self) -> &Arc<Configuration> {
        &self.configuration
    }

    /// What is known of its objects.
    pub fn objects(&self) -> &Arc<Objects> {
        &self.objects
    }

    /// Answers of provider functions.
    pub fn calls(&self) -> &Arc<Calls> {
        &self.calls
    }

    /// What time it is.
    pub fn now(&self) -> std::time::SystemTime {
        self.builtins.now()
    }

    /// What surrounds the configuration.
    pub fn setting(&self) -> &Setting {
        &self.setting
    }

    /// The module that an instance is of.
    pub fn module(&self, instance: &ModuleInstance) -> Option<&Arc<Module>> {
        self.configuration.module(&instance.path())
    }

    /// The functions that can be called in a module.
    pub fn functions<'e>(&'e self, module: &'e Module) -> ModuleFunctions<'e> {
        ModuleFunctions::new(&self.builtins, &self.calls, module)
    }

    /// The place in a module instance where nothing is repeated.
    pub fn scope<'e>(&'e self, module: &'e ModuleInstance) -> ModuleScope<'e> {
        ModuleScope::new(self, module, RepetitionData::default())
    }

    /// The repetition data of one instance of a resource.
    pub fn repetition(
        &self,
        resource: &AbsResource,
        repetition: &Repetition,
        expansion: &Expansion,
        key: &InstanceKey,
    ) -> RepetitionData {
        let expansion = match expansion {
            Expansion::Keys(_) => {
                let now = self.expand_again(&resource.module, repetition, expansion);
                if now.is_settled() {
                    self.objects.set_expansion(resource, now.clone());
                }
                now
            }
            known => known.clone(),
        };
        data_of(&expansion, key)
    }

    /// The repetition data of one instance of a module call.
    pub(crate) fn call_repetition(
        &self,
        parent: &ModuleInstance,
        call: &ModuleCall,
        key: &InstanceKey,
    ) -> RepetitionData {
        if self.setting.validating && call.repetition.is_repeated() {
            return RepetitionData::unknown();
        }
        let Some(expansion) = self.objects.call_expansion(parent, &call.name) else {
            return self.configured_repetition(parent, &call.repetition, key);
        };
        let expansion = match expansion {
            Expansion::Keys(_) => {
                let now = self.expand_again(parent, &call.repetition, &expansion);
                if now.is_settled() {
                    self.objects.set_call(parent, &call.name, now.clone());
                }
                now
            }
            known => known,
        };
        data_of(&expansion, key)
    }

    /// The repetition data of an instance as the configuration says now, whichever instances the run
    /// has: of one that is not configured, what its key tells, the rest unknown.
    pub fn configured_repetition(
        &self,
        module: &ModuleInstance,
        repetition: &Repetition,
        key: &InstanceKey,
    ) -> RepetitionData {
        let (Repetition::ForEach(_), Some(m)) = (repetition, self.module(module)) else {
            return data_of(&Expansion::Single, key);
        };
        let functions = self.functions(m);
        let mut reading = Reading::new();
        let scope = self.scope(module);
        match on_deep_stack(|| expand(repetition, &scope, &functions, &mut reading)) {
            Repeated::Known(now) if reading.is_good() => data_of(&now, key),
            _ => data_of(&Expansion::Keys(Arc::default()), key),
        }
    }

    /// Whether the configuration has, or may come to have, an instance of a block with this repetition.
    pub fn may_have(&self, address: &AbsResourceInstance, repetition: &Repetition) -> bool {
        let mut module = ModuleInstance::root();
        for step in address.module.steps() {
            let calls = self.module(&module).map(|m| &m.calls);
            let Some(call) = calls.and_then(|calls| calls.get(&step.name)) else {
                return false;
            };
            if !self.may_repeat(&module, &call.repetition, &step.key) {
                return false;
            }
            module = module.child(&step.name, step.key.clone());
        }
        self.may_repeat(&module, repetition, &address.key)
    }

    fn may_repeat(
        &self,
        module: &ModuleInstance,
        repetition: &Repetition,
        key: &InstanceKey,
    ) -> bool {
        let Some(m) = self.module(module) else {
            return false;
        };
        let functions = self.functions(m);
        let mut reading = Reading::new();
        let scope = self.scope(module);
        match on_deep_stack(|| expand(repetition, &scope, &functions, &mut reading)) {
            Repeated::Known(now) if reading.is_good() => now.has(key),
            _ => true,
        }
    }

    /// Evaluates for_each again where a plan has kept its keys only. Its values count if the keys are
    /// still those of the plan; nothing else may come of it.
    fn expand_again(
        &self,
        module: &ModuleInstance,
        repetition: &Repetition,
        planned: &Expansion,
    ) -> Expansion {
        let Some(m) = self.module(module) else {
            return planned.clone();
        };
        let functions = self.functions(m);
        let mut reading = Reading::new();
        let scope = self.scope(module);
        match on_deep_stack(|| expand(repetition, &scope, &functions, &mut reading)) {
            Repeated::Known(now) if reading.is_good() && now.keys() == planned.keys() => now,
            _ => planned.clone(),
        }
    }

    /// All instances of a module path that there are, in order. An instance below a call whose
    /// instances are not known is left out, and so is one that a test puts something in the place of.
    pub fn module_instances(&self, path: &formwork_addresses::ModulePath) -> Vec<ModuleInstance> {
        let mut instances = vec![ModuleInstance::root()];
        for name in path.names() {
            let mut next = Vec::with_capacity(instances.len());
            for instance in &instances {
                let expansion = self
                    .objects
                    .call_expansion(instance, name)
                    .unwrap_or(Expansion::Unknown);
                next.extend(
                    expansion
                        .keys()
                        .into_iter()
                        .map(|k| instance.child(name, k))
                        .filter(|i| self.stand_in(i).is_none()),
                );
            }
            instances = next;
        }
        instances
    }

    /// The value of a variable, evaluated by now.
    pub fn variable(&self, module: &ModuleInstance, name: &str) -> Arc<Memo> {
        self.settle(Named::Variable, module, name)
    }

    /// The value of a local.
    pub fn local(&self, module: &ModuleInstance, name: &str) -> Arc<Memo> {
        self.settle(Named::Local, module, name)
    }

    /// The value of an output, of the root module or another.
    pub fn output(&self, module: &ModuleInstance, name: &str) -> Arc<Memo> {
        self.settle(Named::Output, module, name)
    }

    fn settle(&self, named: Named, module: &ModuleInstance, name: &str) -> Arc<Memo> {
        let mut pending = Vec::new();
        self.memo(named, module, name, &mut pending)
            .unwrap_or_else(|| Arc::new(Memo::new(Value::dynamic(), Diagnostics::new())))
    }

    pub(crate) fn variable_in(
        &self,
        module: &ModuleInstance,
        name: &str,
        reading: &mut Vec<formwork_eval::CallId>,
    ) -> Value {
        self.memo(Named::Variable, module, name, reading)
            .map_or_else(Value::dynamic, |m| m.value.clone())
    }

    pub(crate) fn local_in(
        &self,
        module: &ModuleInstance,
        name: &str,
        reading: &mut Vec<formwork_eval::CallId>,
    ) -> Value {
        self.memo(Named::Local, module, name, reading)
            .map_or_else(Value::dynamic, |m| m.value.clone())
    }

    pub(crate) fn output_in(
        &self,
        module: &ModuleInstance,
        name: &str,
        reading: &mut Vec<formwork_eval::CallId>,
    ) -> Value {
        self.memo(Named::Output, module, name, reading)
            .map_or_else(Value::dynamic, |m| m.value.clone())
    }

    /// The remembered value, made if it is not there; `None` if calls must be answered first, which
    /// are then in `pending`.
    fn memo(
        &self,
        named: Named,
        module: &ModuleInstance,
        name: &str,
        pending: &mut Vec<formwork_eval::CallId>,
    ) -> Option<Arc<Memo>> {
        let key: Key = (named, module.clone(), Arc::from(name));
        if let Some(memo) = self
            .memos
            .read()
            .unwrap_or_else(PoisonError::into_inner)
            .get(&key)
        {
            return Some(memo.clone());
        }
        let mut reading = Reading::new();
        let value = on_deep_stack(|| match named {
            Named::Variable => self.evaluate_variable(module, name, &mut reading),
            Named::Local => self.evaluate_local(module, name, &mut reading),
            Named::Output => self.evaluate_output(module, name, &mut reading),
        });
        if !module.is_root() {
            let word = match named {
                Named::Variable => "var",
                Named::Local => "local",
                Named::Output => "output",
            };
            let address = format!("{module}.{word}.{name}");
            reading.diagnostics.default_address(address);
        }
        if !reading.pending.is_empty() {
            pending.extend(reading.pending);
            return None;
        }
        let known = value.is_wholly_known();
        let memo = Arc::new(Memo::new(value, reading.diagnostics));
        if self.setting.applying && !known && !memo.has_errors() {
            // Asked for before everything that it refers to is done, by somebody who needs only what
            // is known of it already. What is unknown now must not be remembered.
            return Some(memo);
        }
        // Another task may have been quicker; then its memo is the one whose diagnostics count.
        let mut memos = self.memos.write().unwrap_or_else(PoisonError::into_inner);
        Some(memos.entry(key).or_insert(memo).clone())
    }

    /// The elements of a provider block's for_each, if they are remembered.
    pub(crate) fn known_provider_elements(&self, block: &AbsProviderConfig) -> Option<Elements> {
        let all = self
            .provider_elements
            .read()
            .unwrap_or_else(PoisonError::into_inner);
        all.get(block).cloned()
    }

    /// Remembers them, unless parts of them are to become known.
    pub(crate) fn keep_provider_elements(&self, block: AbsProviderConfig, elements: &Elements) {
        if !self.setting.applying || elements.values().all(Value::is_wholly_known) {
            let mut all = self
                .provider_elements
                .write()
                .unwrap_or_else(PoisonError::into_inner);
            all.insert(block, elements.clone());
        }
    }

    /// All instances of a call as one value, if that is remembered.
    pub(crate) fn whole_call(&self, module: &ModuleInstance, name: &Arc<str>) -> Option<Value> {
        let all = self
            .whole_calls
            .read()
            .unwrap_or_else(PoisonError::into_inner);
        all.get(&(module.clone(), name.clone())).cloned()
    }

    /// Remembers it, unless it is to become another one. While planning, what is referred to has its
    /// final value, unknown parts included; while applying, unknown parts become known.
    pub(crate) fn keep_whole_call(&self, module: &ModuleInstance, name: &Arc<str>, whole: &Value) {
        // The outputs in it are remembered by the same rule.
        if whole.is_wholly_known() || !self.setting.applying {
            let mut all = self
                .whole_calls
                .write()
                .unwrap_or_else(PoisonError::into_inner);
            all.insert((module.clone(), name.clone()), whole.clone());
        }
    }

    /// Makes sure that a variable, local or output is remembered, fetching what it must wait for.
    pub async fn prepare_variable(&self, module: &ModuleInstance, name: &str) -> Arc<Memo> {
        self.prepare(Named::Variable, module, name).await
    }

    /// The same for a local.
    pub async fn prepare_local(&self, module: &ModuleInstance, name: &str) -> Arc<Memo> {
        self.prepare(Named::Local, module, name).await
    }

    /// The same for an output.
    pub async fn prepare_output(&self, module: &ModuleInstance, name: &str) -> Arc<Memo> {
        self.prepare(Named::Output, module, name).await
    }

    async fn prepare(&self, named: Named, module: &ModuleInstance, name: &str) -> Arc<Memo> {
        loop {
            let mut pending = Vec::new();
            if let Some(memo) = self.memo(named, module, name, &mut pending) {
                return memo;
            }
            self.calls.fetch(&pending).await;
        }
    }

    fn evaluate_variable(
        &self,
        module: &ModuleInstance,
        name: &str,
        reading: &mut Reading,
    ) -> Value {
        let Some(variable) = self.module(module).and_then(|m| m.variables.get(name)) else {
            return Value::dynamic();
        };
        let Some(parent) = module.parent() else {
            let value = self.root_variables.get(name).cloned();
            return value.unwrap_or_else(|| {
                Value::unknown(variable.constraint.ty.without_optional())
                    .with_marks(&variable.marks())
            });
        };
        let call_name = module
            .steps()
            .last()
            .map(|s| s.name.clone())
            .unwrap_or_else(|| Arc::from(""));
        let Some(parent_module) = self.module(&parent) else {
            return Value::dynamic();
        };
        let Some(call) = parent_module.calls.get(&call_name) else {
            return Value::dynamic();
        };
        let Some(argument) = call.argument(name) else {
            let default = variable.default.clone();
            return default
                .unwrap_or_else(Value::dynamic)
                .with_marks(&variable.marks());
        };
        let repetition = self.call_repetition(&parent, call, module.key());
        let scope = ModuleScope::new(self, &parent, repetition);
        let functions = self.functions(parent_module);
        let before = reading.diagnostics.error_count();
        let said = reading.diagnostics.len();
        let value = scope.read(&argument.expression, &functions, reading);
        if reading.diagnostics.error_count() > before {
            return Value::unknown(variable.constraint.ty.without_optional())
                .with_marks(&variable.marks());
        }
        let outlived = !variable.ephemeral && value.all_marks().is_ephemeral();
        let unset = value.is_null() && !variable.nullable;
        match bring(variable, value) {
            Ok(value) => value,
            Err(why) => {
                reading.say(
                    Diagnostic::error(
                        if outlived {
                            "Ephemeral value not allowed"
                        } else if unset {
                            "Required variable not set"
                        } else {
                            "Invalid value for input variable"
                        },
                        format!(
                            "The value given for the variable \"{name}\" of module.{call_name} does \
                             not fit its declaration: {why}."
                        ),
                    )
                    .at(argument.expression.range()),
                );
                reading.explain_since(said, &argument.expression, &scope);
                Value::unknown(variable.constraint.ty.without_optional())
                    .with_marks(&variable.marks())
            }
        }
    }

    fn evaluate_local(&self, module: &ModuleInstance, name: &str, reading: &mut Reading) -> Value {
        let Some(m) = self.module(module) else {
            return Value::dynamic();
        };
        let Some(local) = m.locals.get(name) else {
            return Value::dynamic();
        };
        let functions = self.functions(m);
        self.scope(module)
            .read(&local.expression, &functions, reading)
    }

    fn evaluate_output(&self, module: &ModuleInstance, name: &str, reading: &mut Reading) -> Value {
        let Some(m) = self.module(module) else {
            return Value::dynamic();
        };
        let Some(output) = m.outputs.get(name) else {
            return Value::dynamic();
        };
        let functions = self.functions(m);
        let before = reading.diagnostics.error_count();
        let said = reading.diagnostics.len();
        let mut value = self
            .scope(module)
            .read(&output.expression, &functions, reading);
        let failed = reading.diagnostics.error_count() > before;
        if let Some(constraint) = &output.constraint
            && !failed
        {
            match constraint.apply(value.clone()) {
                Ok(v) => value = v,
                Err(e) => {
                    reading.say(
                        Diagnostic::error(
                            "Invalid output value",
                            format!(
                                "The value of output \"{name}\" is not of its declared type: {e}."
                            ),
                        )
                        .at(output.expression.range()),
                    );
                    value = Value::unknown(constraint.ty.without_optional());
                }
            }
        }
        let marks = value.all_marks();
        let root = module.is_root();
        if root && marks.is_sensitive() && !output.sensitive {
            let mut d = Diagnostic::error(
                "Output refers to sensitive values",
                format!(
                    "The value of output \"{name}\" holds something sensitive, so the output would \
                     show it. If that is meant, set sensitive = true, which keeps it off the \
                     terminal; to publish a part that is no secret, wrap it in nonsensitive()."
                ),
            )
            .at(output.range);
            d.values = formwork_eval::explain(&output.expression, &self.scope(module));
            reading.say(d);
        }
        if marks.is_ephemeral() && !output.ephemeral {
            reading.say(
                Diagnostic::error(
                    "Ephemeral value not allowed",
                    format!(
                        "The value of output \"{name}\" lives for this run only and cannot be kept; \
                         {}",
                        if root { "outputs of the root module are." } else { "set ephemeral = true to hand it on." }
                    ),
                )
                .at(output.expression.range()),
            );
        }
        if output.ephemeral && !marks.is_ephemeral() && !failed && !root {
            reading.say(
                Diagnostic::error(
                    "Value not allowed in ephemeral output",
                    format!(
                        "Output \"{name}\" is for what lives for this run only, but its value does not. \
                         Leave ephemeral = true out, or mark the value by an ephemeral variable or \
                         resource."
                    ),
                )
                .at(output.expression.range()),
            );
        }
        reading.explain_since(said, &output.expression, &self.scope(module));
        let mut more = Marks::default();
        if output.sensitive {
            more.insert(Mark::Sensitive);
        }
        if output.ephemeral {
            more.insert(Mark::Ephemeral);
        }
        value.with_marks(&more)
    }
}

/// What `count.index`, `each.key` and `each.value` are for one instance.
fn data_of(expansion: &Expansion, key: &InstanceKey) -> RepetitionData {
    match (expansion, key) {
        (_, InstanceKey::Int(n)) => RepetitionData {
            count_index: Some(Value::int(*n)),
            ..RepetitionData::default()
        },
        (Expansion::ForEach(map), InstanceKey::Text(k)) => RepetitionData {
            each_key: Some(Value::shared_string(k.clone())),
            each_value: Some(map.get(k).cloned().unwrap_or_else(Value::dynamic)),
            ..RepetitionData::default()
        },
        (_, InstanceKey::Text(k)) => RepetitionData {
            each_key: Some(Value::shared_string(k.clone())),
            each_value: Some(Value::dynamic()),
            ..RepetitionData::default()
        },
        (Expansion::Unknown, _) => RepetitionData::unknown(),
        _ => RepetitionData::default(),
    }
}

/// Brings a value given for a variable to what the declaration wants: null for a variable that is not
/// nullable becomes the default, defaults of optional attributes are filled in, marks are put on.
pub(crate) fn bring(variable: &InputVariable, value: Value) -> Result<Value, String> {
    let value = if value.is_null() && !variable.nullable {
        match &variable.default {
            Some(default) => default.clone(),
            None => return Err("null is not allowed, and there is no default".to_owned()),
        }
    } else {
        variable
            .constraint
            .apply(value)
            .map_err(|e| e.to_string())?
    };
    if !variable.ephemeral && value.all_marks().is_ephemeral() {
        return Err(
            "it lives for this run only, and the variable is not declared ephemeral".to_owned(),
        );
    }
    Ok(value.with_marks(&variable.marks()))
}
