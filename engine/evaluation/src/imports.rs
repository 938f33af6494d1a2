//! What `import` blocks ask for: which instance, by which id.

use crate::evaluator::Evaluator;
use crate::moves::instance_key_of;
use crate::reading::Reading;
use crate::repetition::{Repeated, expand};
use crate::scope::{ModuleScope, RepetitionData};
use crate::{Expansion, ModuleFunctions};
use formwork_addresses::{AbsResourceInstance, InstanceKey, ModuleInstance};
use formwork_configuration::{ImportBlock, MoveTarget, Repetition};
use formwork_diagnostics::{Checked, Diagnostic, Diagnostics, SourceRange};
use formwork_syntax::{Expression, on_deep_stack};
use formwork_values::{Type, Value, convert};
use std::sync::Arc;

/// One object to import.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WantedImport {
    /// To this instance.
    pub to: AbsResourceInstance,
    /// The id by which the provider finds it.
    pub id: Arc<str>,
    /// Where the instance is written.
    pub to_range: SourceRange,
    /// Where the id is written.
    pub id_range: SourceRange,
}

impl Evaluator {
    /// What a block of the root module asks for, over the objects as they are by now.
    pub async fn imports(&self, block: &ImportBlock) -> Checked<Vec<WantedImport>> {
        self.calls()
            .settled(|reading| on_deep_stack(|| self.read_imports(block, reading)))
            .await
    }

    fn read_imports(&self, block: &ImportBlock, reading: &mut Reading) -> Vec<WantedImport> {
        let root = ModuleInstance::root();
        let Some(module) = self.module(&root) else {
            return Vec::new();
        };
        let functions = self.functions(module);
        let mut wanted = Vec::new();
        let Some(each) = &block.for_each else {
            wanted.extend(self.read_import(block, RepetitionData::default(), &functions, reading));
            return wanted;
        };
        let repetition = Repetition::ForEach(each.clone());
        match expand(&repetition, &self.scope(&root), &functions, reading) {
            Repeated::Known(Expansion::ForEach(elements)) => {
                for (key, value) in elements.iter() {
                    let data = RepetitionData {
                        each_key: Some(Value::shared_string(key.clone())),
                        each_value: Some(value.clone()),
                        ..RepetitionData::default()
                    };
                    wanted.extend(self.read_import(block, data, &functions, reading));
                }
            }
            Repeated::Unknown(unknown) => reading.say(unknown.diagnostic),
            _ => {}
        }
        wanted
    }

    fn read_import(
        &self,
        block: &ImportBlock,
        data: RepetitionData,
        functions: &ModuleFunctions<'_>,
        reading: &mut Reading,
    ) -> Option<WantedImport> {
        let root = ModuleInstance::root();
        let scope = ModuleScope::new(self, &root, data);
        let mut said = Diagnostics::new();
        let to = block
            .to
            .with_keys(|e| import_key(e, &scope, functions, reading), &mut said);
        reading.diagnostics.append(said);
        let to = match to? {
            MoveTarget::Resource(to) => to,
            // refused when the block was read
            MoveTarget::Module(_) => return None,
        };
        let Some(id) = &block.id else {
            let range = block
                .identity
                .as_ref()
                .map_or(block.range, Expression::range);
            reading.say(
                Diagnostic::error(
                    "Not served yet",
                    "This version of Formwork finds objects to import by \"id\", not by \"identity\".",
                )
                .at(range),
            );
            return None;
        };
        let text = import_id(id, &scope, functions, reading)?;
        Some(WantedImport {
            to,
            id: text,
            to_range: block.to.range(),
            id_range: id.range(),
        })
    }
}

fn import_key(
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
    match instance_key_of(&value) {
        Ok(key) => Some(key),
        Err(why) => {
            reading.say(
                Diagnostic::error(
                    "Invalid import 'to' expression",
                    format!(
                        "A key of an instance is a text or a whole number that is known when planning, but \
                         this value is {why}."
                    ),
                )
                .at(e.range()),
            );
            None
        }
    }
}

fn import_id(
    e: &Expression,
    scope: &ModuleScope<'_>,
    functions: &ModuleFunctions<'_>,
    reading: &mut Reading,
) -> Option<Arc<str>> {
    let before = reading.diagnostics.error_count();
    let value = scope.read(e, functions, reading);
    if reading.diagnostics.error_count() > before || !reading.pending.is_empty() {
        return None;
    }
    let marks = value.all_marks();
    let plain = value.unmark_deep().0;
    let why = if marks.is_ephemeral() {
        "It is ephemeral, and an import outlives the run."
    } else if plain.is_null() {
        "It is null."
    } else if !plain.is_wholly_known() {
        "It is known only after apply, but an object is imported before anything is planned. Use a value that is known, or apply what it comes from first."
    } else {
        match convert(plain, &Type::String) {
            Ok(text) => match text.as_shared_str() {
                Some(text) if !text.is_empty() => return Some(text.clone()),
                _ => "It is empty.",
            },
            Err(_) => "It is no text.",
        }
    };
    let detail = format!("The id by which an object is found cannot be used. {why}");
    reading.say(Diagnostic::error("Invalid import id argument", detail).at(e.range()));
    None
}
