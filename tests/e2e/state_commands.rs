//! The state edited by hand, and workspaces.

use crate::env;
use formwork_testkit::TestEnv;

const MAIN: &str = r#"
resource "terraform_data" "a" { input = 1 }
resource "terraform_data" "b" {
  count = 2
  input = terraform_data.a.id
}
resource "terraform_data" "c" { input = terraform_data.b[0].id }
module "m" { source = "./m" }
output "where" { value = terraform.workspace }
"#;

fn applied() -> TestEnv {
    let env = env();
    env.write("main.tf", MAIN);
    env.write("m/main.tf", "resource \"terraform_data\" \"x\" {}\n");
    env.run(&["apply", "-auto-approve"]).exits(0);
    env
}

fn backups(env: &TestEnv) -> usize {
    let names = std::fs::read_dir(env.path()).expect("a folder");
    let names = names.map(|e| e.expect("an entry").file_name());
    names
        .filter(|n| {
            let n = n.to_string_lossy();
            n.starts_with("terraform.tfstate.1") && n.ends_with(".backup")
        })
        .count()
}

/// What scripts rely on, as Terraform 1.11.4 answers: exit codes, an empty `-out=`, `-parallelism=0`.
#[test]
fn what_scripts_rely_on() {
    let env = env();
    env.write("main.tf", "resource \"terraform_data\" \"a\" {}\n");
    env.run(&["state", "list"])
        .exits(1)
        .says(&["No state file was found", "-chdir"]);
    for group in ["state", "workspace"] {
        env.run(&[group]).exits(1).says(&["list"]);
    }
    env.run(&["plan", "-parallelism=0", "-out="])
        .exits(0)
        .says(&["The plan was not saved"]);
    env.run(&["apply", "-auto-approve", "-parallelism=0"])
        .exits(0);
    env.run(&["state", "list"])
        .exits(0)
        .says(&["terraform_data.a"]);
    env.run(&["destroy", "-auto-approve"]).exits(0);
    // a state of which nothing is left is a state
    env.run(&["state", "list"]).exits(0);
}

#[test]
fn moves_and_removals() {
    let env = applied();
    let before = env.text("terraform.tfstate");
    env.run(&[
        "state",
        "mv",
        "-dry-run",
        "terraform_data.a",
        "terraform_data.z",
    ])
    .exits(0)
    .says(&["Would move \"terraform_data.a\" to \"terraform_data.z\""]);
    assert_eq!(env.text("terraform.tfstate"), before);
    env.run(&["state", "mv", "terraform_data.a", "terraform_data.z"])
        .exits(0)
        .says(&["Successfully moved 1 object(s)."]);
    assert_eq!(backups(&env), 1);
    env.run(&["state", "mv", "module.m", "module.n"]).exits(0);
    env.run(&["state", "rm", "terraform_data.b", "terraform_data.nope"])
        .exits(0)
        .says(&[
            "Removed terraform_data.b[0]",
            "Successfully removed 2 resource instance(s).",
            "nothing at terraform_data.nope",
        ]);
    assert_eq!(
        env.run(&["state", "list"]).exits(0).stdout,
        "terraform_data.c\nterraform_data.z\nmodule.n.terraform_data.x\n"
    );
    // what is gone gave way to what it had depended on, under its new name
    let state = env.text("terraform.tfstate");
    assert!(
        state.contains("\"dependencies\": [\n            \"terraform_data.z\"\n"),
        "{state}"
    );
    for (bad, says) in [
        (
            &["state", "rm", "terraform_data.nope"][..],
            "Invalid target address",
        ),
        (
            &["state", "mv", "terraform_data.nope", "terraform_data.y"],
            "Invalid source address",
        ),
        (
            &["state", "mv", "terraform_data.c", "terraform_data.z"],
            "which would be lost",
        ),
        (
            &["state", "mv", "bad addr", "terraform_data.y"],
            "Invalid address",
        ),
        (
            &["state", "mv", "terraform_data.c"],
            "DESTINATION is missing",
        ),
    ] {
        env.run(bad).exits(1).says(&[says]);
    }
    assert_eq!(env.text("terraform.tfstate"), state);
}

/// A module without its key means all its instances, but where it is to be moved.
#[test]
fn modules_with_keys() {
    let env = env();
    env.write(
        "main.tf",
        "module \"m\" {\n  for_each = toset([\"k\", \"l\"])\n  source   = \"./m\"\n}\n",
    );
    env.write("m/main.tf", "resource \"terraform_data\" \"x\" {}\n");
    env.run(&["init"]).exits(0);
    env.run(&["apply", "-auto-approve"]).exits(0);
    let all = "module.m[\"k\"].terraform_data.x\nmodule.m[\"l\"].terraform_data.x\n";
    assert_eq!(env.run(&["state", "list", "module.m"]).exits(0).stdout, all);
    for nothing in ["module.n", "module.m[\"z\"]", "terraform_data.x"] {
        env.run(&["state", "list", nothing])
            .exits(1)
            .says(&["No such object in the state", nothing]);
    }
    env.run(&["state", "mv", "module.m", "module.n"])
        .exits(1)
        .says(&["Invalid source address"]);
    env.run(&["state", "rm", "module.m"])
        .exits(0)
        .says(&["Successfully removed 2 resource instance(s)."]);
}

#[test]
fn taints() {
    let env = applied();
    env.run(&["taint", "terraform_data.b[0]"])
        .exits(0)
        .says(&["Resource instance terraform_data.b[0] has been marked as tainted."]);
    env.run(&["plan", "-detailed-exitcode"]).exits(2).says(&[
        "terraform_data.b[0] is tainted",
        "1 to add, 1 to change, 1 to destroy",
    ]);
    env.run(&["untaint", "terraform_data.b[0]"]).exits(0);
    env.run(&["plan", "-detailed-exitcode"]).exits(0);
    env.run(&["untaint", "terraform_data.b[0]"])
        .exits(1)
        .says(&["Resource instance is not tainted"]);
    env.run(&["taint", "terraform_data.b"])
        .exits(1)
        .says(&["No such resource instance"]);
    env.run(&["taint", "-allow-missing", "terraform_data.nope"])
        .exits(0)
        .says(&["No such resource instance"]);
}

#[test]
fn another_provider_and_another_state() {
    let env = applied();
    let builtin = "terraform.io/builtin/terraform";
    env.run(&["state", "replace-provider", builtin, "a/b"])
        .exits(1)
        .says(&["Changing 4 resources", "Nobody can be asked"]);
    env.run(&["state", "replace-provider", "-auto-approve", builtin, "a/b"])
        .exits(0)
        .says(&["Successfully replaced provider for 4 resources."]);
    let state = env.text("terraform.tfstate");
    assert!(
        state.contains("provider[\\\"registry.terraform.io/a/b\\\"]"),
        "{state}"
    );
    env.run(&["state", "replace-provider", "-auto-approve", "x/y", "a/b"])
        .exits(0)
        .says(&["No matching resources found."]);

    let pulled = env.run(&["state", "pull"]).exits(0).stdout.clone();
    env.write("same", &pulled);
    env.run(&["state", "push", "same"]).exits(0);
    env.write("older", pulled.replace("\"serial\": 2", "\"serial\": 1"));
    env.run(&["state", "push", "older"])
        .exits(1)
        .says(&["it is older", "-force"]);
    env.write(
        "other",
        pulled
            .replace("\"serial\": 2", "\"serial\": 9")
            .replace("\"lineage\": \"", "\"lineage\": \"x"),
    );
    env.run(&["state", "push", "other"])
        .exits(1)
        .says(&["two different beginnings"]);
    env.run(&["state", "push", "-force", "other"]).exits(0);
    assert!(env.text("terraform.tfstate").contains("\"serial\": 9"));
    env.write("none", "{}");
    env.run(&["state", "push", "none"]).exits(1);
}

#[test]
fn workspaces() {
    let env = applied();
    env.run(&["workspace", "show"]).exits(0);
    env.run(&["workspace", "new", "blue"])
        .exits(0)
        .says(&["Created and switched to workspace \"blue\"!"]);
    assert_eq!(
        env.run(&["workspace", "list"]).exits(0).stdout,
        "  default\n* blue\n\n"
    );
    env.run(&["apply", "-auto-approve"])
        .exits(0)
        .says(&["5 added", "where = \"blue\""]);
    assert!(
        env.text("terraform.tfstate.d/blue/terraform.tfstate")
            .contains("\"blue\"")
    );
    env.run(&["workspace", "select", "default"]).exits(0);
    assert_eq!(
        env.run(&["output", "-raw", "where"]).exits(0).stdout,
        "default"
    );
    for (bad, says) in [
        (&["workspace", "new", "blue"][..], "already exists"),
        (&["workspace", "new", "a/b"], "Invalid workspace name"),
        (&["workspace", "select", "blu"], "Did you mean \"blue\"?"),
        (&["workspace", "delete", "default"], "active workspace"),
        (&["workspace", "delete", "blue"], "Workspace is not empty"),
        (&["workspace", "delete", "nope"], "doesn't exist"),
    ] {
        env.run(bad).exits(1).says(&[says]);
    }
    env.run(&["workspace", "delete", "-force", "blue"])
        .exits(0)
        .says(&["Deleted workspace \"blue\"!"]);
    env.run(&["workspace", "select", "-or-create", "green"])
        .exits(0);
    env.run(&["-mock", "apply", "-auto-approve"])
        .exits(0)
        .says(&["where = \"green\""]);
    assert!(
        env.path()
            .join(".formwork/mock/state/terraform.tfstate.d/green/terraform.tfstate")
            .exists()
    );
}
