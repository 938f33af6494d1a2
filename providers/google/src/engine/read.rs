//! Reading objects: one by one and by list.

use std::collections::BTreeMap;

use formwork_google_client::{ErrorKind, GoogleError, Listing, Request};
use formwork_google_schema::Resource;
use formwork_values::Value;
use futures::StreamExt;
use serde_json::Value as Json;

use crate::cloud::Cloud;
use crate::draft::Draft;
use crate::engine::Subject;
use crate::hooks::hooks;
use crate::json;
use crate::labels;
use crate::names;

/// Objects read at once where no list serves.
const AT_ONCE: usize = 16;

/// From so many objects of one place on a list is read instead of each.
const WORTH_A_LIST: usize = 3;

impl<'a> Subject<'a> {
    /// The request that reads the object, if its parts are known.
    pub(crate) fn key(&self) -> Option<Request> {
        let read = self.resource.methods.read.as_ref()?;
        let path = hooks(&self.resource.name)
            .path(self)
            .or_else(|| self.located().url(&read.url))?;
        let mut request = self.cloud.get(&self.resource.service, path);
        for (name, template) in &read.query {
            request
                .query
                .push((name.to_string(), self.located().plain(template)?));
        }
        Some(request)
    }

    /// Reads the object's JSON; `None` when it does not exist.
    ///
    /// # Errors
    /// When that cannot be told.
    pub(crate) async fn read(&self) -> Result<Option<Json>, GoogleError> {
        let hooks = hooks(&self.resource.name);
        if let Some(read) = hooks.read(self).await {
            return read;
        }
        let Some(key) = self.key() else {
            return Err(GoogleError::local(
                ErrorKind::Invalid,
                format!(
                    "the address of {} is not known from its state",
                    self.title()
                ),
            ));
        };
        match self.cloud.client.send(&key).await {
            Ok(answer) => Ok(hooks.part(self, answer.body)),
            Err(e) if hooks.is_gone(&e) => Ok(None),
            Err(e) => Err(e),
        }
    }

    /// Of an object that was found by an import id, what is null is not known rather than absent.
    fn imported(&self, prior: &Value) -> Option<Value> {
        if !prior.attribute("id").is_some_and(Value::is_null) {
            return None;
        }
        let mut draft = Draft::of(self.resource, prior);
        for node in &self.resource.fields {
            let null = draft.get(&node.name).is_some_and(Value::is_null);
            if null && node.path.is_some() && !node.in_url {
                draft.set(&node.name, Value::unknown(node.ty.clone()));
            }
        }
        Some(draft.into_value())
    }

    /// The state of an object that was read. `prior` is what was known of it.
    pub(crate) fn state(&self, mut json: Json, prior: &Value) -> Value {
        let hooks = hooks(&self.resource.name);
        hooks.decode(self, &mut json);
        let imported = self.imported(prior);
        let prior = imported.as_ref().unwrap_or(prior);
        let known = (!prior.is_null()).then_some(prior);
        let values = json::flatten(&self.resource.fields, &json, known);
        let flat = Value::object_of(self.resource.schema.object_type().clone(), values);
        let mut draft = Draft::of(self.resource, &flat);
        if let Some(node) = self.resource.field("labels") {
            let carried = json::flatten_field(node, &json, None);
            labels::flatten(self.resource, &mut draft, &carried, known);
        }
        hooks.derive(self, &json, &mut draft, known);
        // The place is in the address; what the plan did not know, the answer's address does.
        let bare = draft.clone().into_value();
        let located = self.with(&bare).located();
        let id = located.plain(&self.resource.id);
        for (name, value) in [
            ("project", located.project()),
            ("zone", located.zone()),
            ("region", located.region()),
        ] {
            let in_id = self.resource.id.contains(&format!("{{{name}}}")) || name == "project";
            if in_id
                && draft.has(name)
                && draft.text(name).is_none()
                && let Some(value) = value
            {
                draft.set(name, Value::string(value));
            }
        }
        if draft.text("id").is_none()
            && let Some(id) = id
        {
            draft.set("id", Value::string(id));
        }
        settled(draft.into_value())
    }
}

/// Wholly known: what is unknown still is null.
fn settled(value: Value) -> Value {
    if value.is_wholly_known() {
        return value;
    }
    value.transform(&mut |_, v| {
        if v.is_known() {
            v
        } else {
            Value::null(v.type_of())
        }
    })
}

/// One object to read, in a batch.
pub(crate) struct Item<'a> {
    pub(crate) resource: &'a Resource,
    pub(crate) object: &'a Value,
}

/// Reads many: one answer per item, in order. *Gone* (`None`) is only said after a single GET's 404.
pub(crate) async fn read_many(
    cloud: &Cloud,
    items: &[Item<'_>],
) -> Vec<Result<Option<Json>, GoogleError>> {
    let mut answers: Vec<Option<Result<Option<Json>, GoogleError>>> = Vec::new();
    answers.resize_with(items.len(), || None);
    // Group by the list that would hold them.
    let mut groups: BTreeMap<(String, String, bool), Vec<usize>> = BTreeMap::new();
    for (at, item) in items.iter().enumerate() {
        let subject = Subject {
            cloud,
            resource: item.resource,
            object: item.object,
        };
        if let Some(list) = list_of(&subject) {
            groups.entry(list).or_default().push(at);
        }
    }
    groups.retain(|_, members| members.len() >= WORTH_A_LIST);
    let lists =
        futures::stream::iter(groups).map(|((service, path, aggregated), members)| async move {
            let request = cloud.get(&service, path.clone());
            let key = items
                .get(members.first().copied().unwrap_or_default())
                .map(|item| hooks(&item.resource.name).list_key(item.resource))
                .unwrap_or_default();
            let at = if aggregated {
                Listing::Aggregated(key)
            } else {
                Listing::Array(key)
            };
            (members, cloud.client.list(&request, &at).await)
        });
    let mut lists = Box::pin(lists.buffer_unordered(4));
    while let Some((members, listed)) = lists.next().await {
        // A list that fails says nothing: each is then asked for by itself.
        let Ok(listed) = listed else { continue };
        let mut by_key: BTreeMap<String, Json> = BTreeMap::new();
        for json in listed.items {
            if let Some(key) = link_of(&json) {
                by_key.insert(key, json);
            }
        }
        for at in members {
            let Some(item) = items.get(at) else { continue };
            let subject = Subject {
                cloud,
                resource: item.resource,
                object: item.object,
            };
            let found = subject
                .key()
                .and_then(|key| by_key.remove(names::relative(&key.path)));
            if let (Some(json), Some(slot)) = (found, answers.get_mut(at)) {
                *slot = Some(Ok(Some(json)));
            }
        }
    }
    drop(lists);
    let rest: Vec<usize> = (0..items.len())
        .filter(|at| answers.get(*at).is_some_and(Option::is_none))
        .collect();
    let singles = futures::stream::iter(rest).map(|at| async move {
        let read = match items.get(at) {
            Some(item) => {
                Subject {
                    cloud,
                    resource: item.resource,
                    object: item.object,
                }
                .read()
                .await
            }
            None => Ok(None),
        };
        (at, read)
    });
    let mut singles = Box::pin(singles.buffer_unordered(AT_ONCE));
    while let Some((at, read)) = singles.next().await {
        if let Some(slot) = answers.get_mut(at) {
            *slot = Some(read);
        }
    }
    answers
        .into_iter()
        .map(|a| {
            a.unwrap_or_else(|| {
                Err(GoogleError::local(
                    ErrorKind::Invalid,
                    "the object was not read",
                ))
            })
        })
        .collect()
}

/// The list that holds an object: service, path, whether it is aggregated.
fn list_of(subject: &Subject<'_>) -> Option<(String, String, bool)> {
    let resource = subject.resource;
    if resource.nested.is_some() || !hooks(&resource.name).listable() {
        return None;
    }
    let (mapping, aggregated) = match (&resource.methods.aggregated, &resource.methods.list) {
        (Some(all), _) => (all, true),
        (None, Some(list)) => (list, false),
        (None, None) => return None,
    };
    let path = subject.located().url(&mapping.url)?;
    Some((resource.service.to_string(), path, aggregated))
}

/// The path of an object in a list: of its self link, or its full name.
fn link_of(json: &Json) -> Option<String> {
    let text = |key: &str| json.get(key).and_then(Json::as_str);
    text("selfLink")
        .or_else(|| text("name").filter(|n| n.starts_with("projects/")))
        .map(|link| names::relative(link).to_owned())
}
