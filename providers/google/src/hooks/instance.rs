//! Virtual machines: disks in three kinds, a startup script beside the metadata, a desired state, and
//! changes that need the machine stopped.

use async_trait::async_trait;
use formwork_diagnostics::Diagnostic;
use formwork_google_schema::Act;
use formwork_provider::{OperationLog, Reported};
use formwork_values::{Path, Value};
use serde_json::{Map, Value as Json, json};

use crate::draft::{Draft, text};
use crate::engine::Subject;
use crate::failure::Failure;
use crate::hooks::{Hooks, instance_disks, instance_update};
use crate::names;
use crate::plan::Plan;

/// Changes that Google makes only to a stopped machine.
pub(crate) const NEED_STOP: [&str; 6] = [
    "advanced_machine_features",
    "enable_display",
    "machine_type",
    "min_cpu_platform",
    "service_account",
    "shielded_instance_config",
];

pub(crate) struct Instance;

/// Brings NICs, metadata and tags into the API's shape; templates share it.
pub(crate) fn machine(subject: &Subject<'_>, body: &mut Map<String, Json>) {
    // The project of a subnetwork may be named beside it.
    let blocks = subject
        .object
        .attribute("network_interface")
        .and_then(Value::as_sequence)
        .unwrap_or_default();
    if let Some(list) = body
        .get_mut("networkInterfaces")
        .and_then(Json::as_array_mut)
    {
        for (nic, block) in list.iter_mut().zip(blocks) {
            let named = text(block, "subnetwork").filter(|s| !s.contains('/'));
            if let (Some(project), Some(name)) = (text(block, "subnetwork_project"), named)
                && let Some(region) = subject.located().region()
            {
                nic["subnetwork"] = json!(format!(
                    "projects/{project}/regions/{region}/subnetworks/{name}"
                ));
            }
            // An access config that says nothing still means "an external address".
            if let Some(configs) = nic.get_mut("accessConfigs").and_then(Json::as_array_mut) {
                for config in configs {
                    if config.get("type").is_none() {
                        config["type"] = json!("ONE_TO_ONE_NAT");
                    }
                }
            }
        }
    }
    if let Some(accounts) = body.get_mut("serviceAccounts").and_then(Json::as_array_mut) {
        for scope in accounts
            .iter_mut()
            .filter_map(|a| a.get_mut("scopes").and_then(Json::as_array_mut))
            .flatten()
        {
            if let Json::String(name) = scope {
                *name = crate::same::scope(name);
            }
        }
    }
    if let Some(script) = text(subject.object, "metadata_startup_script") {
        let items = body
            .entry("metadata")
            .or_insert_with(|| json!({"items": []}));
        if items.get("items").and_then(Json::as_array).is_none() {
            items["items"] = json!([]);
        }
        if let Some(items) = items.get_mut("items").and_then(Json::as_array_mut) {
            items.push(json!({"key": "startup-script", "value": script}));
        }
    }
}

/// Takes the startup script out of the metadata where it was given beside them.
pub(crate) fn startup_script(draft: &mut Draft, known: Option<&Value>, metadata: &str) {
    let Some(before) = known.and_then(|k| text(k, "metadata_startup_script")) else {
        return;
    };
    let entries: Vec<(std::sync::Arc<str>, Value)> = draft
        .get(metadata)
        .and_then(Value::as_map)
        .map(<[_]>::to_vec)
        .unwrap_or_default();
    let script = entries
        .iter()
        .find(|(k, _)| &**k == "startup-script")
        .map(|(_, v)| v.clone());
    let rest: Vec<(std::sync::Arc<str>, Value)> = entries
        .into_iter()
        .filter(|(k, _)| &**k != "startup-script")
        .collect();
    let had = known.and_then(|k| k.attribute(metadata));
    let value = match had {
        Some(had) if rest.is_empty() && crate::same::is_zero(had) => had.clone(),
        _ => Value::map(formwork_values::Type::String, rest),
    };
    draft.set(metadata, value);
    let _ = before;
    draft.set(
        "metadata_startup_script",
        script.unwrap_or_else(|| Value::null(formwork_values::Type::String)),
    );
}

#[async_trait]
impl Hooks for Instance {
    fn plan(&self, plan: &mut Plan<'_>) {
        let changed = |plan: &Plan<'_>, name: &str| {
            plan.before(name)
                .is_some_and(|before| plan.planned.get(name) != Some(before))
        };
        if changed(plan, "metadata_startup_script") {
            plan.replace("metadata_startup_script");
        }
        if plan.prior.is_none() || !plan.replace.is_empty() {
            return;
        }
        let running = matches!(
            plan.before("current_status").and_then(Value::as_str),
            Some("RUNNING" | "STAGING" | "PROVISIONING")
        );
        let will_stop = plan.planned.bool("allow_stopping_for_update") == Some(true)
            || plan.planned.text("desired_status") == Some("TERMINATED");
        for name in NEED_STOP {
            if running && !will_stop && changed(plan, name) {
                plan.reported.push(Reported::at(
                    Path::ROOT.attribute(name),
                    Diagnostic::error(
                        "Machine must be stopped for this change",
                        format!("Google changes {name} only while the machine is stopped. Set allow_stopping_for_update = true so that it is stopped, changed and started again, or set desired_status = \"TERMINATED\" first."),
                    ),
                ));
            }
        }
        if changed(plan, "desired_status") {
            plan.planned.set(
                "current_status",
                Value::unknown(formwork_values::Type::String),
            );
        }
    }

    async fn encode(
        &self,
        subject: &Subject<'_>,
        act: Act,
        _prior: Option<&Value>,
        body: &mut Map<String, Json>,
    ) -> Result<(), Failure> {
        machine(subject, body);
        if act == Act::Create {
            body.insert(
                "disks".into(),
                Json::Array(instance_disks::encode(subject).await?),
            );
        } else {
            body.remove("disks");
        }
        Ok(())
    }

    fn derive(&self, subject: &Subject<'_>, json: &Json, draft: &mut Draft, known: Option<&Value>) {
        instance_disks::derive(subject.resource, json, draft, known);
        startup_script(draft, known, "metadata");
        if draft.text("machine_type").is_none() {
            return;
        }
        // The project of each subnetwork is read off its link.
        let links: Vec<Option<String>> = json
            .get("networkInterfaces")
            .and_then(Json::as_array)
            .into_iter()
            .flatten()
            .map(|nic| {
                let link = nic.get("subnetwork")?.as_str()?;
                names::after(link, "projects").map(str::to_owned)
            })
            .collect();
        let Some(nics) = draft
            .get("network_interface")
            .and_then(Value::as_sequence)
            .map(<[_]>::to_vec)
        else {
            return;
        };
        let nics: Vec<Value> = nics
            .into_iter()
            .enumerate()
            .map(|(i, nic)| {
                let project = links.get(i).cloned().flatten();
                nic.transform(&mut |path, v| {
                    let here = matches!(path.steps(), [formwork_values::Step::Attribute(n)] if &**n == "subnetwork_project");
                    match &project {
                        Some(project) if here && (v.is_null() || !v.is_known()) => Value::string(project),
                        _ => v,
                    }
                })
            })
            .collect();
        let ty = draft.ty("network_interface");
        if let Some(element) = ty.element() {
            draft.set("network_interface", Value::list(element.clone(), nics));
        }
    }

    async fn created(
        &self,
        subject: &Subject<'_>,
        log: &dyn OperationLog,
    ) -> Result<bool, Failure> {
        match text(subject.object, "desired_status") {
            Some("TERMINATED") => instance_update::power(subject, "stop", log)
                .await
                .map(|()| true),
            Some("SUSPENDED") => instance_update::power(subject, "suspend", log)
                .await
                .map(|()| true),
            _ => Ok(false),
        }
    }

    async fn update(
        &self,
        subject: &Subject<'_>,
        prior: &Value,
        log: &dyn OperationLog,
    ) -> Option<Result<(), Failure>> {
        Some(instance_update::update(subject, prior, log).await)
    }

    fn sends(&self, name: &str) -> bool {
        matches!(name, "metadata_startup_script" | "desired_status")
    }

    async fn before_delete(
        &self,
        subject: &Subject<'_>,
        _log: &dyn OperationLog,
    ) -> Result<(), Failure> {
        if subject
            .object
            .attribute("deletion_protection")
            .and_then(Value::as_bool)
            == Some(true)
        {
            return Err(Failure::Refused(
                "Deletion prevented",
                format!(
                    "{} has deletion_protection = true. Set it to false and apply before the machine is destroyed or replaced.",
                    subject.title()
                ),
                "deletion_protection",
            ));
        }
        Ok(())
    }
}
