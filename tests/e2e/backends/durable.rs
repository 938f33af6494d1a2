//! Nothing is asked of the world that is not written down where the state is; and answers that get
//! lost are no lost work.

use super::*;
use formwork_testkit::until;
use serde_json::json;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

/// Networks of these names, made at an address that stands for Google's.
fn networks(url: &str, names: &[&str]) -> String {
    let mut text = format!(
        "terraform {{\n  required_providers {{\n    google = {{\n      source = \"hashicorp/google\"\n    }}\n  \
         }}\n}}\nprovider \"google\" {{\n  project = \"{PROJECT}\"\n  region = \"us-central1\"\n  access_token = \
         \"tok\"\n  compute_custom_endpoint = \"{url}/compute/v1/\"\n}}\n"
    );
    for name in names {
        text.push_str(&format!(
            "resource \"google_compute_network\" \"{name}\" {{\n  name = \"{name}\"\n  \
             auto_create_subnetworks = false\n}}\n"
        ));
    }
    text
}

/// The project of the world in the binary.
const PROJECT: &str = "formwork-mock";

/// What went through a proxy: a request, and when its first byte came and its last byte went back, in
/// one order of all.
#[derive(Clone, Debug)]
struct Passed {
    method: String,
    path: String,
    body: String,
    status: u16,
    begun: usize,
    ended: usize,
}

/// A proxy that keeps answers about journals back for a while: who does not wait for them is found out.
struct Proxy {
    url: String,
    passed: Arc<Mutex<Vec<Passed>>>,
}

impl Proxy {
    fn new(to: &str) -> Self {
        let to = to.trim_start_matches("http://").to_owned();
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let url = format!("http://{}", listener.local_addr().expect("bound"));
        let passed = Arc::new(Mutex::new(Vec::new()));
        let log = passed.clone();
        let clock = Arc::new(AtomicUsize::new(0));
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (to, log, clock) = (to.clone(), log.clone(), clock.clone());
                std::thread::spawn(move || {
                    if let Some(passed) = pass(stream, &to, &clock) {
                        log.lock().expect("no panic").push(passed);
                    }
                });
            }
        });
        Self { url, passed }
    }

    fn passed(&self) -> Vec<Passed> {
        self.passed.lock().expect("no panic").clone()
    }
}

/// Hands one request on, and its answer back; the connection ends with it.
fn pass(stream: TcpStream, to: &str, clock: &AtomicUsize) -> Option<Passed> {
    let mut reader = BufReader::new(stream.try_clone().ok()?);
    if reader.fill_buf().ok()?.is_empty() {
        return None;
    }
    let begun = clock.fetch_add(1, Ordering::SeqCst);
    let mut first = String::new();
    reader.read_line(&mut first).ok()?;
    let (mut head, mut length) = (first.clone(), 0);
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        let lower = line.to_ascii_lowercase();
        if let Some(n) = lower.strip_prefix("content-length:") {
            length = n.trim().parse().ok()?;
        }
        if line.trim().is_empty() {
            break;
        }
        if !lower.starts_with("connection:") {
            head.push_str(&line);
        }
    }
    head.push_str("connection: close\r\n\r\n");
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    let mut words = first.split(' ').map(str::to_owned);
    let (method, path) = (words.next()?, words.next()?);
    let mut server = TcpStream::connect(to).ok()?;
    server.write_all(head.as_bytes()).ok()?;
    server.write_all(&body).ok()?;
    let mut answer = Vec::new();
    server.read_to_end(&mut answer).ok()?;
    let status = std::str::from_utf8(answer.get(9..12)?).ok()?.parse().ok()?;
    if path.contains("tfjournal") {
        std::thread::sleep(Duration::from_millis(30));
    }
    let (last, most) = answer.split_last()?;
    let mut stream = stream;
    stream.write_all(most).ok()?;
    let ended = clock.fetch_add(1, Ordering::SeqCst);
    stream.write_all(&[*last]).ok()?;
    Some(Passed {
        method,
        path,
        body: String::from_utf8_lossy(&body).into_owned(),
        status,
        begun,
        ended,
    })
}

/// Whether the lines of a journal say that an operation on an address was begun and something noted of
/// it.
fn notes(journal: &str, address: &str) -> bool {
    let entries: Vec<serde_json::Value> = journal
        .lines()
        .filter_map(|line| serde_json::from_str(line).ok())
        .collect();
    let begun: Vec<&serde_json::Value> = entries
        .iter()
        .map(|e| &e["entry"]["begun"])
        .filter(|b| b["address"] == address)
        .map(|b| &b["id"])
        .collect();
    entries.iter().any(|e| {
        let noted = &e["entry"]["noted"];
        noted.is_object() && begun.contains(&&noted["id"])
    })
}

#[test]
fn the_journal_s_answer_is_read_before_anything_is_asked() {
    let env = surroundings();
    let bucket = Bucket::new(&env, &Scenario::new());
    let proxy = Proxy::new(&bucket.server.url);
    let names = ["net-a", "net-b", "net-c", "net-d", "net-e"];
    let block = bucket.block("p").replace(&bucket.server.url, &proxy.url);
    env.write("main.tf", block + &networks(&proxy.url, &names));
    env.run(&["init"]).exits(0);
    env.run(&["apply", "-auto-approve", "-parallelism=3"])
        .exits(0);
    env.run(&["destroy", "-auto-approve"]).exits(0);
    let passed = proxy.passed();
    let journals: Vec<&Passed> = passed
        .iter()
        .filter(|p| p.method == "POST" && p.path.contains("tfjournal%2F") && p.status == 200)
        .collect();
    assert!(!journals.is_empty(), "{passed:#?}");
    let mut checked = 0;
    for asked in &passed {
        if asked.method == "GET" || !asked.path.contains("/compute/v1/") {
            continue;
        }
        let body: serde_json::Value = serde_json::from_str(&asked.body).unwrap_or_default();
        let path = asked.path.split('?').next().unwrap_or_default();
        let name = body["name"]
            .as_str()
            .unwrap_or_else(|| path.rsplit('/').next().unwrap_or_default());
        if path.ends_with("/wait") {
            continue;
        }
        let address = format!("google_compute_network.{name}");
        // what was durable when its first byte came
        let mut before: Vec<&&Passed> = journals.iter().filter(|j| j.ended < asked.begun).collect();
        before.sort_by_key(|j| j.ended);
        let known: String = before.iter().map(|j| j.body.as_str()).collect();
        assert!(
            notes(&known, &address),
            "{} {} came before its entries were durable",
            asked.method,
            asked.path
        );
        checked += 1;
    }
    assert_eq!(checked, 2 * names.len(), "{passed:#?}");
    assert_eq!(bucket.objects(&env), ["p/default.tfstate"]);
}

#[test]
fn answers_that_get_lost_are_told_from_lost_races() {
    // each kind of object, its first write and one that replaces it, heard and not heard
    for (object, nth) in [
        ("p/default.tflock", 1),
        ("p/default.tfstate", 1),
        ("p/default.tfstate", 2),
        ("p/default.tfjournal/0000000001-0000000000", 1),
        ("p/default.tfjournal/0000000001-0000000001", 1),
    ] {
        for cut in ["after_commit", "before_commit"] {
            let env = surroundings();
            let fault = json!({
                "method": "storage.objects.insert", "name": object, "nth": nth, "cut": cut,
            });
            let bucket = Bucket::new(&env, &Scenario::new().fault(fault));
            env.write("main.tf", bucket.block("p") + CONTENT);
            env.run(&["init"]).exits(0);
            env.run(&["apply", "-auto-approve"]).exits(0);
            env.run(&["apply", "-auto-approve", "-var=v=2"]).exits(0);
            env.run(&["plan", "-detailed-exitcode", "-var=v=2"])
                .exits(0);
            assert_eq!(
                bucket.objects(&env),
                ["p/default.tfstate"],
                "{object} {cut}"
            );
            let log = bucket.server.log(&env);
            let cuts = log.iter().filter(|l| l.get("status").is_none()).count();
            assert_eq!(cuts, 1, "{object} {cut}: the fault did not strike");
        }
    }
}

#[test]
fn who_writes_in_between_is_not_overwritten() {
    let env = surroundings();
    let slow = json!({
        "method": "storage.objects.insert", "name": "p/default.tfjournal/0000000001-0000000001",
        "times": 1, "delay_ms": 1_500,
    });
    let bucket = Bucket::new(&env, &Scenario::new().fault(slow));
    env.write("main.tf", bucket.block("p") + CONTENT);
    env.run(&["init"]).exits(0);
    let mut run = env.start(&["apply", "-auto-approve", "-lock=false"]);
    until("its journal is begun", || {
        bucket
            .objects(&env)
            .contains(&"p/default.tfjournal/0000000001-0000000000".to_owned())
    });
    // somebody who keeps no lock and knows no journal
    let state = "{\"version\":4,\"terraform_version\":\"1.11.4\",\"serial\":7,\"lineage\":\"theirs\",\"outputs\":{},\"resources\":[]}";
    let host = bucket.server.url.trim_start_matches("http://");
    let mut stream = TcpStream::connect(host).expect("a server");
    let request = format!(
        "POST /upload/storage/v1/b/states/o?uploadType=media&name=p%2Fdefault.tfstate HTTP/1.1\r\nhost: \
         {host}\r\nconnection: close\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{state}",
        state.len()
    );
    stream.write_all(request.as_bytes()).expect("sent");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("answered");
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    assert!(!run.wait().expect("it ends").success());
    let told = env.started_output();
    assert!(told.contains("written by somebody else"), "{told}");
    // theirs is there, and ours is not forgotten
    let objects = bucket.objects(&env);
    assert!(
        objects.iter().any(|o| o.contains("tfjournal/")),
        "{objects:?}"
    );
    env.run(&["state", "list"])
        .exits(0)
        .says(&["Operation left open", "terraform_data.a"]);
}

#[test]
fn where_no_journal_is_kept_the_state_knows_what_is_open() {
    let env = surroundings();
    let cloud = env.serve("../cloud", &Scenario::new().taking(4_000, 4_000));
    let http = StateServer::new();
    env.write(
        "main.tf",
        http.block() + CONTENT + &networks(&cloud.url, &["net-a", "net-b"]),
    );
    env.run(&["init"]).exits(0);
    let mut run = env.start(&["apply", "-auto-approve"]);
    until("networks are being made", || {
        cloud.committed(&env).len() == 2
    });
    until("what needs no cloud is made", || {
        http.state().is_some_and(|state| {
            let resources = state["resources"].as_array();
            resources.is_some_and(|all| all.iter().any(|r| r["name"] == "b"))
                && !state["x_formwork_pending"]
                    .to_string()
                    .contains("terraform_data.b")
        })
    });
    let state = http.state().expect("a state");
    let open: Vec<String> = state["x_formwork_pending"]
        .as_array()
        .expect("a list")
        .iter()
        .filter_map(|e| Some(e["begun"]["address"].as_str()?.to_owned()))
        .collect();
    for address in [
        "google_compute_network.net-a",
        "google_compute_network.net-b",
    ] {
        assert!(open.contains(&address.to_owned()), "{open:?}");
    }
    run.kill().expect("it runs");
    run.wait().expect("it ends");
    // another machine goes on: nothing is left here but the configuration
    let second = surroundings();
    second.write("main.tf", env.text("main.tf"));
    second.run(&["init"]).exits(0);
    second
        .run(&["state", "list"])
        .exits(0)
        .says(&["terraform_data.a"]);
    let holder = http
        .kept
        .lock()
        .expect("no panic")
        .lock
        .clone()
        .expect("held");
    let holder: serde_json::Value = serde_json::from_slice(&holder).expect("JSON");
    let id = holder["ID"].as_str().expect("an id");
    second.run(&["force-unlock", "-force", id]).exits(0);
    second
        .run(&["apply", "-auto-approve"])
        .exits(0)
        .says(&["0 added, 0 changed, 0 destroyed"]);
    assert_eq!(cloud.made(&env).len(), 2);
    assert_eq!(
        http.state().expect("a state").get("x_formwork_pending"),
        None
    );
    second.run(&["plan", "-detailed-exitcode"]).exits(0);
    second
        .run(&["destroy", "-auto-approve"])
        .exits(0)
        .says(&["Backend keeps no journal", "4 destroyed"]);
    assert_eq!(cloud.made(&env).len(), 0);
}
