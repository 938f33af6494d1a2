//! Modules from registries, archives and pages on loopback.

use crate::world::{World, add, tarred, write, zipped};
use formwork_testkit::{Answer, Asked, Server};

const MODULE: &str = "output \"x\" { value = path.module }\n";

fn calls(list: &[(&str, &str, Option<&str>)]) -> String {
    list.iter()
        .map(|(name, source, version)| {
            let version = version.map_or(String::new(), |v| format!("  version = \"{v}\"\n"));
            format!("module \"{name}\" {{\n  source = \"{source}\"\n{version}}}\n")
        })
        .collect()
}

fn package() -> Vec<u8> {
    zipped(&[
        ("inner/main.tf", MODULE),
        ("inner/modules/s/main.tf", MODULE),
    ])
}

fn registry(request: &Asked) -> Answer {
    let path = request.path.as_str();
    match path.split('?').next().unwrap() {
        "/.well-known/terraform.json" => Answer::ok(r#"{"modules.v1":"/v1/modules/"}"#),
        "/v1/modules/ns/net/google/versions" => Answer::ok(
            r#"{"modules":[{"versions":[{"version":"1.0.0"},{"version":"1.2.0"},{"version":"2.0.0-beta1"},{"version":"junk"},{"version":"1.1.0"}]}]}"#,
        ),
        "/v1/modules/ns/only/pre/versions" => {
            Answer::ok(r#"{"modules":[{"versions":[{"version":"1.0.0-rc1"}]}]}"#)
        }
        "/v1/modules/ns/net/google/1.0.0/download" => {
            Answer::status(204).with("X-Terraform-Get", "./archive?archive=tar.gz")
        }
        "/v1/modules/ns/net/google/1.1.0/download" => {
            Answer::ok(r#"{"location":"/files/a.zip//inner"}"#)
        }
        "/v1/modules/ns/net/google/1.2.0/download" => {
            let host = &request.headers["host"];
            Answer::status(204).with(
                "X-Terraform-Get",
                &format!("http://{host}/files/a.zip//*?archive=zip"),
            )
        }
        "/v1/modules/ns/net/google/2.0.0-beta1/download" => Answer::status(204),
        "/v1/modules/ns/net/google/1.0.0/archive" => Answer::ok(tarred(|b| {
            add(b, "main.tf", tar::EntryType::Regular, "", MODULE.as_bytes());
        })),
        "/v1/modules/ns/secret/google/versions" => Answer::status(401),
        "/files/a.zip" => Answer::ok(package()),
        _ => Answer::status(404),
    }
}

#[test]
fn a_registry() {
    let server = Server::new(registry);
    let mut world = World::new();
    let variable = format!("TF_TOKEN_{}", server.host.replace(['.', ':'], "_"));
    world
        .settings
        .environment
        .variables
        .insert(variable, "t0ken".to_owned());
    let at = |rest: &str| format!("{}/ns/{rest}", server.host);
    world.write(
        "main.tf",
        &calls(&[
            ("newest", &at("net/google"), None),
            ("exact", &at("net/google//modules/s"), Some("1.2.0")),
            ("one", &at("net/google"), Some("~> 1.0.0")),
            ("located", &at("net/google"), Some("< 1.2, > 1.0")),
        ]),
    );
    let came = world.install().well();
    let entry = |key: &str| {
        let e = &came.manifest.entries[key];
        (e.source.clone(), e.version.clone(), e.directory.clone())
    };
    let expected = |rest: &str, version: &str, directory: &str| {
        (
            at(rest),
            version.to_owned(),
            format!(".terraform/modules/{directory}"),
        )
    };
    assert_eq!(
        entry("newest"),
        expected("net/google", "1.2.0", "newest/inner")
    );
    assert_eq!(
        entry("exact"),
        expected("net/google//modules/s", "1.2.0", "exact/inner/modules/s")
    );
    assert_eq!(entry("one"), expected("net/google", "1.0.0", "one"));
    assert_eq!(
        entry("located"),
        expected("net/google", "1.1.0", "located/inner")
    );
    let asked = server.asked();
    let times = |path: &str| asked.iter().filter(|a| a.path == path).count();
    assert_eq!(times("/.well-known/terraform.json"), 1);
    assert_eq!(times("/v1/modules/ns/net/google/versions"), 1);
    assert_eq!(times("/v1/modules/ns/net/google/1.2.0/download"), 1);
    for a in &asked {
        let to_the_registry = a.path.starts_with("/v1") && !a.path.ends_with("archive");
        let token = a.headers.get("authorization").map(String::as_str);
        if to_the_registry {
            assert_eq!(token, Some("Bearer t0ken"), "{}", a.path);
        } else if a.path.starts_with("/files") {
            assert_eq!(token, None, "{}", a.path);
        }
    }

    // what still fits is kept, even where something newer is there
    let kept = calls(&[("one", &at("net/google"), Some("~> 1.0"))]);
    world.write("main.tf", &kept);
    let before = server.asked().len();
    assert_eq!(
        world.install().well().manifest.entries["one"].version,
        "1.0.0"
    );
    assert_eq!(server.asked().len(), before);
    // what nobody calls any more is taken away
    assert!(!world.path(".terraform/modules/newest").exists());
    assert_eq!(
        world.upgrade().well().manifest.entries["one"].version,
        "1.2.0"
    );
    // what does not fit any more is said, and mended by the next installation
    world.write(
        "main.tf",
        &calls(&[("one", &at("net/google"), Some("1.1.0"))]),
    );
    let said = world.use_installed();
    assert_eq!(
        said.iter().map(|d| d.summary.as_str()).collect::<Vec<_>>(),
        ["Module version requirements have changed"]
    );
    assert_eq!(
        world.install().well().manifest.entries["one"].version,
        "1.1.0"
    );
    world.write(
        "main.tf",
        &calls(&[
            ("one", &at("net/google//modules/s"), Some("1.1.0")),
            ("two", &at("net/google"), None),
        ]),
    );
    let said = world.use_installed();
    assert_eq!(
        said.iter().map(|d| d.summary.as_str()).collect::<Vec<_>>(),
        ["Module source has changed", "Module not installed"]
    );
}

#[test]
fn what_a_registry_will_not_give() {
    let server = Server::new(registry);
    let world = World::new();
    let check = |rest: &str, version: Option<&str>, summary: &str, says: &[&str]| {
        world.write(
            "main.tf",
            &calls(&[("net", &format!("{}/{rest}", server.host), version)]),
        );
        world.install().fails(summary, says);
    };
    check(
        "ns/net/google",
        Some("~> 3.0"),
        "Unresolvable module version constraint",
        &["\"~> 3.0\"", "1.2.0"],
    );
    check(
        "ns/net/google",
        Some("> 1.2.0"),
        "Unresolvable module version constraint",
        &["1.2.0"],
    );
    check(
        "ns/only/pre",
        None,
        "Unresolvable module version constraint",
        &["pre-releases", "1.0.0-rc1"],
    );
    check(
        "ns/net/google",
        Some("2.0.0-beta1"),
        "Failed to download module",
        &["neither a header"],
    );
    check(
        "ns/nope/google",
        None,
        "Module not found",
        &["ns/nope/google", "./"],
    );
    check(
        "ns/secret/google",
        None,
        "Error accessing remote module registry",
        &["401", "TF_TOKEN_127_0_0_1_"],
    );
    check(
        "ns/net/google//absent",
        Some("1.0.0"),
        "Unreadable module subdirectory",
        &["absent"],
    );
    check(
        "ns/net/google//../x",
        Some("1.0.0"),
        "Invalid module source address",
        &["leads out"],
    );
    let silent = Server::new(|_| Answer::status(404));
    world.write(
        "main.tf",
        &calls(&[("net", &format!("{}/a/b/c", silent.host), None)]),
    );
    world.install().fails(
        "Error accessing remote module registry",
        &["serves no module registry"],
    );
    let nobody = std::net::TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap();
    world.write(
        "main.tf",
        &calls(&[("net", &format!("{nobody}/a/b/c"), None)]),
    );
    world.install().fails(
        "Error accessing remote module registry",
        &["no answer", &nobody.to_string()],
    );
}

#[test]
fn archives_and_pages() {
    let server = Server::new(|request| {
        let host = request.headers["host"].clone();
        match request.path.as_str() {
            "/x.zip" | "/plain" => Answer::ok(package()),
            "/hdr?terraform-get=1" => Answer::status(204).with("X-Terraform-Get", "/x.zip//inner"),
            "/meta?a=1&terraform-get=1" => Answer::ok(format!(
                "<html><head><meta name=\"terraform-get\" content=\"http://{host}/hdr\"></head></html>"
            )),
            "/loop?terraform-get=1" => Answer::ok("").with("X-Terraform-Get", "./loop"),
            "/bad?terraform-get=1" => {
                Answer::ok("").with("X-Terraform-Get", "s3::https://s3.amazonaws.com/b/k")
            }
            "/moved.zip" => Answer::status(302).with("Location", "/x.zip"),
            "/encoded.tgz" => Answer::ok(tarred(|b| {
                add(b, "main.tf", tar::EntryType::Regular, "", MODULE.as_bytes());
            }))
            .with("Content-Encoding", "gzip"),
            "/linked?terraform-get=1" => {
                Answer::status(204).with("X-Terraform-Get", "/linked.tgz//a/b")
            }
            "/linked.tgz" => Answer::ok(tarred(|b| {
                use tar::EntryType::{Regular, Symlink};
                add(b, "a/b/main.tf", Regular, "", MODULE.as_bytes());
                add(b, "a/x.tf", Regular, "", b"# x");
                add(b, "a/b/x.tf", Symlink, "../x.tf", b"");
            })),
            "/busy.zip" => Answer::status(503),
            "/broken.zip" => Answer::ok("PK but no more"),
            "/page?terraform-get=1" => Answer::ok("hello"),
            _ => Answer::status(404),
        }
    });
    let world = World::new();
    let sum = {
        use sha2::Digest;
        hex::encode(sha2::Sha256::digest(package()))
    };
    world.write(
        "main.tf",
        &calls(&[
            (
                "whole",
                &server.url(&format!("/x.zip//inner?checksum=sha256:{sum}")),
                None,
            ),
            ("star", &server.url("/x.zip//*/modules/s*"), None),
            ("forced", &server.url("/plain//inner?archive=zip"), None),
            ("hdr", &server.url("/hdr"), None),
            ("deeper", &server.url("/hdr//modules/s"), None),
            ("meta", &server.url("/meta?a=1"), None),
            ("moved", &server.url("/moved.zip//inner"), None),
            ("encoded", &server.url("/encoded.tgz"), None),
            ("linked", &server.url("/linked.tgz//a/b"), None),
        ]),
    );
    let came = world.install().well();
    let directory = |key: &str| came.manifest.entries[key].directory.as_str();
    assert_eq!(directory("whole"), ".terraform/modules/whole/inner");
    assert_eq!(directory("star"), ".terraform/modules/star/inner/modules/s");
    assert_eq!(directory("forced"), ".terraform/modules/forced/inner");
    // what a page names with a directory is a package by itself, as terraform has it
    assert_eq!(directory("hdr"), ".terraform/modules/hdr");
    assert_eq!(directory("deeper"), ".terraform/modules/deeper/modules/s");
    assert_eq!(directory("meta"), ".terraform/modules/meta");
    let check = |path: &str, says: &[&str]| {
        world.write("main.tf", &calls(&[("net", &server.url(path), None)]));
        world.install().fails("Failed to download module", says);
    };
    check(
        "/x.zip?checksum=md5:d41d8cd98f00b204e9800998ecf8427e",
        &["its md5 is", "d41d8cd98f00b204e9800998ecf8427e"],
    );
    check("/absent.zip", &["404"]);
    check("/absent", &["404"]);
    check("/busy.zip", &["503"]);
    check("/page", &["archive=zip", "git::"]);
    check("/loop", &["after 5"]);
    check("/linked", &["\"x.tf\"", "leads out"]);
    check("/bad", &["s3::"]);
    check("/broken.zip", &["no zip archive", "The package is http://"]);
    check("/x.zip?archive=rar", &["rar"]);
    assert_eq!(
        server
            .asked()
            .iter()
            .filter(|a| a.path == "/busy.zip")
            .count(),
        3
    );
    let url = server
        .url("/absent.zip")
        .replace("http://", "http://me:s3cr3t@");
    world.write(
        "main.tf",
        &calls(&[("net", &format!("{url}?token=hunter22"), None)]),
    );
    let came = world.install();
    came.fails(
        "Failed to download module",
        &["(hidden)@", "token=(hidden)"],
    );
    assert!(!format!("{:?}{:?}", came.said, came.told).contains("s3cr3t"));
    let netrc = format!("machine 127.0.0.1 login you password {}\n", "n3trc");
    write(&world.folder.path().join("home/.netrc"), netrc.as_bytes());
    let last = server.asked().pop().unwrap();
    assert_eq!(
        (
            last.path.as_str(),
            last.headers.contains_key("authorization")
        ),
        ("/absent.zip?token=hunter22", true)
    );
    world.write(
        "main.tf",
        &calls(&[("net", &server.url("/x.zip//inner"), None)]),
    );
    world.install().well();
    let last = server.asked().pop().unwrap();
    // "you:n3trc" in base64
    assert_eq!(last.headers["authorization"], "Basic eW91Om4zdHJj");
}

#[test]
fn buckets() {
    let server = Server::new(|request| match request.path.as_str() {
        "/storage/v1/b/mods/o/net%2Fv1.zip?alt=media" => Answer::ok(package()),
        "/storage/v1/b/mods/o?prefix=tree%2F&fields=items%28name%29%2CnextPageToken" => {
            Answer::ok(r#"{"items":[{"name":"tree/main.tf"}],"nextPageToken":"two"}"#)
        }
        "/storage/v1/b/mods/o?prefix=tree%2F&fields=items%28name%29%2CnextPageToken&pageToken=two" => {
            Answer::ok(r#"{"items":[{"name":"tree/sub/"},{"name":"tree/sub/a.tf"}]}"#)
        }
        "/storage/v1/b/mods/o?prefix=evil%2F&fields=items%28name%29%2CnextPageToken" => {
            Answer::ok(r#"{"items":[{"name":"evil/../../x.tf"}]}"#)
        }
        "/storage/v1/b/mods/o/tree%2Fmain.tf?alt=media"
        | "/storage/v1/b/mods/o/tree%2Fsub%2Fa.tf?alt=media" => Answer::ok(MODULE),
        p if p.contains("private") => Answer::status(403),
        _ => Answer::status(404),
    });
    let mut world = World::new();
    world
        .settings
        .environment
        .variables
        .insert("STORAGE_EMULATOR_HOST".to_owned(), server.host.clone());
    let at = |path: &str| format!("gcs::https://www.googleapis.com/storage/v1/{path}");
    world.write(
        "main.tf",
        &calls(&[
            ("zip", &at("mods/net/v1.zip//inner"), None),
            ("tree", &at("mods/tree"), None),
        ]),
    );
    let came = world.install().well();
    assert_eq!(
        came.manifest.entries["zip"].directory,
        ".terraform/modules/zip/inner"
    );
    assert_eq!(world.read(".terraform/modules/tree/sub/a.tf"), MODULE);
    world.write("main.tf", &calls(&[("net", &at("mods/evil"), None)]));
    world
        .install()
        .fails("Failed to download module", &["no path within"]);
    world.write("main.tf", &calls(&[("net", &at("private/a.zip"), None)]));
    world.install().fails(
        "Failed to download module",
        &["403", "application-default login"],
    );
}
