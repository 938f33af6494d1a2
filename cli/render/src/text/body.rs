//! Bodies of resources: attributes first, then nested blocks, as the schema has them.

use super::align::{Pair, align};
use super::difference::{
    Differ, Place, Shape, keyed, merged, position, set_difference, similar_objects, width,
};
use super::page::{Sign, counted, key, label};
use formwork_provider_schema::{Block, BlockNesting, Field, NestedBlock};
use formwork_syntax::on_deep_stack;
use formwork_values::{Kind, Step, Value};
use std::sync::Arc;

/// So many attributes that the provider alone decides are named one by one; more become a remark.
const FEW_COMPUTED: usize = 2;

/// A body before and after.
#[derive(Clone, Copy)]
pub(crate) struct Body<'v> {
    pub block: Option<&'v Block>,
    pub before: Option<&'v Value>,
    pub after: Option<&'v Value>,
}

impl Differ<'_> {
    /// The lines of a body. `identify` shows attributes that name an object although they stay.
    pub(crate) fn body(&mut self, depth: usize, body: Body<'_>, identify: bool) {
        on_deep_stack(|| self.body_step(depth, body, identify));
    }

    fn body_step(&mut self, depth: usize, body: Body<'_>, identify: bool) {
        let there = |v: &&Value| !v.is_null();
        let before = body.before.map(Value::unmarked).filter(there);
        let after = body.after.map(Value::unmarked).filter(there);
        if after.is_some_and(|a| !a.is_known()) {
            self.page.remark(depth, "(all of it known after apply)");
            return;
        }
        let (b, a) = (
            before.map(keyed).unwrap_or_default(),
            after.map(keyed).unwrap_or_default(),
        );
        let mut shown: Vec<(&Arc<str>, Option<&Value>, Option<&Value>)> = Vec::new();
        let mut computed: Vec<&Arc<str>> = Vec::new();
        let mut blocks = Vec::new();
        let (mut hidden, mut set_by_provider) = (0, 0);
        let whole = before.is_none() || after.is_none();
        let provided = |name: &str| {
            let attribute = body.block.and_then(|block| block.attribute(name));
            name != "id" && attribute.is_some_and(|a| a.computed && !a.optional)
        };
        for (name, before, after) in merged(&b, &a) {
            let field = body.block.and_then(|block| block.field(name));
            if let Some(Field::Block(nested)) = field {
                // how many blocks the provider will make is one more thing it decides
                let unknown = after.is_some_and(|a| !a.is_known() && !a.marks().is_sensitive());
                if unknown && before.is_none_or(is_empty) {
                    computed.push(name);
                } else {
                    blocks.push((name, nested, before, after));
                }
                continue;
            }
            let (before, after) = (before.filter(there), after.filter(there));
            match (before, after) {
                (None, None) => {}
                (b, a) if b == a => {
                    let names = matches!(&**name, "id" | "name") && identify;
                    if names {
                        shown.push((name, b, a));
                    } else {
                        hidden += 1;
                    }
                }
                (before, Some(a)) if !a.is_known() && self.is_computed(name, body, before, a) => {
                    computed.push(name);
                }
                // with the whole body comes or goes what the provider alone decides
                (None, Some(_)) | (Some(_), None) if whole && provided(name) => {
                    set_by_provider += 1
                }
                (b, a) => shown.push((name, b, a)),
            }
        }
        let few = computed.len() <= FEW_COMPUTED;
        let is_block = |name: &str| body.block.is_some_and(|b| b.nested_block(name).is_some());
        if few && !computed.iter().any(|n| is_block(n)) {
            for name in computed.drain(..) {
                let before = b.iter().find(|e| e.0 == name).map(|e| e.1).filter(there);
                let after = a.iter().find(|e| e.0 == name).map(|e| e.1);
                shown.push((name, before, after));
            }
            shown.sort_by(|x, y| x.0.cmp(y.0));
        }
        let anything = !shown.is_empty() || !computed.is_empty() || hidden + set_by_provider > 0;
        let width = width(shown.iter().map(|s| &**s.0));
        for (name, before, after) in shown {
            let label = label(&key(name), width);
            let at = Place {
                depth,
                label: &label,
                end: "",
            };
            let shape = match body.block.and_then(|block| block.attribute(name)) {
                Some(attribute) => Shape::of(attribute),
                None => Shape::default(),
            };
            let step = Step::Attribute(name.clone());
            self.within(step, |d| d.entry(at, before, after, shape));
        }
        // of the resource itself their names, of its many blocks only their number
        let attributes = computed.iter().filter(|n| !is_block(n)).count();
        if depth > 1 && attributes == computed.len() && attributes > FEW_COMPUTED {
            let text = counted(attributes, "attribute");
            self.page
                .remark(depth, &format!("({text} known after apply)"));
        } else if !computed.is_empty() {
            let names: Vec<&str> = computed.iter().map(|n| &***n).collect();
            self.page
                .long_remark(depth, "(known after apply:", &names, ")");
        }
        if set_by_provider > 0 {
            let text = counted(set_by_provider, "computed attribute");
            self.page.remark(depth, &format!("({text} hidden)"));
        }
        self.say_hidden(depth, &mut hidden, "attribute");
        self.blocks(depth, &blocks, anything);
    }

    /// Whether an attribute that is not known yet is the provider's to decide, so that saying so is
    /// all there is to say.
    fn is_computed(
        &mut self,
        name: &Arc<str>,
        body: Body<'_>,
        before: Option<&Value>,
        after: &Value,
    ) -> bool {
        // which object is replaced or changed is worth a line
        if &**name == "id" && before.is_some() {
            return false;
        }
        let mut forces = false;
        self.within(Step::Attribute(name.clone()), |d| forces = d.forces());
        if forces {
            return false;
        }
        // what a reference brings is the user's, and has an origin
        match body.block.and_then(|block| block.attribute(name)) {
            Some(a) => a.computed && (!a.optional || after.origin().is_none()),
            None => false,
        }
    }

    fn blocks(&mut self, depth: usize, blocks: &[Blocks<'_>], mut separate: bool) {
        let mut hidden = 0;
        for (name, nested, before, after) in blocks {
            let mut lines = Vec::new();
            self.pair_blocks(nested, *before, *after, &mut lines, &mut hidden);
            if separate && !lines.is_empty() {
                self.page.blank();
                separate = false;
            }
            // blocks that look the same are told once
            let (mut last, mut repeated) = (String::new(), 0);
            for line in lines {
                let start = self.page.out.len();
                let step = Step::Attribute((*name).clone());
                self.within(step, |d| d.nested(depth, name, nested, line));
                let text = self.page.out.split_off(start);
                if text == last {
                    repeated += 1;
                } else {
                    self.say_repeated(depth, &mut repeated);
                    self.page.out.push_str(&text);
                    last = text;
                }
            }
            self.say_repeated(depth, &mut repeated);
        }
        if hidden > 0 {
            if separate {
                self.page.blank();
            }
            self.say_hidden(depth, &mut hidden, "block");
        }
    }

    fn say_repeated(&mut self, depth: usize, repeated: &mut usize) {
        if *repeated > 0 {
            let n = std::mem::take(repeated);
            self.page
                .remark(depth, &format!("(and {n} more like this)"));
        }
    }

    /// Which blocks of a name are shown, and how many stay as they are.
    fn pair_blocks<'v>(
        &self,
        nested: &NestedBlock,
        before: Option<&'v Value>,
        after: Option<&'v Value>,
        out: &mut Vec<BlockLine<'v>>,
        hidden: &mut usize,
    ) {
        let sensitive = |v: Option<&Value>| v.is_some_and(|v| v.marks().is_sensitive());
        let (was, will) = (sensitive(before), sensitive(after));
        let present = |v: &&Value| !v.is_null();
        let before = before.map(Value::unmarked).filter(present);
        let after = after.map(Value::unmarked).filter(present);
        if was || will {
            match (before, after) {
                (None, None) => {}
                (b, a) if b == a && was == will => *hidden += 1,
                (b, a) => out.push(BlockLine::Sensitive(sign(b.is_some(), a.is_some()))),
            }
            return;
        }
        if after.is_some_and(|a| !a.is_known()) {
            out.push(BlockLine::Unknown(sign(
                before.is_some_and(|b| !is_empty(b)),
                true,
            )));
            return;
        }
        let mut push = |b: Option<&'v Value>, a: Option<&'v Value>, step, label| {
            if b == a {
                *hidden += usize::from(b.is_some());
            } else {
                out.push(BlockLine::Body {
                    before: b,
                    after: a,
                    step,
                    label,
                });
            }
        };
        match nested.nesting {
            BlockNesting::Single | BlockNesting::Group => {
                let set = |v: &&'v Value| keyed(v).iter().any(|(_, v)| !is_empty(v));
                // a group is always there; one of which nothing is set was not written
                let group = nested.nesting == BlockNesting::Group;
                let (b, a) = match group {
                    true => (before.filter(set), after.filter(set)),
                    false => (before, after),
                };
                push(b, a, None, None);
            }
            BlockNesting::List => {
                let of = |v: Option<&'v Value>| v.and_then(Value::as_sequence).unwrap_or_default();
                let (b, a) = (of(before), of(after));
                for pair in align(b, a, |_, _| true) {
                    match pair {
                        Pair::Same(i, j) | Pair::Changed(i, j) => {
                            push(Some(&b[i]), Some(&a[j]), Some(position(j)), None);
                        }
                        Pair::Removed(i) => push(Some(&b[i]), None, Some(position(i)), None),
                        Pair::Added(j) => push(None, Some(&a[j]), Some(position(j)), None),
                    }
                }
            }
            BlockNesting::Set => {
                let of = |v: Option<&'v Value>| v.and_then(Value::as_sequence).unwrap_or_default();
                let (gone, come, same) = set_difference(of(before), of(after));
                if let ([b], [a]) = (&gone[..], &come[..])
                    && similar_objects(b, a)
                {
                    push(Some(b), Some(a), None, None);
                } else {
                    for b in gone {
                        push(Some(b), None, None, None);
                    }
                    for a in come {
                        push(None, Some(a), None, None);
                    }
                }
                *hidden += same;
            }
            BlockNesting::Map => {
                let of = |v: Option<&'v Value>| v.map(keyed).unwrap_or_default();
                for (name, b, a) in merged(&of(before), &of(after)) {
                    let step = Step::Index(Value::shared_string(name.clone()));
                    push(b, a, Some(step), Some(name.clone()));
                }
            }
        }
    }

    fn nested(&mut self, depth: usize, name: &str, nested: &NestedBlock, line: BlockLine<'_>) {
        let forces = self.forces_here();
        match line {
            BlockLine::Sensitive(sign) => {
                self.page
                    .line(depth, sign, &format!("{name} {{ (sensitive) }}{forces}"));
            }
            BlockLine::Unknown(sign) => {
                let text = format!("{name} {{ (known after apply) }}{forces}");
                self.page.line(depth, sign, &text);
            }
            BlockLine::Body {
                before,
                after,
                step,
                label,
            } => {
                let label = label
                    .map(|l| format!(" {}", formwork_syntax::quote(&l)))
                    .unwrap_or_default();
                let work = |d: &mut Self| {
                    let forces = match d.forces_here() {
                        "" => forces,
                        here => here,
                    };
                    let sign = sign(before.is_some(), after.is_some());
                    d.page
                        .line(depth, sign, &format!("{name}{label} {{{forces}"));
                    let body = Body {
                        block: Some(&nested.block),
                        before,
                        after,
                    };
                    d.body(depth + 1, body, true);
                    d.page.line(depth, Sign::None, "}");
                };
                match step {
                    Some(step) => self.within(step, work),
                    None => work(self),
                }
            }
        }
    }

    /// All there is of one object, unsigned, as `state show` has it.
    pub(crate) fn snapshot(&mut self, depth: usize, block: Option<&Block>, value: &Value) {
        on_deep_stack(|| {
            let fields = keyed(value);
            let is_block =
                |name: &str| matches!(block.and_then(|b| b.field(name)), Some(Field::Block(_)));
            let attributes: Vec<_> = fields
                .iter()
                .filter(|(name, v)| !is_block(name) && !v.is_null())
                .collect();
            let width = width(attributes.iter().map(|a| &**a.0));
            for (name, value) in attributes {
                let label = label(&key(name), width);
                let shape = block
                    .and_then(|b| b.attribute(name))
                    .map(Shape::of)
                    .unwrap_or_default();
                let at = Place {
                    depth,
                    label: &label,
                    end: "",
                };
                self.whole(at, Sign::None, value, shape);
            }
            for (name, value) in &fields {
                let Some(nested) = block.and_then(|b| b.nested_block(name)) else {
                    continue;
                };
                self.snapshot_blocks(depth, name, nested, value);
            }
        });
    }

    fn snapshot_blocks(&mut self, depth: usize, name: &str, nested: &NestedBlock, value: &Value) {
        if value.marks().is_sensitive() {
            self.page
                .line(depth, Sign::None, &format!("{name} {{ (sensitive) }}"));
            return;
        }
        let value = value.unmarked();
        let bodies: Vec<(String, &Value)> = match (nested.nesting, value.kind()) {
            (BlockNesting::Map, Kind::Map(_) | Kind::Object(..)) => keyed(value)
                .into_iter()
                .map(|(k, v)| (format!(" {}", formwork_syntax::quote(k)), v))
                .collect(),
            (_, Kind::Object(..)) => match keyed(value).iter().all(|(_, v)| is_empty(v)) {
                true => Vec::new(),
                false => vec![(String::new(), value)],
            },
            (_, Kind::List(v) | Kind::Set(v) | Kind::Tuple(v)) => {
                v.iter().map(|v| (String::new(), v)).collect()
            }
            _ => Vec::new(),
        };
        for (label, body) in bodies {
            self.page.blank();
            self.page
                .line(depth, Sign::None, &format!("{name}{label} {{"));
            self.snapshot(depth + 1, Some(&nested.block), body);
            self.page.line(depth, Sign::None, "}");
        }
    }
}

/// The blocks of a name: name, schema, value before, value after.
type Blocks<'v> = (
    &'v Arc<str>,
    &'v NestedBlock,
    Option<&'v Value>,
    Option<&'v Value>,
);

/// One block to be shown.
enum BlockLine<'v> {
    /// Something happens, but nobody may see what.
    Sensitive(Sign),
    /// How many there will be is not known yet.
    Unknown(Sign),
    Body {
        before: Option<&'v Value>,
        after: Option<&'v Value>,
        step: Option<Step>,
        label: Option<Arc<str>>,
    },
}

fn sign(before: bool, after: bool) -> Sign {
    match (before, after) {
        (false, true) => Sign::Add,
        (true, false) => Sign::Remove,
        (true, true) => Sign::Change,
        (false, false) => Sign::None,
    }
}

/// Null, or a collection of nothing.
fn is_empty(value: &Value) -> bool {
    match value.unmarked().kind() {
        Kind::Null(_) => true,
        Kind::List(v) | Kind::Set(v) | Kind::Tuple(v) => v.is_empty(),
        Kind::Map(e) => e.is_empty(),
        _ => false,
    }
}
