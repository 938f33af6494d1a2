//! A thousand secrets that are put in everywhere, and looked for in everything that comes out.
//!
//! Each canary is a text of its own with signs that quoting changes. It comes in as a variable (`-var`,
//! `-var-file`, `TF_VAR_`, `terraform.tfvars`, `*.auto.tfvars.json`), sensitive or ephemeral; as a
//! provider's or a backend's credential; or in an answer of the cloud that quotes what was sent. It is
//! looked for raw, in base64 (at each of the three places in a group of bytes), and as URLs and JSON
//! escape it, in what is shown: both streams, `-json`, `-json-into`, the log at `TF_LOG=trace`, the
//! mock's log, `show`, `state show`, `output`, `console`, `graph`, and the errors of expressions that
//! come to grief over a secret. Ephemeral ones are looked for in the state, its backup, its journal and
//! the saved plan, too.

mod outlets;
mod stores;

use crate::env;
use base64::Engine;
use flate2::read::DeflateDecoder;
use formwork_testkit::{Ran, Scenario, TestEnv};
use serde_json::json;
use std::io::Read;
use std::path::{Path, PathBuf};

/// How many come in by each way.
const EACH: usize = 100;

/// What all canaries have in them, and quoting leaves alone.
const MARK: &str = "kanari";

/// A canary: told apart by its way and its number.
fn canary(way: &str, number: usize) -> String {
    format!("<{MARK}{way}{number:03}zq>&\"é/+=%\\")
}

fn canaries(way: &str) -> Vec<String> {
    (0..EACH).map(|number| canary(way, number)).collect()
}

/// The canaries of a way as an expression of the language, which JSON is.
fn list(way: &str) -> String {
    let all = canaries(way);
    let quoted: Vec<String> = all
        .iter()
        .map(|text| {
            let text = text.replace('\\', "\\\\").replace('"', "\\\"");
            format!("\"{}\"", text.replace("%{", "%%{").replace("${", "$${"))
        })
        .collect();
    format!("[{}]", quoted.join(", "))
}

/// The ways whose canaries are sensitive, and those whose canaries are ephemeral.
const SENSITIVE: [&str; 5] = ["flag", "file", "environ", "tfvars", "auto"];
const EPHEMERAL: [&str; 5] = ["eflag", "efile", "eenviron", "etfvars", "eauto"];

/// What would be left of a canary in other clothes, whatever stands before it: the same of all canaries
/// of one way. Escapes (of JSON, HTML, URLs, HCL) leave the mark alone; base64 and hexadecimal do not.
fn encoded(way: &str) -> Vec<String> {
    let text = format!("{MARK}{way}");
    let lower: String = text.bytes().map(|b| format!("{b:02x}")).collect();
    let mut all = vec![lower.to_uppercase(), lower];
    // the mark and the way are of letters, in which both alphabets of base64 agree
    all.extend((0..3).map(|before| {
        let padded = format!("{}{text}", &"   "[..before]);
        let encoded = base64::engine::general_purpose::STANDARD.encode(padded);
        // what mixes with its neighbours is left out
        let begin = if before == 0 { 0 } else { 4 };
        let end = encoded.trim_end_matches('=').len().saturating_sub(2);
        encoded[begin..end].to_owned()
    }));
    all
}

/// Where canaries of these ways are in the text.
fn found(text: &[u8], ways: &[&str]) -> Vec<String> {
    let text = String::from_utf8_lossy(text);
    let mut found = Vec::new();
    for way in ways {
        let mut needles = encoded(way);
        needles.push(format!("{MARK}{way}"));
        for needle in needles {
            if let Some(at) = text.find(&needle) {
                let around = text.get(at.saturating_sub(120)..).unwrap_or(&text[at..]);
                let around: String = around.chars().take(300).collect();
                found.push(format!("{needle}: ...{around}..."));
            }
        }
    }
    found
}

const OTHERS: [&str; 8] = [
    "token", "quoted", "key", "user", "query", "reply", "child", "answer",
];

fn all() -> Vec<&'static str> {
    [&SENSITIVE[..], &EPHEMERAL[..], &OTHERS[..]].concat()
}

/// The run shows none.
#[track_caller]
fn silent(what: &str, ran: &Ran) {
    nothing_in(what, ran.text().as_bytes(), &all());
}

#[track_caller]
fn nothing_in(what: &str, bytes: &[u8], ways: &[&str]) {
    let found = found(bytes, ways);
    assert!(found.is_empty(), "{what}: {found:#?}");
}

fn variables() -> String {
    let mut text = String::new();
    for way in SENSITIVE {
        text.push_str(&format!(
            "variable \"{way}\" {{\n  type      = list(string)\n  sensitive = true\n}}\n"
        ));
    }
    for way in EPHEMERAL {
        text.push_str(&format!(
            "variable \"{way}\" {{\n  type      = list(string)\n  ephemeral = true\n}}\n"
        ));
    }
    text
}

fn configuration() -> String {
    let mut text = variables();
    text.push_str(
        r#"
terraform {
  required_providers {
    google = {
      source = "hashicorp/google"
    }
  }
}

locals {
  ephemerals = concat(var.eflag, var.efile, var.eenviron, var.etfvars, var.eauto)
}

provider "google" {
  project      = "formwork-mock"
  region       = "us-central1"
  zone         = "us-central1-b"
  access_token = join(",", local.ephemerals)
}

resource "google_compute_network" "n" {
  name                    = "n"
  auto_create_subnetworks = false
}

resource "google_compute_firewall" "f" {
  name          = "f"
  network       = google_compute_network.n.id
  description   = var.flag[0]
  source_ranges = ["10.0.0.0/24"]

  allow {
    protocol = "icmp"
  }
}
"#,
    );
    for way in SENSITIVE {
        text.push_str(&format!(
            r#"
resource "terraform_data" "{way}" {{
  count = length(nonsensitive(var.{way}))
  input = {{ deep = [var.{way}[count.index], base64encode(var.{way}[count.index]), urlencode(var.{way}[count.index])] }}
}}

output "{way}" {{
  value     = jsonencode(terraform_data.{way}[*].output)
  sensitive = true
}}
"#
        ));
    }
    text
}

/// Everything put in place; the arguments that bring in the rest.
fn inlets(env: &TestEnv) -> Vec<String> {
    env.write(
        "given.tfvars",
        format!("file = {}\nefile = {}\n", list("file"), list("efile")),
    );
    env.write(
        "terraform.tfvars",
        format!(
            "tfvars = {}\netfvars = {}\n",
            list("tfvars"),
            list("etfvars")
        ),
    );
    let auto = json!({"auto": canaries("auto"), "eauto": canaries("eauto")});
    env.write("x.auto.tfvars.json", auto.to_string());
    vec![
        format!("-var=flag={}", list("flag")),
        format!("-var=eflag={}", list("eflag")),
        "-var-file=given.tfvars".to_owned(),
    ]
}

fn surroundings() -> TestEnv {
    env()
        .with("TF_VAR_environ", &list("environ"))
        .with("TF_VAR_eenviron", &list("eenviron"))
        .with("GOOGLE_OAUTH_ACCESS_TOKEN", &canary("token", 0))
        .with("TF_LOG", "trace")
        .with("TF_LOG_PATH", "log.txt")
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            let path = entry.path();
            match path.is_dir() {
                true => folders.push(path),
                false => found.push(path),
            }
        }
    }
    found
}

/// The bytes, and whatever in them is deflated.
fn inflated(bytes: &[u8]) -> Vec<u8> {
    let mut all = bytes.to_vec();
    for at in 0..bytes.len() {
        let mut part = Vec::new();
        let mut decoder = DeflateDecoder::new(&bytes[at..]).take(4 << 20);
        let _ = decoder.read_to_end(&mut part);
        if part.len() > 64 {
            all.extend(part);
        }
    }
    all
}

#[test]
fn the_search_finds_what_leaks() {
    let secret = canary("flag", 7);
    let b64 = |engine: &base64::engine::GeneralPurpose, before: &str| {
        engine.encode(format!("{before}{secret}"))
    };
    let standard = &base64::engine::general_purpose::STANDARD;
    let url_safe = &base64::engine::general_purpose::URL_SAFE_NO_PAD;
    let percent: String = secret
        .bytes()
        .map(|b| match b.is_ascii_alphanumeric() {
            true => char::from(b).to_string(),
            false => format!("%{b:02X}"),
        })
        .collect();
    let html = secret.replace('&', "&amp;").replace('<', "&lt;");
    let hex: String = secret.bytes().map(|b| format!("{b:02x}")).collect();
    let leaks = [
        secret.clone(),
        b64(standard, ""),
        b64(standard, "a"),
        b64(standard, "ab"),
        b64(url_safe, ""),
        b64(url_safe, "a"),
        b64(url_safe, "ab"),
        percent,
        html,
        json!(secret).to_string(),
        json!(json!(secret).to_string()).to_string(),
        format!("{secret:?}"),
        hex.to_uppercase(),
        hex,
    ];
    for leak in leaks {
        let text = format!("an error: {leak} is not wanted");
        assert!(!found(text.as_bytes(), &SENSITIVE).is_empty(), "{leak}");
        assert!(found(text.as_bytes(), &EPHEMERAL).is_empty(), "{leak}");
    }
    // and the search of a run finds what a command is made to tell
    let env = surroundings();
    env.write("main.tf", variables());
    let given = inlets(&env);
    let mut words = vec!["console"];
    words.extend(given.iter().map(String::as_str));
    let ran = env.run_with(&words, "nonsensitive(var.flag[3])\n", &[]);
    assert!(
        !found(ran.text().as_bytes(), &["flag"]).is_empty(),
        "{}",
        ran.text()
    );
}

#[test]
fn no_outlet_shows_a_secret() {
    let env = surroundings();
    env.write("main.tf", configuration());
    let given = inlets(&env);
    // the cloud quotes what it was sent
    let message = format!("the description '{}' is not wanted", canary("flag", 0));
    let scenario = Scenario::new().taking(1, 5).fault(json!({
        "method": "compute.firewalls.insert", "times": 1, "status": 400, "reason": "invalid",
        "message": message,
    }));
    let server = env.serve("world", &scenario);
    let run = |words: &[&str]| {
        let mut all: Vec<&str> = words.to_vec();
        all.push(&server.flag);
        if ["plan", "apply", "destroy", "validate", "refresh"].contains(&words[0]) {
            all.extend(given.iter().map(String::as_str));
        }
        env.run(&all)
    };
    let steps: [(&[&str], i32); 14] = [
        (&["plan", "-out=saved", "-json-into=plan.jsonl"], 0),
        (&["show", "saved"], 0),
        // the firewall is refused
        (&["apply", "-auto-approve", "-json-into=apply.jsonl"], 1),
        (&["apply", "-auto-approve", "-json"], 0),
        (&["plan", "-detailed-exitcode"], 0),
        (&["show"], 0),
        (&["output"], 0),
        (&["state", "list"], 0),
        (&["state", "show", "terraform_data.flag[0]"], 0),
        (&["graph"], 0),
        (
            &["apply", "-replace=terraform_data.file[0]", "-auto-approve"],
            0,
        ),
        (&["apply", "-refresh-only", "-auto-approve", "-json"], 0),
        (&["plan", "-destroy"], 0),
        (&["destroy", "-auto-approve"], 0),
    ];
    for (words, code) in steps {
        let ran = run(words);
        silent(&words.join(" "), &ran);
        assert_eq!(ran.code, code, "{words:?}: {}", ran.text());
    }
    for outlet in ["plan.jsonl", "apply.jsonl", "log.txt", "world/log.jsonl"] {
        let bytes = std::fs::read(env.path().join(outlet)).unwrap_or_default();
        nothing_in(outlet, &bytes, &all());
    }
    assert!(env.has("log.txt"), "there is a log");
    // of ephemeral ones there is nothing in any store either
    let given = ["given.tfvars", "terraform.tfvars", "x.auto.tfvars.json"];
    let stores = files(&env.path());
    assert!(stores.iter().any(|path| path.ends_with("saved")));
    for path in stores {
        if given.iter().any(|name| path.ends_with(name)) {
            continue;
        }
        let bytes = std::fs::read(&path).expect("a file");
        let bytes = match path.ends_with("saved") {
            true => inflated(&bytes),
            false => bytes,
        };
        nothing_in(&path.display().to_string(), &bytes, &EPHEMERAL);
        if path.ends_with("saved") {
            let seen = found(&bytes, &SENSITIVE);
            assert!(!seen.is_empty(), "the plan can be searched");
        }
    }
}

/// Expressions that come to grief over a secret; `S` is one, `L` a list of them.
const TROUBLE: [&str; 44] = [
    "tonumber(S)",
    "tobool(S)",
    "toset(S)",
    "S + 1",
    "-S",
    "!S",
    "S ? 1 : 2",
    "S.x",
    "S[0]",
    "L[1000]",
    "L[S]",
    "{ a = 1 }[S]",
    "{ a = 1 }.b[S]",
    "{ (S) = 1, (S) = 2 }[\"x\"]",
    "{ for x in [1, 2] : S => x }",
    "[for x in S : x]",
    "jsondecode(S)",
    "yamldecode(S)",
    "csvdecode(\"a,b\\n${S}\")",
    "base64decode(S)",
    "base64gunzip(S)",
    "regex(S, \"x\")",
    "regex(\"^x$\", S)",
    "regexall(\"(${S}\", \"x\")",
    "replace(\"x\", \"/(${S}/\", \"\")",
    "file(S)",
    "fileexists(\"/nowhere/${S}\") ? 1 : tonumber(S)",
    "filebase64(S)",
    "templatefile(S, {})",
    "templatestring(S, {})",
    "timeadd(S, \"1h\")",
    "timeadd(\"2020-01-01T00:00:00Z\", S)",
    "formatdate(S, \"2020-01-01T00:00:00Z\")",
    "format(\"%d\", S)",
    "format(S, 1)",
    "parseint(S, 10)",
    "cidrhost(S, 1)",
    "cidrsubnet(\"10.0.0.0/8\", S, 1)",
    "lookup({}, S)",
    "element([], S)",
    "range(S)",
    "zipmap([S], [1, 2])",
    "setproduct(S)",
    "one([S, S])",
];

#[test]
fn no_error_shows_a_secret() {
    for place in ["local", "condition", "for_each", "argument"] {
        for trouble in TROUBLE.chunks(11) {
            let env = surroundings();
            let mut text = variables();
            for (number, expression) in trouble.iter().enumerate() {
                let way = SENSITIVE[number % SENSITIVE.len()];
                let index = number * 7;
                let expression = expression
                    .replace('S', &format!("var.{way}[{index}]"))
                    .replace('L', &format!("var.{way}"));
                text.push_str(&match place {
                    "local" => format!(
                        "locals {{\n  l{number} = {expression}\n}}\noutput \"o{number}\" {{\n  value     = local.l{number}\n  sensitive = true\n}}\n"
                    ),
                    "condition" => format!(
                        "check \"c{number}\" {{\n  assert {{\n    condition     = {expression} == 5\n    error_message = \"no ${{var.{way}[{index}]}}\"\n  }}\n}}\n"
                    ),
                    "for_each" => format!(
                        "resource \"terraform_data\" \"r{number}\" {{\n  for_each = {expression}\n}}\n"
                    ),
                    _ => format!(
                        "resource \"terraform_data\" \"r{number}\" {{\n  input = {expression}\n\n  lifecycle {{\n    precondition {{\n      condition     = var.{way}[{index}] == \"x\"\n      error_message = \"it is ${{var.{way}[{index}]}}\"\n    }}\n  }}\n}}\n"
                    ),
                });
            }
            env.write("main.tf", text);
            let given = inlets(&env);
            for command in [&["plan"][..], &["plan", "-json"], &["validate"]] {
                let mut words = command.to_vec();
                words.extend(given.iter().map(String::as_str));
                let ran = env.run(&words);
                silent(&format!("{place}: {trouble:?}: {command:?}"), &ran);
            }
            let mut words = vec!["console"];
            words.extend(given.iter().map(String::as_str));
            let mut lines = String::new();
            for expression in trouble {
                let expression = expression
                    .replace('S', "var.flag[3]")
                    .replace('L', "var.flag");
                lines.push_str(&format!("{expression}\n"));
            }
            silent(
                &format!("console: {trouble:?}"),
                &env.run_with(&words, &lines, &[]),
            );
            nothing_in("log", &env.bytes("log.txt"), &all());
        }
    }
}

#[test]
fn values_that_variables_refuse_are_not_shown() {
    let env = surroundings();
    env.write(
        "main.tf",
        r#"
variable "number" {
  type      = number
  sensitive = true
}

variable "object" {
  type      = object({ a = number, b = map(bool) })
  sensitive = true
}

variable "checked" {
  type      = string
  sensitive = true

  validation {
    condition     = length(var.checked) < 3
    error_message = "It is ${var.checked}."
  }
}

variable "passing" {
  type      = list(bool)
  ephemeral = true
}
"#,
    );
    let quoted = |number| {
        canary("quoted", number)
            .replace('\\', "\\\\")
            .replace('"', "\\\"")
    };
    let object = format!(
        "-var=object={{ a = \"{}\", b = {{ x = \"{}\" }} }}",
        quoted(1),
        quoted(2)
    );
    let words = [
        "plan".to_owned(),
        format!("-var=number={}", canary("quoted", 0)),
        object,
        format!("-var=checked={}", canary("quoted", 3)),
        format!("-var=passing=[\"{}\"]", quoted(4)),
    ];
    for json in [false, true] {
        let mut words: Vec<&str> = words.iter().map(String::as_str).collect();
        if json {
            words.push("-json");
        }
        let ran = env.run(&words);
        ran.exits(1);
        silent(&format!("plan, json: {json}"), &ran);
    }
    nothing_in("log", &env.bytes("log.txt"), &all());
}

#[test]
fn credentials_of_a_backend_are_not_shown() {
    let env = surroundings();
    let server = env.serve("world", &Scenario::new());
    env.write(
        "main.tf",
        format!(
            "terraform {{\n  backend \"gcs\" {{\n    bucket = \"none-such\"\n    storage_custom_endpoint = \"{}/storage/v1/b\"\n  }}\n}}\nresource \"terraform_data\" \"a\" {{}}\n",
            server.url
        ),
    );
    // signs that no header may have are left out
    let token = format!("-backend-config=access_token={MARK}token007zq");
    let key = format!("-backend-config=encryption_key={}", canary("key", 1));
    for (what, more) in [("token", None), ("key", Some(key.as_str()))] {
        let mut words = vec!["init", "-input=false", token.as_str()];
        words.extend(more);
        silent(what, &env.run(&words));
        silent(what, &env.run(&["plan"]));
    }
    nothing_in("log", &env.bytes("log.txt"), &all());
    let log = std::fs::read(env.path().join("world/log.jsonl")).unwrap_or_default();
    nothing_in("the mock's log", &log, &all());
}

#[test]
fn files_of_values_are_not_quoted() {
    let canary = |n: usize| {
        canary("quoted", n)
            .replace('\\', "\\\\")
            .replace('"', "\\\"")
    };
    let raw = format!("{MARK}quoted");
    let files = [
        // what cannot be read: nobody knows where a value ends
        format!("secret = \"{}\nplain = 1\n", canary(0)),
        format!("secret = <<EOT\n{raw}\n{raw}\n"),
        format!("secret = \"a\" {raw}\n"),
        format!("secret = [\"{}\", }}\n", canary(1)),
        // what is no constant
        format!("secret = {raw}\n"),
        format!("secret = \"${{{raw}}}\"\n"),
        format!("secret = {raw}(1)\n"),
        format!("secret = {{ {raw} = {raw}.{raw} }}\n"),
        // what has no place
        format!("secret \"{raw}\" {{\n  {raw} = 1\n}}\n"),
        format!("secrte = \"{}\"\n", canary(2)),
        format!("secret = \"a\"\nsecret = \"{}\"\n", canary(3)),
        // what does not fit
        format!("secret = [\"{}\"]\n", canary(4)),
        format!("passing = {{ a = \"{}\" }}\n", canary(5)),
    ];
    let variables = r#"
variable "secret" {
  type      = string
  sensitive = true
  default   = ""
}

variable "passing" {
  type      = number
  ephemeral = true
  default   = 1
}

variable "plain" {
  type    = number
  default = 1
}
"#;
    for text in &files {
        let env = surroundings();
        env.write("main.tf", variables);
        env.write("terraform.tfvars", text);
        for words in [
            &["plan"][..],
            &["plan", "-json"],
            &["plan", "-compact-warnings"],
        ] {
            let ran = env.run(words);
            silent(&format!("{text}: {words:?}"), &ran);
            let told = ran.text();
            assert!(
                [
                    "terraform.tfvars line ",
                    "\"filename\":\"terraform.tfvars\"",
                    "terraform.tfvars:"
                ]
                .iter()
                .any(|place| told.contains(place)),
                "{text}: {told}"
            );
        }
        nothing_in("log", &env.bytes("log.txt"), &all());
    }
    // what is no secret is shown where it stands
    for (text, shown) in [
        ("plain = \"x\"\nsecret = \"hidden\"\n", "plain = \"x\""),
        ("plain = var.y\nsecret = \"hidden\"\n", "plain = var.y"),
    ] {
        let env = surroundings();
        env.write("main.tf", variables);
        env.write("terraform.tfvars", text);
        let told = env.run(&["plan"]).exits(1).text();
        assert!(told.contains(shown) && !told.contains("hidden"), "{told}");
    }
}
