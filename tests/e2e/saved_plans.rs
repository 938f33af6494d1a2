//! A saved plan does what it shows, or nothing.

use crate::{env, two_networks};
use std::os::unix::fs::PermissionsExt;

#[test]
fn the_planned_values_are_applied() {
    let env = env();
    env.write("main.tf", "resource \"terraform_data\" \"a\" { input = file(\"x\") }\noutput \"a\" { value = terraform_data.a.output }\n");
    env.write("x", "planned");
    env.run(&["plan", "-out=p"])
        .exits(0)
        .says(&["Saved the plan to: p"]);
    let mode = std::fs::metadata(env.path().join("p"))
        .expect("a plan")
        .permissions()
        .mode();
    assert_eq!(mode & 0o777, 0o600);
    env.run(&["show", "p"])
        .exits(0)
        .says(&["the real cloud", "planned", "Plan: 1 to add"]);
    let json = env.run(&["show", "-json", "p"]);
    assert!(json.exits(0).stderr.is_empty());
    assert_eq!(json.json()["format_version"], "1.2");
    env.write("x", "edited");
    env.write("main.tf", "resource \"terraform_data\" \"b\" {}\n");
    env.run(&["apply", "p"]).exits(0).says(&["1 added"]);
    env.run(&["output", "-raw", "a"])
        .exits(0)
        .says(&["planned"]);
    // the state has moved on: the same plan does not fit it any more
    env.run(&["apply", "p"])
        .exits(1)
        .says(&["Saved plan is stale"]);
    assert_eq!(
        env.run(&["state", "list"]).exits(0).stdout,
        "terraform_data.a\n"
    );
}

#[test]
fn a_plan_for_another_state_is_refused() {
    let env = env();
    env.write(
        "main.tf",
        "resource \"terraform_data\" \"a\" { input = \"1\" }\n",
    );
    env.run(&["apply", "-auto-approve"]).exits(0);
    env.write(
        "main.tf",
        "resource \"terraform_data\" \"a\" { input = \"2\" }\n",
    );
    env.run(&["plan", "-out=p"]).exits(0);
    let state = env.text("terraform.tfstate");
    env.write(
        "terraform.tfstate",
        state.replace("\"serial\": 1", "\"serial\": 2"),
    );
    env.run(&["apply", "p"])
        .exits(1)
        .says(&["Saved plan is stale"]);
    env.write("terraform.tfstate", state);
    env.run(&["apply", "p"]).exits(0).says(&["1 changed"]);
}

#[test]
fn values_beside_a_plan_must_be_its_own() {
    let env = env();
    env.write(
        "main.tf",
        "variable \"v\" { default = \"d\" }\nvariable \"s\" {\n  default   = \"\"\n  sensitive = true\n}\n\
         output \"v\" { value = var.v }\n",
    );
    env.write("other.tfvars", "v = \"2\"\n");
    env.write("same.tfvars", "v = \"1\"\n");
    let refused = "Can't change variable when applying a saved plan";
    env.run(&["plan", "-out=p", "-var=v=1", "-var=s=hidden"])
        .exits(0);
    for (flag, says) in [
        ("-var=v=2", refused),
        ("-var-file=other.tfvars", refused),
        ("-var=s=other-secret", refused),
        ("-var=nope=1", "Value for undeclared variable"),
    ] {
        let ran = env.run(&["apply", flag, "p"]);
        ran.exits(1).says(&[says]);
        assert!(!ran.stderr.contains("hidden") && !ran.stderr.contains("other-secret"));
        assert!(!env.has("terraform.tfstate"), "{flag}");
    }
    // files that are read unasked and the environment are as they were when planning, or not meant
    env.write("terraform.tfvars", "v = \"3\"\n");
    let ran = env.run_with(
        &["apply", "-var-file=same.tfvars", "-var=s=hidden", "p"],
        "",
        &[("TF_VAR_v", "4")],
    );
    ran.exits(0);
    assert_eq!(env.run(&["output", "-raw", "v"]).exits(0).stdout, "1");
}

#[test]
fn a_damaged_plan_is_refused() {
    let env = env();
    env.write(
        "main.tf",
        "resource \"terraform_data\" \"a\" { input = \"1\" }\n",
    );
    env.run(&["plan", "-out=p"]).exits(0);
    let whole = env.bytes("p");
    for length in [0, 1, 20, whole.len() / 2, whole.len() - 1] {
        env.write("q", &whole[..length]);
        env.run(&["apply", "q"]).exits(1).says(&["Error: "]);
    }
    for at in (0..whole.len()).step_by(whole.len() / 12) {
        let mut damaged = whole.clone();
        damaged[at] ^= 0x10;
        env.write("q", damaged);
        env.run(&["apply", "q"]).exits(1).says(&["Error: "]);
    }
    env.run(&["apply", "nowhere"]).exits(1).says(&["nowhere"]);
    assert!(!env.has("terraform.tfstate"));
    env.run(&["apply", "p"]).exits(0);
}

#[test]
fn worlds_do_not_mix() {
    let env = two_networks();
    env.run(&["plan", "-mock", "-out=p"]).exits(0);
    env.run(&["show", "p"]).exits(0).says(&["the mock cloud"]);
    env.run(&["apply", "p"])
        .exits(1)
        .says(&["another cloud", "-mock"]);
    env.run(&["apply", "-mock", "p"])
        .exits(0)
        .says(&["4 added"]);
    // the mock's state for the real cloud
    let state = "-state=.formwork/mock/state/terraform.tfstate";
    env.run(&["plan", state])
        .exits(1)
        .says(&["State of another cloud"]);
    env.run(&["apply", "-auto-approve", state])
        .exits(1)
        .says(&["State of another cloud"]);
    env.run(&["state", "list", state])
        .exits(1)
        .says(&["State of another cloud"]);
    // showing a file only looks at it
    env.run(&["show", ".formwork/mock/state/terraform.tfstate"])
        .exits(0)
        .says(&["the mock cloud"]);
    // another mock world
    env.run(&["mock", "reset"])
        .exits(1)
        .says(&["-auto-approve"]);
    std::fs::copy(
        env.path().join(".formwork/mock/state/terraform.tfstate"),
        env.path().join("kept"),
    )
    .expect("copied");
    env.run(&["mock", "reset", "-auto-approve"]).exits(0);
    assert!(!env.has(".formwork/mock/state"));
    env.run(&["plan", "-mock", "-state=kept"])
        .exits(1)
        .says(&["another mock cloud"]);
    // a state of the real cloud
    env.write("main.tf", "resource \"terraform_data\" \"a\" {}\n");
    env.run(&["apply", "-auto-approve"]).exits(0);
    env.run(&["plan", "-mock", "-state=terraform.tfstate"])
        .exits(1)
        .says(&["belongs to the real cloud"]);
}

/// What is replaced says why: the attribute, where it is set, and what it follows.
#[test]
fn causes_of_replacements() {
    let env = env();
    let main = |generation: u32| {
        format!(
            "variable \"gen\" {{\n  default = {generation}\n}}\nlocals {{\n  base = terraform_data.a.id\n}}\nresource \"terraform_data\" \"a\" {{\n  triggers_replace = var.gen\n}}\nresource \"terraform_data\" \"b\" {{\n  count            = 2\n  triggers_replace = [module.m.o, count.index]\n}}\nresource \"terraform_data\" \"c\" {{\n  lifecycle {{\n    replace_triggered_by = [terraform_data.a]\n  }}\n}}\nmodule \"m\" {{\n  source = \"./m\"\n  i      = local.base\n}}\n"
        )
    };
    env.write("main.tf", main(1)).write(
        "m/main.tf",
        "variable \"i\" {}\noutput \"o\" {\n  value = \"x-${var.i}\"\n}\n",
    );
    env.run(&["apply", "-auto-approve"]).exits(0);
    env.write("main.tf", main(2));
    let planned = env.run(&["plan", "-out=p"]);
    let shown = env.run(&["show", "p"]);
    for ran in [planned, shown] {
        ran.exits(0).says(&[
            "# (triggers_replace is set at main.tf:8 and follows var.gen)",
            "# (triggers_replace is set at main.tf:12 and follows terraform_data.a, which is replaced)",
            "# (replace_triggered_by is set at main.tf:16 and follows terraform_data.a, which is replaced)",
        ]);
    }
}

/// The page of a plan: everything is in it but secrets, and it needs nobody.
#[test]
fn a_page() {
    let env = env();
    env.write(
        "main.tf",
        "variable \"s\" {\n  sensitive = true\n  default   = \"hunter2\"\n}\nresource \"terraform_data\" \"a\" {\n  count = 3\n  input = [count.index, var.s]\n}\nresource \"terraform_data\" \"b\" {\n  input = terraform_data.a[0].id\n}\noutput \"o\" {\n  value     = var.s\n  sensitive = true\n}\noutput \"p\" {\n  value = \"</script>\"\n}\n",
    );
    env.run(&["plan", "-out=p"]).exits(0);
    let ran = env.run(&["show", "-html", "p"]);
    let page = &ran.exits(0).stdout;
    assert!(ran.stderr.is_empty());
    assert!(page.starts_with("<!DOCTYPE html>") && page.ends_with("</html>\n"));
    assert!(!page.contains("hunter2"));
    let data = page
        .split("id=\"plan\">")
        .nth(1)
        .and_then(|d| d.split("</script>").next());
    let data: serde_json::Value = serde_json::from_str(data.expect("the data")).expect("JSON");
    let changes = data["changes"].as_array().expect("changes");
    let addresses: Vec<_> = changes
        .iter()
        .map(|c| c["a"].as_str().expect("text"))
        .collect();
    assert_eq!(
        addresses,
        [
            "terraform_data.a[0]",
            "terraform_data.a[1]",
            "terraform_data.a[2]",
            "terraform_data.b"
        ]
    );
    assert!(changes.iter().all(|c| c["k"] == "create"));
    assert_eq!(data["graph"]["blocks"][0]["n"]["create"], 3);
    assert_eq!(data["graph"]["arrows"], serde_json::json!([[1, 0]]));
    env.run(&["show", "-html"]).exits(1);
    env.run(&["show", "-html", "-json", "p"]).exits(1);
    env.run(&["show", "-html", "main.tf"])
        .exits(1)
        .says(&["No plan file"]);
}
