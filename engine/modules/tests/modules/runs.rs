//! Runs beside each other, runs that are stopped, and files that change.

use crate::world::{World, has_git, zipped};
use formwork_modules::{Installer, Told, copy_into};
use formwork_testkit::{Answer, Server};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

const MODULE: &str = "output \"x\" { value = path.module }\n";

fn served() -> Server {
    Server::new(|r| match r.path.as_str() {
        "/a.zip" => Answer::ok(zipped(&[("main.tf", MODULE), ("m/x.tf", MODULE)])),
        "/b.zip" => Answer::ok(zipped(&[("main.tf", "# b\n")])),
        _ => Answer::status(404),
    })
}

fn call(server: &Server, path: &str) -> String {
    format!(
        "module \"net\" {{\n  source = \"{}\"\n}}\n",
        server.url(path)
    )
}

#[test]
fn a_damaged_folder_is_fetched_again() {
    let server = served();
    let world = World::new();
    world.write("main.tf", &call(&server, "/a.zip"));
    world.install().well();
    let times = || server.asked().len();
    // touched, but the same
    world.write(".terraform/modules/net/main.tf", MODULE);
    assert!(world.use_installed().is_empty());
    world.install().well();
    assert_eq!(times(), 1);
    for damage in [
        &(|w: &World| w.write(".terraform/modules/net/main.tf", "# edited\n")) as &dyn Fn(&World),
        &|w| w.write(".terraform/modules/net/more.tf", "# more\n"),
        &|w| std::fs::remove_file(w.path(".terraform/modules/net/m/x.tf")).unwrap(),
    ] {
        damage(&world);
        // used as it is, and said
        let said = world.use_installed();
        let summaries: Vec<_> = said
            .iter()
            .map(|d| (d.is_error(), d.summary.as_str()))
            .collect();
        assert_eq!(summaries, [(false, "Installed module was changed")]);
        let before = times();
        let came = world.install().well();
        assert!(came.told.contains(&Told::Damaged {
            module: "net".to_owned()
        }));
        assert_eq!(times(), before + 1);
        assert_eq!(world.read(".terraform/modules/net/main.tf"), MODULE);
        assert!(world.use_installed().is_empty());
    }
    std::fs::remove_dir_all(world.path(".terraform/modules/net")).unwrap();
    let said = world.use_installed();
    assert_eq!(said.iter().next().unwrap().summary, "Module not installed");
    world.install().well();
    assert!(world.use_installed().is_empty());
}

#[test]
fn what_terraform_installed_is_used() {
    let world = World::new();
    world.write(
        "main.tf",
        "module \"net\" {\n  source = \"ns/net/google\"\n  version = \"~> 1.0\"\n}\n",
    );
    world.write(".terraform/modules/net/main.tf", MODULE);
    world.write(
        ".terraform/modules/modules.json",
        r#"{"Modules":[{"Key":"","Source":"","Dir":"."},{"Key":"net","Source":"registry.terraform.io/ns/net/google","Version":"1.2.0","Dir":".terraform/modules/net"}]}"#,
    );
    assert!(world.use_installed().is_empty());
    let came = world.install().well();
    assert_eq!(came.fetched(), 0);
    world.write(".terraform/modules/modules.json", "{");
    assert_eq!(
        world.use_installed().iter().next().unwrap().summary,
        "Failed to read module manifest"
    );
}

#[test]
fn after_a_failure_what_was_there_is_there() {
    let server = served();
    let world = World::new();
    world.write("main.tf", &call(&server, "/a.zip"));
    world.install().well();
    let broken = format!(
        "{}{}",
        call(&server, "/a.zip"),
        call(&server, "/absent.zip").replace("net", "other")
    );
    world.write("main.tf", &broken);
    world
        .install()
        .fails("Failed to download module", &["\"other\""]);
    world.write("main.tf", &call(&server, "/absent.zip"));
    world.install().fails("Failed to download module", &["404"]);
    // the folder and its entry are still those of the source that could be had
    world.write("main.tf", &call(&server, "/a.zip"));
    assert!(world.use_installed().is_empty());
    world.write("main.tf", &call(&server, "/b.zip"));
    world.install().well();
    assert_eq!(world.read(".terraform/modules/net/main.tf"), "# b\n");
    assert!(!world.path(".terraform/modules/net/m").exists());
}

#[test]
fn two_runs_at_once() {
    let server = Arc::new(served());
    let world = Arc::new(World::new());
    let text: String = (0..8)
        .map(|i| call(&server, "/a.zip").replace("net", &format!("m{i}")))
        .collect();
    world.write("main.tf", &text);
    std::thread::scope(|scope| {
        for upgrade in [false, true, false, true] {
            let world = world.clone();
            scope.spawn(move || {
                for _ in 0..3 {
                    let installer = Installer::new(world.settings.clone(), upgrade);
                    let (configuration, said, _) = world.load(&installer);
                    assert!(said.is_empty(), "{said:?}");
                    installer.finish(&configuration, true).unwrap();
                }
            });
        }
    });
    assert!(world.use_installed().is_empty());
    let came = world.install().well();
    assert_eq!((came.fetched(), came.manifest.entries.len()), (0, 9));
}

#[test]
fn a_run_that_is_stopped_leaves_nothing_half_done() {
    // a server that never answers
    let server = Server::new(|r| {
        if r.path == "/slow.zip" {
            std::thread::sleep(Duration::from_secs(60));
        }
        Answer::ok(zipped(&[("main.tf", MODULE)]))
    });
    let mut world = World::new();
    world.write("main.tf", &call(&server, "/a.zip"));
    world.install().well();
    world.write("main.tf", &call(&server, "/slow.zip"));
    let stop = Arc::new(AtomicBool::new(false));
    let asked = stop.clone();
    world.settings.cancelled = Arc::new(move || asked.load(Ordering::SeqCst));
    let begun = std::time::Instant::now();
    std::thread::scope(|scope| {
        let (world, server, stop) = (&world, &server, &stop);
        scope.spawn(move || {
            while server.asked().len() < 2 && begun.elapsed() < Duration::from_secs(20) {
                std::thread::sleep(Duration::from_millis(2));
            }
            stop.store(true, Ordering::SeqCst);
        });
        let came = {
            let installer = Installer::new(world.settings.clone(), false);
            let (_, said, _) = world.load(&installer);
            said
        };
        assert!(
            came.iter().next().unwrap().detail.contains("stopped"),
            "{came:?}"
        );
    });
    assert!(begun.elapsed() < Duration::from_secs(20));
    world.settings.cancelled = Arc::new(|| false);
    world.write("main.tf", &call(&server, "/a.zip"));
    assert!(world.use_installed().is_empty());
    // what a killed run leaves is cleared up by the next
    world.write(".terraform/modules/.fetch-dead/1/package-0/main.tf", "half");
    world.write(".terraform/modules/stray/main.tf", "nobody's");
    world.upgrade().well();
    assert!(!world.path(".terraform/modules/.fetch-dead").exists());
}

#[test]
fn a_data_directory_elsewhere() {
    let server = served();
    let mut world = World::new();
    let elsewhere = world.folder.path().join("data");
    world.settings.data_directory.clone_from(&elsewhere);
    world.write("main.tf", &call(&server, "/a.zip"));
    let came = world.install().well();
    let directory = elsewhere.join("modules/net");
    assert_eq!(
        came.manifest.entries["net"].directory,
        directory.display().to_string()
    );
    assert!(directory.join("main.tf").exists());
    assert!(world.use_installed().is_empty());
    assert!(!world.path(".terraform").exists());
}

#[test]
fn local_modules_stand_in_the_manifest() {
    let world = World::new();
    world.write("main.tf", "output \"x\" {\n  value = 1\n}\n");
    world.install().well();
    assert!(!world.path(".terraform").exists());
    world.write("main.tf", "module \"a\" {\n  source = \"./loc/../loc/\"\n}\nmodule \"modules\" {\n  source = \"./mods\"\n}\n");
    world.write("loc/main.tf", MODULE);
    let server = served();
    world.write(
        "mods/main.tf",
        &call(&server, "/a.zip").replace("\"net\"", "\"json\""),
    );
    world.install().well();
    assert_eq!(
        world.read(".terraform/modules/modules.json"),
        format!(
            "{{\"Modules\":[{{\"Key\":\"\",\"Source\":\"\",\"Dir\":\".\"}},{{\"Key\":\"a\",\"Source\":\"./loc\",\"Dir\":\"loc\"}},{{\"Key\":\"modules\",\"Source\":\"./mods\",\"Dir\":\"mods\"}},{{\"Key\":\"modules.json\",\"Source\":\"{}\",\"Dir\":\".terraform/modules/modules.json-module\"}}]}}",
            server.url("/a.zip")
        )
    );
    assert!(world.use_installed().is_empty());
}

#[test]
fn beginning_with_somebody_elses_module() {
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
    let source = repo.source();
    let refused = |source: &str, summary: &str| {
        let d = copy_into(source, &world.settings).unwrap_err();
        assert_eq!(d.summary, summary, "{d:?}");
        assert!(!world.path("main.tf").exists());
    };
    refused(
        &format!("{source}//modules/a"),
        "Root module references parent directory",
    );
    refused(&format!("{source}//absent"), "Unreadable module directory");
    refused("a/b/c", "Invalid module source address");
    copy_into(&source, &world.settings).unwrap();
    assert_eq!(world.read("modules/b/main.tf"), MODULE);
    assert!(!world.path(".git").exists());
    world.install().well();
    let d = copy_into(&source, &world.settings).unwrap_err();
    assert_eq!(d.summary, "Working directory is not empty");
}

#[test]
fn names_longer_than_a_file_system_takes() {
    let server = served();
    let world = World::new();
    let name = "n".repeat(150);
    let inner = |source: &str| format!("module \"{name}\" {{\n  source = \"{source}\"\n}}\n");
    world.write("main.tf", &inner("./m"));
    world.write("m/main.tf", &inner(&server.url("/a.zip")));
    let came = world.install().well();
    let entry = &came.manifest.entries[&format!("{name}.{name}")];
    assert!(entry.directory.len() < 200, "{entry:?}");
    assert!(world.path(&entry.directory).join("main.tf").exists());
    assert!(world.use_installed().is_empty());
}
