//! Service Usage: which APIs are on in a project.

use serde_json::{Value, json};

use crate::catalogue::object;
use crate::checking::Body;
use crate::dispatch::json as answer;
use crate::error::ApiError;
use crate::lists::page;
use crate::request::{Answer, Request};
use crate::scenario::Project;
use crate::store::{Change, Object};
use crate::transaction::{Begin, Transaction};

/// The key of a service (`compute` or `compute.googleapis.com`) of a project.
pub(crate) fn key(project: &str, service: &str) -> String {
    let host = host(service);
    format!("serviceusage/projects/{project}/services/{host}")
}

fn host(service: &str) -> String {
    if service.contains('.') {
        service.to_owned()
    } else {
        format!("{service}.googleapis.com")
    }
}

/// A service of a project, with its key.
pub(crate) fn service(project: &Project, service: &str, on: bool) -> (String, Object) {
    let host = host(service);
    let body = object(json!({
        "name": format!("projects/{}/services/{host}", project.number),
        "parent": format!("projects/{}", project.number),
        "config": {"name": host},
        "state": if on { "ENABLED" } else { "DISABLED" },
    }));
    let object = Object {
        collection: "serviceusage.services".to_owned(),
        body,
        hidden: Body::new(),
        pending: None,
    };
    (key(&project.id, service), object)
}

pub(crate) fn handle(request: &Request, tx: &mut Transaction) -> Result<Answer, ApiError> {
    if request.collection() == "operations" {
        let key = format!("serviceusage/{}", request.path);
        return match request.verb() {
            "get" => tx
                .store
                .operation(&key)
                .map(|operation| Answer::Json(operation.show(tx.now)))
                .ok_or_else(|| ApiError::not_found(&request.path)),
            _ => Err(ApiError::not_played(&request.method.id)),
        };
    }
    let Some(project) = request
        .project
        .as_deref()
        .and_then(|id| tx.scenario.project(id))
    else {
        return Err(ApiError::forbidden("Only projects have services here."));
    };
    match request.verb() {
        "get" => Ok(answer(
            current(tx, project, crate::links::name_of(&request.path))
                .1
                .body,
        )),
        "list" => list(request, tx, project),
        "batchGet" => {
            let found: Vec<Value> = request
                .queries("names")
                .map(|name| Value::Object(current(tx, project, crate::links::name_of(name)).1.body))
                .collect();
            Ok(Answer::Json(json!({ "services": found })))
        }
        "enable" => {
            let name = crate::links::name_of(&request.path).to_owned();
            Ok(Answer::Json(switch(request, tx, project, &[name], true)))
        }
        "disable" => {
            let name = crate::links::name_of(&request.path).to_owned();
            let dependants = dependants(tx, project, &name);
            if !dependants.is_empty()
                && request.body.get("disableDependentServices") != Some(&Value::Bool(true))
            {
                return Err(ApiError::failed_precondition(format!(
                    "The service {name} is depended on by the following active service(s): {}.",
                    dependants.join(", ")
                )));
            }
            Ok(Answer::Json(switch(request, tx, project, &[name], false)))
        }
        "batchEnable" => {
            let names: Vec<String> = crate::usage::list(request.body.get("serviceIds"))
                .iter()
                .filter_map(|name| name.as_str().map(str::to_owned))
                .collect();
            if names.is_empty() || names.len() > 20 {
                return Err(ApiError::bad(
                    "Between 1 and 20 services can be enabled at once.",
                ));
            }
            Ok(Answer::Json(switch(request, tx, project, &names, true)))
        }
        _ => Err(ApiError::not_played(&request.method.id)),
    }
}

/// The service as it stands; a service that nobody has touched is there, and off.
fn current(tx: &Transaction, project: &Project, name: &str) -> (String, Object) {
    let key = key(&project.id, name);
    match tx.get(&key) {
        Some(object) => (key, object.clone()),
        None => service(project, name, false),
    }
}

fn list(request: &Request, tx: &Transaction, project: &Project) -> Result<Answer, ApiError> {
    let prefix = format!("serviceusage/projects/{}/services/", project.id);
    // a filter of its own kind: state:ENABLED
    let wanted = request
        .query("filter")
        .and_then(|filter| filter.strip_prefix("state:"));
    let items = tx
        .store
        .children(&prefix)
        .filter(|(_, object)| wanted.is_none_or(|state| object.text("state") == Some(state)))
        .map(|(_, object)| object.body.clone())
        .collect();
    let mut plain = Vec::new();
    plain.extend(
        request
            .query
            .iter()
            .filter(|(name, _)| name != "filter")
            .cloned(),
    );
    let unfiltered = Request {
        document: request.document,
        method: request.method,
        variables: Vec::new(),
        path: request.path.clone(),
        query: plain,
        body: Body::new(),
        project: None,
        upload: None,
        content: Vec::new(),
        content_type: String::new(),
        address: String::new(),
        content_range: None,
        no_308: false,
        upload_type: None,
    };
    let page = page(&unfiltered, items, ("pageSize", 50, 200))?;
    let mut out = json!({});
    if !page.items.is_empty() {
        out["services"] = page.items.into();
    }
    if let Some(token) = page.next {
        out["nextPageToken"] = token.into();
    }
    Ok(Answer::Json(out))
}

/// Services that cannot do without this one, of those that are on.
fn dependants(tx: &Transaction, project: &Project, name: &str) -> Vec<String> {
    const NEEDS: &[(&str, &str)] = &[
        ("container", "compute"),
        ("file", "compute"),
        ("tpu", "compute"),
        ("dataproc", "compute"),
    ];
    NEEDS
        .iter()
        .filter(|(_, needed)| host(needed) == name)
        .filter(|(user, _)| {
            tx.get(&key(&project.id, user))
                .is_some_and(|object| object.text("state") == Some("ENABLED"))
        })
        .map(|(user, _)| host(user))
        .collect()
}

fn switch(
    request: &Request,
    tx: &mut Transaction,
    project: &Project,
    names: &[String],
    on: bool,
) -> Value {
    let mut success = Vec::new();
    let mut services = Vec::new();
    for name in names {
        let (key, mut object) = current(tx, project, name);
        object.body.insert(
            "state".into(),
            if on { "ENABLED" } else { "DISABLED" }.into(),
        );
        // an operation's answer names the service and says no more of it
        let mut named = object.body.clone();
        named.remove("config");
        services.push(Value::Object(named));
        success.push(Change::Put { key, object });
    }
    let id = tx.id();
    let target = names
        .first()
        .map(|name| key(&project.id, name))
        .unwrap_or_default();
    tx.target = Some(target.clone());
    let begin = Begin {
        kind: request.verb().to_owned(),
        target,
        target_id: String::new(),
        success,
        failure: Vec::new(),
        error: None,
    };
    let path = format!("operations/acat.p2-{}-{id}", project.number);
    let metadata = object(json!({
        "@type": "type.googleapis.com/google.api.serviceusage.v1.OperationMetadata",
    }));
    let shown = tx.begin_long_running(request, begin, path, metadata, None);
    let kind = match request.verb() {
        "batchEnable" => "BatchEnableServicesResponse",
        "enable" => "EnableServiceResponse",
        _ => "DisableServiceResponse",
    };
    if let Some(Change::Begin { operation, .. }) = tx.changes.last_mut() {
        operation.response.insert(
            "@type".into(),
            format!("type.googleapis.com/google.api.serviceusage.v1.{kind}").into(),
        );
        if request.verb() == "batchEnable" {
            operation
                .response
                .insert("services".into(), services.into());
        } else if let Some(service) = services.into_iter().next() {
            operation.response.insert("service".into(), service);
        }
    }
    shown
}
