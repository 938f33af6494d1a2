//! What goes wrong in mid-apply: told with address, call and reason; what exists is in the state; what
//! does not depend on it is done; the next apply, once the cause is gone, makes nothing twice.

use crate::{env, two_networks};
use formwork_testkit::{Scenario, TestEnv, interrupt, until};
use serde_json::{Value, json};
use std::collections::BTreeSet;

const INSTANCE: &str = r#"
terraform {
  required_providers {
    google = { source = "hashicorp/google" }
  }
}
resource "google_compute_network" "n" {
  name                    = "n"
  auto_create_subnetworks = false
}
resource "google_compute_subnetwork" "s" {
  name          = "s"
  network       = google_compute_network.n.id
  ip_cidr_range = "10.0.0.0/24"
  region        = "us-central1"
}
resource "google_compute_instance" "vm" {
  name         = "vm"
  machine_type = "n2-standard-4"
  zone         = "us-central1-a"
  boot_disk {
    initialize_params {
      image = "debian-cloud/debian-12"
    }
  }
  network_interface {
    subnetwork = google_compute_subnetwork.s.id
  }
}
resource "google_compute_network" "apart" {
  name                    = "apart"
  auto_create_subnetworks = false
}
"#;

/// Applies in a world where something goes wrong, then in the same world where it does not.
#[track_caller]
fn check(env: &TestEnv, wrong: Scenario, right: Scenario, failed: &str, parts: &[&str]) {
    let server = env.serve("world", &wrong);
    env.run(&["apply", "-auto-approve", &server.flag])
        .exits(1)
        .says(parts)
        .never_says(&["Apply complete!"]);
    agree(env, &server.flag, &server.made(env), failed);
    server.kill();
    let server = env.serve("world", &right);
    env.run(&["apply", "-auto-approve", &server.flag])
        .exits(0)
        .says(&["Apply complete!"]);
    env.run(&["plan", "-detailed-exitcode", &server.flag])
        .exits(0);
    // an insert whose operation failed made nothing
    once(
        &server.committed(env),
        failed.rsplit('.').next().unwrap_or_default(),
    );
}

/// Every object is in the state, and what failed is not, or tainted.
#[track_caller]
fn agree(env: &TestEnv, flag: &str, made: &[Value], failed: &str) {
    let state = env.run(&["state", "pull", flag]).exits(0).json();
    let mut links = BTreeSet::new();
    let mut broken = false;
    for resource in state["resources"].as_array().into_iter().flatten() {
        let address = format!(
            "{}.{}",
            resource["type"].as_str().unwrap_or_default(),
            resource["name"].as_str().unwrap_or_default()
        );
        for instance in resource["instances"].as_array().into_iter().flatten() {
            if address == failed && instance["status"] != "tainted" {
                broken = true;
            }
            links.insert(
                instance["attributes"]["self_link"]
                    .as_str()
                    .unwrap_or_default()
                    .to_owned(),
            );
        }
    }
    assert!(!broken, "{failed} is in the state: {state:#}");
    for object in made {
        let link = object["selfLink"].as_str().expect("a link");
        let same = |l: &String| {
            !l.is_empty()
                && (l.ends_with(link) || link.ends_with(l.as_str()) || tail(l) == tail(link))
        };
        assert!(
            links.iter().any(same),
            "{link} is not in the state: {links:?}"
        );
    }
}

/// A link from its project on.
fn tail(link: &str) -> &str {
    link.find("/projects/").map_or(link, |at| &link[at..])
}

/// No object was made twice, but for the one of this name.
#[track_caller]
fn once(committed: &[Value], but: &str) {
    let mut seen = BTreeSet::new();
    for line in committed {
        let id = line["id"].as_str().unwrap_or_default();
        let target = line["target"].as_str().unwrap_or_default();
        let failed = !but.is_empty() && target.ends_with(&format!("/{but}"));
        if id.ends_with(".insert") && !failed {
            assert!(
                seen.insert((id.to_owned(), target.to_owned())),
                "made twice: {line}"
            );
        }
    }
}

#[test]
fn a_range_that_somebody_else_has() {
    let env = env();
    env.write(
        "main.tf",
        r#"
terraform {
  required_providers {
    google = { source = "hashicorp/google" }
  }
}
variable "range" { default = "10.0.0.0/24" }
resource "google_compute_subnetwork" "s" {
  name          = "mine"
  network       = "shared"
  ip_cidr_range = var.range
  region        = "us-central1"
}
resource "google_compute_network" "apart" {
  name                    = "apart"
  auto_create_subnetworks = false
}
"#,
    );
    let p = "formwork-mock";
    let world = Scenario::new().with("objects", json!([
        {"method": "compute.networks.insert", "in": {"project": p}, "body": {"name": "shared", "autoCreateSubnetworks": false}},
        {"method": "compute.subnetworks.insert", "in": {"project": p, "region": "us-central1"}, "body": {"name": "theirs", "network": format!("projects/{p}/global/networks/shared"), "ipCidrRange": "10.0.0.0/20"}},
    ]));
    let server = env.serve("world", &world);
    env.run(&["apply", "-auto-approve", &server.flag])
        .exits(1)
        .says(&["google_compute_subnetwork.s", "subnetworks", "10.0.0.0/"]);
    agree(
        &env,
        &server.flag,
        &server.made(&env),
        "google_compute_subnetwork.s",
    );
    env.run(&["state", "list", &server.flag])
        .exits(0)
        .says(&["google_compute_network.apart"]);
    env.run(&[
        "apply",
        "-auto-approve",
        "-var=range=10.1.0.0/24",
        &server.flag,
    ])
    .exits(0)
    .says(&["1 added, 0 changed"]);
    once(&server.committed(&env), "");
}

#[test]
fn quotas() {
    for refused in ["at_once", "in_operation"] {
        let env = two_networks();
        let wrong = Scenario::new().with(
            "quotas",
            json!([{"metric": "NETWORKS", "limit": 1, "refused": refused}]),
        );
        let server = env.serve("world", &wrong);
        env.run(&["apply", "-auto-approve", &server.flag])
            .exits(1)
            .says(&["google_compute_network.all", "NETWORKS", "uota"]);
        // the network that there is room for; the subnetworks wait for all networks of their block
        assert_eq!(server.made(&env).len(), 1, "{refused}");
        agree(&env, &server.flag, &server.made(&env), "");
        server.kill();
        let server = env.serve("world", &Scenario::new());
        env.run(&["apply", "-auto-approve", &server.flag])
            .exits(0)
            .says(&["3 added, 0 changed, 0 destroyed"]);
        env.run(&["plan", "-detailed-exitcode", &server.flag])
            .exits(0);
    }
}

#[test]
fn no_machines_left() {
    let env = env();
    env.write("main.tf", INSTANCE);
    check(
        &env,
        Scenario::new().taking(20, 40).with(
            "capacity",
            json!([{"zone": "us-central1-a", "machine_type": "n2-*", "machines": 0}]),
        ),
        Scenario::new().taking(20, 40),
        "google_compute_instance.vm",
        &[
            "google_compute_instance.vm",
            "ZONE_RESOURCE_POOL_EXHAUSTED",
            "us-central1-a",
        ],
    );
}

#[test]
fn forbidden_later() {
    let env = env();
    env.write("main.tf", INSTANCE);
    check(
        &env,
        Scenario::new().fault(json!({"method": "compute.instances.insert", "status": 403, "reason": "forbidden", "message": "Required 'compute.instances.create' permission for 'projects/formwork-mock'"})),
        Scenario::new(),
        "google_compute_instance.vm",
        &["google_compute_instance.vm", "403", "compute.instances.create"],
    );
}

#[test]
fn the_cloud_goes_away() {
    let env = env();
    env.write("main.tf", INSTANCE);
    let server = env.serve("world", &Scenario::new().taking(400, 500));
    let mut run = env.start(&["apply", "-auto-approve", &server.flag]);
    until("something is made", || !server.committed(&env).is_empty());
    server.kill();
    let status = run.wait().expect("it ends");
    assert_eq!(status.code(), Some(1), "{}", env.started_output());
    assert!(
        env.started_output().contains("google_compute_network"),
        "{}",
        env.started_output()
    );
    let server = env.serve("world", &Scenario::new().taking(10, 20));
    env.run(&["apply", "-auto-approve", &server.flag])
        .exits(0)
        .says(&["Apply complete!"]);
    env.run(&["plan", "-detailed-exitcode", &server.flag])
        .exits(0);
    once(&server.committed(&env), "");
}

/// An operation that takes long is left to the next run, which waits for it: it makes nothing twice.
#[test]
fn interrupted() {
    let env = env().with("FORMWORK_DETACH_AFTER", "0");
    env.write(
        "main.tf",
        r#"
terraform {
  required_providers {
    google = { source = "hashicorp/google" }
  }
}
resource "google_compute_network" "n" {
  name                    = "n"
  auto_create_subnetworks = false
}
resource "google_compute_network" "later" {
  name                    = "later"
  description             = google_compute_network.n.id
  auto_create_subnetworks = false
}
"#,
    );
    let server = env.serve("world", &Scenario::new().taking(5000, 5000));
    let mut child = env.start(&["apply", "-auto-approve", &server.flag]);
    until("the request is sent", || !server.committed(&env).is_empty());
    let begin = std::time::Instant::now();
    interrupt(&child);
    let status = child.wait().expect("it ends");
    assert_eq!(status.code(), Some(1));
    assert!(
        begin.elapsed().as_millis() < 4000,
        "it did not wait: {:?}",
        begin.elapsed()
    );
    let said = env.started_output();
    assert!(
        said.contains("An operation still runs") && said.contains("google_compute_network.n"),
        "{said}"
    );
    env.run(&["apply", "-auto-approve", &server.flag])
        .exits(0)
        .says(&["Apply complete!"]);
    env.run(&["plan", "-detailed-exitcode", &server.flag])
        .exits(0);
    assert_eq!(server.made(&env).len(), 2);
    once(&server.committed(&env), "");
}

/// Ctrl-C ends what only waits: for an answer, and for a lock that somebody else holds.
#[test]
fn interrupted_while_waiting() {
    let env = env();
    env.write(
        "main.tf",
        "variable \"v\" { default = \"\" }\nresource \"terraform_data\" \"a\" {\n  provisioner \"local-exec\" {\n    \
         command = \"touch began; while [ ! -e go ]; do sleep 0.1; done\"\n  }\n}\n",
    );
    let ends = |child: &mut std::process::Child, says: &[&str]| {
        interrupt(child);
        assert_eq!(child.wait().expect("it ends").code(), Some(1));
        let said = env.started_output();
        for text in says {
            assert!(said.contains(text), "{text}: {said}");
        }
    };
    // nobody ever writes to this pipe or closes it
    let mut command = env.command(&["apply"]);
    command.stdin(std::process::Stdio::piped());
    let mut asked = env.start_command(command);
    let _pipe = asked.stdin.take();
    until("it asks", || env.started_output().contains("Enter a value"));
    ends(&mut asked, &["Nothing was changed."]);
    assert!(!env.has("terraform.tfstate"));
    let mut holds = env
        .command(&["apply", "-auto-approve"])
        .stdout(std::process::Stdio::null())
        .spawn()
        .expect("it runs");
    until("it holds the lock", || env.has("began"));
    let waits = ["apply", "-auto-approve", "-lock-timeout=1h"];
    let mut waiting = env.start(&waits);
    std::thread::sleep(std::time::Duration::from_millis(700));
    ends(&mut waiting, &["Error acquiring the state lock", "Who:"]);
    env.write("go", "");
    assert!(holds.wait().expect("it ends").success());
    env.run(&["plan", "-detailed-exitcode"]).exits(0);
}

/// A service that never answers keeps nobody: what only reads is left a while after the first Ctrl-C, and
/// at once after the second.
#[test]
fn interrupted_while_a_service_does_not_answer() {
    let service = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let endpoint = service.local_addr().expect("an address");
    let (asked, heard) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        for connection in service.incoming() {
            // kept open, and never written to
            if asked.send(connection).is_err() {
                return;
            }
        }
    });
    let env = env();
    env.write(
        "main.tf",
        format!(
            "terraform {{\n  required_providers {{\n    google = {{ source = \"hashicorp/google\" }}\n  }}\n}}\n\
             provider \"google\" {{\n  project                 = \"p\"\n  region                  = \"us-central1\"\n  \
             access_token            = \"t\"\n  compute_custom_endpoint = \"http://{endpoint}/compute/v1/\"\n}}\n\
             data \"google_compute_zones\" \"n\" {{}}\n"
        ),
    );
    for (times, patience) in [(1, "0s"), (2, "1h")] {
        let mut command = env.command(&["plan"]);
        command.env("FORMWORK_DETACH_AFTER", patience);
        let mut child = env.start_command(command);
        let connection = heard.recv_timeout(std::time::Duration::from_secs(60));
        connection.expect("it asks").expect("a connection");
        interrupt(&child);
        if times == 2 {
            until("the first is heard", || {
                env.started_output().contains("Interrupted")
            });
            interrupt(&child);
        }
        assert_eq!(child.wait().expect("it ends").code(), Some(1));
        let said = env.started_output();
        let expected = if times == 1 {
            "Planning was interrupted"
        } else {
            "Stopped at once"
        };
        assert!(said.contains(expected), "{times}: {said}");
    }
}
