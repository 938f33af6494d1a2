//! What the tools around us call and parse, each as it does it: unchanged pipelines must work with the
//! binary in Terraform's place. The expressions are those of the tools' sources.

use crate::env;
use formwork_testkit::{Ran, Scenario, TestEnv, until};
use regex::Regex;
use serde_json::Value;

const MAIN: &str = r#"
variable "size" {
  default = 1
}
resource "terraform_data" "a" {
  input = var.size
}
resource "terraform_data" "b" {
  triggers_replace = var.size
}
module "m" {
  source = "./m"
  from   = terraform_data.a.output
}
output "size" {
  value = terraform_data.a.output
}
output "hidden" {
  value     = "hunter2"
  sensitive = true
}
"#;
const MODULE: &str =
    "variable \"from\" {}\nresource \"terraform_data\" \"in\" {\n  input = var.from\n}\n";

/// The binary under another name, on a configuration.
struct Pipeline {
    env: TestEnv,
    name: String,
}

impl Pipeline {
    fn new(name: &str) -> Self {
        let env = env();
        env.write("main.tf", MAIN).write("m/main.tf", MODULE);
        env.write("bin/.keep", "");
        let link = env.path().join("bin").join(name);
        std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_formwork"), &link).expect("a link");
        Self {
            env,
            name: link.display().to_string(),
        }
    }

    #[track_caller]
    fn run(&self, line: &str) -> Ran {
        let words: Vec<&str> = line.split(' ').collect();
        self.env.run_program(&self.name, &words, "")
    }

    /// Runs what must succeed and write nothing to standard error: some read both streams as one.
    #[track_caller]
    fn quietly(&self, line: &str) -> Ran {
        let ran = self.run(line);
        assert_eq!(ran.exits(0).stderr, "", "{line}");
        ran
    }
}

#[track_caller]
fn captures(expression: &str, text: &str) -> Vec<String> {
    let found = Regex::new(expression)
        .expect("an expression")
        .captures(text);
    let found = found.unwrap_or_else(|| panic!("{expression} finds nothing in\n{text}"));
    found
        .iter()
        .map(|m| m.map_or(String::new(), |m| m.as_str().to_owned()))
        .collect()
}

#[test]
fn names() {
    let check = |name: &str, compat: Option<&str>, first: &str, level: &str| {
        let pipeline = Pipeline::new(name);
        let setting = format!("FORMWORK_COMPAT={}", compat.unwrap_or_default());
        let run = |arguments: &[&str]| {
            let words = [&[&*setting, &pipeline.name], arguments].concat();
            pipeline.env.run_program("/usr/bin/env", &words, "")
        };
        for spelling in ["version", "-version", "--version", "-v"] {
            let ran = run(&[spelling]);
            assert!(ran.exits(0).stderr.is_empty());
            assert_eq!(ran.stdout.lines().next(), Some(first), "{name} {compat:?}");
        }
        let json = run(&["version", "-json"]).exits(0).json();
        assert_eq!(json["terraform_version"], level, "{name}");
        for key in ["platform", "provider_selections", "terraform_outdated"] {
            assert!(!json[key].is_null(), "{key}");
        }
    };
    let ours = format!("Formwork v{}", env!("CARGO_PKG_VERSION"));
    check("formwork", None, &ours, "1.12.2");
    check("terraform", None, "Terraform v1.12.2", "1.12.2");
    check("tofu", None, "OpenTofu v1.12.2", "1.12.2");
    check("terraform1.9.8", None, "Terraform v1.9.8", "1.9.8");
    check("tofu1.10", None, "OpenTofu v1.10.0", "1.10.0");
    check("terraformer", None, &ours, "1.12.2");
    check("formwork", Some("terraform"), "Terraform v1.12.2", "1.12.2");
    check("formwork", Some("tofu1.9.1"), "OpenTofu v1.9.1", "1.9.1");
    let wrong = [("FORMWORK_COMPAT", "pulumi")];
    env()
        .run_with(&["version"], "", &wrong)
        .exits(1)
        .says(&["Invalid FORMWORK_COMPAT"]);
}

/// Atlantis: server/core/terraform/tfclient, server/core/runtime, server/events/models.
#[test]
fn atlantis() {
    let p = Pipeline::new("terraform");
    let version = p.quietly("version");
    let found = captures(r"(?:Terraform|OpenTofu) v(.*?)(\s.*)?\n", &version.stdout);
    assert_eq!(found[1], "1.12.2");
    p.quietly("init -input=false");
    p.quietly("get -update");
    assert_eq!(p.quietly("workspace show").stdout, "default\n");
    p.run("workspace select staging").exits(1);
    p.quietly("workspace new staging");
    p.quietly("workspace select default");
    let counts = |text: &str| {
        captures(
            r"Plan: (?:(\d+) to import, )?(\d+) to add, (\d+) to change, (\d+) to destroy.",
            text,
        )[1..]
            .join(" ")
    };
    // the file of the plan is named by a path of its own making, and looked for there
    let file = p.env.path().join("proj-default.tfplan");
    let file = file.display();
    let plan = p.run(&format!("plan -input=false -refresh -out {file}"));
    assert_eq!(counts(&plan.exits(0).stdout), " 3 0 0");
    let json = p.quietly(&format!("show -json {file}")).json();
    assert!(json["resource_changes"].is_array());
    // apply ends in what is shown under the pull request
    p.run(&format!("apply -input=false {file}"))
        .exits(0)
        .says(&["Apply complete! Resources: 3 added, 0 changed, 0 destroyed."]);
    let again = p.run("plan -input=false -refresh -out x.tfplan");
    captures(
        r"No changes. (Infrastructure is up-to-date|Your infrastructure matches the configuration).",
        &again.exits(0).stdout,
    );
    let change = p.run("plan -input=false -refresh -var size=2 -out x.tfplan");
    assert_eq!(counts(&change.exits(0).stdout), " 1 2 1");
    // what follows the last of these is shown; the lines of a diff have their sign after two blanks,
    // and are moved to the front for the colours of a comment
    let text = change
        .stdout
        .split("Refreshing state...")
        .last()
        .unwrap_or_default();
    captures(
        r"(?m)^( +)([-+~]\s)(.*)(\s=\s|\s->\s|<<|\{|\(known after apply\)| {2,}[^ ]+:.*)",
        text,
    );
}

/// Digger: libs/execution, with `terraform` on the path.
#[test]
fn digger() {
    let p = Pipeline::new("terraform");
    p.quietly("init -input=false -no-color");
    let plan = "plan -input=false -no-color -detailed-exitcode -out plan.tfplan -lock-timeout=3m";
    p.run(plan).exits(2);
    let json = p.quietly("show -no-color -json plan.tfplan").json();
    let actions: Vec<&Value> = json["resource_changes"]
        .as_array()
        .expect("changes")
        .iter()
        .map(|c| &c["change"]["actions"])
        .collect();
    assert!(actions.iter().all(|a| **a == serde_json::json!(["create"])));
    let apply = "apply -lock-timeout=3m -input=false -no-color -auto-approve plan.tfplan";
    let ran = p.run(apply);
    let found = captures(
        r"(\d+) added, (\d+) changed, (\d+) destroyed",
        &ran.exits(0).stdout,
    );
    assert_eq!(found[1..], ["3", "0", "0"]);
    p.run(plan).exits(0);
    assert_eq!(p.quietly("workspace list").stdout, "* default\n\n");
    p.env.write("main.tf", "nonsense {\n");
    p.run(plan).exits(1);
}

/// terraform-exec and tofu-controller, which stands on it: runner/server_plan.go.
#[test]
fn terraform_exec() {
    let p = Pipeline::new("terraform");
    let version = p.quietly("version -json").json();
    assert!(version["terraform_version"].is_string());
    assert!(version["provider_selections"].is_object());
    p.run("init -no-color -input=false -backend=true -get=true -upgrade=false")
        .exits(0);
    p.run("plan -no-color -input=false -detailed-exitcode -lock-timeout=0s -out=tfplan -parallelism=10 -refresh=true -lock=true")
        .exits(2);
    let plan = p.quietly("show -json -no-color tfplan").json();
    assert_eq!(plan["format_version"], "1.2");
    assert!(plan["planned_values"]["root_module"].is_object());
    p.quietly("show -no-color tfplan");
    p.run("apply -no-color -auto-approve -input=false -lock=true -parallelism=10 -refresh=true tfplan")
        .exits(0);
    let outputs = p.quietly("output -no-color -json").json();
    assert_eq!(outputs["hidden"]["sensitive"], true);
    assert_eq!(outputs["size"]["value"], 1);
    assert_eq!(outputs["size"]["type"], "number");
    let state = p.quietly("show -json -no-color").json();
    assert_eq!(state["format_version"], "1.0");
    p.quietly("workspace list -no-color");
    p.quietly("workspace show -no-color");
    p.quietly("providers schema -json -no-color");
    p.quietly("metadata functions -json");
    let valid = p.quietly("validate -no-color -json").json();
    assert_eq!(valid["format_version"], "1.0");
    // a plan of nothing has a root module all the same, which the controller follows unasked
    p.env.write("main.tf", "");
    p.run("destroy -no-color -auto-approve -input=false")
        .exits(0);
    p.run("plan -no-color -input=false -detailed-exitcode -out=empty")
        .exits(0);
    let plan = p.quietly("show -json -no-color empty").json();
    assert!(plan["planned_values"]["root_module"].is_object());
    assert!(
        plan["terraform_version"]
            .as_str()
            .is_some_and(|v| !v.is_empty())
    );
}

/// tofu-controller finds the lock in the text of the error.
#[test]
fn a_lock_that_the_controller_reads() {
    let env = crate::two_networks();
    let server = env.serve("world", &Scenario::new().taking(1500, 1600));
    let mut first = env.start(&["apply", "-auto-approve", &server.flag]);
    until("something is made", || !server.committed(&env).is_empty());
    let ran = env.run(&["plan", "-no-color", &server.flag]);
    let text = &ran.exits(1).stderr;
    assert!(text.contains("Error acquiring the state lock"), "{text}");
    let mut at = 0;
    for line in [
        "Lock Info:",
        "ID:",
        "Path:",
        "Operation:",
        "Who:",
        "Version:",
        "Created:",
    ] {
        let found = text[at..].find(line);
        at += found.unwrap_or_else(|| panic!("{line} is missing or out of order\n{text}"));
    }
    let id = captures(r"Lock Info:\s+ID:\s+([a-f0-9\-]+)", text);
    assert_eq!(id[1].len(), 36, "{text}");
    assert!(first.wait().expect("it ends").success());
}

/// terraform-json: `format_version` of everything that it decodes, and its bounds.
#[test]
fn terraform_json() {
    let p = Pipeline::new("terraform");
    p.run("plan -out=p").exits(0);
    let version = |line: &str| {
        let json = p.quietly(line).json();
        let text = json["format_version"]
            .as_str()
            .expect("a version")
            .to_owned();
        let (major, minor) = text.split_once('.').expect("two parts");
        let parts: (u32, u32) = (
            major.parse().expect("a number"),
            minor.parse().expect("a number"),
        );
        parts
    };
    for line in [
        "show -json p",
        "show -json",
        "validate -json",
        "providers schema -json",
    ] {
        let version = version(line);
        assert!(((0, 1)..(2, 0)).contains(&version), "{line}: {version:?}");
    }
    assert_eq!(version("metadata functions -json").0, 1);
}

/// Infracost reads what is planned and how it is configured.
#[test]
fn infracost() {
    let p = Pipeline::new("terraform");
    p.run("plan -out=tfplan").exits(0);
    let plan = p.quietly("show -json tfplan").json();
    let configuration = &plan["configuration"];
    let providers = configuration["provider_config"]
        .as_object()
        .expect("providers");
    for config in providers.values() {
        assert!(config["full_name"].is_string(), "{config}");
    }
    let root = &configuration["root_module"];
    assert_eq!(root["module_calls"]["m"]["source"], "./m");
    let resources = root["resources"].as_array().expect("resources");
    let a = resources
        .iter()
        .find(|r| r["name"] == "a")
        .expect("the resource");
    assert_eq!(a["expressions"]["input"]["references"][0], "var.size");
    let constants = Pipeline::new("terraform");
    constants.env.write(
        "main.tf",
        "resource \"terraform_data\" \"x\" {\n  input = \"t\"\n}\n",
    );
    constants.run("plan -out=tfplan").exits(0);
    let plan = constants.quietly("show -json tfplan").json();
    let x = &plan["configuration"]["root_module"]["resources"][0];
    assert_eq!(x["expressions"]["input"]["constant_value"], "t");
    for key in [
        "planned_values",
        "variables",
        "resource_changes",
        "terraform_version",
    ] {
        assert!(!plan[key].is_null() || key == "variables", "{key}");
    }
    let child =
        &p.quietly("show -json tfplan").json()["planned_values"]["root_module"]["child_modules"][0];
    assert_eq!(child["address"], "module.m");
}

/// Checkov, Trivy and Conftest: what makes a file a plan, and the words of actions.
#[test]
fn scanners() {
    let p = Pipeline::new("terraform");
    p.run("apply -auto-approve").exits(0);
    p.run("plan -var=size=2 -out=tfplan").exits(0);
    let plan = p.quietly("show -json tfplan").json();
    assert!(
        plan["terraform_version"]
            .as_str()
            .is_some_and(|v| !v.is_empty())
    );
    assert!(plan["format_version"].is_string());
    let words = ["no-op", "create", "read", "update", "delete", "forget"];
    for change in plan["resource_changes"].as_array().expect("changes") {
        let actions = change["change"]["actions"].as_array().expect("actions");
        assert!(
            actions.iter().all(|a| words.iter().any(|w| a == w)),
            "{change}"
        );
        for key in ["before", "after", "after_unknown"] {
            assert!(change["change"].get(key).is_some(), "{key}");
        }
        for key in ["address", "type", "name", "mode"] {
            assert!(change[key].is_string(), "{key}");
        }
    }
    let b = plan["resource_changes"].as_array().expect("changes");
    let b = b.iter().find(|c| c["name"] == "b").expect("the change");
    assert_eq!(
        b["change"]["actions"],
        serde_json::json!(["delete", "create"])
    );
    // what is ours stands under one key
    let known = [
        "format_version",
        "terraform_version",
        "variables",
        "planned_values",
        "resource_drift",
        "resource_changes",
        "output_changes",
        "prior_state",
        "configuration",
        "relevant_attributes",
        "checks",
        "timestamp",
        "applyable",
        "complete",
        "errored",
        "deferred_changes",
        "formwork",
    ];
    for key in plan.as_object().expect("a plan").keys() {
        assert!(known.contains(&&**key), "{key}");
    }
}

/// Terragrunt: the version, and everything else as anybody.
#[test]
fn terragrunt() {
    for (name, implementation) in [("terraform", "Terraform"), ("tofu", "OpenTofu")] {
        let p = Pipeline::new(name);
        let found = captures(r"^(\S+)\s(v?\d+\.\d+\.\d+)", &p.quietly("-version").stdout);
        assert_eq!(found[1], implementation);
        let numbers: Vec<u32> = found[2]
            .trim_start_matches('v')
            .split('.')
            .map(|n| n.parse().expect("a number"))
            .collect();
        assert!(numbers[..] >= [0, 12, 0][..]);
    }
}

/// pre-commit-terraform and tflint: validation as JSON, layout, and where modules are listed.
#[test]
fn checks_before_a_commit() {
    let p = Pipeline::new("terraform");
    p.env.write("m/main.tf", MODULE);
    p.run("fmt -check -recursive").exits(0);
    let valid = p.quietly("validate -json").json();
    assert_eq!(valid["valid"], true);
    p.quietly("init -backend=false -input=false");
    assert!(p.env.has(".terraform/modules/modules.json"));
    p.env.write(
        "main.tf",
        "module \"x\" {\n  source = \"git::https://127.0.0.1:1/x.git\"\n}\n",
    );
    let invalid = p.run("validate -json");
    let json = invalid.exits(1).json();
    assert_eq!(json["valid"], false);
    // by these words it knows that init is to be run first
    let words = [
        "Module not installed",
        "Missing required provider",
        "terraform init",
        "Could not load plugin",
    ];
    let said = json["diagnostics"].as_array().expect("diagnostics");
    assert!(
        said.iter().any(|d| words
            .iter()
            .any(|w| d["summary"].as_str().is_some_and(|s| s.contains(w)))),
        "{json}"
    );
}

/// driftctl and everything else that reads state files: version 4.
#[test]
fn readers_of_states() {
    let p = Pipeline::new("terraform");
    p.run("apply -auto-approve").exits(0);
    let state: Value = serde_json::from_str(&p.env.text("terraform.tfstate")).expect("JSON");
    assert_eq!(state["version"], 4);
    let pulled = p.quietly("state pull").json();
    assert_eq!(pulled["serial"], state["serial"]);
    for resource in state["resources"].as_array().expect("resources") {
        for key in ["mode", "type", "name", "provider", "instances"] {
            assert!(!resource[key].is_null(), "{key}");
        }
    }
}

/// A plan that fails is saved all the same, shown as what it is, and never applied.
#[test]
fn a_plan_that_fails() {
    let p = Pipeline::new("terraform");
    p.env.write(
        "main.tf",
        "variable \"v\" {\n  default = 1\n}\nresource \"terraform_data\" \"a\" {}\nresource \"terraform_data\" \"b\" {\n  lifecycle {\n    precondition {\n      condition     = var.v == 2\n      error_message = \"no\"\n    }\n  }\n}\n",
    );
    let ran = p.run("plan -detailed-exitcode -out=tfplan");
    ran.exits(1).says(&[
        "Resource precondition failed",
        "terraform_data.a will be created",
    ]);
    let plan = p.quietly("show -json tfplan").json();
    assert_eq!(plan["errored"], true);
    assert_eq!(plan["applyable"], false);
    assert_eq!(plan["complete"], false);
    assert!(plan["planned_values"]["root_module"].is_object());
    assert_eq!(plan["checks"][0]["status"], "fail");
    p.quietly("show tfplan").says(&["it cannot be applied"]);
    p.run("apply -auto-approve tfplan")
        .exits(1)
        .says(&["Cannot apply incomplete plan"]);
    assert!(!p.env.has("terraform.tfstate"));
    // the world cannot be read
    let env = crate::two_networks();
    let server = env.serve("world", &Scenario::new());
    env.run(&["apply", "-auto-approve", &server.flag]).exits(0);
    server.kill();
    let fault = serde_json::json!({"method": "compute.networks.*", "status": 403, "reason": "forbidden", "message": "no"});
    let server = env.serve("world", &Scenario::new().fault(fault));
    env.run(&["plan", "-out=tfplan", &server.flag]).exits(1);
    let plan = env.run(&["show", "-json", "tfplan"]).exits(0).json();
    assert_eq!(plan["errored"], true);
    assert!(plan["prior_state"]["values"]["root_module"].is_object());
    env.run(&["apply", &server.flag, "tfplan"])
        .exits(1)
        .says(&["Cannot apply incomplete plan"]);
    env.run(&["show", "-json", "-alternative=1", "tfplan"])
        .exits(1)
        .says(&["No such alternative"]);
    env.run(&["show", "-alternative=1", "tfplan"]).exits(1);
}
