//! `prevent_destroy`: whether an object may go.
//!
//! The argument is an expression, judged for one instance at the moment when its object would be
//! deleted or replaced. What cannot be decided protects: an object is not given up because nobody
//! could tell. docs/formats/language-beyond-terraform.md has the rules.

use formwork_addresses::AbsResourceInstance;
use formwork_configuration::{Repetition, ResourceBlock};
use formwork_diagnostics::{Diagnostic, Diagnostics, SourceRange};
use formwork_evaluation::{Evaluator, ModuleFunctions, ModuleScope};
use formwork_values::{Type, Value, convert};

/// An error if the block of an instance says, here, that its object stays, or if that cannot be told.
pub(crate) async fn protection(
    evaluator: &Evaluator,
    block: &ResourceBlock,
    address: &AbsResourceInstance,
    scope: &ModuleScope<'_>,
    functions: &ModuleFunctions<'_>,
) -> Diagnostics {
    let Some(expression) = &block.lifecycle.prevent_destroy else {
        return Diagnostics::new();
    };
    let (value, mut said) = evaluator
        .calls()
        .settled(|reading| scope.read(expression, functions, reading))
        .await;
    said.default_address(address);
    if said.has_errors() {
        return said;
    }
    match decide(&value) {
        Ok(false) => {}
        Ok(true) => said.push(prevented(address, expression.range())),
        Err(why) => {
            let mut d = Diagnostic::error(
                "Invalid prevent_destroy argument",
                format!(
                    "The object of {address} would be destroyed, but whether it may be cannot be \
                     told: {why}."
                ),
            )
            .at(expression.range())
            .about(address);
            if !value.is_known() && matches!(block.repetition, Repetition::ForEach(_)) {
                d = d.hint(
                    "An instance that is no longer configured has an each.key, but no each.value. \
                     Look the setting up by key, with a default: lookup(var.protected, each.key, \
                     false).",
                );
            }
            said.push(d);
        }
    }
    said
}

/// The same for an instance that is not configured any more, though its block may be.
pub(crate) async fn protection_of_orphan(
    evaluator: &Evaluator,
    address: &AbsResourceInstance,
) -> Diagnostics {
    let Some(module) = evaluator.module(&address.module) else {
        return Diagnostics::new();
    };
    let Some(block) = module.resource(&address.resource) else {
        return Diagnostics::new();
    };
    let repetition =
        evaluator.configured_repetition(&address.module, &block.repetition, &address.key);
    let scope = ModuleScope::new(evaluator, &address.module, repetition);
    let functions = evaluator.functions(module);
    protection(evaluator, block, address, &scope, &functions).await
}

fn decide(value: &Value) -> Result<bool, String> {
    let marks = value.all_marks();
    if marks.is_sensitive() {
        return Err("the value is sensitive, and the answer would show it".to_owned());
    }
    if marks.is_ephemeral() {
        return Err(
            "the value is ephemeral, and may be another one when the plan is applied".to_owned(),
        );
    }
    let value = value.clone().unmark_deep().0;
    if value.is_null() {
        return Ok(false);
    }
    let flag = convert(value.clone(), &Type::Bool).map_err(|_| {
        format!(
            "the value must be either true or false, but its type is {}",
            value.type_of().friendly_name()
        )
    })?;
    flag.as_bool().ok_or_else(|| match flag.origin() {
        Some(o) => format!("it depends on {}{}, which is not known", o.address, o.path),
        None => "it depends on values that are not known".to_owned(),
    })
}

fn prevented(address: &AbsResourceInstance, range: SourceRange) -> Diagnostic {
    Diagnostic::error(
        "Instance cannot be destroyed",
        format!(
            "{address} has prevent_destroy set, but this plan would destroy its object. Take the \
             setting away, or limit the run so that this object is left out."
        ),
    )
    .at(range)
    .about(address)
}
