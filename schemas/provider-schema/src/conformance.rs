//! What a provider may answer.
//!
//! [`assert_plan_valid`]: a plan must be what the configuration says, or what was there before, and
//! only what the provider may fill in can be anything else. [`assert_object_compatible`]: what an
//! apply yields must be what the plan showed, and only what was unknown may have become known.
//!
//! Providers of the legacy type system (they say so in their answers) break these rules in ways that
//! everybody lives with: for them the caller reports nothing, or logs, and brings the answer into
//! shape first by [`normalise_legacy`].
//!
//! Values are without marks and conform to the schema's type. Errors hold paths and types, never
//! content.

use std::fmt;
use std::sync::Arc;

use formwork_values::{Kind, Path, Refinement, Step, Type, Value};

use crate::proposed::{object, same};
use crate::{Attribute, AttributeKind, AttributeNesting, Block, BlockNesting, Field, NestedBlock};

/// One thing in a provider's answer that must not be so.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConformanceError {
    /// Which part of the object.
    pub path: Path,
    /// What is wrong with it, as a clause without a full stop.
    pub message: String,
}

impl fmt::Display for ConformanceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.path.is_empty() {
            f.write_str(&self.message)
        } else {
            write!(f, "{}: {}", self.path, self.message)
        }
    }
}

impl std::error::Error for ConformanceError {}

/// The errors found so far and where the search is.
struct Check {
    path: Path,
    errors: Vec<ConformanceError>,
}

impl Check {
    fn new() -> Check {
        Check {
            path: Path::default(),
            errors: Vec::new(),
        }
    }

    fn report(&mut self, message: impl Into<String>) {
        self.errors.push(ConformanceError {
            path: self.path.clone(),
            message: message.into(),
        });
    }

    fn within(&mut self, step: Step, inside: impl FnOnce(&mut Check)) {
        self.path.push(step);
        inside(self);
        self.path.pop();
    }

    /// Whether a check finds nothing; what it finds is forgotten.
    fn passes(inside: impl FnOnce(&mut Check)) -> bool {
        let mut check = Check::new();
        inside(&mut check);
        check.errors.is_empty()
    }
}

fn position(at: usize) -> Step {
    Step::Index(Value::int(i64::try_from(at).unwrap_or(i64::MAX)))
}

/// Some element of a set: naming it would show content.
fn element() -> Step {
    Step::Index(Value::dynamic())
}

fn attribute(name: &Arc<str>) -> Step {
    Step::Attribute(name.clone())
}

fn key(name: &Arc<str>) -> Step {
    Step::Index(Value::shared_string(name.clone()))
}

/// Whether the planned object may follow from the prior one and the configuration. Empty: it may.
pub fn assert_plan_valid(
    block: &Block,
    prior: &Value,
    config: &Value,
    planned: &Value,
) -> Vec<ConformanceError> {
    let mut check = Check::new();
    plan_block(&mut check, block, prior, config, planned);
    check.errors
}

/// Whether one of the two is null and the other is not, reported; true if there is no more to check.
fn plan_presence(check: &mut Check, config: &Value, planned: &Value) -> bool {
    match (config.is_null(), planned.is_null()) {
        (true, true) => true,
        (true, false) => {
            check.report("planned for existence, but the configuration wants absence");
            true
        }
        (false, true) => {
            check.report("planned for absence, but the configuration wants existence");
            true
        }
        (false, false) => false,
    }
}

fn plan_block(check: &mut Check, block: &Block, prior: &Value, config: &Value, planned: &Value) {
    if plan_presence(check, config, planned) {
        return;
    }
    let (Kind::Object(_, configured), Kind::Object(_, plans)) = (config.kind(), planned.kind())
    else {
        if !same(config, planned) {
            check.report("the object itself is unknown, which only its attributes may be");
        }
        return;
    };
    for (((name, field), config), planned) in block.iter().zip(configured).zip(plans) {
        let before = prior_part(prior, name, field.ty());
        check.within(attribute(name), |check| match field {
            Field::Attribute(a) => plan_attribute(check, a, &before, config, planned),
            Field::Block(nested) => plan_blocks(check, nested, &before, config, planned),
        });
    }
}

fn prior_part(prior: &Value, name: &str, ty: &Type) -> Value {
    prior
        .attribute(name)
        .cloned()
        .unwrap_or_else(|| Value::null(ty.clone()))
}

fn plan_attribute(
    check: &mut Check,
    a: &Attribute,
    prior: &Value,
    config: &Value,
    planned: &Value,
) {
    if a.write_only {
        if !planned.is_null() {
            check.report("a write-only attribute must be null in a plan");
        }
        return;
    }
    if same(planned, config) {
        return;
    }
    if config.is_null() && a.computed {
        return;
    }
    // the provider may keep a prior value that it takes to mean the same as the configured one
    if !prior.is_null() && !config.is_null() && same(planned, prior) {
        return;
    }
    if let AttributeKind::Nested(nested) = &a.kind {
        plan_nested(
            check,
            nested.nesting,
            &nested.object,
            prior,
            config,
            planned,
        );
        return;
    }
    check.report(match (config.is_null(), prior.is_null()) {
        (true, _) => "a value is planned for an attribute that the provider does not compute",
        (false, true) => "the planned value is not the configured one",
        (false, false) => "the planned value is neither the configured nor the prior one",
    });
}

fn plan_nested(
    check: &mut Check,
    nesting: AttributeNesting,
    object: &Block,
    prior: &Value,
    config: &Value,
    planned: &Value,
) {
    if !config.is_known() {
        // what is configured may turn out to be anything of the type
        return;
    }
    if plan_presence(check, config, planned) {
        return;
    }
    if !planned.is_known() {
        check.report("planned as unknown, but the configuration knows it");
        return;
    }
    let each = |check: &mut Check, prior: &Value, config: &Value, planned: &Value| {
        if same(planned, config) {
            return;
        }
        plan_block(check, object, prior, config, planned);
    };
    match nesting {
        AttributeNesting::Single => plan_block(check, object, prior, config, planned),
        AttributeNesting::List => plan_list(check, prior, config, planned, "element", &each),
        AttributeNesting::Map => plan_map(check, prior, config, planned, "element", &each),
        AttributeNesting::Set => plan_set(check, object, config, planned, "element"),
    }
}

fn plan_blocks(
    check: &mut Check,
    nested: &NestedBlock,
    prior: &Value,
    config: &Value,
    planned: &Value,
) {
    if !config.is_known() {
        // a dynamic block whose for_each is not known yet stands for itself
        if !same(planned, config) {
            check.report("blocks that are not known yet must stay unknown in the plan");
        }
        return;
    }
    if !planned.is_known() {
        check.report("nested blocks themselves cannot be unknown, only their attributes");
        return;
    }
    let block = &nested.block;
    let each = |check: &mut Check, prior: &Value, config: &Value, planned: &Value| {
        plan_block(check, block, prior, config, planned);
    };
    match nested.nesting {
        BlockNesting::Single | BlockNesting::Group => {
            plan_block(check, block, prior, config, planned);
        }
        _ if config.is_null() || planned.is_null() => {
            plan_presence(check, config, planned);
        }
        BlockNesting::List => plan_list(check, prior, config, planned, "block", &each),
        BlockNesting::Map => plan_map(check, prior, config, planned, "block", &each),
        BlockNesting::Set => plan_set(check, block, config, planned, "block"),
    }
}

type PlanOne<'a> = &'a dyn Fn(&mut Check, &Value, &Value, &Value);

fn plan_list(
    check: &mut Check,
    prior: &Value,
    config: &Value,
    planned: &Value,
    what: &str,
    each: PlanOne<'_>,
) {
    let (Some(configured), Some(plans)) = (config.as_sequence(), planned.as_sequence()) else {
        return;
    };
    if configured.len() != plans.len() {
        let (planned, configured) = (plans.len(), configured.len());
        check.report(format!(
            "the plan has {planned} {what}s, the configuration {configured}"
        ));
        return;
    }
    let before = prior.as_sequence().unwrap_or(&[]);
    for (i, (config, planned)) in configured.iter().zip(plans).enumerate() {
        let none = Value::null(config.type_of());
        let prior = before.get(i).unwrap_or(&none);
        check.within(position(i), |check| each(check, prior, config, planned));
    }
}

/// Entries of a map, or of the object that stands for one when types differ.
fn entries(value: &Value) -> Vec<(Arc<str>, Value)> {
    match value.kind() {
        Kind::Map(entries) => entries.to_vec(),
        Kind::Object(ty, values) => ty
            .names()
            .iter()
            .cloned()
            .zip(values.iter().cloned())
            .collect(),
        _ => Vec::new(),
    }
}

fn plan_map(
    check: &mut Check,
    prior: &Value,
    config: &Value,
    planned: &Value,
    what: &str,
    each: PlanOne<'_>,
) {
    for (name, planned) in entries(planned) {
        check.within(key(&name), |check| match config.attribute(&name) {
            None => check.report(format!("a {what} is planned that the configuration lacks")),
            Some(config) => {
                let before = prior.attribute(&name).cloned();
                let before = before.unwrap_or_else(|| Value::null(config.type_of()));
                each(check, &before, config, &planned);
            }
        });
    }
    for (name, _) in entries(config) {
        if planned.attribute(&name).is_none() {
            check.within(key(&name), |check| {
                check.report(format!(
                    "the plan lacks a {what} that the configuration has"
                ));
            });
        }
    }
}

fn plan_set(check: &mut Check, block: &Block, config: &Value, planned: &Value, what: &str) {
    let (Kind::Set(configured), Kind::Set(plans)) = (config.kind(), planned.kind()) else {
        return;
    };
    // elements that are not wholly known may coalesce on either side
    let open = config.contains_unknown() || planned.contains_unknown();
    if configured.len() != plans.len() && !open {
        let (planned, configured) = (plans.len(), configured.len());
        check.report(format!(
            "the plan has {planned} {what}s, the configuration {configured}"
        ));
        return;
    }
    let fits = |config: &Value, planned: &Value| {
        same(planned, config)
            || Check::passes(|check| {
                plan_block(check, block, &Value::null(block.ty()), config, planned);
            })
    };
    paired(
        check,
        configured,
        plans,
        what,
        "the configuration",
        "the plan",
        &fits,
    );
}

/// Reports elements of either set that fit none of the other.
fn paired(
    check: &mut Check,
    left: &[Value],
    right: &[Value],
    what: &str,
    left_name: &str,
    right_name: &str,
    fits: &dyn Fn(&Value, &Value) -> bool,
) {
    let mut met = vec![false; right.len()];
    for l in left {
        let mut found = false;
        for (r, met) in right.iter().zip(met.iter_mut()) {
            if fits(l, r) {
                found = true;
                *met = true;
            }
        }
        if !found {
            check.within(element(), |check| {
                check.report(format!(
                    "no {what} in {right_name} answers this one of {left_name}"
                ));
            });
        }
    }
    for met in met {
        if !met {
            check.within(element(), |check| {
                check.report(format!(
                    "no {what} in {left_name} answers this one of {right_name}"
                ));
            });
        }
    }
}

/// Whether what an apply yielded is what was planned. Empty: it is.
///
/// `planned` is what was approved, `actual` what the provider answered, wholly known.
pub fn assert_object_compatible(
    block: &Block,
    planned: &Value,
    actual: &Value,
) -> Vec<ConformanceError> {
    let mut check = Check::new();
    if !planned.is_null() && !planned.is_known() {
        return check.errors;
    }
    apply_block(&mut check, block, planned, actual);
    check.errors
}

fn apply_presence(check: &mut Check, planned: &Value, actual: &Value) -> bool {
    match (planned.is_null(), actual.is_null()) {
        (true, true) => true,
        (true, false) => {
            check.report("was planned to be absent, but is present now");
            true
        }
        (false, true) => {
            check.report("was planned to be present, but is absent now");
            true
        }
        (false, false) => false,
    }
}

fn apply_block(check: &mut Check, block: &Block, planned: &Value, actual: &Value) {
    if apply_presence(check, planned, actual) {
        return;
    }
    let (Kind::Object(_, plans), Kind::Object(_, results)) = (planned.kind(), actual.kind()) else {
        if planned.is_known() {
            check.report("the object itself is unknown after the apply");
        }
        return;
    };
    for (((name, field), planned), actual) in block.iter().zip(plans).zip(results) {
        check.within(attribute(name), |check| match field {
            Field::Attribute(a) if a.write_only => {
                if !actual.is_null() {
                    check.report("a write-only attribute must be null after an apply");
                }
            }
            Field::Attribute(_) => apply_value(check, planned, actual),
            Field::Block(nested) => apply_blocks(check, nested, planned, actual),
        });
    }
}

fn apply_blocks(check: &mut Check, nested: &NestedBlock, planned: &Value, actual: &Value) {
    // a dynamic block that was not known may have become any number of blocks
    if !planned.is_known() {
        return;
    }
    let block = &nested.block;
    match nested.nesting {
        BlockNesting::Single | BlockNesting::Group => apply_block(check, block, planned, actual),
        _ if planned.is_null() || actual.is_null() => {
            apply_presence(check, planned, actual);
        }
        BlockNesting::List => {
            let (Some(plans), Some(results)) = (planned.as_sequence(), actual.as_sequence()) else {
                return;
            };
            if plans.len() != results.len() {
                let (before, after) = (plans.len(), results.len());
                check.report(format!(
                    "the number of blocks changed from {before} to {after}"
                ));
                return;
            }
            for (i, (planned, actual)) in plans.iter().zip(results).enumerate() {
                check.within(position(i), |check| {
                    if planned.is_known() {
                        apply_block(check, block, planned, actual);
                    }
                });
            }
        }
        BlockNesting::Map => {
            for (name, planned) in entries(planned) {
                check.within(key(&name), |check| match actual.attribute(&name) {
                    Some(actual) => apply_block(check, block, &planned, actual),
                    None => check.report("the block has vanished"),
                });
            }
            for (name, _) in entries(actual) {
                if planned.attribute(&name).is_none() {
                    check.within(key(&name), |check| check.report("the block is new"));
                }
            }
        }
        BlockNesting::Set => apply_set(check, planned, actual, "block", &|planned, actual| {
            !planned.is_known() || Check::passes(|check| apply_block(check, block, planned, actual))
        }),
    }
}

fn apply_set(
    check: &mut Check,
    planned: &Value,
    actual: &Value,
    what: &str,
    fits: &dyn Fn(&Value, &Value) -> bool,
) {
    let (Kind::Set(plans), Kind::Set(results)) = (planned.kind(), actual.kind()) else {
        return;
    };
    paired(check, plans, results, what, "the plan", "the result", fits);
    // unknown elements may have turned out equal, so fewer are fine, and one that is wholly unknown
    // never became several
    if results.len() > plans.len() {
        let (before, after) = (plans.len(), results.len());
        check.report(format!(
            "the number of {what}s grew from {before} to {after}"
        ));
    }
}

fn apply_value(check: &mut Check, planned: &Value, actual: &Value) {
    if let Some(unknown) = planned.as_unknown() {
        if !may_become(&unknown.refinement, actual) {
            check.report("the value is not one that the plan allowed for");
        }
        return;
    }
    match (planned.is_null(), actual.is_null()) {
        (true, true) => return,
        (true, false) => return check.report("was planned to be null, but has a value now"),
        (false, true) => return check.report("was planned to have a value, but is null now"),
        (false, false) => {}
    }
    if !actual.is_known() {
        return check.report("was known in the plan, but is unknown after the apply");
    }
    if !planned.contains_unknown() {
        if planned == actual {
            return;
        }
        if !kinds_match(planned, actual) {
            return check.report("the type of the value changed");
        }
    }
    match (planned.kind(), actual.kind()) {
        (Kind::List(plans), Kind::List(results)) | (Kind::Tuple(plans), Kind::Tuple(results)) => {
            if plans.len() != results.len() {
                let (before, after) = (plans.len(), results.len());
                return check.report(format!(
                    "the number of elements changed from {before} to {after}"
                ));
            }
            for (i, (planned, actual)) in plans.iter().zip(results).enumerate() {
                check.within(position(i), |check| apply_value(check, planned, actual));
            }
        }
        (Kind::Map(_), Kind::Map(_)) => {
            for (name, planned) in entries(planned) {
                check.within(key(&name), |check| match actual.attribute(&name) {
                    Some(actual) => apply_value(check, &planned, actual),
                    None => check.report("the element has vanished"),
                });
            }
            for (name, _) in entries(actual) {
                if planned.attribute(&name).is_none() {
                    check.within(key(&name), |check| check.report("the element is new"));
                }
            }
        }
        (Kind::Object(ty, plans), Kind::Object(other, results)) => {
            if ty.names() != other.names() {
                return check.report("the type of the value changed");
            }
            for ((name, planned), actual) in ty.names().iter().zip(plans).zip(results) {
                check.within(attribute(name), |check| apply_value(check, planned, actual));
            }
        }
        (Kind::Set(_), Kind::Set(_)) => {
            apply_set(check, planned, actual, "element", &|planned, actual| {
                Check::passes(|check| apply_value(check, planned, actual))
            });
        }
        _ if !kinds_match(planned, actual) => check.report("the type of the value changed"),
        _ => check.report("the value is not the planned one"),
    }
}

fn kinds_match(a: &Value, b: &Value) -> bool {
    std::mem::discriminant(&a.kind()) == std::mem::discriminant(&b.kind())
}

/// Whether an unknown value of which this was known can have become `actual`.
fn may_become(known: &Refinement, actual: &Value) -> bool {
    if known.is_none() {
        return true;
    }
    let unknown = Value::unknown_with(actual.type_of(), known.clone());
    unknown.known_equal(actual) != Some(false)
}

/// Whether [`normalise_legacy`] has anything to do.
pub(crate) fn lacks_blocks(block: &Block, value: &Value) -> bool {
    let Kind::Object(_, values) = value.kind() else {
        return false;
    };
    block.fields().iter().zip(values).any(|(field, value)| {
        let Field::Block(nested) = field else {
            return false;
        };
        let inner = |v: &Value| lacks_blocks(&nested.block, v);
        match (value.kind(), nested.nesting) {
            (Kind::Null(_), nesting) => nesting != BlockNesting::Single,
            (_, BlockNesting::Single | BlockNesting::Group) => inner(value),
            (Kind::List(values) | Kind::Set(values) | Kind::Tuple(values), _) => {
                values.iter().any(inner)
            }
            (Kind::Object(_, values), _) => values.iter().any(inner),
            (Kind::Map(entries), _) => entries.iter().any(|(_, v)| inner(v)),
            _ => false,
        }
    })
}

/// Brings the answer of a legacy provider into the shape that values have: what stands for nested
/// blocks is empty where it is null, but for single blocks.
pub fn normalise_legacy(block: &Block, value: &Value) -> Value {
    let Kind::Object(_, values) = value.kind() else {
        return value.clone();
    };
    let parts = block
        .fields()
        .iter()
        .zip(values)
        .map(|(field, value)| match field {
            Field::Attribute(_) => value.clone(),
            Field::Block(nested) => normalise_blocks(nested, value),
        });
    object(block, parts.collect())
}

fn normalise_blocks(nested: &NestedBlock, value: &Value) -> Value {
    if !value.is_known() {
        return value.clone();
    }
    let one = |v: &Value| normalise_legacy(&nested.block, v);
    match (value.kind(), nested.nesting) {
        (Kind::Null(_), BlockNesting::Single) => value.clone(),
        (Kind::Null(_), _) => nested.empty_value(),
        (_, BlockNesting::Single | BlockNesting::Group) => one(value),
        (Kind::List(values), _) => Value::list(nested.block.ty(), values.iter().map(one).collect()),
        (Kind::Set(values), _) => Value::set(nested.block.ty(), values.iter().map(one).collect()),
        (Kind::Tuple(values), _) => Value::tuple(values.iter().map(one).collect()),
        (Kind::Map(entries), _) => Value::map(
            nested.block.ty(),
            entries.iter().map(|(k, v)| (k.clone(), one(v))),
        ),
        (Kind::Object(ty, values), _) => {
            Value::object(ty.names().iter().cloned().zip(values.iter().map(one)))
        }
        _ => value.clone(),
    }
}
