//! Templates: never changed, named by a prefix if wanted, their machine inside of `properties`.

use async_trait::async_trait;
use formwork_google_schema::Act;
use formwork_values::Value;
use serde_json::{Map, Value as Json};

use crate::draft::{Draft, text};
use crate::engine::Subject;
use crate::failure::Failure;
use crate::hooks::{Hooks, instance, instance_disks};

pub(crate) struct InstanceTemplate;

#[async_trait]
impl Hooks for InstanceTemplate {
    fn complete(&self, subject: &Subject<'_>) -> Option<Value> {
        if text(subject.object, "name").is_some() {
            return None;
        }
        let prefix = text(subject.object, "name_prefix").unwrap_or("terraform-");
        // The suffix is unique, and short where the prefix is long: 63 characters in all.
        let id = subject.cloud.environment.uuid().replace('-', "");
        let room = 63usize.saturating_sub(prefix.len()).min(26);
        let suffix: String = id.chars().take(room).collect();
        let mut draft = Draft::of(subject.resource, subject.object);
        draft.set("name", Value::string(format!("{prefix}{suffix}")));
        Some(draft.into_value())
    }

    async fn encode(
        &self,
        subject: &Subject<'_>,
        _act: Act,
        _prior: Option<&Value>,
        body: &mut Map<String, Json>,
    ) -> Result<(), Failure> {
        body.remove("region");
        // name and name_prefix both stand for the API's name.
        if let Some(name) = text(subject.object, "name") {
            body.insert("name".into(), Json::String(name.to_owned()));
        }
        let Some(Json::Object(properties)) = body.get_mut("properties") else {
            return Ok(());
        };
        instance::machine(subject, properties);
        if let Some(disks) = properties.get_mut("disks").and_then(Json::as_array_mut) {
            for (i, disk) in disks.iter_mut().enumerate() {
                let Json::Object(disk) = disk else { continue };
                if i == 0 {
                    disk.insert("boot".into(), Json::Bool(true));
                }
                instance_disks::image(subject, disk).await?;
                if disk.get("source").and_then(Json::as_str).is_some() {
                    disk.remove("initializeParams");
                }
            }
        }
        Ok(())
    }

    fn derive(
        &self,
        _subject: &Subject<'_>,
        json: &Json,
        draft: &mut Draft,
        known: Option<&Value>,
    ) {
        instance::startup_script(draft, known, "metadata");
        let get = |key: &str| json.get(key).and_then(Json::as_str);
        let link = get("selfLink").unwrap_or_default();
        if let Some(id) = get("id") {
            draft.set(
                "self_link_unique",
                Value::string(format!("{link}?uniqueId={id}")),
            );
        }
        // A prefix is not given back.
        let prefix = known
            .and_then(|k| k.attribute("name_prefix"))
            .filter(|v| v.is_known())
            .cloned()
            .unwrap_or_else(|| Value::null(formwork_values::Type::String));
        draft.set("name_prefix", prefix);
    }

    fn compared<'j>(&self, json: &'j Json) -> &'j Json {
        json
    }
}
