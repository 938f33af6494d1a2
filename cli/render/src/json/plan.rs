//! Plans as JSON, format 1.2.
//!
//! What is ours alone stands under `formwork`, with a version of its own.

use super::checks::write_checks;
use super::configuration::write_configuration;
use super::relevant::write_relevant_attributes;
use super::state::{write_identity, write_prior};
use super::tree::ModuleTree;
use super::values::{known, sensitive_parts, unknown_parts};
use super::write::{self, Array, Object};
use crate::schemas::{SchemaCache, Schemas};
use formwork_addresses::ResourceMode;
use formwork_configuration::Configuration;
use formwork_diagnostics::{Diagnostic, Severity};
use formwork_plan::{
    Action, DeferredChange, OutputChange, Plan, PlannedVariable, ResourceInstanceChange,
};
use formwork_values::{Path, Step, Type};

/// The plan on one line, with a line end.
///
/// `configuration` is the one parsed from the plan's own files; without it `configuration` and
/// `relevant_attributes` are left out.
pub fn plan_json(plan: &Plan, configuration: Option<&Configuration>, schemas: &Schemas) -> String {
    plan_json_with(plan, configuration, schemas, &PlanRemarks::default())
}

/// The same, with what others have to say about the plan.
pub fn plan_json_with(
    plan: &Plan,
    configuration: Option<&Configuration>,
    schemas: &Schemas,
    remarks: &PlanRemarks<'_>,
) -> String {
    let mut cache = SchemaCache::new(schemas);
    let mut out = write::object(|o| write_plan(o, plan, configuration, &mut cache, remarks));
    out.push('\n');
    out
}

/// What others have to say about a plan.
#[derive(Clone, Debug, Default)]
pub struct PlanRemarks<'a> {
    /// What breaks a rule, with the id of the rule.
    pub findings: Vec<(&'a str, &'a Diagnostic)>,
    /// Which alternative this is the plan of, from 1.
    pub alternative: Option<usize>,
}

fn write_plan(
    o: &mut Object<'_>,
    plan: &Plan,
    configuration: Option<&Configuration>,
    cache: &mut SchemaCache<'_>,
    remarks: &PlanRemarks<'_>,
) {
    o.text("format_version", "1.2");
    o.text("terraform_version", &plan.language_version);
    if !plan.variables.is_empty() {
        o.object("variables", |o| {
            for (name, variable) in &plan.variables {
                o.object(name, |o| match variable {
                    PlannedVariable::Value(value) => o.raw("value", &known(value)),
                    // its value is nobody's but the run's
                    PlannedVariable::Ephemeral => {}
                });
            }
        });
    }
    o.object("planned_values", |o| write_planned_values(o, plan));
    if !plan.drift.is_empty() {
        o.array("resource_drift", |a| {
            for change in shallow_first(plan.drift.iter()) {
                a.object(|o| write_change(o, change));
            }
        });
    }
    write_changes(o, &plan.changes);
    if !plan.deferred.is_empty() {
        o.array("deferred_changes", |a| {
            for deferred in &plan.deferred {
                a.object(|o| write_deferred(o, deferred));
            }
        });
    }
    write_output_changes(o, &plan.outputs);
    // sources of a plan are v4 as we write it; if it cannot be read, there is nothing to show
    if let (Some(prior), _) = formwork_state::v4::read(&plan.prior.refreshed, "prior state")
        && !prior.state.is_empty()
    {
        o.object("prior_state", |o| {
            o.text("format_version", "1.0");
            write_prior(o, &prior.state, &plan.language_version, cache);
        });
    }
    if let Some(configuration) = configuration {
        o.object("configuration", |o| {
            write_configuration(o, configuration, cache);
        });
        write_relevant_attributes(o, plan, configuration);
    }
    if !plan.checks.is_empty() {
        o.array("checks", |a| write_checks(a, &plan.checks));
    }
    o.text("timestamp", &plan.timestamp);
    o.bool("applyable", plan.applyable);
    o.bool("complete", plan.complete);
    o.bool("errored", plan.errored);
    o.object("formwork", |o| write_ours(o, plan, remarks));
}

/// Data sources that were read while planning are prior state, not changes.
fn is_change(change: &ResourceInstanceChange) -> bool {
    change.action != Action::NoOp || change.address.resource.mode == ResourceMode::Managed
}

/// In the order of the format: by address, but modules of modules after all modules.
fn shallow_first<'c>(
    changes: impl Iterator<Item = &'c ResourceInstanceChange>,
) -> Vec<&'c ResourceInstanceChange> {
    let mut all: Vec<&ResourceInstanceChange> = changes.collect();
    all.sort_by_key(|c| c.address.module.steps().len());
    all
}

pub(super) fn write_output_changes(o: &mut Object<'_>, outputs: &[OutputChange]) {
    if !outputs.is_empty() {
        o.object("output_changes", |o| {
            for output in outputs {
                o.object(&output.name, |o| write_output_change(o, output));
            }
        });
    }
}

pub(super) fn write_changes(o: &mut Object<'_>, changes: &[ResourceInstanceChange]) {
    let changes = shallow_first(changes.iter().filter(|c| is_change(c)));
    if !changes.is_empty() {
        o.array("resource_changes", |a| {
            for change in changes {
                a.object(|o| write_change(o, change));
            }
        });
    }
}

/// What will be there: objects by module, and outputs.
fn write_planned_values(o: &mut Object<'_>, plan: &Plan) {
    let outputs: Vec<&OutputChange> = plan.outputs.iter().filter(|o| o.after.is_some()).collect();
    if !outputs.is_empty() {
        o.object("outputs", |o| {
            for output in outputs {
                o.object(&output.name, |o| {
                    o.bool("sensitive", output.sensitive);
                    if let Some(after) = &output.after
                        && after.is_wholly_known()
                    {
                        let ty = if after.is_null() {
                            Type::Dynamic
                        } else {
                            after.type_of()
                        };
                        o.raw("type", &ty.to_json().to_string());
                        o.raw("value", &known(after));
                    }
                });
            }
        });
    }
    let mut tree = ModuleTree::default();
    for change in plan.changes.iter().filter(|c| is_change(c)) {
        // what leaves the state is not there for anybody who plans by it
        if change.after.is_null() || change.deposed.is_some() || change.action == Action::Forget {
            continue;
        }
        let json = write::object(|o| {
            write_identity(o, &change.address);
            o.text("provider_name", &change.provider.provider.to_string());
            o.integer("schema_version", i128::from(change.schema_version));
            o.raw("values", &known(&change.after));
            o.raw("sensitive_values", &sensitive_parts(&change.after));
        });
        tree.add(&change.address.module, json);
    }
    o.raw("root_module", &tree.root_json());
}

/// Why something is left to a later round, and what can be foreseen of it.
fn write_deferred(o: &mut Object<'_>, deferred: &DeferredChange) {
    o.text("reason", deferred.reason.word());
    o.object("resource_change", |o| {
        o.text("address", &deferred.address);
        write_change_of(o, &deferred.change, &deferred.module, deferred.key_unknown);
    });
    // not Terraform's: what it waits for
    if !deferred.waits_for.is_empty() {
        o.object("formwork", |o| {
            o.array("waits_for", |a| {
                for name in &deferred.waits_for {
                    a.text(name);
                }
            });
        });
    }
}

fn write_change(o: &mut Object<'_>, change: &ResourceInstanceChange) {
    o.text("address", &change.address.to_string());
    write_change_of(o, change, &change.address.module.to_string(), false);
}

/// What follows the address.
fn write_change_of(
    o: &mut Object<'_>,
    change: &ResourceInstanceChange,
    module: &str,
    key_unknown: bool,
) {
    let address = &change.address;
    if let Some(previous) = &change.previous_address {
        o.text("previous_address", &previous.to_string());
    }
    if !module.is_empty() {
        o.text("module_address", module);
    }
    o.text("mode", address.resource.mode.word());
    o.text("type", &address.resource.kind);
    o.text("name", &address.resource.name);
    super::tree::write_key(o, "index", &address.key);
    if key_unknown {
        o.bool("index_unknown", true);
    }
    o.text("provider_name", &change.provider.provider.to_string());
    if let Some(key) = &change.deposed {
        o.text("deposed", key.as_str());
    }
    o.object("change", |o| {
        o.array("actions", |a| write_actions(a, change.action));
        o.raw("before", &known(&change.before));
        if change.after.is_known() {
            o.raw("after", &known(&change.after));
        }
        let unknown = match change.after.is_wholly_known() {
            true => "{}".to_owned(),
            false => unknown_parts(&change.after),
        };
        o.raw("after_unknown", &unknown);
        o.raw("before_sensitive", &sensitive_parts(&change.before));
        o.raw("after_sensitive", &sensitive_parts(&change.after));
        if !change.replace_paths.is_empty() {
            o.array("replace_paths", |a| {
                for path in &change.replace_paths {
                    a.array(|a| write_path(a, path));
                }
            });
        }
        if let Some(importing) = &change.importing {
            o.object("importing", |o| match &importing.identity {
                Some(identity) => o.raw("identity", identity),
                None => o.text("id", &importing.id),
            });
            if let Some(generated) = &importing.generated {
                o.text("generated_config", generated);
            }
        }
        if let Some(identity) = &change.identity.before {
            o.raw("before_identity", identity);
        }
        if let Some(identity) = &change.identity.after {
            o.raw("after_identity", identity);
        }
    });
    if let Some(reason) = change.reason {
        o.text("action_reason", reason.word());
    }
}

fn write_actions(a: &mut Array<'_>, action: Action) {
    for word in action.json_actions() {
        a.text(word);
    }
}

fn write_path(a: &mut Array<'_>, path: &Path) {
    for step in path.steps() {
        match step {
            Step::Attribute(name) => a.text(name),
            Step::Index(key) => a.raw(&known(key)),
        }
    }
}

fn write_output_change(o: &mut Object<'_>, output: &OutputChange) {
    o.array("actions", |a| write_actions(a, output.action()));
    let before = output.before.as_ref().map(known);
    o.raw("before", before.as_deref().unwrap_or("null"));
    match &output.after {
        None => o.raw("after", "null"),
        Some(after) if after.is_known() => o.raw("after", &known(after)),
        Some(_) => {}
    }
    let unknown = match &output.after {
        Some(after) if !after.is_wholly_known() => unknown_parts(after),
        _ => "false".to_owned(),
    };
    o.raw("after_unknown", &unknown);
    o.bool("before_sensitive", output.sensitive);
    o.bool("after_sensitive", output.sensitive);
}

fn write_ours(o: &mut Object<'_>, plan: &Plan, remarks: &PlanRemarks<'_>) {
    o.text("format_version", "1.0");
    o.text("tool_version", &plan.tool_version);
    o.text("mode", plan.mode.word());
    if !plan.targets.is_empty() {
        o.array("targets", |a| {
            for target in &plan.targets {
                a.text(target);
            }
        });
    }
    if let Some(cloud) = &plan.prior.cloud {
        o.text("cloud", cloud);
    }
    o.object("prior_snapshot", |o| {
        o.text("lineage", &plan.prior.lineage);
        o.integer("serial", i128::from(plan.prior.serial));
    });
    if !plan.providers.is_empty() {
        o.array("providers", |a| {
            for provider in &plan.providers {
                a.object(|o| {
                    o.text("config", &provider.config.to_string());
                    if !provider.version.is_empty() {
                        o.text("version", &provider.version);
                    }
                });
            }
        });
    }
    if let Some(count) = plan.not_read {
        o.integer("objects_not_read", i128::from(count));
    }
    if !plan.deferred_outputs.is_empty() {
        o.array("deferred_outputs", |a| {
            for name in &plan.deferred_outputs {
                a.text(name);
            }
        });
    }
    if !plan.sources.is_empty() {
        o.array("sources", |a| {
            for source in &plan.sources {
                a.text(&source.name);
            }
        });
    }
    if !remarks.findings.is_empty() {
        o.array("checks", |a| {
            for (rule, finding) in &remarks.findings {
                a.object(|o| {
                    o.text("rule", rule);
                    let severity = match finding.severity {
                        Severity::Error => "error",
                        Severity::Warning => "warning",
                    };
                    o.text("severity", severity);
                    if let Some(address) = &finding.address {
                        o.text("address", address);
                    }
                    o.text("summary", &finding.summary);
                    o.text("evidence", &finding.detail);
                });
            }
        });
    }
    if !plan.alternatives.is_empty() {
        o.count("alternatives", plan.alternatives.len());
    }
    if let Some(number) = remarks.alternative {
        o.count("alternative", number);
    }
}
