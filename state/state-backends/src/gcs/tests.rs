use super::*;
use formwork_environment::Fixed;
use formwork_mock_google::{Config, Mock, Scenario, Server, endpoint};
use std::sync::Arc;

/// A mock cloud with a bucket `states`.
struct World {
    mock: Mock,
    server: Server,
}

impl World {
    async fn new(scenario: serde_json::Value) -> Self {
        let fixed = Arc::new(Fixed::new(1_000, 7));
        let mock = Mock::open(Config {
            directory: None,
            scenario: Scenario::parse(&scenario.to_string()).expect("a scenario"),
            clock: fixed.clone(),
            randomness: fixed,
            process: 7,
        })
        .expect("opens");
        let server = mock
            .serve(([127, 0, 0, 1], 0).into())
            .await
            .expect("a free port");
        let world = Self { mock, server };
        let mut client = ClientConfig::google(Credentials::None);
        client
            .endpoints
            .set("storage", &endpoint(&world.server.url(), "storage"));
        let client = formwork_google_client::Client::new(client).expect("a client");
        let request = formwork_google_client::Request::new(
            formwork_google_client::Method::Post,
            "storage",
            "storage/v1/b",
        )
        .query("project", world.mock.project().expect("a project"))
        .json(serde_json::json!({"name": "states"}));
        client.send(&request).await.expect("a bucket");
        world
    }

    fn store(&self, run: &str) -> GcsStore {
        GcsStore::new(GcsConfig {
            bucket: "states".to_owned(),
            prefix: "/team/a/".to_owned(),
            workspace: "default".to_owned(),
            kms_key: None,
            customer_key: None,
            credentials: Credentials::None,
            run: run.to_owned(),
            endpoint: Some(endpoint(&self.server.url(), "storage")),
        })
    }

    /// Names of the objects in the bucket.
    fn objects(&self) -> Vec<String> {
        let all = self.mock.list();
        all.iter()
            .filter_map(|l| l.self_link.split_once("/b/states/o/"))
            .map(|(_, name)| name.replace("%2F", "/"))
            .collect()
    }
}

fn info(id: &str) -> LockInfo {
    LockInfo {
        id: id.to_owned(),
        who: "u@h".to_owned(),
        ..LockInfo::default()
    }
}

fn plain() -> serde_json::Value {
    serde_json::json!({"format": "formwork-mock-scenario/1", "base": "default"})
}

fn text(d: Diagnostics) -> String {
    d.iter()
        .map(|d| format!("{}: {}", d.summary, d.detail))
        .collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_state_is_read_and_replaced_and_a_lost_race_is_told() {
    let world = World::new(plain()).await;
    let (a, b) = (world.store("a"), world.store("b"));
    assert_eq!(a.describe(), "gs://states/team/a/default.tfstate");
    assert_eq!(a.read_snapshot().await.expect("readable"), None);
    a.write_snapshot(b"one").await.expect("written");
    assert_eq!(
        b.read_snapshot().await.expect("readable").as_deref(),
        Some(&b"one"[..])
    );
    a.write_snapshot(b"two").await.expect("written again");
    let lost = text(b.write_snapshot(b"three").await.expect_err("a lost race"));
    assert!(lost.contains("written by somebody else"), "{lost}");
    assert_eq!(
        b.read_snapshot().await.expect("readable").as_deref(),
        Some(&b"two"[..])
    );
    b.write_snapshot(b"three")
        .await
        .expect("on firm ground again");
    assert_eq!(world.objects(), ["team/a/default.tfstate"]);
    assert_eq!(a.workspaces().await.expect("listed"), ["default"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn locks_exclude_each_other_and_can_be_broken_by_their_generation() {
    let world = World::new(plain()).await;
    let (a, b) = (world.store("a"), world.store("b"));
    a.lock(&info("first")).await.expect("free");
    let Err(LockError::Held { what, holder }) = b.lock(&info("second")).await else {
        panic!("two locks at once");
    };
    assert_eq!(what, "gs://states/team/a/default.tfstate");
    let holder = holder.expect("a holder");
    assert_eq!(holder.who, "u@h");
    assert!(holder.id.parse::<u64>().is_ok(), "{}", holder.id);
    assert!(b.unlock("second").await.is_err(), "never held");
    b.unlock(&holder.id).await.expect("by force");
    b.lock(&info("second")).await.expect("free");
    let gone = text(a.unlock("first").await.expect_err("taken away"));
    assert!(
        gone.contains("released or taken by somebody else"),
        "{gone}"
    );
    b.unlock("second").await.expect("held");
    assert_eq!(world.objects(), Vec::<String>::new());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_journal_grows_is_replaced_at_once_and_leaves_nothing() {
    let world = World::new(plain()).await;
    let a = world.store("a");
    a.lock(&info("first")).await.expect("free");
    assert_eq!(a.read_journal().await.expect("readable"), b"");
    for n in 0..25u8 {
        a.append_journal(vec![b'a' + n]).await.expect("durable");
    }
    // appends that wait together become one object
    let waiting: Vec<_> = (0..10u8)
        .map(|n| a.append_journal(vec![b'0' + n]))
        .collect();
    for append in waiting {
        append.await.expect("durable");
    }
    let all = b"abcdefghijklmnopqrstuvwxy0123456789";
    let reader = world.store("reader");
    assert_eq!(reader.read_journal().await.expect("readable"), all);
    let objects = world.objects().len();
    assert!((27..=36).contains(&objects), "{objects}");
    a.replace_journal(b"short".to_vec())
        .await
        .expect("replaced");
    a.append_journal(b"er".to_vec()).await.expect("durable");
    assert_eq!(reader.read_journal().await.expect("readable"), b"shorter");
    let names = world.objects();
    assert!(
        names.contains(&"team/a/default.tfjournal/0000000001-0000000001".to_owned()),
        "{names:?}"
    );
    a.replace_journal(Vec::new()).await.expect("emptied");
    assert_eq!(reader.read_journal().await.expect("readable"), b"");
    a.unlock("first").await.expect("held");
    assert_eq!(world.objects(), Vec::<String>::new());
    assert_eq!(a.workspaces().await.expect("listed"), ["default"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn two_runs_without_a_lock_do_not_mix_their_journals() {
    let world = World::new(plain()).await;
    let (a, b) = (world.store("a"), world.store("b"));
    a.append_journal(b"a".to_vec()).await.expect("durable");
    let refused = text(
        b.append_journal(b"b".to_vec())
            .await
            .expect_err("not alone"),
    );
    assert!(refused.contains("locked by another run"), "{refused}");
    // nor with one that has the state's lock
    let c = world.store("c");
    c.lock(&info("third")).await.expect("free");
    c.append_journal(b"c".to_vec()).await.expect("durable");
    let refused = text(
        a.append_journal(b"a".to_vec())
            .await
            .expect_err("not alone"),
    );
    assert!(refused.contains("two runs work on one state"), "{refused}");
    let again = text(
        a.append_journal(b"a".to_vec())
            .await
            .expect_err("broken for good"),
    );
    assert_eq!(refused, again);
    drop(a);
    assert!(
        !world.objects().iter().any(|o| o.ends_with(".lock")),
        "given up with the store"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_part_of_a_journal_that_is_missing_is_told() {
    let world = World::new(plain()).await;
    let a = world.store("a");
    for part in [b"x", b"y", b"z"] {
        a.append_journal(part.to_vec()).await.expect("durable");
    }
    let objects = objects::Objects {
        client: formwork_google_client::Client::new(a.config.client()).expect("a client"),
        bucket: "states".to_owned(),
        kms_key: None,
        customer_key: None,
    };
    let name = "team/a/default.tfjournal/0000000000-0000000001";
    let generation = objects.generation(name).await.expect("there");
    assert!(objects.delete(name, generation).await.expect("deleted"));
    let told = text(world.store("b").read_journal().await.expect_err("a gap"));
    assert!(
        told.contains("has no object team/a/default.tfjournal/0000000000-0000000001"),
        "{told}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_that_is_lost_is_told_from_a_lost_race() {
    // half of the requests end without an answer, some of them having been carried out
    let mut scenario = plain();
    scenario["faults"] = serde_json::json!([
        {"method": "storage.objects.*", "mutating": true, "probability": 0.3, "cut": "after_commit"},
        {"method": "storage.objects.*", "probability": 0.2, "cut": "before_commit"}
    ]);
    let world = World::new(scenario).await;
    let a = world.store("a");
    a.lock(&info("first")).await.expect("held in the end");
    for n in 0..6u8 {
        a.append_journal(vec![b'a' + n]).await.expect("durable");
        a.write_snapshot(&[b'0' + n]).await.expect("written");
    }
    assert_eq!(
        world.store("b").read_journal().await.expect("readable"),
        b"abcdef"
    );
    assert_eq!(
        a.read_snapshot().await.expect("readable").as_deref(),
        Some(&b"5"[..])
    );
    assert!(
        world.store("b").lock(&info("second")).await.is_err(),
        "it is held"
    );
    a.unlock("first").await.expect("held");
}

/// The key's sum is as Terraform 1.11.4 sends it for the same key.
#[tokio::test(flavor = "multi_thread")]
async fn a_key_that_the_caller_keeps_goes_with_every_content() {
    use wiremock::matchers::{header, method};
    use wiremock::{Mock, MockServer, ResponseTemplate};
    let server = MockServer::start().await;
    let key = CustomerKey::new(b"01234567890123456789012345678901");
    assert_eq!(format!("{key:?}"), "CustomerKey(..)");
    let sum = "hhAJ7E1Zn6sfQKvHbm+JiAz/WDPHnFSMmfkEXxkc2Qs=";
    Mock::given(method("POST"))
        .and(header("x-goog-encryption-algorithm", "AES256"))
        .and(header(
            "x-goog-encryption-key",
            "MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE=",
        ))
        .and(header("x-goog-encryption-key-sha256", sum))
        .respond_with(
            ResponseTemplate::new(200).set_body_json(serde_json::json!({"generation": "5"})),
        )
        .expect(1)
        .mount(&server)
        .await;
    let objects = objects::Objects {
        client: formwork_google_client::Client::new(
            GcsConfig {
                bucket: "b".to_owned(),
                prefix: String::new(),
                workspace: "default".to_owned(),
                kms_key: None,
                customer_key: None,
                credentials: Credentials::None,
                run: "r".to_owned(),
                endpoint: Some(format!("{}/storage/v1/b", server.uri())),
            }
            .client(),
        )
        .expect("a client"),
        bucket: "b".to_owned(),
        kms_key: None,
        customer_key: Some(key),
    };
    let written = objects.write("n", b"x", objects::Generation::NONE).await;
    assert!(matches!(
        written.expect("written"),
        objects::Written::Done(objects::Generation(5))
    ));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_lock_that_is_lost_is_noticed_and_no_journal_is_spoilt() {
    let world = World::new(plain()).await;
    let remembered = |w: &World| {
        w.objects()
            .iter()
            .filter(|n| n.contains("tfjournal/"))
            .count()
    };
    for (taken, settled) in [(false, false), (true, false), (true, true)] {
        let what = format!("taken {taken}, settled {settled}");
        let (a, b) = (world.store("a"), world.store("b"));
        a.lock(&info("a")).await.expect("free");
        a.append_journal(b"begun\n".to_vec())
            .await
            .expect("appended");
        let Err(LockError::Held { holder, .. }) = b.lock(&info("b")).await else {
            panic!("{what}: it is held");
        };
        let id = holder.expect("a holder").id;
        b.break_lock(&id).await.expect("by force");
        if taken {
            b.lock(&info("b")).await.expect("free");
            assert_eq!(
                b.read_journal().await.expect("readable"),
                b"begun\n",
                "{what}"
            );
            if settled {
                b.replace_journal(Vec::new()).await.expect("settled");
            } else {
                b.append_journal(b"theirs\n".to_vec())
                    .await
                    .expect("appended");
            }
        }
        let lost = a.append_journal(b"more\n".to_vec()).await;
        let lost = text(lost.expect_err("it is lost"));
        assert!(!lost.is_empty(), "{what}");
        if !taken || settled {
            assert!(lost.contains("State lock lost"), "{what}: {lost}");
        }
        // and so it stays
        assert!(
            a.append_journal(b"again\n".to_vec()).await.is_err(),
            "{what}"
        );
        let spoilt = a.replace_journal(Vec::new()).await;
        let spoilt = text(spoilt.expect_err("it is lost"));
        assert!(spoilt.contains("State lock lost"), "{what}: {spoilt}");
        let there = world.store("c").read_journal().await.expect("readable");
        let expected: &[u8] = match (taken, settled) {
            (_, true) => b"",
            (true, false) => b"begun\ntheirs\n",
            (false, false) => b"begun\nmore\n",
        };
        assert_eq!(there, expected, "{what}");
        assert_eq!(remembered(&world) > 0, !settled, "{what}");
        let told = text(a.unlock("a").await.expect_err("it is lost"));
        assert!(
            told.contains("Error releasing the state lock"),
            "{what}: {told}"
        );
        // as it was
        if !taken {
            b.lock(&info("b")).await.expect("free");
        }
        b.read_journal().await.expect("readable");
        b.replace_journal(Vec::new()).await.expect("replaced");
        b.unlock("b").await.expect("held");
    }
}
