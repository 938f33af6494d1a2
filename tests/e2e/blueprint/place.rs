//! A folder of its own for one use of the blueprint: the binary runs there, its mock cloud lives there.
//!
//! The blueprint is copied, so that nothing is left in the repository and tests run side by side.

// Two test binaries use this file, each a part of it.
#![allow(dead_code)]

use formwork_testkit::{MockProcess, Ran, Scenario, TestEnv};
use serde_json::Value;
use std::path::{Path, PathBuf};

/// The blueprint in the repository.
pub fn blueprint() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../blueprints/roce-cluster")
}

/// A use of an example, in surroundings of its own.
pub struct Place {
    env: TestEnv,
    root: String,
}

impl Place {
    /// A copy of the blueprint, in which this example is used.
    pub fn new(example: &str) -> Self {
        let env = TestEnv::new(env!("CARGO_BIN_EXE_formwork"));
        env.copy_to(&blueprint(), "roce-cluster");
        Self {
            env,
            root: format!("roce-cluster/examples/{example}"),
        }
    }

    /// The folder of the example's root module.
    pub fn root(&self) -> PathBuf {
        self.env.path().join(&self.root)
    }

    /// Runs the binary on the example, as the README does.
    pub fn run(&self, words: &[&str]) -> Ran {
        let chdir = format!("-chdir={}", self.root);
        let mut all = vec![chdir.as_str()];
        all.extend(words);
        self.env.run(&all)
    }

    /// Applies the example, and expects that to succeed.
    #[track_caller]
    pub fn apply(&self) -> Ran {
        let ran = self.run(&["apply", "-mock", "-auto-approve"]);
        ran.exits(0).says(&["\nApply complete! Resources: "]);
        ran
    }

    /// What a command prints as JSON.
    #[track_caller]
    pub fn json(&self, words: &[&str]) -> Value {
        self.run(words).exits(0).json()
    }

    /// The objects of the mock cloud.
    pub fn objects(&self) -> Vec<Value> {
        let all = self.json(&["mock", "list", "-json"]);
        all.as_array().expect("a list").clone()
    }

    /// The requests that the mock cloud was sent, without the first so many.
    pub fn requests(&self, but: usize) -> Vec<Value> {
        let all = self.json(&["mock", "log", "-json"]);
        all.as_array().expect("a list")[but..].to_vec()
    }

    /// Serves the example's mock cloud from a process of its own.
    pub fn serve(&self) -> Serving {
        let data = format!("{}/.formwork/mock/cloud", self.root);
        Serving(self.env.serve(&data, &Scenario::new()))
    }
}

/// A mock cloud that is being served; it ends when this is dropped.
pub struct Serving(MockProcess);

/// The part of a link below the project's or the service's root, by which links are compared.
pub fn short(link: &str) -> &str {
    link.split("/projects/").last().unwrap_or(link)
}

impl Serving {
    /// One request, as any user of the cloud could send it; the answer's text.
    pub fn send(&self, method: &str, path: &str, body: Option<&Value>) -> String {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .expect("a runtime");
        let _ = rustls::crypto::aws_lc_rs::default_provider().install_default();
        runtime.block_on(async {
            let client = reqwest::Client::builder()
                .no_proxy()
                .build()
                .expect("a client");
            let method = method.parse::<reqwest::Method>().expect("a method");
            let url = format!("{}{path}", self.0.url);
            let mut request = client.request(method.clone(), &url).bearer_auth("anyone");
            if let Some(body) = body {
                request = request.json(body);
            }
            let answer = request.send().await.expect("an answer");
            let status = answer.status();
            let text = answer.text().await.expect("a text");
            assert!(status.is_success(), "{method} {url}: {status}\n{text}");
            text
        })
    }

    /// An object by its path.
    pub fn get(&self, path: &str) -> Value {
        serde_json::from_str(&self.send("GET", path, None)).expect("JSON")
    }

    /// Changes something, and waits for the operation where there is one.
    pub fn change(&self, method: &str, path: &str, body: Option<&Value>) {
        let text = self.send(method, path, body);
        let mut answer: Value = serde_json::from_str(&text).unwrap_or_default();
        while answer["kind"] == "compute#operation" && answer["status"] != "DONE" {
            let link = answer["selfLink"].as_str().expect("a link").to_owned();
            let path = format!("/compute/compute/v1/projects/{}/wait", short(&link));
            answer = serde_json::from_str(&self.send("POST", &path, None)).expect("JSON");
        }
        assert!(answer["error"].is_null(), "{answer:#}");
    }
}
