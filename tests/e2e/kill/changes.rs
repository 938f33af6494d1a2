//! What is killed while it changes, replaces (in both orders) and destroys objects.
//!
//! A small configuration goes through its life: made, changed into another one, destroyed. Every step is
//! killed at a line of the mock's request log, once or twice, and then run to its end. 5 % of the answers
//! to changing requests are cut off before, 5 % after they were done. After each step the cloud and the
//! state agree, nothing is left behind under a deposed key, and the plan is empty; in the end the cloud
//! is empty.

use crate::lab::{GOOGLE, Kill, Lab};
use crate::truth::{self, Cloud};
use crate::{APPLY, DESTROY, Draw, PLAN};
use formwork_testkit::{Scenario, budget};
use serde_json::json;
use std::time::Instant;

/// Requests that a step makes, roughly; a kill that comes too late finds the step ended.
const LINES: usize = 45;

/// The configuration, one of two versions.
fn configuration(second: bool) -> String {
    let pick = |one: &'static str, two: &'static str| if second { two } else { one };
    let text = pick("one", "two");
    let octet = pick("1", "2");
    let subnetworks = pick("3", "2");
    let size = pick("10", "20");
    format!(
        r#"
{GOOGLE}
resource "google_compute_network" "n" {{
  name                    = "n"
  auto_create_subnetworks = false
}}

resource "google_compute_subnetwork" "s" {{
  count         = {subnetworks}
  name          = "s-${{count.index}}"
  network       = google_compute_network.n.id
  ip_cidr_range = "10.${{count.index}}.{octet}.0/24"
}}

resource "google_compute_firewall" "f" {{
  name          = "f"
  network       = google_compute_network.n.id
  description   = "{text}"
  source_ranges = ["10.0.{octet}.0/24"]

  allow {{
    protocol = "icmp"
  }}
}}

resource "google_compute_disk" "kept" {{
  name   = "kept"
  size   = {size}
  labels = {{ version = "{text}" }}
}}

resource "google_compute_disk" "first" {{
  name = "first-{text}"
  size = 10

  lifecycle {{
    create_before_destroy = true
  }}
}}

resource "google_compute_instance" "vm" {{
  name         = "vm-{text}"
  machine_type = "n2-standard-8"
  labels       = {{ version = "{text}" }}

  boot_disk {{
    initialize_params {{
      image = "projects/ubuntu-os-cloud/global/images/family/ubuntu-2404-lts-amd64"
    }}
  }}

  attached_disk {{
    source = google_compute_disk.kept.id
  }}

  network_interface {{
    subnetwork = google_compute_subnetwork.s[0].id
  }}
}}

resource "google_service_account" "a" {{
  account_id = "account-{text}"
}}

resource "google_project_iam_member" "a" {{
  project = "formwork-mock"
  role    = "roles/viewer"
  member  = google_service_account.a.member
}}
"#
    )
}

/// One step: killed once or twice, then run to its end (which a request that is cut off again and again
/// may take a second run for).
fn step(lab: &Lab, command: &[&str], draw: &mut Draw) {
    for _ in 0..draw.up_to(2) {
        let kill = Kill::AtLine(draw.up_to(LINES));
        lab.run_killed(command, kill);
    }
    if lab.run(command).code != 0 {
        lab.run(command).exits(0);
    }
}

#[test]
fn killed_changes_lose_nothing() {
    let begun = Instant::now();
    let seed = 4;
    println!("changes: seed {seed}");
    for number in 1u64.. {
        // one round for two seconds at most: a faster machine tries nothing that a slower one did not
        if number > 2 && (number > budget().as_secs() / 2 || begun.elapsed() > budget()) {
            println!("changes: {} rounds", number - 1);
            break;
        }
        let mut draw = Draw(seed ^ number.rotate_left(40));
        let scenario = Scenario::new()
            .with("seed", json!(seed + number))
            .taking(20, 80)
            .fault(json!({"mutating": true, "probability": 0.05, "cut": "before_commit"}))
            .fault(json!({"mutating": true, "probability": 0.05, "cut": "after_commit"}));
        let lab = Lab::new(&scenario, "root", |_| {});
        for second in [false, true] {
            lab.env.write("root/main.tf", configuration(second));
            step(&lab, &APPLY, &mut draw);
            truth::check_agreement(&lab, &format!("round {number}, second {second}"));
            lab.run(&PLAN).exits(0);
        }
        step(&lab, &DESTROY, &mut draw);
        let left = Cloud::of(&lab).objects;
        assert!(left.is_empty(), "round {number}: left: {left:?}");
        assert!(truth::state(&lab).is_empty(), "round {number}");
    }
}
