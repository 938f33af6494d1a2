//! What expressions and bodies refer to, found from the text alone.
//!
//! A reference is a [`Traversal`] whose root is not a name bound nearby (by `for`, by a template's
//! `for`, or by a dynamic block's iterator). It is cut into a [`Subject`] (the thing that is named)
//! and the literal steps that follow; what comes after a computed index or a splat is not part of
//! it. Bodies are searched without a schema: every argument of every nested block counts.
//!
//! Nothing here asks whether what is named exists: `static_checks` does that, and the graph builds
//! its edges from the same answers.

use formwork_addresses::{
    InstanceKey, Reference, ReferenceStep, Resource, ResourceInstance, ResourceMode, Subject,
};
use formwork_diagnostics::{Checked, Diagnostic, Diagnostics, SourceRange};
use formwork_syntax::{
    Block, Body, BodyItem, Expression, IndexKey, Step, Traversal, on_deep_stack,
};
use std::sync::Arc;

/// A reference and where it was written.
#[derive(Clone, Debug)]
pub struct FoundReference {
    /// What is named, and the literal steps after it.
    pub reference: Reference,
    /// As written.
    pub traversal: Traversal,
    /// How many steps of the traversal the subject takes.
    pub subject_steps: usize,
}

impl FoundReference {
    /// All of it.
    pub fn range(&self) -> SourceRange {
        self.traversal.range()
    }

    /// The part that names the subject.
    pub fn subject_range(&self) -> SourceRange {
        self.traversal.range_of(self.subject_steps)
    }

    /// The steps after the subject, with their ranges.
    pub fn remaining(&self) -> &[Step] {
        self.traversal
            .steps
            .get(self.subject_steps..)
            .unwrap_or_default()
    }
}

/// The references of an expression in the order in which they are written.
pub fn expression_references(expression: &Expression) -> Checked<Vec<FoundReference>> {
    let mut c = Collector::default();
    c.expression(expression);
    (c.found, c.diagnostics)
}

/// The references of all arguments of a body, nested and dynamic blocks included, in source order.
pub fn body_references(body: &Body) -> Checked<Vec<FoundReference>> {
    let mut c = Collector::default();
    c.body(body);
    (c.found, c.diagnostics)
}

#[derive(Default)]
struct Collector {
    /// Iterators of the dynamic blocks around.
    bound: Vec<Arc<str>>,
    found: Vec<FoundReference>,
    diagnostics: Diagnostics,
}

impl Collector {
    fn expression(&mut self, e: &Expression) {
        e.visit_variables(&mut |t| {
            if self.bound.contains(&t.root) {
                return;
            }
            match parse_reference(t) {
                Ok(found) => self.found.push(found),
                Err(d) => self.diagnostics.push(*d),
            }
        });
    }

    fn body(&mut self, body: &Body) {
        if body.is_json() {
            return self.json(body);
        }
        for item in body.items() {
            match item {
                BodyItem::Attribute(a) => self.expression(&a.expression),
                BodyItem::Block(b) if &*b.block_type == "dynamic" => {
                    on_deep_stack(|| self.dynamic(b));
                }
                BodyItem::Block(b) => on_deep_stack(|| self.body(&b.body)),
            }
        }
    }

    /// A JSON body whose schema is not known here: all properties are looked through as values.
    fn json(&mut self, body: &Body) {
        // What is wrong with the properties is told by whoever knows the schema.
        let (attributes, _) = body.just_attributes();
        let outer = self.bound.len();
        for a in &attributes {
            if &*a.name == "dynamic" {
                // Iterators are bound in all dynamic blocks of the body, which is more than right,
                // but never reports a reference that is none.
                for item in a.expression.as_static_map().unwrap_or_default() {
                    self.bound.extend(item.key.as_literal().cloned());
                    for inner in item.value.as_static_map().unwrap_or_default() {
                        let is_iterator =
                            inner.key.as_literal().is_some_and(|k| &**k == "iterator");
                        if is_iterator && let Some(name) = inner.value.as_literal_string() {
                            self.bound.push(name.clone());
                        }
                    }
                }
            }
            self.expression(&a.expression);
            self.bound.truncate(outer);
        }
    }

    fn dynamic(&mut self, block: &Block) {
        let outer = self.bound.len();
        let iterator = dynamic_iterator(block);
        for a in block.body.attributes() {
            match &*a.name {
                "iterator" => {}
                "labels" => {
                    self.bound.extend(iterator.clone());
                    self.expression(&a.expression);
                    self.bound.truncate(outer);
                }
                _ => self.expression(&a.expression),
            }
        }
        self.bound.extend(iterator);
        for b in block.body.blocks() {
            self.body(&b.body);
        }
        self.bound.truncate(outer);
    }
}

/// The name a dynamic block binds in its labels and content: `iterator`, or else its label.
pub fn dynamic_iterator(block: &Block) -> Option<Arc<str>> {
    block
        .body
        .attribute("iterator")
        .and_then(|a| a.expression.as_keyword().map(Arc::from))
        .or_else(|| block.label(0).cloned())
}

/// An instance key as an index step gives it; `None` for a number that cannot be a key.
pub fn instance_key(key: &IndexKey) -> Option<InstanceKey> {
    match key {
        IndexKey::String(s) => Some(InstanceKey::Text(s.clone())),
        IndexKey::Number(n) => n.parse().ok().map(InstanceKey::Int),
    }
}

/// Reads a static path as a reference.
///
/// # Errors
/// A diagnostic with the range of the offending part, if the path names nothing that could exist.
pub fn parse_reference(t: &Traversal) -> Result<FoundReference, Box<Diagnostic>> {
    let found = |subject, steps| Ok(found(t, subject, steps));
    match &*t.root {
        "var" => found(Subject::InputVariable(member(t)?), 1),
        "local" => found(Subject::LocalValue(member(t)?), 1),
        "path" => {
            let name = fixed_member(t, &["module", "root", "cwd"])?;
            found(Subject::Path(name), 1)
        }
        "terraform" => {
            let name = fixed_member(t, &["workspace", "applying"])?;
            found(Subject::Terraform(name), 1)
        }
        "count" => {
            fixed_member(t, &["index"])?;
            found(Subject::CountIndex, 1)
        }
        "each" => match &*fixed_member(t, &["key", "value"])? {
            "key" => found(Subject::EachKey, 1),
            _ => found(Subject::EachValue, 1),
        },
        "self" => found(Subject::SelfObject, 0),
        "module" => {
            let name = member(t)?;
            let (key, at) = match t.steps.get(1) {
                Some(Step::Index { key, .. }) => match instance_key(key) {
                    Some(key) => (Some(key), 2),
                    None => return found(Subject::ModuleCall(name), 1),
                },
                _ => (None, 1),
            };
            match (key, t.attribute(at)) {
                (key, Some(output)) => found(
                    Subject::ModuleCallOutput(name, key.unwrap_or_default(), output.clone()),
                    at + 1,
                ),
                (Some(key), None) => found(Subject::ModuleCallInstance(name, key), at),
                (None, None) => found(Subject::ModuleCall(name), at),
            }
        }
        "data" => resource(t, ResourceMode::Data, 0),
        "ephemeral" => resource(t, ResourceMode::Ephemeral, 0),
        "resource" => resource(t, ResourceMode::Managed, 0),
        _ => resource_named(t, ResourceMode::Managed, Some(&t.root), 0),
    }
}

/// The same where a test is written, in which `output`, `run` and `check` have meanings of their own.
///
/// # Errors
/// What is wrong with it.
pub fn parse_test_reference(t: &Traversal) -> Result<FoundReference, Box<Diagnostic>> {
    let subject = match &*t.root {
        "output" => Subject::OutputValue(member(t)?),
        "run" => Subject::Run(member(t)?),
        "check" => Subject::Check(member(t)?),
        _ => return parse_reference(t),
    };
    Ok(found(t, subject, 1))
}

/// A reference of which so many steps name the subject.
fn found(t: &Traversal, subject: Subject, subject_steps: usize) -> FoundReference {
    let remaining = t
        .steps
        .iter()
        .skip(subject_steps)
        .map_while(|s| match s {
            Step::Attribute { name, .. } => Some(ReferenceStep::Attribute(name.clone())),
            Step::Index { key, .. } => instance_key(key).map(ReferenceStep::Index),
        })
        .collect();
    FoundReference {
        reference: Reference { subject, remaining },
        traversal: t.clone(),
        subject_steps,
    }
}

fn invalid(detail: String, at: SourceRange) -> Box<Diagnostic> {
    Box::new(Diagnostic::error("Invalid reference", detail).at(at))
}

/// The name after the root, for roots that mean nothing alone.
fn member(t: &Traversal) -> Result<Arc<str>, Box<Diagnostic>> {
    let root = &t.root;
    match t.steps.first() {
        Some(Step::Attribute { name, .. }) => Ok(name.clone()),
        Some(Step::Index { range, .. }) => Err(invalid(
            format!(
                "\"{root}\" cannot be indexed. Name one of its members instead, as in {root}.name."
            ),
            *range,
        )),
        None => Err(invalid(
            format!("\"{root}\" alone is not a value. Name one of its members, as in {root}.name."),
            t.root_range,
        )),
    }
}

fn fixed_member(t: &Traversal, known: &[&str]) -> Result<Arc<str>, Box<Diagnostic>> {
    let name = member(t)?;
    if known.contains(&&*name) {
        return Ok(name);
    }
    let root = &t.root;
    let all: Vec<_> = known.iter().map(|k| format!("{root}.{k}")).collect();
    Err(Box::new(
        Diagnostic::error(
            format!("Invalid \"{root}\" attribute"),
            format!(
                "\"{root}\" has no attribute named \"{name}\". What it has is {}.",
                all.join(", ")
            ),
        )
        .at(t.range_of(1)),
    ))
}

fn resource(
    t: &Traversal,
    mode: ResourceMode,
    at: usize,
) -> Result<FoundReference, Box<Diagnostic>> {
    match t.attribute(at) {
        Some(kind) => resource_named(t, mode, Some(kind), at + 1),
        None => resource_named(t, mode, None, at),
    }
}

/// A resource whose name is step `at`.
fn resource_named(
    t: &Traversal,
    mode: ResourceMode,
    kind: Option<&Arc<str>>,
    at: usize,
) -> Result<FoundReference, Box<Diagnostic>> {
    let root = &t.root;
    let (Some(kind), Some(name)) = (kind, t.attribute(at)) else {
        let detail = if matches!(&**root, "data" | "ephemeral" | "resource") {
            format!(
                "After \"{root}\" a type and a name are wanted, as in {root}.google_project.this."
            )
        } else {
            format!(
                "\"{root}\" alone is not a value. If it is meant as a resource type, the name of \
                 the resource must follow it; if it is meant as text, put it in quotes."
            )
        };
        let range = match t.steps.get(at) {
            Some(index @ Step::Index { .. }) => index.range(),
            _ => t.range(),
        };
        return Err(invalid(detail, range));
    };
    let resource = Resource {
        mode,
        kind: kind.clone(),
        name: name.clone(),
    };
    let (subject, steps) = match t.steps.get(at + 1) {
        Some(Step::Index { key, .. }) if instance_key(key).is_some() => (
            Subject::ResourceInstance(ResourceInstance {
                resource,
                key: instance_key(key).unwrap_or_default(),
            }),
            at + 2,
        ),
        _ => (Subject::Resource(resource), at + 1),
    };
    let remaining = t
        .steps
        .iter()
        .skip(steps)
        .map_while(|s| match s {
            Step::Attribute { name, .. } => Some(ReferenceStep::Attribute(name.clone())),
            Step::Index { key, .. } => instance_key(key).map(ReferenceStep::Index),
        })
        .collect();
    Ok(FoundReference {
        reference: Reference { subject, remaining },
        traversal: t.clone(),
        subject_steps: steps,
    })
}
