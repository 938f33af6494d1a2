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
