//! The rules of the house. Each failing rule prints every place that breaks it.

use formwork_tidy::{files, packages, page, root, used, without_tests};
use std::collections::BTreeSet;

/// Fails with all that was found.
fn none(what: &str, found: Vec<String>) {
    assert!(found.is_empty(), "{what}:\n  {}", found.join("\n  "));
}

/// The name in docs/architecture.md of one of our packages: its folder, or `cli` for the binary.
fn short(name: &str) -> &str {
    if name == "formwork" {
        "cli"
    } else {
        name.strip_prefix("formwork-").unwrap_or(name)
    }
}

#[test]
fn crates_and_arrows_are_as_documented() {
    let page = page();
    let ours: Vec<_> = packages()
        .into_iter()
        .filter(|p| p.source.is_none())
        .collect();
    let names: BTreeSet<&str> = ours.iter().map(|p| p.name.as_str()).collect();
    let mut wrong = Vec::new();
    for package in &ours {
        let name = short(&package.name);
        let folder = package.folder.clone().unwrap_or_default();
        if folder.starts_with("tests/") {
            continue;
        }
        let Some((shelf, allowed)) = page.stands.get(name) else {
            wrong.push(format!("{name} ({folder}) is not in docs/architecture.md"));
            continue;
        };
        if folder != format!("{shelf}/{name}") {
            wrong.push(format!(
                "{name} stands in {folder}, documented on the shelf {shelf}/"
            ));
        }
        let Some(allowed) = allowed else { continue };
        for documented in allowed {
            let there = package
                .dependencies
                .iter()
                .any(|d| names.contains(d.as_str()) && short(d) == documented);
            if !there {
                wrong.push(format!(
                    "the arrow {name} -> {documented} is documented, but is not there"
                ));
            }
        }
        for dependency in package
            .dependencies
            .iter()
            .filter(|d| names.contains(d.as_str()))
        {
            let d = short(dependency);
            if d != "environment" && d != "diagnostics" && !allowed.contains(d) {
                wrong.push(format!("the arrow {name} -> {d} is not documented"));
            }
        }
    }
    for name in page.stands.keys() {
        if !ours.iter().any(|p| short(&p.name) == name) {
            wrong.push(format!(
                "{name} is documented but is no crate (move it to \"Not yet\")"
            ));
        }
    }
    for name in &page.not_yet {
        if ours.iter().any(|p| short(&p.name) == name) {
            wrong.push(format!(
                "{name} stands, but is documented under \"Not yet\""
            ));
        }
    }
    none("docs/architecture.md and cargo disagree", wrong);
}

/// Forbidden arrows that no table row may ever allow: (from, to, why).
const NEVER: &[(&str, &str, &str)] = &[
    ("apply", "planner", "planning decides, applying obeys"),
    ("planner", "apply", "planning decides, applying obeys"),
    (
        "configuration",
        "provider-schema",
        "loading works with no provider installed",
    ),
    (
        "configuration",
        "provider",
        "loading works with no provider installed",
    ),
    (
        "syntax",
        "provider-schema",
        "loading works with no provider installed",
    ),
    (
        "eval",
        "provider-schema",
        "loading works with no provider installed",
    ),
    (
        "state-backends",
        "values",
        "a backend sees bytes, so it cannot leak a secret",
    ),
    (
        "google",
        "mock-google",
        "the oracle must not share our mistakes",
    ),
    (
        "mock-google",
        "google",
        "the oracle must not share our mistakes",
    ),
    (
        "mock-google",
        "google-schema",
        "the oracle must not share our mistakes",
    ),
    (
        "mock-google",
        "topology",
        "the oracle must not share our mistakes",
    ),
    (
        "google-client",
        "values",
        "anyone may call Google; only google knows its resources",
    ),
    (
        "google-client",
        "provider",
        "anyone may call Google; only google knows its resources",
    ),
    ("review", "ops", "rules read values"),
    ("render", "ops", "rendering reads values"),
    ("state", "plan", "state never knows the engine"),
    ("journal", "plan", "state never knows the engine"),
];

#[test]
fn forbidden_arrows_are_absent() {
    let ours: Vec<_> = packages()
        .into_iter()
        .filter(|p| p.source.is_none())
        .collect();
    let mut wrong = Vec::new();
    for package in &ours {
        let from = short(&package.name);
        for dependency in &package.dependencies {
            let to = short(dependency);
            if let Some((_, _, why)) = NEVER.iter().find(|(f, t, _)| *f == from && *t == to) {
                wrong.push(format!("{from} -> {to}: {why}"));
            }
            let folder = package.folder.as_deref().unwrap_or_default();
            let concrete = [
                "google",
                "ai",
                "builtin",
                "plugin",
                "provisioners",
                "state-backends",
                "mock-google",
                "modules",
            ];
            if folder.starts_with("engine/")
                && concrete.contains(&to)
                && dependency.starts_with("formwork-")
            {
                wrong.push(format!(
                    "{from} -> {to}: the engine speaks traits; cli composes"
                ));
            }
            let pure = folder.starts_with("schemas/")
                || ["syntax", "eval", "configuration", "plan", "journal"].contains(&from);
            if pure && ["tokio", "reqwest"].contains(&dependency.as_str()) {
                wrong.push(format!(
                    "{from} -> {dependency}: the pure core is synchronous"
                ));
            }
        }
    }
    none("forbidden arrows", wrong);
}

#[test]
fn dependencies_have_good_licences_and_sources() {
    const LICENCES: &[&str] = &[
        "MIT",
        "Apache-2.0",
        "BSD-2-Clause",
        "BSD-3-Clause",
        "ISC",
        "Zlib",
        "Unicode-3.0",
        "CC0-1.0",
        "0BSD",
        "Unlicense",
        "BSL-1.0",
        "CDLA-Permissive-2.0",
        "MIT-0",
        "Apache-2.0 WITH LLVM-exception",
    ];
    /// Crates that must not come in, and why.
    const BANNED: &[(&str, &str)] = &[
        (
            "ring",
            "two TLS back ends make the process default ambiguous, and it lacks P-521",
        ),
        ("openssl", "rustls with aws-lc-rs serves"),
        ("openssl-sys", "rustls with aws-lc-rs serves"),
        ("native-tls", "rustls with aws-lc-rs serves"),
        (
            "tf-provider",
            "accepts callers without a client certificate",
        ),
        ("serde_yaml", "archived"),
    ];
    let one_is_good = |expression: &str| {
        expression
            .split(" OR ")
            .flat_map(|e| e.split('/'))
            .any(|choice| {
                choice
                    .split(" AND ")
                    .all(|l| LICENCES.contains(&l.trim().trim_matches(['(', ')'])))
            })
    };
    let mut wrong = Vec::new();
    let used = used();
    for package in packages() {
        if !used.contains(&(package.name.clone(), package.version.clone())) {
            continue;
        }
        let name = format!("{} {}", package.name, package.version);
        if !one_is_good(&package.licence) {
            // (A OR B) AND C is read by trying each bracket's choices with the rest.
            let flat = package.licence.replace(['(', ')'], "");
            let all = flat.split(" AND ").all(one_is_good);
            if !all {
                wrong.push(format!("{name}: licence {:?}", package.licence));
            }
        }
        if let Some(source) = &package.source
            && source != "registry+https://github.com/rust-lang/crates.io-index"
        {
            wrong.push(format!("{name}: comes from {source}"));
        }
        if let Some((_, why)) = BANNED.iter().find(|(b, _)| *b == package.name) {
            wrong.push(format!("{name}: banned, since {why}"));
        }
    }
    none("dependencies that may not be", wrong);
}

#[test]
fn below_cli_nothing_asks_the_process() {
    const ASKING: &[&str] = &[
        "std::env::",
        "env::var",
        "SystemTime::now",
        "dirs::",
        "is_terminal",
        "std::io::stdin",
        "std::io::stdout",
        "thread_rng",
        "rand::rng(",
    ];
    let mut wrong = Vec::new();
    for (name, text) in files(&[".rs"]) {
        let below = ["schemas/", "state/", "providers/", "engine/", "cli/render/"];
        let is_test = name.split('/').any(|part| {
            let stem = part.trim_end_matches(".rs");
            ["tests", "benches", "examples"].contains(&stem) || stem.ends_with("_tests")
        });
        if !below.iter().any(|b| name.starts_with(b)) || is_test {
            continue;
        }
        for (i, line) in without_tests(&text).lines().enumerate() {
            let code = line.split("//").next().unwrap_or_default();
            if let Some(word) = ASKING.iter().find(|w| code.contains(**w)) {
                wrong.push(format!("{name}:{}: {word}", i + 1));
            }
        }
    }
    none(
        "code below cli that asks the process instead of being handed an Environment",
        wrong,
    );
}

#[test]
fn files_and_names_are_in_order() {
    let mut wrong = Vec::new();
    for (name, text) in files(&[".rs"]) {
        let lines = text.lines().count();
        if lines > 1_200 {
            wrong.push(format!("{name}: {lines} lines; split it at about 800"));
        }
        let parts: Vec<&str> = name.split('/').collect();
        for part in &parts {
            let stem = part.trim_end_matches(".rs");
            if [
                "core", "common", "utils", "util", "helpers", "helper", "misc",
            ]
            .contains(&stem)
            {
                wrong.push(format!(
                    "{name}: a drawer called {stem} has no meaning to defend"
                ));
            }
        }
        if !name.starts_with("tests/tidy/") {
            for (i, line) in text.lines().enumerate() {
                if line.trim_start().starts_with("#[ignore") {
                    wrong.push(format!(
                        "{name}:{}: ignored test; assert today's answer and say FIXME",
                        i + 1
                    ));
                }
                if line.contains("todo!(") || line.contains("unimplemented!(") {
                    wrong.push(format!("{name}:{}: a stub", i + 1));
                }
            }
        }
    }
    none("files out of order", wrong);
}

#[test]
fn no_file_names_a_machine_or_a_mirror() {
    let machine = ["/wo", "rk/main"].concat();
    let worktree = ["/w", "t/"].concat();
    let library = ["/wo", "rk/shared"].concat();
    let mut wrong = Vec::new();
    for (name, text) in files(&[
        ".rs", ".md", ".toml", ".tf", ".py", ".sh", ".json", ".yml", "run", ".tftpl",
    ]) {
        for (i, line) in text.lines().enumerate() {
            for word in [&machine, &worktree, &library] {
                if line.contains(word.as_str()) {
                    wrong.push(format!("{name}:{}: {word}", i + 1));
                }
            }
        }
    }
    // A lock file or manifest names the public registry only; anything else is a mirror.
    for (name, text) in files(&["Cargo.lock", "Cargo.toml", "config.toml"]) {
        for (i, line) in text.lines().enumerate() {
            let registry = line.contains("registry+")
                || line.contains("index = ")
                || line.contains("replace-with");
            if registry && !line.contains("registry+https://github.com/rust-lang/crates.io-index") {
                wrong.push(format!("{name}:{}: {}", i + 1, line.trim()));
            }
        }
    }
    // In a shallow clone only some messages are there; those are looked at.
    let log = std::process::Command::new("git")
        .args(["log", "--format=%h %B"])
        .current_dir(root())
        .output();
    let log = log
        .map(|o| String::from_utf8_lossy(&o.stdout).into_owned())
        .unwrap_or_default();
    for line in log.lines() {
        for word in [&machine, &worktree, &library] {
            if line.contains(word.as_str()) {
                wrong.push(format!("a commit message: {line}"));
            }
        }
    }
    none(
        "paths of a particular machine, or a mirror of a registry",
        wrong,
    );
}

#[test]
fn the_top_level_is_the_contract() {
    const FOLDERS: &[&str] = &[
        "cli",
        "engine",
        "providers",
        "schemas",
        "state",
        "blueprints",
        "tests",
        "docs",
        ".ci",
        ".cargo",
        ".git",
        "target",
        ".config",
    ];
    let mut wrong = Vec::new();
    for entry in std::fs::read_dir(root()).expect("the root can be listed") {
        let entry = entry.expect("an entry");
        let name = entry.file_name().to_string_lossy().into_owned();
        if entry.path().is_dir() && !FOLDERS.contains(&name.as_str()) {
            wrong.push(name);
        }
    }
    none("folders at the top level that no decision allows", wrong);
}

#[test]
fn the_readme_says_what_ci_runs() {
    let readme = std::fs::read_to_string(root().join("README.md")).expect("README.md");
    let ci = std::fs::read_to_string(root().join(".ci/run")).expect(".ci/run");
    let commands: Vec<&str> = readme
        .lines()
        .map(str::trim)
        .filter(|l| l.starts_with("cargo run --release -- ") || *l == "cargo test --workspace")
        .take(2)
        .collect();
    assert_eq!(
        commands.len(),
        2,
        "README.md gives the two commands, each on a line of its own"
    );
    for command in commands {
        let words: Vec<&str> = command.split_whitespace().collect();
        let normal = ci.replace("-q ", "").replace("--quiet ", "");
        assert!(
            normal.contains(&words.join(" ")),
            ".ci/run does not run {command:?}"
        );
    }
}
