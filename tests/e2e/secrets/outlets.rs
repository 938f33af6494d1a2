//! Canaries through commands, pages, provisioners, prompts and the answers of backends.

use super::{
    EPHEMERAL, MARK, SENSITIVE, all, canary, found, inlets, nothing_in, silent, surroundings,
    variables,
};
use formwork_testkit::{Answer, Server};
use std::fmt::Write as _;

/// Objects with secrets in them that commands can be tried on: kept ones, ones that fail, a provisioner
/// that says what it was given.
fn objects() -> String {
    let mut text = variables();
    for way in SENSITIVE {
        let _ = writeln!(
            text,
            "resource \"terraform_data\" \"{way}\" {{\n  count = 2\n  input = {{ a = var.{way}[count.index], b = \
             jsonencode(var.{way}) }}\n  triggers_replace = base64encode(var.{way}[9])\n}}"
        );
    }
    text.push_str(
        r#"
resource "terraform_data" "told" {
  input = var.flag[1]

  provisioner "local-exec" {
    command    = "echo 'it is ${var.flag[2]}'; echo \"$PASSWORD\"; echo \"$PASSWORD\" | base64 >&2; false"
    on_failure = continue
    environment = {
      PASSWORD = var.eflag[3]
    }
  }

  provisioner "local-exec" {
    when    = destroy
    command = "echo 'once ${self.input}'; false"
    on_failure = continue
  }

  lifecycle {
    postcondition {
      condition     = self.input != "x"
      error_message = "It is ${self.input}."
    }
  }
}

check "always" {
  assert {
    condition     = var.file[1] == "x"
    error_message = "It is ${var.file[1]}, ${base64encode(var.file[2])}."
  }
}

module "inner" {
  source = "./inner"
  secret = var.environ[5]
  passed = var.eenviron[5]
}

output "inner" {
  value     = module.inner.secret
  sensitive = true
}

output "nested" {
  value = {
    open = "open"
    list = [for t in terraform_data.flag : t.output]
  }
  sensitive = true
}
"#,
    );
    text
}

const INNER: &str = r#"
variable "secret" {
  type = string
}

variable "passed" {
  type      = string
  ephemeral = true
}

locals {
  both = "${var.secret}, ${var.passed}"
}

resource "terraform_data" "a" {
  for_each = toset(["one", "two"])
  input    = "${each.key}: ${var.secret}"

  provisioner "local-exec" {
    command = "test -n \"$BOTH\""
    environment = {
      BOTH = local.both
    }
  }
}

output "secret" {
  value     = terraform_data.a["one"].output
  sensitive = true
}
"#;

#[test]
fn no_command_shows_a_secret() {
    let env = surroundings();
    env.write("main.tf", objects());
    env.write("inner/main.tf", INNER);
    env.write(
        "secrets.tftest.hcl",
        "run \"one\" {\n  assert {\n    condition     = var.flag[0] == \"x\"\n    error_message = \"It is \
         ${var.flag[0]}, ${output.inner}.\"\n  }\n}\n",
    );
    let given = inlets(&env);
    // what takes values of variables
    let takes = [
        "plan", "apply", "destroy", "refresh", "test", "import", "console", "graph",
    ];
    let steps: &[(&[&str], &[i32])] = &[
        (&["validate"], &[0]),
        (&["validate", "-json"], &[0]),
        (&["plan", "-out=first"], &[0]),
        (&["show", "first"], &[0]),
        (&["show", "-html", "first"], &[0]),
        (&["graph", "-plan=first"], &[0, 1]),
        (&["graph", "-type=plan"], &[0, 1]),
        (&["graph"], &[0]),
        (&["providers"], &[0]),
        (&["apply", "first"], &[1]),
        (&["apply", "-auto-approve"], &[0]),
        (&["graph", "-format=mermaid"], &[0, 1]),
        (&["show"], &[0]),
        (&["state", "list"], &[0]),
        (&["state", "show", "terraform_data.told"], &[0]),
        (
            &["state", "show", "module.inner.terraform_data.a[\"one\"]"],
            &[0],
        ),
        (&["output"], &[0]),
        (&["taint", "terraform_data.flag[0]"], &[0]),
        (&["plan"], &[0]),
        (&["untaint", "terraform_data.flag[0]"], &[0]),
        (
            &[
                "state",
                "mv",
                "terraform_data.flag[1]",
                "terraform_data.flag[7]",
            ],
            &[0],
        ),
        (&["plan", "-concise"], &[0, 1, 2]),
        (
            &[
                "state",
                "mv",
                "terraform_data.flag[7]",
                "terraform_data.flag[1]",
            ],
            &[0],
        ),
        (&["state", "rm", "terraform_data.file[0]"], &[0]),
        (&["import", "terraform_data.file[0]", "some-id"], &[0]),
        (&["plan", "-refresh-only"], &[0]),
        (&["plan", "-replace=terraform_data.told", "-json"], &[0]),
        (
            &["apply", "-replace=terraform_data.told", "-auto-approve"],
            &[0],
        ),
        (&["refresh"], &[0]),
        (&["plan", "-target=terraform_data.told"], &[0]),
        (
            &["state", "settle", "terraform_data.told", "-not-created"],
            &[0, 1],
        ),
        (&["force-unlock", "-force", "none"], &[0, 1]),
        (&["workspace", "new", "other"], &[0]),
        (&["workspace", "list"], &[0]),
        (&["plan"], &[0]),
        (&["workspace", "select", "default"], &[0]),
        (&["test"], &[1]),
        (&["test", "-json"], &[1]),
        (&["apply", "-auto-approve", "-var=flag=[\"x\"]"], &[1]),
        (&["destroy", "-auto-approve", "-json"], &[0]),
    ];
    for (words, codes) in steps {
        let mut every = words.to_vec();
        let saved = words.contains(&"first");
        if takes.contains(&words[0]) && !saved && words[0] != "graph" {
            // an import's address and id come last
            let at = 1;
            for (n, word) in given.iter().enumerate() {
                every.insert(at + n, word);
            }
        }
        if *words == ["apply", "first"] {
            // ephemeral values are in no plan and are wanted again: without them it is an error
            let ran = env.run(&every);
            silent(&words.join(" "), &ran);
            assert!(ran.code == 1 || ran.code == 0, "{}", ran.text());
            continue;
        }
        let ran = env.run(&every);
        silent(&words.join(" "), &ran);
        assert!(
            codes.contains(&ran.code),
            "{words:?}: {}: {}",
            ran.code,
            ran.text()
        );
    }
    nothing_in("log", &env.bytes("log.txt"), &all());
    let state = env.bytes("terraform.tfstate.backup");
    assert!(
        !found(&state, &SENSITIVE).is_empty(),
        "the state holds sensitive values"
    );
    for store in ["terraform.tfstate", "terraform.tfstate.backup"] {
        nothing_in(store, &env.bytes(store), &EPHEMERAL);
    }
}

#[test]
fn an_answer_to_a_question_is_not_repeated() {
    let env = surroundings();
    env.write(
        "main.tf",
        "variable \"asked\" {\n  sensitive = true\n  type = string\n}\nvariable \"number\" {\n  type = number\n  \
         ephemeral = true\n}\nresource \"terraform_data\" \"a\" {\n  input = var.asked\n}\n",
    );
    let answers = format!("{}\n{}\nyes\n", canary("answer", 0), canary("answer", 1));
    for words in [&["plan", "-input=true"][..], &["apply", "-input=true"]] {
        let ran = env.run_with(words, &answers, &[]);
        silent(&words.join(" "), &ran);
    }
    nothing_in("log", &env.bytes("log.txt"), &all());
}

/// A backend at an address that repeats all that it was sent, in its reason, its headers and its body.
#[test]
fn what_a_backend_answers_is_not_repeated() {
    for status in [200, 400, 401, 403, 404, 409, 423, 429, 500, 503] {
        for failing in ["GET", "LOCK", "POST", "UNLOCK"] {
            let server = Server::new(move |asked| {
                if asked.method != failing {
                    return match asked.method.as_str() {
                        "GET" => Answer::status(404),
                        _ => Answer::status(200),
                    };
                }
                let sent = asked
                    .headers
                    .get("authorization")
                    .cloned()
                    .unwrap_or_default();
                let decoded = format!("{MARK}user000zq:{MARK}reply001zq");
                let body = format!(
                    "{{\"ID\": \"{decoded}\", \"Who\": \"{sent}\", \"error\": \"{} {sent} {decoded}\"}}",
                    asked.path
                );
                Answer {
                    status,
                    body: body.into_bytes(),
                    ..Answer::default()
                }
                .with("x-reason", &format!("{sent} {decoded}"))
                .with(
                    "location",
                    &format!("http://{decoded}@127.0.0.1:1{}", asked.path),
                )
            });
            let env = surroundings()
                .with("TF_HTTP_USERNAME", &format!("{MARK}user000zq"))
                .with("TF_HTTP_PASSWORD", &format!("{MARK}reply001zq"));
            let url = server.url(&format!("/state?token={MARK}query002zq"));
            env.write(
                "main.tf",
                format!(
                    "terraform {{\n  backend \"http\" {{\n    address = \"{url}\"\n    lock_address = \"{url}\"\n    \
                     unlock_address = \"{url}\"\n    retry_max = 0\n  }}\n}}\nresource \"terraform_data\" \"a\" {{}}\n"
                ),
            );
            for words in [
                &["init", "-input=false"][..],
                &["plan"],
                &["apply", "-auto-approve"],
                &["apply", "-auto-approve", "-json"],
                &["state", "list"],
                &["force-unlock", "-force", "x"],
            ] {
                let ran = env.run(words);
                let text = ran.text();
                let what = format!("{status} to {failing}: {words:?}");
                // whose name it is may be said, as in "Who:"
                nothing_in(&what, text.as_bytes(), &["reply", "query"]);
                assert!(
                    found(text.as_bytes(), &["user"])
                        .iter()
                        .all(|f| f.starts_with(MARK)),
                    "{what}: {text}"
                );
            }
            nothing_in("log", &env.bytes("log.txt"), &["reply", "query"]);
            assert!(!server.asked().is_empty(), "it was asked");
        }
    }
}
