//! What can be said of a configuration without values and schemas.
//!
//! - Every reference names something that is declared, and something that exists where it stands
//!   (`count.index` needs a count, `self` an object, a resource with instances a key).
//! - Every module call gives its module the variables that it must have and no others.
//! - Provider configurations that are named exist, and are of the right provider.
//! - Some blocks belong in the root module only.
//!
//! A module that is called several times is checked once. Outputs of modules are not looked up here:
//! `try(module.x.y, null)` is a legitimate question, and evaluation answers it.

use crate::check::CheckRule;
use crate::configuration::{Configuration, ProviderKey, ResolvedProvider};
use crate::module::Module;
use crate::module_call::{ModuleCall, PassedProvider};
use crate::refactoring::{MoveTarget, RemovedBlock};
use crate::references::{FoundReference, body_references, expression_references};
use crate::resource::{Provisioner, ProvisionerTime, Repetition, ResourceBlock};
use crate::shape::{missing_argument, suggest, unsupported_argument};
use formwork_addresses::{
    InstanceKey, LocalProviderConfig, ModuleInstance, ModulePath, Resource, ResourceMode, Subject,
};
use formwork_diagnostics::{Diagnostic, Diagnostics, SourceRange};
use formwork_syntax::{Body, Expression, Step};
use std::collections::BTreeSet;
use std::sync::Arc;

/// What may be named where an expression stands, besides what the module declares.
#[derive(Clone, Copy, Default)]
struct Place<'a> {
    count: bool,
    each: bool,
    object: bool,
    /// The check block around, whose data source can be named.
    check: Option<&'a str>,
}

impl Place<'_> {
    fn repeated(repetition: &Repetition) -> Self {
        Self {
            count: matches!(repetition, Repetition::Count(_)),
            each: matches!(repetition, Repetition::ForEach(_)),
            ..Self::default()
        }
    }

    fn with_object(self) -> Self {
        Self {
            object: true,
            ..self
        }
    }
}

impl Configuration {
    /// An error for each `removed` block whose resource or module is declared all the same. Such a
    /// configuration can be checked, but neither planned nor applied.
    pub fn removal_conflicts(&self) -> Diagnostics {
        let mut diagnostics = Diagnostics::new();
        for (path, module) in self.modules() {
            for removed in &module.removed {
                let (what, declared) = match &removed.from {
                    MoveTarget::Resource(r) => (
                        "resource",
                        self.module(&path_within(path, &r.module))
                            .and_then(|m| m.resources.get(&r.resource))
                            .map(|r| r.range),
                    ),
                    MoveTarget::Module(m) => (
                        "module",
                        self.call_of(&path_within(path, m)).map(|(_, c)| c.range),
                    ),
                };
                if let Some(range) = declared {
                    diagnostics.push(
                        Diagnostic::error(
                            format!("Removed {what} still exists"),
                            format!(
                                "A removed block says that {} is gone, but it is declared here. \
                                 Remove its declaration, or the removed block.",
                                removed.from
                            ),
                        )
                        .at(range),
                    );
                }
            }
        }
        diagnostics
    }

    /// The `removed` block that speaks of a resource which is not configured; the nearest, if
    /// several do.
    pub fn removal_of(&self, module: &ModulePath, resource: &Resource) -> Option<&RemovedBlock> {
        let mut found: Option<(usize, &RemovedBlock)> = None;
        for (path, m) in self.modules() {
            for removed in &m.removed {
                let reach = match &removed.from {
                    MoveTarget::Resource(r) => {
                        let same =
                            r.resource == *resource && path_within(path, &r.module) == *module;
                        same.then_some(usize::MAX)
                    }
                    MoveTarget::Module(inner) => {
                        let outer = path_within(path, inner);
                        module.is_within(&outer).then(|| outer.names().len())
                    }
                };
                if let Some(reach) = reach
                    && found.is_none_or(|(best, _)| best < reach)
                {
                    found = Some((reach, removed));
                }
            }
        }
        found.map(|(_, r)| r)
    }
}

/// The path of a module named from within another.
pub(crate) fn path_within(within: &ModulePath, inner: &ModuleInstance) -> ModulePath {
    inner
        .steps()
        .iter()
        .fold(within.clone(), |p, s| p.child(&s.name))
}

/// Checks every module.
pub(crate) fn check(configuration: &Configuration, diagnostics: &mut Diagnostics) {
    for (path, module) in configuration.distinct_modules() {
        let mut c = Checker {
            configuration,
            path,
            module,
            diagnostics,
        };
        c.module();
    }
}

/// What is wrong with the keys chosen on the way to a provider block.
pub fn provider_key_mistake(resolved: &ResolvedProvider, repeated: bool) -> Option<Diagnostic> {
    let config = &resolved.config;
    let detail = match (repeated, &resolved.keys[..]) {
        (true, [_]) | (false, []) => return None,
        (true, []) => format!(
            "The block of {config} has for_each, so there are several configurations. Say which is \
             meant by a key, as in {}[each.key], here or in the \"providers\" argument of the \
             module's call.",
            config.alias.as_ref().map_or_else(
                || config.provider.kind.to_string(),
                |a| format!("{}.{a}", config.provider.kind)
            )
        ),
        (true, _) => format!(
            "Which configuration of {config} is meant has been chosen already where it was handed in, \
             and is chosen here once more. Leave one of the keys out."
        ),
        (false, _) => format!(
            "A key chooses one of the configurations that a provider block with for_each makes, but \
             that of {config} makes one only. Leave the key out."
        ),
    };
    Some(Diagnostic::error("Invalid provider instance key", detail))
}

struct Checker<'a> {
    configuration: &'a Configuration,
    path: &'a ModulePath,
    module: &'a Arc<Module>,
    diagnostics: &'a mut Diagnostics,
}

impl Checker<'_> {
    fn module(&mut self) {
        let module = self.module.clone();
        self.root_only(&module);
        for v in module.variables.values() {
            self.rules(&v.validations, Place::default());
        }
        for l in module.locals.values() {
            self.expression(&l.expression, Place::default());
        }
        for o in module.outputs.values() {
            self.expression(&o.expression, Place::default());
            self.rules(&o.preconditions, Place::default());
            self.static_references(&o.depends_on, Place::default());
        }
        for call in module.calls.values() {
            self.call(call);
        }
        for r in module.resources.values() {
            self.resource(r, Place::repeated(&r.repetition));
        }
        for p in module.providers.values() {
            p.for_each
                .iter()
                .for_each(|e| self.expression(e, Place::default()));
            let place = Place {
                each: p.for_each.is_some(),
                ..Place::default()
            };
            self.body(&p.body, place);
        }
        for c in module.checks.values() {
            let place = Place {
                check: Some(&c.name),
                ..Place::default()
            };
            if let Some(d) = &c.data {
                self.resource(d, place);
            }
            self.rules(&c.asserts, place);
        }
        for removed in &module.removed {
            self.destroy_provisioners(&removed.provisioners, removed.connection.as_ref());
        }
        for each in module.moved.iter().filter_map(|m| m.for_each.as_ref()) {
            self.expression(&each.each, Place::default());
            let place = Place {
                each: true,
                ..Place::default()
            };
            for key in each.from.computed_keys().chain(each.to.computed_keys()) {
                self.expression(key, place);
            }
        }
        self.imports(&module);
        for i in module.imports.iter().filter(|_| self.path.is_root()) {
            let place = Place {
                each: i.for_each.is_some(),
                ..Place::default()
            };
            i.for_each
                .iter()
                .for_each(|e| self.expression(e, Place::default()));
            for e in [&i.id, &i.identity].into_iter().flatten() {
                self.expression(e, place);
            }
            i.to.computed_keys().for_each(|e| self.expression(e, place));
        }
    }

    /// Where objects are imported to, as far as the text says.
    fn imports(&mut self, module: &Module) {
        if !self.path.is_root() {
            return;
        }
        let mut seen = BTreeSet::new();
        for i in &module.imports {
            let range = i.to.range();
            // Computed keys are another matter: evaluation knows them.
            let target = i.to.with_keys(|_| None, &mut Diagnostics::new());
            if let (None, Some(target)) = (&i.for_each, &target)
                && !seen.insert(target.to_string())
            {
                self.diagnostics.push(
                    Diagnostic::error(
                        format!("Duplicate import configuration for \"{target}\""),
                        "An import block for this object is there already. One object is imported \
                         once.",
                    )
                    .at(range),
                );
            }
            let to = &i.to_resource;
            let declared = self.configuration.module(&to.module.path());
            let block = declared.and_then(|m| m.resources.get(&to.resource));
            let keyed = matches!(
                &target,
                Some(MoveTarget::Resource(r)) if r.key != InstanceKey::None
            );
            match block {
                None if !to.module.is_root() => self.diagnostics.push(
                    Diagnostic::error(
                        "Configuration for import target does not exist",
                        format!(
                            "{to} is not declared. An object is imported to a resource that is there; \
                             only in the root module can its block be made by the import."
                        ),
                    )
                    .at(range),
                ),
                Some(b) if keyed && matches!(b.repetition, Repetition::Single) => {
                    self.diagnostics.push(
                        Diagnostic::error(
                            "Invalid import 'to' expression",
                            format!(
                                "{to} sets neither \"count\" nor \"for_each\", so its object has no \
                                 key. Leave the key out."
                            ),
                        )
                        .at(range),
                    );
                }
                Some(_) if i.provider.is_some() => self.diagnostics.push(
                    Diagnostic::error(
                        "Invalid import provider argument",
                        format!(
                            "{to} is declared, and its own block says which provider configuration it \
                             belongs to. Remove the argument here."
                        ),
                    )
                    .at_opt(i.provider.as_ref().map(|p| p.range)),
                ),
                _ => {}
            }
        }
    }

    fn root_only(&mut self, module: &Module) {
        if self.path.is_root() {
            for o in module.outputs.values().filter(|o| o.ephemeral) {
                self.diagnostics.push(
                    Diagnostic::error(
                        "Ephemeral output not allowed",
                        "The outputs of the root module are stored, and an ephemeral value never \
                         is. Only outputs of child modules can be ephemeral.",
                    )
                    .at(o.range),
                );
            }
            return;
        }
        if let Some(b) = module.backend.as_ref().filter(|b| &*b.kind != "cloud") {
            self.diagnostics.push(
                Diagnostic::warning(
                    "Backend configuration ignored",
                    "State is kept for the configuration as a whole, where its root module says. \
                     What a module that is called says about it has no effect.",
                )
                .at(b.range),
            );
        }
        for p in module
            .providers
            .values()
            .filter(|p| p.body.is_empty() && p.for_each.is_none())
        {
            self.diagnostics.push(
                Diagnostic::warning(
                    "Redundant empty provider block",
                    format!(
                        "An empty provider block in a module that is called configures nothing: it was \
                         once the way to say that a configuration is handed in. Remove it, and say so in \
                         required_providers{}.",
                        if p.local.alias.is_some() {
                            ", by configuration_aliases"
                        } else {
                            ""
                        }
                    ),
                )
                .at(p.range),
            );
        }
        for i in &module.imports {
            self.diagnostics.push(
                Diagnostic::error(
                    "Invalid import configuration",
                    format!(
                        "Objects are imported by the root module only; this block stands in {}. \
                         Move it there, and name the resource by its full address.",
                        self.path
                    ),
                )
                .at(i.range),
            );
        }
    }

    fn resource(&mut self, r: &ResourceBlock, place: Place<'_>) {
        // Whether there are instances is decided before any of them exists.
        let outside = Place {
            check: place.check,
            ..Place::default()
        };
        if let Some(e) = r.repetition.expression() {
            self.expression(e, outside);
        }
        self.body(&r.body, place);
        self.static_references(&r.depends_on, outside);
        if let Some(c) = &r.connection {
            self.body(c, place.with_object());
        }
        for p in &r.provisioners {
            self.body(&p.body, place.with_object());
            if let Some(c) = &p.connection {
                self.body(c, place.with_object());
            }
        }
        self.destroy_provisioners(&r.provisioners, r.connection.as_ref());
        if let Some(e) = &r.lifecycle.prevent_destroy {
            self.expression(e, place);
        }
        self.rules(&r.lifecycle.preconditions, place);
        self.rules(&r.lifecycle.postconditions, place.with_object());
        for (rules, kind) in [
            (&r.lifecycle.preconditions, "precondition"),
            (&r.lifecycle.postconditions, "postcondition"),
        ] {
            self.about_itself(r, rules, kind);
        }
        for e in &r.lifecycle.replace_triggered_by {
            let found = self.diagnostics.take(expression_references(e));
            self.static_references(&found, place);
        }
        if let Some(p) = &r.provider {
            self.provider(&p.local, p.range);
            p.key.iter().for_each(|k| self.expression(k, place));
        }
        let resolved = self.configuration.provider_of(self.path, r);
        let at = r.provider.as_ref().map_or(r.range, |p| p.range);
        self.provider_key(&resolved, at);
    }

    /// Whether a key is chosen for a provider block with for_each, and for no other.
    fn provider_key(&mut self, resolved: &ResolvedProvider, range: SourceRange) {
        let block = self.configuration.provider_block(&resolved.config);
        let repeated = block.is_some_and(|b| b.for_each.is_some());
        if let Some(d) = provider_key_mistake(resolved, repeated) {
            self.diagnostics.push(d.at(range));
        }
    }

    /// A condition of a resource cannot name the resource: it would wait for itself.
    fn about_itself(&mut self, r: &ResourceBlock, rules: &[CheckRule], kind: &str) {
        for rule in rules {
            for e in [&rule.condition, &rule.error_message] {
                let (found, _) = expression_references(e);
                let own = |f: &&FoundReference| match &f.reference.subject {
                    Subject::Resource(a) => *a == r.address,
                    Subject::ResourceInstance(a) => a.resource == r.address,
                    _ => false,
                };
                let Some(f) = found.iter().find(own) else {
                    continue;
                };
                let advice = if kind == "postcondition" {
                    "Write \"self\" for the object that has been made."
                } else {
                    "There is no object yet when it is checked; a postcondition can refer to it as \
                     \"self\"."
                };
                self.diagnostics.push(
                    Diagnostic::error(
                        format!("Invalid reference in {kind}"),
                        format!(
                            "A {kind} of {0} cannot refer to {0} by its address. {advice}",
                            r.address
                        ),
                    )
                    .at(f.range()),
                );
            }
        }
    }

    /// Those that run when an object is destroyed.
    fn destroy_provisioners(&mut self, all: &[Provisioner], connection: Option<&Body>) {
        for p in all.iter().filter(|p| p.when == ProvisionerTime::Destroy) {
            self.destroy_time(&p.body);
            let connection = p.connection.as_ref().or(connection);
            connection.iter().for_each(|c| self.destroy_time(c));
        }
    }

    /// When an object is destroyed its configuration may be gone, and with it all that it refers to.
    fn destroy_time(&mut self, body: &Body) {
        let (found, _) = body_references(body);
        for f in found {
            let known = matches!(
                f.reference.subject,
                Subject::SelfObject
                    | Subject::CountIndex
                    | Subject::EachKey
                    | Subject::Path(_)
                    | Subject::Terraform(_)
            );
            if !known {
                self.diagnostics.push(
                    Diagnostic::error(
                        "Invalid reference from destroy provisioner",
                        format!(
                            "What runs when an object is destroyed can refer to \"self\", \
                             \"count.index\" and \"each.key\" only, and not to {}: when the time \
                             comes it may exist no more. Keep what is needed in an attribute of \
                             the resource and read it through \"self\".",
                            f.reference.subject
                        ),
                    )
                    .at(f.range()),
                );
            }
        }
    }

    fn call(&mut self, call: &ModuleCall) {
        if let Some(e) = call.repetition.expression() {
            self.expression(e, Place::default());
        }
        let place = Place::repeated(&call.repetition);
        for a in &call.arguments {
            self.expression(&a.expression, place);
        }
        self.static_references(&call.depends_on, Place::default());
        let path = self.path.child(&call.name);
        let Some(child) = self.configuration.module(&path).cloned() else {
            return; // It could not be read, which has been said.
        };
        let names = || child.variables.keys().map(|k| &**k);
        // What is given under a wrong name is not missing besides.
        let misspelt: Vec<&str> = call
            .arguments
            .iter()
            .filter(|a| !child.variables.contains_key(&a.name))
            .filter_map(|a| formwork_diagnostics::nearest(&a.name, names()))
            .collect();
        for v in child.variables.values() {
            match call.argument(&v.name) {
                None if misspelt.contains(&&*v.name) => {}
                None if v.is_required() => self
                    .diagnostics
                    .push(missing_argument(&v.name, call.open).within(call.range)),
                Some(a) => {
                    if let Some(message) = &v.deprecated {
                        self.diagnostics.push(
                            Diagnostic::warning(
                                "Deprecated variable",
                                format!("The module deprecates this variable: {message}"),
                            )
                            .at(a.range),
                        );
                    }
                }
                None => {}
            }
        }
        for a in &call.arguments {
            if !child.variables.contains_key(&a.name) {
                self.diagnostics.push(unsupported_argument(a, names()));
            }
        }
        self.providers_of_call(call, &path, &child);
    }

    fn providers_of_call(&mut self, call: &ModuleCall, path: &ModulePath, child: &Module) {
        for p in call.providers.iter().flatten() {
            self.provider(&p.parent.local, p.parent.range);
            if let Some(key) = &p.parent.key {
                self.expression(key, Place::repeated(&call.repetition));
                let resolved = self
                    .configuration
                    .resolve_provider(self.path, &p.parent.local);
                if let Ok(mut resolved) = resolved {
                    resolved.keys.push(ProviderKey {
                        module: self.path.clone(),
                        expression: key.clone(),
                    });
                    self.provider_key(&resolved, p.parent.range);
                }
            }
            self.undefined_provider(p, path, child);
            let ours = self.module.provider_of_name(&p.parent.local.name);
            let theirs = child.provider_of_name(&p.child.name);
            if ours != theirs {
                self.diagnostics.push(
                    Diagnostic::error(
                        "Provider type mismatch",
                        format!(
                            "\"{}\" is a configuration of {} here, but \"{}\" is one of {} in {path}.",
                            p.parent.local,
                            ours.for_display(),
                            p.child,
                            theirs.for_display()
                        ),
                    )
                    .at(p.parent.range),
                );
            }
        }
        for wanted in child
            .requirements
            .values()
            .flat_map(|r| &r.configuration_aliases)
        {
            let given = call.providers.iter().flatten().any(|p| p.child == *wanted);
            if !given && !child.providers.contains_key(wanted) {
                self.diagnostics.push(
                    Diagnostic::error(
                        "Missing required provider configuration",
                        format!(
                            "The module wants a provider configuration of {} under the name \
                             \"{wanted}\". Add it to the \"providers\" argument of this block.",
                            child.provider_of_name(&wanted.name).for_display()
                        ),
                    )
                    .at(call.range),
                );
            }
        }
        // A module with provider blocks of its own cannot exist several times or wait for others:
        // its providers would have to be configured before it is known whether it exists.
        let moves = call.repetition.is_repeated() || !call.depends_on.is_empty();
        let own = if moves {
            self.configuration.configured_below(path)
        } else {
            None
        };
        if let Some(own) = own {
            self.diagnostics.push(
                Diagnostic::error(
                    "Module is incompatible with count, for_each, and depends_on",
                    format!(
                        "The module configures the provider \"{}\" itself, so it can only be called \
                         once and without conditions. Configure the provider in the root module and \
                         hand it in by \"providers\".",
                        own.local
                    ),
                )
                .at(call.range),
            );
        }
    }

    /// Warns where a provider is handed in by names that nobody has declared.
    fn undefined_provider(&mut self, p: &PassedProvider, path: &ModulePath, child: &Module) {
        let known = |m: &Module, local: &LocalProviderConfig| {
            m.requirements.contains_key(&local.name)
                || m.providers.keys().any(|k| k.name == local.name)
        };
        let warning = |name: &Arc<str>, place: String, range: SourceRange| {
            Diagnostic::warning(
                "Reference to undefined provider",
                format!(
                    "Nothing in {place} says which provider \"{name}\" is, so it is taken by its name \
                     alone. Add it to the required_providers there."
                ),
            )
            .at(range)
        };
        if !known(child, &p.child) {
            let d = warning(&p.child.name, path.to_string(), p.child_range);
            self.diagnostics.push(d);
        }
        if p.parent.local.alias.is_none() && !known(self.module, &p.parent.local) {
            let place = if self.path.is_root() {
                "the root module".to_owned()
            } else {
                self.path.to_string()
            };
            let d = warning(&p.parent.local.name, place, p.parent.range);
            self.diagnostics.push(d);
        }
    }

    /// Whether a named provider configuration exists.
    fn provider(&mut self, local: &LocalProviderConfig, range: SourceRange) {
        // What is missing further up was reported at the call that lacks it.
        let missing_here = match self.configuration.resolve_provider(self.path, local) {
            Err((path, _)) => path == *self.path,
            Ok(_) => false,
        };
        let promised = self
            .module
            .requirements
            .values()
            .any(|r| r.configuration_aliases.contains(local));
        if missing_here && !promised {
            let names: Vec<String> = self
                .module
                .providers
                .keys()
                .map(ToString::to_string)
                .collect();
            let d = Diagnostic::error(
                "Provider configuration not present",
                format!(
                    "There is no provider configuration \"{local}\" in this module. Declare it with \
                     a provider \"{}\" block that has this alias.",
                    local.name
                ),
            )
            .at(range);
            self.diagnostics.push(suggest(
                d,
                &local.to_string(),
                names.iter().map(String::as_str),
            ));
        }
    }

    fn rules(&mut self, rules: &[CheckRule], place: Place<'_>) {
        for rule in rules {
            self.expression(&rule.condition, place);
            self.expression(&rule.error_message, place);
        }
    }

    fn expression(&mut self, e: &Expression, place: Place<'_>) {
        let found = self.diagnostics.take(expression_references(e));
        self.all(&found, place);
    }

    fn body(&mut self, body: &Body, place: Place<'_>) {
        let found = self.diagnostics.take(body_references(body));
        self.all(&found, place);
    }

    fn all(&mut self, found: &[FoundReference], place: Place<'_>) {
        for f in found {
            if let Some(d) = undeclared(self.module, f, place) {
                self.diagnostics.push(d);
            }
            if let Some(d) = self.deprecated_output(f) {
                self.diagnostics.push(d);
            }
        }
    }

    /// A warning, if a reference reads an output that its module deprecates.
    fn deprecated_output(&self, f: &FoundReference) -> Option<Diagnostic> {
        let Subject::ModuleCallOutput(call, _, output) = &f.reference.subject else {
            return None;
        };
        let child = self.configuration.module(&self.path.child(call))?;
        let message = child.outputs.get(output)?.deprecated.as_ref()?;
        Some(
            Diagnostic::warning(
                "Deprecated output",
                format!("The module \"{call}\" deprecates its output \"{output}\": {message}"),
            )
            .at(f.range()),
        )
    }

    fn static_references(&mut self, found: &[FoundReference], place: Place<'_>) {
        for f in found {
            // A whole resource is meant, whether or not it has instances.
            if let Some(d) = undeclared(self.module, f, place)
                && d.summary != MISSING_KEY
            {
                self.diagnostics.push(d);
            }
        }
    }
}

const MISSING_KEY: &str = "Missing resource instance key";

/// What is wrong with a reference to something that the module would have to declare, wherever it
/// stands.
pub(crate) fn undeclared_in_module(module: &Module, f: &FoundReference) -> Option<Diagnostic> {
    let anywhere = Place {
        count: true,
        each: true,
        object: true,
        check: None,
    };
    undeclared(module, f, anywhere)
}

/// What is wrong with a reference, if anything is.
fn undeclared(module: &Module, f: &FoundReference, place: Place<'_>) -> Option<Diagnostic> {
    let error = |summary: &str, detail: String| {
        Some(Diagnostic::error(summary, detail).at(f.subject_range()))
    };
    match &f.reference.subject {
        Subject::InputVariable(n) if !module.variables.contains_key(n) => {
            let d = error(
                "Reference to undeclared input variable",
                format!("No variable \"{n}\" is declared in this module."),
            )?;
            let names = module.variables.keys().map(|k| &**k);
            let near = suggest(d, n, names);
            Some(if near.hints.is_empty() {
                near.hint(format!("To declare it, add a block: variable \"{n}\" {{}}"))
            } else {
                near
            })
        }
        Subject::LocalValue(n) if !module.locals.contains_key(n) => {
            let d = error(
                "Reference to undeclared local value",
                format!("No local value \"{n}\" is defined in this module."),
            )?;
            Some(suggest(d, n, module.locals.keys().map(|k| &**k)))
        }
        Subject::ModuleCall(n)
        | Subject::ModuleCallInstance(n, _)
        | Subject::ModuleCallOutput(n, _, _)
            if !module.calls.contains_key(n) =>
        {
            let d = error(
                "Reference to undeclared module",
                format!("No module \"{n}\" is called in this module."),
            )?;
            Some(suggest(d, n, module.calls.keys().map(|k| &**k)))
        }
        Subject::Resource(r) => resource(module, f, r, false, place),
        Subject::ResourceInstance(r) => resource(module, f, &r.resource, true, place),
        Subject::CountIndex if !place.count => error(
            "Reference to \"count\" in non-counted context",
            "\"count.index\" is the number of an instance, and has a meaning only within a block \
             that sets \"count\"."
                .to_owned(),
        ),
        Subject::EachKey | Subject::EachValue if !place.each => error(
            match &f.reference.subject {
                Subject::EachValue => "each.value cannot be used in this context",
                _ => "Reference to \"each\" in context without for_each",
            },
            "\"each\" is the element that an instance is made for, and has a meaning only within a \
             block that sets \"for_each\"."
                .to_owned(),
        ),
        Subject::SelfObject if !place.object => error(
            "Invalid \"self\" reference",
            "\"self\" is the object a block has made, and has a meaning only in its postconditions, \
             provisioners and connections."
                .to_owned(),
        ),
        Subject::OutputValue(_) | Subject::Run(_) | Subject::Check(_) => error(
            "Invalid reference",
            format!("\"{}\" has a meaning in tests only.", f.traversal.root),
        ),
        _ => None,
    }
}

/// What is wrong with a reference to a resource.
fn resource(
    module: &Module,
    f: &FoundReference,
    address: &Resource,
    keyed: bool,
    place: Place<'_>,
) -> Option<Diagnostic> {
    let scoped = module
        .scoped_resources()
        .find(|(_, r)| r.address == *address);
    let block = match (module.resources.get(address), scoped) {
        (Some(block), _) => block,
        (None, Some((check, block))) if place.check == Some(&*check.name) => block,
        (None, Some((check, _))) => {
            return Some(
                Diagnostic::error(
                    "Reference to scoped resource",
                    format!(
                        "{address} belongs to the check \"{}\", and only its assertions can refer to \
                         it.",
                        check.name
                    ),
                )
                .at(f.subject_range()),
            );
        }
        (None, None) => {
            let d = Diagnostic::error(
                "Reference to undeclared resource",
                format!(
                    "No {} resource {address} is declared in this module.",
                    address.mode.word()
                ),
            )
            .at(f
                .traversal
                .range_of(f.subject_steps.saturating_sub(usize::from(keyed))));
            return Some(near_resource(module, f, address, d));
        }
    };
    let next = f.remaining().first();
    match (&block.repetition, keyed) {
        (Repetition::Single | Repetition::Enabled(_), true) => Some(
            Diagnostic::error(
                "Unexpected resource instance key",
                format!(
                    "{address} sets neither \"count\" nor \"for_each\": there is one object, without \
                     a key. Leave the key out."
                ),
            )
            .at(f.subject_range()),
        ),
        (Repetition::Count(_), false) if matches!(next, Some(Step::Attribute { .. })) => Some(
            Diagnostic::error(
                MISSING_KEY,
                format!(
                    "{address} sets \"count\", so there may be several objects. Say which is meant, \
                     as in {address}[0] or {address}[count.index], or take all by {address}[*]."
                ),
            )
            .at(f.subject_range()),
        ),
        (Repetition::ForEach(_), false) if matches!(next, Some(Step::Attribute { .. })) => Some(
            Diagnostic::error(
                MISSING_KEY,
                format!(
                    "{address} sets \"for_each\", so there may be several objects. Say which is \
                     meant, as in {address}[each.key], or take all by values({address})."
                ),
            )
            .at(f.subject_range()),
        ),
        _ => None,
    }
}

/// With what was most likely meant as advice.
fn near_resource(
    module: &Module,
    f: &FoundReference,
    address: &Resource,
    d: Diagnostic,
) -> Diagnostic {
    for mode in [
        ResourceMode::Managed,
        ResourceMode::Data,
        ResourceMode::Ephemeral,
    ] {
        let other = Resource {
            mode,
            ..address.clone()
        };
        if module.resources.contains_key(&other) {
            return d.hint(format!("There is {other}; perhaps that is meant."));
        }
    }
    if address.mode == ResourceMode::Managed {
        let root = &*f.traversal.root;
        let name = &*address.name;
        let meant = match root {
            "locals" | "loc" => module.locals.contains_key(name).then_some("local"),
            "vars" | "variable" | "variables" | "input" | "inputs" => {
                module.variables.contains_key(name).then_some("var")
            }
            "modules" => module.calls.contains_key(name).then_some("module"),
            _ => None,
        };
        if let Some(meant) = meant {
            return d.hint(format!("Did you mean {meant}.{name}?"));
        }
        // `network.id` for `google_compute_network.network.id`
        let mut named = module.resources.keys().filter(|r| *r.name == *root);
        if let (Some(one), None) = (named.next(), named.next()) {
            return d.hint(format!(
                "There is {one}; a reference to a resource begins with its type."
            ));
        }
        if module.variables.contains_key(root) {
            return d.hint(format!("There is var.{root}; perhaps that is meant."));
        }
        if module.locals.contains_key(root) {
            return d.hint(format!("There is local.{root}; perhaps that is meant."));
        }
        if module.calls.contains_key(root) {
            return d.hint(format!("There is module.{root}; perhaps that is meant."));
        }
    }
    let names: Vec<String> = module.resources.keys().map(ToString::to_string).collect();
    let d = suggest(d, &address.to_string(), names.iter().map(String::as_str));
    if d.hints.is_empty() && matches!(&*address.name, "key" | "value") {
        return d.hint(format!(
            "If {} is meant to be the element of a dynamic block: its name is the label of that block, \
             or what \"iterator\" says.",
            f.traversal.root
        ));
    }
    d
}
