//! What a diagnostic says about values: types in words, and what the references in an expression
//! stand for.

use formwork_diagnostics::ExpressionValue;
use formwork_syntax::{Expression, Traversal};
use formwork_values::{Kind, Type, Value};

use super::{Evaluator, Local, Locals};

/// How many references are explained.
const EXPLAINED: usize = 8;
/// How much of a text is shown.
const SHOWN: usize = 60;

/// `a string`, `an object`.
pub(super) fn with_article(noun: &str) -> String {
    let article = if noun.starts_with(['a', 'e', 'i', 'o', 'u']) {
        "an"
    } else {
        "a"
    };
    format!("{article} {noun}")
}

/// The type of a value as a noun with its article: `a string`, `null`, `an object`.
pub(super) fn a_type(value: &Value) -> String {
    if value.is_null() {
        return "null".to_owned();
    }
    match value.type_of() {
        Type::Dynamic => "of a type not known yet".to_owned(),
        ty => with_article(&ty.friendly_name()),
    }
}

/// The reason why a conversion failed, after a colon, unless it only repeats what the types are.
pub(super) fn beyond_types(reason: &str) -> String {
    if reason.contains(" is required, not ") && !reason.starts_with("at ") {
        String::new()
    } else {
        format!(": {reason}")
    }
}

/// A sentence on where two object or collection types differ, or nothing.
pub(super) fn difference(a: &Type, b: &Type) -> String {
    match (a, b) {
        (Type::Object(x), Type::Object(y)) => {
            for (name, ty) in x.iter() {
                match y.attribute(name) {
                    None => return format!(" Only the first has the attribute \"{name}\"."),
                    Some(other) if other != ty => {
                        return format!(
                            " The attribute \"{name}\" is {} in the first and {} in the second.",
                            with_article(&ty.friendly_name()),
                            with_article(&other.friendly_name())
                        );
                    }
                    Some(_) => {}
                }
            }
            match y.names().iter().find(|n| !x.has(n)) {
                Some(name) => format!(" Only the second has the attribute \"{name}\"."),
                None => String::new(),
            }
        }
        (Type::Tuple(x), Type::Tuple(y)) if x.len() != y.len() => {
            format!(
                " The first has {} elements, the second {}.",
                x.len(),
                y.len()
            )
        }
        _ => String::new(),
    }
}

/// Whether a diagnostic is about a value that is not known: only then does it matter that one is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unknowns {
    /// It is about something else; only the types of unknown values are told.
    Aside,
    /// It is about that.
    Matter,
}

/// What a reference stands for, as a clause; never anything sensitive. Nothing where nothing helpful
/// can be said.
fn statement(value: &Value, unknowns: Unknowns) -> Option<String> {
    if value.marks().is_sensitive() {
        return Some("has a sensitive value".to_owned());
    }
    if value.marks().is_ephemeral() {
        return Some("has an ephemeral value".to_owned());
    }
    Some(match value.kind() {
        Kind::Marked(inner, _) => return statement(inner, unknowns),
        Kind::Null(_) => "is null".to_owned(),
        Kind::Unknown(u) => match (&u.ty, unknowns) {
            (Type::Dynamic, Unknowns::Aside) => return None,
            (Type::Dynamic, Unknowns::Matter) => "will be known only after apply".to_owned(),
            (ty, Unknowns::Aside) => format!("is {}", with_article(&ty.friendly_name())),
            (ty, Unknowns::Matter) => format!(
                "is {}, known only after apply",
                with_article(&ty.friendly_name())
            ),
        },
        Kind::Bool(b) => format!("is {b}"),
        Kind::Number(n) => format!("is {n}"),
        Kind::String(s) => {
            let mut shown: String = s.chars().take(SHOWN).collect();
            if shown.len() < s.len() {
                shown.push('…');
            }
            format!("is {}", quoted(&shown))
        }
        Kind::List(v) => counted(&value.type_of().friendly_name(), v.len(), "element"),
        Kind::Set(v) => counted(&value.type_of().friendly_name(), v.len(), "element"),
        Kind::Map(v) => counted(&value.type_of().friendly_name(), v.len(), "element"),
        Kind::Tuple(v) => counted("tuple", v.len(), "element"),
        Kind::Object(_, v) => counted("object", v.len(), "attribute"),
    })
}

/// A text as a literal of the language, but for what it would escape to keep from being a template.
fn quoted(text: &str) -> String {
    let mut out = String::from('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c if c.is_control() || matches!(c, '\u{2028}' | '\u{2029}') => {
                out.push_str(&format!("\\u{:04x}", u32::from(c)));
            }
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

fn counted(noun: &str, count: usize, of: &str) -> String {
    let noun = with_article(noun);
    match count {
        0 => format!("is {noun} with no {of}s"),
        1 => format!("is {noun} with 1 {of}"),
        n => format!("is {noun} with {n} {of}s"),
    }
}

impl Evaluator<'_> {
    /// What the references in an expression stand for, each once, in order.
    pub(super) fn values_in(
        &self,
        expression: &Expression,
        locals: Locals<'_>,
        unknowns: Unknowns,
    ) -> Vec<ExpressionValue> {
        let mut found: Vec<ExpressionValue> = Vec::new();
        expression.visit_variables(&mut |traversal| {
            if found.len() >= EXPLAINED {
                return;
            }
            let Some((text, value)) = self.quiet(traversal, locals) else {
                return;
            };
            if found.iter().all(|f| f.traversal != text)
                && let Some(statement) = statement(&value, unknowns)
            {
                found.push(ExpressionValue {
                    traversal: text,
                    statement,
                });
            }
        });
        found
    }

    /// The value of as much of a reference as there is, with the text of that much.
    pub(super) fn quiet(
        &self,
        traversal: &Traversal,
        locals: Locals<'_>,
    ) -> Option<(String, Value)> {
        let (text, value, _) = self.quiet_as_far(traversal, locals)?;
        Some((text, value))
    }

    /// The same, and whether all of the reference is there.
    pub(super) fn quiet_as_far(
        &self,
        traversal: &Traversal,
        locals: Locals<'_>,
    ) -> Option<(String, Value, bool)> {
        let (mut value, consumed) = match Local::find(locals, &traversal.root) {
            Some(value) => (value.clone(), 0),
            None => {
                let resolved = self.scope.resolve(traversal);
                if resolved.diagnostics.has_errors() {
                    return None;
                }
                (resolved.value, resolved.consumed.min(traversal.steps.len()))
            }
        };
        let mut text = traversal.root.to_string();
        for step in &traversal.steps[..consumed] {
            text.push_str(&step.to_string());
        }
        for step in &traversal.steps[consumed..] {
            let next = match step {
                formwork_syntax::Step::Attribute { name, .. } => value.get_attribute(name).ok(),
                formwork_syntax::Step::Index { key, .. } => {
                    let key = match key {
                        formwork_syntax::IndexKey::String(s) => {
                            Some(Value::shared_string(s.clone()))
                        }
                        formwork_syntax::IndexKey::Number(n) => {
                            formwork_values::Number::parse(n).ok().map(Value::number)
                        }
                    };
                    key.and_then(|key| value.index(&key).ok())
                }
            };
            match next {
                Some(next) => value = next,
                None => return Some((text, value, false)),
            }
            text.push_str(&step.to_string());
        }
        Some((text, value, true))
    }
}
