//! Static places: sources and versions of modules and providers, the language's own version, where
//! state is kept, how it is encrypted.
//!
//! Where such an argument is computed, what it comes to depends on where its module stands in the tree.
//! The module at such a path is a copy in which the arguments have come to what they are there, so that
//! nobody after loading sees the difference. Modules in which nothing is computed stay shared.

use crate::configuration::Configuration;
use crate::module::Module;
use crate::provider::{ComputedRequirement, ProviderRequirement, constraints, twin};
use crate::statics::{StaticPlace, Statics};
use formwork_addresses::ModulePath;
use formwork_diagnostics::{Diagnostic, Diagnostics, SourceRange};
use formwork_syntax::{
    Attribute, Block, Body, Expression, ExpressionKind, ObjectItem, ObjectKey, UnaryOperator,
    on_deep_stack,
};
use formwork_values::{Kind, Value};
use std::sync::Arc;

impl Module {
    /// Whether anything must be evaluated before the module can take its place at a path.
    pub(crate) fn has_static_places(&self, path: &ModulePath) -> bool {
        self.calls.values().any(|c| c.computed.is_some())
            || self.requirements.values().any(|r| !r.computed.is_nothing())
            || !self.computed_versions.is_empty()
            || self.variables.values().any(|v| v.constant == Some(true))
            || path.is_root()
                && (self.encryption.is_some()
                    || self.backend.as_ref().is_some_and(|b| is_computed(&b.body)))
    }
}

fn is_computed(body: &Body) -> bool {
    body.attributes().iter().any(|a| a.expression.is_computed())
        || body
            .blocks()
            .iter()
            .any(|b| on_deep_stack(|| is_computed(&b.body)))
}

/// The module as it is at a path, at which `configuration` has it as it is written.
pub(crate) fn resolved(
    configuration: &Configuration,
    path: &ModulePath,
    module: &Module,
    statics: &Statics<'_>,
    diagnostics: &mut Diagnostics,
) -> Module {
    let mut r = Resolver {
        configuration,
        path,
        statics,
        diagnostics,
    };
    let mut module = module.clone();
    r.constants(&module);
    for a in std::mem::take(&mut module.computed_versions) {
        let place = StaticPlace::of("The argument required_version");
        if let Some(given) = r.text(&place, &a.expression) {
            let level = configuration.level.clone();
            r.explained(&a.expression, |d| {
                module.require_version(&given, &a, &level, d)
            });
        }
    }
    r.requirements(&mut module);
    r.calls(&mut module);
    if path.is_root() {
        if let Some(b) = &mut module.backend {
            let what = match &*b.kind {
                "cloud" => "The cloud block".to_owned(),
                kind => format!("The configuration of the backend \"{kind}\""),
            };
            let place = StaticPlace {
                can_wait: true,
                ..StaticPlace::of(&what)
            };
            b.body = r.body(&place, &b.body);
        }
        if let Some(b) = &mut module.encryption {
            let place = StaticPlace {
                takes_secrets: true,
                can_wait: true,
                own_roots: &["key_provider", "method"],
                ..StaticPlace::of("The encryption block")
            };
            b.body = r.body(&place, &b.body);
        }
    }
    module
}

struct Resolver<'r, 's> {
    configuration: &'r Configuration,
    path: &'r ModulePath,
    statics: &'r Statics<'s>,
    diagnostics: &'r mut Diagnostics,
}

impl Resolver<'_, '_> {
    fn text(&mut self, place: &StaticPlace<'_>, e: &Expression) -> Option<Arc<str>> {
        let all = &mut *self.diagnostics;
        self.statics
            .text(self.configuration, self.path, place, e, all)
    }

    fn value(&mut self, place: &StaticPlace<'_>, e: &Expression) -> Option<Value> {
        let all = &mut *self.diagnostics;
        self.statics
            .evaluate(self.configuration, self.path, place, e, all)
    }

    /// Does something with a value that has come of an expression; what is said about it names what
    /// the expression's references stand for.
    fn explained<T>(&mut self, e: &Expression, f: impl FnOnce(&mut Diagnostics) -> T) -> T {
        let mut said = Diagnostics::new();
        let done = f(&mut said);
        for mut d in said {
            d.values = self.statics.explain(self.configuration, self.path, e);
            self.diagnostics.push(d);
        }
        done
    }

    /// What is given for a variable that says `const` must be known by now.
    fn constants(&mut self, module: &Module) {
        let Some((_, call)) = self.configuration.call_of(self.path) else {
            return;
        };
        let constants = module
            .variables
            .values()
            .filter(|v| v.constant == Some(true));
        let given = constants.filter_map(|v| Some((v, call.argument(&v.name)?)));
        let Some(parent) = self.path.parent() else {
            return;
        };
        for (v, a) in given {
            let what = format!(
                "The variable \"{}\" of {}, which says const = true,",
                v.name, self.path
            );
            self.statics.evaluate(
                self.configuration,
                &parent,
                &StaticPlace::of(&what),
                &a.expression,
                self.diagnostics,
            );
        }
    }

    fn calls(&mut self, module: &mut Module) {
        for call in module.calls.values_mut() {
            let Some(computed) = call.computed.take() else {
                continue;
            };
            let source = format!("The source of module \"{}\"", call.name);
            let given = self.text(&StaticPlace::of(&source), &computed.source);
            let source = given.map(|t| (t, computed.source.range()));
            let version = computed.version.as_ref().and_then(|e| {
                let what = format!("The version of module \"{}\"", call.name);
                let given = self.text(&StaticPlace::of(&what), e)?;
                Some((given, e.range()))
            });
            self.explained(&computed.source, |d| call.settle(source, version, d));
        }
    }

    fn requirements(&mut self, module: &mut Module) {
        let computed: Vec<Arc<str>> = module
            .requirements
            .values()
            .filter(|r| !r.computed.is_nothing())
            .map(|r| r.local_name.clone())
            .collect();
        for name in computed {
            let Some(mut r) = module.requirements.remove(&name) else {
                continue;
            };
            let ComputedRequirement {
                whole,
                source,
                version,
            } = std::mem::take(&mut r.computed);
            if let Some(e) = whole {
                self.whole_requirement(&mut r, &e);
            }
            if let Some(e) = source {
                let what = format!("The source of the required provider \"{name}\"");
                if let Some(given) = self.text(&StaticPlace::of(&what), &e) {
                    self.explained(&e, |d| r.settle_source(&given, e.range(), d));
                }
            }
            if let Some(e) = version {
                let what = format!("The version of the required provider \"{name}\"");
                if let Some(given) = self.text(&StaticPlace::of(&what), &e) {
                    r.version = self.explained(&e, |d| constraints(&given, e.range(), d));
                }
            }
            self.diagnostics.extend(twin(&module.requirements, &r));
            module.requirements.insert(name, r);
        }
    }

    /// A requirement that is one expression: text is a version, an object is what would be written.
    fn whole_requirement(&mut self, r: &mut ProviderRequirement, e: &Expression) {
        let what = format!("The required provider \"{}\"", r.local_name);
        let Some(value) = self.value(&StaticPlace::of(&what), e) else {
            return;
        };
        let range = e.range();
        if let Some(given) = value.as_str() {
            r.version = self.explained(e, |d| constraints(given, range, d));
            return;
        }
        let entries = match value.kind() {
            Kind::Object(ty, values) => ty.iter().map(|(n, _)| n).zip(values).collect(),
            Kind::Map(entries) => entries.iter().map(|(k, v)| (k, v)).collect(),
            _ => Vec::new(),
        };
        let known = |(n, v): &(&Arc<str>, &Value)| {
            matches!(&***n, "source" | "version") && v.as_str().is_some()
        };
        if entries.is_empty() || !entries.iter().all(known) {
            self.explained(e, |d| {
                d.push(
                    Diagnostic::error(
                        "Invalid required_providers object",
                        "A required provider is described by an object with a source and a version \
                         and nothing else, both of them text.",
                    )
                    .at(range),
                );
            });
            return;
        }
        for (name, value) in entries {
            let given = value.as_str().unwrap_or_default();
            if &**name == "source" {
                self.explained(e, |d| r.settle_source(given, range, d));
            } else {
                r.version = self.explained(e, |d| constraints(given, range, d));
            }
        }
    }

    /// A body in which each computed argument stands as the value it has come to. What has none stays
    /// as it is written.
    fn body(&mut self, place: &StaticPlace<'_>, body: &Body) -> Body {
        let attributes = body
            .attributes()
            .iter()
            .map(|a| {
                if !a.expression.is_computed() {
                    return a.clone();
                }
                let value = self.value(place, &a.expression);
                match value.filter(Value::is_wholly_known) {
                    Some(value) => Attribute {
                        expression: literal(&value, a.expression.range()),
                        ..a.clone()
                    },
                    None => a.clone(),
                }
            })
            .collect();
        let blocks = body
            .blocks()
            .iter()
            .map(|b| Block {
                body: on_deep_stack(|| self.body(place, &b.body)),
                ..b.clone()
            })
            .collect();
        Body::new(attributes, blocks, body.range(), body.missing_item_range())
    }
}

/// A known value without marks, as it would be written.
fn literal(value: &Value, range: SourceRange) -> Expression {
    let all = |values: &[Value]| values.iter().map(|v| literal(v, range)).collect();
    let item = |(key, value): (&Arc<str>, &Value)| ObjectItem {
        key: ObjectKey::Expression(Expression::new(ExpressionKind::String(key.clone()), range)),
        value: literal(value, range),
    };
    let kind = match value.kind() {
        Kind::Bool(b) => ExpressionKind::Bool(b),
        Kind::Number(n) => match n.to_string().strip_prefix('-') {
            None => ExpressionKind::Number(Arc::from(n.to_string())),
            Some(digits) => ExpressionKind::Unary {
                operator: UnaryOperator::Negate,
                operator_range: range,
                operand: Expression::new(ExpressionKind::Number(Arc::from(digits)), range),
            },
        },
        Kind::String(s) => ExpressionKind::String(s.clone()),
        Kind::List(v) | Kind::Set(v) | Kind::Tuple(v) => ExpressionKind::Tuple(all(v)),
        Kind::Map(entries) => {
            ExpressionKind::Object(entries.iter().map(|(k, v)| item((k, v))).collect())
        }
        Kind::Object(ty, values) => {
            ExpressionKind::Object(ty.iter().map(|(n, _)| n).zip(values).map(item).collect())
        }
        // Known and unmarked is what was asked for.
        Kind::Null(_) | Kind::Unknown(_) | Kind::Marked(..) => ExpressionKind::Null,
    };
    Expression::new(kind, range)
}
