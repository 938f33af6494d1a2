//! Addresses of modules and resources as they are written in a configuration: names, with keys that
//! are written out or, where a block allows it, computed.

use crate::depends_on::{not_a_path, static_path};
use crate::refactoring::MoveTarget;
use crate::references::instance_key;
use formwork_addresses::{InstanceKey, ModuleInstance, Resource, ResourceMode};
use formwork_diagnostics::{Diagnostic, Diagnostics, SourceRange};
use formwork_syntax::{Expression, ExpressionKind, Step, Traversal};
use std::sync::Arc;

/// An address whose keys may have to be computed.
#[derive(Clone, Debug)]
pub struct WrittenAddress {
    names: Vec<Name>,
    range: SourceRange,
}

/// A name and the key that follows it.
#[derive(Clone, Debug)]
struct Name {
    name: Arc<str>,
    key: WrittenKey,
    range: SourceRange,
}

#[derive(Clone, Debug)]
enum WrittenKey {
    Known(InstanceKey),
    Computed(Expression),
}

impl WrittenKey {
    fn is_none(&self) -> bool {
        matches!(self, Self::Known(InstanceKey::None))
    }
}

fn refuse(detail: &str, at: SourceRange) -> Diagnostic {
    Diagnostic::error("Invalid address", detail).at(at)
}

impl WrittenAddress {
    /// Reads an address in which keys may be computed.
    pub(crate) fn read(e: &Expression, diagnostics: &mut Diagnostics) -> Option<Self> {
        let e = e.static_form();
        if e.is_invalid() {
            return None;
        }
        let mut names = Vec::new();
        // A path in quotes, as it was once written.
        let read = match e.kind() {
            ExpressionKind::String(_) => collect_path(&static_path(e, diagnostics)?, &mut names),
            _ => collect(e, &mut names),
        };
        match read {
            Ok(()) => Some(Self {
                names,
                range: e.range(),
            }),
            Err(d) => {
                diagnostics.push(*d);
                None
            }
        }
    }

    /// Where it is written.
    pub fn range(&self) -> SourceRange {
        self.range
    }

    /// The keys that must be computed, in order.
    pub fn computed_keys(&self) -> impl Iterator<Item = &Expression> {
        self.names.iter().filter_map(|n| match &n.key {
            WrittenKey::Computed(e) => Some(e),
            WrittenKey::Known(_) => None,
        })
    }

    /// What it names, computed keys left out.
    pub(crate) fn shape(&self, diagnostics: &mut Diagnostics) -> Option<MoveTarget> {
        self.with_keys(|_| Some(InstanceKey::None), diagnostics)
    }

    /// What it names, with keys computed; `None` if a key has no value or the address makes no sense,
    /// the latter said.
    pub fn with_keys(
        &self,
        mut compute: impl FnMut(&Expression) -> Option<InstanceKey>,
        diagnostics: &mut Diagnostics,
    ) -> Option<MoveTarget> {
        let mut names = Vec::with_capacity(self.names.len());
        for n in &self.names {
            let key = match &n.key {
                WrittenKey::Known(key) => key.clone(),
                WrittenKey::Computed(e) => compute(e)?,
            };
            names.push((&*n.name, key, n.range));
        }
        match target(&names, self.range) {
            Ok(target) => Some(target),
            Err(d) => {
                diagnostics.push(*d);
                None
            }
        }
    }
}

fn collect(e: &Expression, names: &mut Vec<Name>) -> Result<(), Box<Diagnostic>> {
    match e.kind() {
        ExpressionKind::Traversal(t) => collect_path(t, names),
        ExpressionKind::Index {
            collection, key, ..
        } => {
            collect(collection, names)?;
            put_key(names, WrittenKey::Computed(key.clone()), key.range())
        }
        ExpressionKind::Relative { source, steps } => {
            collect(source, names)?;
            collect_steps(steps, names)
        }
        _ => Err(Box::new(not_a_path(e.range()))),
    }
}

fn collect_path(t: &Traversal, names: &mut Vec<Name>) -> Result<(), Box<Diagnostic>> {
    names.push(Name {
        name: t.root.clone(),
        key: WrittenKey::Known(InstanceKey::None),
        range: t.root_range,
    });
    collect_steps(&t.steps, names)
}

fn collect_steps(steps: &[Step], names: &mut Vec<Name>) -> Result<(), Box<Diagnostic>> {
    for step in steps {
        match step {
            Step::Attribute { name, range } => names.push(Name {
                name: name.clone(),
                key: WrittenKey::Known(InstanceKey::None),
                range: *range,
            }),
            Step::Index { key, range } => {
                let Some(key) = instance_key(key) else {
                    return Err(Box::new(refuse(
                        "A key is a whole number or a text.",
                        *range,
                    )));
                };
                put_key(names, WrittenKey::Known(key), *range)?;
            }
        }
    }
    Ok(())
}

fn put_key(names: &mut [Name], key: WrittenKey, range: SourceRange) -> Result<(), Box<Diagnostic>> {
    match names.last_mut() {
        Some(n) if n.key.is_none() => {
            n.key = key;
            Ok(())
        }
        _ => Err(Box::new(refuse("Only one key may follow a name.", range))),
    }
}

/// The address that a path spells out, every key written out.
pub(crate) fn move_target(t: &Traversal, diagnostics: &mut Diagnostics) -> Option<MoveTarget> {
    let mut names = Vec::new();
    let written = collect_path(t, &mut names).map(|()| WrittenAddress {
        names,
        range: t.range(),
    });
    match written {
        Ok(w) => w.shape(diagnostics),
        Err(d) => {
            diagnostics.push(*d);
            None
        }
    }
}

fn target(
    names: &[(&str, InstanceKey, SourceRange)],
    range: SourceRange,
) -> Result<MoveTarget, Box<Diagnostic>> {
    let mut rest = names;
    let mut module = ModuleInstance::root();
    while let [("module", key, at), after @ ..] = rest {
        if *key != InstanceKey::None {
            return Err(Box::new(refuse(
                "The name of a module call is wanted before a key.",
                *at,
            )));
        }
        let [(name, key, _), after @ ..] = after else {
            return Err(Box::new(refuse(
                "The name of a module call must follow \"module\".",
                range,
            )));
        };
        module = module.child(name, key.clone());
        rest = after;
    }
    if rest.is_empty() {
        return Ok(MoveTarget::Module(module));
    }
    let (mode, rest) = match rest {
        [("data", InstanceKey::None, _), after @ ..] => (ResourceMode::Data, after),
        [("ephemeral", InstanceKey::None, _), after @ ..] => (ResourceMode::Ephemeral, after),
        [("resource", InstanceKey::None, _), after @ ..] if after.len() == 2 => {
            (ResourceMode::Managed, after)
        }
        _ => (ResourceMode::Managed, rest),
    };
    const NO_TYPES: [&str; 7] = ["var", "local", "each", "count", "path", "self", "terraform"];
    match rest {
        [(kind, _, at), ..] if NO_TYPES.contains(kind) => Err(Box::new(refuse(
            "The address of a module or a resource is wanted here, and this is neither.",
            at.to(range),
        ))),
        [(kind, InstanceKey::None, _), (name, key, _)] => {
            let mut resource = Resource::managed(kind, name);
            resource.mode = mode;
            Ok(MoveTarget::Resource(
                resource.in_module(&module).instance(key.clone()),
            ))
        }
        _ => Err(Box::new(refuse(
            "The address of a module or a resource is wanted here, such as module.net or \
             google_compute_network.main, perhaps with a key.",
            range,
        ))),
    }
}
