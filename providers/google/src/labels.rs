//! Labels in three attributes: what the configuration says, what Terraform answers for, what is there.
//!
//! `labels` holds the keys of the configuration only, `terraform_labels` these, the provider's default
//! labels and the label of attribution, `effective_labels` all that the object carries, those of others
//! included. A type without `effective_labels` has plain labels.

use std::collections::BTreeMap;
use std::sync::Arc;

use formwork_google_schema::Resource;
use formwork_values::{Type, Value};

use crate::draft::{Draft, entries};
use crate::plan::Plan;
use crate::settings::Attribution;

/// The label that says that a tool like ours made the object.
const ATTRIBUTION: (&str, &str) = ("goog-terraform-provisioned", "true");

fn has(resource: &Resource) -> bool {
    resource.field("terraform_labels").is_some() && resource.field("effective_labels").is_some()
}

fn map(entries: BTreeMap<Arc<str>, Value>) -> Value {
    Value::map(Type::String, entries)
}

fn all(value: Option<&Value>) -> BTreeMap<Arc<str>, Value> {
    value
        .and_then(Value::as_map)
        .into_iter()
        .flatten()
        .map(|(k, v)| (Arc::clone(k), v.clone()))
        .collect()
}

/// Plans the three.
pub(crate) fn plan(plan: &mut Plan<'_>) {
    if !has(plan.resource) {
        return;
    }
    let configured = plan.config.attribute("labels");
    let unknown = || Value::unknown(Type::map(Type::String));
    if configured.is_some_and(|c| !c.is_known()) {
        plan.planned.set("terraform_labels", unknown());
        plan.planned.set("effective_labels", unknown());
        return;
    }
    let before = all(plan.before("terraform_labels"));
    let mut ours: BTreeMap<Arc<str>, Value> = plan
        .settings
        .default_labels
        .iter()
        .map(|(k, v)| (Arc::clone(k), Value::string(&**v)))
        .collect();
    let attribute = match plan.settings.attribution {
        Attribution::Never => false,
        Attribution::Always => true,
        Attribution::OnCreation => plan.prior.is_none() || before.contains_key(ATTRIBUTION.0),
    };
    if attribute {
        ours.insert(Arc::from(ATTRIBUTION.0), Value::string(ATTRIBUTION.1));
    }
    ours.extend(all(configured));
    let mut effective = all(plan.before("effective_labels"));
    effective.retain(|k, _| !before.contains_key(k));
    effective.extend(ours.iter().map(|(k, v)| (Arc::clone(k), v.clone())));
    let keep = |plan: &Plan<'_>, name: &str, new: Value| match plan.before(name) {
        // null and empty are one
        Some(before) if before.is_null() && new.as_map().is_some_and(<[_]>::is_empty) => {
            before.clone()
        }
        _ => new,
    };
    let (ours, effective) = (map(ours), map(effective));
    let (a, b) = (
        keep(plan, "terraform_labels", ours),
        keep(plan, "effective_labels", effective),
    );
    let changed = plan
        .before("effective_labels")
        .is_some_and(|before| *before != b);
    plan.planned.set("terraform_labels", a);
    plan.planned.set("effective_labels", b);
    if changed
        && plan
            .resource
            .field("effective_labels")
            .is_some_and(|node| node.force_new)
    {
        plan.replace("effective_labels");
    }
}

/// Splits what the object carries by what was known before. `draft` holds in `labels` what the API
/// said.
pub(crate) fn flatten(
    resource: &Resource,
    draft: &mut Draft,
    carried: &Value,
    prior: Option<&Value>,
) {
    if !has(resource) {
        return;
    }
    let carried = all(Some(carried));
    for name in ["labels", "terraform_labels"] {
        let before = prior.and_then(|p| p.attribute(name));
        let keys = entries(before);
        let kept: BTreeMap<Arc<str>, Value> = keys
            .iter()
            .filter_map(|(k, _)| Some((Arc::clone(k), carried.get(k)?.clone())))
            .collect();
        let value = match before {
            Some(before) if kept.is_empty() && keys.is_empty() && before.is_known() => {
                before.clone()
            }
            _ if kept.is_empty() && keys.is_empty() && name == "labels" => {
                Value::null(Type::map(Type::String))
            }
            _ => map(kept),
        };
        draft.set(name, value);
    }
    draft.set("effective_labels", map(carried));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings;

    fn strings(pairs: &[(&str, &str)]) -> Value {
        Value::map(
            Type::String,
            pairs
                .iter()
                .map(|(k, v)| (Arc::<str>::from(*k), Value::string(v))),
        )
    }

    #[test]
    fn labels_are_planned_and_read_in_three() {
        let resource = formwork_google_schema::resource("google_compute_disk").unwrap();
        let mut settings = settings::bare("p", "r", "z-a");
        settings.default_labels = vec![("team".into(), "x".into())];
        let mut config = Draft::empty(&resource);
        config.set("name", Value::string("d"));
        config.set("labels", strings(&[("a", "1")]));
        let config = config.into_value();
        let made = Plan::new(&resource, &settings, &config, None).planned;
        let ours = strings(&[("a", "1"), (ATTRIBUTION.0, "true"), ("team", "x")]);
        assert_eq!(made.get("terraform_labels"), Some(&ours));
        assert_eq!(made.get("effective_labels"), Some(&ours));
        // Somebody adds one and changes one from outside.
        let planned = made.into_value();
        let mut read = Draft::of(&resource, &planned);
        let carried = strings(&[
            ("a", "2"),
            ("foreign", "f"),
            (ATTRIBUTION.0, "true"),
            ("team", "x"),
        ]);
        flatten(&resource, &mut read, &carried, Some(&planned));
        assert_eq!(read.get("labels"), Some(&strings(&[("a", "2")])));
        assert_eq!(read.get("effective_labels"), Some(&carried));
        let read = read.into_value();
        let again = Plan::new(&resource, &settings, &config, Some(&read)).planned;
        assert_eq!(again.get("labels"), Some(&strings(&[("a", "1")])));
        let all = strings(&[
            ("a", "1"),
            ("foreign", "f"),
            (ATTRIBUTION.0, "true"),
            ("team", "x"),
        ]);
        assert_eq!(again.get("effective_labels"), Some(&all));
    }
}
