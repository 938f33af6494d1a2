//! Resource Manager: projects and their policies. Projects are the scenario's; none are made here.

use serde_json::{Value, json};

use crate::dispatch::json as answer;
use crate::error::ApiError;
use crate::lists::page;
use crate::policy;
use crate::request::{Answer, Request};
use crate::store::Object;
use crate::transaction::Transaction;

pub(crate) fn handle(request: &Request, tx: &mut Transaction) -> Result<Answer, ApiError> {
    if request.method.collection() != "cloudresourcemanager.projects" {
        return Err(ApiError::not_played(&request.method.id));
    }
    let third = request.document.version == "v3";
    match request.verb() {
        "get" => Ok(answer(shown(found(request, tx)?.1, third))),
        "list" | "search" => {
            let items = tx
                .store
                .children("cloudresourcemanager/projects/")
                .map(|(_, object)| shown(object, third))
                .collect();
            let page = page(request, items, ("pageSize", 500, 1000))?;
            let mut out = json!({ "projects": page.items });
            if let Some(token) = page.next {
                out["nextPageToken"] = token.into();
            }
            Ok(Answer::Json(out))
        }
        "getIamPolicy" => policy::get(request, found(request, tx)?.1),
        "setIamPolicy" => {
            let (key, object) = found(request, tx)?;
            let given = match request.body.get("policy") {
                Some(Value::Object(policy)) => policy.clone(),
                _ => return Err(ApiError::required("policy")),
            };
            policy::set(request, tx, &key, object, given)
        }
        "testIamPermissions" => Ok(policy::test(request)),
        "getAncestry" => {
            let (_, object) = found(request, tx)?;
            Ok(Answer::Json(json!({
                "ancestor": [{"resourceId": {"type": "project", "id": object.text("projectId")}}],
            })))
        }
        _ => Err(ApiError::not_played(&request.method.id)),
    }
}

fn found<'a>(request: &Request, tx: &Transaction<'a>) -> Result<(String, &'a Object), ApiError> {
    let key = request.key();
    match tx.get(&key) {
        Some(object) => Ok((key, object)),
        None => Err(ApiError::forbidden("The caller does not have permission")),
    }
}

/// A project in the words of v1 or v3.
fn shown(object: &Object, third: bool) -> crate::checking::Body {
    if !third {
        return object.body.clone();
    }
    let text = |field: &str| object.text(field).unwrap_or_default();
    crate::catalogue::object(json!({
        "name": format!("projects/{}", text("projectNumber")),
        "projectId": text("projectId"), "displayName": text("name"), "state": text("lifecycleState"),
        "createTime": text("createTime"), "updateTime": text("createTime"), "etag": "W/\"0123456789abcdef\"",
    }))
}
