//! A service account is created by an id, known by its email, and not seen everywhere at once.

use std::time::Duration;

use async_trait::async_trait;
use formwork_google_client::{Body, ErrorKind, Method, encode_segment};
use formwork_google_schema::Act;
use formwork_provider::OperationLog;
use formwork_values::Value;
use serde_json::{Map, Value as Json, json};

use crate::draft::{Draft, text};
use crate::engine::Subject;
use crate::failure::Failure;
use crate::hooks::Hooks;

pub(crate) struct ServiceAccount;

fn email(subject: &Subject<'_>) -> Option<String> {
    if let Some(email) = text(subject.object, "email") {
        return Some(email.to_owned());
    }
    let id = text(subject.object, "account_id")?;
    let project = subject.located().project()?;
    // Projects of a domain: `domain.com:project`.
    let host = match project.split_once(':') {
        Some((domain, project)) => format!("{project}.{domain}"),
        None => project,
    };
    Some(format!("{id}@{host}.iam.gserviceaccount.com"))
}

async fn switch(subject: &Subject<'_>, log: &dyn OperationLog) -> Result<(), Failure> {
    let off = subject
        .object
        .attribute("disabled")
        .and_then(Value::as_bool)
        == Some(true);
    let path = ServiceAccount
        .path(subject)
        .ok_or_else(|| subject.no_address())?;
    let verb = if off { "disable" } else { "enable" };
    let mut request = subject
        .cloud
        .request(Method::Post, "iam", format!("{path}:{verb}"));
    request.body = Body::Json(json!({}));
    subject.send_update(request, log).await
}

#[async_trait]
impl Hooks for ServiceAccount {
    fn path(&self, subject: &Subject<'_>) -> Option<String> {
        let project = subject.located().project()?;
        Some(format!(
            "v1/projects/{}/serviceAccounts/{}",
            encode_segment(&project),
            encode_segment(&email(subject)?)
        ))
    }

    fn eventual(&self) -> bool {
        true
    }

    fn derive(
        &self,
        _subject: &Subject<'_>,
        json: &Json,
        draft: &mut Draft,
        _known: Option<&Value>,
    ) {
        let Some(email) = json.get("email").and_then(Json::as_str) else {
            return;
        };
        draft.set("member", Value::string(format!("serviceAccount:{email}")));
        if draft.text("account_id").is_none() {
            draft.set(
                "account_id",
                Value::string(email.split('@').next().unwrap_or(email)),
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
        if act == Act::Create {
            let account = std::mem::take(body);
            let id = text(subject.object, "account_id").unwrap_or_default();
            body.insert("accountId".into(), Json::String(id.to_owned()));
            body.insert("serviceAccount".into(), Json::Object(account));
        }
        Ok(())
    }

    async fn created(
        &self,
        subject: &Subject<'_>,
        log: &dyn OperationLog,
    ) -> Result<bool, Failure> {
        if subject
            .object
            .attribute("disabled")
            .and_then(Value::as_bool)
            == Some(true)
        {
            switch(subject, log).await?;
            return Ok(true);
        }
        Ok(false)
    }

    async fn create(
        &self,
        subject: &Subject<'_>,
        log: &dyn OperationLog,
    ) -> Option<Result<Json, Failure>> {
        let made = async {
            let body = subject.body(Act::Create, None).await?;
            let mut change = subject.creation(body)?;
            // Compared with the account, which is inside of what is sent.
            change.sent = match &change.request.body {
                Body::Json(json) => json.get("serviceAccount").cloned().unwrap_or(Json::Null),
                _ => Json::Null,
            };
            let made = subject.cloud.change(&change, log).await;
            let ignore = subject
                .object
                .attribute("create_ignore_already_exists")
                .and_then(Value::as_bool)
                == Some(true);
            match made {
                Err(Failure::Google(e)) if e.kind == ErrorKind::AlreadyExists && ignore => {}
                other => drop(other?),
            }
            // A few seconds may pass until it can be read.
            let begun = tokio::time::Instant::now();
            let mut pause = Duration::from_millis(200);
            loop {
                let wait = match subject.read().await {
                    Ok(Some(json)) => {
                        if subject
                            .object
                            .attribute("disabled")
                            .and_then(Value::as_bool)
                            == Some(true)
                        {
                            switch(subject, log).await?;
                            return subject.read().await?.ok_or_else(|| subject.no_address());
                        }
                        return Ok(json);
                    }
                    Ok(None) => None,
                    Err(e) if e.kind == ErrorKind::Permission => Some(e),
                    Err(e) => return Err(e.into()),
                };
                if begun.elapsed() > subject.limit(Act::Create) {
                    return Err(wait.map_or_else(|| subject.no_address(), Failure::from));
                }
                tokio::time::sleep(pause).await;
                pause = (pause * 2).min(Duration::from_secs(10));
            }
        };
        Some(made.await)
    }

    async fn update(
        &self,
        subject: &Subject<'_>,
        prior: &Value,
        log: &dyn OperationLog,
    ) -> Option<Result<(), Failure>> {
        let changed = async {
            let fields = subject.changed(prior);
            if !fields.is_empty() {
                let mut account = subject.body(Act::Update, Some(prior)).await?;
                let mask: Vec<String> = fields
                    .iter()
                    .filter_map(|n| n.path.as_ref().map(|p| p.join(".")))
                    .collect();
                for field in &mask {
                    account
                        .entry(field.clone())
                        .or_insert_with(|| Json::String(String::new()));
                }
                account.retain(|key, _| mask.contains(key));
                let path = self.path(subject).ok_or_else(|| subject.no_address())?;
                let mut request = subject.cloud.request(Method::Patch, "iam", path);
                request.body =
                    Body::Json(json!({"serviceAccount": account, "updateMask": mask.join(",")}));
                subject.send_update(request, log).await?;
            }
            if subject.object.attribute("disabled") != prior.attribute("disabled") {
                switch(subject, log).await?;
            }
            Ok(())
        };
        Some(changed.await)
    }
}
