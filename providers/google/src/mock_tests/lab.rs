//! A mock cloud, a provider on it, and the acts of a run.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use formwork_environment::{Environment, Fixed};
use formwork_google_schema::Node;
use formwork_mock_google::{Config, Mock, Scenario, Server};
use formwork_provider::{
    ApplyRequest, ApplyResponse, Bytes, ConfigureRequest, NoteError, OperationLog, PlanRequest,
    PlanResponse, Provider, ReadRequest, Reported,
};
use formwork_values::{Kind, Value};
use serde_json::{Value as Json, json};

use crate::json::decode;
use crate::{GoogleProvider, World};

pub(crate) const PROJECT: &str = "formwork-mock";

/// Notes kept in memory.
#[derive(Default)]
pub(crate) struct Notes(pub(crate) Mutex<Vec<Vec<u8>>>);

#[async_trait]
impl OperationLog for Notes {
    async fn note(&self, note: Vec<u8>) -> Result<(), NoteError> {
        self.0.lock().unwrap().push(note);
        Ok(())
    }
}

/// The mock's operations end by the clock, so it has to run.
struct Wall(tokio::time::Instant);

impl formwork_environment::Clock for Wall {
    fn now(&self) -> std::time::SystemTime {
        std::time::SystemTime::UNIX_EPOCH
            + std::time::Duration::from_secs(1_790_000_000)
            + self.0.elapsed()
    }
}

pub(crate) struct Lab {
    pub(crate) provider: GoogleProvider,
    pub(crate) mock: Mock,
    /// Serves as long as it lives.
    _server: Server,
    pub(crate) http: formwork_google_client::Client,
}

pub(crate) fn environment() -> Environment {
    let fixed = Arc::new(Fixed::new(1_790_000_000, 7));
    Environment {
        variables: [].into(),
        home: None,
        working: ".".into(),
        temporary: ".".into(),
        who: "t@t".into(),
        process: 1,
        clock: fixed.clone(),
        randomness: fixed,
    }
}

impl Lab {
    pub(crate) async fn new() -> Self {
        Self::with(Scenario::default_world()).await
    }

    pub(crate) async fn with(scenario: Scenario) -> Self {
        let environment = environment();
        let mock = Mock::open(Config {
            directory: None,
            scenario,
            clock: Arc::new(Wall(tokio::time::Instant::now())),
            randomness: environment.randomness.clone(),
            process: 1,
        })
        .unwrap();
        let server = mock
            .serve(SocketAddr::from((Ipv4Addr::LOCALHOST, 0)))
            .await
            .unwrap();
        let world = World::Mock {
            base: server.url(),
            project: Some(PROJECT.into()),
        };
        let provider = GoogleProvider::new(environment, world, crate::latest_version());
        let config = provider_config(json!({"region": "us-central1", "zone": "us-central1-b"}));
        let reported = provider
            .configure(ConfigureRequest {
                config,
                terraform_version: "1.12.2".into(),
                deferral_allowed: false,
            })
            .await;
        assert!(reported.is_empty(), "{}", told(&reported));
        let http = formwork_google_client::Client::new(formwork_google_client::ClientConfig::mock(
            &server.url(),
        ))
        .unwrap();
        Self {
            provider,
            mock,
            _server: server,
            http,
        }
    }

    pub(crate) async fn plan(
        &self,
        kind: &str,
        config: &Value,
        prior: Option<&Value>,
    ) -> PlanResponse {
        let null = || Value::null(config.type_of());
        self.provider
            .plan_resource_change(PlanRequest {
                kind: kind.into(),
                prior: prior.cloned().unwrap_or_else(null),
                proposed: config.clone(),
                config: config.clone(),
                prior_private: Bytes::from([]),
                identity: None,
            })
            .await
    }

    pub(crate) async fn apply(
        &self,
        kind: &str,
        config: Option<&Value>,
        prior: Option<&Value>,
        planned: Option<&Value>,
        log: &dyn OperationLog,
    ) -> ApplyResponse {
        let null = || {
            let resource = formwork_google_schema::resource(kind).unwrap();
            Value::null(resource.schema.ty())
        };
        self.provider
            .apply_resource_change(
                ApplyRequest {
                    kind: kind.into(),
                    prior: prior.cloned().unwrap_or_else(null),
                    planned: planned.cloned().unwrap_or_else(null),
                    config: config.cloned().unwrap_or_else(null),
                    planned_private: Bytes::from([]),
                    identity: None,
                },
                log,
            )
            .await
    }

    /// Plans and applies; the object as it then is.
    pub(crate) async fn put(&self, kind: &str, config: Json, prior: Option<&Value>) -> Value {
        let config = configured(kind, config);
        let plan = self.plan(kind, &config, prior).await;
        assert!(plan.reported.is_empty(), "{kind}: {}", told(&plan.reported));
        let notes = Notes::default();
        let applied = self
            .apply(kind, Some(&config), prior, Some(&plan.planned), &notes)
            .await;
        assert!(
            applied.reported.is_empty(),
            "{kind}: {}",
            told(&applied.reported)
        );
        assert!(
            applied.new.is_wholly_known() && !applied.new.is_null(),
            "{kind}"
        );
        let mut differs = differences(&plan.planned, &applied.new);
        // Tokens that move with each change are planned as they were, as the original does.
        let moving = [
            "fingerprint:",
            "etag:",
            "updated:",
            "generation:",
            "assured_count:",
        ];
        differs.retain(|d| !moving.iter().any(|token| d.contains(token)));
        assert!(
            differs.is_empty(),
            "{kind}: planned and made differ: {}",
            differs.join("; ")
        );
        applied.new
    }

    pub(crate) async fn read(&self, kind: &str, current: &Value) -> Value {
        let read = self
            .provider
            .read_resource(ReadRequest {
                kind: kind.into(),
                current: current.clone(),
                private: Bytes::from([]),
                identity: None,
            })
            .await;
        assert!(read.reported.is_empty(), "{kind}: {}", told(&read.reported));
        read.new
    }

    /// Reads and plans again: nothing is to be done.
    pub(crate) async fn quiet(&self, kind: &str, config: Json, state: &Value) {
        let read = self.read(kind, state).await;
        let drift = differences(state, &read);
        assert!(drift.is_empty(), "{kind}: drift: {}", drift.join("; "));
        let plan = self
            .plan(kind, &configured(kind, config), Some(&read))
            .await;
        let differs = differences(&read, &plan.planned);
        assert!(
            differs.is_empty(),
            "{kind}: second plan: {}",
            differs.join("; ")
        );
    }

    pub(crate) async fn delete(&self, kind: &str, state: &Value) {
        let applied = self
            .apply(kind, None, Some(state), None, &Notes::default())
            .await;
        assert!(
            applied.reported.is_empty(),
            "{kind}: {}",
            told(&applied.reported)
        );
        assert!(applied.new.is_null());
        assert!(
            self.read(kind, state).await.is_null(),
            "{kind} is still there"
        );
    }

    /// The whole life: created, quiet, changed by `changes` (each quiet afterwards), deleted.
    /// Every change must be in place.
    pub(crate) async fn life(&self, kind: &str, config: Json, changes: &[Json]) -> Value {
        let mut state = self.put(kind, config.clone(), None).await;
        self.quiet(kind, config, &state).await;
        for change in changes {
            let plan = self
                .plan(kind, &configured(kind, change.clone()), Some(&state))
                .await;
            assert!(plan.reported.is_empty(), "{kind}: {}", told(&plan.reported));
            assert!(
                plan.planned != state,
                "{kind}: no change planned for {change}"
            );
            assert!(
                plan.requires_replace.is_empty(),
                "{kind}: {change} replaces: {:?}",
                plan.requires_replace
            );
            state = self.put(kind, change.clone(), Some(&state)).await;
            self.quiet(kind, change.clone(), &state).await;
        }
        state
    }

    /// The paths that a change would replace the object for.
    pub(crate) async fn replaces(&self, kind: &str, config: Json, state: &Value) -> Vec<String> {
        let plan = self
            .plan(kind, &configured(kind, config), Some(state))
            .await;
        assert!(plan.reported.is_empty(), "{kind}: {}", told(&plan.reported));
        plan.requires_replace
            .iter()
            .map(|p| format!("{p}"))
            .collect()
    }
}

/// A configuration with these arguments in addition, or in place of its own.
pub(crate) fn with(mut base: Json, more: &Json) -> Json {
    for (name, value) in more.as_object().expect("an object") {
        base[name] = value.clone();
    }
    base
}

pub(crate) fn told(reported: &[Reported]) -> String {
    reported
        .iter()
        .map(|r| format!("{}: {}", r.diagnostic.summary, r.diagnostic.detail))
        .collect::<Vec<_>>()
        .join(" | ")
}

fn provider_config(json: Json) -> Value {
    decode(&crate::settings::schema().ty(), &json)
}

/// A configuration: absent attributes null, absent blocks empty.
pub(crate) fn configured(kind: &str, json: Json) -> Value {
    let resource = formwork_google_schema::resource(kind).unwrap_or_else(|| panic!("{kind}"));
    for key in json.as_object().unwrap().keys() {
        assert!(resource.field(key).is_some(), "{kind} has no {key}");
    }
    fill(&resource.fields, &decode(&resource.schema.ty(), &json))
}

fn fill(nodes: &[Node], value: &Value) -> Value {
    let Kind::Object(ty, values) = value.kind() else {
        return value.clone();
    };
    let values = nodes
        .iter()
        .zip(values)
        .map(|(node, v)| {
            if !node.block {
                return v.clone();
            }
            let element = node.element_type();
            let items = v
                .as_sequence()
                .unwrap_or_default()
                .iter()
                .map(|item| fill(&node.children, item))
                .collect();
            if node.is_set() {
                Value::set(element, items)
            } else {
                Value::list(element, items)
            }
        })
        .collect();
    Value::object_of(ty.clone(), values)
}

/// The paths at which a known value of `a` differs in `b`.
pub(crate) fn differences(a: &Value, b: &Value) -> Vec<String> {
    let mut found = Vec::new();
    compare(a, b, &mut String::new(), &mut found);
    found
}

fn compare(a: &Value, b: &Value, path: &mut String, found: &mut Vec<String>) {
    if !a.is_known() || a == b {
        return;
    }
    match (a.kind(), b.kind()) {
        (Kind::Object(ty, x), Kind::Object(_, y)) => {
            for ((name, x), y) in ty.names().iter().zip(x).zip(y) {
                let length = path.len();
                path.push('.');
                path.push_str(name);
                compare(x, y, path, found);
                path.truncate(length);
            }
        }
        (Kind::List(x), Kind::List(y)) if x.len() == y.len() => {
            for (i, (x, y)) in x.iter().zip(y).enumerate() {
                let length = path.len();
                path.push_str(&format!("[{i}]"));
                compare(x, y, path, found);
                path.truncate(length);
            }
        }
        // A set of the plan may hold unknown parts.
        (Kind::Set(x), Kind::Set(y)) if x.len() == y.len() && a.contains_unknown() => {}
        _ => found.push(format!("{path}: {a:?} -> {b:?}")),
    }
}
