//! Results of conditions and checks, as plans and states have them.

use super::tree::write_key;
use super::write::{Array, Object};
use formwork_addresses::{AbsResourceInstance, InstanceKey, ModuleInstance};
use formwork_plan::{CheckKind, CheckObject, CheckResult, CheckStatus};
use formwork_state::RawJson;
use serde::Deserialize;

/// The elements of `checks`, by address.
pub(crate) fn write_checks(a: &mut Array<'_>, checks: &[CheckResult]) {
    let mut checks: Vec<&CheckResult> = checks.iter().collect();
    checks.sort_by(|a, b| a.address.cmp(&b.address));
    for check in checks {
        a.object(|o| {
            o.object("address", |o| write_address(o, check.kind, &check.address));
            o.text("status", check.status.word());
            if !check.objects.is_empty() {
                o.array("instances", |a| {
                    for instance in &check.objects {
                        a.object(|o| write_instance(o, check.kind, instance));
                    }
                });
            }
        });
    }
}

fn write_instance(o: &mut Object<'_>, kind: CheckKind, instance: &CheckObject) {
    o.object("address", |o| {
        let parts = Parts::of(kind, &instance.address);
        write_key(o, "instance_key", &parts.key);
        if !parts.module.is_root() {
            o.text("module", &parts.module.to_string());
        }
        o.text("to_display", &instance.address);
    });
    o.text("status", instance.status.word());
    if !instance.failures.is_empty() {
        o.array("problems", |a| {
            for message in &instance.failures {
                a.object(|o| o.text("message", message));
            }
        });
    }
}

fn write_address(o: &mut Object<'_>, kind: CheckKind, address: &str) {
    let parts = Parts::of(kind, address);
    o.text("kind", kind.word());
    if let Some(mode) = parts.mode {
        o.text("mode", mode);
    }
    if !parts.module.is_root() {
        o.text("module", &parts.module.to_string());
    }
    o.text("name", &parts.name);
    o.text("to_display", address);
    if let Some(resource_type) = &parts.resource_type {
        o.text("type", resource_type);
    }
}

/// What an address of a checkable thing says.
#[derive(Default)]
struct Parts {
    module: ModuleInstance,
    mode: Option<&'static str>,
    resource_type: Option<String>,
    name: String,
    key: InstanceKey,
}

impl Parts {
    fn of(kind: CheckKind, address: &str) -> Self {
        if kind == CheckKind::Resource
            && let Ok(a) = address.parse::<AbsResourceInstance>()
        {
            return Self {
                module: a.module,
                mode: Some(a.resource.mode.word()),
                resource_type: Some(a.resource.kind.to_string()),
                name: a.resource.name.to_string(),
                key: a.key,
            };
        }
        // `[MODULE.]output.NAME` and the like: names hold no dots
        let (rest, name) = address.rsplit_once('.').unwrap_or(("", address));
        let module = rest.rsplit_once('.').map_or("", |(module, _)| module);
        Self {
            module: module.parse().unwrap_or_default(),
            name: name.to_owned(),
            ..Self::default()
        }
    }
}

#[derive(Deserialize)]
struct StoredCheck {
    object_kind: String,
    config_addr: String,
    status: String,
    #[serde(default)]
    objects: Option<Vec<StoredObject>>,
}

#[derive(Deserialize)]
struct StoredObject {
    object_addr: String,
    status: String,
    #[serde(default)]
    failure_messages: Option<Vec<String>>,
}

/// Results as the state file has them; none where they are of a form that nobody knows.
pub(crate) fn stored_checks(raw: Option<&RawJson>) -> Vec<CheckResult> {
    let stored: Option<Vec<StoredCheck>> =
        raw.and_then(|raw| serde_json::from_str(raw.get()).ok().flatten());
    let status = |word: &str| CheckStatus::from_word(word).unwrap_or_default();
    stored
        .unwrap_or_default()
        .into_iter()
        .filter_map(|check| {
            Some(CheckResult {
                kind: CheckKind::from_word(&check.object_kind)?,
                address: check.config_addr,
                status: status(&check.status),
                objects: check
                    .objects
                    .unwrap_or_default()
                    .into_iter()
                    .map(|o| CheckObject {
                        address: o.object_addr,
                        status: status(&o.status),
                        failures: o.failure_messages.unwrap_or_default(),
                    })
                    .collect(),
            })
        })
        .collect()
}
