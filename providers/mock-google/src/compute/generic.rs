//! The life that all collections of compute share.

use serde_json::{Map, Value, json};

use super::references::{Place, holds, settle};
use super::{
    address, disk, firewall, instance, machine, network, reservation, router, shown, subnetwork,
    template,
};
use crate::checking::{Body, merge, without_nothing};
use crate::dispatch::json as answer;
use crate::error::ApiError;
use crate::links::full;
use crate::lists::page;
use crate::operations::OperationError;
use crate::request::{Answer, Request};
use crate::store::{Change, Object, Work};
use crate::time::pacific;
use crate::transaction::{Begin, Transaction, created, deleting, path};

/// An object about to be made: what it is, and what its operation brings.
pub(crate) struct Making {
    /// `networks`
    pub(crate) collection: &'static str,
    pub(crate) key: String,
    pub(crate) place: Place,
    pub(crate) body: Body,
    pub(crate) hidden: Body,
    /// Fields that come at the end of the operation.
    pub(crate) finish: Body,
    /// What else is made, at once.
    pub(crate) along: Vec<Change>,
    /// What else happens when it succeeds, or fails.
    pub(crate) success: Vec<Change>,
    pub(crate) failure: Vec<Change>,
    pub(crate) error: Option<OperationError>,
}

impl Making {
    pub(crate) fn link(&self) -> String {
        full(path(&self.key))
    }

    pub(crate) fn text(&self, field: &str) -> Option<&str> {
        self.body.get(field).and_then(Value::as_str)
    }

    /// Sets a field that is not there.
    pub(crate) fn default(&mut self, field: &str, value: impl Into<Value>) {
        if !self.body.contains_key(field) {
            self.body.insert(field.to_owned(), value.into());
        }
    }

    /// Takes some of a quota: refuses, or lets the operation fail, when it is used up.
    pub(crate) fn take(
        &mut self,
        tx: &Transaction,
        metric: &str,
        amount: i64,
    ) -> Result<(), ApiError> {
        let place = match metric {
            "NETWORKS" | "SUBNETWORKS" | "FIREWALLS" | "ROUTERS" | "ROUTES" => "global",
            _ => self.place.quota_place(),
        };
        let error = tx.quota(&self.place.project, place, metric, amount)?;
        self.error = self.error.take().or(error);
        let what = format!("quota/{}/{place}/{metric}", self.place.project);
        self.uses(&what, amount);
        Ok(())
    }

    /// Notes that it uses something up.
    pub(crate) fn uses(&mut self, what: &str, amount: i64) {
        let uses = self
            .hidden
            .entry("uses")
            .or_insert_with(|| Value::Object(Map::new()));
        if let Some(uses) = uses.as_object_mut() {
            let old = uses.get(what).and_then(Value::as_i64).unwrap_or_default();
            uses.insert(what.to_owned(), (old + amount).into());
        }
    }
}

/// Whether a text is a name of compute: 1 to 63 of a-z, 0-9 and -, a letter first, no dash last.
pub(crate) fn is_name(text: &str) -> bool {
    let bytes = text.as_bytes();
    (1..=63).contains(&bytes.len())
        && bytes.first().is_some_and(u8::is_ascii_lowercase)
        && bytes.last() != Some(&b'-')
        && bytes
            .iter()
            .all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || *b == b'-')
}

pub(crate) fn insert(request: &Request, tx: &mut Transaction) -> Result<Answer, ApiError> {
    let name = request.required("name")?.to_owned();
    if !is_name(&name) {
        return Err(ApiError::invalid(
            "resource.name",
            &name,
            "Must be a match of regex '(?:[a-z](?:[-a-z0-9]{0,61}[a-z0-9])?)'",
        ));
    }
    let key = format!("{}/{name}", request.key());
    tx.target = Some(key.clone());
    if tx.get(&key).is_some() {
        return Err(ApiError::already_exists(path(&key)));
    }
    let mut making = Making {
        collection: request.collection(),
        place: Place::of(&request.path, tx),
        body: request.body.clone(),
        hidden: Body::new(),
        finish: Body::new(),
        along: Vec::new(),
        success: Vec::new(),
        failure: Vec::new(),
        error: None,
        key,
    };
    // tags and the like for the request itself, kept by nobody
    making.body.remove("params");
    without_nothing(&mut making.body);
    settle(making.collection, &mut making.body, &making.place, tx)?;
    if let Some(Value::Object(labels)) = making.body.get("labels") {
        check_labels(labels)?;
    }
    prepare(request, &mut making, tx)?;
    let id = tx.id();
    frame(request, &mut making, &id, tx);
    without_nothing(&mut making.body);
    let Making {
        key,
        body,
        hidden,
        finish,
        along,
        success,
        failure,
        error,
        ..
    } = making;
    let collection = request.method.collection().to_owned();
    tx.creating(
        &key,
        Object {
            collection,
            body,
            hidden,
            pending: None,
        },
    );
    tx.changes.extend(along);
    let mut good = created(&key, finish);
    good.extend(success);
    let mut bad = vec![Change::Remove { key: key.clone() }];
    bad.extend(failure);
    let shown = tx.begin_compute(
        request,
        Begin {
            kind: "insert".to_owned(),
            target: key,
            target_id: id,
            success: good,
            failure: bad,
            error,
        },
    );
    Ok(Answer::Json(shown))
}

/// The fields that every object has.
fn frame(request: &Request, making: &mut Making, id: &str, tx: &mut Transaction) {
    let link = making.link();
    let schema = request
        .method
        .request
        .as_ref()
        .and_then(|name| request.document.schemas.get(name));
    let has = |field: &str| schema.and_then(|schema| schema.property(field)).is_some();
    let kind = schema
        .and_then(|schema| schema.property("kind"))
        .and_then(|kind| kind.default.clone());
    if let Some(kind) = kind {
        making.body.insert("kind".into(), kind.into());
    }
    making.body.insert("id".into(), id.into());
    making.body.insert("selfLink".into(), link.clone().into());
    making
        .body
        .insert("creationTimestamp".into(), pacific(tx.now).into());
    if has("labelFingerprint") {
        making
            .body
            .insert("labelFingerprint".into(), tx.fingerprint().into());
    }
    if has("fingerprint") {
        making
            .body
            .insert("fingerprint".into(), tx.fingerprint().into());
    }
    if making.collection == "networks" {
        let with_id = link
            .rsplit_once('/')
            .map_or(String::new(), |(home, _)| format!("{home}/{id}"));
        making.body.insert("selfLinkWithId".into(), with_id.into());
    }
    let scope = format!("projects/{}", making.place.project);
    if let Some(zone) = &making.place.zone {
        making
            .body
            .insert("zone".into(), full(&format!("{scope}/zones/{zone}")).into());
    } else if let Some(region) = &making.place.region {
        making.body.insert(
            "region".into(),
            full(&format!("{scope}/regions/{region}")).into(),
        );
    }
}

/// What each collection checks and fills in.
fn prepare(request: &Request, making: &mut Making, tx: &mut Transaction) -> Result<(), ApiError> {
    match making.collection {
        "networks" => network::prepare(making, tx),
        "subnetworks" => subnetwork::prepare(making, tx),
        "firewalls" => firewall::prepare(making, tx),
        "routes" => router::prepare_route(making, tx),
        "routers" => router::prepare(making, tx),
        "addresses" | "globalAddresses" => address::prepare(making, tx),
        "disks" => disk::prepare(request, making, tx),
        "instances" => instance::prepare(request, making, tx),
        "instanceTemplates" | "regionInstanceTemplates" => template::prepare(making, tx),
        "reservations" => reservation::prepare(making, tx),
        "resourcePolicies" => {
            making.default("status", "READY");
            snapshot_schedule(&mut making.body);
            Ok(())
        }
        _ => Ok(()),
    }
}

/// The length of the window in which snapshots of a schedule begin.
fn snapshot_schedule(body: &mut Body) {
    let schedule = body
        .get_mut("snapshotSchedulePolicy")
        .and_then(|policy| policy.get_mut("schedule"))
        .and_then(Value::as_object_mut);
    for (name, every) in schedule.into_iter().flatten() {
        if name == "dailySchedule" || name == "hourlySchedule" {
            every["duration"] = "PT14400S".into();
        }
    }
}

pub(crate) fn check_labels(labels: &Map<String, Value>) -> Result<(), ApiError> {
    let fine = |text: &str| {
        text.len() <= 63
            && text.chars().all(|c| {
                c.is_lowercase()
                    || c.is_numeric()
                    || matches!(c, '_' | '-')
                    || (!c.is_ascii() && c.is_alphabetic())
            })
    };
    if labels.len() > 64 {
        return Err(ApiError::invalid(
            "resource.labels",
            "",
            "An object has 64 labels at most.",
        ));
    }
    for (name, value) in labels {
        let value = value.as_str().unwrap_or_default();
        if name.is_empty() || !fine(name) || !name.chars().next().is_some_and(char::is_lowercase) {
            return Err(ApiError::invalid(
                "resource.labels",
                name,
                "A label's key begins with a lower-case letter and holds lower-case letters, digits, _ and -, 63 at most.",
            ));
        }
        if !fine(value) {
            return Err(ApiError::invalid(
                "resource.labels",
                value,
                "A label's value holds lower-case letters, digits, _ and -, 63 at most.",
            ));
        }
    }
    Ok(())
}

pub(crate) fn get(request: &Request, tx: &mut Transaction) -> Result<Answer, ApiError> {
    let (key, object) = found(request, tx)?;
    Ok(answer(shown(tx.store, &key, object)))
}

/// The object of a request by name, or by its numeric id.
pub(crate) fn found<'a>(
    request: &Request,
    tx: &Transaction<'a>,
) -> Result<(String, &'a Object), ApiError> {
    named(&object_path(request), tx)
}

/// The path of the object that a custom method works on: without the verb at its end.
fn object_path(request: &Request) -> String {
    let verb = request.verb();
    let path = &request.path;
    match path
        .strip_suffix(verb)
        .and_then(|rest| rest.strip_suffix('/'))
    {
        Some(object) if request.method.flat_path.ends_with(verb) => object.to_owned(),
        _ => path.clone(),
    }
}

fn named<'a>(object_path: &str, tx: &Transaction<'a>) -> Result<(String, &'a Object), ApiError> {
    let key = format!("compute/{object_path}");
    if let Some(object) = tx.get(&key) {
        return Ok((key, object));
    }
    let name = crate::links::name_of(object_path);
    if name.chars().all(|c| c.is_ascii_digit())
        && let Some((home, _)) = key.rsplit_once('/')
    {
        let prefix = format!("{home}/");
        let by_id = tx
            .store
            .children(&prefix)
            .find(|(_, object)| object.text("id") == Some(name))
            .map(|(key, _)| key.to_owned());
        if let Some(key) = by_id
            && let Some(object) = tx.get(&key)
        {
            return Ok((key, object));
        }
    }
    Err(ApiError::not_found(object_path))
}

/// The object of a request that changes it: there, and not being made.
pub(crate) fn changeable<'a>(
    request: &Request,
    tx: &mut Transaction<'a>,
) -> Result<(String, &'a Object), ApiError> {
    let (key, object) = found(request, tx)?;
    tx.target = Some(key.clone());
    if object.pending.is_some() {
        return Err(ApiError::not_ready(path(&key)));
    }
    Ok((key, object))
}

pub(crate) fn list(request: &Request, tx: &mut Transaction) -> Result<Answer, ApiError> {
    let prefix = format!("{}/", request.key());
    let items: Vec<Body> = tx
        .store
        .children(&prefix)
        .map(|(key, object)| shown(tx.store, key, object))
        .collect();
    let kind = format!("compute#{}List", singular(request));
    listing(request, items, &kind)
}

fn singular(request: &Request) -> String {
    let response = request.method.response.as_deref().unwrap_or_default();
    let name = response
        .trim_end_matches("AggregatedList")
        .trim_end_matches("List");
    let mut letters = name.chars();
    letters.next().map_or(String::new(), |first| {
        first.to_lowercase().chain(letters).collect()
    })
}

/// A list's answer.
pub(crate) fn listing(request: &Request, items: Vec<Body>, kind: &str) -> Result<Answer, ApiError> {
    let page = page(request, items, ("maxResults", 500, 500))?;
    let mut out = json!({"kind": kind, "id": request.path, "selfLink": full(&request.path)});
    if !page.items.is_empty() {
        out["items"] = page.items.into();
    }
    if let Some(token) = page.next {
        out["nextPageToken"] = token.into();
    }
    Ok(Answer::Json(out))
}

pub(crate) fn aggregated(request: &Request, tx: &mut Transaction) -> Result<Answer, ApiError> {
    let project = request.project.clone().unwrap_or_default();
    let collection = request.collection();
    let mut scopes = vec!["global".to_owned()];
    scopes.extend(
        tx.catalogue
            .regions()
            .map(|region| format!("regions/{region}")),
    );
    scopes.extend(
        tx.catalogue
            .zones()
            .map(|(zone, _)| format!("zones/{zone}")),
    );
    // pages go over all scopes, in order
    let mut items = Vec::new();
    for scope in &scopes {
        let prefix = format!("compute/projects/{project}/{scope}/{collection}/");
        items.extend(
            tx.store
                .children(&prefix)
                .map(|(key, object)| shown(tx.store, key, object)),
        );
    }
    let page = page(request, items, ("maxResults", 500, 500))?;
    let mut found: Map<String, Value> = Map::new();
    let start = full(&format!("projects/{project}/"));
    for item in page.items {
        let link = item
            .get("selfLink")
            .and_then(Value::as_str)
            .unwrap_or_default();
        let scope = link
            .strip_prefix(&start)
            .and_then(|rest| rest.split_once(&format!("/{collection}/")))
            .map_or("global", |(scope, _)| scope)
            .to_owned();
        if let Some(list) = found
            .entry(scope)
            .or_insert_with(|| Value::Array(Vec::new()))
            .as_array_mut()
        {
            list.push(item);
        }
    }
    let mut out = Map::new();
    for scope in scopes {
        let items = match found.remove(&scope) {
            Some(Value::Array(items)) => items,
            _ => Vec::new(),
        };
        out.insert(scope.clone(), scoped(collection, &scope, items));
    }
    let mut body = json!({
        "kind": format!("compute#{}AggregatedList", singular(request)),
        "id": request.path, "selfLink": full(&request.path), "items": out,
    });
    if let Some(token) = page.next {
        body["nextPageToken"] = token.into();
    }
    Ok(Answer::Json(body))
}

/// One scope of an aggregated list.
pub(crate) fn scoped(collection: &str, scope: &str, items: Vec<Value>) -> Value {
    if items.is_empty() {
        return json!({"warning": {
            "code": "NO_RESULTS_ON_PAGE",
            "message": format!("No results for the scope '{scope}'."),
            "data": [{"key": "scope", "value": scope}],
        }});
    }
    let mut out = Map::new();
    // global addresses come under the name of regional ones
    let name = if collection == "globalAddresses" {
        "addresses"
    } else {
        collection
    };
    out.insert(name.to_owned(), items.into());
    out.into()
}

pub(crate) fn delete(request: &Request, tx: &mut Transaction) -> Result<Answer, ApiError> {
    let (key, object) = found(request, tx)?;
    tx.target = Some(key.clone());
    if object.is(Work::Creating) {
        return Err(ApiError::not_ready(path(&key)));
    }
    let id = object.text("id").unwrap_or_default().to_owned();
    let mut begin = Begin {
        kind: "delete".to_owned(),
        target: key.clone(),
        target_id: id,
        success: vec![Change::Remove { key: key.clone() }],
        failure: vec![Change::Mark {
            key: key.clone(),
            pending: None,
        }],
        error: None,
    };
    // a second deletion while one is at work is another way to the same end
    if request.collection() == "instances" {
        begin.success.extend(machine::goes_along(object));
    }
    if !object.is(Work::Deleting) {
        if request.collection() == "instances" || request.collection() == "reservations" {
            own_refusal(&key, object, tx)?;
        }
        if let Some(user) = blocker(&key, object, tx) {
            let refusal = ApiError::in_use(path(&key), &user);
            if object.collection != "compute.networks" {
                return Err(refusal);
            }
            begin.error = Some(OperationError {
                code: "RESOURCE_IN_USE_BY_ANOTHER_RESOURCE".to_owned(),
                message: refusal.message,
                http: 400,
                http_message: "BAD REQUEST".to_owned(),
                rpc: 9,
                details: Vec::new(),
            });
        }
        // what the server made along with it goes with it
        let link = full(path(&key));
        for (user, owned) in tx.store.users(&key) {
            if owned.hidden_text("owner") == Some(&link) {
                begin.success.push(Change::Remove {
                    key: user.to_owned(),
                });
            }
        }
        if request.collection() == "instances" {
            let status = |text: Option<&str>| crate::catalogue::object(json!({ "status": text }));
            tx.set(&key, status(Some("STOPPING")));
            begin.failure.push(Change::Set {
                key: key.clone(),
                body: status(object.text("status")),
                hidden: Body::new(),
            });
        }
        tx.changes.push(deleting(&key));
    }
    Ok(Answer::Json(tx.begin_compute(request, begin)))
}

fn own_refusal(key: &str, object: &Object, tx: &Transaction) -> Result<(), ApiError> {
    if object.body.get("deletionProtection") == Some(&Value::Bool(true)) {
        return Err(ApiError::bad(format!(
            "Invalid resource usage: 'The resource '{}' is protected against deletion.'.",
            path(key)
        )));
    }
    if tx.store.usage(&format!("reservation/{key}")) > 0 {
        return Err(ApiError::in_use(path(key), "running instances"));
    }
    Ok(())
}

/// The path of an object that does not let this one go.
fn blocker(key: &str, object: &Object, tx: &Transaction) -> Option<String> {
    let link = full(path(key));
    if object.collection.ends_with("ddresses") {
        let shown = shown(tx.store, key, object);
        if shown.get("status").is_some_and(|status| status == "IN_USE") {
            let user = crate::usage::list(shown.get("users"))
                .first()
                .and_then(Value::as_str);
            return Some(
                user.and_then(crate::links::path_of)
                    .unwrap_or("another resource")
                    .to_owned(),
            );
        }
    }
    tx.store
        .users(key)
        .filter(|(_, user)| holds(&user.collection) && user.hidden_text("owner") != Some(&link))
        .map(|(user, _)| path(user).to_owned())
        .next()
}

pub(crate) fn patch(request: &Request, tx: &mut Transaction) -> Result<Answer, ApiError> {
    let (key, object) = changeable(request, tx)?;
    let collection = request.collection();
    check_fingerprint(request, object)?;
    let whole = request.verb() == "update" && request.mask().is_none();
    let mut patch = request.body.clone();
    patch.remove("fingerprint");
    patch.remove("labelFingerprint");
    let mut body = object.body.clone();
    match request.mask() {
        Some(fields) => {
            for field in fields {
                replace(&mut body, &patch, &field);
            }
        }
        None if whole => {
            let schema = request
                .method
                .request
                .as_ref()
                .and_then(|name| request.document.schemas.get(name));
            // what only the server writes stays
            body.retain(|name, _| {
                schema
                    .and_then(|schema| schema.property(name))
                    .is_none_or(|own| own.read_only)
                    || matches!(
                        name.as_str(),
                        "id" | "kind"
                            | "selfLink"
                            | "selfLinkWithId"
                            | "creationTimestamp"
                            | "region"
                            | "zone"
                            | "name"
                            | "fingerprint"
                            | "labelFingerprint"
                    )
            });
            merge(&mut body, &patch);
        }
        None => merge(&mut body, &patch),
    }
    without_nothing(&mut body);
    if body.get("name") != object.body.get("name") {
        return Err(ApiError::bad(
            "Invalid value for field 'resource.name': a name cannot be changed.",
        ));
    }
    let place = Place::of(path(&key), tx);
    settle(collection, &mut body, &place, tx)?;
    revise(collection, &key, object, &mut body, tx)?;
    if object.body.contains_key("fingerprint") {
        body.insert("fingerprint".into(), tx.fingerprint().into());
    }
    // most operations are called after their method, this one is not
    let kind = if collection == "networks" {
        "updateNetwork"
    } else {
        request.verb()
    };
    Ok(Answer::Json(change(request, tx, &key, object, body, kind)))
}

/// Begins the operation that turns an object's body into another.
pub(crate) fn change(
    request: &Request,
    tx: &mut Transaction,
    key: &str,
    object: &Object,
    body: Body,
    kind: &str,
) -> Value {
    let fields = difference(&object.body, body);
    tx.begin_compute(
        request,
        Begin {
            kind: kind.to_owned(),
            target: key.to_owned(),
            target_id: object.text("id").unwrap_or_default().to_owned(),
            success: vec![Change::Set {
                key: key.to_owned(),
                body: fields,
                hidden: Body::new(),
            }],
            failure: Vec::new(),
            error: None,
        },
    )
}

/// The top-level fields that differ; null for those that are gone.
pub(crate) fn difference(old: &Body, new: Body) -> Body {
    let mut fields: Body = old
        .keys()
        .filter(|name| !new.contains_key(*name))
        .map(|name| (name.clone(), Value::Null))
        .collect();
    fields.extend(
        new.into_iter()
            .filter(|(name, value)| old.get(name) != Some(value)),
    );
    fields
}

/// Replaces one field path by what the patch has there, or takes it away.
fn replace(body: &mut Body, patch: &Body, field: &str) {
    match field.split_once('.') {
        None => match patch.get(field) {
            Some(value) if !value.is_null() => {
                body.insert(field.to_owned(), value.clone());
            }
            _ => {
                body.remove(field);
            }
        },
        Some((first, rest)) => {
            let empty = Body::new();
            let inner = patch
                .get(first)
                .and_then(Value::as_object)
                .unwrap_or(&empty);
            let target = body
                .entry(first)
                .or_insert_with(|| Value::Object(Body::new()));
            if let Some(target) = target.as_object_mut() {
                replace(target, inner, rest);
            }
        }
    }
}

/// An object with a fingerprint is changed only by who has seen it as it is.
fn check_fingerprint(request: &Request, object: &Object) -> Result<(), ApiError> {
    let Some(own) = object.text("fingerprint") else {
        return Ok(());
    };
    match request.body.get("fingerprint").and_then(Value::as_str) {
        None => Err(ApiError::required("resource.fingerprint")),
        Some(given) if given == own => Ok(()),
        Some(_) => Err(ApiError::condition_not_met(
            "Invalid fingerprint: the object has changed since it was read.",
        )),
    }
}

/// What a change may touch.
fn revise(
    collection: &str,
    key: &str,
    object: &Object,
    body: &mut Body,
    tx: &mut Transaction,
) -> Result<(), ApiError> {
    match collection {
        "networks" => network::revise(key, object, body, tx),
        "subnetworks" => subnetwork::revise(key, object, body, tx),
        "firewalls" => firewall::revise(object, body),
        "routers" => router::revise(body),
        "reservations" => reservation::revise(object, body),
        _ => Ok(()),
    }
}

/// Refuses a change of any field but these.
pub(crate) fn only(object: &Object, body: &Body, allowed: &[&str]) -> Result<(), ApiError> {
    let changed = object.body.keys().chain(body.keys()).find(|name| {
        !allowed.contains(&name.as_str()) && object.body.get(*name) != body.get(*name)
    });
    match changed {
        Some(name) => Err(ApiError::bad(format!(
            "Invalid value for field 'resource.{name}': the field cannot be changed."
        ))),
        None => Ok(()),
    }
}

pub(crate) fn set_labels(request: &Request, tx: &mut Transaction) -> Result<Answer, ApiError> {
    let (key, object) = changeable(request, tx)?;
    if request.body.get("labelFingerprint").and_then(Value::as_str)
        != object.text("labelFingerprint")
    {
        return Err(ApiError::condition_not_met(
            "Labels fingerprint either invalid or resource labels have changed",
        ));
    }
    let mut body = object.body.clone();
    match request.body.get("labels") {
        Some(Value::Object(labels)) if !labels.is_empty() => {
            check_labels(labels)?;
            body.insert("labels".into(), labels.clone().into());
        }
        _ => {
            body.remove("labels");
        }
    }
    body.insert("labelFingerprint".into(), tx.fingerprint().into());
    Ok(Answer::Json(change(
        request,
        tx,
        &key,
        object,
        body,
        "setLabels",
    )))
}
