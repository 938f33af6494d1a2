//! An enabled API is a state, not an object: it is there when it is on.

use async_trait::async_trait;
use formwork_google_client::{Body, Method};
use formwork_google_schema::Act;
use formwork_provider::OperationLog;
use formwork_values::Value;
use serde_json::{Value as Json, json};

use crate::draft::Draft;
use crate::engine::Subject;
use crate::engine::exchange::Change;
use crate::failure::Failure;
use crate::hooks::Hooks;

pub(crate) struct ProjectService;

#[async_trait]
impl Hooks for ProjectService {
    fn part(&self, _subject: &Subject<'_>, json: Json) -> Option<Json> {
        (json.get("state").and_then(Json::as_str) == Some("ENABLED")).then_some(json)
    }

    fn listable(&self) -> bool {
        false
    }

    fn derive(
        &self,
        subject: &Subject<'_>,
        json: &Json,
        draft: &mut Draft,
        _known: Option<&Value>,
    ) {
        let service = json
            .pointer("/config/name")
            .or_else(|| json.get("name"))
            .and_then(Json::as_str)
            .map(crate::names::last);
        if draft.text("service").is_none()
            && let Some(service) = service
        {
            draft.set("service", Value::string(service));
        }
        let _ = subject;
    }

    async fn delete(
        &self,
        subject: &Subject<'_>,
        log: &dyn OperationLog,
    ) -> Option<Result<(), Failure>> {
        let flag =
            |name: &str| subject.object.attribute(name).and_then(Value::as_bool) == Some(true);
        if !flag("disable_on_destroy") {
            // Left on, as asked: others may use it.
            return Some(Ok(()));
        }
        let done = async {
            let mapping = subject
                .resource
                .methods
                .delete
                .as_ref()
                .ok_or_else(|| subject.no_method("disabled"))?;
            let path = subject
                .located()
                .url(&mapping.url)
                .ok_or_else(|| subject.no_address())?;
            let mut request = subject
                .cloud
                .request(Method::Post, &subject.resource.service, path);
            request.body =
                Body::Json(json!({"disableDependentServices": flag("disable_dependent_services")}));
            let change = Change::new(
                Act::Update,
                request,
                mapping,
                None,
                subject.limit(Act::Delete),
            );
            subject.cloud.change(&change, log).await.map(drop)
        };
        Some(done.await)
    }

    async fn update(
        &self,
        _subject: &Subject<'_>,
        _prior: &Value,
        _log: &dyn OperationLog,
    ) -> Option<Result<(), Failure>> {
        // Only attributes about destroying can change in place.
        Some(Ok(()))
    }
}
