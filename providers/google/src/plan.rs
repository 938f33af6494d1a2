//! What an apply would make of an object.
//!
//! The rules are those that Terraform's providers of the second SDK follow, because configurations
//! count on them: a value that the user sets counts, unless it only spells the known one differently;
//! where the user says nothing, the default counts, else what the server filled in before stays, else
//! it is unknown until apply. A change of a field that cannot change in place asks for a new object.
//! Where null and a zero value mean the same, the known one stays.

use std::sync::Arc;

use formwork_google_schema::{Node, NodeKind, Resource, Suppress};
use formwork_provider::Reported;
use formwork_values::{Kind, Number, Path, Value};

use crate::draft::Draft;
use crate::labels;
use crate::place::Located;
use crate::same::{is_idle, is_zero, same};
use crate::settings::Settings;

/// A plan in the making.
pub(crate) struct Plan<'a> {
    pub(crate) resource: &'a Resource,
    pub(crate) settings: &'a Settings,
    pub(crate) config: &'a Value,
    /// `None` for a creation.
    pub(crate) prior: Option<&'a Value>,
    pub(crate) planned: Draft,
    pub(crate) replace: Vec<Path>,
    pub(crate) reported: Vec<Reported>,
}

impl<'a> Plan<'a> {
    /// Plans the fields by their facts alone.
    pub(crate) fn new(
        resource: &'a Resource,
        settings: &'a Settings,
        config: &'a Value,
        prior: Option<&'a Value>,
    ) -> Self {
        let mut replace = Vec::new();
        let planned = {
            let mut walk = Walk {
                replace: &mut replace,
                existing: prior.is_some(),
            };
            walk.object(
                &resource.fields,
                resource.schema.object_type(),
                config,
                prior,
                &Path::ROOT,
            )
        };
        let mut plan = Self {
            resource,
            settings,
            config,
            prior,
            planned: Draft::of(resource, &planned),
            replace,
            reported: Vec::new(),
        };
        plan.place();
        plan.deletion_policy();
        labels::plan(&mut plan);
        plan
    }

    /// The attribute as it is, if there is an object.
    pub(crate) fn before(&self, name: &str) -> Option<&'a Value> {
        self.prior.and_then(|p| p.attribute(name))
    }

    /// The attribute as configured, null and absent alike `None`.
    pub(crate) fn configured(&self, name: &str) -> Option<&'a Value> {
        self.config.attribute(name).filter(|v| !v.is_null())
    }

    /// Asks for a new object because of an attribute.
    pub(crate) fn replace(&mut self, name: &str) {
        if self.prior.is_some() {
            self.replace.push(Path::ROOT.attribute(name));
        }
    }

    /// Project, region, zone and location where the configuration does not say.
    fn place(&mut self) {
        for name in ["project", "zone", "region", "location"] {
            let Some(node) = self.resource.field(name) else {
                continue;
            };
            if !node.optional || self.configured(name).is_some() {
                continue;
            }
            // A template may be of no region, and a filestore of a zone or a location.
            let in_id = self.resource.id.contains(&format!("{{{name}}}"));
            if !in_id && name != "project" {
                continue;
            }
            let bare = Value::empty_object();
            let known = self.planned.clone().into_value();
            let located = Located {
                resource: self.resource,
                object: match name {
                    // The zone of the object decides its region.
                    "region" | "location" => &known,
                    _ => &bare,
                },
                settings: self.settings,
            };
            let default = match name {
                "project" => located.project(),
                "zone" => located.zone(),
                "region" if self.before(name).is_some_and(|b| !b.is_null()) => Located {
                    object: &bare,
                    ..located
                }
                .region(),
                "region" => located.region(),
                _ => None,
            };
            let before = self.before(name).filter(|b| !b.is_null());
            match (default, before) {
                (Some(default), Some(before)) => {
                    let default = Value::string(default);
                    if !same(node, before, &default) && node.force_new {
                        self.planned.set(name, default);
                        self.replace(name);
                    } else {
                        self.planned.set(name, before.clone());
                    }
                }
                (Some(default), None) => self.planned.set(name, Value::string(default)),
                (None, Some(before)) => self.planned.set(name, before.clone()),
                (None, None) => {
                    if name != "location" {
                        self.reported.push(missing(name));
                    }
                }
            }
        }
    }

    fn deletion_policy(&mut self) {
        let Some(default) = &self.resource.deletion_policy else {
            return;
        };
        if self.configured("deletion_policy").is_some() {
            return;
        }
        let value = match self.before("deletion_policy") {
            // A state of an older provider has none; nothing is changed for its sake.
            Some(before) if before.is_null() => before.clone(),
            _ => Value::string(default),
        };
        self.planned.set("deletion_policy", value);
    }
}

fn missing(name: &str) -> Reported {
    Reported::at(
        Path::ROOT.attribute(name),
        formwork_diagnostics::Diagnostic::error(
            "Missing place of a resource",
            format!(
                "Neither the resource nor the provider says which {name} it belongs to. Set {name} in the resource, in the provider block, or in the environment (GOOGLE_{}).",
                name.to_uppercase()
            ),
        ),
    )
}

struct Walk<'r> {
    replace: &'r mut Vec<Path>,
    /// The object exists, so that changes may ask for a new one.
    existing: bool,
}

impl Walk<'_> {
    fn object(
        &mut self,
        nodes: &[Node],
        ty: &Arc<formwork_values::ObjectType>,
        config: &Value,
        prior: Option<&Value>,
        path: &Path,
    ) -> Value {
        let wanted: &[Value] = match config.kind() {
            Kind::Object(_, values) => values,
            _ => &[],
        };
        let known: &[Value] = match prior.map(Value::kind) {
            Some(Kind::Object(_, values)) => values,
            _ => &[],
        };
        let values = nodes
            .iter()
            .enumerate()
            .map(|(i, node)| {
                let here = path.clone().attribute(Arc::clone(&node.name));
                let null = Value::null(node.ty.clone());
                self.field(node, wanted.get(i).unwrap_or(&null), known.get(i), &here)
            })
            .collect();
        Value::object_of(Arc::clone(ty), values)
    }

    fn field(&mut self, node: &Node, config: &Value, prior: Option<&Value>, path: &Path) -> Value {
        if node.kind == NodeKind::Timeouts {
            return config.clone();
        }
        if node.write_only {
            return Value::null(node.ty.clone());
        }
        if !node.configurable() {
            return prior
                .cloned()
                .unwrap_or_else(|| Value::unknown(node.ty.clone()));
        }
        if node.block {
            return self.blocks(node, config, prior, path);
        }
        let planned = attribute(node, config, prior);
        if node.force_new && self.existing {
            let changed = match prior {
                Some(prior) => planned != *prior || planned.contains_unknown(),
                // In an element that is new: only what says something counts.
                None => planned.contains_unknown() || !is_idle(node, &planned),
            };
            let changed = changed && !(prior.is_some_and(|p| p == &planned));
            if changed {
                self.replace.push(path.clone());
            }
        }
        planned
    }

    fn blocks(&mut self, node: &Node, config: &Value, prior: Option<&Value>, path: &Path) -> Value {
        if !config.is_known() {
            if node.force_new && self.existing {
                self.replace.push(path.clone());
            }
            return config.clone();
        }
        let wanted = config.as_sequence().unwrap_or_default();
        let known = prior.and_then(Value::as_sequence);
        let element = node.element_type();
        let Some(object) = element.as_object().cloned() else {
            return config.clone();
        };
        if wanted.is_empty() {
            if node.computed {
                return prior
                    .cloned()
                    .unwrap_or_else(|| Value::unknown(node.ty.clone()));
            }
            if let Some(prior) = prior
                && (is_zero(prior)
                    || (matches!(
                        node.suppress,
                        Some(Suppress::EmptyBlock | Suppress::Default(_))
                    ) && is_idle(node, prior)))
            {
                return prior.clone();
            }
            if self.existing && known.is_some_and(|k| !k.is_empty()) && forces_new(node) {
                self.replace.push(path.clone());
            }
            return sequence(node, Vec::new());
        }
        let known = known.unwrap_or_default();
        if node.is_set() {
            return self.set(node, &object, wanted, known, path);
        }
        if node.force_new && self.existing && known.len() != wanted.len() {
            self.replace.push(path.clone());
        }
        let values: Vec<Value> = wanted
            .iter()
            .enumerate()
            .map(|(i, one)| {
                let here = path.clone().position(i);
                self.object(&node.children, &object, one, known.get(i), &here)
            })
            .collect();
        if self.existing && known.len() > wanted.len() && forces_new(node) && !node.force_new {
            self.replace.push(path.clone());
        }
        sequence(node, values)
    }

    /// Elements of a set have no names: one that only spells a known one differently is the known one.
    fn set(
        &mut self,
        node: &Node,
        object: &Arc<formwork_values::ObjectType>,
        wanted: &[Value],
        known: &[Value],
        path: &Path,
    ) -> Value {
        let mut left: Vec<&Value> = known.iter().collect();
        let mut new = false;
        let values: Vec<Value> = wanted
            .iter()
            .map(|one| {
                let mut ignored = Vec::new();
                let found = left.iter().position(|candidate| {
                    let mut walk = Walk {
                        replace: &mut ignored,
                        existing: false,
                    };
                    walk.object(&node.children, object, one, Some(candidate), path) == **candidate
                });
                match found {
                    Some(at) => left.swap_remove(at).clone(),
                    None => {
                        new = true;
                        let mut walk = Walk {
                            replace: &mut ignored,
                            existing: false,
                        };
                        walk.object(&node.children, object, one, None, path)
                    }
                }
            })
            .collect();
        if self.existing && (new || !left.is_empty()) && forces_new(node) {
            self.replace.push(path.clone());
        }
        sequence(node, values)
    }
}

/// Whether a change in the number of blocks asks for a new object.
fn forces_new(node: &Node) -> bool {
    node.force_new
        || node
            .children
            .iter()
            .any(|child| child.force_new && child.required)
}

fn sequence(node: &Node, values: Vec<Value>) -> Value {
    let element = node.element_type();
    if node.is_set() {
        Value::set(element, values)
    } else {
        Value::list(element, values)
    }
}

/// The planned value of an attribute.
fn attribute(node: &Node, config: &Value, prior: Option<&Value>) -> Value {
    if !config.is_known() {
        return config.clone();
    }
    if !config.is_null() {
        return match prior {
            Some(prior) if prior.is_known() && same(node, prior, config) => prior.clone(),
            _ => config.clone(),
        };
    }
    if let Some(default) = default_of(node) {
        return match prior {
            Some(prior) if same(node, prior, &default) => prior.clone(),
            _ => default,
        };
    }
    if node.computed {
        return prior
            .cloned()
            .unwrap_or_else(|| Value::unknown(node.ty.clone()));
    }
    match prior {
        Some(prior) if is_zero(prior) || same(node, prior, config) => prior.clone(),
        _ => config.clone(),
    }
}

/// The node's default as a value.
pub(crate) fn default_of(node: &Node) -> Option<Value> {
    Some(match node.default.as_ref()? {
        serde_json::Value::Bool(b) => Value::bool(*b),
        serde_json::Value::String(s) => Value::string(s),
        serde_json::Value::Number(n) => Value::number(Number::parse(&n.to_string()).ok()?),
        _ => return None,
    })
}
