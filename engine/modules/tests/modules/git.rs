//! Modules from repositories.

use crate::world::{World, has_git};

const MODULE: &str = "output \"x\" { value = path.module }\n";

fn module(name: &str, source: &str) -> String {
    format!("module \"{name}\" {{\n  source = \"{source}\"\n}}\n")
}

#[test]
fn references_directories_and_the_manifest() {
    if !has_git() {
        return;
    }
    let world = World::new();
    let repo = world.repository(
        "repo",
        &[
            ("main.tf", "module \"a\" {\n  source = \"./modules/a\"\n}\n"),
            (
                "modules/a/main.tf",
                "module \"b\" {\n  source = \"../b\"\n}\n",
            ),
            ("modules/b/main.tf", MODULE),
        ],
    );
    repo.git(&["tag", "v1.0.0"]);
    repo.git(&["checkout", "-q", "-b", "feat/x"]);
    let commit = repo.commit(&[("f.tf", MODULE)]);
    repo.git(&["checkout", "-q", "main"]);
    let source = repo.source();
    let text: String = [
        ("br", format!("{source}?ref=feat/x")),
        ("commit", format!("{source}?ref={commit}")),
        ("dep", format!("{source}//modules/b?depth=1&ref=main")),
        ("short", format!("{source}?ref={}", &commit[..9])),
        ("sub", format!("{source}//modules/a?ref=v1.0.0")),
        ("whole", source.clone()),
        ("again", source.clone()),
    ]
    .iter()
    .map(|(n, s)| module(n, s))
    .collect();
    world.write("main.tf", &text);
    let came = world.install().well();
    // main, the tag, the branch, the commit, the short commit, main asked for by name
    assert_eq!(came.fetched(), 6, "{:?}", came.told);
    for (name, there) in [
        ("br", true),
        ("commit", true),
        ("short", true),
        ("whole", false),
    ] {
        let file = world.path(&format!(".terraform/modules/{name}/f.tf"));
        assert_eq!(file.exists(), there, "{name}");
    }
    assert!(!world.path(".terraform/modules/whole/.git").exists());
    let entry = |key: &str| came.manifest.entries[key].clone();
    // as terraform 1.11.4 writes them for the same calls
    assert_eq!(entry("br").source, format!("{source}?ref=feat/x"));
    assert_eq!(entry("br").directory, ".terraform/modules/br");
    assert_eq!(entry("br.a").source, "./modules/a");
    assert_eq!(entry("br.a").directory, ".terraform/modules/br/modules/a");
    assert_eq!(entry("br.a.b").source, "../b");
    assert_eq!(entry("br.a.b").directory, ".terraform/modules/br/modules/b");
    assert_eq!(
        entry("dep").source,
        format!("{source}//modules/b?depth=1&ref=main")
    );
    assert_eq!(entry("dep").directory, ".terraform/modules/dep/modules/b");
    assert_eq!(entry("sub.b").directory, ".terraform/modules/sub/modules/b");
    assert!(
        world
            .read(".terraform/modules/formwork.json")
            .contains(&commit)
    );
    let text = world.read(".terraform/modules/modules.json");
    assert!(
        text.starts_with(r#"{"Modules":[{"Key":"","Source":"","Dir":"."},{"Key":"again","#),
        "{text}"
    );
    assert!(world.use_installed().is_empty());

    // nothing to do the second time
    let came = world.install().well();
    assert_eq!((came.fetched(), came.installed().len()), (0, 0));
    assert_eq!(text, world.read(".terraform/modules/modules.json"));
    // a branch that has moved is followed by an upgrade only
    repo.commit(&[("new.tf", MODULE)]);
    world.install().well();
    assert!(!world.path(".terraform/modules/whole/new.tf").exists());
    world.upgrade().well();
    assert!(world.path(".terraform/modules/whole/new.tf").exists());
    assert!(world.path(".terraform/modules/again/new.tf").exists());
}

#[test]
fn what_git_will_not_give() {
    if !has_git() {
        return;
    }
    let world = World::new();
    let repo = world.repository("repo", &[("main.tf", MODULE)]);
    let source = repo.source();
    let check = |source: &str, summary: &str, says: &[&str]| {
        world.write("main.tf", &module("net", source));
        world.install().fails(summary, says);
    };
    check(
        &format!("{source}-absent"),
        "Failed to download module",
        &[
            "\"net\"",
            "ended with 128",
            "does not appear to be a git repository",
        ],
    );
    check(
        &format!("{source}?ref=nope"),
        "Failed to download module",
        &["no branch, tag or commit \"nope\""],
    );
    check(
        &format!("{source}?ref=abcdef0"),
        "Failed to download module",
        &["no branch, tag or commit \"abcdef0\""],
    );
    check(
        &format!("{source}?ref=main~7"),
        "Failed to download module",
        &["main~7"],
    );
    check(
        &format!("{source}//nodir"),
        "Unreadable module subdirectory",
        &["nodir"],
    );
    check(
        &format!("{source}//no*"),
        "Failed to expand subdir globs",
        &["no*"],
    );
    check(
        &format!("{source}?ref=--upload-pack=touch+x"),
        "Invalid module source address",
        &["dash"],
    );
    check(
        "git::ext::sh -c touch% x",
        "Invalid module source address",
        &["never done"],
    );
    check(
        "git::http://us:s3cr3t@127.0.0.1:1/x.git",
        "Failed to download module",
        &["git, asked for"],
    );
    let text = format!("{:?}", world.install().said);
    assert!(!text.contains("s3cr3t"), "{text}");
    assert_eq!(
        world
            .read(".terraform/modules/modules.json")
            .matches("net")
            .count(),
        0
    );
}

#[test]
fn without_git_it_is_said() {
    let mut world = World::new();
    world
        .settings
        .environment
        .variables
        .insert("PATH".to_owned(), "/nowhere".to_owned());
    world.write(
        "main.tf",
        &module("net", "git::https://example.invalid/x.git"),
    );
    world
        .install()
        .fails("Failed to download module", &["no program \"git\"", "PATH"]);
}

#[test]
fn a_package_is_a_world_of_its_own() {
    if !has_git() {
        return;
    }
    let world = World::new();
    world.repository("out", &[("main.tf", MODULE)]);
    let repo = world.repository(
        "repo",
        &[("main.tf", "module \"x\" {\n  source = \"../out\"\n}\n")],
    );
    world.write("main.tf", &module("net", &repo.source()));
    world
        .install()
        .fails("Local module path escapes module package", &["../out"]);
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink("/etc", repo.path.join("etc")).unwrap();
        repo.commit(&[("main.tf", MODULE)]);
        world
            .upgrade()
            .fails("Failed to download module", &["\"etc\"", "leads out"]);
        std::fs::remove_file(repo.path.join("etc")).unwrap();
        std::os::unix::fs::symlink("main.tf", repo.path.join("link.tf")).unwrap();
        repo.commit(&[("main.tf", "# only a comment\n")]);
        world.upgrade().well();
        assert!(
            world
                .read(".terraform/modules/net/link.tf")
                .contains("only a comment")
        );
    }
    // hooks of a template are not run
    let template = world.folder.path().join("home/template/hooks");
    std::fs::create_dir_all(&template).unwrap();
    let trap = world.folder.path().join("trap");
    let hook = template.join("post-checkout");
    std::fs::write(&hook, format!("#!/bin/sh\ntouch {}\n", trap.display())).unwrap();
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        std::fs::set_permissions(&hook, std::fs::Permissions::from_mode(0o755)).unwrap();
    }
    let config = format!(
        "[init]\n\ttemplateDir = {}\n",
        template.parent().unwrap().display()
    );
    std::fs::write(world.folder.path().join("home/.gitconfig"), config).unwrap();
    world.upgrade().well();
    assert!(!trap.exists());
}

#[test]
fn submodules_come_too_but_not_from_this_machine() {
    if !has_git() {
        return;
    }
    let world = World::new();
    let inner = world.repository("inner", &[("main.tf", MODULE)]);
    let repo = world.repository("repo", &[("main.tf", MODULE)]);
    repo.git(&[
        "-c",
        "protocol.file.allow=always",
        "submodule",
        "--quiet",
        "add",
        &format!("file://{}", inner.path.display()),
        "inner",
    ]);
    repo.commit(&[]);
    world.write("main.tf", &module("net", &repo.source()));
    world.upgrade().fails(
        "Failed to download module",
        &["transport 'file' not allowed"],
    );
}

/// The same calls, installed by terraform and by us: one manifest, byte for byte.
#[test]
fn the_manifest_is_that_of_terraform() {
    let terraform = std::process::Command::new("terraform")
        .arg("version")
        .output();
    if !has_git() || terraform.is_err() {
        eprintln!("SKIPPED: there is no git or no terraform on this machine");
        return;
    }
    let world = World::new();
    let repo = world.repository(
        "repo",
        &[
            ("main.tf", "module \"a\" {\n  source = \"./modules/a\"\n}\n"),
            (
                "modules/a/main.tf",
                "module \"b\" {\n  source = \"../b/.\"\n}\n",
            ),
            ("modules/b/main.tf", MODULE),
        ],
    );
    repo.git(&["tag", "v1.0.0"]);
    repo.git(&["tag", "rel/é&1"]);
    let source = repo.source();
    let inner = module("inner", &format!("{source}//modules/b"));
    world.write("loc/main.tf", &inner);
    world.write("other/deep/main.tf", &module("up", "../../loc"));
    let text: String = [
        ("whole", source.clone()),
        ("sub", format!("{source}//modules/a?ref=v1.0.0")),
        ("dep", format!("{source}//modules/b?depth=1&ref=main")),
        ("odd", format!("{source}//./modules//b/?ref=v1.0.0")),
        ("short", source.replace("git::file://", "git::")),
        ("tag", format!("{source}?ref=rel/%C3%A9%261")),
        ("loc", "./loc".to_owned()),
        ("dot", "./loc/../loc/".to_owned()),
        ("deep", "./other//deep".to_owned()),
    ]
    .iter()
    .map(|(n, s)| module(n, s))
    .collect();
    world.write("main.tf", &text);
    world.install().well();
    let ours = world.read(".terraform/modules/modules.json");
    std::fs::remove_dir_all(world.path(".terraform")).unwrap();
    let environment = &world.settings.environment;
    let output = std::process::Command::new("terraform")
        .args(["get", "-no-color"])
        .current_dir(&environment.working)
        .env_clear()
        .envs(&environment.variables)
        .env("CHECKPOINT_DISABLE", "1")
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    assert_eq!(ours, world.read(".terraform/modules/modules.json"));
    // and what it has installed is used as it is
    assert!(world.use_installed().is_empty());
}
