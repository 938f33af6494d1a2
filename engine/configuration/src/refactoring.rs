//! `moved`, `removed` and `import` blocks: what happened, or shall happen, to objects in state.
//!
//! Addresses here are relative to the module in which the block stands.

use crate::constant::flag_argument;
use crate::depends_on::{ProviderReference, plain_static_path, provider_reference};
use crate::resource::{Provisioner, ProvisionerTime};
use crate::shape::{Shape, labels, missing_argument};
use crate::written_address::{WrittenAddress, move_target};
use formwork_addresses::{
    AbsResource, AbsResourceInstance, InstanceKey, ModuleInstance, ResourceMode,
};
use formwork_diagnostics::{Diagnostic, Diagnostics, SourceRange};
use formwork_syntax::{Block, Body, Expression, ExpressionKind};
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
    /// One move for each element of this. `from` and `to` lack the keys that are computed then.
    pub for_each: Option<MovedForEach>,
    /// The header of the block.
    pub range: SourceRange,
}

/// What a `moved` block with `for_each` says: several moves.
#[derive(Clone, Debug)]
pub struct MovedForEach {
    /// One move for each element of this.
    pub each: Expression,
    /// Where objects were.
    pub from: WrittenAddress,
    /// Where they are now.
    pub to: WrittenAddress,
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
    /// The connection of its provisioners, unless one has its own.
    pub connection: Option<Body>,
    /// The header of the block.
    pub range: SourceRange,
}

/// An `import` block.
#[derive(Clone, Debug)]
pub struct ImportBlock {
    /// The instance to import to; keys may be computed from `each`.
    pub to: WrittenAddress,
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

fn target_argument(
    body: &Body,
    name: &str,
    diagnostics: &mut Diagnostics,
) -> Option<(MoveTarget, SourceRange)> {
    let a = body.attribute(name)?;
    let path = plain_static_path(&a.expression, diagnostics)?;
    Some((move_target(&path, diagnostics)?, path.range()))
}

/// The same where keys may be computed.
fn written_argument(
    body: &Body,
    name: &str,
    diagnostics: &mut Diagnostics,
) -> Option<(WrittenAddress, MoveTarget)> {
    let written = WrittenAddress::read(&body.attribute(name)?.expression, diagnostics)?;
    let shape = written.shape(diagnostics)?;
    Some((written, shape))
}

impl MovedBlock {
    pub(crate) fn decode(block: &Block, diagnostics: &mut Diagnostics) -> Option<Self> {
        const SHAPE: Shape = Shape {
            attributes: &[("from", true), ("to", true), ("for_each", false)],
            blocks: &[],
        };
        let [] = labels(block, [], diagnostics)?;
        let body = &SHAPE.read(&block.body, block.open_brace, diagnostics);
        let (from, to, for_each) = match body.attribute("for_each") {
            None => {
                let from = target_argument(body, "from", diagnostics);
                let to = target_argument(body, "to", diagnostics);
                (from?.0, to?.0, None)
            }
            Some(a) => {
                let from = written_argument(body, "from", diagnostics);
                let to = written_argument(body, "to", diagnostics);
                let ((from, from_shape), (to, to_shape)) = (from?, to?);
                let each = MovedForEach {
                    each: a.expression.clone(),
                    from,
                    to,
                };
                (from_shape, to_shape, Some(each))
            }
        };
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
            for_each,
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
        if let MoveTarget::Resource(r) = &from
            && r.resource.mode != ResourceMode::Managed
        {
            diagnostics.push(
                Diagnostic::error(
                    "Data source address not allowed",
                    "Only managed resources and modules are removed: nothing is kept of a data source \
                     but what was read. Remove its block alone.",
                )
                .at(range),
            );
            return None;
        }
        let mut destroy = true;
        for inner in body.blocks_of("lifecycle") {
            const LIFECYCLE: Shape = Shape {
                attributes: &[("destroy", false)],
                blocks: &[],
            };
            let inner = LIFECYCLE.read(&inner.body, inner.open_brace, diagnostics);
            destroy = flag_argument(&inner, "destroy", diagnostics).unwrap_or(true);
        }
        let mut provisioners = Vec::new();
        for b in body.blocks_of("provisioner") {
            let Some(p) = Provisioner::decode(b, diagnostics) else {
                continue;
            };
            if p.when == ProvisionerTime::Create {
                diagnostics.push(
                    Diagnostic::error(
                        "Invalid provisioner block",
                        "What a removed block runs, it runs before an object is destroyed: set \
                         when = destroy.",
                    )
                    .at(p.range),
                );
            }
            if matches!(from, MoveTarget::Module(_)) {
                diagnostics.push(
                    Diagnostic::error(
                        "Invalid provisioner block",
                        "A removed block runs provisioners only where it names a resource: what it runs is \
                         about an object, and a module has many.",
                    )
                    .at(p.range),
                );
            }
            provisioners.push(p);
        }
        Some(Self {
            from,
            destroy,
            provisioners,
            connection: body.blocks_of("connection").next().map(|b| b.body.clone()),
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
        if let Some(e) = id
            .as_ref()
            .filter(|e| matches!(e.kind(), ExpressionKind::Null))
        {
            diagnostics.push(
                Diagnostic::error(
                    "Invalid import id argument",
                    "The id of an object is a text by which the provider finds it, and null is none.",
                )
                .at(e.range()),
            );
        }
        let to = WrittenAddress::read(&argument("to")?, diagnostics)?;
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
fn import_resource(to: &WrittenAddress, diagnostics: &mut Diagnostics) -> Option<AbsResource> {
    match to.shape(diagnostics)? {
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
                .at(to.range()),
            );
            None
        }
    }
}
