//! [`Expression`]: a shared, immutable node and what it may be.

use crate::json::JsonText;
use crate::on_deep_stack;
use crate::template::Template;
use crate::traversal::{IndexKey, Step, Traversal};
use formwork_diagnostics::{Diagnostics, SourceRange};
use std::fmt;
use std::sync::Arc;

/// An expression as written: a reference-counted node with its range.
///
/// Clones share the node. Two parses of the same text give different nodes; [`Expression::id`] tells
/// nodes apart, for whoever keeps results per expression.
#[derive(Clone)]
pub struct Expression(Arc<Node>);

struct Node {
    kind: ExpressionKind,
    range: SourceRange,
    /// What it was, if it was a JSON string.
    json: Option<Box<JsonText>>,
}

/// What an [`Expression`] is.
#[derive(Clone, Debug)]
pub enum ExpressionKind {
    /// Could not be read; the parser has said why.
    Invalid,
    /// `null`
    Null,
    /// `true` or `false`
    Bool(bool),
    /// A number, as written: digits with at most one fraction and one exponent.
    Number(Arc<str>),
    /// A quoted string or heredoc with no interpolation, unescaped.
    String(Arc<str>),
    /// A string with interpolations or directives.
    Template(Template),
    /// `"${x}"` alone: the value of `x` with its type, not a string.
    TemplateWrap(Expression),
    /// `a.b[0]`: a root name and steps known from the text.
    Traversal(Traversal),
    /// Attribute and literal index steps on some other expression, such as `f(x).a`.
    Relative {
        /// What the steps apply to; never itself a `Traversal` or `Relative`.
        source: Expression,
        /// At least one step.
        steps: Box<[Step]>,
    },
    /// `collection[key]` with a key that must be evaluated.
    Index {
        /// What is indexed.
        collection: Expression,
        /// The key.
        key: Expression,
        /// From bracket to bracket.
        brackets: SourceRange,
    },
    /// `source[*].each` or `source.*.each`
    Splat(Splat),
    /// The element that the nearest enclosing splat's `each` is being applied to.
    SplatItem,
    /// `name(arguments)`
    FunctionCall(FunctionCall),
    /// `condition ? yes : no`
    Conditional(Conditional),
    /// `-x` or `!x`
    Unary {
        /// Which.
        operator: UnaryOperator,
        /// Where the operator stands.
        operator_range: SourceRange,
        /// What it applies to.
        operand: Expression,
    },
    /// `left operator right`; chains lean to the left and may be ten thousand deep.
    Binary {
        /// Left operand.
        left: Expression,
        /// Which.
        operator: BinaryOperator,
        /// Where the operator stands.
        operator_range: SourceRange,
        /// Right operand.
        right: Expression,
    },
    /// `[a, b]`
    Tuple(Box<[Expression]>),
    /// `{ a = b }`
    Object(Box<[ObjectItem]>),
    /// `[for ...]` or `{for ...}`
    For(Box<ForExpression>),
    /// `(x)`
    Parentheses(Expression),
}

/// A splat: `each` is applied to every element of `source`, or to `source` itself if it is no list
/// (to nothing if it is null).
#[derive(Clone, Debug)]
pub struct Splat {
    /// What is gone through.
    pub source: Expression,
    /// Which form; only this tells how later steps were read: a full splat takes all later steps
    /// into `each`, an attribute splat only `.name` and `.0`.
    pub kind: SplatKind,
    /// What is taken of each element, rooted at an [`ExpressionKind::SplatItem`].
    pub each: Expression,
    /// The range of `[*]` or `.*`.
    pub marker: SourceRange,
}

/// The two forms of splat.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SplatKind {
    /// `.*`, the old form.
    Attribute,
    /// `[*]`
    Full,
}

/// A call of a function.
#[derive(Clone, Debug)]
pub struct FunctionCall {
    /// The name as written, such as `length` or `provider::google::region_from_zone`.
    pub name: Arc<str>,
    /// Where the whole name stands.
    pub name_range: SourceRange,
    /// In order.
    pub arguments: Box<[Expression]>,
    /// Whether the last argument is followed by `...` and gives the remaining arguments.
    pub expand_final: bool,
    /// The opening parenthesis.
    pub open: SourceRange,
    /// The closing parenthesis.
    pub close: SourceRange,
}

impl FunctionCall {
    /// The parts of the name: one, or more for a namespaced function.
    pub fn name_parts(&self) -> impl Iterator<Item = &str> {
        self.name.split("::")
    }

    /// The arguments that are expressions: all of them, but for the second one of `convert(value,
    /// type)`, which is a type and is read as one.
    pub fn value_arguments(&self) -> &[Expression] {
        match (&*self.name, &*self.arguments) {
            ("convert" | "core::convert", [value, _type]) => std::slice::from_ref(value),
            (_, all) => all,
        }
    }
}

/// `condition ? yes : no`
#[derive(Clone, Debug)]
pub struct Conditional {
    /// What decides.
    pub condition: Expression,
    /// The result if true.
    pub yes: Expression,
    /// The result if false.
    pub no: Expression,
}

/// One item of an object.
#[derive(Clone, Debug)]
pub struct ObjectItem {
    /// The key.
    pub key: ObjectKey,
    /// The value.
    pub value: Expression,
}

impl ObjectItem {
    /// From the key to the end of the value.
    pub fn range(&self) -> SourceRange {
        self.key.range().to(self.value.range())
    }
}

/// The key of an object item.
#[derive(Clone, Debug)]
pub enum ObjectKey {
    /// A bare name, which stands for itself.
    Name {
        /// The name.
        name: Arc<str>,
        /// Where it stands.
        range: SourceRange,
    },
    /// Anything else, to be evaluated; in parentheses if the user forced it. A key that is a
    /// [`ExpressionKind::Traversal`] *without* parentheses is ambiguous (`a.b = 1`): the evaluator
    /// refuses it.
    Expression(Expression),
}

impl ObjectKey {
    /// Where the key stands.
    pub fn range(&self) -> SourceRange {
        match self {
            ObjectKey::Name { range, .. } => *range,
            ObjectKey::Expression(e) => e.range(),
        }
    }

    /// The key if it is known from the text: a bare name or a literal string.
    pub fn as_literal(&self) -> Option<&Arc<str>> {
        match self {
            ObjectKey::Name { name, .. } => Some(name),
            ObjectKey::Expression(e) => e.as_literal_string(),
        }
    }
}

/// `[for k, v in c : value if condition]` or `{for k, v in c : key => value... if condition}`
#[derive(Clone, Debug)]
pub struct ForExpression {
    /// Name of the key or index, if asked for, with its range.
    pub key_name: Option<(Arc<str>, SourceRange)>,
    /// Name of the value, with its range.
    pub value_name: (Arc<str>, SourceRange),
    /// What is gone through.
    pub collection: Expression,
    /// The resulting key; present exactly if the result is an object.
    pub key: Option<Expression>,
    /// The resulting value.
    pub value: Expression,
    /// Whether `...` groups the values of equal keys into lists.
    pub group: bool,
    /// What selects, if anything.
    pub condition: Option<Expression>,
    /// The opening bracket.
    pub open: SourceRange,
    /// The closing bracket.
    pub close: SourceRange,
}

/// Operators with one operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum UnaryOperator {
    /// `-`
    Negate,
    /// `!`
    Not,
}

/// Operators with two operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BinaryOperator {
    /// `||`
    Or,
    /// `&&`
    And,
    /// `==`
    Equal,
    /// `!=`
    NotEqual,
    /// `<`
    Less,
    /// `<=`
    LessOrEqual,
    /// `>`
    Greater,
    /// `>=`
    GreaterOrEqual,
    /// `+`
    Add,
    /// `-`
    Subtract,
    /// `*`
    Multiply,
    /// `/`
    Divide,
    /// `%`
    Modulo,
}

impl UnaryOperator {
    /// As written.
    pub fn symbol(self) -> &'static str {
        match self {
            UnaryOperator::Negate => "-",
            UnaryOperator::Not => "!",
        }
    }
}

impl BinaryOperator {
    /// As written.
    pub fn symbol(self) -> &'static str {
        match self {
            BinaryOperator::Or => "||",
            BinaryOperator::And => "&&",
            BinaryOperator::Equal => "==",
            BinaryOperator::NotEqual => "!=",
            BinaryOperator::Less => "<",
            BinaryOperator::LessOrEqual => "<=",
            BinaryOperator::Greater => ">",
            BinaryOperator::GreaterOrEqual => ">=",
            BinaryOperator::Add => "+",
            BinaryOperator::Subtract => "-",
            BinaryOperator::Multiply => "*",
            BinaryOperator::Divide => "/",
            BinaryOperator::Modulo => "%",
        }
    }

    /// How tightly it binds, from 1 (`||`) to 6 (`*`).
    pub fn precedence(self) -> u8 {
        match self {
            BinaryOperator::Or => 1,
            BinaryOperator::And => 2,
            BinaryOperator::Equal | BinaryOperator::NotEqual => 3,
            BinaryOperator::Less
            | BinaryOperator::LessOrEqual
            | BinaryOperator::Greater
            | BinaryOperator::GreaterOrEqual => 4,
            BinaryOperator::Add | BinaryOperator::Subtract => 5,
            BinaryOperator::Multiply | BinaryOperator::Divide | BinaryOperator::Modulo => 6,
        }
    }
}

impl Expression {
    /// A node of its own.
    pub fn new(kind: ExpressionKind, range: SourceRange) -> Self {
        Self(Arc::new(Node {
            kind,
            range,
            json: None,
        }))
    }

    pub(crate) fn from_json(kind: ExpressionKind, range: SourceRange, text: JsonText) -> Self {
        let json = Some(Box::new(text));
        Self(Arc::new(Node { kind, range, json }))
    }

    /// The expression to look at where a reference, a keyword or a type is wanted: what a JSON string
    /// holds as native text, else itself.
    pub fn static_form(&self) -> &Expression {
        self.0
            .json
            .as_ref()
            .and_then(|json| json.native())
            .unwrap_or(self)
    }

    /// What is wrong with a JSON string as a template. It matters only if the string is evaluated, so
    /// it is for the evaluator to report when it meets an [`ExpressionKind::Invalid`]; of native text
    /// the parser has reported everything, and this is empty.
    pub fn syntax_diagnostics(&self) -> Diagnostics {
        self.0
            .json
            .as_ref()
            .map_or_else(Diagnostics::new, |json| json.diagnostics.clone())
    }

    /// The expression for a place that wants a constant, such as the default of a variable: strings
    /// of the JSON syntax stand for themselves there, at any depth. Native expressions are as they
    /// are.
    #[must_use]
    pub fn as_constant(&self) -> Expression {
        on_deep_stack(|| {
            let kind = match self.kind() {
                _ if self.0.json.is_some() => match &self.0.json {
                    Some(json) => ExpressionKind::String(json.text.clone()),
                    None => return self.clone(),
                },
                ExpressionKind::Tuple(items) => {
                    ExpressionKind::Tuple(items.iter().map(Expression::as_constant).collect())
                }
                ExpressionKind::Object(items) => ExpressionKind::Object(
                    items
                        .iter()
                        .map(|item| ObjectItem {
                            key: match &item.key {
                                ObjectKey::Expression(key) => {
                                    ObjectKey::Expression(key.as_constant())
                                }
                                name @ ObjectKey::Name { .. } => name.clone(),
                            },
                            value: item.value.as_constant(),
                        })
                        .collect(),
                ),
                _ => return self.clone(),
            };
            Expression::new(kind, self.range())
        })
    }

    /// What it is.
    pub fn kind(&self) -> &ExpressionKind {
        &self.0.kind
    }

    /// Where it stands.
    pub fn range(&self) -> SourceRange {
        self.0.range
    }

    /// Tells this node from all others that live at the same time; equal for clones.
    pub fn id(&self) -> usize {
        Arc::as_ptr(&self.0).addr()
    }

    /// Whether it could not be read, as the parser has reported.
    pub fn is_invalid(&self) -> bool {
        matches!(self.kind(), ExpressionKind::Invalid)
    }

    /// The expression within any parentheses around it.
    pub fn without_parentheses(&self) -> &Expression {
        let mut inner = self;
        while let ExpressionKind::Parentheses(e) = inner.kind() {
            inner = e;
        }
        inner
    }

    /// The expression as a static path, if it is one; keywords (`true`, `null`) count as roots.
    ///
    /// Parentheses and `"${...}"` are not looked through: the static arguments this serves
    /// (`depends_on`, `provider`, `ignore_changes`, `moved.from`) want the plain form.
    pub fn as_traversal(&self) -> Option<Traversal> {
        match self.static_form().kind() {
            ExpressionKind::Traversal(t) => Some(t.clone()),
            ExpressionKind::Null | ExpressionKind::Bool(_) => Some(Traversal {
                root: Arc::from(self.as_keyword()?),
                root_range: self.static_form().range(),
                steps: Box::default(),
            }),
            _ => None,
        }
    }

    /// The expression as a lone name, if it is one: `all`, `string`, `true`.
    pub fn as_keyword(&self) -> Option<&str> {
        match self.static_form().kind() {
            ExpressionKind::Traversal(t) if t.steps.is_empty() => Some(&t.root),
            ExpressionKind::Null => Some("null"),
            ExpressionKind::Bool(true) => Some("true"),
            ExpressionKind::Bool(false) => Some("false"),
            _ => None,
        }
    }

    /// The text of a string with no interpolation; of a JSON string, the text as it stands.
    pub fn as_literal_string(&self) -> Option<&Arc<str>> {
        if let Some(json) = &self.0.json {
            return Some(&json.text);
        }
        match self.kind() {
            ExpressionKind::String(s) => Some(s),
            _ => None,
        }
    }

    /// The items of a tuple written out, as for `depends_on = [...]`.
    pub fn as_static_list(&self) -> Option<&[Expression]> {
        match self.static_form().kind() {
            ExpressionKind::Tuple(items) => Some(items),
            _ => None,
        }
    }

    /// The items of an object written out, as for `providers = {...}`.
    pub fn as_static_map(&self) -> Option<&[ObjectItem]> {
        match self.static_form().kind() {
            ExpressionKind::Object(items) => Some(items),
            _ => None,
        }
    }

    /// The call, if it is one, as for the type constraint `list(string)`.
    pub fn as_static_call(&self) -> Option<&FunctionCall> {
        match self.static_form().kind() {
            ExpressionKind::FunctionCall(call) => Some(call),
            _ => None,
        }
    }

    /// A literal as an index key, where the parser may fold it into a traversal.
    pub(crate) fn as_index_key(&self) -> Option<IndexKey> {
        match self.kind() {
            ExpressionKind::String(s) => Some(IndexKey::String(s.clone())),
            ExpressionKind::Number(n) => Some(IndexKey::Number(n.clone())),
            _ => None,
        }
    }
}

impl fmt::Debug for Expression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        on_deep_stack(|| self.kind().fmt(f))
    }
}

/// Long chains are deep trees: their nodes must not be freed by plain recursion.
impl Drop for Node {
    fn drop(&mut self) {
        use ExpressionKind as K;
        if matches!(
            self.kind,
            K::Invalid
                | K::Null
                | K::Bool(_)
                | K::Number(_)
                | K::String(_)
                | K::Traversal(_)
                | K::SplatItem
        ) {
            return;
        }
        let kind = std::mem::replace(&mut self.kind, K::Invalid);
        on_deep_stack(|| drop(kind));
    }
}
