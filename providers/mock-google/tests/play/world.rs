//! One world, served, and a small client.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use formwork_environment::{Clock, Fixed};
use formwork_mock_google::{Config, Mock, Scenario, Server};
use serde_json::{Value, json};

pub const PROJECT: &str = "projects/formwork-mock";

/// Time that passes for real, for what waits for real.
pub struct Real;

impl Clock for Real {
    fn now(&self) -> SystemTime {
        SystemTime::now()
    }
}

pub struct World {
    pub mock: Mock,
    pub server: Server,
    pub clock: Arc<Fixed>,
    client: reqwest::Client,
}

/// The default world with other operations, quotas, faults...
pub fn scenario(changes: Value) -> Scenario {
    let mut base: Value =
        serde_json::from_str(include_str!("../../data/default-scenario.json")).unwrap();
    base["operations"] = json!({"latency_ms": [0, 0]});
    for (name, value) in changes.as_object().unwrap() {
        base[name] = value.clone();
    }
    Scenario::parse(&base.to_string()).unwrap()
}

impl World {
    pub async fn new() -> Self {
        Self::with(json!({})).await
    }

    pub async fn with(changes: Value) -> Self {
        let clock = Arc::new(Fixed::new(1_796_000_000, 7));
        Self::start(scenario(changes), None, clock.clone(), clock).await
    }

    pub async fn real_time(changes: Value) -> Self {
        let fixed = Arc::new(Fixed::new(0, 7));
        Self::start(scenario(changes), None, Arc::new(Real), fixed).await
    }

    pub async fn at(directory: &Path, changes: Value, seconds: u64) -> Self {
        let clock = Arc::new(Fixed::new(seconds, seconds));
        Self::start(scenario(changes), Some(directory), clock.clone(), clock).await
    }

    async fn start(
        scenario: Scenario,
        directory: Option<&Path>,
        time: Arc<dyn Clock>,
        clock: Arc<Fixed>,
    ) -> Self {
        // a second installation is refused, and means the same
        let _ = rustls::crypto::aws_lc_rs::default_provider().install_default();
        let mock = Mock::open(Config {
            directory: directory.map(Path::to_owned),
            scenario,
            clock: time,
            randomness: clock.clone(),
            process: 42,
        })
        .unwrap();
        let server = mock.serve("127.0.0.1:0".parse().unwrap()).await.unwrap();
        Self {
            mock,
            server,
            clock,
            client: reqwest::Client::new(),
        }
    }

    pub fn pass(&self, milliseconds: u64) {
        self.clock.advance(Duration::from_millis(milliseconds));
    }

    /// Calls a path of compute below `v1/`, or any path that begins with a slash.
    pub async fn call(&self, http: &str, path: &str, body: Value) -> (u16, Value) {
        self.try_call(http, path, body).await.unwrap()
    }

    pub async fn try_call(
        &self,
        http: &str,
        path: &str,
        body: Value,
    ) -> Result<(u16, Value), reqwest::Error> {
        let url = match path.strip_prefix('/') {
            Some(path) => format!("{}/{path}", self.server.url()),
            None => format!("{}compute/v1/{path}", self.server.endpoint("compute")),
        };
        let mut request = self.client.request(http.parse().unwrap(), url);
        if !body.is_null() {
            request = request.json(&body);
        }
        let response = request.send().await?;
        let status = response.status().as_u16();
        let text = response.text().await?;
        Ok((
            status,
            serde_json::from_str(&text).unwrap_or(Value::String(text)),
        ))
    }

    pub async fn get(&self, path: &str) -> Value {
        let (status, body) = self.call("GET", path, Value::Null).await;
        assert_eq!(status, 200, "{path}: {body}");
        body
    }

    pub async fn post(&self, path: &str, body: Value) -> Value {
        let (status, answer) = self.call("POST", path, body).await;
        assert_eq!(status, 200, "{path}: {answer}");
        answer
    }

    /// A refused request: `status reason: message`.
    pub async fn refused(&self, http: &str, path: &str, body: Value) -> String {
        let (status, answer) = self.call(http, path, body).await;
        let error = &answer["error"];
        let reason = error["errors"][0]["reason"]
            .as_str()
            .or(error["status"].as_str())
            .unwrap_or("");
        format!(
            "{status} {reason}: {}",
            error["message"].as_str().unwrap_or(&answer.to_string())
        )
    }

    /// An operation that has ended: its error's code, or `done`.
    pub async fn ends(&self, operation: &Value) -> String {
        let link = operation["selfLink"].as_str().unwrap();
        let path = link.split_once("/compute/v1/").unwrap().1;
        let operation = self.get(path).await;
        assert_eq!(operation["status"], "DONE", "{operation}");
        operation["error"]["errors"][0]["code"]
            .as_str()
            .unwrap_or("done")
            .to_owned()
    }

    /// Makes an object and lets its operation end.
    pub async fn make(&self, path: &str, body: Value) {
        let operation = self.post(path, body).await;
        assert_eq!(self.ends(&operation).await, "done", "{path}");
    }

    pub async fn network(&self, name: &str) {
        self.make(
            &format!("{PROJECT}/global/networks"),
            json!({"name": name, "autoCreateSubnetworks": false, "mtu": 8896}),
        )
        .await;
    }

    pub async fn subnetwork(&self, name: &str, network: &str, range: &str) {
        self.make(
            &format!("{PROJECT}/regions/us-central1/subnetworks"),
            json!({"name": name, "network": format!("global/networks/{network}"), "ipCidrRange": range}),
        )
        .await;
    }
}
