//! IAM: service accounts.

use serde_json::{Value, json};

use crate::catalogue::object as fields;
use crate::checking::Body;
use crate::dispatch::json as answer;
use crate::error::ApiError;
use crate::lists::page;
use crate::policy;
use crate::request::{Answer, Request};
use crate::store::Object;
use crate::transaction::Transaction;

pub(crate) fn handle(request: &Request, tx: &mut Transaction) -> Result<Answer, ApiError> {
    if request.method.collection() != "iam.projects.serviceAccounts" {
        return Err(ApiError::not_played(&request.method.id));
    }
    match request.verb() {
        "create" => create(request, tx),
        "get" => {
            let (_, object) = found(request, tx)?;
            Ok(answer(object.body.clone()))
        }
        "list" => list(request, tx),
        "patch" | "update" => change(request, tx),
        "delete" => {
            let (key, _) = found(request, tx)?;
            tx.target = Some(key.clone());
            tx.remove(&key);
            Ok(Answer::Json(json!({})))
        }
        "enable" | "disable" => {
            let (key, _) = found(request, tx)?;
            tx.target = Some(key.clone());
            let off = if request.verb() == "disable" {
                Value::Bool(true)
            } else {
                Value::Null
            };
            tx.set(&key, fields(json!({ "disabled": off })));
            Ok(Answer::Json(json!({})))
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
        _ => Err(ApiError::not_played(&request.method.id)),
    }
}

/// Whether an account can be seen already.
pub(crate) fn visible(object: &Object, tx: &Transaction) -> bool {
    let made = object
        .hidden
        .get("made")
        .and_then(Value::as_u64)
        .unwrap_or_default();
    tx.now >= made + tx.scenario.eventual.service_account_ms
}

/// Whether an email is of a project of this world, and no account of that name can be seen.
pub(crate) fn known_missing(email: &str, tx: &Transaction) -> bool {
    let project = email
        .split_once('@')
        .and_then(|(_, domain)| domain.strip_suffix(".iam.gserviceaccount.com"))
        .unwrap_or_default();
    tx.scenario.project(project).is_some()
        && !tx
            .get(&format!("iam/projects/{project}/serviceAccounts/{email}"))
            .is_some_and(|account| visible(account, tx))
}

/// The account of a path, by email or by unique id, of this project or (`-`) of any.
fn found<'a>(request: &Request, tx: &Transaction<'a>) -> Result<(String, &'a Object), ApiError> {
    let parts: Vec<&str> = request.path.split('/').collect();
    let ["projects", project, "serviceAccounts", name, ..] = parts.as_slice() else {
        return Err(ApiError::not_found(&request.path));
    };
    let prefix = if *project == "-" {
        "iam/projects/".to_owned()
    } else {
        format!("iam/projects/{project}/serviceAccounts/")
    };
    let key = tx
        .store
        .below(&prefix)
        .filter(|(_, object)| object.collection == "iam.projects.serviceAccounts")
        .find(|(_, object)| {
            object.text("email") == Some(name) || object.text("uniqueId") == Some(name)
        })
        .map(|(key, _)| key.to_owned());
    let missing = || ApiError::new(404, "notFound", "NOT_FOUND", "Unknown service account");
    let key = key.ok_or_else(missing)?;
    let object = tx
        .get(&key)
        .filter(|object| visible(object, tx))
        .ok_or_else(missing)?;
    Ok((key, object))
}

fn create(request: &Request, tx: &mut Transaction) -> Result<Answer, ApiError> {
    let project = request.project.clone().unwrap_or_default();
    let id = request.required("accountId")?.to_owned();
    if !super::compute::is_name(&id) || !(6..=30).contains(&id.len()) {
        return Err(ApiError::bad(format!(
            "Account id '{id}' is not 6 to 30 of a-z, 0-9 and -, beginning with a letter."
        )));
    }
    let email = format!("{id}@{project}.iam.gserviceaccount.com");
    let path = format!("projects/{project}/serviceAccounts/{email}");
    let key = format!("iam/{path}");
    tx.target = Some(key.clone());
    if tx.get(&key).is_some() {
        return Err(ApiError::new(
            409,
            "alreadyExists",
            "ALREADY_EXISTS",
            format!("Service account {id} already exists within project projects/{project}."),
        ));
    }
    let mut body = match request.body.get("serviceAccount") {
        Some(Value::Object(given)) => given
            .iter()
            .filter(|(name, _)| matches!(name.as_str(), "displayName" | "description"))
            .map(|(name, value)| (name.clone(), value.clone()))
            .collect(),
        _ => Body::new(),
    };
    let number = |tx: &mut Transaction| format!("1{:0>20}", tx.id());
    body.extend(fields(json!({
        "name": path, "projectId": project, "email": email, "uniqueId": number(tx),
        "oauth2ClientId": number(tx), "etag": "MDEwMjE5MjA=",
    })));
    crate::checking::without_nothing(&mut body);
    body.retain(|_, value| value.as_str() != Some(""));
    let object = Object {
        collection: "iam.projects.serviceAccounts".to_owned(),
        body: body.clone(),
        hidden: fields(json!({ "made": tx.now })),
        pending: None,
    };
    tx.put(&key, object);
    Ok(answer(body))
}

fn list(request: &Request, tx: &Transaction) -> Result<Answer, ApiError> {
    let project = request.project.clone().unwrap_or_default();
    let prefix = format!("iam/projects/{project}/serviceAccounts/");
    let items = tx
        .store
        .children(&prefix)
        .map(|(_, object)| object.body.clone())
        .collect();
    let page = page(request, items, ("pageSize", 20, 100))?;
    let mut out = json!({});
    if !page.items.is_empty() {
        out["accounts"] = page.items.into();
    }
    if let Some(token) = page.next {
        out["nextPageToken"] = token.into();
    }
    Ok(Answer::Json(out))
}

/// `patch` carries the account and a mask in its body, `update` is the account.
fn change(request: &Request, tx: &mut Transaction) -> Result<Answer, ApiError> {
    let (key, object) = found(request, tx)?;
    tx.target = Some(key.clone());
    let (given, mask) = if request.verb() == "patch" {
        let given = match request.body.get("serviceAccount") {
            Some(Value::Object(given)) => given.clone(),
            _ => return Err(ApiError::required("serviceAccount")),
        };
        let mask = request
            .body
            .get("updateMask")
            .and_then(Value::as_str)
            .unwrap_or_default();
        (given, mask.replace("display_name", "displayName"))
    } else {
        (request.body.clone(), "displayName,description".to_owned())
    };
    let mut answered = Body::new();
    answered.insert(
        "name".into(),
        object.body.get("name").cloned().unwrap_or(Value::Null),
    );
    let mut fields = Body::new();
    for field in mask.split(',').map(str::trim) {
        if !matches!(field, "displayName" | "description") {
            return Err(ApiError::bad(format!(
                "The field '{field}' of a service account cannot be changed."
            )));
        }
        let value = given
            .get(field)
            .cloned()
            .filter(|value| value.as_str() != Some(""));
        if let Some(value) = &value {
            answered.insert(field.to_owned(), value.clone());
        }
        fields.insert(field.to_owned(), value.unwrap_or(Value::Null));
    }
    tx.set(&key, fields);
    Ok(answer(answered))
}
