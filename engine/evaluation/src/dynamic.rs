//! Dynamic blocks: blocks made of the elements of a collection.

use crate::reading::Reading;
use formwork_diagnostics::{Diagnostic, SourceRange};
use formwork_eval::{Functions, Resolved, Scope};
use formwork_syntax::{Block, Body, Traversal};
use formwork_values::{Marks, Type, Value, convert};
use std::sync::Arc;

/// A nested block as written: itself, or a `dynamic` block that makes blocks of its name.
pub(crate) struct Written<'b> {
    block: &'b Block,
    dynamic: bool,
}

impl<'b> Written<'b> {
    pub(crate) fn of(block: &'b Block) -> Self {
        Self {
            block,
            dynamic: &*block.block_type == "dynamic" && block.labels.len() == 1,
        }
    }

    /// The name of the blocks it stands for.
    pub(crate) fn name(&self) -> &'b str {
        match (self.dynamic, self.block.labels.first()) {
            (true, Some(label)) => &label.value,
            _ => &self.block.block_type,
        }
    }

    pub(crate) fn range(&self) -> SourceRange {
        self.block.header_range()
    }
}

/// How an expansion went.
#[derive(Default)]
pub(crate) struct Expansion {
    /// Whether it is not known how many blocks there are.
    pub unknown: bool,
    /// Marks of the collection, which its blocks take over.
    pub marks: Marks,
}

/// Receives each block: its body, where it is written, its label, and the scope it is evaluated in.
pub(crate) type Receive<'r> =
    dyn FnMut(&Body, SourceRange, Option<Arc<str>>, &dyn Scope, &mut Reading) + 'r;

/// What labels blocks of a name take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Labels {
    /// None.
    None,
    /// Exactly one.
    One,
    /// Whatever is written: nobody knows the schema.
    Any,
}

/// Hands out the blocks that `written` stands for.
pub(crate) fn expand(
    written: &Written<'_>,
    labels: Labels,
    scope: &dyn Scope,
    functions: &dyn Functions,
    reading: &mut Reading,
    receive: &mut Receive<'_>,
) -> Expansion {
    let block = written.block;
    if !written.dynamic {
        let label = match (labels, &*block.labels) {
            (Labels::One, [label]) => Some(label.value.clone()),
            (Labels::None, []) | (Labels::Any, _) => None,
            _ => {
                let wanted = if labels == Labels::One {
                    "exactly one label"
                } else {
                    "no labels"
                };
                reading.say(
                    Diagnostic::error(
                        if block.labels.is_empty() {
                            "Missing name for block"
                        } else {
                            "Extraneous label"
                        },
                        format!("A block \"{}\" takes {wanted}.", block.block_type),
                    )
                    .at(block.header_range()),
                );
                return Expansion::default();
            }
        };
        receive(&block.body, block.header_range(), label, scope, reading);
        return Expansion::default();
    }
    expand_dynamic(
        written,
        labels == Labels::One,
        scope,
        functions,
        reading,
        receive,
    )
}

fn expand_dynamic(
    written: &Written<'_>,
    labelled: bool,
    scope: &dyn Scope,
    functions: &dyn Functions,
    reading: &mut Reading,
    receive: &mut Receive<'_>,
) -> Expansion {
    let block = written.block;
    let nothing = Expansion {
        unknown: true,
        ..Expansion::default()
    };
    let Some(parts) = Parts::of(block, written.name(), reading) else {
        return nothing;
    };
    let errors_before = reading.diagnostics.error_count();
    let said_before = reading.diagnostics.len();
    let collection = reading.evaluate(parts.for_each, scope, functions);
    let (collection, marks) = collection.unmark();
    let range = parts.for_each.range();
    if !collection.is_known() {
        if reading.diagnostics.error_count() == errors_before {
            let ty = collection.type_of();
            if !ty.is_dynamic() && !iterable(&ty) {
                reading.say(not_iterable(&ty, range));
                reading.explain_since(said_before, parts.for_each, scope);
            } else {
                check_once(&parts, scope, reading, receive);
            }
        }
        return Expansion {
            unknown: true,
            marks,
        };
    }
    if collection.is_null() {
        reading.say(
            Diagnostic::error(
                "Invalid dynamic for_each value",
                "for_each is null. Use an empty collection to make no blocks.",
            )
            .at(range),
        );
        reading.explain_since(said_before, parts.for_each, scope);
        return nothing;
    }
    let Some(elements) = collection.elements() else {
        reading.say(not_iterable(&collection.type_of(), range));
        reading.explain_since(said_before, parts.for_each, scope);
        return nothing;
    };
    let is_set = matches!(collection.type_of(), Type::Set(_));
    for (key, value) in elements {
        let key = if is_set { value.clone() } else { key };
        let inner = IteratorScope {
            outer: scope,
            name: parts.iterator.clone(),
            key,
            value,
        };
        let label = if labelled {
            match parts.label(&inner, functions, reading) {
                Some(label) => Some(label),
                None => return nothing,
            }
        } else {
            None
        };
        receive(
            &parts.content.body,
            parts.content.header_range(),
            label,
            &inner,
            reading,
        );
    }
    Expansion {
        unknown: false,
        marks,
    }
}

/// With a collection that is not known, the content is still read once, so that what is wrong with it
/// however many blocks there are is told at validate. Its values are not looked at: the collection may
/// be what keeps them from being used, as in `for_each = var.x == null ? [] : [var.x]`.
fn check_once(
    parts: &Parts<'_>,
    scope: &dyn Scope,
    reading: &mut Reading,
    receive: &mut Receive<'_>,
) {
    let inner = IteratorScope {
        outer: scope,
        name: parts.iterator.clone(),
        key: Value::dynamic(),
        value: Value::dynamic(),
    };
    receive(
        &parts.content.body,
        parts.content.header_range(),
        Some(Arc::from("")),
        &Guarded(&inner),
        reading,
    );
}

/// A scope in which nothing is known of values that inputs and instances decide. What is declared, and
/// what resources look like, is known all the same.
struct Guarded<'s>(&'s dyn Scope);

impl Scope for Guarded<'_> {
    fn resolve(&self, reference: &Traversal) -> Resolved {
        let resolved = self.0.resolve(reference);
        if resolved.diagnostics.has_errors()
            || !["var", "local", "module", "each", "count", "self"].contains(&&*reference.root)
        {
            return resolved;
        }
        Resolved::new(Value::dynamic(), reference.steps.len())
    }

    fn check(&self, reference: &Traversal) -> formwork_diagnostics::Diagnostics {
        self.0.check(reference)
    }
}

struct Parts<'b> {
    for_each: &'b formwork_syntax::Expression,
    labels: Option<&'b formwork_syntax::Expression>,
    iterator: Arc<str>,
    content: &'b Block,
}

impl<'b> Parts<'b> {
    fn of(block: &'b Block, name: &str, reading: &mut Reading) -> Option<Self> {
        let body = &block.body;
        for a in body.attributes() {
            if !["for_each", "iterator", "labels"].contains(&&*a.name) {
                reading.say(
                    Diagnostic::error(
                        "Unsupported argument",
                        format!(
                            "A dynamic block takes for_each, iterator and labels; \"{}\" belongs into \
                             its content block.",
                            a.name
                        ),
                    )
                    .at(a.name_range),
                );
            }
        }
        let mut contents = body.blocks().iter();
        let content = contents.next();
        for b in contents.chain(content.filter(|b| &*b.block_type != "content")) {
            reading.say(
                Diagnostic::error(
                    "Unsupported block type",
                    "A dynamic block holds exactly one block, named \"content\".",
                )
                .at(b.header_range()),
            );
        }
        let iterator = match body.attribute("iterator") {
            None => Arc::from(name),
            Some(a) => match a.expression.as_keyword() {
                Some(word) => Arc::from(word),
                None => {
                    reading.say(
                        Diagnostic::error(
                            "Invalid expression",
                            "iterator takes a plain name, under which the content refers to the \
                             current element.",
                        )
                        .at(a.expression.range()),
                    );
                    return None;
                }
            },
        };
        let for_each = body.attribute("for_each");
        if for_each.is_none() {
            reading.say(
                Diagnostic::error(
                    "Missing required argument",
                    "A dynamic block needs for_each: the collection of whose elements blocks are made.",
                )
                .at(block.header_range()),
            );
        }
        if content.is_none() {
            reading.say(
                Diagnostic::error(
                    "Insufficient content blocks",
                    "A dynamic block needs a block \"content\": what each block made holds.",
                )
                .at(block.header_range()),
            );
        }
        Some(Self {
            for_each: &for_each?.expression,
            labels: body.attribute("labels").map(|a| &a.expression),
            iterator,
            content: content.filter(|b| &*b.block_type == "content")?,
        })
    }

    /// The one label of each block made.
    fn label(
        &self,
        scope: &dyn Scope,
        functions: &dyn Functions,
        reading: &mut Reading,
    ) -> Option<Arc<str>> {
        let fail = |reading: &mut Reading, range, detail: &str| {
            reading.say(Diagnostic::error("Invalid dynamic block labels", detail).at(range));
            None
        };
        let Some(labels) = self.labels else {
            return fail(
                reading,
                self.content.header_range(),
                "The blocks made take one label; give it by labels = [...].",
            );
        };
        let value = reading.evaluate(labels, scope, functions);
        let elements = value.elements().unwrap_or_default();
        let [(_, label)] = &elements[..] else {
            return fail(
                reading,
                labels.range(),
                "labels must be a list of exactly one text.",
            );
        };
        match convert(label.clone(), &Type::String)
            .ok()
            .as_ref()
            .and_then(Value::as_shared_str)
        {
            Some(text) => Some(text.clone()),
            None => fail(reading, labels.range(), "A label must be a known text."),
        }
    }
}

fn iterable(ty: &Type) -> bool {
    ty.is_collection() || matches!(ty, Type::Object(_) | Type::Tuple(_))
}

fn not_iterable(ty: &Type, range: SourceRange) -> Diagnostic {
    Diagnostic::error(
        "Invalid dynamic for_each value",
        format!(
            "for_each takes a list, set, map, tuple or object, but this is {}.",
            ty.friendly_name()
        ),
    )
    .at(range)
}

/// The scope in which the content of a dynamic block is read: `NAME.key` and `NAME.value`.
pub(crate) struct IteratorScope<'s> {
    outer: &'s dyn Scope,
    name: Arc<str>,
    key: Value,
    value: Value,
}

impl Scope for IteratorScope<'_> {
    fn resolve(&self, reference: &Traversal) -> Resolved {
        if reference.root != self.name {
            return self.outer.resolve(reference);
        }
        match reference.attribute(0).map(|a| &**a) {
            Some("key") => Resolved::new(self.key.clone(), 1),
            Some("value") => Resolved::new(self.value.clone(), 1),
            _ => Resolved::failed(
                Diagnostic::error(
                    "Invalid reference",
                    format!(
                        "\"{}\" is the current element of a dynamic block; refer to {0}.key or {0}.value.",
                        self.name
                    ),
                )
                .at(reference.range()),
            ),
        }
    }

    fn check(&self, reference: &Traversal) -> formwork_diagnostics::Diagnostics {
        if reference.root == self.name {
            return self.resolve(reference).diagnostics;
        }
        self.outer.check(reference)
    }
}
