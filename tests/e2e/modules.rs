//! Modules that are fetched: `init`, `get`, and what comes after.

use crate::env;
use formwork_testkit::{Answer, Server, TestEnv, until};
use std::process::Command;

/// A repository beside the working directory, and its address; nothing where there is no git.
fn repository(env: &TestEnv, files: &[(&str, &str)]) -> Option<String> {
    if Command::new("git").arg("--version").output().is_err() {
        eprintln!("SKIPPED: there is no git on this machine");
        return None;
    }
    let folder = env.path().parent().expect("a folder").join("repository");
    let git = |arguments: &[&str]| {
        let ran = Command::new("git")
            .args([
                "-c",
                "user.name=tester",
                "-c",
                "user.email=tester@example.com",
            ])
            .arg("-C")
            .arg(&folder)
            .args(arguments)
            .env("HOME", &folder)
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .output()
            .expect("git runs");
        assert!(
            ran.status.success(),
            "{}",
            String::from_utf8_lossy(&ran.stderr)
        );
    };
    std::fs::create_dir_all(&folder).expect("a folder");
    git(&["init", "-q", "-b", "main"]);
    for (name, text) in files {
        let path = folder.join(name);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        std::fs::write(path, text).expect("a file");
    }
    git(&["add", "-A"]);
    git(&["commit", "-q", "-m", "all"]);
    git(&["tag", "v1"]);
    Some(format!("git::file://{}", folder.display()))
}

const NET: &[(&str, &str)] = &[
    (
        "modules/net/main.tf",
        "variable \"name\" {}\nmodule \"names\" {\n  source = \"../names\"\n  name   = var.name\n}\nresource \"terraform_data\" \"net\" {\n  input = templatefile(\"${path.module}/text.tftpl\", { name = module.names.full })\n}\noutput \"text\" {\n  value = terraform_data.net.output\n}\noutput \"path\" {\n  value = path.module\n}\n",
    ),
    ("modules/net/text.tftpl", "network ${name}"),
    (
        "modules/names/main.tf",
        "variable \"name\" {}\noutput \"full\" {\n  value = \"x-${var.name}\"\n}\n",
    ),
];

fn main_tf(source: &str) -> String {
    format!(
        "module \"net\" {{\n  source = \"{source}\"\n  name   = \"a\"\n}}\noutput \"text\" {{\n  value = module.net.text\n}}\noutput \"path\" {{\n  value = module.net.path\n}}\n"
    )
}

#[test]
fn a_saved_plan_needs_neither_the_network_nor_what_is_installed() {
    let env = env();
    let Some(source) = repository(&env, NET) else {
        return;
    };
    env.write("main.tf", main_tf(&format!("{source}//modules/net?ref=v1")));
    for command in [&["plan"][..], &["validate"], &["apply", "-auto-approve"]] {
        env.run(command)
            .exits(1)
            .says(&["Module not installed", "formwork init", "main.tf"]);
    }
    let lock = "# kept as it is\nprovider \"registry.terraform.io/hashicorp/null\" {\n  version = \"3.2.1\"\n}\n";
    env.write(".terraform.lock.hcl", lock);
    env.run(&["init"]).exits(0).says(&[
        "Fetching git::file://",
        "- net in .terraform/modules/net/modules/net",
        "successfully initialized",
    ]);
    assert_eq!(env.text(".terraform.lock.hcl"), lock);
    env.run(&["init"]).exits(0).never_says(&["Fetching"]);
    env.run(&["validate"]).exits(0);
    let listed = env.run(&["modules", "-json"]);
    let listed = listed.exits(0).json();
    assert_eq!(listed["format_version"], "1.0");
    assert_eq!(listed["modules"][0]["key"], "net");
    assert_eq!(listed["modules"][1]["source"], "../names");
    env.run(&["modules"]).exits(0).says(&[
        ".\n└── \"net\"[git::file://",
        "//modules/net?ref=v1]\n    └── \"names\"[../names]\n",
    ]);
    env.run(&["plan", "-out=p"]).exits(0).says(&["1 to add"]);

    std::fs::remove_dir_all(env.path().join(".terraform")).expect("removed");
    std::fs::remove_dir_all(env.path().parent().expect("a folder").join("repository"))
        .expect("removed");
    std::fs::remove_file(env.path().join("main.tf")).expect("removed");
    env.run(&["show", "p"])
        .exits(0)
        .says(&["module.net.terraform_data.net"]);
    env.run(&["show", "-json", "p"]).exits(0);
    env.run(&["apply", "p"]).exits(0).says(&["1 added"]);
    let output = |name: &str| env.run(&["output", "-raw", name]).exits(0).stdout.clone();
    assert_eq!(output("text"), "network x-a");
    assert_eq!(output("path"), ".terraform/modules/net/modules/net");
}

#[test]
fn sources_that_change() {
    let env = env();
    let Some(source) = repository(&env, NET) else {
        return;
    };
    env.write("main.tf", main_tf(&format!("{source}//modules/net")));
    env.run(&["get"])
        .exits(0)
        .says(&["- net in .terraform/modules/net/modules/net"]);
    env.run(&["plan"]).exits(0);
    env.write("main.tf", main_tf(&format!("{source}//modules/net?ref=v1")));
    env.run(&["plan"])
        .exits(1)
        .says(&["Module source has changed", "formwork init"]);
    env.run(&["init", "-get=false"])
        .exits(1)
        .says(&["Module source has changed"]);
    env.run(&["get"]).exits(0);
    env.write(".terraform/modules/net/modules/net/more.tf", "# mine\n");
    env.run(&["validate"])
        .exits(0)
        .says(&["Installed module was changed"]);
    env.run(&["init"])
        .exits(0)
        .says(&["net is not as it was installed"]);
    env.run(&["get", "-update"]).exits(0).says(&["Fetching"]);
    let ran = env.run(&["init", "-json", "-upgrade"]);
    assert!(ran.exits(0).stderr.is_empty());
    let lines: Vec<serde_json::Value> = ran
        .stdout
        .lines()
        .map(|line| serde_json::from_str(line).expect("an object a line"))
        .collect();
    let has = |key: &str, value: &str| lines.iter().any(|l| l[key] == value);
    assert!(has("type", "version"));
    assert!(has("message_code", "initializing_modules_message"));
    assert!(has("message_code", "output_init_success_message"));
    assert!(has(
        "@message",
        "- net in .terraform/modules/net/modules/net"
    ));
    env.write(
        "main.tf",
        main_tf("git::https://me:s3cr3t@127.0.0.1:1/x.git"),
    );
    let ran = env.run(&["init"]);
    ran.exits(1).says(&[
        "Failed to download module",
        "main.tf line 2",
        "git, asked for",
    ]);
    assert!(
        !ran.text()
            .replace("source = \"git::https://me:s3cr3t@", "")
            .contains("s3cr3t"),
        "{}",
        ran.text()
    );
    // its own folder, and beginning with somebody else's
    env.run(&[
        "-chdir=.terraform",
        "init",
        "-from-module=../../repository/modules/names",
    ])
    .exits(1);
    std::fs::create_dir(env.path().join("new")).expect("a folder");
    env.run(&[
        "-chdir=new",
        "init",
        &format!("-from-module={source}//modules/names"),
    ])
    .exits(0)
    .says(&["successfully initialized"]);
    assert!(env.has("new/main.tf"));
}

#[test]
fn a_killed_init_leaves_nothing_half_done() {
    let server = Server::new(|request| {
        if request.path.starts_with("/slow") {
            std::thread::sleep(std::time::Duration::from_secs(100));
        }
        Answer::status(404)
    });
    let env = env();
    let Some(source) = repository(&env, NET) else {
        return;
    };
    let good = main_tf(&format!("{source}//modules/net"));
    let slow = format!(
        "{good}module \"slow\" {{\n  source = \"{}\"\n}}\n",
        server.url("/slow.zip")
    );
    env.write("main.tf", &slow);
    let mut child = env.start(&["init"]);
    until("the server is asked", || !server.asked().is_empty());
    child.kill().expect("killed");
    child.wait().expect("ended");
    env.write("main.tf", &good);
    env.run(&["plan"]).exits(1).says(&["Module not installed"]);
    env.run(&["init"]).exits(0);
    env.run(&["plan"]).exits(0);
    let left = std::fs::read_dir(env.path().join(".terraform/modules")).expect("a folder");
    let mut left: Vec<String> = left
        .map(|e| {
            e.expect("an entry")
                .file_name()
                .to_string_lossy()
                .into_owned()
        })
        .collect();
    left.sort();
    assert_eq!(
        left,
        [".formwork.lock", "formwork.json", "modules.json", "net"]
    );
    // asked to stop, it stops
    env.write("main.tf", &slow);
    let before = server.asked().len();
    let mut child = env.start(&["init"]);
    until("the server is asked", || server.asked().len() > before);
    formwork_testkit::interrupt(&child);
    let ended = child.wait().expect("ended");
    assert_eq!(ended.code(), Some(1), "{}", env.started_output());
    env.write("main.tf", &good);
    env.run(&["plan"]).exits(0);
}

#[test]
fn tokens_of_the_cli_configuration() {
    let server = Server::new(|request| {
        let known =
            request.headers.get("authorization").map(String::as_str) == Some("Bearer t0ken");
        match request.path.as_str() {
            _ if !known => Answer::status(401),
            "/m/ns/net/google/versions" => {
                Answer::ok(r#"{"modules":[{"versions":[{"version":"1.2.0"}]}]}"#)
            }
            _ => Answer::status(404),
        }
    });
    let env = env();
    env.write("main.tf", "module \"net\" {\n  source  = \"registry.example.com/ns/net/google\"\n  version = \">= 2.0\"\n}\n");
    let host = |token: &str| {
        format!(
            "host \"registry.example.com\" {{\n  services = {{\n    \"modules.v1\" = \"{}\"\n  }}\n}}\n{token}",
            server.url("/m/")
        )
    };
    env.write("../home/.terraformrc", host(""));
    env.run(&["init"]).exits(1).says(&[
        "Error accessing remote module registry",
        "TF_TOKEN_registry_example_com",
    ]);
    env.write(
        "../home/.terraformrc",
        host("credentials \"registry.example.com\" {\n  token = \"t0ken\"\n}\n"),
    );
    env.run(&["init"])
        .exits(1)
        .says(&["Unresolvable module version constraint", "1.2.0"]);
}
