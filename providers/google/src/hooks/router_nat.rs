//! A NAT is an element of its router's list: every change is a PATCH of the router, one at a time.

use async_trait::async_trait;
use formwork_google_client::{Body, Method};
use formwork_google_schema::Act;
use formwork_provider::OperationLog;
use formwork_values::Value;
use serde_json::{Map, Value as Json, json};

use crate::draft::text;
use crate::engine::Subject;
use crate::failure::Failure;
use crate::hooks::Hooks;

/// How often a change is made again when a cut connection swallowed it.
const TRIES: u32 = 4;

pub(crate) struct RouterNat;

fn nats(router: &Json) -> Vec<Json> {
    router
        .get("nats")
        .and_then(Json::as_array)
        .cloned()
        .unwrap_or_default()
}

fn is_named(nat: &Json, name: &str) -> bool {
    nat.get("name").and_then(Json::as_str) == Some(name)
}

async fn router(subject: &Subject<'_>) -> Result<Option<Json>, Failure> {
    let key = subject.key().ok_or_else(|| subject.no_address())?;
    match subject.cloud.client.send(&key).await {
        Ok(answer) => Ok(Some(answer.body)),
        Err(e) if e.kind == formwork_google_client::ErrorKind::NotFound => Ok(None),
        Err(e) => Err(e.into()),
    }
}

/// Writes the router's list with `mine` in the place of the NAT of that name (`None` takes it out).
async fn write(
    subject: &Subject<'_>,
    mine: Option<&Json>,
    log: &dyn OperationLog,
) -> Result<(), Failure> {
    let name = text(subject.object, "name").unwrap_or_default().to_owned();
    for attempt in 1..=TRIES {
        let Some(router) = router(subject).await? else {
            if mine.is_none() {
                return Ok(());
            }
            return Err(Failure::Refused(
                "Router not found",
                format!("The router of {} does not exist.", subject.title()),
                "router",
            ));
        };
        let mut list = nats(&router);
        let there = list.iter().position(|nat| is_named(nat, &name));
        match (there, mine) {
            (Some(at), Some(mine)) => {
                // Another attempt may already have written it.
                if attempt > 1
                    && list
                        .get(at)
                        .is_some_and(|nat| crate::engine::carries::shows(nat, mine))
                {
                    return Ok(());
                }
                if let Some(slot) = list.get_mut(at) {
                    *slot = mine.clone();
                }
            }
            (None, Some(mine)) => list.push(mine.clone()),
            (Some(at), None) => {
                list.remove(at);
            }
            (None, None) => return Ok(()),
        }
        let key = subject.key().ok_or_else(|| subject.no_address())?;
        let mut request = subject.cloud.request(Method::Patch, "compute", key.path);
        // An empty list would be dropped on the way and change nothing.
        let list = if list.is_empty() {
            Json::Null
        } else {
            Json::Array(list)
        };
        request.body = Body::Json(json!({"nats": list}));
        match subject.send_update(request, log).await {
            Ok(()) => return Ok(()),
            Err(Failure::Google(e)) if !e.outcome_known() && attempt < TRIES => {}
            Err(e) => return Err(e),
        }
    }
    Ok(())
}

#[async_trait]
impl Hooks for RouterNat {
    fn part(&self, subject: &Subject<'_>, json: Json) -> Option<Json> {
        let name = text(subject.object, "name")?;
        let nat = nats(&json).into_iter().find(|nat| is_named(nat, name))?;
        Some(nat)
    }

    fn listable(&self) -> bool {
        false
    }

    async fn create(
        &self,
        subject: &Subject<'_>,
        log: &dyn OperationLog,
    ) -> Option<Result<Json, Failure>> {
        let made = async {
            let name = text(subject.object, "name").unwrap_or_default();
            if let Some(router) = router(subject).await?
                && nats(&router).iter().any(|nat| is_named(nat, name))
            {
                return Err(Failure::Refused(
                    "Object exists already",
                    format!(
                        "The router has a NAT \"{name}\" already. Import it if it is meant to be managed here, or choose another name."
                    ),
                    "name",
                ));
            }
            let mut body = subject.body(Act::Create, None).await?;
            if let Some(first) = subject
                .object
                .attribute("initial_nat_ips")
                .and_then(Value::as_sequence)
                && !first.is_empty()
            {
                let links: Vec<Json> = first
                    .iter()
                    .filter_map(Value::as_str)
                    .map(|s| Json::String(s.to_owned()))
                    .collect();
                body.insert("natIps".into(), Json::Array(links));
            }
            let body = Json::Object(body);
            write(subject, Some(&body), log).await?;
            subject.read().await?.ok_or_else(|| subject.no_address())
        };
        Some(made.await)
    }

    async fn update(
        &self,
        subject: &Subject<'_>,
        prior: &Value,
        log: &dyn OperationLog,
    ) -> Option<Result<(), Failure>> {
        if subject.changed(prior).is_empty() {
            return Some(Ok(()));
        }
        let changed = async {
            let body = subject.body(Act::Update, Some(prior)).await?;
            write(subject, Some(&Json::Object(body)), log).await
        };
        Some(changed.await)
    }

    async fn delete(
        &self,
        subject: &Subject<'_>,
        log: &dyn OperationLog,
    ) -> Option<Result<(), Failure>> {
        Some(write(subject, None, log).await)
    }

    async fn encode(
        &self,
        _subject: &Subject<'_>,
        _act: Act,
        _prior: Option<&Value>,
        body: &mut Map<String, Json>,
    ) -> Result<(), Failure> {
        // The type is not sent where it is the only one there used to be.
        if body.get("type").and_then(Json::as_str) == Some("PUBLIC") {
            body.remove("type");
        }
        Ok(())
    }
}
