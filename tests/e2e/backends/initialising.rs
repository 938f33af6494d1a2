//! What must be made ready, and what states are brought along.

use super::*;

/// What init has remembered of the backend.
fn remembered(env: &TestEnv) -> serde_json::Value {
    serde_json::from_str(&env.text(".terraform/terraform.tfstate")).expect("JSON")
}

#[test]
fn a_state_in_a_bucket() {
    let env = surroundings();
    let bucket = Bucket::new(&env, &Scenario::new());
    env.write("main.tf", bucket.block("team/a") + CONTENT);
    for command in [
        &["plan"][..],
        &["apply", "-auto-approve"],
        &["state", "list"],
        &["output"],
        &["workspace", "list"],
        &["console"],
    ] {
        env.run(command).exits(1).says(&[
            "Backend initialization required, please run \"terraform init\"",
            "main.tf line 2",
        ]);
    }
    env.run(&["init"])
        .exits(0)
        .says(&["Successfully configured the backend \"gcs\""]);
    assert_eq!(remembered(&env)["backend"]["type"], "gcs");
    env.run(&["apply", "-auto-approve"]).exits(0);
    assert_eq!(env.run(&["output", "-raw", "o"]).exits(0).stdout, "1");
    env.run(&["state", "mv", "terraform_data.b", "terraform_data.c"])
        .exits(0);
    env.run(&["taint", "terraform_data.a"]).exits(0);
    let listed = env.run(&["state", "list"]);
    assert_eq!(
        listed.exits(0).stdout,
        "terraform_data.a\nterraform_data.c\n"
    );
    env.run(&["refresh"]).exits(0);
    let pulled = env.run(&["state", "pull"]);
    env.write("pulled.json", &pulled.exits(0).stdout);
    env.run(&["state", "push", "pulled.json"]).exits(0);
    env.run(&["state", "rm", "terraform_data.c"]).exits(0);
    env.run(&["plan", "-out=p"]).exits(0);
    env.run(&["apply", "p"]).exits(0);
    env.run(&["plan", "-detailed-exitcode"]).exits(0);
    // a file that is named can be looked at, but is no place for the state
    env.run(&["state", "list", "-state=pulled.json"])
        .exits(0)
        .says(&["terraform_data.c"]);
    env.run(&["apply", "-auto-approve", "-state=pulled.json"])
        .exits(1)
        .says(&["State is kept in a backend", "main.tf line 2"]);
    // nothing of it is here, and nothing but the state is there
    assert!(!env.has("terraform.tfstate") && !env.has("terraform.tfstate.journal"));
    assert_eq!(bucket.objects(&env), ["team/a/default.tfstate"]);
    // another configuration reads it
    env.write(
        "reader/main.tf",
        format!(
            "data \"terraform_remote_state\" \"r\" {{\n  backend = \"gcs\"\n  config = {{\n    bucket = \
             \"states\"\n    prefix = \"team/a\"\n    access_token = \"tok\"\n    storage_custom_endpoint = \
             \"{}/storage/v1/b\"\n  }}\n}}\noutput \"o\" {{\n  value = data.terraform_remote_state.r.outputs.o\n}}\n",
            bucket.server.url
        ),
    );
    env.run(&["-chdir=reader", "apply", "-auto-approve"])
        .exits(0)
        .says(&["o = \"1\""]);
    env.run(&["destroy", "-auto-approve"]).exits(0);
}

#[test]
fn arguments_of_backends() {
    let env = surroundings();
    let check = |kind: &str, arguments: &str, flags: &[&str], parts: &[&str]| {
        env.write("main.tf", block(kind, arguments));
        let mut words = vec!["init", "-input=false"];
        words.extend(flags);
        env.run(&words).exits(1).says(parts);
    };
    check(
        "gcs",
        "bukket = \"b\"",
        &[],
        &[
            "Unsupported argument",
            "main.tf line 3",
            "Did you mean \"bucket\"?",
        ],
    );
    check(
        "gcs",
        "bucket = [\"b\"]",
        &[],
        &[
            "Incorrect attribute value type",
            "main.tf line 3",
            "must be text",
        ],
    );
    check(
        "http",
        "retry_max = \"x\"",
        &[],
        &["Incorrect attribute value type", "a number"],
    );
    check(
        "gcs",
        "prefix = \"p\"",
        &[],
        &[
            "Invalid backend configuration",
            "\"bucket\"",
            "-backend-config",
        ],
    );
    check("http", "", &[], &["\"address\"", "TF_HTTP_ADDRESS"]);
    check(
        "http",
        "address = \"ftp://x\"",
        &[],
        &["\"address\"", "http://"],
    );
    check(
        "gcs",
        "bucket = \"b\"\n    access_token = \"t\"\n    encryption_key = \"hunter2\"",
        &[],
        &["encryption_key", "main.tf line 5", "base64"],
    );
    env.run(&["init"]).exits(1).never_says(&["hunter2\" of"]);
    check(
        "gcs",
        "",
        &["-backend-config=nope=1"],
        &["Invalid backend configuration argument", "nope"],
    );
    check(
        "gcs",
        "",
        &["-backend-config=nofile"],
        &["Failed to read file", "nofile"],
    );
    env.write("b.hcl", "bucket = \"b\"\nnope = 3\n");
    check(
        "gcs",
        "",
        &["-backend-config=b.hcl"],
        &["Unsupported argument", "b.hcl line 2"],
    );
    check(
        "locl",
        "",
        &[],
        &["Unsupported backend type", "Did you mean \"local\"?"],
    );
    check("s3", "", &[], &["Backend not served yet", "main.tf line 2"]);
    check(
        "gcs",
        "bucket = \"b\"",
        &["-reconfigure", "-migrate-state"],
        &["only one of them"],
    );
    // where nothing is to be done with the backend, nothing is wrong with it
    env.run(&["init", "-backend=false"]).exits(0);
    env.run(&["validate"]).exits(0);
}

#[test]
fn what_is_said_on_command_lines_is_remembered() {
    let env = surroundings();
    let bucket = Bucket::new(&env, &Scenario::new());
    env.write("main.tf", block("gcs", "prefix = \"p\"") + CONTENT);
    env.write("b.hcl", "bucket = \"elsewhere\"\naccess_token = \"tok\"\n");
    let endpoint = format!(
        "-backend-config=storage_custom_endpoint={}/storage/v1/b",
        bucket.server.url
    );
    env.run(&[
        "init",
        "-backend-config=b.hcl",
        "-backend-config=bucket=states",
        &endpoint,
    ])
    .exits(0);
    let config = remembered(&env)["backend"]["config"].clone();
    assert_eq!(config["bucket"], "states");
    assert_eq!(config["prefix"], "p");
    assert_eq!(config["access_token"], "tok");
    // it need not be said again, but what is said otherwise is a change
    env.run(&["init"]).exits(0);
    env.run(&["init", "-migrate-state"]).exits(0);
    assert_eq!(remembered(&env)["backend"]["config"], config);
    env.run(&["init", "-backend-config=bucket=other"])
        .exits(1)
        .says(&["Backend configuration changed"]);
    env.run(&["apply", "-auto-approve"]).exits(0);
    assert_eq!(bucket.objects(&env), ["p/default.tfstate"]);
    // the block changes, and with it what is remembered does not count any more
    env.write("main.tf", block("gcs", "prefix = \"q\"") + CONTENT);
    env.run(&["plan"])
        .exits(1)
        .says(&["Backend initialization required: please run \"terraform init\""]);
    let again = [
        "init",
        "-backend-config=b.hcl",
        "-backend-config=bucket=states",
        &endpoint,
    ];
    env.run(&again).exits(1).says(&[
        "Backend configuration changed",
        "-migrate-state",
        "-reconfigure",
    ]);
    let mut migrating = again.to_vec();
    migrating.push("-force-copy");
    env.run(&migrating).exits(0);
    env.run(&["plan", "-detailed-exitcode"]).exits(0);
    assert_eq!(
        bucket.objects(&env),
        ["p/default.tfstate", "q/default.tfstate"]
    );
    // and with nothing said, nothing is remembered
    env.write("main.tf", CONTENT);
    env.run(&["plan"])
        .exits(1)
        .says(&["Backend initialization required, please"]);
    env.run(&["init", "-reconfigure"]).exits(0);
    assert_eq!(remembered(&env).get("backend"), None);
    env.run(&["plan", "-detailed-exitcode"]).exits(2);
}

#[test]
fn states_are_brought_along() {
    let env = surroundings();
    let bucket = Bucket::new(&env, &Scenario::new());
    let http = StateServer::new();
    // two workspaces in files
    env.write("main.tf", CONTENT);
    env.run(&["apply", "-auto-approve"]).exits(0);
    env.run(&["workspace", "new", "blue"]).exits(0);
    env.run(&["apply", "-auto-approve", "-var=v=blue"]).exits(0);
    let id = |env: &TestEnv| {
        let state = env.run(&["state", "pull"]).exits(0).json();
        state["resources"][0]["instances"][0]["attributes"]["id"].clone()
    };
    let blue = id(&env);
    // go into a bucket
    env.write("main.tf", bucket.block("p") + CONTENT);
    env.run(&["init"]).exits(1).says(&[
        "Nobody can be asked whether to copy the state",
        "-force-copy",
    ]);
    env.run_with(&["init"], "maybe\n", &[]).exits(1);
    assert_eq!(bucket.objects(&env), Vec::<String>::new());
    env.run_with(&["init"], "yes\n", &[])
        .exits(0)
        .says(&["states of 2 workspaces: default, blue"]);
    assert_eq!(
        bucket.objects(&env),
        ["p/blue.tfstate", "p/default.tfstate"]
    );
    assert_eq!(id(&env), blue);
    env.run(&["plan", "-detailed-exitcode", "-var=v=blue"])
        .exits(0);
    env.run(&["workspace", "select", "default"]).exits(0);
    env.run(&["plan", "-detailed-exitcode"]).exits(0);
    // the one that nobody spoke of was set aside
    assert!(!env.has("terraform.tfstate") && env.has("terraform.tfstate.backup"));
    // from there the selected one goes to an address
    env.run(&["workspace", "select", "blue"]).exits(0);
    env.write("main.tf", http.block() + CONTENT);
    env.run(&["init", "-migrate-state", "-force-copy"])
        .exits(0)
        .says(&["Workspaces left behind", "default"]);
    assert_eq!(env.run(&["workspace", "show"]).exits(0).stdout, "default\n");
    assert_eq!(id(&env), blue);
    env.run(&["workspace", "list"])
        .exits(1)
        .says(&["Workspaces not supported"]);
    let serial = http.state().expect("a state")["serial"].clone();
    env.run(&["plan", "-detailed-exitcode", "-var=v=blue"])
        .exits(0);
    assert_eq!(http.state().expect("a state")["serial"], serial);
    // and back into a file, in the place of what is there
    env.write(
        "main.tf",
        block("local", "path = \"own.tfstate\"") + CONTENT,
    );
    env.run_with(&["init", "-migrate-state"], "no\n", &[])
        .exits(0);
    env.run(&["plan", "-detailed-exitcode"]).exits(2);
    env.run(&["apply", "-auto-approve"]).exits(0);
    env.write("main.tf", http.block() + CONTENT);
    env.run(&["init", "-reconfigure"]).exits(0);
    env.write(
        "main.tf",
        block("local", "path = \"own.tfstate\"") + CONTENT,
    );
    env.run_with(&["init", "-migrate-state"], "yes\n", &[])
        .exits(0)
        .says(&["Both backends hold a state"]);
    assert_eq!(id(&env), blue);
}

#[test]
fn the_mock_s_own_storage() {
    let env = surroundings();
    env.write(
        "main.tf",
        block("gcs", "bucket = \"made-for-it\"\n    prefix = \"p\"") + CONTENT,
    );
    env.run(&["plan", "-mock-backend"])
        .exits(1)
        .says(&["-mock-backend", "-mock only"]);
    // nothing need be made ready
    env.run(&["apply", "-mock", "-mock-backend", "-auto-approve"])
        .exits(0);
    env.run(&["plan", "-mock", "-mock-backend", "-detailed-exitcode"])
        .exits(0);
    let listed = env.run(&["mock", "list"]);
    listed.exits(0).says(&["made-for-it/o/p%2Fdefault.tfstate"]);
    assert!(!env.has(".formwork/mock/state/terraform.tfstate") && !env.has("terraform.tfstate"));
    env.run(&["workspace", "new", "blue", "-mock", "-mock-backend"])
        .exits(0);
    let names = env.run(&["workspace", "list", "-mock", "-mock-backend"]);
    assert_eq!(names.exits(0).stdout, "  default\n* blue\n\n");
    assert_eq!(names.stderr, "");
    // what is said on a command line is remembered for the mock alone
    env.run(&[
        "init",
        "-mock",
        "-mock-backend",
        "-backend-config=bucket=other",
    ])
    .exits(0);
    env.run(&["apply", "-mock", "-mock-backend", "-auto-approve"])
        .exits(0);
    env.run(&["mock", "list"])
        .exits(0)
        .says(&["other/o/p%2Fblue.tfstate"]);
    env.run(&["plan"])
        .exits(1)
        .says(&["Backend initialization required"]);
    // without the flag the backend is passed over, and the state is another
    env.run(&["workspace", "select", "default", "-mock"])
        .exits(0);
    env.run(&["plan", "-mock", "-detailed-exitcode"]).exits(2);
}
