//! A bucket names its project in a query only, writes its place in capitals, and can be made to take
//! its objects along when it goes.

use async_trait::async_trait;
use formwork_google_client::{Listing, Method, Request, encode_segment};
use formwork_google_schema::Act;
use formwork_provider::OperationLog;
use formwork_values::{Type, Value};
use futures::StreamExt;
use serde_json::{Map, Value as Json, json};

use crate::draft::{Draft, text};
use crate::engine::Subject;
use crate::engine::exchange::Change;
use crate::failure::Failure;
use crate::hooks::Hooks;

pub(crate) struct Bucket;

/// `with_state` of lifecycle rules against `isLive` on the wire.
fn rules(object: &Value) -> Vec<Option<bool>> {
    object
        .attribute("lifecycle_rule")
        .and_then(Value::as_sequence)
        .into_iter()
        .flatten()
        .map(|rule| {
            let condition = rule.attribute("condition")?.as_sequence()?.first()?;
            match text(condition, "with_state")? {
                "LIVE" => Some(true),
                "ARCHIVED" => Some(false),
                _ => None,
            }
        })
        .collect()
}

fn is_locked(object: &Value) -> bool {
    object
        .attribute("retention_policy")
        .and_then(Value::as_sequence)
        .and_then(<[_]>::first)
        .and_then(|policy| policy.attribute("is_locked"))
        .and_then(Value::as_bool)
        == Some(true)
}

#[async_trait]
impl Hooks for Bucket {
    fn listable(&self) -> bool {
        // The list asks for the project in its query.
        false
    }

    fn creation(&self, subject: &Subject<'_>, request: &mut Request) {
        if subject
            .object
            .attribute("enable_object_retention")
            .and_then(Value::as_bool)
            == Some(true)
        {
            request
                .query
                .push(("enableObjectRetention".into(), "true".into()));
        }
    }

    async fn encode(
        &self,
        subject: &Subject<'_>,
        act: Act,
        prior: Option<&Value>,
        body: &mut Map<String, Json>,
    ) -> Result<(), Failure> {
        if is_locked(subject.object) && !prior.is_some_and(is_locked) {
            return Err(Failure::Refused(
                "Unsupported by the provider",
                "Locking a bucket's retention policy (is_locked = true) cannot be undone and is not supported by this provider yet. Lock it with `gcloud storage buckets update --lock-retention-period`.".into(),
                "retention_policy",
            ));
        }
        if let Some(policy) = body
            .get_mut("retentionPolicy")
            .and_then(Json::as_object_mut)
        {
            policy.remove("isLocked");
        }
        let states = rules(subject.object);
        if let Some(list) = body
            .get_mut("lifecycle")
            .and_then(|l| l.get_mut("rule"))
            .and_then(Json::as_array_mut)
        {
            for (rule, live) in list.iter_mut().zip(states) {
                if let Some(live) = live {
                    rule["condition"]["isLive"] = Json::Bool(live);
                }
            }
        }
        if act == Act::Update {
            // Names and places are in the address or fixed.
            body.remove("name");
            body.remove("location");
        }
        // A bucket without rules has an empty list, not a hole.
        if act == Act::Update && !body.contains_key("lifecycle") {
            body.insert("lifecycle".into(), json!({"rule": []}));
        }
        Ok(())
    }

    fn patch(&self, _subject: &Subject<'_>, part: &mut Map<String, Json>) {
        // Rules are replaced whole; none is written as none.
        if part
            .get("lifecycle")
            .is_some_and(|l| l.get("rule").is_none_or(Json::is_null))
        {
            part.insert("lifecycle".into(), json!({"rule": []}));
        }
    }

    fn derive(
        &self,
        subject: &Subject<'_>,
        json: &Json,
        draft: &mut Draft,
        _known: Option<&Value>,
    ) {
        if let Some(name) = json.get("name").and_then(Json::as_str) {
            draft.set("url", Value::string(format!("gs://{name}")));
        }
        if let Some(mode) = json.pointer("/objectRetention/mode").and_then(Json::as_str) {
            draft.set(
                "enable_object_retention",
                Value::bool(mode.eq_ignore_ascii_case("enabled")),
            );
        }
        let _ = subject;
        with_states(json, draft);
    }

    async fn before_delete(
        &self,
        subject: &Subject<'_>,
        log: &dyn OperationLog,
    ) -> Result<(), Failure> {
        if subject
            .object
            .attribute("force_destroy")
            .and_then(Value::as_bool)
            != Some(true)
        {
            return Ok(());
        }
        let bucket = text(subject.object, "name").unwrap_or_default().to_owned();
        let cloud = subject.cloud;
        let base = format!("storage/v1/b/{}/o", encode_segment(&bucket));
        let list = cloud.get("storage", base.clone()).query("versions", "true");
        let listed = match cloud
            .client
            .list(&list, &Listing::Array("items".into()))
            .await
        {
            Ok(listed) => listed,
            Err(e) if e.kind == formwork_google_client::ErrorKind::NotFound => return Ok(()),
            Err(e) => return Err(e.into()),
        };
        let deletions = futures::stream::iter(listed.items).map(|object| {
            let base = base.clone();
            async move {
                let get = |key: &str| object.get(key).and_then(Json::as_str).unwrap_or_default();
                let mut request = cloud.request(
                    Method::Delete,
                    "storage",
                    format!("{base}/{}", encode_segment(get("name"))),
                );
                if !get("generation").is_empty() {
                    request = request.query("generation", get("generation"));
                }
                let change = Change {
                    act: Act::Delete,
                    key: Some(cloud.get("storage", request.path.clone())),
                    request,
                    request_id: false,
                    operation: None,
                    sent: Json::Null,
                    limit: subject.limit(Act::Delete),
                };
                cloud.change(&change, log).await.map(drop)
            }
        });
        let mut deletions = Box::pin(deletions.buffer_unordered(8));
        while let Some(deleted) = deletions.next().await {
            deleted?;
        }
        Ok(())
    }
}

/// Puts `with_state` into the rules that were read.
fn with_states(json: &Json, draft: &mut Draft) {
    let Some(list) = json.pointer("/lifecycle/rule").and_then(Json::as_array) else {
        return;
    };
    let Some(rules) = draft
        .get("lifecycle_rule")
        .and_then(Value::as_sequence)
        .map(<[_]>::to_vec)
    else {
        return;
    };
    let rules: Vec<Value> = rules
        .iter()
        .zip(list)
        .map(|(rule, api)| {
            let live = api.pointer("/condition/isLive").and_then(Json::as_bool);
            let state = match live {
                Some(true) => Value::string("LIVE"),
                Some(false) => Value::string("ARCHIVED"),
                None => Value::null(Type::String),
            };
            replace_in(rule, "condition", |condition| {
                replace_in(condition, "with_state", |before| {
                    if live.is_none() && before.as_str() == Some("ANY") {
                        before.clone()
                    } else {
                        state.clone()
                    }
                })
            })
        })
        .collect();
    let ty = draft.ty("lifecycle_rule");
    if let Some(element) = ty.element() {
        draft.set("lifecycle_rule", Value::list(element.clone(), rules));
    }
}

/// An object with one attribute changed; of a sequence attribute, each element.
fn replace_in(object: &Value, name: &str, change: impl Fn(&Value) -> Value) -> Value {
    let formwork_values::Kind::Object(ty, values) = object.kind() else {
        return object.clone();
    };
    let values = ty
        .names()
        .iter()
        .zip(values)
        .map(|(n, v)| {
            if **n != *name {
                return v.clone();
            }
            match v.kind() {
                formwork_values::Kind::List(items) => Value::list(
                    v.type_of().element().cloned().unwrap_or(Type::Dynamic),
                    items.iter().map(&change).collect(),
                ),
                formwork_values::Kind::Set(items) => Value::set(
                    v.type_of().element().cloned().unwrap_or(Type::Dynamic),
                    items.iter().map(&change).collect(),
                ),
                _ => change(v),
            }
        })
        .collect();
    Value::object_of(ty.clone(), values)
}
