//! `moved`, `removed` and `import` blocks: what happened, or shall happen, to objects in state.
//!
//! Addresses here are relative to the module in which the block stands.

use crate::constant::flag_argument;
use crate::depends_on::{ProviderReference, provider_reference, static_path};
use crate::references::instance_key;
use crate::resource::Provisioner;
use crate::shape::{Shape, labels, missing_argument};
use formwork_addresses::{
    AbsResource, AbsResourceInstance, InstanceKey, ModuleInstance, Resource, ResourceMode,
};
use formwork_diagnostics::{Diagnostic, Diagnostics, SourceRange};
use formwork_syntax::{Block, Body, Expression, Step, Traversal};
use std::fmt;

/// What a `moved` or `removed` block names: a module or a resource, with or without keys.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MoveTarget {
    /// A module call or one instance of it.
    Module(ModuleInstance),
    /// A resource or one instance of it; without a key, which of the two is decided by the other
    /// end and by what exists.
    Resource(AbsResourceInstance),
}

/// A `moved` block.
#[derive(Clone, Debug)]
pub struct MovedBlock {
    /// Where objects were.
    pub from: MoveTarget,
    /// Where they are now.
    pub to: MoveTarget,
    /// One move for each element of this.
    pub for_each: Option<Expression>,
    /// The header of the block.
    pub range: SourceRange,
}

/// A `removed` block.
#[derive(Clone, Debug)]
pub struct RemovedBlock {
    /// What is no longer configured.
    pub from: MoveTarget,
    /// Whether its objects are destroyed, or only forgotten.
    pub destroy: bool,
    /// What to run before destruction.
    pub provisioners: Vec<Provisioner>,
    /// The header of the block.
    pub range: SourceRange,
}

/// An `import` block.
#[derive(Clone, Debug)]
pub struct ImportBlock {
    /// The instance to import to; keys may be computed from `each`.
    pub to: Expression,
    /// The resource it belongs to, known from the text.
    pub to_resource: AbsResource,
    /// The id by which the provider finds the object.
    pub id: Option<Expression>,
    /// Or its identity, an object.
    pub identity: Option<Expression>,
    /// One import for each element of this.
    pub for_each: Option<Expression>,
    /// The provider configuration, where one is named.
    pub provider: Option<ProviderReference>,
    /// The header of the block.
    pub range: SourceRange,
}

impl fmt::Display for MoveTarget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Module(m) => m.fmt(f),
            Self::Resource(r) => r.fmt(f),
        }
    }
}

/// The address that a path spells out.
pub(crate) fn move_target(t: &Traversal, diagnostics: &mut Diagnostics) -> Option<MoveTarget> {
    let mut refuse = |detail: &str, at: SourceRange| {
        diagnostics.push(Diagnostic::error("Invalid address", detail).at(at));
        None
    };
    // The path as names, each with the key that follows it.
    let mut names: Vec<(&str, InstanceKey, SourceRange)> =
        vec![(&t.root, InstanceKey::None, t.root_range)];
    for step in &t.steps {
        match step {
            Step::Attribute { name, range } => names.push((name, InstanceKey::None, *range)),
            Step::Index { key, range } => {
                let Some(key) = instance_key(key) else {
                    return refuse("A key is a whole number or a text.", *range);
                };
                match names.last_mut() {
                    Some((_, slot @ InstanceKey::None, _)) => *slot = key,
                    _ => return refuse("Only one key may follow a name.", *range),
                }
            }
        }
    }
    let mut rest = &names[..];
    let mut module = ModuleInstance::root();
    while let [("module", key, at), after @ ..] = rest {
        if *key != InstanceKey::None {
            return refuse("The name of a module call is wanted before a key.", *at);
        }
        let [(name, key, _), after @ ..] = after else {
            return refuse(
                "The name of a module call must follow \"module\".",
                t.range(),
            );
        };
        module = module.child(name, key.clone());
        rest = after;
    }
    if rest.is_empty() {
        return Some(MoveTarget::Module(module));
    }
    let (mode, rest) = match rest {
        [("data", InstanceKey::None, _), after @ ..] => (ResourceMode::Data, after),
        [("ephemeral", InstanceKey::None, _), after @ ..] => (ResourceMode::Ephemeral, after),
        [("resource", InstanceKey::None, _), after @ ..] if after.len() == 2 => {
            (ResourceMode::Managed, after)
        }
        _ => (ResourceMode::Managed, rest),
    };
    match rest {
        [(kind, InstanceKey::None, _), (name, key, _)] => {
            let mut resource = Resource::managed(kind, name);
            resource.mode = mode;
            Some(MoveTarget::Resource(
                resource.in_module(&module).instance(key.clone()),
            ))
        }
        _ => refuse(
            "The address of a module or a resource is wanted here, such as module.net or \
             google_compute_network.main, perhaps with a key.",
            t.range(),
        ),
    }
}

fn target_argument(
    body: &Body,
    name: &str,
    diagnostics: &mut Diagnostics,
) -> Option<(MoveTarget, SourceRange)> {
    let a = body.attribute(name)?;
    let path = static_path(&a.expression, diagnostics)?;
    Some((move_target(&path, diagnostics)?, path.range()))
}

impl MovedBlock {
    pub(crate) fn decode(block: &Block, diagnostics: &mut Diagnostics) -> Option<Self> {
        const SHAPE: Shape = Shape {
            attributes: &[("from", true), ("to", true), ("for_each", false)],
            blocks: &[],
        };
        let [] = labels(block, [], diagnostics)?;
        let body = &SHAPE.read(&block.body, block.open_brace, diagnostics);
        let from = target_argument(body, "from", diagnostics);
        let to = target_argument(body, "to", diagnostics);
        let ((from, _), (to, _)) = (from?, to?);
        let same_kind = matches!(
            (&from, &to),
            (MoveTarget::Module(_), MoveTarget::Module(_))
                | (MoveTarget::Resource(_), MoveTarget::Resource(_))
        );
        if !same_kind {
            diagnostics.push(
                Diagnostic::error(
                    "Invalid \"moved\" addresses",
                    "\"from\" and \"to\" must both name resources, or both modules.",
                )
                .at(block.header_range()),
            );
            return None;
        }
        Some(Self {
            from,
            to,
            for_each: body.attribute("for_each").map(|a| a.expression.clone()),
            range: block.header_range(),
        })
    }
}

impl RemovedBlock {
    pub(crate) fn decode(block: &Block, diagnostics: &mut Diagnostics) -> Option<Self> {
        const SHAPE: Shape = Shape {
            attributes: &[("from", true)],
            blocks: &[
                ("lifecycle", &[]),
                ("provisioner", &["type"]),
                ("connection", &[]),
            ],
        };
        let [] = labels(block, [], diagnostics)?;
        let body = &SHAPE.read(&block.body, block.open_brace, diagnostics);
        let (from, range) = target_argument(body, "from", diagnostics)?;
        let keyed = match &from {
            MoveTarget::Module(m) => m.steps().iter().any(|s| s.key != InstanceKey::None),
            MoveTarget::Resource(r) => {
                r.key != InstanceKey::None
                    || r.module.steps().iter().any(|s| s.key != InstanceKey::None)
            }
        };
        if keyed {
            diagnostics.push(
                Diagnostic::error(
                    "Resource instance keys not allowed",
                    "A whole resource or module is removed, not one instance. Name it without keys.",
                )
                .at(range),
            );
            return None;
        }
        let mut destroy = true;
        for inner in body.blocks_of("lifecycle") {
            const LIFECYCLE: Shape = Shape {
                attributes: &[("destroy", true)],
                blocks: &[],
            };
            let inner = LIFECYCLE.read(&inner.body, inner.open_brace, diagnostics);
            destroy = flag_argument(&inner, "destroy", diagnostics).unwrap_or(true);
        }
        let provisioners = body
            .blocks_of("provisioner")
            .filter_map(|b| Provisioner::decode(b, diagnostics))
            .collect();
        Some(Self {
            from,
            destroy,
            provisioners,
            range: block.header_range(),
        })
    }
}

impl ImportBlock {
    pub(crate) fn decode(block: &Block, diagnostics: &mut Diagnostics) -> Option<Self> {
        const SHAPE: Shape = Shape {
            attributes: &[
                ("to", true),
                ("id", false),
                ("identity", false),
                ("for_each", false),
                ("provider", false),
            ],
            blocks: &[],
        };
        let [] = labels(block, [], diagnostics)?;
        let body = &SHAPE.read(&block.body, block.open_brace, diagnostics);
        let argument = |name: &str| body.attribute(name).map(|a| a.expression.clone());
        let (id, identity) = (argument("id"), argument("identity"));
        match (&id, &identity) {
            (None, None) => diagnostics.push(missing_argument("id", block.open_brace)),
            (Some(_), Some(i)) => diagnostics.push(
                Diagnostic::error(
                    "Invalid import block",
                    "An object is found either by \"id\" or by \"identity\". Keep one of the two.",
                )
                .at(i.range()),
            ),
            _ => {}
        }
        let to = argument("to")?;
        let to_resource = import_resource(&to, diagnostics)?;
        Some(Self {
            to,
            to_resource,
            id,
            identity,
            for_each: argument("for_each"),
            provider: argument("provider").and_then(|e| provider_reference(&e, diagnostics)),
            range: block.header_range(),
        })
    }
}

/// The resource that an address with perhaps computed keys belongs to.
fn import_resource(e: &Expression, diagnostics: &mut Diagnostics) -> Option<AbsResource> {
    use formwork_syntax::ExpressionKind as K;
    // A computed key is the last step in most cases, and its collection the path before it.
    let path = match e.kind() {
        K::Index { collection, .. } => collection,
        _ => e,
    };
    let target = match path.kind() {
        K::Relative { source, steps } => {
            let K::Index { collection, .. } = source.kind() else {
                return static_path(e, diagnostics).and(None);
            };
            let mut t = static_path(collection, diagnostics)?;
            t.steps = t.steps.iter().chain(steps).cloned().collect();
            move_target(&t, diagnostics)?
        }
        _ => move_target(&static_path(path, diagnostics)?, diagnostics)?,
    };
    match target {
        MoveTarget::Resource(r) if r.resource.mode == ResourceMode::Managed => {
            Some(r.abs_resource())
        }
        _ => {
            diagnostics.push(
                Diagnostic::error(
                    "Invalid import address",
                    "Objects are imported to managed resources: name one, such as \
                     google_compute_network.main.",
                )
                .at(e.range()),
            );
            None
        }
    }
}
