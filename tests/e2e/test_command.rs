//! `test` from outside: mock clouds of their own, what is left when a clean-up fails, interruptions.

use crate::{env, repository};
use formwork_testkit::{TestEnv, interrupt};
use serde_json::Value as Json;

const GOOGLE: &str =
    "terraform {\n  required_providers {\n    google = { source = \"hashicorp/google\" }\n  }\n}\n";
const BUCKET: &str = "variable \"name\" {\n  default = \"one-bucket\"\n}\nresource \"google_storage_bucket\" \"b\" {\n  name     = var.name\n  location = \"US\"\n}\noutput \"name\" {\n  value = google_storage_bucket.b.name\n}\n";

fn with(files: &[(&str, &str)]) -> TestEnv {
    let env = env();
    for (path, text) in files {
        env.write(path, text);
    }
    env
}

fn names(env: &TestEnv) -> Vec<String> {
    let all = std::fs::read_dir(env.path()).expect("a folder");
    let mut names: Vec<String> = all
        .map(|e| {
            e.expect("an entry")
                .file_name()
                .to_string_lossy()
                .into_owned()
        })
        .collect();
    names.sort();
    names
}

/// The same bucket in two files and under two keys: a name that a cloud gives once.
#[test]
fn every_file_and_every_state_has_a_cloud_of_its_own() {
    let file = "run \"a\" {\n}\nrun \"b\" {\n  state_key = \"other\"\n}\n";
    let env = with(&[
        ("versions.tf", GOOGLE),
        ("main.tf", BUCKET),
        ("tests/a.tftest.hcl", file),
        ("tests/b.tftest.hcl", file),
    ]);
    let before = names(&env);
    let ran = env.run(&["test", "-mock"]);
    ran.exits(0)
        .says(&["Mock clouds: nothing real", "Success! 4 passed, 0 failed."]);
    assert_eq!(names(&env), before, "nothing is left on disk");
}

/// What a run is given of another state is there.
#[test]
fn states_between_which_values_flow_share_a_cloud() {
    let object = "variable \"bucket\" {}\nresource \"google_storage_bucket_object\" \"o\" {\n  bucket  = var.bucket\n  name    = \"o\"\n  content = \"x\"\n}\n";
    let env = with(&[
        ("versions.tf", GOOGLE),
        ("main.tf", object),
        ("setup/main.tf", &format!("{GOOGLE}{BUCKET}")),
        (
            "tests/a.tftest.hcl",
            "run \"setup\" {\n  module {\n    source = \"./setup\"\n  }\n}\nrun \"object\" {\n  variables {\n    bucket = run.setup.name\n  }\n  assert {\n    condition     = google_storage_bucket_object.o.md5hash != null\n    error_message = \"There is no object.\"\n  }\n}\n",
        ),
    ]);
    env.run(&["test", "-mock"])
        .exits(0)
        .says(&["Success! 2 passed, 0 failed."]);
    // Without it, there is no bucket.
    env.write(
        "tests/a.tftest.hcl",
        "run \"setup\" {\n  module {\n    source = \"./setup\"\n  }\n}\nrun \"object\" {\n  variables {\n    bucket = \"one-bucket\"\n  }\n}\n",
    );
    env.run(&["test", "-mock"])
        .exits(1)
        .says(&["Failure! 1 passed, 1 failed."]);
}

/// A mocked provider needs neither a cloud nor credentials, and takes any schema.
#[test]
fn mocked_providers_need_no_cloud() {
    let main = "resource \"google_compute_network\" \"n\" {\n  name                    = \"n\"\n  auto_create_subnetworks = false\n}\nresource \"google_compute_subnetwork\" \"s\" {\n  name          = \"s\"\n  region        = \"us-central1\"\n  network       = google_compute_network.n.id\n  ip_cidr_range = \"10.0.0.0/24\"\n}\noutput \"network\" {\n  value = google_compute_subnetwork.s.network\n}\n";
    let env = with(&[
        ("versions.tf", GOOGLE),
        ("main.tf", main),
        (
            "tests/a.tftest.hcl",
            "mock_provider \"google\" {\n  mock_resource \"google_compute_network\" {\n    defaults = {\n      id = \"projects/p/global/networks/n\"\n    }\n  }\n}\nrun \"a\" {\n  assert {\n    condition     = output.network == \"projects/p/global/networks/n\" && length(google_compute_subnetwork.s.id) == 8\n    error_message = \"It is ${output.network}.\"\n  }\n}\nrun \"again\" {\n  command = plan\n  assert {\n    condition     = google_compute_subnetwork.s.id != \"\"\n    error_message = \"It changes.\"\n  }\n}\n",
        ),
    ]);
    env.run(&["test"])
        .exits(0)
        .says(&["Success! 2 passed, 0 failed."]);
}

#[test]
fn what_is_left_is_listed_and_its_state_kept() {
    let kept = "resource \"terraform_data\" \"kept\" {\n  lifecycle {\n    prevent_destroy = true\n  }\n}\n";
    let env = with(&[
        ("main.tf", kept),
        ("a.tftest.hcl", "run \"a\" {\n}\n"),
        ("b.tftest.hcl", "run \"b\" {\n}\n"),
    ]);
    let ran = env.run(&["test"]);
    ran.exits(1).says(&[
        "  run \"a\"... pass\n",
        "a.tftest.hcl... fail\n",
        "  - terraform_data.kept\n",
        "errored_test.tfstate",
        "errored_test.2.tfstate",
        "Failure! 2 passed, 0 failed.",
    ]);
    for name in ["errored_test.tfstate", "errored_test.2.tfstate"] {
        let state: Json = serde_json::from_str(&env.text(name)).expect("a state");
        assert_eq!(state["resources"][0]["name"], "kept", "{name}");
    }
    let list = env.run(&["state", "list", "-state=errored_test.tfstate"]);
    assert_eq!(list.stdout, "terraform_data.kept\n");
    // A further one takes the next name.
    env.run(&["test", "-filter=a.tftest.hcl"]).exits(1);
    assert!(env.has("errored_test.3.tfstate"));
}

#[test]
fn events_never_hold_secrets() {
    let main = "variable \"password\" {\n  sensitive = true\n  default   = \"hunter22\"\n}\nresource \"terraform_data\" \"s\" {\n  triggers_replace = var.password\n}\noutput \"password\" {\n  value     = terraform_data.s.triggers_replace\n  sensitive = true\n}\n";
    let env = with(&[
        ("main.tf", main),
        (
            "tests/a.tftest.hcl",
            "run \"p\" {\n  command = plan\n}\nrun \"a\" {\n  assert {\n    condition     = output.password == \"other\"\n    error_message = \"It is ${output.password}.\"\n  }\n}\n",
        ),
    ]);
    for words in [
        &["test", "-json", "-verbose", "-junit-xml=o.xml"][..],
        &["test", "-verbose"],
    ] {
        let ran = env.run(words);
        ran.exits(1).never_says(&["hunter22"]);
    }
    assert!(!env.text("o.xml").contains("hunter22"));
    let ran = env.run(&["test", "-json", "-verbose"]);
    let lines: Vec<Json> = ran
        .stdout
        .lines()
        .map(|l| serde_json::from_str(l).expect("JSON"))
        .collect();
    let of = |kind: &str| lines.iter().find(|l| l["type"] == kind).expect("there");
    let plan = &of("test_plan")["test_plan"];
    assert_eq!(plan["plan_format_version"], "1.2");
    let change = &plan["resource_changes"][0]["change"];
    assert_eq!(change["after"]["triggers_replace"], Json::Null);
    assert_eq!(change["after_sensitive"]["triggers_replace"], true);
    let state = &of("test_state")["test_state"];
    assert_eq!(state["state_format_version"], "1.0");
    assert_eq!(state["outputs"]["password"]["value"], Json::Null);
    let values = &state["root_module"]["resources"][0]["values"];
    assert_eq!(values["triggers_replace"], Json::Null);
}

/// The first request to stop lets what runs end and cleans up.
#[test]
fn interrupted_tests_clean_up() {
    let main = "resource \"terraform_data\" \"a\" {\n  input = timestamp()\n}\n";
    let runs: String = (0..400).map(|i| format!("run \"r{i}\" {{\n}}\n")).collect();
    let env = with(&[("main.tf", main), ("tests/a.tftest.hcl", &runs)]);
    let child = env.start(&["test", "-json"]);
    formwork_testkit::until("a run has passed", || {
        env.started_output().contains("\"status\":\"pass\"")
    });
    interrupt(&child);
    let ended = child.wait_with_output().expect("it ends");
    assert_eq!(ended.status.code(), Some(1));
    let output = env.started_output();
    let mut lines = output.lines().filter(|l| l.starts_with('{'));
    let last = lines.next_back().expect("a summary");
    let last: Json = serde_json::from_str(last).expect("JSON");
    let skipped = last["test_summary"]["skipped"].as_u64();
    assert!(skipped.is_some_and(|n| n > 0), "{last}");
    assert!(output.contains("\"progress\":\"teardown\""));
    assert!(!output.contains("test_cleanup"), "{output}");
    assert!(!env.has("errored_test.tfstate"));
}

#[test]
fn validate_reads_test_files() {
    let env = with(&[
        ("main.tf", "output \"o\" {\n  value = 1\n}\n"),
        ("tests/a.tftest.hcl", "run \"a\" {\n  comand = plan\n}\n"),
    ]);
    env.run(&["validate"])
        .exits(1)
        .says(&["tests/a.tftest.hcl line 2", "Did you mean \"command\"?"]);
    env.run(&["validate", "-no-tests"]).exits(0);
    env.run(&["validate", "-test-directory=other"]).exits(0);
    env.run(&["test", "-cloud-run=x"])
        .exits(1)
        .says(&["-cloud-run"]);
}

/// The blueprint's own tests.
#[test]
fn the_blueprint_s_tests_pass() {
    let env = env();
    env.copy_to(&repository("blueprints/roce-cluster"), "roce-cluster");
    env.run(&["-chdir=roce-cluster", "test", "-mock"])
        .exits(0)
        .says(&["Success! 6 passed, 0 failed."]);
}

/// Each of two runs waits for what the other one does, so they come to an end only side by side.
#[test]
fn parallel_runs_are_made_at_the_same_time() {
    let env = env();
    env.write(
        "main.tf",
        r#"
variable "me" {}
variable "other" {}
resource "terraform_data" "meets" {
  input = var.me
  provisioner "local-exec" {
    command = ": > ${var.me}; n=0; while [ ! -e ${var.other} ] && [ $n -lt 300 ]; do n=$((n+1)); sleep 0.1; done; [ -e ${var.other} ]"
  }
}
output "me" { value = terraform_data.meets.output }
"#,
    );
    let run = |me: &str, other: &str, rest: &str| {
        format!(
            "run \"{me}\" {{\n  state_key = \"{me}\"\n  variables {{\n    me    = \"{me}\"\n    other = \"{other}\"\n  }}\n{rest}}}\n"
        )
    };
    let looks = "  assert {\n    condition     = run.one.me == \"one\" && run.two.me == \"two\"\n    error_message = \"m\"\n  }\n";
    env.write(
        "main.tftest.hcl",
        format!(
            "test {{\n  parallel = true\n}}\n{}{}{}",
            run("one", "two", ""),
            run("two", "one", ""),
            run("after", "one", looks)
        ),
    );
    env.run(&["test"]).exits(0).says(&["3 passed, 0 failed"]);
}
