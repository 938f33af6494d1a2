//! Who may read what is written: stores are for their owner alone, whatever the umask says and whatever
//! was there before.

use super::{inlets, surroundings, variables};
use crate::env;
use formwork_testkit::TestEnv;
use std::os::unix::fs::PermissionsExt;

fn mode(env: &TestEnv, path: &str) -> u32 {
    let found = std::fs::metadata(env.path().join(path));
    found
        .unwrap_or_else(|e| panic!("{path}: {e}"))
        .permissions()
        .mode()
        & 0o777
}

/// Runs ours with files open to all, unless it says otherwise.
#[track_caller]
fn run(env: &TestEnv, words: &[&str], code: i32) {
    let mut command = env.wrapped(&["sh", "-c", "umask 0; exec \"$0\" \"$@\""], words);
    let output = command.output().expect("it runs");
    let text = String::from_utf8_lossy(&output.stdout).into_owned()
        + &String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(code), "{words:?}: {text}");
}

#[test]
fn stores_are_for_their_owner_alone() {
    for before in [false, true] {
        let env = surroundings();
        env.write(
            "main.tf",
            variables()
                + "resource \"terraform_data\" \"a\" {\n  input = var.flag[0]\n}\nresource \"terraform_data\" \"b\" \
                   {\n  depends_on = [terraform_data.a]\n  provisioner \"local-exec\" {\n    command = \"cp \
                   terraform.tfstate.journal seen 2>/dev/null; stat -c %a terraform.tfstate.journal > mode; true\"\n  \
                   }\n}\n",
        );
        let given = inlets(&env);
        let stores = [
            "saved",
            "plan.jsonl",
            "apply.jsonl",
            "terraform.tfstate",
            "terraform.tfstate.backup",
        ];
        if before {
            for store in stores {
                // no state is no text
                env.write(store, "");
                let open = std::fs::Permissions::from_mode(0o666);
                std::fs::set_permissions(env.path().join(store), open).expect("its mode is set");
            }
        }
        let with = |words: &[&'static str]| -> Vec<String> {
            let words = words.iter().map(|w| (*w).to_owned());
            words.chain(given.iter().cloned()).collect()
        };
        let step = |words: &[&'static str]| {
            let all = with(words);
            run(&env, &all.iter().map(String::as_str).collect::<Vec<_>>(), 0);
        };
        step(&["plan", "-out=saved", "-json-into=plan.jsonl"]);
        step(&["apply", "-auto-approve", "-json-into=apply.jsonl"]);
        step(&["apply", "-auto-approve", "-replace=terraform_data.a"]);
        for store in stores {
            assert_eq!(mode(&env, store), 0o600, "{store}, there before: {before}");
        }
        assert_eq!(env.text("mode").trim(), "600", "the journal in mid-run");
        run(&env, &["workspace", "new", "other"], 0);
        step(&["apply", "-auto-approve"]);
        assert_eq!(
            mode(&env, "terraform.tfstate.d/other/terraform.tfstate"),
            0o600
        );
        for change in [
            &["state", "rm", "terraform_data.b"][..],
            &["taint", "terraform_data.a"],
            &["state", "mv", "terraform_data.a", "terraform_data.c"],
        ] {
            run(&env, change, 0);
            assert_eq!(
                mode(&env, "terraform.tfstate.d/other/terraform.tfstate"),
                0o600,
                "{change:?}"
            );
        }
    }
}

#[test]
fn what_init_remembers_is_for_its_owner_alone() {
    let env = env();
    env.write(
        "main.tf",
        "terraform {\n  backend \"local\" {\n    path = \"kept/state\"\n  }\n}\nresource \"terraform_data\" \"a\" {}\n",
    );
    run(&env, &["init"], 0);
    run(&env, &["apply", "-auto-approve"], 0);
    assert_eq!(mode(&env, ".terraform/terraform.tfstate"), 0o600);
    assert_eq!(mode(&env, "kept/state"), 0o600);
}

#[test]
fn a_world_is_for_its_owner_alone() {
    let env = crate::two_networks();
    run(&env, &["apply", "-mock", "-auto-approve"], 0);
    let mut seen = 0;
    for path in super::files(&env.path().join(".formwork/mock/state")) {
        let name = path.display().to_string();
        let found = std::fs::metadata(&path)
            .expect("a file")
            .permissions()
            .mode()
            & 0o777;
        assert_eq!(found, 0o600, "{name}");
        seen += 1;
    }
    assert!(seen > 0, "there is a state");
}
