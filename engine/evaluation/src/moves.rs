//! `for_each` in `moved` blocks: which moves a block stands for.
//!
//! Decided before anything is read or planned, so over no objects: what needs one is unknown. A block
//! speaks for every instance of its module, so it is evaluated once, where the instance is not known.

use crate::evaluator::Evaluator;
use crate::reading::Reading;
use crate::repetition::{Repeated, expand};
use crate::scope::{ModuleScope, RepetitionData};
use crate::{Expansion, ModuleFunctions};
use formwork_addresses::{InstanceKey, ModulePath};
use formwork_configuration::{MoveTarget, MovedForEach, Repetition};
use formwork_diagnostics::{Checked, Diagnostic, Diagnostics};
use formwork_syntax::{Expression, on_deep_stack};
use formwork_values::{Type, Value, convert};

impl Evaluator {
    /// From and to of each move. The evaluator is a validating one, with the root variables and no
    /// objects.
    pub async fn moves(
        &self,
        path: &ModulePath,
        block: &MovedForEach,
    ) -> Checked<Vec<(MoveTarget, MoveTarget)>> {
        let (moves, mut said) = self
            .calls()
            .settled(|reading| on_deep_stack(|| self.read_moves(path, block, reading)))
            .await;
        let moves = moves.unwrap_or_else(|unknown| {
            said.push(*unknown);
            Vec::new()
        });
        (moves, said)
    }

    fn read_moves(
        &self,
        path: &ModulePath,
        block: &MovedForEach,
        reading: &mut Reading,
    ) -> Result<Vec<(MoveTarget, MoveTarget)>, Box<Diagnostic>> {
        let instance = path.unkeyed_instance();
        let Some(module) = self.module(&instance) else {
            return Ok(Vec::new());
        };
        let functions = self.functions(module);
        let repetition = Repetition::ForEach(block.each.clone());
        let elements = match expand(&repetition, &self.scope(&instance), &functions, reading) {
            Repeated::Known(Expansion::ForEach(elements)) => elements,
            Repeated::Unknown(_) => {
                return Err(Box::new(
                    Diagnostic::error(
                        "Invalid for_each argument",
                        "What has moved must be known before anything is read or planned, so only \
                         variables and locals can say it, and only as far as they need no resource \
                         and are the same in all instances of the module.",
                    )
                    .at(block.each.range()),
                ));
            }
            _ => return Ok(Vec::new()),
        };
        let mut moves = Vec::with_capacity(elements.len());
        for (key, value) in elements.iter() {
            let data = RepetitionData {
                each_key: Some(Value::shared_string(key.clone())),
                each_value: Some(value.clone()),
                ..RepetitionData::default()
            };
            let scope = ModuleScope::new(self, &instance, data);
            let mut said = Diagnostics::new();
            let mut compute = |e: &Expression| key_of(e, &scope, &functions, reading);
            let from = block.from.with_keys(&mut compute, &mut said);
            let to = block.to.with_keys(&mut compute, &mut said);
            reading.diagnostics.append(said);
            if let (Some(from), Some(to)) = (from, to) {
                moves.push((from, to));
            }
        }
        Ok(moves)
    }
}

/// The value of a computed key.
fn key_of(
    e: &Expression,
    scope: &ModuleScope<'_>,
    functions: &ModuleFunctions<'_>,
    reading: &mut Reading,
) -> Option<InstanceKey> {
    let before = reading.diagnostics.error_count();
    let value = scope.read(e, functions, reading);
    if reading.diagnostics.error_count() > before || !reading.pending.is_empty() {
        return None;
    }
    let why = match instance_key_of(&value) {
        Ok(key) => return Some(key),
        Err(why) => why,
    };
    reading.say(
        Diagnostic::error(
            "Invalid moved address key",
            format!("A key of an instance is a text or a whole number, but this value is {why}."),
        )
        .at(e.range()),
    );
    None
}

/// A value as the key of an instance: text, or a whole number.
///
/// # Errors
/// What it is instead.
pub(crate) fn instance_key_of(value: &Value) -> Result<InstanceKey, &'static str> {
    let marks = value.all_marks();
    if marks.is_sensitive() {
        return Err("sensitive");
    }
    if marks.is_ephemeral() {
        return Err("ephemeral");
    }
    let plain = value.clone().unmark_deep().0;
    if plain.is_null() {
        return Err("null");
    }
    if !plain.is_known() {
        return Err("not known");
    }
    if let Some(n) = plain.as_number() {
        let whole = n.to_i64().filter(|n| *n >= 0);
        return whole
            .map(InstanceKey::Int)
            .ok_or("a number that is no index");
    }
    convert(plain, &Type::String)
        .ok()
        .and_then(|v| v.as_shared_str().cloned())
        .map(InstanceKey::Text)
        .ok_or("neither")
}
