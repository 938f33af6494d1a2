//! Providers that die, hang or lose the connection in the middle of a call: what they were at is
//! reported, and never forgotten.

use crate::disk::guard;
use crate::scripted::{Deed, Stand};
use crate::surroundings::{Recorder, text};
use formwork_addresses::AbsResourceInstance;
use formwork_diagnostics::Diagnostic;
use formwork_ops::{PlanOptions, Word};
use formwork_plan::{Event, PlanMode};
use formwork_provider::{ApplyRequest, Reported};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

/// How a provider goes wrong.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Fault {
    /// It does what it was asked, and never answers; the process is ended.
    Hangs,
    /// It does what it was asked, and breaks down.
    Breaks,
    /// It does what it was asked, and its connection is lost.
    Loses,
}

const TWO: &str = r#"
resource "x_thing" "one" {
  name  = "one"
  force = "NOTE"
}
resource "x_thing" "two" { name = "two" }
"#;

fn is_of(request: &ApplyRequest, name: &str) -> bool {
    [&request.prior, &request.planned]
        .into_iter()
        .any(|v| crate::scripted::string(v, "name").as_deref() == Some(name))
}

/// What is done when the fault strikes.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Verb {
    Create,
    Update,
    Delete,
}

/// A stand on which the fault has struck `x_thing.one` once, at this.
async fn struck(fault: Fault, verb: Verb) -> (Stand, String) {
    let stand = Stand::new(&TWO.replace("force = \"NOTE\"", "note = \"a\""));
    if verb != Verb::Create {
        assert!(stand.run().await.complete);
    }
    stand.script.asked();
    stand.script.applies(move |request, response| {
        if !is_of(request, "one") {
            return Deed::Answers(Box::new(response));
        }
        match fault {
            Fault::Hangs => Deed::Hangs,
            Fault::Breaks => Deed::Breaks,
            Fault::Loses => Deed::Loses,
        }
    });
    if verb == Verb::Update {
        stand.write(&TWO.replace("force = \"NOTE\"", "note = \"b\""));
    }
    let mut options = PlanOptions::default();
    if verb == Verb::Delete {
        options.mode = PlanMode::Destroy;
    }
    let said = if fault == Fault::Hangs {
        // it waits for ever, and the process is ended at once
        tokio::select! {
            _ = stand.run_with(&options) => panic!("{verb:?}: it did not wait"),
            () = stand.script.waiting.notified() => {}
        }
        String::new()
    } else {
        let ran = stand.run_with(&options).await;
        assert!(!ran.complete, "{fault:?} {verb:?}: {}", ran.said);
        ran.said
    };
    stand.script.behaves();
    (stand, said)
}

#[tokio::test]
async fn what_died_in_mid_call_is_reported_until_the_user_says_what_became_of_it() {
    let one: AbsResourceInstance = "x_thing.one".parse().expect("an address");
    for fault in [Fault::Hangs, Fault::Breaks, Fault::Loses] {
        for verb in [Verb::Create, Verb::Update, Verb::Delete] {
            let of = format!("{fault:?} {verb:?}");
            let (stand, said) = struck(fault, verb).await;
            match fault {
                Fault::Hangs => {}
                Fault::Breaks => assert!(said.contains("Provider crashed"), "{of}: {said}"),
                Fault::Loses => assert!(said.contains("Connection lost"), "{of}: {said}"),
            }
            if fault != Fault::Hangs {
                assert!(said.contains("An operation is still open"), "{of}: {said}");
                // what does not depend on it is done
                let two = stand.objects().iter().any(|o| o.starts_with("x_thing.two"));
                assert_eq!(two, verb != Verb::Delete, "{of}: {:?}", stand.objects());
            }
            // Nothing is planned, however often it is tried, and nothing is asked of the world.
            for _ in 0..2 {
                stand.script.asked();
                let (plan, said) = stand.plan().await;
                assert!(plan.is_none(), "{of}: {said}");
                assert!(
                    said.starts_with("Error Operation of unknown outcome [x_thing.one]"),
                    "{of}: {said}"
                );
                assert_eq!(stand.script.asked(), [""; 0], "{of}");
            }
            let real = stand.script.ids();
            let id = |name: &str| {
                let world = guard(&stand.script.world);
                let found = world
                    .iter()
                    .find(|(_, v)| crate::scripted::string(v, "name").as_deref() == Some(name));
                found.map(|(id, _)| id.clone())
            };
            // An id that is wrong settles nothing.
            let session = stand.session();
            let wrong = Word::Exists("no-such-id".to_owned());
            let refused = formwork_ops::settle_by_word(&session, &one, &wrong).await;
            assert!(refused.is_err(), "{of}");
            let (plan, _) = stand.plan().await;
            assert!(plan.is_none(), "{of}");
            let word = id("one").map_or(Word::NotThere, Word::Exists);
            assert_eq!(word == Word::NotThere, verb == Verb::Delete, "{of}");
            let session = stand.session();
            let settled = formwork_ops::settle_by_word(&session, &one, &word).await;
            if let Err(d) = settled {
                panic!(
                    "{of}: {}",
                    text(&d, &formwork_diagnostics::SourceMap::new())
                );
            }
            let ran = stand.run().await;
            assert!(ran.complete, "{of}: {}", ran.said);
            let again = stand.run().await;
            assert!(again.changes.is_empty(), "{of}: {:?}", again.changes);
            // Everything that is there is known, once.
            let mut known: Vec<String> = stand
                .objects()
                .iter()
                .filter_map(|o| Some(o.split(' ').nth(1)?.to_owned()))
                .collect();
            known.sort();
            assert_eq!(known, stand.script.ids(), "{of}: {:?}", stand.objects());
            assert_eq!(known.len(), 2, "{of}");
            if verb != Verb::Delete {
                assert!(
                    real.iter().all(|id| known.contains(id)),
                    "{of}: {real:?} {known:?}"
                );
            }
        }
    }
}

#[tokio::test]
async fn what_the_user_says_was_not_created_is_created() {
    let (stand, _) = struck(Fault::Loses, Verb::Create).await;
    // somebody has taken it away again
    guard(&stand.script.world)
        .retain(|_, v| crate::scripted::string(v, "name").as_deref() != Some("one"));
    let one: AbsResourceInstance = "x_thing.one".parse().expect("an address");
    let session = stand.session();
    let settled = formwork_ops::settle_by_word(&session, &one, &Word::NotThere).await;
    assert!(settled.is_ok());
    let ran = stand.run().await;
    assert_eq!(ran.changes, ["x_thing.one create"], "{}", ran.said);
    assert!(ran.complete, "{}", ran.said);
    let settled = formwork_ops::settle_by_word(&stand.session(), &one, &Word::NotThere).await;
    let Err(d) = settled else {
        panic!("nothing is open any more");
    };
    assert!(d.iter().any(|d| d.summary == "Nothing to settle"));
}

#[tokio::test]
async fn the_first_request_to_stop_is_passed_on_and_what_runs_is_waited_for() {
    let stand = Arc::new(Stand::new(TWO));
    stand.script.applies(|request, response| {
        if is_of(request, "one") {
            Deed::Hangs
        } else {
            Deed::Answers(Box::new(response))
        }
    });
    let mut session = stand.session();
    let recorder = Arc::new(Recorder::default());
    session.events = recorder.clone();
    let outcome = formwork_ops::plan(&session, &PlanOptions::default()).await;
    let plan = outcome.plan.expect("a plan");
    let cancel = session.cancel.clone();
    let script = stand.script.clone();
    let mut applying = Box::pin(formwork_ops::apply(&session, plan, outcome.held));
    tokio::select! {
        _ = &mut applying => panic!("it did not wait"),
        () = script.waiting.notified() => {}
    }
    // Nothing else is done from now on, so that the time can be moved on.
    tokio::time::pause();
    let wait = |time| tokio::time::sleep(Duration::from_secs(time));
    tokio::select! {
        _ = &mut applying => panic!("it did not wait"),
        () = wait(61) => {}
    }
    assert_eq!(script.stops(), 0);
    // It is told that it runs, and for how long.
    let shown: Vec<u64> = recorder
        .take()
        .into_iter()
        .filter_map(|e| match e {
            Event::ApplyProgress(hook, elapsed) => {
                assert_eq!(hook.address.to_string(), "x_thing.one");
                Some(elapsed.as_secs())
            }
            _ => None,
        })
        .collect();
    assert_eq!(shown, [10, 20, 30, 40, 50, 60]);
    cancel.cancel();
    tokio::select! {
        _ = &mut applying => panic!("it did not wait"),
        () = wait(3600) => {}
    }
    tokio::time::resume();
    assert_eq!(script.stops(), 1, "once, however long it waits");
    let told = recorder.take();
    let more = told
        .iter()
        .filter(|e| matches!(e, Event::ApplyProgress(..)))
        .count();
    assert!(more >= 350, "{more}: an hour of it");
    // nothing more is begun
    assert!(!guard(&script.calls).iter().any(|c| c == "Create two"));
    // The second request ends the process: the journal has what was begun.
    drop(applying);
    drop(session);
    let (view, _) = formwork_ops::read_state(&stand.session())
        .await
        .expect("readable");
    let open: Vec<String> = view.pending.iter().map(|p| p.begun.describe()).collect();
    assert_eq!(open, ["create of x_thing.one"]);
}

#[tokio::test]
async fn a_provider_that_heeds_the_request_to_stop_ends_the_run() {
    for (verb, left) in [(Verb::Create, 0), (Verb::Update, 2), (Verb::Delete, 2)] {
        let stand = Stand::new(TWO);
        let mut options = PlanOptions::default();
        if verb != Verb::Create {
            assert!(stand.run().await.complete);
        }
        match verb {
            Verb::Create => {}
            Verb::Update => stand.write(
                r#"
resource "x_thing" "one" {
  name  = "one"
  force = "NOTE"
  note  = "changed"
}
resource "x_thing" "two" {
  name = "two"
  note = "changed"
}
"#,
            ),
            Verb::Delete => options.mode = PlanMode::Destroy,
        }
        stand.script.applies(|_, _| Deed::Waits);
        let session = stand.session();
        let outcome = formwork_ops::plan(&session, &options).await;
        let plan = outcome.plan.expect("a plan");
        let cancel = session.cancel.clone();
        let (applied, ()) =
            tokio::join!(formwork_ops::apply(&session, plan, outcome.held), async {
                stand.script.waiting.notified().await;
                cancel.cancel();
            });
        let said = text(&applied.diagnostics, &applied.sources);
        assert!(applied.interrupted && !applied.complete, "{verb:?}: {said}");
        assert!(said.contains("Stopped [x_thing.one]"), "{verb:?}: {said}");
        assert_eq!(
            stand.objects().len(),
            left,
            "{verb:?}: {:?}",
            stand.objects()
        );
        stand.script.behaves();
        let ran = stand.run_with(&options).await;
        assert!(ran.complete, "{verb:?}: {}", ran.said);
    }
}

#[tokio::test]
async fn planning_that_hangs_is_stopped_as_well() {
    let stand = Stand::new(TWO);
    assert!(stand.run().await.complete);
    stand.script.asked();
    stand.script.read_waits.store(true, Ordering::SeqCst);
    stand.script.reads(|_, mut response| {
        let d = Diagnostic::error("Stopped", "It was told to stop.");
        response.reported = vec![Reported::whole(d)];
        response
    });
    let session = stand.session();
    let cancel = session.cancel.clone();
    let options = PlanOptions::default();
    let (outcome, ()) = tokio::join!(formwork_ops::plan(&session, &options), async {
        stand.script.waiting.notified().await;
        cancel.cancel();
    });
    let said = text(&outcome.diagnostics, outcome.sources());
    assert!(outcome.plan.is_none_or(|p| p.errored), "{said}");
    assert!(said.contains("Stopped [x_thing.one]"), "{said}");
    assert_eq!(stand.script.stops(), 1);
    if let Some(held) = outcome.held {
        let _ = held.release(&session).await;
    }
    stand.script.read_waits.store(false, Ordering::SeqCst);
    stand.script.behaves();
    assert!(stand.run().await.changes.is_empty());
}

#[tokio::test(start_paused = true)]
async fn planning_that_heeds_nothing_is_left() {
    let stand = Stand::new(TWO);
    assert!(stand.run().await.complete);
    let before = stand.state();
    stand.script.asked();
    stand.script.reading_hangs.store(true, Ordering::SeqCst);
    let session = stand.session();
    let cancel = session.cancel.clone();
    let options = PlanOptions::default();
    let (outcome, ()) = tokio::join!(formwork_ops::plan(&session, &options), async {
        stand.script.waiting.notified().await;
        cancel.cancel();
    });
    let said = text(&outcome.diagnostics, outcome.sources());
    assert!(outcome.plan.is_none_or(|p| p.errored), "{said}");
    assert!(said.contains("Error Planning was interrupted"), "{said}");
    assert_eq!(stand.script.stops(), 1);
    if let Some(held) = outcome.held {
        let _ = held.release(&session).await;
    }
    assert_eq!(stand.state(), before);
    stand.script.reading_hangs.store(false, Ordering::SeqCst);
    assert!(stand.run().await.changes.is_empty());
}
