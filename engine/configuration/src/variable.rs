//! Input variables, local values and output values.

use crate::check::{CheckRule, description};
use crate::constant::{constant, flag_argument, text_argument};
use crate::depends_on::{StaticReference, depends_on};
use crate::references::expression_references;
use crate::shape::{Shape, labels, name_label};
use formwork_addresses::Subject;
use formwork_diagnostics::{Diagnostic, Diagnostics, SourceRange};
use formwork_eval::{TypeConstraint, parse_type_constraint};
use formwork_syntax::{Block, Body, Expression};
use formwork_values::{Deprecation, Mark, Marks, Type, Value};
use std::sync::Arc;

/// A `variable` block.
#[derive(Clone, Debug)]
pub struct InputVariable {
    /// Its name.
    pub name: Arc<str>,
    /// What its values are brought to.
    pub constraint: TypeConstraint,
    /// Whether a type was written. Text from outside is taken literally if none was.
    pub typed: bool,
    /// The value when none is given, already converted.
    pub default: Option<Value>,
    /// What it is for.
    pub description: Option<Arc<str>>,
    /// Whether its value is hidden.
    pub sensitive: bool,
    /// Whether its value lives for the run only.
    pub ephemeral: bool,
    /// Whether null may be given; if not, null stands for the default.
    pub nullable: bool,
    /// The author's word to those who still set it.
    pub deprecated: Option<Arc<str>>,
    /// `const`, if it is set: whether its value must be known before anything is planned, or may be
    /// used by nothing that must.
    pub constant: Option<bool>,
    /// What values must satisfy.
    pub validations: Vec<CheckRule>,
    /// The header of the block.
    pub range: SourceRange,
}

/// An entry of a `locals` block.
#[derive(Clone, Debug)]
pub struct LocalValue {
    /// Its name.
    pub name: Arc<str>,
    /// What it stands for.
    pub expression: Expression,
    /// Name and expression.
    pub range: SourceRange,
}

/// An `output` block.
#[derive(Clone, Debug)]
pub struct OutputValue {
    /// Its name.
    pub name: Arc<str>,
    /// Its value.
    pub expression: Expression,
    /// What the value is brought to, where a type is written.
    pub constraint: Option<TypeConstraint>,
    /// What it is for.
    pub description: Option<Arc<str>>,
    /// Whether its value is hidden.
    pub sensitive: bool,
    /// Whether its value lives for the run only.
    pub ephemeral: bool,
    /// The author's word to those who still use it.
    pub deprecated: Option<Arc<str>>,
    /// What must be done before the value counts.
    pub depends_on: Vec<StaticReference>,
    /// What must hold for the value to count.
    pub preconditions: Vec<CheckRule>,
    /// The header of the block.
    pub range: SourceRange,
}

impl InputVariable {
    /// Whether a value must be given.
    pub fn is_required(&self) -> bool {
        self.default.is_none()
    }

    /// The marks that a value of it carries.
    pub fn marks(&self) -> Marks {
        let mut marks = Marks::NONE;
        if self.sensitive {
            marks.insert(Mark::Sensitive);
        }
        if self.ephemeral {
            marks.insert(Mark::Ephemeral);
        }
        marks
    }

    /// Whether text from the command line or the environment is taken as it is: it is where the type
    /// is a primitive or none is written, and else read as an expression.
    pub fn takes_literal_text(&self) -> bool {
        !self.typed || self.constraint.ty.is_primitive()
    }

    pub(crate) fn decode(block: &Block, diagnostics: &mut Diagnostics) -> Option<Self> {
        const SHAPE: Shape = Shape {
            attributes: &[
                ("description", false),
                ("type", false),
                ("default", false),
                ("sensitive", false),
                ("ephemeral", false),
                ("nullable", false),
                ("deprecated", false),
                ("const", false),
            ],
            blocks: &[("validation", &[])],
        };
        /// Names that mean something else as arguments of a module call.
        const RESERVED: [&str; 8] = [
            "source",
            "version",
            "providers",
            "count",
            "for_each",
            "lifecycle",
            "depends_on",
            "locals",
        ];
        let [name] = labels(block, ["name"], diagnostics)?;
        if !name_label(block, 0, "Invalid variable name", diagnostics) {
            return None;
        }
        if RESERVED.contains(&&**name) {
            diagnostics.push(
                Diagnostic::error(
                    "Invalid variable name",
                    format!(
                        "\"{name}\" cannot be the name of a variable: in a module block it means \
                         something else. Choose another."
                    ),
                )
                .at(block.labels.first().map_or(block.type_range, |l| l.range)),
            );
        }
        let body = &SHAPE.read(&block.body, block.open_brace, diagnostics);
        let constraint = body.attribute("type").map(|a| {
            let (constraint, said) = parse_type_constraint(&a.expression);
            let failed = said.has_errors();
            diagnostics.append(said);
            (constraint, failed)
        });
        let typed = constraint.is_some();
        let (constraint, type_failed) = constraint.unwrap_or_default();
        let nullable = flag_argument(body, "nullable", diagnostics).unwrap_or(true);
        let mut variable = Self {
            name: name.clone(),
            constraint,
            typed,
            default: None,
            description: description(body, diagnostics),
            sensitive: flag_argument(body, "sensitive", diagnostics).unwrap_or(false),
            ephemeral: flag_argument(body, "ephemeral", diagnostics).unwrap_or(false),
            nullable,
            deprecated: text_argument(body, "deprecated", diagnostics).map(|(t, _)| t),
            constant: flag_argument(body, "const", diagnostics),
            validations: Vec::new(),
            range: block.header_range(),
        };
        variable.check_constant(body, diagnostics);
        if let Some(a) = body.attribute("default") {
            variable.default = variable.decode_default(&a.expression, type_failed, diagnostics);
        }
        for inner in body.blocks_of("validation") {
            variable
                .validations
                .extend(CheckRule::decode(inner, diagnostics));
        }
        for rule in &variable.validations {
            let (found, _) = expression_references(&rule.condition);
            let named = |s: &Subject| matches!(s, Subject::InputVariable(n) if *n == variable.name);
            if !found.is_empty() && !found.iter().any(|f| named(&f.reference.subject)) {
                diagnostics.push(
                    Diagnostic::error(
                        "Invalid variable validation condition",
                        format!(
                            "The condition must refer to var.{name}, the value that it is there to \
                             check."
                        ),
                    )
                    .at(rule.condition.range()),
                );
            }
        }
        Some(variable)
    }

    /// What is known before anything is planned is part of what is shown and kept.
    fn check_constant(&self, body: &Body, diagnostics: &mut Diagnostics) {
        if self.constant != Some(true) {
            return;
        }
        for (set, name) in [(self.sensitive, "sensitive"), (self.ephemeral, "ephemeral")] {
            let at = body.attribute(name).map(|a| a.range);
            if set {
                diagnostics.push(
                    Diagnostic::error(
                        format!("Const variable cannot be {name}"),
                        format!(
                            "The variable \"{}\" says const = true, so that its value may find modules \
                             and providers, which are shown and kept: it cannot be {name} as well. \
                             Remove one of the two.",
                            self.name
                        ),
                    )
                    .at_opt(at)
                    .within(self.range),
                );
            }
        }
    }

    /// The default, converted; a value of some kind even after an error, so that the variable does
    /// not count as required.
    fn decode_default(
        &self,
        e: &Expression,
        type_failed: bool,
        diagnostics: &mut Diagnostics,
    ) -> Option<Value> {
        let stand_in = Some(Value::unknown(self.constraint.ty.without_optional()));
        let Some(value) = constant(e, diagnostics) else {
            return stand_in;
        };
        if type_failed {
            return stand_in;
        }
        if value.is_null() && !self.nullable {
            diagnostics.push(
                Diagnostic::error(
                    "Invalid default value for variable",
                    "The default is null, but nullable = false says that the value is never null. \
                     Leave the default out to make the variable required.",
                )
                .at(e.range()),
            );
            return stand_in;
        }
        match self.constraint.apply(value) {
            Ok(v) => Some(v),
            Err(why) => {
                diagnostics.push(
                    Diagnostic::error(
                        "Invalid default value for variable",
                        format!(
                            "The default does not fit the variable's type {}: {why}.",
                            self.constraint.ty
                        ),
                    )
                    .at(e.range()),
                );
                stand_in
            }
        }
    }
}

impl LocalValue {
    pub(crate) fn decode_all(block: &Block, diagnostics: &mut Diagnostics) -> Vec<Self> {
        labels(block, [], diagnostics);
        for inner in block.body.blocks() {
            diagnostics.push(
                Diagnostic::error(
                    format!("Unexpected \"{}\" block", inner.block_type),
                    format!(
                        "A locals block holds arguments only. To give the local value \"{}\" an \
                         object, write an equals sign before the brace.",
                        inner.block_type
                    ),
                )
                .at(inner.type_range),
            );
        }
        let attributes = if block.body.is_json() {
            diagnostics.take(block.body.just_attributes())
        } else {
            block.body.attributes().to_vec()
        };
        attributes
            .iter()
            .map(|a| Self {
                name: a.name.clone(),
                expression: a.expression.clone(),
                range: a.range,
            })
            .collect()
    }
}

impl OutputValue {
    /// The marks that its value carries for those who read it.
    pub fn marks(&self, address: &str) -> Marks {
        let mut marks = Marks::NONE;
        if self.sensitive {
            marks.insert(Mark::Sensitive);
        }
        if self.ephemeral {
            marks.insert(Mark::Ephemeral);
        }
        if let Some(message) = &self.deprecated {
            marks.insert(Mark::Deprecated(Arc::new(Deprecation {
                source: Arc::from(address),
                message: message.clone(),
            })));
        }
        marks
    }

    pub(crate) fn decode(block: &Block, diagnostics: &mut Diagnostics) -> Option<Self> {
        const SHAPE: Shape = Shape {
            attributes: &[
                ("description", false),
                ("value", true),
                ("type", false),
                ("sensitive", false),
                ("ephemeral", false),
                ("deprecated", false),
                ("depends_on", false),
            ],
            blocks: &[("precondition", &[]), ("postcondition", &[])],
        };
        let [name] = labels(block, ["name"], diagnostics)?;
        if !name_label(block, 0, "Invalid output name", diagnostics) {
            return None;
        }
        let body = &SHAPE.read(&block.body, block.open_brace, diagnostics);
        let expression = match body.attribute("value") {
            Some(a) => a.expression.clone(),
            // Kept all the same, so that references to it are not reported too.
            None => Expression::new(formwork_syntax::ExpressionKind::Invalid, block.open_brace),
        };
        let constraint = body
            .attribute("type")
            .map(|a| diagnostics.take(parse_type_constraint(&a.expression)));
        for b in body.blocks_of("postcondition") {
            diagnostics.push(
                Diagnostic::error(
                    "Postconditions are not allowed",
                    "An output has nothing to check after its value is there: write a precondition.",
                )
                .at(b.type_range),
            );
        }
        let preconditions = body
            .blocks_of("precondition")
            .filter_map(|b| CheckRule::decode(b, diagnostics))
            .collect();
        Some(Self {
            name: name.clone(),
            expression,
            constraint,
            description: description(body, diagnostics),
            sensitive: flag_argument(body, "sensitive", diagnostics).unwrap_or(false),
            ephemeral: flag_argument(body, "ephemeral", diagnostics).unwrap_or(false),
            deprecated: text_argument(body, "deprecated", diagnostics).map(|(t, _)| t),
            depends_on: depends_on(body, diagnostics),
            preconditions,
            range: block.header_range(),
        })
    }

    /// The type a value of it has when nothing else is known.
    pub fn ty(&self) -> Type {
        self.constraint
            .as_ref()
            .map_or(Type::Dynamic, |c| c.ty.without_optional())
    }
}
