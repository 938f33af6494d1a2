//! Archives that mean no good.

use crate::world::{World, add, tarred, zipped};
use formwork_modules::Limits;
use formwork_testkit::{Answer, Server};
use std::process::Command;
use std::sync::{Arc, Mutex};
use tar::EntryType;

const MODULE: &str = "output \"x\" { value = path.module }\n";

/// Whatever it holds, nothing outside is written, and why is said.
#[test]
fn nothing_is_written_outside() {
    let body: Arc<Mutex<Vec<u8>>> = Arc::default();
    let served = body.clone();
    let server = Server::new(move |_| Answer::ok(served.lock().unwrap().clone()));
    let mut world = World::new();
    world.settings.limits = Limits {
        download: 1 << 20,
        unpacked: 2 << 20,
        entries: 100,
    };
    let check = |end: &str, archive: Vec<u8>, says: &str| {
        *body.lock().unwrap() = archive;
        let source = server.url(&format!("/a.{end}"));
        world.write(
            "main.tf",
            &format!("module \"net\" {{\n  source = \"{source}\"\n}}\n"),
        );
        world.install().fails("Failed to download module", &[says]);
        let folder: Vec<String> = std::fs::read_dir(world.folder.path())
            .unwrap()
            .map(|e| e.unwrap().file_name().into_string().unwrap())
            .collect();
        assert!(
            folder.iter().all(|n| n == "work" || n == "home"),
            "{folder:?}"
        );
        assert!(!world.path(".terraform/modules/net").exists());
        assert!(!world.path(".terraform/modules/evil").exists());
    };
    let tar = |name: &'static str, kind: EntryType, link: &'static str| {
        tarred(|b| {
            add(b, "main.tf", EntryType::Regular, "", MODULE.as_bytes());
            add(
                b,
                name,
                kind,
                link,
                if kind == EntryType::Regular {
                    b"evil"
                } else {
                    b""
                },
            );
        })
    };
    check(
        "tgz",
        tar("../evil", EntryType::Regular, ""),
        "lies outside",
    );
    check(
        "tgz",
        tar("a/../../evil", EntryType::Regular, ""),
        "lies outside",
    );
    check("tgz", tar("/evil", EntryType::Regular, ""), "lies outside");
    check("tgz", tar("link", EntryType::Symlink, "/etc"), "leads out");
    check(
        "tgz",
        tar(
            "link",
            EntryType::Symlink,
            "../../../../../../../../../../../../../../../../etc",
        ),
        "leads out",
    );
    check(
        "tgz",
        tar("hard", EntryType::Link, "/etc/passwd"),
        "hard link",
    );
    check("tgz", tar("hard", EntryType::Link, "main.tf"), "hard link");
    check("tgz", tar("dev", EntryType::Char, ""), "device");
    check("tgz", tar("pipe", EntryType::Fifo, ""), "device");
    // through a link that was made just before
    check(
        "tgz",
        tarred(|b| {
            add(b, "a", EntryType::Symlink, "..", b"");
            add(b, "a/evil", EntryType::Regular, "", b"evil");
        }),
        "",
    );
    check(
        "zip",
        zipped(&[("main.tf", MODULE), ("../evil", "x")]),
        "lies outside",
    );
    check(
        "zip",
        zipped(&[("main.tf", MODULE), ("/evil", "x")]),
        "lies outside",
    );
    check(
        "zip",
        zipped(&[("main.tf", MODULE), ("a\\..\\..\\evil", "x")]),
        "lies outside",
    );
    let zeroes = "0".repeat(3 << 20);
    check(
        "zip",
        zipped(&[("main.tf", MODULE), ("bomb", &zeroes)]),
        "more than 2 MiB",
    );
    check(
        "tgz",
        tarred(|b| add(b, "bomb", EntryType::Regular, "", zeroes.as_bytes())),
        "more than 2 MiB",
    );
    let many: Vec<String> = (0..200).map(|i| format!("f{i}")).collect();
    let many: Vec<(&str, &str)> = many.iter().map(|n| (n.as_str(), "")).collect();
    check("zip", zipped(&many), "more than 100 files");
    check(
        "tgz",
        tarred(|b| {
            many.iter()
                .for_each(|(n, _)| add(b, n, EntryType::Regular, "", b""))
        }),
        "more than 100 files",
    );
    // a name that would have to be held in memory
    check(
        "tgz",
        tarred(|b| {
            let name = "n/".repeat(700 << 10);
            add(
                b,
                "././@LongLink",
                EntryType::GNULongName,
                "",
                name.as_bytes(),
            );
            add(b, "short", EntryType::Regular, "", b"");
        }),
        "a name of more than 1 MiB",
    );
    check("zip", vec![0; 2 << 20], "larger than 1 MiB");
    check("tgz", b"no archive".to_vec(), "no tar archive");
    let whole = tar("b.tf", EntryType::Regular, "");
    check("tgz", whole[..whole.len() / 2].to_vec(), "");
    check("tar", Vec::new(), "empty");
}

#[test]
fn packed_by_programs() {
    let plain = {
        let mut builder = tar::Builder::new(Vec::new());
        add(
            &mut builder,
            "./m/main.tf",
            EntryType::Regular,
            "",
            MODULE.as_bytes(),
        );
        builder.into_inner().unwrap()
    };
    let world = World::new();
    let raw = world.folder.path().join("raw.tar");
    std::fs::write(&raw, plain).unwrap();
    for (program, end) in [("bzip2", "tar.bz2"), ("xz", "txz"), ("zstd", "tar.zst")] {
        let Ok(output) = Command::new(program).arg("-c").arg(&raw).output() else {
            eprintln!("SKIPPED: there is no {program} on this machine");
            continue;
        };
        let server = Server::new(move |_| Answer::ok(output.stdout.clone()));
        let source = server.url(&format!("/a.{end}//m"));
        world.write(
            "main.tf",
            &format!("module \"net\" {{\n  source = \"{source}\"\n}}\n"),
        );
        world.install().well();
        assert_eq!(world.read(".terraform/modules/net/m/main.tf"), MODULE);
        let damaged = Server::new(|_| Answer::ok("damaged"));
        let source = damaged.url(&format!("/a.{end}"));
        world.write(
            "main.tf",
            &format!("module \"net\" {{\n  source = \"{source}\"\n}}\n"),
        );
        world.install().fails("Failed to download module", &[]);
    }
}
