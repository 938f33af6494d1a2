//! `console`: from a pipe and at a terminal.

use crate::env;
use formwork_testkit::{TestEnv, until};
use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::OwnedFd;
use std::process::{Child, Stdio};
use std::sync::{Arc, Mutex};

const CONFIGURATION: &str = r#"
variable "secret" {
  default   = "hush"
  sensitive = true
}
variable "passing" {
  default   = "hush"
  ephemeral = true
}
variable "count_of" {
  type    = number
  default = 2
}
locals {
  names = ["a", "b"]
}
resource "terraform_data" "one" {
  input = var.count_of
}
"#;

fn configured() -> TestEnv {
    let env = env();
    env.write("main.tf", CONFIGURATION);
    env
}

#[test]
fn every_line_of_a_pipe_is_answered() {
    let env = configured();
    let cases = [
        ("1\n2\n", 0, "1\n2\n"),
        ("", 0, ""),
        ("\n\n  \n", 0, ""),
        ("# nothing\n/* and\nnothing */ 1\n", 0, "1\n"),
        ("nosuch\n1\n[\n2\n", 1, "1\n"),
        ("0/0\nlocal.names[5]\nupper(\"x\")\n)\n3\n", 1, "\"X\"\n3\n"),
        ("[1,\n 2\n]\n3", 0, "[\n  1,\n  2,\n]\n3\n"),
        ("upper(<<E\nabc\nE\n)\n1\n", 0, "<<EOT\nABC\n\nEOT\n1\n"),
        ("\"${\n  1 + 1\n}x\"\n", 0, "\"2x\"\n"),
        ("\"open\n2\n", 1, "2\n"),
        (
            "var.secret\n[var.passing]\n",
            0,
            "(sensitive value)\n[\n  (ephemeral value),\n]\n",
        ),
        (
            "type(local.names)\n",
            0,
            "tuple([\n    string,\n    string,\n])\n",
        ),
        ("1\nexit\n2\n", 0, "1\n"),
        ("terraform_data.one\n", 0, "(known after apply)\n"),
        ("convert(\"3\", number)\r\n", 0, "3\n"),
    ];
    for (input, code, output) in cases {
        let ran = env.run_with(&["console"], input, &[]);
        assert_eq!(ran.exits(code).stdout, output, "{input:?}");
        ran.never_says(&["hush"]);
    }
    assert!(!env.has("terraform.tfstate"));
}

#[test]
fn the_setting_that_prints_the_last_result_only() {
    let env = configured();
    let last = [("FORMWORK_CONSOLE", "last")];
    let ran = env.run_with(&["console"], "1\n2\n", &last);
    assert_eq!(ran.exits(0).stdout, "2\n");
    let ran = env.run_with(&["console"], "1\nnosuch\n2\n", &last);
    assert_eq!(ran.exits(1).stdout, "");
    env.run_with(&["console"], "1\n", &[("FORMWORK_CONSOLE", "some")])
        .exits(1)
        .says(&["Invalid FORMWORK_CONSOLE"]);
}

#[test]
fn values_files_state_and_plan() {
    let env = configured();
    env.write("my.tfvars", "count_of = 7\n");
    let asked = "var.count_of\nterraform_data.one.input\nterraform_data.one.output\n";
    let ran = env.run_with(&["console", "-var-file=my.tfvars"], asked, &[]);
    assert_eq!(
        ran.exits(0).stdout,
        "7\n(known after apply)\n(known after apply)\n"
    );
    let ran = env.run_with(&["console", "-plan", "-var", "count_of=8"], asked, &[]);
    assert_eq!(ran.exits(0).stdout, "8\n8\n(known after apply)\n");
    assert!(!env.has("terraform.tfstate"), "a console writes nothing");
    env.run(&["apply", "-auto-approve", "-state=my.tfstate"])
        .exits(0);
    let ran = env.run_with(&["console", "-state=my.tfstate"], asked, &[]);
    assert_eq!(ran.exits(0).stdout, "2\n2\n2\n");
    let before = env.bytes("my.tfstate");
    let ran = env.run_with(
        &["console", "-plan", "-state=my.tfstate", "-var=count_of=9"],
        asked,
        &[],
    );
    assert_eq!(ran.exits(0).stdout, "9\n9\n(known after apply)\n");
    assert_eq!(env.bytes("my.tfstate"), before);
    // the lock of the plan was given up
    env.run(&["apply", "-auto-approve", "-state=my.tfstate"])
        .exits(0);
    env.write(
        "more.tf",
        "resource \"terraform_data\" \"two\" {\n  input = nosuch.thing\n}\n",
    );
    env.run_with(&["console", "-plan"], "1\n", &[])
        .exits(1)
        .says(&["Reference to undeclared resource"]);
}

#[test]
fn a_path_is_where_the_command_was_called() {
    let env = env();
    env.write("below/main.tf", "");
    let asked = "path.cwd\npath.root\nabspath(\"x\")\n";
    let ran = env.run_with(&["-chdir=below", "console"], asked, &[]);
    let here = env.path().canonicalize().expect("a folder");
    let here = here.to_string_lossy();
    assert_eq!(
        ran.exits(0).stdout,
        format!("\"{here}\"\n\".\"\n\"{here}/below/x\"\n")
    );
}

/// A console at a terminal of its own.
struct Typed {
    child: Child,
    keys: File,
    seen: Arc<Mutex<Vec<u8>>>,
}

impl Typed {
    fn begin(env: &TestEnv) -> Self {
        use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
        let ours = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).expect("a terminal");
        grantpt(&ours).expect("granted");
        unlockpt(&ours).expect("unlocked");
        let name = ptsname(&ours, Vec::new()).expect("a name");
        let end = || -> OwnedFd {
            rustix::fs::open(
                name.as_c_str(),
                rustix::fs::OFlags::RDWR | rustix::fs::OFlags::NOCTTY,
                rustix::fs::Mode::empty(),
            )
            .expect("the other end")
        };
        let size = rustix::termios::Winsize {
            ws_row: 40,
            ws_col: 100,
            ws_xpixel: 0,
            ws_ypixel: 0,
        };
        rustix::termios::tcsetwinsize(&ours, size).expect("a size");
        let child = env
            .command(&["console"])
            .env("TERM", "xterm")
            .env("NO_COLOR", "1")
            .stdin(Stdio::from(end()))
            .stdout(Stdio::from(end()))
            .stderr(Stdio::from(end()))
            .spawn()
            .expect("the binary runs");
        let keys = File::from(ours);
        let mut screen = keys.try_clone().expect("another handle");
        let seen = Arc::new(Mutex::new(Vec::new()));
        let into = seen.clone();
        std::thread::spawn(move || {
            let mut bytes = [0u8; 4096];
            // reading fails when the last other end is closed
            while let Ok(count @ 1..) = screen.read(&mut bytes) {
                into.lock()
                    .expect("whole")
                    .extend_from_slice(&bytes[..count]);
            }
        });
        Self { child, keys, seen }
    }

    fn text(&self) -> String {
        String::from_utf8_lossy(&self.seen.lock().expect("whole")).into_owned()
    }

    /// Types, and waits until this has been written anew.
    #[track_caller]
    fn types(&mut self, keys: &str, then: &str) {
        let before = self.text().len();
        self.keys.write_all(keys.as_bytes()).expect("typed");
        until(&format!("{then:?} after {keys:?}"), || {
            self.text()
                .get(before..)
                .is_some_and(|new| new.contains(then))
        });
    }
}

#[test]
fn a_terminal_has_history_completion_and_ways_out() {
    let env = configured();
    let mut typed = Typed::begin(&env);
    until("a prompt", || typed.text().contains("> "));
    typed.types("local.n\t", "local.names");
    typed.types("\r", "\"b\",\r\n]");
    typed.types("1 + 1\r", "2\r\n");
    // what is open goes on on the next line
    typed.types("[10,\r", "\n");
    typed.types("20]\r", "20,\r\n]");
    // what is dropped is not asked, and the console goes on
    typed.types("nosuch\x03", "> ");
    typed.types("\"no\" == \"\r", "Error");
    typed.types("40 + 2\r", "42\r\n");
    typed.types("var.secret\r", "(sensitive value)");
    // the line before, again
    typed.types("\x1b[A", "var.secret");
    typed.types("\r", "(sensitive value)");
    typed.types("\x1b[A\x1b[A", "40 + 2");
    typed.types("\r", "42\r\n");
    typed.keys.write_all(b"\x04").expect("typed");
    until("the end", || {
        typed.child.try_wait().expect("a child").is_some()
    });
    assert_eq!(typed.child.wait().expect("a child").code(), Some(0));
    assert!(!typed.text().contains("hush"));
    // nothing typed is kept
    let mut folders = vec![env.path()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).expect("a folder").flatten() {
            if entry.path().is_dir() {
                folders.push(entry.path());
                continue;
            }
            let bytes = std::fs::read(entry.path()).unwrap_or_default();
            assert!(!String::from_utf8_lossy(&bytes).contains("40 + 2"));
        }
    }
}
