//! What is wrong is found before anything is changed, and told with its place.

use crate::{env, repository};
use formwork_testkit::{Scenario, TestEnv, until};
use serde_json::json;

const GOOGLE: &str = "terraform {\n  required_providers {\n    google   = { source = \"hashicorp/google\" }\n    formwork = { source = \"formwork/formwork\" }\n  }\n}\n";

/// Plans a configuration against a mock cloud: it must fail, say all parts, and change nothing.
#[track_caller]
fn check_plan(env: &TestEnv, arguments: &[&str], parts: &[&str]) {
    let all: Vec<&str> = ["plan", "-mock"].iter().chain(arguments).copied().collect();
    env.run(&all).exits(1).says(parts);
    let log = env.run(&["mock", "log", "-json"]).exits(0).json();
    let changed: Vec<_> = log
        .as_array()
        .expect("a list")
        .iter()
        .filter(|l| l["committed"] == true)
        .collect();
    assert!(changed.is_empty(), "{changed:?}");
}

#[track_caller]
fn check(text: &str, arguments: &[&str], parts: &[&str]) {
    let env = env();
    env.write("versions.tf", GOOGLE).write("main.tf", text);
    check_plan(&env, arguments, parts);
}

#[test]
fn in_the_configuration() {
    let network = "resource \"google_compute_network\" \"n\" {\n  name = \"n\"\n  auto_create_subnetworks = false\n}\n";
    check(
        "resource \"x\" \"y\" {\n  a = = 1\n}\n",
        &[],
        &[
            "Error: Invalid expression",
            "main.tf line 2",
            "2:   a = = 1\n            ^\n",
        ],
    );
    check(
        "resource \"google_compute_network\" \"n\" {\n  name = \"n\"\n  mtuu = 1500\n}\n",
        &[],
        &[
            "Unsupported argument",
            "main.tf line 3",
            "3:   mtuu = 1500\n        ^^^^\n",
        ],
    );
    check(
        "resource \"google_compute_network\" \"n\" {\n  name = \"n\"\n  mtu  = \"wide\"\n}\n",
        &[],
        &[
            "main.tf line 3",
            "3:   mtu  = \"wide\"\n               ^^^^^^\n",
            "number",
        ],
    );
    check(
        "variable \"zone\" {}\noutput \"z\" { value = var.zone }\n",
        &[],
        &[
            "No value for required variable",
            "main.tf line 1",
            "1: variable \"zone\" {}\n      ^^^^^^^^^^^^^^^\n",
        ],
    );
    check(
        "resource \"terraform_data\" \"a\" { input = terraform_data.b.id }\nresource \"terraform_data\" \"b\" { input = terraform_data.a.id }\n",
        &[],
        &["Cycle", "terraform_data.a", "terraform_data.b"],
    );
    check(
        "output \"n\" { value = google_compute_network.m.id }\n",
        &[],
        &[
            "Reference to undeclared resource",
            "main.tf line 1",
            "{ value = google_compute_network.m.id }\n                           ^^^^^^^^^^^^^^^^^^^^^^^^",
        ],
    );
    check(
        "resource \"google_compute_netwrok\" \"n\" {}\n",
        &[],
        &[
            "Invalid resource type",
            "google_compute_network",
            "main.tf line 1",
        ],
    );
    check(
        &format!("{network}output \"x\" {{ value = google_compute_network.n.nmae }}\n"),
        &[],
        &[
            "main.tf line 5",
            "\n                                                   ^^^^^\n",
            "nmae",
        ],
    );
    check(
        "terraform {\n  backend \"gcs\" {\n    bucket = \"b\"\n  }\n}\noutput \"a\" { value = \"a\" + 1 }\n",
        &[],
        &["main.tf line 6"],
    );
    check(
        "output \"a\" {\n  value = provider::formwork::fabric(\"a9-megagpu-99g\", \"us-central1-b\").mtu + 1\n}\n",
        &[],
        &[
            "main.tf line 2",
            "fabric(\"a9-megagpu-99g\", \"us-central1-b\").mtu + 1\n                                           ^^^^^^^^^^^^^^^^\n",
        ],
    );
    check(
        &format!(
            "{network}resource \"google_compute_subnetwork\" \"a\" {{\n  name = \"a\"\n  network = google_compute_network.n.id\n  ip_cidr_range = \"10.0.0.0/16\"\n  region = \"us-central1\"\n}}\nresource \"google_compute_subnetwork\" \"b\" {{\n  name = \"b\"\n  network = google_compute_network.n.id\n  ip_cidr_range = \"10.0.4.0/24\"\n  region = \"us-east1\"\n}}\n"
        ),
        &[],
        &[
            "google_compute_subnetwork.a",
            "google_compute_subnetwork.b",
            "10.0.4.0/24",
            "10.0.0.0/16",
        ],
    );
}

#[test]
fn a_backend_that_is_not_served() {
    let env = env();
    env.write(
        "main.tf",
        "terraform {\n  backend \"s3\" {\n    bucket = \"b\"\n  }\n}\n",
    );
    for command in [
        &["plan"][..],
        &["apply", "-auto-approve"],
        &["output"],
        &["state", "list"],
        &["show"],
        &["console"],
        &["workspace", "list"],
        &["init"],
    ] {
        env.run(command)
            .exits(1)
            .says(&["Backend not served yet", "main.tf line 2", "-mock"]);
    }
    // validate touches no state, and under -mock the backend is passed over
    env.run(&["validate"]).exits(0);
    env.run(&["plan", "-mock"]).exits(0);
    env.write("main.tf", "terraform {\n  backend \"local\" {\n    path = \"there/my.tfstate\"\n  }\n}\nresource \"terraform_data\" \"a\" {}\n");
    env.run(&["apply", "-auto-approve"]).exits(0);
    assert!(env.has("there/my.tfstate"));
    assert_eq!(
        env.run(&["state", "list"]).exits(0).stdout,
        "terraform_data.a\n"
    );
}

#[test]
fn in_the_blueprint() {
    let env = env();
    env.copy_to(&repository("blueprints/roce-cluster"), "roce-cluster");
    let example = "-chdir=roce-cluster/examples/a4";
    let text = env.text("roce-cluster/examples/a4/main.tf");
    let check = |from: &str, to: &str, parts: &[&str]| {
        assert!(text.contains(from), "{from} is not in the example");
        env.write("roce-cluster/examples/a4/main.tf", text.replace(from, to));
        env.run(&[example, "plan", "-mock"]).exits(1).says(parts);
    };
    check(
        "a4-highgpu-8g",
        "a4-hihgpu-8g",
        &["a4-hihgpu-8g", "a4-highgpu-8g"],
    );
    check("a4-highgpu-8g", "a2-highgpu-8g", &["a2-highgpu-8g"]);
    check("us-central1-b", "us-central1-zz", &["us-central1-zz"]);
    let log = env.run(&[example, "mock", "log", "-json"]).exits(0).json();
    let changed = log
        .as_array()
        .expect("a list")
        .iter()
        .filter(|l| l["committed"] == true)
        .count();
    assert_eq!(changed, 0);
}

#[test]
fn in_the_state() {
    let env = env();
    env.write("main.tf", "resource \"terraform_data\" \"a\" {}\n");
    env.run(&["apply", "-auto-approve"]).exits(0);
    let state = env.text("terraform.tfstate");
    let check = |text: &str, parts: &[&str]| {
        env.write("terraform.tfstate", text);
        for command in [
            &["plan"][..],
            &["apply", "-auto-approve"],
            &["state", "list"],
            &["output"],
        ] {
            env.run(command).exits(1).says(parts);
        }
        assert_eq!(env.text("terraform.tfstate"), text, "it is left as it is");
    };
    check(&state[..state.len() / 2], &["terraform.tfstate"]);
    check("[]", &["terraform.tfstate"]);
    check(
        &state.replace("\"version\": 4", "\"version\": 5"),
        &["terraform.tfstate", "5"],
    );
    env.write("terraform.tfstate", &state);
    env.run(&["plan", "-detailed-exitcode"]).exits(0);
}

#[test]
fn a_locked_state() {
    let env = crate::two_networks();
    let server = env.serve("world", &Scenario::new().taking(1500, 1600));
    let mut first = env.start(&["apply", "-auto-approve", &server.flag]);
    until("something is made", || !server.committed(&env).is_empty());
    env.run(&["plan", &server.flag]).exits(1).says(&[
        "Error acquiring the state lock",
        "tester@",
        "-lock-timeout",
    ]);
    env.run(&["apply", "-auto-approve", "-lock-timeout=60s", &server.flag])
        .exits(0)
        .says(&["0 added, 0 changed, 0 destroyed"]);
    assert!(
        first.wait().expect("it ends").success(),
        "{}",
        env.started_output()
    );
    assert_eq!(server.committed(&env).len(), 4);
}

#[test]
fn the_first_read_is_refused() {
    let env = crate::two_networks();
    let server = env.serve("world", &Scenario::new());
    env.run(&["apply", "-auto-approve", &server.flag]).exits(0);
    let done = server.committed(&env).len();
    server.kill();
    let refusing = Scenario::new().fault(json!({"method": "compute.networks.*", "status": 403, "reason": "forbidden", "message": "Required 'compute.networks.get' permission"}));
    let server = env.serve("world", &refusing);
    env.run(&["plan", &server.flag]).exits(1).says(&[
        "google_compute_network.all",
        "403",
        "compute.networks.get",
    ]);
    env.run(&["apply", "-auto-approve", &server.flag]).exits(1);
    assert_eq!(server.committed(&env).len(), done);
}
