//! Type constraints: `map(object({ zone = string, size = optional(number, 10) }))`.
//!
//! A constraint is a [`Type`] whose object attributes may be optional, and the defaults of those
//! attributes. Applying it to a value fills the defaults in first and converts then, so that a
//! default may itself be of a type that needs converting. A default takes the place of an attribute
//! that is absent or null; one of a whole value that is null takes no place at all.

use crate::evaluate::evaluate_literal;
use formwork_diagnostics::{Checked, Diagnostic, Diagnostics, SourceRange, nearest};
use formwork_syntax::{Expression, ExpressionKind, FunctionCall, ObjectKey, on_deep_stack};
use formwork_values::{ConvertError, Kind, ObjectType, Type, Value, convert};
use std::collections::BTreeMap;
use std::sync::Arc;

/// A type that values are brought to, and the defaults of what they may leave out.
#[derive(Clone, Debug)]
pub struct TypeConstraint {
    /// The type, with its optional attributes.
    pub ty: Type,
    /// What absent optional attributes become; `None` if there is no default at any depth.
    pub defaults: Option<Arc<Defaults>>,
}

/// Defaults at one level of a type, and below.
#[derive(Clone, Debug, Default)]
pub struct Defaults {
    /// By attribute, of an object.
    pub attributes: BTreeMap<Arc<str>, Value>,
    /// Below an attribute of an object, or a position of a tuple (by its decimal digits).
    pub children: BTreeMap<Arc<str>, Defaults>,
    /// Below every element of a list, set or map.
    pub elements: Option<Box<Defaults>>,
}

impl Default for TypeConstraint {
    fn default() -> Self {
        Self::any()
    }
}

impl TypeConstraint {
    /// Anything at all.
    pub fn any() -> Self {
        Self {
            ty: Type::Dynamic,
            defaults: None,
        }
    }

    /// Fills defaults in and converts; marks and unknowns stay where they are.
    ///
    /// # Errors
    /// Where and why the value cannot be of the type.
    pub fn apply(&self, value: Value) -> Result<Value, ConvertError> {
        let value = match &self.defaults {
            Some(d) if !value.is_null() => d.fill(value),
            _ => value,
        };
        convert(value, &self.ty)
    }
}

impl Defaults {
    fn is_empty(&self) -> bool {
        self.attributes.is_empty() && self.children.is_empty() && self.elements.is_none()
    }

    fn fill(&self, value: Value) -> Value {
        on_deep_stack(|| self.fill_step(value))
    }

    fn fill_step(&self, value: Value) -> Value {
        if self.is_empty() {
            return value;
        }
        let all = |values: &[Value]| -> Vec<Value> {
            values
                .iter()
                .map(|v| match &self.elements {
                    Some(e) => e.fill(v.clone()),
                    None => v.clone(),
                })
                .collect()
        };
        match value.kind() {
            Kind::Null(_)
            | Kind::Unknown(_)
            | Kind::Bool(_)
            | Kind::Number(_)
            | Kind::String(_) => value,
            Kind::Marked(inner, marks) => self.fill(inner.clone()).with_marks(marks),
            Kind::Object(ty, values) => {
                let given = ty.names().iter().cloned().zip(values.iter().cloned());
                self.fill_object(given)
            }
            // A map given for an object constraint is read as an object; for a map constraint the
            // defaults lie below its elements.
            Kind::Map(entries) if self.elements.is_none() => {
                self.fill_object(entries.iter().cloned())
            }
            Kind::Map(entries) => {
                let values: Vec<_> = entries.iter().map(|(_, v)| v.clone()).collect();
                let filled = all(&values);
                // The elements may have become different object types until they are converted.
                Value::object(entries.iter().map(|(k, _)| k.clone()).zip(filled))
            }
            Kind::List(values) | Kind::Set(values) => Value::tuple(all(values)),
            Kind::Tuple(values) if self.elements.is_some() => Value::tuple(all(values)),
            Kind::Tuple(values) => Value::tuple(
                values
                    .iter()
                    .enumerate()
                    .map(|(i, v)| match self.children.get(i.to_string().as_str()) {
                        Some(d) => d.fill(v.clone()),
                        None => v.clone(),
                    })
                    .collect(),
            ),
        }
    }

    fn fill_object(&self, given: impl Iterator<Item = (Arc<str>, Value)>) -> Value {
        if let Some(e) = &self.elements {
            return Value::object(given.map(|(n, v)| (n, e.fill(v))));
        }
        let mut all: BTreeMap<Arc<str>, Value> = given.collect();
        for (name, default) in &self.attributes {
            let absent = all.get(name).is_none_or(|v| v.unmarked().is_null());
            if absent {
                all.insert(name.clone(), default.clone());
            }
        }
        for (name, below) in &self.children {
            if let Some(v) = all.get_mut(name)
                && !v.unmarked().is_null()
            {
                *v = below.fill(v.clone());
            }
        }
        Value::object(all)
    }
}

/// Reads a type as it is written: the `type` argument of a variable or output, the second argument of
/// `convert`.
pub fn parse_type_constraint(e: &Expression) -> Checked<TypeConstraint> {
    let mut diagnostics = Diagnostics::new();
    if let Some(quoted) = e.as_literal_string()
        && e.as_keyword().is_none()
        && e.as_static_call().is_none()
    {
        const NAMES: [&str; 9] = [
            "string", "number", "bool", "any", "list", "map", "set", "object", "tuple",
        ];
        let known = matches!(&**quoted, "string" | "list" | "map");
        diagnostics.push(
            Diagnostic::error(
                if known {
                    "Invalid quoted type constraints"
                } else {
                    "Invalid legacy variable type hint"
                },
                "A type is written without quotes; the quoted form was dropped long ago.",
            )
            .at(e.range())
            .hint(match &**quoted {
                "list" => "Write list(string).".to_owned(),
                "map" => "Write map(string).".to_owned(),
                other => match formwork_diagnostics::nearest(other, NAMES) {
                    Some(near) if near != other => format!("Did you mean {near}?"),
                    _ => format!("Write {other}."),
                },
            }),
        );
        return (TypeConstraint::any(), diagnostics);
    }
    let (ty, defaults) = parse(e, &mut diagnostics);
    let constraint = TypeConstraint {
        ty,
        defaults: (!defaults.is_empty()).then(|| Arc::new(defaults)),
    };
    (constraint, diagnostics)
}

fn error(detail: impl Into<String>, at: SourceRange) -> Diagnostic {
    Diagnostic::error("Invalid type specification", detail).at(at)
}

const PRIMITIVES: [&str; 4] = ["string", "number", "bool", "any"];
const CONSTRUCTORS: [&str; 5] = ["list", "set", "map", "object", "tuple"];

fn parse(e: &Expression, diagnostics: &mut Diagnostics) -> (Type, Defaults) {
    on_deep_stack(|| parse_step(e, diagnostics))
}

fn parse_step(e: &Expression, diagnostics: &mut Diagnostics) -> (Type, Defaults) {
    let nothing = || (Type::Dynamic, Defaults::default());
    if e.is_invalid() {
        return nothing();
    }
    if let Some(word) = e.as_keyword() {
        let ty = match word {
            "string" => Type::String,
            "number" => Type::Number,
            "bool" => Type::Bool,
            "any" => Type::Dynamic,
            // The short forms of old: a collection of anything.
            "list" => Type::list(Type::Dynamic),
            "map" => Type::map(Type::Dynamic),
            "set" | "object" | "tuple" => {
                diagnostics.push(error(constructor_wants(word), e.range()));
                return nothing();
            }
            "optional" => {
                diagnostics.push(error(OPTIONAL_ONLY, e.range()));
                return nothing();
            }
            _ => {
                let d = error(format!("\"{word}\" is not a type."), e.range());
                let known = PRIMITIVES.into_iter().chain(CONSTRUCTORS);
                diagnostics.push(with_nearest(d, word, known));
                return nothing();
            }
        };
        return (ty, Defaults::default());
    }
    if let Some(call) = e.as_static_call() {
        return parse_call(call, diagnostics);
    }
    if let Some(quoted) = e.as_literal_string() {
        diagnostics.push(
            error("A type is written without quotes.", e.range())
                .hint(format!("Write {quoted}, without quotes.")),
        );
        return nothing();
    }
    diagnostics.push(error(
        "This is not a type. A type is string, number, bool, any, or one made with list, set, map, \
         object or tuple, such as list(string).",
        e.range(),
    ));
    nothing()
}

fn with_nearest<'a>(
    d: Diagnostic,
    given: &str,
    known: impl IntoIterator<Item = &'a str>,
) -> Diagnostic {
    match nearest(given, known) {
        Some(name) => d.hint(format!("Did you mean \"{name}\"?")),
        None => d,
    }
}

/// A default, which must be known from the text alone. Strings of the JSON syntax are no templates
/// there.
fn constant(e: &Expression, diagnostics: &mut Diagnostics) -> Option<Value> {
    let e = &e.as_constant();
    if e.is_invalid() {
        return None;
    }
    let (value, said) = evaluate_literal(e);
    let failed = said.has_errors();
    diagnostics.append(said);
    (!failed).then_some(value)
}

const OPTIONAL_ONLY: &str = "\"optional\" may only stand directly at an attribute of an object type, \
                             as in object({ size = optional(number) }).";

fn constructor_wants(name: &str) -> String {
    match name {
        "object" => "\"object\" wants one argument: the attributes with their types, as in \
                     object({ name = string })."
            .to_owned(),
        "tuple" => {
            "\"tuple\" wants one argument: the list of its types, as in tuple([string, number])."
                .to_owned()
        }
        _ => format!(
            "\"{name}\" wants one argument: the type of its elements, as in {name}(string)."
        ),
    }
}

/// The single argument of a type constructor.
fn single<'a>(call: &'a FunctionCall, diagnostics: &mut Diagnostics) -> Option<&'a Expression> {
    if let Some(extra) = call.arguments.get(1) {
        diagnostics.push(error(constructor_wants(&call.name), extra.range()));
        return None;
    }
    let first = call.arguments.first();
    if first.is_none() {
        diagnostics.push(error(
            constructor_wants(&call.name),
            call.open.to(call.close),
        ));
    }
    first
}

fn parse_call(call: &FunctionCall, diagnostics: &mut Diagnostics) -> (Type, Defaults) {
    let nothing = (Type::Dynamic, Defaults::default());
    match &*call.name {
        "list" | "set" | "map" => {
            let Some(argument) = single(call, diagnostics) else {
                return nothing;
            };
            let (element, below) = parse(argument, diagnostics);
            let ty = match &*call.name {
                "list" => Type::list(element),
                "set" => Type::set(element),
                _ => Type::map(element),
            };
            let elements = (!below.is_empty()).then(|| Box::new(below));
            let defaults = Defaults {
                elements,
                ..Defaults::default()
            };
            (ty, defaults)
        }
        "object" => {
            let Some(argument) = single(call, diagnostics) else {
                return nothing;
            };
            parse_object(argument, diagnostics)
        }
        "tuple" => {
            let Some(argument) = single(call, diagnostics) else {
                return nothing;
            };
            let Some(items) = argument.as_static_list() else {
                diagnostics.push(error(constructor_wants("tuple"), argument.range()));
                return nothing;
            };
            let mut defaults = Defaults::default();
            let mut types = Vec::with_capacity(items.len());
            for (i, item) in items.iter().enumerate() {
                let (ty, below) = parse(item, diagnostics);
                types.push(ty);
                if !below.is_empty() {
                    defaults.children.insert(Arc::from(i.to_string()), below);
                }
            }
            (Type::tuple(types), defaults)
        }
        "optional" => {
            diagnostics.push(error(OPTIONAL_ONLY, call.name_range));
            nothing
        }
        name if PRIMITIVES.contains(&name) => {
            diagnostics.push(error(
                format!("\"{name}\" takes no arguments."),
                call.open.to(call.close),
            ));
            nothing
        }
        name => {
            let d = error(
                format!("\"{name}\" does not make a type."),
                call.name_range.to(call.close),
            );
            diagnostics.push(with_nearest(d, name, CONSTRUCTORS));
            nothing
        }
    }
}

fn parse_object(argument: &Expression, diagnostics: &mut Diagnostics) -> (Type, Defaults) {
    let Some(items) = argument.as_static_map() else {
        diagnostics.push(error(constructor_wants("object"), argument.range()));
        return (Type::Dynamic, Defaults::default());
    };
    let mut attributes: BTreeMap<Arc<str>, Type> = BTreeMap::new();
    let mut optional: Vec<Arc<str>> = Vec::new();
    let mut defaults = Defaults::default();
    for item in items {
        let name = match &item.key {
            ObjectKey::Name { name, .. } => name.clone(),
            ObjectKey::Expression(e) => match e.kind() {
                ExpressionKind::String(s) => s.clone(),
                _ => {
                    diagnostics.push(error(
                        "The name of an attribute is written plainly, as in object({ name = string }).",
                        item.key.range(),
                    ));
                    continue;
                }
            },
        };
        if attributes.contains_key(&name) {
            diagnostics.push(error(
                format!("The attribute \"{name}\" is given twice; each may be given once."),
                item.key.range(),
            ));
            continue;
        }
        let mut written = &item.value;
        let mut default = None;
        if let Some(call) = item
            .value
            .as_static_call()
            .filter(|c| &*c.name == "optional")
        {
            match &call.arguments[..] {
                [ty] => written = ty,
                [ty, value] => {
                    written = ty;
                    default = Some(value);
                }
                _ => {
                    diagnostics.push(error(
                        "\"optional\" wants the type of the attribute and, if it shall have one, \
                         its default, as in optional(number, 10).",
                        call.open.to(call.close),
                    ));
                    continue;
                }
            }
            optional.push(name.clone());
        }
        let (ty, below) = parse(written, diagnostics);
        if let Some(e) = default
            && let Some(value) = constant(e, diagnostics)
        {
            let constraint = TypeConstraint {
                ty: ty.clone(),
                defaults: (!below.is_empty()).then(|| Arc::new(below.clone())),
            };
            match constraint.apply(value) {
                Ok(v) => {
                    defaults.attributes.insert(name.clone(), v);
                }
                Err(why) => diagnostics.push(
                    Diagnostic::error(
                        "Invalid default value for optional attribute",
                        format!("The default of \"{name}\" does not fit its type {ty}: {why}."),
                    )
                    .at(e.range()),
                ),
            }
        }
        if !below.is_empty() {
            defaults.children.insert(name.clone(), below);
        }
        attributes.insert(name, ty);
    }
    let object = ObjectType::new(attributes).with_optional(|n| optional.iter().any(|o| &**o == n));
    (Type::Object(Arc::new(object)), defaults)
}
