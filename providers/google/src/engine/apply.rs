//! Making, changing and removing objects.

use formwork_google_client::{Body, ErrorKind, OperationKind, Request};
use formwork_google_schema::{Act, MethodMapping, Node, Resource, Setter, UpdateStyle};
use formwork_provider::{Bytes, OperationLog, Reported};
use formwork_values::{Kind, Value};
use serde_json::{Map, Value as Json};

use crate::cloud::verb;
use crate::draft::text;
use crate::engine::Subject;
use crate::engine::carries::contradiction;
use crate::engine::exchange::{Change, Outcome, is_busy};
use crate::failure::Failure;
use crate::hooks::hooks;
use crate::json::{self, put};

/// What an act left behind: the object (null when there is none) and what went wrong.
pub(crate) struct Left {
    /// Means nothing when the outcome is not known.
    pub(crate) object: Value,
    /// Something was sent, and nobody knows what became of it.
    pub(crate) unknown: bool,
    pub(crate) reported: Vec<Reported>,
}

impl<'a> Subject<'a> {
    /// The API's form of the planned object.
    pub(crate) async fn body(
        &self,
        act: Act,
        prior: Option<&Value>,
    ) -> Result<Map<String, Json>, Failure> {
        let mut body = Map::new();
        json::expand(
            &self.resource.fields,
            self.object,
            &self.located(),
            &mut body,
        );
        self.labels_into(&mut body);
        hooks(&self.resource.name)
            .encode(self, act, prior, &mut body)
            .await?;
        Ok(body)
    }

    /// All labels, not only the configured ones, are sent.
    fn labels_into(&self, body: &mut Map<String, Json>) {
        let (Some(node), Some(all)) = (
            self.resource.field("labels"),
            self.object.attribute("effective_labels"),
        ) else {
            return;
        };
        let Some(path) = &node.path else { return };
        match json::expand_value(node, all, &self.located()) {
            Some(json) if all.as_map().is_some_and(|m| !m.is_empty()) => put(body, path, json),
            _ => {}
        }
    }

    fn null(&self) -> Value {
        Value::null(self.resource.schema.ty())
    }

    async fn guard(&self) -> Option<tokio::sync::OwnedMutexGuard<()>> {
        let key = self.resource.mutex.as_deref()?;
        let key = self.located().plain(key)?;
        Some(self.cloud.lock(&key).await)
    }

    /// Makes the planned object (`self.object`).
    pub(crate) async fn create(&self, log: &dyn OperationLog) -> Left {
        // A name that only apply makes is part of the object before anything is sent.
        if let Some(completed) = hooks(&self.resource.name).complete(self) {
            return self.with(&completed).create_completed(log).await;
        }
        self.create_completed(log).await
    }

    async fn create_completed(&self, log: &dyn OperationLog) -> Left {
        let failure = match self.try_create(log).await {
            Ok(object) => {
                return Left {
                    object,
                    unknown: false,
                    reported: Vec::new(),
                };
            }
            Err(failure) => failure,
        };
        let mut left = Left {
            object: self.null(),
            unknown: failure.is_lost(),
            reported: vec![failure.report("Creating", &self.title())],
        };
        // An operation that ended badly may have left something; what was refused at once did not.
        let ended = matches!(&failure, Failure::Google(e) if e.request.is_empty());
        if ended && failure.kind() != Some(ErrorKind::AlreadyExists) {
            match self.read().await {
                Ok(Some(json)) if self.is_ours(&json) => {
                    left.object = self.state(json, self.object)
                }
                Ok(_) => {}
                Err(e) => {
                    left.unknown = true;
                    left.reported
                        .push(Failure::from(e).report("Looking for", &self.title()));
                }
            }
        }
        left
    }

    fn is_ours(&self, json: &Json) -> bool {
        let mut sent = Map::new();
        json::expand(
            &self.resource.fields,
            self.object,
            &self.located(),
            &mut sent,
        );
        let against = hooks(&self.resource.name).compared(json);
        contradiction(against, &Json::Object(sent)).is_none()
    }

    async fn try_create(&self, log: &dyn OperationLog) -> Result<Value, Failure> {
        let hooks = hooks(&self.resource.name);
        let _guard = self.guard().await;
        if let Some(made) = hooks.create(self, log).await {
            let json = made?;
            return Ok(self.state(json, self.object));
        }
        let body = self.body(Act::Create, None).await?;
        let change = self.creation(body)?;
        let outcome = self.cloud.change(&change, log).await?;
        self.cloud_settles(&outcome).await;
        let json = match self.read().await.map_err(Failure::Lost)? {
            Some(json) => json,
            None => match outcome {
                Outcome::Found(object) | Outcome::Answered(object)
                    if self.resource.methods.read.is_none() =>
                {
                    object
                }
                _ => {
                    return Err(Failure::Refused(
                        "Object vanished",
                        format!(
                            "{} was created and cannot be found afterwards. Somebody may have deleted it meanwhile.",
                            self.title()
                        ),
                        "",
                    ));
                }
            },
        };
        let state = self.state(json, self.object);
        let made = self.with(&state);
        if hooks.created(&made, log).await? {
            let json = made.read().await?.unwrap_or(Json::Null);
            return Ok(made.state(json, self.object));
        }
        Ok(state)
    }

    /// Waits until an object that was found while it is being made is ready.
    async fn cloud_settles(&self, outcome: &Outcome) {
        let Outcome::Found(_) = outcome else { return };
        let begun = tokio::time::Instant::now();
        while let Ok(Some(json)) = self.read().await {
            if !is_busy(&json) || begun.elapsed() > self.limit(Act::Create) {
                return;
            }
            tokio::time::sleep(std::time::Duration::from_millis(500).max(begun.elapsed() / 10))
                .await;
        }
    }

    /// The request that makes the planned object.
    pub(crate) fn creation(&self, body: Map<String, Json>) -> Result<Change, Failure> {
        let mapping = self
            .resource
            .methods
            .create
            .as_ref()
            .ok_or_else(|| self.no_method("created"))?;
        let located = self.located();
        let path = located.url(&mapping.url).ok_or_else(|| self.no_address())?;
        let mut request = self
            .cloud
            .request(verb(mapping), &self.resource.service, path);
        for (name, template) in &mapping.query {
            if let Some(value) = located.plain(template) {
                request.query.push((name.to_string(), value));
            }
        }
        request.body = Body::Json(Json::Object(body));
        hooks(&self.resource.name).creation(self, &mut request);
        Ok(Change::new(
            Act::Create,
            request,
            mapping,
            self.key(),
            self.limit(Act::Create),
        ))
    }

    pub(crate) fn no_method(&self, what: &str) -> Failure {
        Failure::Refused(
            "Unsupported by the provider",
            format!(
                "Objects of type {} cannot be {what} by this provider yet.",
                self.resource.name
            ),
            "",
        )
    }

    pub(crate) fn no_address(&self) -> Failure {
        Failure::Refused(
            "Address not known",
            format!(
                "The address of {} is not known, because a part of \"{}\" is missing.",
                self.title(),
                self.resource.id
            ),
            "",
        )
    }

    /// Changes the object from `prior` to `self.object`.
    pub(crate) async fn update(&self, prior: &Value, log: &dyn OperationLog) -> Left {
        let changed = self.try_update(prior, log).await;
        let mut left = Left {
            object: prior.clone(),
            unknown: false,
            reported: Vec::new(),
        };
        if let Err(failure) = &changed {
            left.unknown = failure.is_lost();
            left.reported
                .push(failure.report("Changing", &self.title()));
        }
        // Whatever was reached is read back: after a failure halfway the state must say what is.
        match self.read().await {
            Ok(Some(json)) => {
                let known = if changed.is_ok() { self.object } else { prior };
                left.object = self.state(json, known);
            }
            Ok(None) => {
                left.object = self.null();
                if changed.is_ok() {
                    let vanished = Failure::Refused(
                        "Object vanished",
                        format!(
                            "{} was changed and cannot be found afterwards.",
                            self.title()
                        ),
                        "",
                    );
                    left.reported
                        .push(vanished.report("Changing", &self.title()));
                }
            }
            Err(e) => {
                left.unknown = true;
                left.reported
                    .push(Failure::from(e).report("Reading", &self.title()));
            }
        }
        left
    }

    async fn try_update(&self, prior: &Value, log: &dyn OperationLog) -> Result<(), Failure> {
        let hooks = hooks(&self.resource.name);
        let _guard = self.guard().await;
        if let Some(done) = hooks.update(self, prior, log).await {
            return done;
        }
        let changed = self.changed(prior);
        if changed.is_empty() {
            return Ok(());
        }
        let body = self.body(Act::Update, Some(prior)).await?;
        let mut left: Vec<&Node> = changed;
        for setter in &self.resource.update.setters {
            let (mine, rest): (Vec<&Node>, Vec<&Node>) = left.into_iter().partition(|node| {
                setter.fields.contains(&node.name) && hooks.setter_fits(self, setter, prior)
            });
            left = rest;
            if !mine.is_empty() {
                self.set(setter, &mine, &body, prior, log).await?;
            }
        }
        if left.is_empty() {
            return Ok(());
        }
        match self.resource.update.style {
            UpdateStyle::Patch => self.patch(&left, body, prior, log).await,
            UpdateStyle::Put | UpdateStyle::Post => self.put(body, log).await,
            _ => Err(Failure::Refused(
                "Unsupported by the provider",
                format!(
                    "{} cannot be changed in {} by this provider.",
                    self.title(),
                    left.iter().map(|n| &*n.name).collect::<Vec<_>>().join(", ")
                ),
                "",
            )),
        }
    }

    /// The top-level fields whose change must be sent.
    pub(crate) fn changed(&self, prior: &Value) -> Vec<&'a Node> {
        let (Kind::Object(_, new), Kind::Object(_, old)) = (self.object.kind(), prior.kind())
        else {
            return Vec::new();
        };
        let labels_differ =
            self.object.attribute("effective_labels") != prior.attribute("effective_labels");
        let three = self.resource.field("effective_labels").is_some();
        self.resource
            .fields
            .iter()
            .zip(new.iter().zip(old))
            .filter(|(node, (new, old))| match &*node.name {
                "labels" if three => labels_differ,
                _ => {
                    new != old
                        && node.configurable()
                        && !node.in_url
                        && !node.read_only
                        && (node.path.is_some() || hooks(&self.resource.name).sends(&node.name))
                }
            })
            .map(|(node, _)| node)
            .collect()
    }

    /// The parts of a body that hold the given fields; what became absent is null, which clears it.
    pub(crate) fn part_of(&self, fields: &[&Node], body: &Map<String, Json>) -> Map<String, Json> {
        let mut part = Map::new();
        for node in fields {
            let Some([first, rest @ ..]) = node.path.as_deref() else {
                continue;
            };
            match body.get(&**first) {
                Some(json) => {
                    part.insert(first.to_string(), json.clone());
                    if !rest.is_empty() && json::at(json, rest).is_none() {
                        put(
                            &mut part,
                            node.path.as_deref().unwrap_or_default(),
                            Json::Null,
                        );
                    }
                }
                None if rest.is_empty() => {
                    part.insert(first.to_string(), Json::Null);
                }
                None => put(
                    &mut part,
                    node.path.as_deref().unwrap_or_default(),
                    Json::Null,
                ),
            }
        }
        part
    }

    async fn set(
        &self,
        setter: &Setter,
        fields: &[&Node],
        body: &Map<String, Json>,
        _prior: &Value,
        log: &dyn OperationLog,
    ) -> Result<(), Failure> {
        let located = self.located();
        let (url, query) = setter.url.split_once('?').unwrap_or((&setter.url, ""));
        let path = located.url(url).ok_or_else(|| self.no_address())?;
        let method = formwork_google_client::Method::parse(&setter.http)
            .unwrap_or(formwork_google_client::Method::Patch);
        let mut request = self.cloud.request(method, &self.resource.service, path);
        for pair in query.split('&').filter(|p| !p.is_empty()) {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            request.query.push((name.to_owned(), value.to_owned()));
        }
        let mut part = self.part_of(fields, body);
        let labels = fields.iter().any(|n| &*n.name == "labels");
        if labels || setter.fingerprint.is_some() {
            // The freshest token there is: another setter may just have moved it.
            let current = self.read().await?.unwrap_or(Json::Null);
            if labels {
                if part.get("labels").is_none_or(Json::is_null) {
                    part.insert("labels".into(), Json::Object(Map::new()));
                }
                if let Some(token) = current.get("labelFingerprint") {
                    part.insert("labelFingerprint".into(), token.clone());
                }
            }
            if let Some(name) = &setter.fingerprint
                && let Some(token) = current.get(&**name)
            {
                part.insert(name.to_string(), token.clone());
            }
        }
        match setter.shape.as_deref() {
            Some("paths") => {
                for node in fields {
                    if let Some(p) = &node.path {
                        request.query.push(("paths".into(), p.join(".")));
                    }
                }
            }
            Some("sku_count") => {
                let count = body
                    .get("specificReservation")
                    .and_then(|r| r.get("count"))
                    .cloned()
                    .unwrap_or(Json::Null);
                part = Map::from_iter([("specificSkuCount".to_owned(), count)]);
            }
            _ => {}
        }
        request.body = Body::Json(Json::Object(part));
        self.send_update(request, log).await
    }

    /// Sends one changing request of an update and follows it.
    pub(crate) async fn send_update(
        &self,
        request: Request,
        log: &dyn OperationLog,
    ) -> Result<(), Failure> {
        let create = self.resource.methods.create.as_ref();
        let mapping = self
            .resource
            .methods
            .update
            .as_ref()
            .or(create)
            .ok_or_else(|| self.no_method("changed"))?;
        let mut change = Change::new(
            Act::Update,
            request,
            mapping,
            self.key(),
            self.limit(Act::Update),
        );
        if self.resource.service.as_ref() == "compute" {
            change.operation = Some(OperationKind::Compute);
            change.request_id = true;
        }
        self.cloud.change(&change, log).await.map(drop)
    }

    /// A request of one of the resource's methods, addressed to this object; nothing in it yet.
    fn request_of(&self, mapping: &MethodMapping) -> Result<Request, Failure> {
        let path = self
            .located()
            .url(&mapping.url)
            .ok_or_else(|| self.no_address())?;
        let service = &self.resource.service;
        Ok(self.cloud.request(verb(mapping), service, path))
    }

    /// The method that changes the object.
    fn update_method(&self) -> Result<&MethodMapping, Failure> {
        let update = self.resource.methods.update.as_ref();
        update.ok_or_else(|| self.no_method("changed"))
    }

    async fn patch(
        &self,
        fields: &[&Node],
        body: Map<String, Json>,
        prior: &Value,
        log: &dyn OperationLog,
    ) -> Result<(), Failure> {
        let mapping = self.update_method()?;
        let mut request = self.request_of(mapping)?;
        let mut part = self.part_of(fields, &body);
        let three = self.resource.field("effective_labels").is_some();
        if three && fields.iter().any(|n| &*n.name == "labels") && !self.resource.update.mask {
            clear_labels(&mut part, prior);
        }
        if self.resource.update.mask {
            let mask: Vec<String> = fields
                .iter()
                .filter_map(|n| n.path.as_ref().map(|p| p.join(".")))
                .collect();
            request.query.push(("updateMask".into(), mask.join(",")));
        }
        hooks(&self.resource.name).patch(self, &mut part);
        request.body = Body::Json(Json::Object(part));
        self.send_update(request, log).await
    }

    async fn put(&self, body: Map<String, Json>, log: &dyn OperationLog) -> Result<(), Failure> {
        let mapping = self.update_method()?;
        let mut request = self.request_of(mapping)?;
        request.body = Body::Json(Json::Object(body));
        self.send_update(request, log).await
    }

    /// Removes the object (`self.object`).
    pub(crate) async fn delete(&self, log: &dyn OperationLog) -> Left {
        match self.try_delete(log).await {
            Ok(()) => Left {
                object: self.null(),
                unknown: false,
                reported: Vec::new(),
            },
            Err(failure) => Left {
                object: self.object.clone(),
                unknown: failure.is_lost(),
                reported: vec![failure.report("Deleting", &self.title())],
            },
        }
    }

    async fn try_delete(&self, log: &dyn OperationLog) -> Result<(), Failure> {
        match text(self.object, "deletion_policy") {
            Some("PREVENT") => {
                return Err(Failure::Refused(
                    "Deletion prevented",
                    format!(
                        "{} has deletion_policy = \"PREVENT\". Set it to \"DELETE\" and apply before the object is destroyed or replaced.",
                        self.title()
                    ),
                    "deletion_policy",
                ));
            }
            Some("ABANDON") => return Ok(()),
            _ => {}
        }
        let hooks = hooks(&self.resource.name);
        let _guard = self.guard().await;
        if let Some(done) = hooks.delete(self, log).await {
            return done;
        }
        hooks.before_delete(self, log).await?;
        let mapping = self
            .resource
            .methods
            .delete
            .as_ref()
            .ok_or_else(|| self.no_method("deleted"))?;
        let mut request = self.request_of(mapping)?;
        if request.method == formwork_google_client::Method::Post {
            request.body = Body::Json(Json::Object(Map::new()));
        }
        let mut change = Change::new(
            Act::Delete,
            request,
            mapping,
            self.key(),
            self.limit(Act::Delete),
        );
        change.sent = Json::Null;
        self.cloud.change(&change, log).await.map(drop)
    }
}

/// The private bytes that the original keeps with an object of this type: the time limits under the
/// SDK's own key, in nanoseconds, and the schema version if it is not 0; `null` where there is neither.
/// With the same bytes either tool can take over the other's state.
pub(crate) fn private(resource: &Resource, object: &Value) -> Bytes {
    const TIMEOUTS: &str = "e2bfb730-ecaa-11e6-8f88-34363bc7c4c0";
    let mut all = Map::new();
    if !resource.timeouts.is_empty() {
        let said = object.attribute("timeouts");
        let limits = resource.timeouts.iter().map(|(name, default)| {
            let limit = said
                .and_then(|t| t.attribute(name))
                .and_then(Value::as_str)
                .and_then(crate::same::seconds)
                .map_or(*default, std::time::Duration::from_secs_f64);
            let nanoseconds = u64::try_from(limit.as_nanos()).unwrap_or(u64::MAX);
            (name.to_string(), Json::from(nanoseconds))
        });
        all.insert(TIMEOUTS.into(), Json::Object(limits.collect()));
    }
    if resource.schema.version > 0 {
        let version = resource.schema.version.to_string();
        all.insert("schema_version".into(), Json::String(version));
    }
    let json = if all.is_empty() {
        Json::Null
    } else {
        Json::Object(all)
    };
    Bytes::from(json.to_string().into_bytes())
}

/// A merging PATCH takes a label away only when its key is null.
fn clear_labels(part: &mut Map<String, Json>, prior: &Value) {
    let mut labels = match part.remove("labels") {
        Some(Json::Object(map)) => map,
        _ => Map::new(),
    };
    for (key, _) in crate::draft::entries(prior.attribute("effective_labels")) {
        labels.entry(key.to_string()).or_insert(Json::Null);
    }
    part.insert("labels".into(), Json::Object(labels));
}
