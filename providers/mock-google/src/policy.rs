//! IAM policies: the same three methods on many kinds of objects.
//!
//! A policy lies hidden in its object. Its etag is the concurrency token: who writes with an old one
//! is refused with 409 (412 by storage), and reads again.

use serde_json::{Value, json};

use crate::checking::Body;
use crate::error::ApiError;
use crate::request::{Answer, Request};
use crate::store::{Change, Object};
use crate::transaction::Transaction;

/// The policy of an object.
fn policy(object: &Object) -> Body {
    match object.hidden.get("policy") {
        Some(Value::Object(policy)) => policy.clone(),
        _ => crate::catalogue::object(json!({"version": 1, "etag": "ACAB"})),
    }
}

/// Reads it.
pub(crate) fn get(request: &Request, object: &Object) -> Result<Answer, ApiError> {
    let mut policy = policy(object);
    let version = request
        .query("optionsRequestedPolicyVersion")
        .or_else(|| request.query("options.requestedPolicyVersion"))
        .and_then(|text| text.parse::<i64>().ok())
        .or_else(|| {
            request
                .body
                .get("options")
                .and_then(|options| options.get("requestedPolicyVersion")?.as_i64())
        })
        .unwrap_or(1);
    let conditional = crate::usage::list(policy.get("bindings"))
        .iter()
        .any(|binding| binding.get("condition").is_some());
    if conditional && version < 3 {
        // who asks for version 1 gets the bindings without what it could not keep
        if let Some(Value::Array(bindings)) = policy.get_mut("bindings") {
            bindings.retain(|binding| binding.get("condition").is_none());
        }
        policy.insert("version".into(), 1.into());
    }
    if request.service() == "storage" {
        policy.insert("kind".into(), "storage#policy".into());
        policy.insert(
            "resourceId".into(),
            format!("projects/_/{}", bucket_path(&request.path)).into(),
        );
    }
    Ok(crate::dispatch::json(policy))
}

/// `buckets/b` of `b/b/iam`.
fn bucket_path(path: &str) -> String {
    path.trim_end_matches("/iam").replacen("b/", "buckets/", 1)
}

/// Writes it. `given` is the policy of the request.
pub(crate) fn set(
    request: &Request,
    tx: &mut Transaction,
    key: &str,
    object: &Object,
    given: Body,
) -> Result<Answer, ApiError> {
    let old = policy(object);
    if let Some(etag) = given.get("etag").and_then(Value::as_str)
        && old.get("etag").and_then(Value::as_str) != Some(etag)
    {
        let message = "There were concurrent policy changes. Please retry the whole \
                       read-modify-write with exponential backoff.";
        return Err(if request.service() == "storage" {
            ApiError::condition_not_met(message)
        } else {
            ApiError::conflict(message)
        });
    }
    let mut bindings: Vec<Value> = Vec::new();
    for (index, binding) in crate::usage::list(given.get("bindings")).iter().enumerate() {
        let field = format!("policy.bindings[{index}]");
        let role = binding
            .get("role")
            .and_then(Value::as_str)
            .unwrap_or_default();
        if !(role.starts_with("roles/") || role.contains("/roles/")) {
            return Err(ApiError::bad(format!(
                "Role {role} is not supported for this resource."
            )));
        }
        let mut members: Vec<String> = Vec::new();
        for member in crate::usage::list(binding.get("members"))
            .iter()
            .filter_map(Value::as_str)
        {
            check_member(&field, member, tx)?;
            members.push(member.to_owned());
        }
        members.sort();
        members.dedup();
        if members.is_empty() {
            continue;
        }
        let same = bindings.iter_mut().find(|own| {
            own.get("role") == binding.get("role")
                && own.get("condition") == binding.get("condition")
        });
        match same
            .and_then(|own| own.get_mut("members"))
            .and_then(Value::as_array_mut)
        {
            Some(own) => {
                own.extend(members.into_iter().map(Value::from));
                own.dedup();
            }
            None => {
                let mut own = json!({"role": role, "members": members});
                if let Some(condition) = binding
                    .get("condition")
                    .filter(|condition| !condition.is_null())
                {
                    if given.get("version").and_then(Value::as_i64) != Some(3) {
                        return Err(ApiError::bad(
                            "A policy with conditions must be of version 3.",
                        ));
                    }
                    own["condition"] = condition.clone();
                }
                bindings.push(own);
            }
        }
    }
    bindings.sort_by_key(|binding| {
        (
            binding["role"].as_str().unwrap_or_default().to_owned(),
            binding["condition"].to_string(),
        )
    });
    let conditional = bindings
        .iter()
        .any(|binding| binding.get("condition").is_some());
    let mut new = crate::catalogue::object(json!({
        "version": if conditional { 3 } else { 1 }, "etag": tx.fingerprint(),
    }));
    if !bindings.is_empty() {
        new.insert("bindings".into(), bindings.into());
    }
    if let Some(configs) = given
        .get("auditConfigs")
        .filter(|configs| !crate::usage::list(Some(configs)).is_empty())
    {
        new.insert("auditConfigs".into(), configs.clone());
    }
    tx.target = Some(key.to_owned());
    tx.changes.push(Change::Set {
        key: key.to_owned(),
        body: Body::new(),
        hidden: crate::catalogue::object(json!({ "policy": new })),
    });
    if request.service() == "storage" {
        new.insert("kind".into(), "storage#policy".into());
        new.insert(
            "resourceId".into(),
            format!("projects/_/{}", bucket_path(&request.path)).into(),
        );
    }
    Ok(crate::dispatch::json(new))
}

/// A member is `kind:name`; a service account of a project of this world must exist.
fn check_member(field: &str, member: &str, tx: &Transaction) -> Result<(), ApiError> {
    let known = [
        "user:",
        "serviceAccount:",
        "group:",
        "domain:",
        "principal:",
        "principalSet:",
        "projectOwner:",
        "projectEditor:",
        "projectViewer:",
        "deleted:",
    ];
    if matches!(member, "allUsers" | "allAuthenticatedUsers") {
        return Ok(());
    }
    if !known.iter().any(|kind| member.starts_with(kind)) {
        return Err(ApiError::bad(format!(
            "Invalid value for field '{field}': '{member}' is no member."
        )));
    }
    let Some(email) = member.strip_prefix("serviceAccount:") else {
        return Ok(());
    };
    if crate::iam::known_missing(email, tx) {
        return Err(ApiError::bad(format!(
            "Service account {email} does not exist."
        )));
    }
    Ok(())
}

/// Which of the permissions asked about the caller has: all.
pub(crate) fn test(request: &Request) -> Answer {
    let asked: Vec<Value> = match request.body.get("permissions") {
        Some(Value::Array(asked)) => asked.clone(),
        _ => request.queries("permissions").map(Value::from).collect(),
    };
    Answer::Json(json!({ "permissions": asked }))
}
