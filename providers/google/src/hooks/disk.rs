//! A disk's image may be named in short; a disk only grows.

use async_trait::async_trait;
use formwork_google_schema::Act;
use formwork_values::{Kind, Value};
use serde_json::{Map, Value as Json};

use crate::engine::Subject;
use crate::failure::Failure;
use crate::hooks::{Hooks, resolve_image};
use crate::plan::Plan;

pub(crate) struct Disk;

#[async_trait]
impl Hooks for Disk {
    fn plan(&self, plan: &mut Plan<'_>) {
        let size = |v: Option<&Value>| match v.map(Value::kind) {
            Some(Kind::Number(n)) => n.to_i64(),
            _ => None,
        };
        if let (Some(old), Some(new)) = (size(plan.before("size")), size(plan.planned.get("size")))
            && new < old
        {
            plan.replace("size");
        }
    }

    async fn encode(
        &self,
        subject: &Subject<'_>,
        _act: Act,
        _prior: Option<&Value>,
        body: &mut Map<String, Json>,
    ) -> Result<(), Failure> {
        if let Some(Json::String(image)) = body.get_mut("sourceImage")
            && !image.is_empty()
        {
            *image = resolve_image(subject.cloud, image).await?;
        }
        Ok(())
    }

    fn compared<'j>(&self, json: &'j Json) -> &'j Json {
        json
    }
}
