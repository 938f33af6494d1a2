//! The cloud itself: takes requests, changes the world, remembers.
//!
//! One lock around one world. A request is answered in four steps: what the scenario does to it;
//! route, parameters and body checked; its handler run over the world as it is; its changes written
//! to the journal and then made. Waiting (latencies, delays, `wait`) happens outside the lock, in the
//! server.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use formwork_discovery::{FieldKind, Location};
use formwork_environment::{Clock, Randomness};
use percent_encoding::percent_decode_str;
use serde::Serialize;
use serde_json::{Value, json};

use crate::catalogue::Catalogue;
use crate::checking::{self, Body};
use crate::dispatch;
use crate::error::ApiError;
use crate::faults::{self, Seen, Verdict};
use crate::journal::{Directory, OpenError, Record};
use crate::request::{Answer, Request};
use crate::request_log::{LogLine, without_credentials, without_sent};
use crate::routing::{Lost, Routed, Routes};
use crate::scenario::{Cut, Scenario};
use crate::store::{Change, Store};
use crate::time::{Millis, millis, zulu};
use crate::transaction::Transaction;

/// A request as it came.
#[derive(Debug)]
pub(crate) struct Incoming {
    pub(crate) http: String,
    /// Encoded, without the query.
    pub(crate) path: String,
    pub(crate) query: String,
    pub(crate) host: Option<String>,
    pub(crate) content_type: String,
    pub(crate) content_range: Option<String>,
    pub(crate) no_308: bool,
    pub(crate) upload_type: Option<String>,
    pub(crate) body: Vec<u8>,
}

/// A request that was let in: its number, its route, and what the scenario has in store for it.
#[derive(Debug)]
pub(crate) struct Admitted {
    line: LogLine,
    routed: Result<Routed, Lost>,
    verdict: Verdict,
}

impl Admitted {
    pub(crate) fn delay_ms(&self) -> u64 {
        self.verdict.delay_ms
    }
}

/// How long a body may be to be searched for what a refusal quotes, in bytes.
const LOOKED_AT: usize = 64 << 10;

/// What comes of a request.
#[derive(Debug)]
pub(crate) struct Outcome {
    line: LogLine,
    pub(crate) result: Result<Answer, (ApiError, &'static str)>,
    pub(crate) cut: bool,
}

/// One object, as `mock list` shows it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Listed {
    /// `compute`
    pub service: String,
    /// `compute.networks`
    pub collection: String,
    /// The self link, or what names it where there is none.
    #[serde(rename = "selfLink")]
    pub self_link: String,
    /// Made by the scenario.
    pub seeded: bool,
    /// Made by the server along with another object, whose link this is (a boot disk, a route).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub owner: Option<String>,
    /// As the API shows it.
    pub object: Value,
}

struct World {
    id: String,
    store: Store,
    /// The time of the last change: time never runs backwards in a world.
    last: Millis,
    /// The counter behind ids.
    next: u64,
    /// The number of the last request.
    seq: u64,
    log: Vec<LogLine>,
    directory: Option<Directory>,
    fault_counts: Vec<u64>,
}

/// See the module's header.
pub(crate) struct Cloud {
    world: Mutex<World>,
    routes: Routes,
    catalogue: Catalogue,
    scenario: Scenario,
    clock: Arc<dyn Clock>,
    randomness: Arc<dyn Randomness>,
}

impl Cloud {
    pub(crate) fn open(
        directory: Option<&std::path::Path>,
        scenario: Scenario,
        clock: Arc<dyn Clock>,
        randomness: Arc<dyn Randomness>,
    ) -> Result<Self, OpenError> {
        let mut world = World {
            id: String::new(),
            store: Store::default(),
            last: 0,
            next: 0,
            seq: 0,
            log: Vec::new(),
            directory: None,
            fault_counts: vec![0; scenario.faults.len()],
        };
        let mut known = None;
        if let Some(path) = directory {
            let opened = Directory::open(path)?;
            world.directory = Some(opened.directory);
            world.replay(opened.records, opened.log);
            known = opened.world;
        }
        let catalogue = Catalogue::new(&scenario);
        let cloud = Self {
            world: Mutex::new(world),
            routes: Routes::new(),
            catalogue,
            scenario,
            clock,
            randomness,
        };
        match known {
            Some(id) => {
                let mut world = cloud.lock();
                let World {
                    directory,
                    store,
                    last,
                    next,
                    ..
                } = &mut *world;
                if let Some(directory) = directory {
                    directory
                        .compact(&id, store, *last, *next)
                        .map_err(|error| OpenError::Io("journal.jsonl".into(), error))?;
                }
                world.id = id;
            }
            None => {
                cloud.reset()?;
            }
        }
        Ok(cloud)
    }

    fn lock(&self) -> MutexGuard<'_, World> {
        self.world.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The scenario's first project: the one that is meant where nobody names one.
    pub(crate) fn project(&self) -> Option<String> {
        self.scenario.projects.first().map(|p| p.id.clone())
    }

    /// The world's id.
    pub(crate) fn id(&self) -> String {
        self.lock().id.clone()
    }

    /// Empties the world, gives it a new id and makes the scenario's first objects. Answers the id.
    pub(crate) fn reset(&self) -> Result<String, OpenError> {
        let mut bytes = [0u8; 16];
        self.randomness.fill(&mut bytes);
        let id: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        let mut world = self.lock();
        world.id = id.clone();
        world.store = Store::default();
        (world.next, world.seq) = (0, 0);
        world.log.clear();
        world.fault_counts.fill(0);
        if let Some(directory) = &mut world.directory {
            directory
                .begin(&id)
                .map_err(|error| OpenError::Io("journal.jsonl".into(), error))?;
        }
        crate::seed::sow(self, &mut world_access(&mut world, self)).map_err(OpenError::Scenario)?;
        Ok(id)
    }

    /// Lets a request in.
    pub(crate) fn admit(&self, incoming: &Incoming) -> Admitted {
        let routed = self
            .routes
            .find(&incoming.http, &incoming.path, incoming.host.as_deref());
        let mut world = self.lock();
        world.seq += 1;
        let query = without_credentials(&incoming.query);
        let line = LogLine {
            seq: world.seq,
            time: zulu(millis(self.clock.now())),
            method: incoming.http.clone(),
            path: if query.is_empty() {
                incoming.path.clone()
            } else {
                format!("{}?{query}", incoming.path)
            },
            id: routed.as_ref().ok().map(|routed| routed.method.id.clone()),
            status: None,
            committed: false,
            target: None,
            refusal: None,
        };
        let mut verdict = Verdict::default();
        if let (Ok(routed), false) = (&routed, self.scenario.faults.is_empty()) {
            let body: Option<Value> = serde_json::from_slice(&incoming.body).ok();
            let name = body
                .as_ref()
                .and_then(|body| body.get("name"))
                .and_then(Value::as_str);
            // content comes with its name in the query
            let uploaded = routed.upload.and_then(|_| {
                let name = incoming
                    .query
                    .split('&')
                    .find_map(|p| p.strip_prefix("name="))?;
                let name = name.replace('+', " ");
                Some(percent_decode_str(&name).decode_utf8_lossy().into_owned())
            });
            let seen = Seen {
                method: &routed.method.id,
                mutating: incoming.http != "GET" && routed.method.verb() != "wait",
                path: &routed.resource,
                name: uploaded.as_deref().or(name),
            };
            verdict = faults::judge(
                &self.scenario.faults,
                &mut world.fault_counts,
                &seen,
                (self.scenario.seed, line.seq),
            );
        }
        Admitted {
            line,
            routed,
            verdict,
        }
    }

    /// Plays a request. What it changes is durable when this returns.
    pub(crate) fn execute(&self, admitted: Admitted, incoming: Incoming) -> Outcome {
        let Admitted {
            mut line,
            routed,
            verdict,
        } = admitted;
        if verdict.cut == Some(Cut::BeforeCommit) {
            return Outcome {
                line,
                result: Ok(Answer::Empty),
                cut: true,
            };
        }
        let service = routed
            .as_ref()
            .map_or("", |routed| routed.document.service.as_str());
        // only what is refused is looked at, and large bodies are content, which no refusal quotes
        let sent = incoming.body.get(..).filter(|body| body.len() <= LOOKED_AT);
        let sent = sent.map(<[u8]>::to_vec).unwrap_or_default();
        let mut world = self.lock();
        let result = match verdict.refusal {
            Some(refusal) => Err(refusal),
            None => self.play(
                &mut world,
                routed,
                incoming,
                verdict.operation_error,
                &mut line,
            ),
        };
        if let Err(error) = &result {
            let message = without_sent(&error.message, &sent);
            line.refusal = Some(format!("{}: {message}", error.reason));
        }
        Outcome {
            line,
            result: result.map_err(|error| (error, service)),
            cut: verdict.cut == Some(Cut::AfterCommit),
        }
    }

    fn play(
        &self,
        world: &mut World,
        routed: Result<Routed, Lost>,
        incoming: Incoming,
        fail: Option<crate::operations::OperationError>,
        line: &mut LogLine,
    ) -> Result<Answer, ApiError> {
        let routed = routed.map_err(|lost| match lost {
            Lost::Unknown => ApiError::new(
                404,
                "notFound",
                "NOT_FOUND",
                format!("The path {} leads to no method that this mock knows.", incoming.path),
            ),
            Lost::Ambiguous(services) => ApiError::new(
                404,
                "notFound",
                "NOT_FOUND",
                format!(
                    "The path {} belongs to several services ({}). Put the service's name in front of it.",
                    incoming.path,
                    services.join(", ")
                ),
            ),
        })?;
        let request = self.read(routed, incoming)?;
        line.target = Some(request.key());
        let mut access = world_access(world, self);
        access.run(&request, fail, Some(line))
    }

    /// Checks parameters and body.
    fn read(&self, routed: Routed, incoming: Incoming) -> Result<Request, ApiError> {
        let Routed {
            document,
            method,
            variables,
            resource,
            upload,
            content,
        } = routed;
        let mut query = Vec::new();
        for pair in incoming.query.split('&').filter(|pair| !pair.is_empty()) {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            let decode = |text: &str| {
                percent_decode_str(&text.replace('+', " "))
                    .decode_utf8_lossy()
                    .into_owned()
            };
            query.push((decode(name), decode(value)));
        }
        for (name, value) in &query {
            let parameter = method
                .parameters
                .iter()
                .filter(|parameter| parameter.location == Location::Query)
                .chain(&document.parameters)
                .find(|parameter| parameter.name == *name);
            let Some(parameter) = parameter else {
                // `$alt` and upload's own are the transport's; the last was recorded on lists whose
                // documents do not know it
                if name.starts_with('$')
                    || matches!(
                        name.as_str(),
                        "uploadType" | "upload_id" | "name" | "returnPartialSuccess"
                    )
                {
                    continue;
                }
                return Err(ApiError::bad(format!(
                    "Invalid JSON payload received. Unknown name \"{name}\": Cannot bind query parameter."
                )));
            };
            let fits = match parameter.kind {
                FieldKind::Integer => value.parse::<i64>().is_ok(),
                // Python's clients write True
                FieldKind::Boolean => matches!(value.to_lowercase().as_str(), "true" | "false"),
                _ => parameter.enum_values.is_empty() || parameter.enum_values.contains(value),
            };
            if !fits {
                return Err(ApiError::invalid(name, value, "It is of the wrong type."));
            }
        }
        // Google's clients send what they were not told as nothing
        query.retain(|(_, value)| !value.is_empty());
        if content {
            query.retain(|(name, _)| name != "alt");
            query.push(("alt".to_owned(), "media".to_owned()));
        }
        for parameter in &method.parameters {
            if parameter.location == Location::Query
                && parameter.required
                && !query.iter().any(|(name, _)| *name == parameter.name)
            {
                return Err(ApiError::required(&parameter.name));
            }
        }
        let body = match &method.request {
            Some(schema) if upload.is_none() => {
                let value: Value = if incoming.body.iter().all(u8::is_ascii_whitespace) {
                    json!({})
                } else {
                    serde_json::from_slice(&incoming.body).map_err(|error| {
                        ApiError::new(
                            400,
                            "parseError",
                            "INVALID_ARGUMENT",
                            format!(
                                "Invalid JSON payload received. Parse error at line {}.",
                                error.line()
                            ),
                        )
                    })?
                };
                checking::check(document, schema, &method.id, &value)?
            }
            _ => Body::new(),
        };
        let mut path = resource;
        let mut variables = variables;
        let mut project = None;
        if let Some(rest) = path.strip_prefix("projects/") {
            let given = rest.split('/').next().unwrap_or_default().to_owned();
            if let Some(known) = self.scenario.project(&given) {
                path = path.replacen(&given, &known.id, 1);
                for (_, value) in &mut variables {
                    if *value == given {
                        value.clone_from(&known.id);
                    }
                }
                project = Some(known.id.clone());
            } else if !(document.service == "storage"
                || given == "-"
                || (method.collection() == "compute.images"
                    && self.catalogue.is_image_project(&given)))
            {
                return Err(if document.service == "compute" {
                    ApiError::not_found(&format!("projects/{given}"))
                } else {
                    ApiError::forbidden(format!(
                        "The caller may not use the project '{given}', or it does not exist."
                    ))
                });
            }
        }
        Ok(Request {
            document,
            method,
            variables,
            path,
            query,
            body,
            project,
            upload,
            address: format!(
                "http://{}{}?{}",
                incoming.host.unwrap_or_default(),
                incoming.path,
                incoming.query
            ),
            content: incoming.body,
            content_type: incoming.content_type,
            content_range: incoming.content_range,
            no_308: incoming.no_308,
            upload_type: incoming.upload_type,
        })
    }

    /// An operation as it stands, and how long until it ends; `None` if there is none of that key.
    pub(crate) fn look(&self, key: &str) -> Option<(Value, Option<u64>)> {
        let mut world = self.lock();
        let now = millis(self.clock.now()).max(world.last);
        world.store.advance(now);
        let operation = world.store.operation(key)?;
        let left = (!operation.done).then(|| operation.end.saturating_sub(now));
        Some((operation.show(now), left))
    }

    /// How long `wait` is to wait for this request at most.
    pub(crate) fn patience(&self, seq: u64) -> u64 {
        let operations = &self.scenario.operations;
        if crate::chance::happens(!self.scenario.seed, seq, operations.wait_early) {
            0
        } else {
            operations.wait_ms
        }
    }

    /// Writes a request's line to the log.
    pub(crate) fn record(&self, mut line: LogLine, status: Option<u16>) {
        line.status = status;
        let mut world = self.lock();
        if let Some(directory) = &mut world.directory {
            // the log is for people; a full disk shows itself in the journal
            let _ = directory.log(&line);
        }
        world.log.push(line);
    }

    /// Every object, in order of key.
    pub(crate) fn list(&self) -> Vec<Listed> {
        let mut world = self.lock();
        let now = millis(self.clock.now()).max(world.last);
        world.store.advance(now);
        world
            .store
            .all()
            // what has come of a content in parts is no object yet
            .filter(|(_, object)| object.collection != "storage.uploads")
            .map(|(key, object)| {
                let service = key.split('/').next().unwrap_or_default();
                Listed {
                    service: service.to_owned(),
                    collection: object.collection.clone(),
                    self_link: object
                        .text("selfLink")
                        .or_else(|| object.text("name").filter(|name| name.contains('/')))
                        .map_or_else(|| crate::transaction::path(key).to_owned(), str::to_owned),
                    seeded: object.hidden.contains_key("seeded"),
                    owner: object.hidden_text("owner").map(str::to_owned),
                    object: Value::Object(dispatch::shown(&world.store, key, object)),
                }
            })
            .collect()
    }

    /// The log, oldest first.
    pub(crate) fn log(&self) -> Vec<LogLine> {
        let mut log = self.lock().log.clone();
        log.sort_by_key(|line| line.seq);
        log
    }

    pub(crate) fn announce(&self, address: std::net::SocketAddr, pid: u32) -> std::io::Result<()> {
        let world = self.lock();
        match &world.directory {
            Some(directory) => directory.announce(&crate::journal::Serving {
                address: address.to_string(),
                pid,
                world: world.id.clone(),
            }),
            None => Ok(()),
        }
    }

    pub(crate) fn withdraw(&self) {
        if let Some(directory) = &self.lock().directory {
            directory.withdraw();
        }
    }
}

impl Outcome {
    pub(crate) fn seq(&self) -> u64 {
        self.line.seq
    }

    pub(crate) fn into_line(self) -> LogLine {
        self.line
    }
}

fn world_access<'a>(world: &'a mut World, cloud: &'a Cloud) -> Access<'a> {
    Access { world, cloud }
}

/// The world under its lock.
pub(crate) struct Access<'a> {
    world: &'a mut World,
    cloud: &'a Cloud,
}

impl Access<'_> {
    /// Runs a request's handler and makes its changes.
    pub(crate) fn run(
        &mut self,
        request: &Request,
        fail: Option<crate::operations::OperationError>,
        line: Option<&mut LogLine>,
    ) -> Result<Answer, ApiError> {
        let now = millis(self.cloud.clock.now()).max(self.world.last);
        self.world.last = now;
        self.world.store.advance(now);
        let mut transaction = Transaction::new(
            &self.world.store,
            &self.cloud.catalogue,
            &self.cloud.scenario,
            now,
            self.world.next,
        );
        transaction.fail = fail;
        let answer = dispatch::handle(request, &mut transaction)?;
        let Transaction {
            changes,
            next,
            target,
            ..
        } = transaction;
        let mut copy = None;
        if let Some(line) = line {
            if target.is_some() {
                line.target = target;
            }
            line.committed = !changes.is_empty();
            copy = Some(line.clone());
        }
        self.commit(changes, next, copy)?;
        Ok(answer)
    }

    /// Runs a request's handler and answers its changes, not yet made, and the counter after it.
    pub(crate) fn try_run(&mut self, request: &Request) -> Result<(Vec<Change>, u64), ApiError> {
        let now = self.now();
        let mut transaction = Transaction::new(
            &self.world.store,
            &self.cloud.catalogue,
            &self.cloud.scenario,
            now,
            self.world.next,
        );
        dispatch::handle(request, &mut transaction)?;
        Ok((transaction.changes, transaction.next))
    }

    /// Makes changes durable and then true.
    pub(crate) fn commit(
        &mut self,
        changes: Vec<Change>,
        next: u64,
        line: Option<LogLine>,
    ) -> Result<(), ApiError> {
        if changes.is_empty() {
            return Ok(());
        }
        let at = self.world.last;
        let record = Record {
            at,
            next,
            changes,
            line,
            sown: false,
        };
        if let Some(directory) = &mut self.world.directory
            && let Err(error) = directory.append(&record)
        {
            return Err(ApiError::new(
                500,
                "internalError",
                "INTERNAL",
                format!("The mock cloud cannot write its journal: {error}."),
            ));
        }
        self.world.next = next;
        for change in record.changes {
            self.world.store.apply(change);
        }
        self.world.store.advance(at);
        Ok(())
    }

    /// Notes that the world's first objects are all made.
    pub(crate) fn sown(&mut self) -> std::io::Result<()> {
        let record = Record {
            at: self.world.last,
            next: self.world.next,
            changes: Vec::new(),
            line: None,
            sown: true,
        };
        match &mut self.world.directory {
            Some(directory) => directory.append(&record),
            None => Ok(()),
        }
    }

    pub(crate) fn now(&mut self) -> Millis {
        let now = millis(self.cloud.clock.now()).max(self.world.last);
        self.world.last = now;
        now
    }

    pub(crate) fn next(&self) -> u64 {
        self.world.next
    }
}

impl Cloud {
    pub(crate) fn scenario(&self) -> &Scenario {
        &self.scenario
    }

    /// A request of the scenario's own, by method id.
    pub(crate) fn own_request(
        &self,
        method: &str,
        parameters: &std::collections::BTreeMap<String, String>,
        body: &Value,
    ) -> Result<Request, String> {
        let method = formwork_discovery::method("v1", method)
            .ok_or_else(|| format!("{method} is no method of a v1 document"))?;
        let service = method.id.split('.').next().unwrap_or_default();
        let document = formwork_discovery::document(service, "v1")
            .ok_or_else(|| format!("{service} is no service"))?;
        let mut path = format!("/{service}/{}{}", document.service_path, method.flat_path);
        let mut query = Vec::new();
        for (name, value) in parameters {
            let hole = format!("{{{name}}}");
            if path.contains(&hole) {
                path = path.replace(&hole, value);
            } else {
                query.push(format!("{name}={value}"));
            }
        }
        let routed = self
            .routes
            .find(method.http.as_str(), &path, None)
            .map_err(|_| format!("{}: {path} leads nowhere", method.id))?;
        let incoming = Incoming {
            http: method.http.as_str().to_owned(),
            path,
            query: query.join("&"),
            host: None,
            content_type: "application/json".to_owned(),
            content_range: None,
            no_308: false,
            upload_type: None,
            body: body.to_string().into_bytes(),
        };
        self.read(routed, incoming)
            .map_err(|error| format!("{}: {}", method.id, error.message))
    }
}

impl World {
    fn replay(&mut self, records: Vec<Record>, log: Vec<LogLine>) {
        let mut logged: BTreeSet<u64> = log.iter().map(|line| line.seq).collect();
        self.seq = logged.last().copied().unwrap_or_default();
        self.log = log;
        for record in records {
            self.store.advance(record.at);
            self.last = record.at;
            self.next = record.next;
            for change in record.changes {
                self.store.apply(change);
            }
            self.store.advance(record.at);
            // a request that changed the world and died before its line was written
            if let Some(line) = record.line
                && logged.insert(line.seq)
            {
                self.seq = self.seq.max(line.seq);
                if let Some(directory) = &mut self.directory {
                    let _ = directory.log(&line);
                }
                self.log.push(line);
            }
        }
    }
}
