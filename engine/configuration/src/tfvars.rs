//! Values of root variables: `.tfvars` files, and text from the command line or the environment.

use crate::constant::constant;
use crate::variable::InputVariable;
use formwork_diagnostics::{Checked, Diagnostic, Diagnostics, SourceMap, SourceRange};
use formwork_syntax::OffsetMap;
use formwork_values::{ConvertError, Value};
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

/// A value given in a file, and where. Its debug form shows the place alone.
#[derive(Clone)]
pub struct GivenValue {
    /// The value, not yet converted.
    pub value: Value,
    /// The value's text.
    pub range: SourceRange,
    /// The name's text.
    pub name_range: SourceRange,
}

impl fmt::Debug for GivenValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GivenValue")
            .field("range", &self.range)
            .finish_non_exhaustive()
    }
}

/// Why a variable does not take a value.
#[derive(Clone, Debug)]
pub enum Unsuitable {
    /// It is null, which the variable excludes, and there is no default.
    Null,
    /// It is not of the variable's type.
    Type(ConvertError),
}

impl fmt::Display for Unsuitable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Null => f.write_str("it may not be null"),
            Self::Type(why) => why.fmt(f),
        }
    }
}

impl std::error::Error for Unsuitable {}

/// Reads a `.tfvars` or `.tfvars.json` file: arguments with constant values. The file is private: which
/// of its values are secrets is known to those who know their declarations, and they disclose the others.
pub fn parse_tfvars(
    name: &str,
    bytes: &[u8],
    sources: &mut SourceMap,
) -> Checked<BTreeMap<Arc<str>, GivenValue>> {
    let file = sources.add_private(name, bytes);
    let (body, mut diagnostics) = formwork_syntax::parse_named(file, name, bytes);
    for block in body.blocks() {
        let kind = &block.block_type;
        let d = Diagnostic::error(
            format!("Unexpected \"{kind}\" block"),
            format!(
                "A file of variable values holds arguments only, and no \"{kind}\" blocks. To give \
                 the variable \"{kind}\" an object, write an equals sign before the brace."
            ),
        )
        .at(block.type_range);
        sources.disclose(block.type_range);
        diagnostics.push(if &**kind == "variable" {
            d.hint(
                "Variables are declared in .tf files; here they are given values, as in \
                 name = \"value\".",
            )
        } else {
            d
        });
    }
    let mut values = BTreeMap::new();
    let attributes = if body.is_json() {
        diagnostics.take(body.just_attributes())
    } else {
        body.attributes().to_vec()
    };
    for a in attributes {
        if let Some(value) = constant(&a.expression, &mut diagnostics) {
            let given = GivenValue {
                value,
                range: a.expression.range(),
                name_range: a.name_range,
            };
            values.insert(a.name.clone(), given);
        } else {
            // of what ends nobody knows where, the line on which it begins
            let range = a.expression.range();
            let from = usize::try_from(range.start).unwrap_or(bytes.len());
            let line = bytes.get(from..).unwrap_or_default().iter();
            let length = line.take_while(|b| **b != b'\n').count();
            let end = range.start + u32::try_from(length).unwrap_or(u32::MAX);
            let first = SourceRange::new(file, a.name_range.start, range.end.min(end));
            sources.leave_undecided(&a.name, first);
        }
    }
    (values, diagnostics)
}

impl InputVariable {
    /// Whether what is given for it may be a secret: it says so, and is sensitive or ephemeral.
    pub fn may_be_secret(&self) -> bool {
        self.sensitive || self.ephemeral
    }

    /// A value from text, as `-var` and `TF_VAR_*` give it: taken as it is where the variable is a
    /// primitive or says no type, and read as an expression of constants where it is more.
    pub fn value_from_text(&self, text: &str, sources: &mut SourceMap) -> Checked<Value> {
        if self.takes_literal_text() {
            return (Value::string(text), Diagnostics::new());
        }
        let name = format!("<value for var.{}>", self.name);
        let file = sources.add_private(name, text.as_bytes());
        if !self.may_be_secret() {
            let end = u32::try_from(text.len()).unwrap_or(u32::MAX);
            sources.disclose(SourceRange::new(file, 0, end));
        }
        let (e, mut diagnostics) =
            formwork_syntax::parse_expression(file, text.as_bytes(), OffsetMap::PLAIN);
        let value = if diagnostics.has_errors() {
            None
        } else {
            constant(&e, &mut diagnostics)
        };
        if diagnostics.has_errors()
            && let Some(last) = diagnostics.iter_mut().last()
        {
            last.hints.push(format!(
                "The type of var.{} is {}, so its value is read as an expression, in which text stands \
                 in quotes.",
                self.name, self.constraint.ty
            ));
        }
        (value.unwrap_or_else(Value::dynamic), diagnostics)
    }

    /// Brings a value to the variable's type, defaults of optional attributes filled in. Null stands
    /// for the default where the variable is not nullable. Marks of the variable itself
    /// ([`InputVariable::marks`]) are put on by whoever reads it.
    ///
    /// # Errors
    /// Why it does not take the value.
    pub fn accept(&self, value: Value) -> Result<Value, Unsuitable> {
        if value.unmarked().is_null() && !self.nullable {
            return self.default.clone().ok_or(Unsuitable::Null);
        }
        self.constraint.apply(value).map_err(Unsuitable::Type)
    }
}
