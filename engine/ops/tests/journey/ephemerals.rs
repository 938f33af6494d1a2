//! Ephemeral resources: opened for planning and for applying, renewed, closed, and kept nowhere.

use crate::beyond::Story;
use crate::disk::guard;
use crate::places::Places;
use crate::scripted::{Stand, string};
use formwork_plan::PlanMode;
use formwork_provider::{OpenEphemerals, RenewResponse};
use formwork_values::{Type, Value};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

fn story(main: &str) -> (Story, Places) {
    let mut story = Story::of(&[("main.tf", main)]);
    let places = Places::default();
    story.factory = Some(Arc::new(places.clone()));
    (story, places)
}

#[tokio::test]
async fn opened_for_each_phase_and_stored_in_none() {
    let (story, places) = story(
        r#"
ephemeral "place_token" "t" {
  name = "short"
  lifecycle {
    postcondition {
      condition     = startswith(self.token, "token-")
      error_message = "No token."
    }
  }
}
ephemeral "place_token" "unused" {
  name = "unused"
}
locals {
  secret = "${ephemeral.place_token.t.token}!"
}
resource "place_thing" "a" {
  name      = "a"
  secret_wo = local.secret
}
"#,
    );
    story.check(&[], &["create place_thing.a"]).await;
    let told = places.told();
    // The unused one is opened by planning only, as nobody knows yet that it is.
    let planned = told.iter().filter(|t| t.starts_with("opened unused"));
    assert_eq!(planned.count(), 1, "{told:?}");
    let of_token = |n: usize| {
        let end = format!("token-{n}");
        let exact = move |t: &&String| t.ends_with(&end) || t.ends_with(&format!("{end}!"));
        told.iter().filter(exact).cloned().collect::<Vec<_>>()
    };
    assert_eq!(
        of_token(3),
        [
            "opened short as token-3",
            "renewed token-3",
            "made a with token-3!",
            "closed token-3",
        ]
    );
    for n in [1, 2] {
        let all = of_token(n);
        assert!(
            all.last().is_some_and(|l| l.starts_with("closed")),
            "{all:?}"
        );
    }
    let state = story.state().to_string();
    assert!(!state.contains("token-"), "{state}");
    // Nothing to do: opened for planning, closed again.
    story.check(&[], &[]).await;
    let told = places.told();
    assert!(
        told.iter().any(|t| t.starts_with("opened short")),
        "{told:?}"
    );
    assert!(!told.iter().any(|t| t.starts_with("made")), "{told:?}");
}

#[tokio::test]
async fn opened_when_what_it_needs_is_known() {
    let (story, places) = story(
        r#"
resource "place_thing" "first" {
  name = "first"
}
ephemeral "place_token" "t" {
  count = 2
  name  = "${place_thing.first.id}-${count.index}"
}
provider "place" {
  alias = "by_token"
  token = ephemeral.place_token.t[1].token
}
resource "place_thing" "second" {
  provider  = place.by_token
  name      = "second"
  secret_wo = ephemeral.place_token.t[0].token
}
"#,
    );
    story
        .check(
            &[],
            &["create place_thing.first", "create place_thing.second"],
        )
        .await;
    let told = places.told();
    assert_eq!(told[0], "opened t1-0 as token-1", "{told:?}");
    let place = |what: &str| {
        let found = told.iter().position(|t| t == what);
        found.unwrap_or_else(|| panic!("{what} in {told:?}"))
    };
    assert!(place("opened t1-1 as token-2") < place("configured with token-2"));
    assert!(place("configured with token-2") < place("made second with token-1"));
    assert!(place("made second with token-1") < place("closed token-1"));
    assert!(!story.state().to_string().contains("token-"));

    // Known from the state now: the provider can be configured while planning, and destroys.
    story.check(&[], &[]).await;
    places.told();
    let gone = story.step(&[], PlanMode::Destroy).await;
    assert_eq!(
        gone,
        ["delete place_thing.first", "delete place_thing.second"]
    );
    let told = places.told();
    let opened = told.iter().filter(|t| t.starts_with("opened")).count();
    let closed = told.iter().filter(|t| t.starts_with("closed")).count();
    assert!(opened > 0 && opened == closed, "{told:?}");
    assert_eq!(places.things(), [] as [String; 0]);
}

#[tokio::test]
async fn what_is_ephemeral_goes_nowhere_else() {
    let cases = [
        (
            "resource \"place_thing\" \"a\" {\n  name = ephemeral.place_token.t.token\n}\n",
            "main.tf:3:10 Invalid use of ephemeral value",
        ),
        (
            "output \"o\" {\n  value = ephemeral.place_token.t.token\n}\n",
            "main.tf:3:11 Ephemeral value not allowed",
        ),
        (
            "ephemeral \"place_token\" \"u\" {\n  name = ephemeral.place_token.nope.token\n}\n",
            "main.tf:3:10 Reference to undeclared resource",
        ),
        (
            "ephemeral \"place_tokn\" \"u\" {\n}\n",
            "main.tf:2:11 Invalid ephemeral resource",
        ),
    ];
    for (text, expected) in cases {
        let (story, _) = story(&format!("ephemeral \"place_token\" \"t\" {{}}\n{text}"));
        let told = story.step(&[], PlanMode::Normal).await;
        assert_eq!(told, [expected], "{text}");
    }
}

#[tokio::test(start_paused = true)]
async fn renewed_when_due_however_long_one_call_takes_and_closed_last_opened_first() {
    let stand = Stand::new("");
    let start = tokio::time::Instant::now();
    let now = move || SystemTime::UNIX_EPOCH + start.elapsed();
    let in_30 = move || Some(now() + Duration::from_secs(30));
    let script = &stand.script;
    *guard(&script.on_open) = Arc::new(move |request, mut response| {
        if string(&request.config, "name").as_deref() == Some("short") {
            response.renew_at = in_30();
        }
        response
    });
    *guard(&script.on_renew) = Some(Arc::new(move |private| RenewResponse {
        private,
        renew_at: in_30(),
        reported: Vec::new(),
    }));
    let address = "example.test/acme/x".parse().expect("an address");
    let provider = stand.session().factory.launch(&address).await;
    let provider = provider.expect("launched");
    let opened = OpenEphemerals::default();
    for name in ["short", "long"] {
        let config = Value::object([
            ("name", Value::string(name)),
            ("value", Value::null(Type::String)),
        ]);
        let at = format!("ephemeral.x_token.{name}").parse().expect("one");
        let (_, reported) = opened.open(&at, provider.clone(), config).await;
        assert!(reported.is_empty());
    }
    let work = async {
        tokio::time::sleep(Duration::from_secs(100)).await;
        "done"
    };
    let (done, said) = opened.renewed_during(now, work).await;
    assert_eq!(done, "done");
    assert!(!said.has_errors());
    assert!(!opened.close_all().await.has_errors());
    assert_eq!(
        script.asked(),
        [
            "Open short",
            "Open long",
            "Renew short",
            "Renew short",
            "Renew short",
            "Close long",
            "Close short"
        ]
    );
}

/// A run that makes nothing opens nothing for what it does not make.
#[tokio::test]
async fn not_opened_for_what_is_not_made() {
    let (story, places) = story(
        r#"
resource "place_thing" "a" { name = "a" }
ephemeral "place_token" "t" { name = place_thing.a.id }
resource "place_thing" "b" {
  name      = "b"
  secret_wo = ephemeral.place_token.t.token
}
output "b" { value = length([place_thing.b.id]) }
"#,
    );
    let told = story.step(&[], PlanMode::RefreshOnly).await;
    assert_eq!(told, Vec::<String>::new());
    assert_eq!(story.output("b"), 1);
    assert_eq!(places.told(), Vec::<String>::new());
}
