//! Two networks with a subnetwork each: plan, apply, plan again, change, drift, destroy.

use crate::{env, two_networks};
use serde_json::Value;

fn links(list: &Value, collection: &str) -> Vec<String> {
    let all = list.as_array().expect("a list").iter();
    let mut links: Vec<String> = all
        .filter(|o| o["collection"] == collection && o["seeded"] == false)
        .map(|o| {
            let link = o["selfLink"].as_str().expect("a link");
            link.rsplit('/').next().expect("a name").to_owned()
        })
        .collect();
    links.sort();
    links
}

#[test]
fn the_journey() {
    let env = two_networks();
    env.run(&["init"]).exits(0).says(&["is native"]);
    env.run(&["validate"]).exits(0).says(&["Success!"]);

    env.run(&["plan", "-mock", "-detailed-exitcode"])
        .exits(2)
        .says(&[
            "google_compute_network.all[\"front\"]",
            "(known after apply)",
            "Plan: 4 to add, 0 to change, 0 to destroy.",
        ]);
    env.run(&["apply", "-mock", "-auto-approve"])
        .exits(0)
        .says(&["Apply complete! Resources: 4 added, 0 changed, 0 destroyed."]);
    assert_eq!(env.text(".formwork/.gitignore"), "*\n");
    assert!(
        !env.has("terraform.tfstate"),
        "the real state stays untouched"
    );

    let list = env.run(&["mock", "list", "-json"]).exits(0).json();
    assert_eq!(links(&list, "compute.networks"), ["back", "front"]);
    assert_eq!(
        links(&list, "compute.subnetworks"),
        ["back-nodes", "front-nodes"]
    );

    env.run(&["plan", "-mock", "-detailed-exitcode"])
        .exits(0)
        .says(&["No changes."]);
    assert_eq!(
        env.run(&["state", "list", "-mock"]).exits(0).stdout,
        "google_compute_network.all[\"back\"]\n\
         google_compute_network.all[\"front\"]\n\
         google_compute_subnetwork.all[\"back\"]\n\
         google_compute_subnetwork.all[\"front\"]\n"
    );
    let outputs = env.run(&["output", "-json", "-mock"]).exits(0).json();
    assert!(
        outputs["networks"]["value"]["front"]
            .as_str()
            .expect("a link")
            .ends_with("/networks/front")
    );
    env.run(&["state", "list"])
        .exits(1)
        .says(&["No state file was found"])
        .never_says(&["google"]);

    // another range: the subnetwork is replaced, or widened in place
    let wider = "networks={front=\"10.10.0.0/19\",back=\"10.20.0.0/20\"}";
    env.run(&["plan", "-mock", "-detailed-exitcode", "-var", wider])
        .exits(2)
        .says(&["google_compute_subnetwork.all[\"front\"]", "10.10.0.0/19"])
        .never_says(&["all[\"back\"]"]);

    // one fewer
    let fewer = "networks={front=\"10.10.0.0/20\"}";
    env.run(&["apply", "-mock", "-auto-approve", "-var", fewer])
        .exits(0)
        .says(&["0 added, 0 changed, 2 destroyed."]);

    env.run(&["destroy", "-mock", "-auto-approve", "-var", fewer])
        .exits(0)
        .says(&["Destroy complete! Resources: 2 destroyed."]);
    let list = env.run(&["mock", "list", "-json"]).exits(0).json();
    let left: Vec<&Value> = list
        .as_array()
        .expect("a list")
        .iter()
        .filter(|o| o["seeded"] == false)
        .collect();
    assert!(left.is_empty(), "{left:?}");
}

#[test]
fn without_a_cloud() {
    let env = env();
    env.write(
        "main.tf",
        r#"
variable "secret" {
  type      = string
  sensitive = true
}
resource "terraform_data" "a" {
  for_each         = toset(["x", "y z"])
  input            = each.key
  triggers_replace = { secret = var.secret }
}
output "secret" {
  value     = var.secret
  sensitive = true
}
output "count" { value = length(terraform_data.a) }
"#,
    );
    let secret = "-var=secret=hush-hush";
    env.run(&["apply", "-auto-approve", secret])
        .exits(0)
        .says(&["2 added", "count = 2", "secret = <sensitive>"])
        .never_says(&["hush"]);
    env.run(&["plan", "-detailed-exitcode", secret])
        .exits(0)
        .never_says(&["hush"]);
    env.run(&["show"]).exits(0).never_says(&["hush"]);
    env.run(&["output"]).exits(0).never_says(&["hush"]);
    let raw = env.run(&["output", "-raw", "secret"]);
    assert_eq!(raw.exits(0).stdout, "hush-hush");
    env.run(&["output", "-raw", "count"]).exits(0).says(&["2"]);
    env.run(&["output", "-json", "nope"])
        .exits(1)
        .says(&["not found"]);
    env.run(&["state", "show", "terraform_data.a[\"y z\"]"])
        .exits(0)
        .says(&["y z"])
        .never_says(&["hush"]);
    env.run(&["state", "show", "terraform_data.a[\"y\"]"])
        .exits(1)
        .says(&["No such object in the state"]);
    let pulled = env.run(&["state", "pull"]).exits(0).json();
    assert_eq!(pulled["version"], 4);
    let console = env.run_with(
        &["console", secret],
        "length(terraform_data.a)\n\nupper(\n  \"a\"\n)\nvar.secret\ntype(1)\nexit\n2\n",
        &[],
    );
    assert_eq!(
        console.exits(0).stdout,
        "2\n\"A\"\n(sensitive value)\nnumber\n"
    );
    env.run(&["destroy", "-auto-approve", secret])
        .exits(0)
        .says(&["2 destroyed"]);
}

/// What Terraform 1.11.4 does with paths into values whose types only the configuration says.
#[test]
fn ignored_paths() {
    let check = |ignored: &str, before: &str, after: &str, kept: serde_json::Value| {
        let env = env();
        let write = |input: &str| {
            env.write(
                "main.tf",
                format!(
                    "resource \"terraform_data\" \"a\" {{\n  input = {input}\n  lifecycle {{\n    \
                     ignore_changes = [{ignored}]\n  }}\n}}\noutput \"o\" {{ value = terraform_data.a.output }}\n"
                ),
            );
        };
        write(before);
        env.run(&["apply", "-auto-approve"]).exits(0);
        write(after);
        env.run(&["apply", "-auto-approve"]).exits(0);
        let output = env.run(&["output", "-json", "o"]);
        assert_eq!(output.exits(0).json(), kept, "{ignored}");
    };
    use serde_json::json;
    let (one, other) = ("{ a = 1, b = 2 }", "{ a = 3, b = 4 }");
    check("input.a", one, other, json!({"a": 1, "b": 4}));
    // a key of what is no map stands for all of it
    check("input[\"a\"]", one, other, json!({"a": 1, "b": 2}));
    check("input[\"a\"]", one, "5", json!({"a": 1, "b": 2}));
    let map = |text: &str| format!("tomap({text})");
    check(
        "input[\"a\"]",
        &map(one),
        &map(other),
        json!({"a": 1, "b": 4}),
    );
    check(
        "input[\"a\"]",
        &map(one),
        &map("{ b = 4 }"),
        json!({"a": 1, "b": 4}),
    );
}

#[test]
fn moved_and_still_there() {
    let env = env();
    let main = |keys: &str, moved: &str| {
        let (from, to) = moved.split_once(' ').expect("two addresses");
        env.write(
            "main.tf",
            format!(
                "resource \"terraform_data\" \"a\" {{\n  for_each = toset([{keys}])\n}}\nmodule \"m\" {{\n  count  = 2\n  \
                 source = \"./m\"\n}}\nresource \"terraform_data\" \"b\" {{}}\nmoved {{\n  from = {from}\n  to   = {to}\n}}\n"
            ),
        );
    };
    env.write("m/main.tf", "resource \"terraform_data\" \"x\" {}\n");
    main("\"k\", \"l\"", "terraform_data.q terraform_data.b");
    env.run(&["init"]).exits(0);
    env.run(&["apply", "-auto-approve"]).exits(0);
    for moved in [
        "terraform_data.a[\"k\"] terraform_data.a[\"l\"]",
        "terraform_data.a[\"k\"] terraform_data.b",
        "module.m[1] module.m[0]",
        "module.m[1].terraform_data.x terraform_data.b",
    ] {
        main("\"k\", \"l\"", moved);
        env.run(&["plan"])
            .exits(1)
            .says(&["Moved object still exists"]);
    }
    main("\"l\"", "terraform_data.a[\"k\"] terraform_data.a[\"l\"]");
    env.run(&["plan"]).exits(0);
}
