//! One attribute as a rule sees it.

use formwork_values::{Path, Refinement, Step, Unknown, Value};

/// What is known of an attribute, or of a part of one. Borrowed; going inside costs nothing.
#[derive(Clone, Copy)]
pub struct Fact<'a> {
    /// Without its own marks; `None` where there is no such attribute.
    value: Option<&'a Value>,
    /// Whether it, or something around it, is sensitive.
    sensitive: bool,
}

impl<'a> Fact<'a> {
    /// What is known of a value.
    pub fn of(value: &'a Value) -> Self {
        Self::marked(value, false)
    }

    fn marked(value: &'a Value, outside: bool) -> Self {
        let marks = value.marks();
        Self {
            value: Some(value.unmarked()),
            sensitive: outside || marks.is_sensitive() || marks.is_ephemeral(),
        }
    }

    /// The attribute or entry of that name; inside an unknown value, that unknown value.
    pub fn field(self, name: &str) -> Self {
        let value = self.value.and_then(|value| {
            if value.is_known() {
                value.attribute(name)
            } else {
                Some(value)
            }
        });
        match value {
            Some(value) => Self::marked(value, self.sensitive),
            None => Self {
                value: None,
                ..self
            },
        }
    }

    /// The elements of a list, set or tuple; none if it is anything else.
    pub fn elements(self) -> impl Iterator<Item = Self> {
        self.value
            .and_then(Value::as_sequence)
            .unwrap_or_default()
            .iter()
            .map(move |value| Self::marked(value, self.sensitive))
    }

    /// The only block of a kind that may be there once: the first element. Of an unknown list, that
    /// unknown value.
    pub fn block(self) -> Self {
        let value = self.value.and_then(|value| match value.as_sequence() {
            Some(elements) => elements.first(),
            None => Some(value),
        });
        match value {
            Some(value) => Self::marked(value, self.sensitive),
            None => Self {
                value: None,
                ..self
            },
        }
    }

    /// The text, if it is known text.
    pub fn text(self) -> Option<&'a str> {
        self.value?.as_str()
    }

    /// The truth value, if it is known.
    pub fn bool(self) -> Option<bool> {
        self.value?.as_bool()
    }

    /// Whether nothing is configured here: no such attribute, null, or a list without elements.
    pub fn is_absent(self) -> bool {
        match self.value {
            None => true,
            Some(value) => value.is_null() || value.as_sequence().is_some_and(<[_]>::is_empty),
        }
    }

    /// The unknown value, if it is one.
    pub fn unknown(self) -> Option<&'a Unknown> {
        self.value?.as_unknown()
    }

    /// Whether this is a list of blocks that the configuration does not have and that the provider
    /// may fill in: unknown, from nowhere, with nothing said of it. Blocks that a `dynamic` block
    /// will make are unknown too, but never null.
    pub fn is_left_to_the_provider(self) -> bool {
        self.unknown().is_some_and(|unknown| {
            unknown.ty.is_collection()
                && unknown.origin.is_none()
                && unknown.refinement == Refinement::NONE
        })
    }

    /// The text for a message: redacted where sensitive, empty where it is no known text.
    pub fn shown(self) -> &'a str {
        match self.text() {
            Some(_) if self.sensitive => "(sensitive value)",
            Some(text) => text,
            None => "",
        }
    }

    /// What lies at a path; and the rest of the path, where it leads into an unknown value.
    pub(crate) fn follow(self, path: &Path) -> (Self, &[Step]) {
        let mut here = self;
        let mut rest = path.steps();
        while let Some((step, further)) = rest.split_first() {
            if here.unknown().is_some() {
                break;
            }
            here = match step {
                Step::Attribute(name) => here.field(name),
                Step::Index(key) => here.index(key),
            };
            rest = further;
        }
        (here, rest)
    }

    fn index(self, key: &Value) -> Self {
        if let Some(name) = key.as_str()
            && self.value.is_some_and(|v| v.as_sequence().is_none())
        {
            return self.field(name);
        }
        let elements = self.value.and_then(Value::as_sequence).unwrap_or_default();
        let at = key.as_number().and_then(formwork_values::Number::to_usize);
        let found = match at {
            Some(at) => elements.get(at),
            None => elements.iter().find(|e| *e == key),
        };
        match found {
            Some(value) => Self::marked(value, self.sensitive),
            None => Self {
                value: None,
                ..self
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use formwork_values::Type;

    #[test]
    fn facts_are_followed_and_redacted() {
        let value = Value::object([
            ("name", Value::string("n")),
            (
                "secret",
                Value::object([("key", "hush".into())]).sensitive(),
            ),
            (
                "disk",
                Value::list(
                    Type::object([("size", Type::Number)]),
                    vec![Value::object([("size", Value::int(3))])],
                ),
            ),
            ("empty", Value::list(Type::String, Vec::new())),
            ("later", Value::unknown(Type::list(Type::String))),
            (
                "dynamic",
                Value::unknown_with(Type::list(Type::String), Refinement::NOT_NULL),
            ),
        ]);
        let fact = Fact::of(&value);
        assert_eq!(fact.field("name").shown(), "n");
        assert_eq!(fact.field("secret").field("key").text(), Some("hush"));
        assert_eq!(
            fact.field("secret").field("key").shown(),
            "(sensitive value)"
        );
        assert!(!fact.field("disk").block().field("size").is_absent());
        assert!(fact.field("disk").block().field("kind").is_absent());
        assert!(fact.field("empty").is_absent() && fact.field("none").is_absent());
        assert!(fact.field("later").is_left_to_the_provider());
        assert!(!fact.field("dynamic").is_left_to_the_provider());
        let path = Path::ROOT.attribute("disk").position(0).attribute("size");
        assert!(!fact.follow(&path).0.is_absent());
        let path = Path::ROOT.attribute("later").position(0).attribute("x");
        let (found, rest) = fact.follow(&path);
        assert!(found.unknown().is_some());
        assert_eq!(rest.len(), 2);
    }
}
