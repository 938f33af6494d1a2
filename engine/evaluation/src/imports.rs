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
use formwork_values::{Type, Value, convert, value_to_json};
use std::fmt;
use std::sync::Arc;

/// How an object to import is found.
#[derive(Clone, Debug, PartialEq)]
pub enum ImportBy {
    /// By its id.
    Id(Arc<str>),
    /// By its identity, as it is written: an object, known and without marks.
    Identity(Value),
}

impl fmt::Display for ImportBy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Id(id) => write!(f, "the id {id:?}"),
            Self::Identity(identity) => match value_to_json(identity) {
                Ok(json) => write!(f, "the identity {json}"),
                Err(_) => f.write_str("its identity"),
            },
        }
    }
}

/// One object to import.
#[derive(Clone, Debug, PartialEq)]
pub struct WantedImport {
    /// To this instance.
    pub to: AbsResourceInstance,
    /// By what the provider finds it.
    pub by: ImportBy,
    /// Where the instance is written.
    pub to_range: SourceRange,
    /// Where that is written.
    pub id_range: SourceRange,
}

/// What a block asks for.
#[derive(Default)]
pub struct WantedImports {
    /// As far as it is known.
    pub known: Vec<WantedImport>,
    /// What is not: by what an object is found, or for which elements the block stands. An error, unless
    /// it can be left to a later round.
    pub unknown: Diagnostics,
}

impl Evaluator {
    /// What a block of the root module asks for, over the objects as they are by now.
    pub async fn imports(&self, block: &ImportBlock) -> Checked<WantedImports> {
        self.calls()
            .settled(|reading| on_deep_stack(|| self.read_imports(block, reading)))
            .await
    }

    fn read_imports(&self, block: &ImportBlock, reading: &mut Reading) -> WantedImports {
        let root = ModuleInstance::root();
        let Some(module) = self.module(&root) else {
            return WantedImports::default();
        };
        let functions = self.functions(module);
        let mut wanted = WantedImports::default();
        let Some(each) = &block.for_each else {
            let data = RepetitionData::default();
            self.read_import(block, data, &functions, reading, &mut wanted);
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
                    self.read_import(block, data, &functions, reading, &mut wanted);
                }
            }
            Repeated::Unknown(unknown) => wanted.unknown.push(unknown.diagnostic),
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
        wanted: &mut WantedImports,
    ) {
        let root = ModuleInstance::root();
        let scope = ModuleScope::new(self, &root, data);
        let mut said = Diagnostics::new();
        let to = block
            .to
            .with_keys(|e| import_key(e, &scope, functions, reading), &mut said);
        reading.diagnostics.append(said);
        // a module was refused when the block was read
        let Some(MoveTarget::Resource(to)) = to else {
            return;
        };
        let (found, range) = match (&block.id, &block.identity) {
            (Some(id), _) => (import_id(id, &scope, functions, reading), id.range()),
            (None, Some(identity)) => {
                let found = import_identity(identity, &scope, functions, reading);
                (found, identity.range())
            }
            // refused when the block was read
            (None, None) => return,
        };
        match found {
            Ok(Some(by)) => wanted.known.push(WantedImport {
                to,
                by,
                to_range: block.to.range(),
                id_range: range,
            }),
            Ok(None) => {}
            Err(unknown) => wanted.unknown.push(*unknown),
        }
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
) -> Result<Option<ImportBy>, Box<Diagnostic>> {
    let before = reading.diagnostics.error_count();
    let value = scope.read(e, functions, reading);
    if reading.diagnostics.error_count() > before || !reading.pending.is_empty() {
        return Ok(None);
    }
    let marks = value.all_marks();
    let plain = value.unmark_deep().0;
    let mut unknown = false;
    let why = if marks.is_ephemeral() {
        "It is ephemeral, and an import outlives the run."
    } else if plain.is_null() {
        "It is null."
    } else if !plain.is_wholly_known() {
        unknown = true;
        "It is known only after apply, but an object is imported before anything is planned. Use a value that is known, or apply what it comes from first."
    } else {
        match convert(plain, &Type::String) {
            Ok(text) => match text.as_shared_str() {
                Some(text) if !text.is_empty() => return Ok(Some(ImportBy::Id(text.clone()))),
                _ => "It is empty.",
            },
            Err(_) => "It is no text.",
        }
    };
    let detail = format!("The id by which an object is found cannot be used. {why}");
    let d = Diagnostic::error("Invalid import id argument", detail).at(e.range());
    if unknown {
        return Err(Box::new(d));
    }
    reading.say(d);
    Ok(None)
}

fn import_identity(
    e: &Expression,
    scope: &ModuleScope<'_>,
    functions: &ModuleFunctions<'_>,
    reading: &mut Reading,
) -> Result<Option<ImportBy>, Box<Diagnostic>> {
    let before = reading.diagnostics.error_count();
    let value = scope.read(e, functions, reading);
    if reading.diagnostics.error_count() > before || !reading.pending.is_empty() {
        return Ok(None);
    }
    let marks = value.all_marks();
    let plain = value.unmark_deep().0;
    let mut unknown = false;
    let why = if marks.is_ephemeral() {
        "It is ephemeral, and an import outlives the run."
    } else if marks.is_sensitive() {
        "It is sensitive, but the identity of an object is shown in plans and kept in the state."
    } else if plain.is_null() {
        "It is null."
    } else if !plain.is_wholly_known() {
        unknown = true;
        "Some of it is known only after apply, but an object is imported before anything is planned. Use values that are known, or apply what they come from first."
    } else if !matches!(plain.type_of(), Type::Object(_) | Type::Map(_)) {
        "It is no object."
    } else {
        return Ok(Some(ImportBy::Identity(plain)));
    };
    let detail = format!("The identity by which an object is found cannot be used. {why}");
    let d = Diagnostic::error("Invalid import identity argument", detail).at(e.range());
    if unknown {
        return Err(Box::new(d));
    }
    reading.say(d);
    Ok(None)
}
