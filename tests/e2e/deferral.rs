//! What cannot be planned yet: an error that says how to go on, or, with `-allow-deferral`, rounds.
//! Refreshes that read only what the plan touches.

use crate::env;
use formwork_testkit::{Ran, TestEnv, until};
use std::fs::File;
use std::io::Write as _;
use std::os::fd::OwnedFd;
use std::process::Stdio;

const CHAIN: &str = r#"
locals { n = length(terraform_data.a.id) }
resource "terraform_data" "a" { input = "x" }
resource "terraform_data" "b" {
  count = local.n > 3 ? 2 : 0
  input = count.index
}
resource "terraform_data" "c" {
  for_each = toset([for x in terraform_data.b : "k${length(x.id)}"])
  input    = each.key
}
resource "terraform_data" "d" { input = length(terraform_data.c) }
module "m" {
  source = "./m"
  count  = local.n > 3 ? 2 : 0
  x      = local.n
}
output "m" { value = module.m[*].x }
output "a" { value = terraform_data.a.input }
check "c" {
  assert {
    condition     = length(terraform_data.c) == 1
    error_message = "as many as keys"
  }
}
"#;

const MODULE: &str = r#"
variable "x" {
  validation {
    condition     = var.x < 100
    error_message = "Too many."
  }
}
resource "terraform_data" "y" { input = var.x }
resource "terraform_data" "z" {
  count = 2
  input = terraform_data.y.output
}
output "x" { value = terraform_data.z[*].output }
"#;

fn chain() -> TestEnv {
    let env = env();
    env.write("main.tf", CHAIN);
    env.write("m/main.tf", MODULE);
    env
}

/// The addresses and reasons of what a saved plan defers.
fn deferred(env: &TestEnv, plan: &str) -> Vec<String> {
    let json = env.run(&["show", "-json", plan]).exits(0).json();
    assert_eq!(json["errored"], false);
    let list = json["deferred_changes"].as_array().cloned();
    let all = list.unwrap_or_default();
    assert_eq!(json["complete"], all.is_empty());
    all.iter()
        .map(|d| {
            let address = d["resource_change"]["address"].as_str().expect("text");
            let reason = d["reason"].as_str().expect("text");
            format!("{address} {reason}")
        })
        .collect()
}

#[test]
fn an_error_names_the_cause_and_the_ways_out() {
    let env = chain();
    env.run(&["plan"]).exits(1).says(&[
        "Error: Invalid count argument",
        "It depends on terraform_data.a.id, which is known only after apply.",
        "formwork apply -target='terraform_data.a'",
        "formwork apply -exclude='terraform_data.b'",
        "formwork apply -exclude='module.m'",
        "formwork apply -allow-deferral",
    ]);
    // the ways that are named lead out
    env.run(&["apply", "-auto-approve", "-target=terraform_data.a"])
        .exits(0);
    env.run(&["apply", "-auto-approve"]).exits(1).says(&[
        "Error: Invalid for_each argument",
        "It depends on terraform_data.b[0].id",
    ]);
    env.run(&["apply", "-auto-approve", "-exclude=terraform_data.c"])
        .exits(0);
    env.run(&["apply", "-auto-approve"]).exits(0);
    env.run(&["plan", "-detailed-exitcode"]).exits(0);
}

#[test]
fn one_command_does_all_in_rounds() {
    let env = chain();
    env.run(&["apply", "-allow-deferral", "-auto-approve"])
        .exits(0)
        .says(&[
            "Deferred to a later round, too little is known yet: 5 changes",
            "  # module.m[*].terraform_data.z[*]\n  # (how many there are depends on terraform_data.a.id)",
            "  # terraform_data.d\n  # (it depends on terraform_data.c)",
            "Outputs that stay as they are until then: m.",
            "Round 1 is done: 1 added, 0 changed, 0 destroyed.",
            "Round 2 is done: 8 added, 0 changed, 0 destroyed.",
            "Apply complete! Resources: 11 added, 0 changed, 0 destroyed.",
        ])
        .never_says(&["Warning"]);
    env.run(&["plan", "-detailed-exitcode"]).exits(0);
    // nothing is deferred any more, whatever is removed
    env.run(&["destroy", "-allow-deferral", "-auto-approve"])
        .exits(0)
        .says(&["Destroy complete! Resources: 11 destroyed."]);
}

/// Runs with a terminal as standard input, at which this has been typed ahead.
fn answered(env: &TestEnv, arguments: &[&str], typed: &str) -> Ran {
    use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
    let ours = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).expect("a terminal");
    grantpt(&ours).expect("granted");
    unlockpt(&ours).expect("unlocked");
    let name = ptsname(&ours, Vec::new()).expect("a name");
    let flags = rustix::fs::OFlags::RDWR | rustix::fs::OFlags::NOCTTY;
    let end: OwnedFd =
        rustix::fs::open(name.as_c_str(), flags, rustix::fs::Mode::empty()).expect("the other end");
    let mut keys = File::from(ours);
    keys.write_all(typed.as_bytes()).expect("typed");
    let output = env
        .command(arguments)
        .stdin(Stdio::from(end))
        .output()
        .expect("the binary runs");
    Ran {
        arguments: arguments.join(" "),
        code: output.status.code().unwrap_or(-1),
        stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
        stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
    }
}

#[test]
fn rounds_are_approved_one_by_one() {
    let env = chain();
    answered(&env, &["apply", "-allow-deferral"], "yes\nno\n")
        .exits(1)
        .says(&[
            "Round 2: planning what was deferred.",
            "Nothing more was changed. What the rounds before have applied stays.",
        ]);
    assert_eq!(
        env.run(&["state", "list"]).exits(0).stdout,
        "terraform_data.a\n"
    );
    // the next run goes on from there
    answered(&env, &["apply", "-allow-deferral"], "yes\nyes\n")
        .exits(0)
        .says(&[
            "Round 1 is done: 8 added",
            "Apply complete! Resources: 10 added",
        ]);
}

#[test]
fn a_saved_plan_is_one_round() {
    let env = chain();
    let flag = [("FORMWORK_ALLOW_DEFERRAL", "1")];
    env.run_with(&["plan", "-out=one"], "", &flag).exits(0);
    assert_eq!(
        deferred(&env, "one"),
        [
            "terraform_data.b[*] instance_count_unknown",
            "terraform_data.c[*] instance_count_unknown",
            "terraform_data.d deferred_prereq",
            "module.m[*].terraform_data.y instance_count_unknown",
            "module.m[*].terraform_data.z[*] instance_count_unknown",
        ]
    );
    env.run(&["apply", "one"])
        .exits(0)
        .says(&["This plan leaves 5 deferred change(s) to a further round"]);
    // 2: there is more to do
    let two = ["plan", "-allow-deferral", "-detailed-exitcode", "-out=two"];
    env.run(&two).exits(2);
    assert_eq!(
        deferred(&env, "two"),
        [
            "terraform_data.c[*] instance_count_unknown",
            "terraform_data.d deferred_prereq"
        ]
    );
    env.run(&["apply", "two"]).exits(0);
    env.run(&["plan", "-out=three"]).exits(0);
    assert_eq!(deferred(&env, "three"), [] as [String; 0]);
    env.run(&["apply", "three"]).exits(0);
    env.run(&["plan", "-detailed-exitcode"]).exits(0);
    env.run_with(&["plan"], "", &[("FORMWORK_ALLOW_DEFERRAL", "maybe")])
        .exits(1)
        .says(&["Invalid FORMWORK_ALLOW_DEFERRAL"]);
    env.run_with(&["plan", "-allow-deferral=false"], "", &flag)
        .exits(0);
}

#[test]
fn without_progress_a_run_ends() {
    let env = env();
    env.write(
        "main.tf",
        r#"
resource "terraform_data" "a" { input = timestamp() }
resource "terraform_data" "b" { count = length(terraform_data.a.output) > 3 ? 1 : 0 }
"#,
    );
    env.run(&["apply", "-allow-deferral", "-auto-approve"])
        .exits(1)
        .says(&[
            "Round 1 is done: 1 added",
            "Error: Deferred changes make no progress",
            "terraform_data.b[*] (how many there are depends on terraform_data.a.output)",
            "What the rounds before have applied stays.",
        ]);
    assert_eq!(
        env.run(&["state", "list"]).exits(0).stdout,
        "terraform_data.a\n"
    );
}

#[test]
fn what_waits_stays_as_it_is() {
    let env = env();
    let write = |text: &str| {
        env.write("main.tf", text);
    };
    write(
        r#"
resource "terraform_data" "base" { input = 1 }
resource "terraform_data" "a" { input = "x" }
resource "terraform_data" "b" {
  count = length(terraform_data.a.id) > 3 ? 2 : 0
  input = terraform_data.base.output
}
output "b" { value = length(terraform_data.b) }
"#,
    );
    env.run(&["apply", "-allow-deferral", "-auto-approve"])
        .exits(0);
    // a is replaced, so nobody knows what b will have; base is gone, but what b was made from stays
    // until b is settled
    write(
        r#"
resource "terraform_data" "a" {
  input            = "x"
  triggers_replace = 1
}
resource "terraform_data" "b" {
  count = length(terraform_data.a.id) > 3 ? 1 : 0
}
output "b" { value = length(terraform_data.b) }
"#,
    );
    env.run(&["plan", "-allow-deferral", "-out=p"])
        .exits(0)
        .says(&[
            "# terraform_data.base (to be destroyed)\n  # (it depends on terraform_data.b)",
            "Plan: 1 to add, 0 to change, 1 to destroy.",
        ]);
    env.run(&["apply", "p"]).exits(0);
    let list = env.run(&["state", "list"]).exits(0).stdout.clone();
    assert_eq!(
        list,
        "terraform_data.a\nterraform_data.b[0]\nterraform_data.b[1]\nterraform_data.base\n"
    );
    env.run(&["apply", "-allow-deferral", "-auto-approve"])
        .exits(0)
        .says(&[
            "Apply complete! Resources: 0 added, 1 changed, 2 destroyed.",
            "b = 1",
        ]);
    env.run(&["plan", "-detailed-exitcode"]).exits(0);
}

#[test]
fn programs_are_told() {
    let env = chain();
    let ran = env.run(&["apply", "-allow-deferral", "-auto-approve", "-json"]);
    let out = &ran.exits(0).stdout;
    let lines: Vec<serde_json::Value> = out
        .lines()
        .map(|l| serde_json::from_str(l).expect("JSON"))
        .collect();
    let count = |kind: &str| lines.iter().filter(|l| l["type"] == kind).count();
    assert_eq!(count("outputs"), 4, "of each plan, and at the end");
    let summaries: Vec<String> = lines
        .iter()
        .filter(|l| l["type"] == "change_summary" && l["changes"]["operation"] == "apply")
        .map(|l| l["changes"]["add"].to_string())
        .collect();
    assert_eq!(
        summaries,
        ["1", "9", "11"],
        "all that the run has done so far"
    );
    assert!(out.contains("Round 2: planning what was deferred"));
    assert!(out.contains("Deferred: terraform_data.d (it depends on terraform_data.c)"));
}

const CLOUD: &str = r#"
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
  count         = length(split("/", google_compute_network.n.self_link)) > 3 ? 2 : 0
  name          = "s${count.index}"
  network       = google_compute_network.n.id
  ip_cidr_range = "10.${count.index}.0.0/20"
  region        = "us-central1"
}
"#;

#[test]
fn a_number_that_the_cloud_tells() {
    let env = env();
    env.write("main.tf", CLOUD);
    env.run(&["plan", "-mock"])
        .exits(1)
        .says(&["It depends on google_compute_network.n.self_link"]);
    env.run(&["apply", "-mock", "-allow-deferral", "-auto-approve"])
        .exits(0)
        .says(&[
            "Round 1 is done: 1 added",
            "Apply complete! Resources: 3 added",
        ]);
    env.run(&["plan", "-mock", "-detailed-exitcode"]).exits(0);
}

#[test]
fn a_provider_that_the_run_configures() {
    let env = env();
    let later = r#"
resource "terraform_data" "where" { input = "us-central1" }
provider "google" {
  alias  = "later"
  region = terraform_data.where.output
}
resource "google_compute_address" "a" {
  provider = google.later
  name     = "a"
}
data "google_client_config" "c" { provider = google.later }
output "region" { value = data.google_client_config.c.region }
"#;
    env.write("main.tf", format!("{CLOUD}{later}"));
    // by default it is configured by what is not known, as Terraform has it
    let only = [
        "apply",
        "-mock",
        "-auto-approve",
        "-exclude=google_compute_subnetwork.s",
    ];
    env.run(&only).exits(0).says(&["Resources: 3 added"]);
    env.run(&["destroy", "-mock", "-auto-approve"]).exits(0);
    env.run(&["plan", "-mock", "-allow-deferral"])
        .exits(0)
        .says(&[
            "# google_compute_address.a\n  # (its provider is configured by terraform_data.where)",
            "# google_compute_subnetwork.s[*]",
        ]);
    env.run(&["apply", "-mock", "-allow-deferral", "-auto-approve"])
        .exits(0)
        .says(&["Apply complete! Resources: 5 added"]);
    env.run(&["plan", "-mock", "-detailed-exitcode"]).exits(0);
}

/// Reads of the mock cloud since the log had this length: how many, and how long it is now.
fn reads(env: &TestEnv, since: usize) -> (usize, usize) {
    let log = env.run(&["mock", "log", "-json"]).exits(0).json();
    let log = log.as_array().expect("a list");
    let new = log.get(since..).unwrap_or_default();
    let count = new.iter().filter(|r| r["method"] == "GET").count();
    (count, log.len())
}

#[test]
fn a_light_refresh_asks_for_little() {
    let env = env();
    let main = |description: &str| {
        format!(
            r#"
terraform {{
  required_providers {{
    google = {{ source = "hashicorp/google" }}
  }}
}}
resource "google_compute_network" "n" {{
  name                    = "n"
  auto_create_subnetworks = false
}}
resource "google_compute_subnetwork" "s" {{
  count         = 4
  name          = "s${{count.index}}"
  network       = google_compute_network.n.id
  ip_cidr_range = "10.${{count.index}}.0.0/20"
  region        = "us-central1"
}}
resource "google_compute_address" "a" {{
  name        = "a"
  region      = "us-central1"
  description = "{description}"
}}
"#
        )
    };
    env.write("main.tf", main("one"));
    env.run(&["apply", "-mock", "-auto-approve"]).exits(0);
    let (_, begun) = reads(&env, 0);
    env.run(&["plan", "-mock", "-refresh=changed"])
        .exits(0)
        .says(&[
            "Light refresh: 6 objects that this plan does not touch were not read.",
            "No changes.",
        ]);
    let (nothing, begun) = reads(&env, begun);
    env.run(&["plan", "-mock"]).exits(0).never_says(&["Light"]);
    let (everything, begun) = reads(&env, begun);
    env.write("main.tf", main("two"));
    env.run(&["plan", "-mock", "-minimal-refresh", "-out=p"])
        .exits(0)
        .says(&["5 objects", "1 to add, 0 to change, 1 to destroy"]);
    let (one, _) = reads(&env, begun);
    // three types are three lists
    assert_eq!((nothing, one, everything), (0, 1, 3));
    let json = env.run(&["show", "-mock", "-json", "p"]).exits(0).json();
    assert_eq!(json["formwork"]["objects_not_read"], 5);
    env.run(&["apply", "-mock", "p"]).exits(0);
    for wrong in [
        &["plan", "-refresh-only", "-refresh=changed"][..],
        &["plan", "-refresh=false", "-minimal-refresh"],
        &["plan", "-refresh=some"],
    ] {
        env.run(wrong).exits(1);
    }
}

#[test]
fn killed_between_rounds() {
    let env = chain();
    let mut child = env.start(&[
        "apply",
        "-allow-deferral",
        "-auto-approve",
        "-parallelism=1",
    ]);
    // somewhere in the second round, or just before or after it
    until("a second round", || {
        env.started_output().contains("Round 2: planning")
    });
    let _ = child.kill();
    child.wait().expect("it has ended");
    env.run(&["apply", "-allow-deferral", "-auto-approve"])
        .exits(0);
    env.run(&["plan", "-detailed-exitcode"]).exits(0);
    let list = env.run(&["state", "list"]).exits(0).stdout.clone();
    assert_eq!(list.lines().count(), 11, "{list}");
}
