//! The difference of two values, line by line.
//!
//! What is the same on both sides is counted, not shown, save for one element before and after a
//! changed one of a list. Text of several lines is compared line by line, and text that is JSON on
//! both sides as what it means. A null attribute of an object is one that is not there.

use super::align::{Pair, align};
use super::page::{
    FORCES, Page, SENSITIVE, Sign, UNKNOWN, brief, counted, inline, key, label, tame, text_lines,
};
use formwork_addresses::ModuleInstance;
use formwork_provider_schema::{Attribute, Block};
use formwork_syntax::on_deep_stack;
use formwork_values::{Kind, Path, Step, Value, implied_from_json};
use std::collections::HashSet;
use std::sync::Arc;

/// Unchanged lines of a text shown around changed ones.
const CONTEXT: usize = 2;

/// A text of more lines than this is cut where all of it comes or goes.
const MOST_LINES: usize = 30;
/// So much of it is shown.
const FIRST_LINES: usize = 20;

/// What the schema adds to a value.
#[derive(Clone, Copy, Default)]
pub(crate) struct Shape<'a> {
    /// Attributes of the objects it is made of.
    pub object: Option<&'a Block>,
    /// Whether it is never to be shown.
    pub sensitive: bool,
}

impl<'a> Shape<'a> {
    pub(crate) fn of(attribute: &'a Attribute) -> Self {
        Self {
            object: attribute.as_nested().map(|n| &*n.object),
            sensitive: attribute.sensitive || attribute.write_only,
        }
    }

    /// The shape of an attribute of an object, if the schema is about this very object, else of an
    /// element.
    fn inside(self, names: &[Arc<str>], name: &str) -> Self {
        match self.object {
            Some(block) if block.object_type().names() == names => {
                block.attribute(name).map(Self::of).unwrap_or_default()
            }
            _ => self,
        }
    }
}

/// How an entry stands among others.
#[derive(Clone, Copy)]
pub(crate) struct Place<'a> {
    pub depth: usize,
    /// What stands before the value: `name = `, or nothing.
    pub label: &'a str,
    /// What stands after it: a comma, or nothing.
    pub end: &'a str,
}

/// Writes differences.
pub(crate) struct Differ<'a> {
    pub page: &'a mut Page,
    /// Paths that force a replacement.
    pub replace: &'a [Path],
    /// Where we are.
    pub path: Path,
    /// The module whose names need no prefix.
    pub module: ModuleInstance,
    /// Whether nulls are shown, as they are within JSON.
    nulls: bool,
}

impl<'a> Differ<'a> {
    pub(crate) fn new(page: &'a mut Page, replace: &'a [Path]) -> Self {
        Self {
            page,
            replace,
            path: Path::ROOT,
            module: ModuleInstance::root(),
            nulls: false,
        }
    }

    /// Takes a step around `work`.
    pub(crate) fn within(&mut self, step: Step, work: impl FnOnce(&mut Self)) {
        self.path.push(step);
        work(self);
        self.path.pop();
    }

    /// The remark for a value shown whole: whether anything in it forces a replacement.
    fn forces_inside(&self) -> &'static str {
        if self.replace.iter().any(|p| self.path.is_prefix_of(p)) {
            FORCES
        } else {
            ""
        }
    }

    /// The remark for a value whose parts are shown too.
    pub(crate) fn forces_here(&self) -> &'static str {
        if self.replace.contains(&self.path) {
            FORCES
        } else {
            ""
        }
    }

    /// Whether this very path or one inside it forces a replacement.
    pub(crate) fn forces(&self) -> bool {
        !self.forces_inside().is_empty()
    }

    /// One entry: an attribute or element that may be there before, after or both.
    pub(crate) fn entry(
        &mut self,
        at: Place<'_>,
        before: Option<&Value>,
        after: Option<&Value>,
        shape: Shape<'_>,
    ) {
        on_deep_stack(|| match (before, after) {
            (None, None) => {}
            (None, Some(a)) => self.whole(at, Sign::Add, a, shape),
            (Some(b), None) => self.whole(at, Sign::Remove, b, shape),
            (Some(b), Some(a)) if b == a => self.whole(at, Sign::None, a, shape),
            (Some(b), Some(a)) => self.update(at, b, a, shape),
        });
    }

    /// A value of which all parts have the same fate.
    pub(crate) fn whole(&mut self, at: Place<'_>, sign: Sign, value: &Value, shape: Shape<'_>) {
        let note = if sign == Sign::None {
            ""
        } else {
            self.forces_inside()
        };
        self.plain(at, sign, value, shape, note);
    }

    fn plain(&mut self, at: Place<'_>, sign: Sign, value: &Value, shape: Shape<'_>, note: &str) {
        on_deep_stack(|| self.plain_step(at, sign, value, shape, note));
    }

    fn plain_step(
        &mut self,
        at: Place<'_>,
        sign: Sign,
        value: &Value,
        shape: Shape<'_>,
        note: &str,
    ) {
        let Place {
            depth,
            label: name,
            end,
        } = at;
        if shape.sensitive && !value.is_null() {
            self.page
                .line(depth, sign, &format!("{name}{SENSITIVE}{end}{note}"));
            return;
        }
        let structured = match value.kind() {
            Kind::String(s) => json(s),
            _ => None,
        };
        if let Some(structured) = structured {
            self.page
                .line(depth, sign, &format!("{name}jsonencode({note}"));
            let inner = Place {
                depth: depth + 1,
                label: "",
                end: "",
            };
            self.as_json(|d| d.plain(inner, sign, &structured, Shape::default(), ""));
            self.page.line(depth, Sign::None, &format!("){end}"));
            return;
        }
        if let Some(text) = inline(value) {
            let note = self.noted(value, note);
            self.page
                .line(depth, sign, &format!("{name}{text}{end}{note}"));
            return;
        }
        let element = Place {
            depth: depth + 1,
            label: "",
            end: ",",
        };
        let (open, close) = brackets(value);
        if !open.is_empty() {
            self.page.line(depth, sign, &format!("{name}{open}{note}"));
        }
        match value.unmarked().kind() {
            Kind::String(text) => {
                let lines = text_lines(text);
                let word = heredoc_word(lines.iter().copied());
                self.page
                    .line(depth, sign, &format!("{name}<<-{word}{note}"));
                // of a long text that comes or goes, the beginning tells which it is
                let shown = match sign {
                    Sign::None => lines.len(),
                    _ if lines.len() > MOST_LINES => FIRST_LINES,
                    _ => lines.len(),
                };
                for line in lines.iter().take(shown) {
                    self.page.line(depth + 1, Sign::None, &tame(line));
                }
                if shown < lines.len() {
                    let more = counted(lines.len() - shown, "more line");
                    self.page.remark(depth + 1, &format!("({more})"));
                }
                self.page.line(depth, Sign::None, &format!("{word}{end}"));
            }
            Kind::List(values) | Kind::Set(values) | Kind::Tuple(values) => {
                for value in values {
                    self.plain(element, sign, value, shape, "");
                }
            }
            Kind::Map(entries) => {
                let width = width(entries.iter().map(|e| &*e.0));
                for (name, value) in entries {
                    let label = label(&key(name), width);
                    let place = Place {
                        depth: depth + 1,
                        label: &label,
                        end: "",
                    };
                    self.plain(place, sign, value, shape, "");
                }
            }
            Kind::Object(ty, values) => {
                let names = ty.names();
                let shown = || {
                    let pairs = names.iter().zip(values);
                    pairs.filter(|(_, v)| self.nulls || !v.is_null())
                };
                let width = width(shown().map(|(n, _)| &**n));
                let shown: Vec<_> = shown().collect();
                for (name, value) in shown {
                    let label = label(&key(name), width);
                    let place = Place {
                        depth: depth + 1,
                        label: &label,
                        end: "",
                    };
                    self.plain(place, sign, value, shape.inside(names, name), "");
                }
            }
            _ => {}
        }
        if !close.is_empty() {
            self.page.line(depth, Sign::None, &format!("{close}{end}"));
        }
    }

    fn update(&mut self, at: Place<'_>, before: &Value, after: &Value, shape: Shape<'_>) {
        let Place {
            depth,
            label: name,
            end,
        } = at;
        let hidden = |v: &Value| v.marks().is_sensitive() || v.marks().is_ephemeral();
        if shape.sensitive || hidden(before) || hidden(after) {
            if !shape.sensitive && hidden(before) != hidden(after) {
                self.page.remark(
                    depth,
                    if hidden(after) {
                        "(becomes sensitive when applied)"
                    } else {
                        "(is no longer sensitive once applied)"
                    },
                );
            }
            let note = self.forces_inside();
            let text = format!("{name}{SENSITIVE}{end}{note}");
            self.page.line(depth, Sign::Change, &text);
            return;
        }
        let (before, after) = (before.unmarked(), after.unmarked());
        if !after.is_known() {
            let note = self.noted(after, self.forces_inside());
            let text = format!("{name}{} -> {UNKNOWN}{end}{note}", brief(before));
            self.page.line(depth, Sign::Change, &text);
            return;
        }
        match (before.kind(), after.kind()) {
            (Kind::String(b), Kind::String(a)) if self.text(at, b, a) => {}
            (Kind::List(b) | Kind::Tuple(b), Kind::List(a) | Kind::Tuple(a)) => {
                self.open(at, "[");
                self.sequence(depth + 1, b, a, shape);
                self.page.line(depth, Sign::None, &format!("]{end}"));
            }
            (Kind::Set(b), Kind::Set(a)) => {
                self.open(at, "[");
                self.set(depth + 1, b, a, shape);
                self.page.line(depth, Sign::None, &format!("]{end}"));
            }
            (Kind::Map(_) | Kind::Object(..), Kind::Map(_) | Kind::Object(..)) => {
                self.open(at, "{");
                self.entries(depth + 1, before, after, shape);
                self.page.line(depth, Sign::None, &format!("}}{end}"));
            }
            _ => match (inline(before), inline(after)) {
                (Some(b), Some(a)) => {
                    let note = self.forces_inside();
                    let text = format!("{name}{b} -> {a}{end}{note}");
                    self.page.line(depth, Sign::Change, &text);
                }
                _ => {
                    let note = self.forces_inside();
                    self.plain(at, Sign::Remove, before, shape, "");
                    self.plain(at, Sign::Add, after, shape, note);
                }
            },
        }
    }

    /// The remark, and whose attribute a value is that is not known yet.
    fn noted(&self, value: &Value, note: &str) -> String {
        let Some(origin) = value.origin().filter(|_| !value.marks().is_sensitive()) else {
            return note.to_owned();
        };
        let address = &origin.address;
        let near = address.module == self.module;
        let from = match near {
            true => address.resource.instance(address.key.clone()).to_string(),
            false => address.to_string(),
        };
        let path = &origin.path;
        match note {
            "" => format!(" # {from}{path}"),
            forces => format!("{forces}: {from}{path}"),
        }
    }

    fn open(&mut self, at: Place<'_>, bracket: &str) {
        let text = format!("{}{bracket}{}", at.label, self.forces_here());
        self.page.line(at.depth, Sign::Change, &text);
    }

    /// Text that is JSON on both sides, or has several lines; false if it is neither.
    fn text(&mut self, at: Place<'_>, before: &str, after: &str) -> bool {
        let Place {
            depth,
            label: name,
            end,
        } = at;
        let note = self.forces_inside();
        if let (Some(b), Some(a)) = (json(before), json(after)) {
            if b == a {
                let text = format!("{name}(the same JSON, written differently){end}{note}");
                self.page.line(depth, Sign::Change, &text);
                return true;
            }
            self.page
                .line(depth, Sign::Change, &format!("{name}jsonencode({note}"));
            let inner = Place {
                depth: depth + 1,
                label: "",
                end: "",
            };
            self.as_json(|d| d.entry(inner, Some(&b), Some(&a), Shape::default()));
            self.page.line(depth, Sign::None, &format!("){end}"));
            return true;
        }
        if !before.contains('\n') && !after.contains('\n') {
            return false;
        }
        let (b, a) = (text_lines(before), text_lines(after));
        let word = heredoc_word(b.iter().chain(&a).copied());
        self.page
            .line(depth, Sign::Change, &format!("{name}<<-{word}{note}"));
        let pairs = align(&b, &a, |_, _| false);
        let shown = near_changes(&pairs, CONTEXT);
        let mut hidden = 0;
        for (pair, shown) in pairs.iter().zip(shown) {
            if !shown {
                hidden += 1;
                continue;
            }
            self.say_hidden(depth + 1, &mut hidden, "line");
            let (sign, line) = match pair {
                Pair::Same(_, i) => (Sign::None, a[*i]),
                Pair::Added(i) | Pair::Changed(_, i) => (Sign::Add, a[*i]),
                Pair::Removed(i) => (Sign::Remove, b[*i]),
            };
            self.page.line(depth + 1, sign, &tame(line));
        }
        self.say_hidden(depth + 1, &mut hidden, "line");
        let ends = (before.ends_with('\n'), after.ends_with('\n'));
        self.page.line(depth, Sign::None, &format!("{word}{end}"));
        match ends {
            (true, false) => self.page.remark(depth, "(the line feed at the end goes)"),
            (false, true) => self.page.remark(depth, "(a line feed comes at the end)"),
            _ => {}
        }
        true
    }

    /// Elements in order.
    fn sequence(&mut self, depth: usize, before: &[Value], after: &[Value], shape: Shape<'_>) {
        let pairs = align(before, after, alike);
        let shown = near_changes(&pairs, 1);
        let mut hidden = 0;
        let at = Place {
            depth,
            label: "",
            end: ",",
        };
        for (pair, shown) in pairs.iter().zip(shown) {
            if !shown {
                hidden += 1;
                continue;
            }
            self.say_hidden(depth, &mut hidden, "element");
            let (b, a, index) = match *pair {
                Pair::Same(b, a) | Pair::Changed(b, a) => (Some(&before[b]), Some(&after[a]), a),
                Pair::Removed(b) => (Some(&before[b]), None, b),
                Pair::Added(a) => (None, Some(&after[a]), a),
            };
            self.within(position(index), |d| d.entry(at, b, a, shape));
        }
        self.say_hidden(depth, &mut hidden, "element");
    }

    /// Elements without order. One that went and one that came are shown as a change of it.
    fn set(&mut self, depth: usize, before: &[Value], after: &[Value], shape: Shape<'_>) {
        let (gone, come, same) = set_difference(before, after);
        let at = Place {
            depth,
            label: "",
            end: ",",
        };
        if let ([gone], [come]) = (&gone[..], &come[..])
            && similar_objects(gone, come)
        {
            self.entry(at, Some(gone), Some(come), shape);
        } else {
            for value in gone {
                self.entry(at, Some(value), None, shape);
            }
            for value in come {
                self.entry(at, None, Some(value), shape);
            }
        }
        let mut hidden = same;
        self.say_hidden(depth, &mut hidden, "element");
    }

    /// Entries of maps, attributes of objects.
    fn entries(&mut self, depth: usize, before: &Value, after: &Value, shape: Shape<'_>) {
        let nulls = self.nulls;
        let there = |v: &&Value| nulls || !v.is_null();
        let (mut changed, mut hidden) = (Vec::new(), 0);
        let (b, a) = (keyed(before), keyed(after));
        let is_map = |v: &Value| matches!(v.kind(), Kind::Map(_));
        let maps = is_map(before) || is_map(after);
        for (name, before, after) in merged(&b, &a) {
            // of a map, a null element is one; of an object, a null attribute is none
            let (before, after) = match maps {
                true => (before, after),
                false => (before.filter(there), after.filter(there)),
            };
            match (before, after) {
                (None, None) => {}
                (b, a) if b == a => hidden += 1,
                (b, a) => changed.push((name, b, a)),
            }
        }
        let width = width(changed.iter().map(|c| &**c.0));
        let names: &[Arc<str>] = match after.kind() {
            Kind::Object(ty, _) => ty.names(),
            _ => &[],
        };
        for (name, before, after) in changed {
            let label = label(&key(name), width);
            let at = Place {
                depth,
                label: &label,
                end: "",
            };
            let step = match maps {
                true => Step::Index(Value::shared_string(name.clone())),
                false => Step::Attribute(name.clone()),
            };
            let shape = shape.inside(names, name);
            self.within(step, |d| d.entry(at, before, after, shape));
        }
        let what = if maps { "element" } else { "attribute" };
        self.say_hidden(depth, &mut hidden, what);
    }

    /// Says how many things were left out, and begins counting anew.
    pub(crate) fn say_hidden(&mut self, depth: usize, hidden: &mut usize, what: &str) {
        if *hidden > 0 {
            let n = std::mem::take(hidden);
            let text = counted(n, &format!("unchanged {what}"));
            self.page.remark(depth, &format!("({text} hidden)"));
        }
    }

    /// Within JSON: nulls are shown, and paths mean nothing to the provider.
    fn as_json(&mut self, work: impl FnOnce(&mut Self)) {
        let nulls = std::mem::replace(&mut self.nulls, true);
        let replace = std::mem::take(&mut self.replace);
        work(self);
        self.replace = replace;
        self.nulls = nulls;
    }
}

fn brackets(value: &Value) -> (&'static str, &'static str) {
    match value.unmarked().kind() {
        Kind::List(_) | Kind::Set(_) | Kind::Tuple(_) => ("[", "]"),
        Kind::Map(_) | Kind::Object(..) => ("{", "}"),
        _ => ("", ""),
    }
}

pub(crate) fn position(index: usize) -> Step {
    Step::Index(Value::int(i64::try_from(index).unwrap_or(i64::MAX)))
}

/// Length of the longest key as written.
pub(crate) fn width<'n>(names: impl Iterator<Item = &'n str>) -> usize {
    names.map(|n| key(n).chars().count()).max().unwrap_or(0)
}

/// The object or array that a text is as JSON; `None` for all other texts.
fn json(text: &str) -> Option<Value> {
    let trimmed = text.trim_start();
    if !trimmed.starts_with(['{', '[']) {
        return None;
    }
    let value = implied_from_json(text.as_bytes()).ok()?;
    // an empty one says as much as its text
    inline(&value).is_none().then_some(value)
}

/// A word that ends a heredoc of these lines.
fn heredoc_word<'l>(lines: impl Iterator<Item = &'l str> + Clone) -> String {
    let mut word = "EOT".to_owned();
    while lines.clone().any(|l| l.trim() == word) {
        word.push('_');
    }
    word
}

/// Whether one element may be shown as having become the other: both hold something of their own.
fn alike(before: &Value, after: &Value) -> bool {
    let compound = |v: &Value| !brackets(v).0.is_empty();
    compound(before) == compound(after)
}

/// Whether two objects share at least half of their attributes that are set.
pub(crate) fn similar_objects(before: &Value, after: &Value) -> bool {
    let (Kind::Object(..), Kind::Object(..)) = (before.kind(), after.kind()) else {
        return false;
    };
    let (b, a) = (keyed(before), keyed(after));
    let (mut same, mut all) = (0, 0);
    for (_, b, a) in merged(&b, &a) {
        let set = |v: Option<&Value>| v.is_some_and(|v| !v.is_null());
        if set(b) || set(a) {
            all += 1;
            same += usize::from(b == a);
        }
    }
    2 * same >= all
}

/// What is only before, what is only after, and how many are in both.
pub(crate) fn set_difference<'v>(
    before: &'v [Value],
    after: &'v [Value],
) -> (Vec<&'v Value>, Vec<&'v Value>, usize) {
    let old: HashSet<&Value> = before.iter().collect();
    let new: HashSet<&Value> = after.iter().collect();
    let gone: Vec<&Value> = before.iter().filter(|v| !new.contains(v)).collect();
    let come: Vec<&Value> = after.iter().filter(|v| !old.contains(v)).collect();
    let same = after.len() - come.len();
    (gone, come, same)
}

/// Which of the pairs lie within `distance` of one that is no `Same`.
pub(crate) fn near_changes(pairs: &[Pair], distance: usize) -> Vec<bool> {
    let mut near = vec![false; pairs.len()];
    let same = |p: &Pair| matches!(p, Pair::Same(..));
    let mut since = usize::MAX;
    for (i, pair) in pairs.iter().enumerate() {
        since = if same(pair) {
            since.saturating_add(1)
        } else {
            0
        };
        near[i] |= since <= distance;
    }
    since = usize::MAX;
    for (i, pair) in pairs.iter().enumerate().rev() {
        since = if same(pair) {
            since.saturating_add(1)
        } else {
            0
        };
        near[i] |= since <= distance;
    }
    near
}

/// Entries of a map or attributes of an object, in the order of their keys.
pub(crate) fn keyed(value: &Value) -> Vec<(&Arc<str>, &Value)> {
    match value.unmarked().kind() {
        Kind::Map(entries) => entries.iter().map(|(k, v)| (k, v)).collect(),
        Kind::Object(ty, values) => ty.names().iter().zip(values).collect(),
        _ => Vec::new(),
    }
}

type Keyed<'v> = (&'v Arc<str>, &'v Value);

/// Two sorted lists of entries as one.
pub(crate) fn merged<'v>(
    before: &[Keyed<'v>],
    after: &[Keyed<'v>],
) -> Vec<(&'v Arc<str>, Option<&'v Value>, Option<&'v Value>)> {
    let mut all = Vec::with_capacity(before.len().max(after.len()));
    let (mut b, mut a) = (before.iter().peekable(), after.iter().peekable());
    loop {
        let order = match (b.peek(), a.peek()) {
            (None, None) => return all,
            (Some(_), None) => std::cmp::Ordering::Less,
            (None, Some(_)) => std::cmp::Ordering::Greater,
            (Some((x, _)), Some((y, _))) => x.as_bytes().cmp(y.as_bytes()),
        };
        let before = if order.is_le() { b.next() } else { None };
        let after = if order.is_ge() { a.next() } else { None };
        let Some((name, _)) = before.or(after) else {
            return all;
        };
        all.push((*name, before.map(|e| e.1), after.map(|e| e.1)));
    }
}
