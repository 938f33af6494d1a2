//! What may go wrong in the middle of an apply, one fault at a time.
//!
//! Each must end with exit 1 and an error that names the instance, what was asked, Google's reason and
//! what to do. What was made before stays in the state, what failed is not in it (or pending in the
//! journal, when nobody knows), and what does not depend on it is finished. When the cause is gone the
//! next apply completes, and no object was made twice.

use crate::lab::Lab;
use crate::truth::{self, Cloud};
use crate::{APPLY, PLAN};
use formwork_testkit::Scenario;
use serde_json::json;
use std::collections::{BTreeMap, BTreeSet};

/// Two networks that know nothing of each other; the first carries a router and a machine.
const CONFIGURATION: &str = r#"
terraform {
  required_providers {
    google = {
      source = "hashicorp/google"
    }
  }
}

provider "google" {
  project = "formwork-mock"
  region  = "us-central1"
  zone    = "us-central1-b"
}

resource "google_compute_network" "main" {
  name                    = "main"
  auto_create_subnetworks = false
}

resource "google_compute_subnetwork" "main" {
  name          = "main"
  network       = google_compute_network.main.id
  ip_cidr_range = "10.0.0.0/24"
}

resource "google_compute_router" "main" {
  name    = "main"
  network = google_compute_network.main.id
}

resource "google_compute_router_nat" "main" {
  name                               = "main"
  router                             = google_compute_router.main.name
  nat_ip_allocate_option             = "AUTO_ONLY"
  source_subnetwork_ip_ranges_to_nat = "ALL_SUBNETWORKS_ALL_IP_RANGES"
}

resource "google_compute_instance" "main" {
  name         = "main"
  machine_type = "n2-standard-8"

  boot_disk {
    initialize_params {
      image = "projects/ubuntu-os-cloud/global/images/family/ubuntu-2404-lts-amd64"
    }
  }

  network_interface {
    subnetwork = google_compute_subnetwork.main.id
  }
}

resource "google_compute_network" "other" {
  name                    = "other"
  auto_create_subnetworks = false
}

resource "google_compute_subnetwork" "other" {
  name          = "other"
  network       = google_compute_network.other.id
  ip_cidr_range = "10.1.0.0/24"
}

resource "google_compute_firewall" "other" {
  name          = "other"
  network       = google_compute_network.other.id
  source_ranges = ["10.1.0.0/24"]

  allow {
    protocol = "icmp"
  }
}
"#;

const ALL: [&str; 8] = [
    "google_compute_firewall.other",
    "google_compute_instance.main",
    "google_compute_network.main",
    "google_compute_network.other",
    "google_compute_router.main",
    "google_compute_router_nat.main",
    "google_compute_subnetwork.main",
    "google_compute_subnetwork.other",
];

/// The configuration, in a world of operations that take a moment.
fn lab(scenario: &Scenario, configuration: &str) -> Lab {
    Lab::new(scenario, "root", |env| {
        env.write("root/main.tf", configuration);
    })
}

fn quick() -> Scenario {
    Scenario::new().taking(1, 10)
}

/// Panics unless an error holds these words. Diagnostics are laid out in lines; that is looked through.
#[track_caller]
fn says(text: &str, words: &[&str]) {
    let flat: Vec<&str> = text.split_whitespace().collect();
    let flat = flat.join(" ");
    for word in words {
        assert!(flat.contains(word), "{word:?} is missing:\n{text}");
    }
}

/// Everything that is in the cloud is in the state, or its operation is open in the journal. `whole` is
/// the state of a complete run.
fn nothing_is_forgotten(
    whole: &BTreeMap<String, Option<String>>,
    cloud: &Cloud,
    known: &BTreeSet<String>,
    what: &str,
) {
    let forgotten: Vec<_> = whole
        .iter()
        .filter(|(address, link)| {
            link.as_ref()
                .is_some_and(|link| cloud.objects.contains_key(link))
                && !known.contains(*address)
        })
        .collect();
    assert!(forgotten.is_empty(), "{what}: forgotten: {forgotten:?}");
}

/// A fault that is in the scenario.
struct Case {
    what: &'static str,
    scenario: Scenario,
    /// What fails.
    fails: &'static str,
    /// What is therefore not begun.
    waits: &'static [&'static str],
    /// What the error says.
    words: &'static [&'static str],
    /// Whether what fails is open in the journal afterwards.
    open: bool,
    /// Whether its request was taken and came to nothing, so that a second one is right.
    taken: bool,
}

fn check(case: Case) {
    let what = case.what;
    let mut lab = lab(&case.scenario, CONFIGURATION);
    let ran = lab.run(&APPLY);
    ran.exits(1);
    says(&ran.stderr, &[case.fails]);
    says(&ran.stderr, case.words);

    let left = truth::state(&lab);
    let expected: BTreeSet<&str> = ALL
        .into_iter()
        .filter(|address| *address != case.fails && !case.waits.contains(address))
        .collect();
    let remembered: BTreeSet<&str> = left.keys().map(String::as_str).collect();
    assert_eq!(remembered, expected, "{what}: what is in the state");
    assert_eq!(truth::tainted(&lab), 0, "{what}");
    let open = truth::pending(&lab);
    let fails = BTreeSet::from([case.fails.to_owned()]);
    assert_eq!(
        open,
        if case.open { fails } else { BTreeSet::new() },
        "{what}: what is open in the journal"
    );
    let cloud = Cloud::of(&lab);

    lab.serve_again(&quick());
    lab.run(&APPLY).exits(0);
    let (_, whole) = truth::check_agreement(&lab, what);
    let known = left.into_keys().chain(open).collect();
    nothing_is_forgotten(&whole, &cloud, &known, what);
    let mut twice = truth::made_twice(&lab.log());
    if case.taken {
        twice.retain(|target, times| !(target.ends_with("/main") && *times == 2));
    }
    assert!(twice.is_empty(), "{what}: made more than once: {twice:#?}");
    lab.run(&PLAN).exits(0);
}

#[test]
fn quota_exceeded_at_once() {
    check(Case {
        what: "quota at once",
        scenario: quick().with("quotas", json!([{"metric": "ROUTERS", "limit": 0}])),
        fails: "google_compute_router.main",
        waits: &["google_compute_router_nat.main"],
        words: &[
            "Quota exceeded",
            "in answer to POST compute compute/v1/projects/formwork-mock/regions/us-central1/routers",
            "quotaExceeded",
            "Ask for more quota",
        ],
        open: false,
        taken: false,
    });
}

#[test]
fn quota_exceeded_inside_the_operation() {
    check(Case {
        what: "quota inside the operation",
        scenario: quick().with(
            "quotas",
            json!([{"metric": "INSTANCES", "region": "*", "limit": 0, "refused": "in_operation"}]),
        ),
        fails: "google_compute_instance.main",
        waits: &[],
        words: &[
            "Quota exceeded",
            "in answer to POST compute compute/v1/projects/formwork-mock/zones/us-central1-b/instances",
            "QUOTA_EXCEEDED",
            "Ask for more quota",
        ],
        open: false,
        taken: true,
    });
}

#[test]
fn no_machines_left() {
    check(Case {
        what: "stock-out inside the operation",
        scenario: quick().with(
            "capacity",
            json!([{"zone": "us-central1-b", "machine_type": "n2-*", "machines": 0}]),
        ),
        fails: "google_compute_instance.main",
        waits: &[],
        words: &[
            "Google has no capacity",
            "in answer to POST compute compute/v1/projects/formwork-mock/zones/us-central1-b/instances",
            "ZONE_RESOURCE_POOL_EXHAUSTED",
            "in another zone",
        ],
        open: false,
        taken: true,
    });
}

#[test]
fn a_later_call_is_forbidden() {
    check(Case {
        what: "403 on a later call",
        scenario: quick().fault(json!({
            "method": "compute.routers.insert", "status": 403, "reason": "forbidden",
            "message": "Required 'compute.routers.create' permission for 'main'",
        })),
        fails: "google_compute_router.main",
        waits: &["google_compute_router_nat.main"],
        words: &[
            "Google refused access",
            "in answer to POST compute compute/v1/projects/formwork-mock/regions/us-central1/routers",
            "compute.routers.create",
            "forbidden",
        ],
        open: false,
        taken: false,
    });
}

#[test]
fn what_was_made_must_not_be_read() {
    check(Case {
        what: "403 on reading what was made",
        scenario: quick().fault(json!({
            "method": "compute.routers.get", "status": 403, "reason": "forbidden",
        })),
        fails: "google_compute_router.main",
        waits: &["google_compute_router_nat.main"],
        words: &[
            "in answer to GET compute compute/v1/projects/formwork-mock/regions/us-central1/routers/main",
            "forbidden",
            "The next run looks for it",
        ],
        open: true,
        taken: false,
    });
}

#[test]
fn a_range_is_taken_from_outside() {
    let what = "a range that is taken";
    // The network is there, and somebody has a subnetwork in it that the configuration knows nothing of.
    let text = CONFIGURATION.replace(
        "network       = google_compute_network.main.id\n",
        "network       = \"projects/formwork-mock/global/networks/shared\"\n",
    );
    let project = "formwork-mock";
    let shared = format!("projects/{project}/global/networks/shared");
    let mut lab = lab(
        &quick().with(
            "objects",
            json!([
                {"method": "compute.networks.insert", "in": {"project": project},
                 "body": {"name": "shared", "autoCreateSubnetworks": false}},
            ]),
        ),
        &text,
    );
    let compute = format!("/compute/compute/v1/projects/{project}/regions/us-central1/subnetworks");
    let theirs = json!({"name": "theirs", "network": shared, "ipCidrRange": "10.0.0.128/25"});
    lab.outside("POST", &compute, &theirs.to_string());

    let ran = lab.run(&APPLY);
    ran.exits(1);
    says(
        &ran.stderr,
        &[
            "google_compute_subnetwork.main",
            "in answer to POST compute compute/v1/projects/formwork-mock/regions/us-central1/subnetworks",
            "10.0.0.128/25",
        ],
    );
    let left = truth::state(&lab);
    let remembered: BTreeSet<&str> = left.keys().map(String::as_str).collect();
    let expected: BTreeSet<&str> = ALL
        .into_iter()
        .filter(|a| {
            ![
                "google_compute_subnetwork.main",
                "google_compute_instance.main",
            ]
            .contains(a)
        })
        .collect();
    assert_eq!(remembered, expected, "{what}");
    assert!(truth::pending(&lab).is_empty(), "{what}");

    lab.outside("DELETE", &format!("{compute}/theirs"), "");
    lab.serve_again(&quick());
    lab.run(&APPLY).exits(0);
    let twice = truth::made_twice(&lab.log());
    assert!(twice.is_empty(), "{what}: {twice:#?}");
    lab.run(&PLAN).exits(0);
}

/// A request that is cut off again and again is given up, its outcome open: then once more.
#[track_caller]
fn to_the_end(lab: &Lab, command: &[&str]) {
    for _ in 0..2 {
        if lab.run(command).code == 0 {
            return;
        }
    }
    lab.run(command).exits(0);
}

#[test]
fn connections_are_cut_before_and_after_commit() {
    for seed in 1..=3 {
        let what = format!("cut connections, seed {seed}");
        let cuts = [
            json!({"mutating": true, "probability": 0.15, "cut": "before_commit"}),
            json!({"mutating": true, "probability": 0.25, "cut": "after_commit"}),
            json!({"probability": 0.05, "cut": "before_commit"}),
        ];
        let lab = lab(
            &quick()
                .with("seed", json!(seed))
                .with("faults", json!(cuts)),
            CONFIGURATION,
        );
        to_the_end(&lab, &APPLY);
        truth::check_agreement(&lab, &what);
        let log = lab.log();
        let cut = log.iter().filter(|l| l["status"].is_null()).count();
        assert!(cut > 0, "{what}: nothing was cut");
        let twice = truth::made_twice(&log);
        assert!(twice.is_empty(), "{what}: {twice:#?}");
        to_the_end(&lab, &PLAN);
        // and all of it away again
        to_the_end(&lab, &["destroy", "-auto-approve", "-input=false"]);
        let left = Cloud::of(&lab).objects;
        assert!(left.is_empty(), "{what}: left after destroy: {left:?}");
        assert!(truth::state(&lab).is_empty(), "{what}");
    }
}

#[test]
fn the_cloud_goes_away_in_mid_run() {
    for line in [4, 9, 14] {
        let what = format!("the cloud goes away at request {line}");
        let mut lab = lab(&Scenario::new().taking(50, 150), CONFIGURATION);
        let (code, output) = lab.run_orphaned(&APPLY, line);
        assert_eq!(code, Some(1), "{what}:\n{output}");
        // what was asked, for what, and why there is no answer
        says(
            &output,
            &["google_compute_", " compute/v1/projects/formwork-mock/"],
        );
        assert!(
            output.contains("reached") || output.contains("lost"),
            "{what}:\n{output}"
        );
        let known: BTreeSet<String> = truth::state(&lab)
            .into_keys()
            .chain(truth::pending(&lab))
            .collect();

        lab.serve_again(&quick());
        let cloud = Cloud::of(&lab);
        lab.run(&APPLY).exits(0);
        let (_, whole) = truth::check_agreement(&lab, &what);
        nothing_is_forgotten(&whole, &cloud, &known, &what);
        let twice = truth::made_twice(&lab.log());
        assert!(twice.is_empty(), "{what}: {twice:#?}");
        lab.run(&PLAN).exits(0);
    }
}
