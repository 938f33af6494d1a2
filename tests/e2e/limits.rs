//! Plans that are limited, replaced by request, or only record: `-target`, `-exclude`, `-replace`,
//! `-refresh-only`. What is expected is what Terraform 1.11.4 answers to the same, where it knows the flag.

use crate::env;
use formwork_testkit::TestEnv;
use serde_json::Value;

const MAIN: &str = r#"
locals { l = [for x in terraform_data.a : x.output] }
resource "terraform_data" "a" {
  count = 2
  input = 1
}
resource "terraform_data" "b" { input = terraform_data.a[0].output }
resource "terraform_data" "c" { input = 1 }
module "m" {
  count  = 2
  source = "./m"
  x      = terraform_data.b.output
}
check "k" {
  assert {
    condition     = terraform_data.a[0].output == 7
    error_message = "warn me"
  }
}
output "const" { value = 7 }
output "a" { value = terraform_data.a[*].output }
output "l" { value = local.l }
output "ab" { value = [terraform_data.a[0].output, terraform_data.b.output] }
output "m" { value = module.m[0].y }
"#;

const MODULE: &str = r#"
variable "x" {}
resource "terraform_data" "x" { input = var.x }
resource "terraform_data" "z" { input = 1 }
output "y" { value = terraform_data.x.output }
"#;

fn configured() -> TestEnv {
    let env = env();
    env.write("main.tf", MAIN);
    env.write("m/main.tf", MODULE);
    env
}

/// The planned changes, a word each, and the outputs that the plan speaks of.
fn planned(env: &TestEnv, flags: &[&str]) -> (String, String) {
    let mut words = vec!["plan", "-json"];
    words.extend(flags);
    let ran = env.run(&words);
    let lines = ran.exits(0).stdout.lines();
    let lines = lines.map(|l| serde_json::from_str::<Value>(l).expect("JSON"));
    let (mut changes, mut outputs) = (Vec::new(), String::new());
    for line in lines {
        match line["type"].as_str() {
            Some("planned_change") => {
                let change = &line["change"];
                let address = change["resource"]["addr"].as_str().expect("an address");
                let action = change["action"].as_str().expect("an action");
                changes.push(format!(
                    "{action} {}",
                    address.replace("terraform_data.", "")
                ));
            }
            Some("outputs") => {
                let names = line["outputs"].as_object().expect("outputs").keys();
                outputs = names.cloned().collect::<Vec<_>>().join(" ");
            }
            _ => {}
        }
    }
    (changes.join(", "), outputs)
}

#[test]
fn what_takes_part() {
    let env = configured();
    let check = |flags: &[&str], changes: &str, outputs: &str| {
        assert_eq!(
            planned(&env, flags),
            (changes.to_owned(), outputs.to_owned()),
            "{flags:?}"
        );
    };
    check(&["-target=terraform_data.a[0]"], "create a[0]", "a l");
    check(
        &["-target=terraform_data.b"],
        "create a[0], create a[1], create b",
        "a ab l",
    );
    check(
        &["-target=module.m[1]"],
        "create a[0], create a[1], create b, create module.m[1].x, create module.m[1].z",
        "a ab l m",
    );
    // where Terraform finds nothing: a module without its key means all its instances
    check(
        &["-target=module.m.terraform_data.z"],
        "create module.m[0].z, create module.m[1].z",
        "",
    );
    check(&["-target=terraform_data.nope"], "", "");
    check(
        &["-exclude=terraform_data.b"],
        "create a[0], create a[1], create c, create module.m[0].z, create module.m[1].z",
        "a l",
    );
    check(
        &["-exclude=terraform_data.a[1]"],
        "create a[0], create c, create module.m[0].z, create module.m[1].z",
        "a l",
    );
    env.write(
        "targets",
        "# what we want\nterraform_data.c\n\n module.m.terraform_data.z # and this\n",
    );
    check(
        &["-target-file=targets"],
        "create c, create module.m[0].z, create module.m[1].z",
        "",
    );
    env.run(&["apply", "-auto-approve", "-target=terraform_data.a[0]"])
        .exits(0)
        .says(&[
            "Resource targeting is in effect",
            "Applied changes may be incomplete",
            "a = [\n  1,\n]",
        ]);
    env.run(&["apply", "-auto-approve"]).exits(0);
    env.run(&["plan", "-detailed-exitcode"]).exits(0);
    check(&["-target=terraform_data.a[0]"], "", "a l");
    check(
        &["-destroy", "-target=terraform_data.a[1]"],
        "delete a[1], delete b, delete module.m[0].x, delete module.m[1].x",
        "",
    );
    check(
        &["-destroy", "-exclude=terraform_data.b"],
        "delete c, delete module.m[0].x, delete module.m[0].z, delete module.m[1].x, delete module.m[1].z",
        "",
    );
    check(
        &["-replace=terraform_data.a[0]"],
        "replace a[0], update b, update module.m[0].x, update module.m[1].x",
        "a ab const l m",
    );
    env.run(&["plan", "-replace=terraform_data.a"])
        .exits(0)
        .says(&["Incompletely-matched force-replace resource instance"]);

    let fewer = MAIN
        .replace("count = 2", "count = 1")
        .replace("resource \"terraform_data\" \"c\" { input = 1 }\n", "");
    env.write("main.tf", &fewer);
    check(&["-target=terraform_data.b"], "delete a[1]", "a ab l");
    check(&["-target=terraform_data.c"], "delete c", "");
    env.write(
        "moved.tf",
        "moved {\n  from = terraform_data.b\n  to   = terraform_data.bb\n}\n",
    );
    let renamed = fewer
        .replace("\"b\"", "\"bb\"")
        .replace("terraform_data.b.", "terraform_data.bb.");
    env.write("main.tf", renamed);
    env.run(&["plan", "-target=terraform_data.a"])
        .exits(1)
        .says(&[
            "Moved resource instances excluded by targeting",
            "-target='terraform_data.bb'",
        ]);
    env.run(&["plan", "-target=terraform_data.bb"]).exits(0);
}

/// What is needed, or made from something, within a module lies in the same instance of it.
#[test]
fn instances_of_modules_stay_apart() {
    let env = env();
    env.write(
        "main.tf",
        r#"
module "m" {
  for_each = toset(["one", "two"])
  source   = "./m"
}
resource "terraform_data" "r" { input = module.m["one"].b }
output "const" { value = 5 }
output "r" { value = terraform_data.r.output }
"#,
    );
    env.write(
        "m/main.tf",
        r#"
resource "terraform_data" "a" {
  count = 2
  input = count.index
}
resource "terraform_data" "b" { input = terraform_data.a[0].output }
output "b" { value = terraform_data.b.output }
"#,
    );
    env.run(&["init"]).exits(0);
    let check = |flags: &[&str], changes: &str| {
        assert_eq!(planned(&env, flags).0, changes, "{flags:?}");
    };
    let one =
        "create module.m[\"one\"].a[0], create module.m[\"one\"].a[1], create module.m[\"one\"].b";
    check(&["-target=module.m[\"one\"]"], one);
    check(&["-target=module.m[\"one\"].terraform_data.b"], one);
    let two = one.replace("one", "two");
    check(&["-exclude=module.m[\"one\"]"], &two);
    check(
        &["-exclude=module.m[\"one\"].terraform_data.a[0]"],
        &format!("create module.m[\"one\"].a[1], {two}"),
    );
    // what lies outside needs the whole block
    check(
        &["-target=terraform_data.r"],
        &format!("create r, {one}, {two}"),
    );
    env.run(&["apply", "-auto-approve"]).exits(0);
    check(
        &["-destroy", "-target=module.m[\"two\"]"],
        &format!("delete r, {}", two.replace("create", "delete")),
    );
    check(
        &["-destroy", "-target=module.m[\"one\"].terraform_data.a[0]"],
        "delete r, delete module.m[\"one\"].a[0], delete module.m[\"one\"].b",
    );
    // outputs are not destroyed by a part, and only the command `destroy` has a last line of its own
    let of_two = "-target=module.m[\"two\"]";
    env.run(&["apply", "-destroy", "-auto-approve", of_two])
        .exits(0)
        .says(&["Apply complete! Resources: 0 added, 0 changed, 4 destroyed."]);
    assert_eq!(env.run(&["output", "-raw", "const"]).exits(0).stdout, "5");
    let ran = env.run(&["apply", "-destroy", "-auto-approve", "-json"]);
    ran.exits(0)
        .says(&["Apply complete! Resources: 0 added, 0 changed, 3 destroyed."]);
    let empty = env.run(&["output", "-json"]);
    assert_eq!(empty.exits(0).json(), serde_json::json!({}));
    env.run(&["apply", "-auto-approve"]).exits(0);
    env.run(&["destroy", "-auto-approve"])
        .exits(0)
        .says(&["Destroy complete! Resources: 7 destroyed."]);
}

#[test]
fn recording_only() {
    let env = env();
    env.write("main.tf", "resource \"terraform_data\" \"a\" { input = 1 }\noutput \"o\" { value = terraform_data.a.output }\n");
    env.run(&["apply", "-auto-approve"]).exits(0);
    env.write("main.tf", "resource \"terraform_data\" \"a\" { input = 2 }\noutput \"p\" { value = terraform_data.a.output }\n");
    env.run(&["plan", "-refresh-only", "-detailed-exitcode"])
        .exits(2)
        .says(&["p = 1"]);
    env.run(&["apply", "-refresh-only", "-auto-approve"])
        .exits(0)
        .says(&["0 added, 0 changed, 0 destroyed"]);
    assert_eq!(env.run(&["output", "-raw", "p"]).exits(0).stdout, "1");
    env.run(&["refresh"]).exits(0);
    // conditions that do not hold are told, and keep nobody from recording
    env.write(
        "new.tf",
        "variable \"v\" { default = 1 }\nresource \"terraform_data\" \"c\" {\n  lifecycle {\n    precondition {\n      \
         condition     = var.v == 1\n      error_message = \"no one\"\n    }\n  }\n}\noutput \"c\" {\n  value = 1\n  \
         precondition {\n    condition     = var.v == 1\n    error_message = \"no out\"\n  }\n}\n",
    );
    env.run(&["apply", "-auto-approve", "-target=terraform_data.c"])
        .exits(0);
    env.run(&["plan", "-refresh-only", "-var=v=2"])
        .exits(0)
        .says(&["Warning: Resource precondition failed", "no one", "no out"]);
    env.run(&["plan", "-var=v=2"])
        .exits(1)
        .says(&["Error: Resource precondition failed"]);
    // nothing is recorded of what is not there yet
    env.write("new.tf", "resource \"terraform_data\" \"n\" { count = 2 }\noutput \"n\" { value = terraform_data.n[1].id }\noutput \"q\" { value = 5 }\n");
    let ran = env.run(&["refresh"]);
    assert!(ran.exits(0).says(&["q = 5"]).stdout.find("n = ").is_none());
    env.write("new.tf", "");
    env.run(&["plan", "-detailed-exitcode"])
        .exits(2)
        .says(&["1 to change"]);
    for (bad, says) in [
        (
            &["plan", "-refresh-only", "-destroy"][..],
            "Incompatible plan mode options",
        ),
        (
            &["plan", "-refresh-only", "-refresh=false"],
            "Incompatible plan mode options",
        ),
        (
            &["destroy", "-refresh-only"],
            "Incompatible plan mode options",
        ),
        (
            &["plan", "-destroy", "-replace=a.b"],
            "Incompatible plan mode options",
        ),
        (
            &["plan", "-target=a.b", "-exclude=c.d"],
            "do not go together",
        ),
        (&["plan", "-target=a"], "Invalid target"),
        (&["plan", "-target-file=none"], "Failed to read targets"),
        (
            &["plan", "-replace=data.a.b"],
            "Invalid force-replace address",
        ),
        (&["refresh", "p"], "takes no plan file"),
    ] {
        env.run(bad).exits(1).says(&[says]);
    }
    env.run(&["plan", "-out=p"]).exits(0);
    env.run(&["apply", "-target=terraform_data.a", "p"])
        .exits(1)
        .says(&["Can't change a saved plan"]);
}
