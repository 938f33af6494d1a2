//! IAM: a member or a binding is a part of a policy, which is read, changed and written as a whole.
//!
//! The policy's etag guards the write: when somebody else wrote meanwhile, the whole read, change and
//! write is done again. After a cut connection the policy is simply read: it holds the part or not.

use std::time::Duration;

use async_trait::async_trait;
use formwork_google_client::{Body, ErrorKind, GoogleError, Request};
use formwork_google_schema::Act;
use formwork_provider::OperationLog;
use formwork_values::Value;
use serde_json::{Value as Json, json};

use crate::cloud::verb;
use crate::draft::{Draft, text};
use crate::engine::Subject;
use crate::engine::exchange::Change;
use crate::failure::Failure;
use crate::hooks::Hooks;

/// The version of policies that knows conditions.
const VERSION: u32 = 3;

/// How often a conflict is tried again.
const TRIES: u32 = 12;

/// One (role, member, condition).
pub(crate) struct Member;

/// All members of one (role, condition).
pub(crate) struct Binding;

/// The policy of the subject's parent; `None` when the parent does not exist.
async fn policy(subject: &Subject<'_>) -> Result<Option<Json>, Failure> {
    let mapping = subject
        .resource
        .methods
        .read
        .as_ref()
        .ok_or_else(|| subject.no_method("read"))?;
    let path = subject
        .located()
        .url(&mapping.url)
        .ok_or_else(|| subject.no_address())?;
    let mut request: Request = subject
        .cloud
        .request(verb(mapping), &subject.resource.service, path)
        .reads();
    match subject.resource.service.as_ref() {
        "storage" => request
            .query
            .push(("optionsRequestedPolicyVersion".into(), VERSION.to_string())),
        "cloudresourcemanager" => {
            request.body = Body::Json(json!({"options": {"requestedPolicyVersion": VERSION}}))
        }
        _ => {
            request
                .query
                .push(("options.requestedPolicyVersion".into(), VERSION.to_string()));
            request.body = Body::Json(json!({}));
        }
    }
    match subject.cloud.client.send(&request).await {
        Ok(answer) => Ok(Some(answer.body)),
        Err(e) if e.kind == ErrorKind::NotFound => Ok(None),
        Err(e) => Err(e.into()),
    }
}

fn condition_of(object: &Value) -> Option<(String, String, String)> {
    let block = object.attribute("condition")?.as_sequence()?.first()?;
    let get = |name: &str| text(block, name).unwrap_or_default().to_owned();
    Some((get("title"), get("description"), get("expression")))
}

fn condition_in(binding: &Json) -> Option<(String, String, String)> {
    let condition = binding.get("condition").filter(|c| c.is_object())?;
    let get = |name: &str| {
        condition
            .get(name)
            .and_then(Json::as_str)
            .unwrap_or_default()
            .to_owned()
    };
    Some((get("title"), get("description"), get("expression")))
}

/// The index of the binding of the subject's role and condition.
fn position(subject: &Subject<'_>, bindings: &[Json]) -> Option<usize> {
    let role = text(subject.object, "role")?;
    let condition = condition_of(subject.object);
    bindings.iter().position(|b| {
        b.get("role").and_then(Json::as_str) == Some(role) && condition_in(b) == condition
    })
}

fn bindings(policy: &Json) -> Vec<Json> {
    policy
        .get("bindings")
        .and_then(Json::as_array)
        .cloned()
        .unwrap_or_default()
}

fn members(binding: &Json) -> Vec<String> {
    binding
        .get("members")
        .and_then(Json::as_array)
        .into_iter()
        .flatten()
        .filter_map(Json::as_str)
        .map(str::to_owned)
        .collect()
}

/// `user:A@b` and `user:a@b` are one; what follows in principals and ids keeps its case.
fn same_member(a: &str, b: &str) -> bool {
    a == b || a.eq_ignore_ascii_case(b)
}

/// Changes the policy until the change is in it.
async fn change(
    subject: &Subject<'_>,
    act: Act,
    log: &dyn OperationLog,
    edit: &(dyn Fn(&mut Vec<String>) -> bool + Send + Sync),
) -> Result<(), Failure> {
    let mapping = subject
        .resource
        .methods
        .update
        .as_ref()
        .ok_or_else(|| subject.no_method("changed"))?;
    let path = subject
        .located()
        .url(&mapping.url)
        .ok_or_else(|| subject.no_address())?;
    let _one_at_a_time = subject.cloud.lock(&format!("iam:{path}")).await;
    let mut pause = Duration::from_millis(250);
    for attempt in 1.. {
        let Some(mut policy) = policy(subject).await? else {
            if act == Act::Delete {
                return Ok(());
            }
            return Err(Failure::Refused(
                "Object not found",
                format!(
                    "The object whose policy {} is to be part of does not exist.",
                    subject.title()
                ),
                "",
            ));
        };
        let mut all = bindings(&policy);
        let at = position(subject, &all);
        let mut list = at
            .and_then(|at| all.get(at))
            .map(members)
            .unwrap_or_default();
        if !edit(&mut list) {
            return Ok(());
        }
        match (at, list.is_empty()) {
            (Some(at), true) => {
                all.remove(at);
            }
            (Some(at), false) => {
                if let Some(binding) = all.get_mut(at) {
                    binding["members"] = json!(list);
                }
            }
            (None, true) => return Ok(()),
            (None, false) => {
                let mut binding = json!({"role": text(subject.object, "role"), "members": list});
                if let Some((title, description, expression)) = condition_of(subject.object) {
                    let mut condition = json!({"title": title, "expression": expression});
                    if !description.is_empty() {
                        condition["description"] = Json::String(description);
                    }
                    binding["condition"] = condition;
                }
                all.push(binding);
            }
        }
        if let Some(policy) = policy.as_object_mut() {
            policy.insert("bindings".into(), Json::Array(all));
            policy.insert("version".into(), json!(VERSION));
        }
        let body =
            if subject.resource.wrapped_policy || subject.resource.service.as_ref() != "storage" {
                json!({"policy": policy})
            } else {
                policy
            };
        let mut request =
            subject
                .cloud
                .request(verb(mapping), &subject.resource.service, path.clone());
        request.body = Body::Json(body);
        let mut set = Change::new(Act::Update, request, mapping, None, subject.limit(act));
        set.operation = None;
        set.sent = Json::Null;
        let again = match subject.cloud.client_once(&set, act, log).await {
            Ok(()) => return Ok(()),
            Err(Failure::Google(e)) if e.kind == ErrorKind::Conflict || !e.outcome_known() => e,
            // A service account made a moment ago is unknown for a while.
            Err(Failure::Google(e)) if e.kind == ErrorKind::NotReady => e,
            Err(e) => return Err(e),
        };
        if attempt >= TRIES {
            return Err(again.into());
        }
        tokio::time::sleep(pause).await;
        pause = (pause * 2).min(Duration::from_secs(30));
    }
    Ok(())
}

/// The part of the policy as an object of its own.
async fn part(subject: &Subject<'_>, member: Option<&str>) -> Result<Option<Json>, GoogleError> {
    let policy = match policy(subject).await {
        Ok(Some(policy)) => policy,
        Ok(None) => return Ok(None),
        Err(Failure::Google(e) | Failure::Lost(e)) => return Err(e),
        Err(_) => {
            return Err(GoogleError::local(
                ErrorKind::Invalid,
                format!("the policy of {} has no address", subject.title()),
            ));
        }
    };
    let all = bindings(&policy);
    let Some(binding) = position(subject, &all).and_then(|at| all.get(at)) else {
        return Ok(None);
    };
    let list = members(binding);
    let etag = policy.get("etag").cloned().unwrap_or(Json::Null);
    Ok(match member {
        Some(member) => list
            .iter()
            .find(|m| same_member(m, member))
            .map(|m| json!({"member": m, "etag": etag})),
        None => Some(json!({"members": list, "etag": etag})),
    })
}

/// The state: the object as known, with what the policy says.
fn derive(subject: &Subject<'_>, json: &Json, draft: &mut Draft, known: Option<&Value>) {
    for name in [
        "role",
        "condition",
        "bucket",
        "project",
        "service_account_id",
    ] {
        if let Some(value) = subject.object.attribute(name).filter(|v| v.is_known()) {
            draft.set(name, value.clone());
        }
    }
    // The token moves with every change that anybody makes to the policy; the first one stays, so
    // that the parts of one policy do not show each other as drift. Writing reads it afresh.
    let before = known.and_then(|k| text(k, "etag"));
    if let Some(etag) = before.or_else(|| json.get("etag").and_then(Json::as_str)) {
        draft.set("etag", Value::string(etag));
    }
    let located = subject.located();
    if let Some(mut id) = located.plain(&subject.resource.id) {
        if let Some((title, _, _)) = condition_of(subject.object) {
            id = format!("{id}/{title}");
        }
        draft.set("id", Value::string(id));
    }
}

#[async_trait]
impl Hooks for Member {
    async fn read(&self, subject: &Subject<'_>) -> Option<Result<Option<Json>, GoogleError>> {
        Some(
            part(
                subject,
                Some(text(subject.object, "member").unwrap_or_default()),
            )
            .await,
        )
    }

    fn listable(&self) -> bool {
        false
    }

    fn derive(&self, subject: &Subject<'_>, json: &Json, draft: &mut Draft, known: Option<&Value>) {
        if let Some(member) = text(subject.object, "member") {
            draft.set("member", Value::string(member));
        }
        derive(subject, json, draft, known);
    }

    async fn create(
        &self,
        subject: &Subject<'_>,
        log: &dyn OperationLog,
    ) -> Option<Result<Json, Failure>> {
        let made = async {
            let member = text(subject.object, "member")
                .unwrap_or_default()
                .to_owned();
            change(subject, Act::Create, log, &move |list| {
                let new = !list.iter().any(|m| same_member(m, &member));
                if new {
                    list.push(member.clone());
                }
                new
            })
            .await?;
            subject.read().await?.ok_or_else(|| subject.no_address())
        };
        Some(made.await)
    }

    async fn delete(
        &self,
        subject: &Subject<'_>,
        log: &dyn OperationLog,
    ) -> Option<Result<(), Failure>> {
        let member = text(subject.object, "member")
            .unwrap_or_default()
            .to_owned();
        Some(
            change(subject, Act::Delete, log, &move |list| {
                let before = list.len();
                list.retain(|m| !same_member(m, &member));
                list.len() != before
            })
            .await,
        )
    }
}

fn wanted(subject: &Subject<'_>) -> Vec<String> {
    subject
        .object
        .attribute("members")
        .and_then(Value::as_sequence)
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .map(str::to_owned)
        .collect()
}

async fn bind(subject: &Subject<'_>, act: Act, log: &dyn OperationLog) -> Result<(), Failure> {
    let wanted = wanted(subject);
    change(subject, act, log, &move |list| {
        let mut new = wanted.clone();
        new.sort();
        let mut old = list.clone();
        old.sort();
        let differs = new != old;
        *list = new;
        differs
    })
    .await
}

#[async_trait]
impl Hooks for Binding {
    async fn read(&self, subject: &Subject<'_>) -> Option<Result<Option<Json>, GoogleError>> {
        Some(part(subject, None).await)
    }

    fn listable(&self) -> bool {
        false
    }

    fn derive(&self, subject: &Subject<'_>, json: &Json, draft: &mut Draft, known: Option<&Value>) {
        let before: Vec<String> = known
            .and_then(|k| k.attribute("members"))
            .and_then(Value::as_sequence)
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
            .map(str::to_owned)
            .collect();
        let list = members(json)
            .into_iter()
            .map(|m| {
                let spelled = before.iter().find(|b| same_member(b, &m)).cloned();
                Value::string(spelled.unwrap_or(m))
            })
            .collect();
        draft.set("members", Value::set(formwork_values::Type::String, list));
        derive(subject, json, draft, known);
    }

    async fn create(
        &self,
        subject: &Subject<'_>,
        log: &dyn OperationLog,
    ) -> Option<Result<Json, Failure>> {
        let made = async {
            bind(subject, Act::Create, log).await?;
            subject.read().await?.ok_or_else(|| subject.no_address())
        };
        Some(made.await)
    }

    async fn update(
        &self,
        subject: &Subject<'_>,
        _prior: &Value,
        log: &dyn OperationLog,
    ) -> Option<Result<(), Failure>> {
        Some(bind(subject, Act::Update, log).await)
    }

    async fn delete(
        &self,
        subject: &Subject<'_>,
        log: &dyn OperationLog,
    ) -> Option<Result<(), Failure>> {
        Some(
            change(subject, Act::Delete, log, &|list| {
                let any = !list.is_empty();
                list.clear();
                any
            })
            .await,
        )
    }
}
