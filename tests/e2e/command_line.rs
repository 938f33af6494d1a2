//! Exit codes, flags, the environment, and what is asked of whom.

use crate::env;

const ONE: &str = "resource \"terraform_data\" \"a\" { input = \"1\" }\n";

#[test]
fn exit_codes() {
    let env = env();
    env.run(&[]).exits(127).says(&["Usage: formwork", "apply"]);
    env.run(&["-help"]).exits(0).says(&["Usage: formwork"]);
    env.run(&["plann"])
        .exits(1)
        .says(&["Did you mean \"plan\"?"]);
    env.run(&["plan", "-detailed-exit-code"])
        .exits(1)
        .says(&["Did you mean -detailed-exitcode?"]);
    env.run(&["login"]).exits(1).says(&["not served yet"]);
    env.run(&["init", "-lockfile=x"])
        .exits(1)
        .says(&["not served yet", "-lockfile"]);
    env.run(&["-chdir=nowhere", "plan"])
        .exits(1)
        .says(&["nowhere"]);
    for command in [
        "init", "validate", "plan", "apply", "destroy", "show", "output", "fmt", "console",
        "version",
    ] {
        let help = env.run(&[command, "-help"]);
        help.exits(0).says(&[&format!("Usage: formwork {command}")]);
        assert!(help.stderr.is_empty());
    }

    for command in [&["plan"][..], &["apply", "-auto-approve"]] {
        env.run(command).exits(1).says(&["No configuration files"]);
    }
    env.run(&["destroy", "-auto-approve"]).exits(0);
    env.run(&["validate"]).exits(0);

    env.write("main.tf", ONE);
    env.run(&["plan", "-detailed-exitcode"]).exits(2);
    env.run(&["plan"]).exits(0);
    env.run(&["apply"])
        .exits(1)
        .says(&["Nobody can be asked for approval", "-auto-approve"]);
    env.run(&["apply", "-input=false"])
        .exits(1)
        .says(&["-auto-approve"]);
    assert!(!env.has("terraform.tfstate"));
    env.run(&["apply", "--auto-approve=true"]).exits(0);
    env.run(&["plan", "-detailed-exitcode"]).exits(0);
    env.run(&["plan", "-destroy", "-detailed-exitcode"])
        .exits(2);
    env.run(&["apply", "-destroy", "-auto-approve"])
        .exits(0)
        .says(&["1 destroyed"]);
}

#[test]
fn answers_from_a_pipe() {
    let env = env();
    env.write(
        "main.tf",
        "variable \"v\" {}\nresource \"terraform_data\" \"a\" { input = var.v }\noutput \"v\" { value = var.v }\n",
    );
    env.run_with(&["plan"], "", &[])
        .exits(1)
        .says(&["No value for required variable"]);
    env.run_with(&["apply"], "x\n", &[])
        .exits(1)
        .says(&["Nobody can be asked for approval"]);
    env.run_with(&["apply"], "x\nno\n", &[])
        .exits(1)
        .says(&["Nothing was changed"]);
    env.run_with(&["apply", "-input=false"], "x\nyes\n", &[])
        .exits(1)
        .says(&["No value for required variable"]);
    assert!(!env.has("terraform.tfstate"));
    env.run_with(&["apply"], "x\nyes\n", &[])
        .exits(0)
        .says(&["1 added"]);
    assert_eq!(env.run(&["output", "-raw", "v"]).exits(0).stdout, "x");
    env.run_with(&["destroy", "-var=v=x"], "yes\n", &[])
        .exits(0)
        .says(&["1 destroyed"]);
}

#[test]
fn the_environment() {
    let env = env();
    env.write(
        "main.tf",
        "variable \"v\" {}\noutput \"v\" { value = var.v }\n",
    );
    let apply = |variables: &[(&str, &str)], arguments: &[&str]| {
        let all: Vec<&str> = ["apply", "-auto-approve"]
            .iter()
            .chain(arguments)
            .copied()
            .collect();
        env.run_with(&all, "", variables).exits(0);
        env.run(&["output", "-raw", "v"]).exits(0).stdout.clone()
    };
    assert_eq!(apply(&[("TF_VAR_v", "env")], &[]), "env");
    env.write("terraform.tfvars", "v = \"file\"\n");
    assert_eq!(apply(&[("TF_VAR_v", "env")], &[]), "file");
    env.write("b.auto.tfvars", "v = \"auto\"\n");
    env.write("a.auto.tfvars.json", "{\"v\": \"json\"}\n");
    assert_eq!(apply(&[], &[]), "auto");
    env.write("x.tfvars", "v = \"x\"\n");
    assert_eq!(apply(&[], &["-var-file=x.tfvars"]), "x");
    assert_eq!(apply(&[], &["-var", "v=1", "-var-file", "x.tfvars"]), "x");
    assert_eq!(apply(&[], &["-var-file", "x.tfvars", "-var", "v=1"]), "1");
    assert_eq!(apply(&[("TF_CLI_ARGS_apply", "-var 'v=a b'")], &[]), "a b");
    assert_eq!(
        apply(&[("TF_CLI_ARGS_apply", "-var 'v=a b'")], &["-var=v=c"]),
        "c"
    );
    let selected = |variables: &[(&str, &str)]| {
        let ran = env.run_with(&["workspace", "show"], "", variables);
        ran.exits(0).stdout.trim_end().to_owned()
    };
    assert_eq!(selected(&[("TF_WORKSPACE", "other")]), "other");
    env.write(".terraform/environment", "third");
    assert_eq!(selected(&[]), "third");
    assert_eq!(selected(&[("TF_DATA_DIR", "elsewhere")]), "default");
    std::fs::remove_file(env.path().join(".terraform/environment")).expect("removed");
    env.run_with(&["plan"], "", &[("FORMWORK_CLOUD", "fog")])
        .exits(1)
        .says(&["Invalid FORMWORK_CLOUD"]);
    env.run_with(&["version"], "", &[("FORMWORK_TERRAFORM_VERSION", "1.9.8")])
        .exits(0)
        .says(&["1.9.8"]);
    env.run_with(&["version"], "", &[("FORMWORK_TERRAFORM_VERSION", "new")])
        .exits(1)
        .says(&["FORMWORK_TERRAFORM_VERSION"]);
}

#[test]
fn versions() {
    let env = env();
    env.write(
        "main.tf",
        "terraform {\n  required_version = \"~> 1.5.0\"\n  required_providers {\n    google = { source = \"hashicorp/google\", version = \"~> 6.0\" }\n  }\n}\n",
    );
    env.run(&["version"]).exits(0).says(&[
        "Formwork v",
        "+ provider registry.terraform.io/hashicorp/google v6.",
    ]);
    let json = env.run(&["version", "-json"]);
    assert!(json.exits(0).stderr.is_empty());
    assert!(json.json()["terraform_version"].is_string());
    env.run(&["validate"])
        .exits(0)
        .says(&["Warning: Unsupported Terraform Core version"]);
    env.run(&["validate", "-strict-version"]).exits(1).says(&[
        "Error: Unsupported Terraform Core version",
        "main.tf line 2",
    ]);
    env.write(
        "main.tf",
        "terraform {\n  required_providers {\n    google = { source = \"hashicorp/google\", version = \"~> 3.0\" }\n    random = { source = \"hashicorp/random\" }\n  }\n}\ndata \"google_project\" \"p\" {}\nresource \"random_id\" \"x\" {\n  byte_length = 1\n}\n",
    );
    env.run(&["plan", "-mock"]).exits(1).says(&[
        "Provider version not served",
        "~> 3.0",
        "main.tf:3",
        "Missing required provider",
        "formwork init",
        "hashicorp/random",
    ]);
}

#[test]
fn layout() {
    let env = env();
    env.write("a.tf", "a=1\nbb=2\n").write("sub/b.tf", "a=1\n");
    env.run(&["fmt", "-check"]).exits(3);
    assert_eq!(env.text("a.tf"), "a=1\nbb=2\n");
    env.run(&["fmt", "-diff", "-write=false", "-list=false"])
        .exits(0)
        .says(&["--- old/a.tf", "+++ new/a.tf", "-a=1", "+a  = 1"]);
    let ran = env.run(&["fmt", "-recursive"]);
    assert_eq!(ran.exits(0).stdout, "a.tf\nsub/b.tf\n");
    assert_eq!(env.text("a.tf"), "a  = 1\nbb = 2\n");
    env.run(&["fmt", "-check", "-recursive"]).exits(0);
    let ran = env.run_with(&["fmt", "-"], "x={\na=1}\n", &[]);
    ran.exits(0);
    assert!(ran.stdout.starts_with("x = {"), "{}", ran.stdout);
    env.run_with(&["fmt", "-"], "x = = 1\n", &[])
        .exits(2)
        .says(&["<stdin> line 1"]);
    env.run(&["fmt", "nope.tf"]).exits(2).says(&["nope.tf"]);
    // In the order of the arguments; one bad file keeps no other from being laid out.
    env.write("z/a.tfvars", "a=1\n")
        .write("z/b.tftest.hcl", "run \"x\" {\n command=plan\n}\n")
        .write("z/c.tfmock.hcl", "mock_data \"x\" {\n  defaults={}\n}\n")
        .write("z/d.tfquery.hcl", "variable \"x\" {\n}\nlocals{\n}\n")
        .write("z/bad.tf", "a = \n")
        .write("z/other.hcl", "a=1\n")
        .write("y.tf", "a=1\n");
    let ran = env.run(&["fmt", "z", "y.tf"]);
    let names = "z/a.tfvars\nz/b.tftest.hcl\nz/c.tfmock.hcl\nz/d.tfquery.hcl\ny.tf\n";
    assert_eq!(ran.exits(2).stdout, names);
    assert_eq!(env.text("z/bad.tf"), "a = \n");
    assert_eq!(env.text("z/other.hcl"), "a=1\n");
    env.run(&["fmt", "-check", "y.tf"]).exits(0);
    env.run(&["fmt", "z/other.hcl"]).exits(2);
    let ran = env.run_with(&["fmt", "-check", "-"], "a=1\n", &[]);
    assert_eq!(ran.exits(3).stdout, "");
}

/// Answers at a terminal: what is asked, and that only `yes` is approval. Needs `script` of util-linux,
/// which gives a program a terminal.
#[cfg(target_os = "linux")]
#[test]
fn questions_at_a_terminal() {
    use std::process::Command;
    if Command::new("script").arg("--version").output().is_err() {
        // straight to the stream: what macros print is shown only of tests that fail
        let _ = std::io::Write::write_all(
            &mut std::io::stderr(),
            b"skipped: questions at a terminal, since there is no `script` to make one\n",
        );
        return;
    }
    let env = env();
    env.write(
        "main.tf",
        "variable \"n\" {\n  type        = number\n  description = \"How many.\"\n}\nvariable \"s\" {\n  type      = string\n  sensitive = true\n}\nresource \"terraform_data\" \"x\" {\n  count            = var.n\n  triggers_replace = var.s\n}\n",
    );
    let ask = |command: &str, answers: &str| {
        let line = format!("{} {command}", env!("CARGO_BIN_EXE_formwork"));
        env.run_program("script", &["-qec", &line, "/dev/null"], answers)
    };
    let ran = ask("apply", "2\nhush\nyes\n");
    ran.exits(0).says(&[
        "var.n",
        "How many.",
        "var.s",
        "Plan: 2 to add",
        "Only \"yes\"",
        "Apply complete!",
    ]);
    for no in ["no\n", "y\n", "YES\n", "\n"] {
        ask("destroy -var=n=2", &format!("hush\n{no}"))
            .exits(1)
            .says(&["destroy all of this", "Nothing was changed."]);
    }
    ask("plan -input=false", "").exits(1).says(&["var.n"]);
    ask("apply -input=false -var=n=1 -var=s=hush", "")
        .exits(1)
        .says(&["-auto-approve"]);
    let listed = env.run(&["state", "list"]);
    assert_eq!(
        listed.exits(0).stdout,
        "terraform_data.x[0]\nterraform_data.x[1]\n"
    );
    ask("destroy -var=n=2 -var=s=hush", "yes\n")
        .exits(0)
        .says(&["2 destroyed"]);
}

/// At a terminal a line at its foot says how far a run is, and what operations took is remembered.
#[cfg(target_os = "linux")]
#[test]
fn progress_at_a_terminal() {
    use formwork_testkit::Scenario;
    use std::process::Command;
    if Command::new("script").arg("--version").output().is_err() {
        // straight to the stream: what macros print is shown only of tests that fail
        let _ = std::io::Write::write_all(
            &mut std::io::stderr(),
            b"skipped: progress at a terminal, since there is no `script` to make one\n",
        );
        return;
    }
    let env = crate::two_networks();
    let server = env.serve("world", &Scenario::new().taking(2100, 2200));
    let run = |flags: &str| {
        let program = env!("CARGO_BIN_EXE_formwork");
        let line = format!("stty cols 200; {program} {flags} {}", server.flag);
        env.run_program("script", &["-qec", &line, "/dev/null"], "")
    };
    let ran = run("apply -auto-approve");
    ran.exits(0).says(&[
        "0 of 4 done",
        "creating google_compute_network",
        "Apply complete! Resources: 4 added",
    ]);
    let erased = "\r\u{1b}[K";
    assert!(ran.stdout.contains(erased));
    let last = ran.stdout.rsplit(erased).next().expect("an end");
    assert!(!last.contains(" done"), "{last}");
    let file = env.path().join("../home/.cache/formwork/durations.json");
    let text = std::fs::read_to_string(&file).expect("what operations took");
    let took: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    let time = took["mock"]["google_compute_network create"].as_u64();
    assert!(time.is_some_and(|t| t >= 2000), "{took}");
    let ran = run("destroy -auto-approve -concise");
    ran.exits(0).never_says(&[" of 4 done", "Refreshing"]);
    let ran = run("apply -auto-approve");
    ran.exits(0).says(&["of about ", " left"]);
    env.run(&["destroy", "-auto-approve", &server.flag])
        .exits(0)
        .never_says(&[" of 4 done", "\u{1b}"]);
}
