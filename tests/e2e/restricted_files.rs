//! `-restrict-files`: what a configuration reads lies within a directory.

use crate::env;
use formwork_testkit::TestEnv;
use std::os::unix::fs::symlink;

fn there() -> TestEnv {
    let env = env();
    env.write("outside/secret.txt", "hush");
    env.write(
        "outside/module/main.tf",
        "output \"x\" {\n  value = \"hush\"\n}\n",
    );
    env.write("repo/shared/text.txt", "shared");
    env.write("repo/shared/page.tftpl", "page ${x}");
    env.write(
        "repo/live/main.tf",
        "variable \"v\" {\n  default = \"none\"\n}\n",
    );
    let at = |path: &str| env.path().join(path);
    symlink("../../outside", at("repo/live/away")).expect("a link");
    symlink("../../outside/secret.txt", at("repo/live/stolen.txt")).expect("a link");
    symlink("../shared/text.txt", at("repo/live/text.txt")).expect("a link");
    env
}

const CONFINED: [&str; 4] = [
    "-chdir=repo/live",
    "console",
    "-restrict-files=..",
    "-no-color",
];

#[test]
fn functions_read_within_only() {
    let env = there();
    let root = env.path().canonicalize().expect("a folder");
    let root = root.to_string_lossy();
    let within = format!(
        "file(\"text.txt\")\nfile(\"../shared/text.txt\")\nfile(\"{root}/repo/shared/text.txt\")\n\
         templatefile(\"../shared/page.tftpl\", {{ x = 1 }})\nfileexists(\"none\")\n\
         fileset(\".\", \"**\")\nabspath(\"/etc/passwd\")\n"
    );
    assert_eq!(
        env.run_with(&CONFINED, &within, &[]).exits(0).stdout,
        "\"shared\"\n\"shared\"\n\"shared\"\n\"page 1\"\nfalse\ntoset([\n  \"main.tf\",\n  \"text.txt\",\n])\n\
         \"/etc/passwd\"\n"
    );
    let secret = format!("{root}/outside/secret.txt");
    let places = [
        "../../outside/secret.txt",
        "../../outside/none",
        "away/secret.txt",
        "stolen.txt",
        "away/../outside/secret.txt",
        "~/secret.txt",
        "/proc/self/cwd/../../outside/secret.txt",
        "/proc/self/environ",
        &secret,
    ];
    let functions = [
        "file(P)",
        "filebase64(P)",
        "filebase64sha256(P)",
        "filebase64sha512(P)",
        "fileexists(P)",
        "filemd5(P)",
        "filesha1(P)",
        "filesha256(P)",
        "filesha512(P)",
        "templatefile(P, {})",
        "file(pathexpand(P))",
        "file(abspath(P))",
        "fileset(P, \"**\")",
        "fileset(dirname(P), \"*.txt\")",
        "fileset(\"..\", \"../../outside/*\")",
    ];
    let mut asked = String::new();
    let mut count = 0;
    for function in functions {
        for place in places {
            // by their text alone these are within
            let within = match function {
                f if f.contains("dirname") => ["stolen.txt", "away/../outside/secret.txt"],
                f if f.contains("abspath") => ["~/secret.txt", "away/../outside/secret.txt"],
                _ => ["", ""],
            };
            if within.contains(&place) {
                continue;
            }
            asked.push_str(&function.replace('P', &format!("{place:?}")));
            asked.push('\n');
            count += 1;
        }
    }
    let ran = env.run_with(&CONFINED, &asked, &[]);
    assert_eq!(ran.exits(1).stdout, "");
    ran.never_says(&["hush"]);
    let refused = ran.text().split_whitespace().collect::<Vec<_>>().join(" ");
    assert_eq!(refused.matches("it lies outside").count(), count);
}

#[test]
fn modules_files_and_values_lie_within() {
    let check = |path: &str, text: Option<&str>, link: Option<&str>, says: &str| {
        let env = there();
        if let Some(text) = text {
            env.write(&format!("repo/live/{path}"), text);
        }
        if let Some(target) = link {
            symlink(target, env.path().join("repo/live").join(path)).expect("a link");
        }
        for command in ["validate", "plan", "console"] {
            // the flag's directory is named from the directory gone to
            let ran = env.run(&["-chdir=repo/live", command, "-restrict-files=../../repo"]);
            if command == "validate" && path.ends_with("tfvars") {
                ran.exits(0);
            } else {
                ran.exits(1).says(&[says]).never_says(&["hush"]);
            }
        }
    };
    check(
        "call.tf",
        Some("module \"m\" {\n  source = \"../../outside/module\"\n}\n"),
        None,
        "lies outside",
    );
    check(
        "call.tf",
        Some("module \"m\" {\n  source = \"./away/module\"\n}\n"),
        None,
        "lies outside",
    );
    check(
        "secret.tf",
        None,
        Some("../../outside/secret.txt"),
        "lies outside",
    );
    check(
        "my.auto.tfvars",
        None,
        Some("../../outside/secret.txt"),
        "lies outside",
    );
}

#[test]
fn what_the_caller_names_is_read_and_plans_keep_what_they_read() {
    let env = there();
    env.write("outside/my.tfvars", "v = \"given\"\n");
    env.write(
        "repo/live/more.tf",
        "resource \"terraform_data\" \"a\" {\n  input = \"${var.v} ${file(\"text.txt\")}\"\n}\noutput \"o\" {\n  value = terraform_data.a.output\n}\n",
    );
    let run = |arguments: &[&str]| {
        let mut all = vec!["-chdir=repo/live"];
        all.extend(arguments);
        env.run(&all)
    };
    run(&[
        "plan",
        "-restrict-files=..",
        "-var-file=../../outside/my.tfvars",
        "-out=p",
    ])
    .exits(0);
    run(&["apply", "-restrict-files=..", "p"]).exits(0);
    assert_eq!(
        run(&["output", "-raw", "o"]).exits(0).stdout,
        "given shared"
    );
    run(&["plan", "-restrict-files=nowhere"])
        .exits(1)
        .says(&["Invalid -restrict-files option"]);
}
