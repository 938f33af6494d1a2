//! Locks that are lost while a run works.
//!
//! In a bucket the lock is an object that nobody enforces: it is removed in the middle of an apply, and
//! somebody else's put in its place, or another apply begins at once. In a file the lock belongs to the
//! process; what may be lost is the file, when somebody puts another one in its place.
//!
//! Each time the run ends with exit 1 and says that its lock is lost; nothing of another's is
//! overwritten; and the next run ends with state and cloud in agreement, nothing made twice, nothing
//! deleted, and an empty plan.

use crate::lab::{BACKEND, Lab};
use crate::points::{Shape, Stage};
use crate::truth::{self, Cloud};
use crate::{APPLY, PLAN};
use formwork_testkit::{Scenario, until};

/// What becomes of the lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fate {
    /// Its object is removed.
    Removed,
    /// Another tool takes it.
    Taken,
    /// Another apply begins and takes it.
    Used,
    /// Another state file is put in the locked one's place.
    Replaced,
    /// The message beside the locked file is removed; the lock is not.
    MessageRemoved,
}

const LOCK: &str = "lab%2Fdefault.tflock";

/// One apply that loses its lock after so many requests to the cloud.
fn check(fate: Fate, requests: usize) {
    let what = format!("{fate:?} after {requests} requests");
    let in_bucket = matches!(fate, Fate::Removed | Fate::Taken | Fate::Used);
    let mut lab = Lab::new(&Scenario::new().taking(100, 300), "root", |_| {});
    lab.in_bucket = in_bucket;
    let write = |stage| {
        let mut text = Shape { each: 3, stage }.text();
        if in_bucket {
            text.push_str(BACKEND);
        }
        lab.env.write("root/main.tf", text);
    };
    write(Stage::Made);
    if !in_bucket {
        // something to put another file in the place of
        lab.run(&APPLY).exits(0);
        write(Stage::Updated);
    }
    let before = Cloud::of(&lab).objects;
    let logged = lab.log().len();
    let mut first = lab.start(&APPLY);
    let object = format!("{}/{LOCK}", crate::lab::OBJECTS);
    until("the run works", || match in_bucket {
        // the requests for objects of its state, its lock and its journal are not the run's work
        true => lab.worked(logged) >= requests,
        false => lab.log_lines() >= logged + requests,
    });
    // another tool has written what it knows
    let mut theirs = lab.state_bytes();
    theirs.push(b'\n');
    match fate {
        Fate::Removed | Fate::Taken | Fate::Used => {
            let (status, _) = lab.ask("DELETE", &object, "");
            assert!([200, 204].contains(&status), "{what}: {status}");
        }
        Fate::Replaced => {
            let other = lab.state().with_file_name("other");
            std::fs::write(&other, &theirs).expect("written");
            std::fs::rename(&other, lab.state()).expect("renamed");
        }
        Fate::MessageRemoved => {
            let message = lab.state().with_file_name(".terraform.tfstate.lock.info");
            std::fs::remove_file(message).expect("it was there");
        }
    }
    if fate == Fate::Taken {
        let upload = "/upload/storage/v1/b/lab-states/o?uploadType=media&ifGenerationMatch=0&name="
            .to_owned()
            + LOCK;
        lab.outside("POST", &upload, r#"{"ID": "x", "Operation": "OperationTypeApply", "Who": "them@there", "Version": "1.11.4", "Created": "2026-01-01T00:00:00Z", "Path": ""}"#);
    }
    let mut second = (fate == Fate::Used).then(|| lab.run(&APPLY));
    let code = first.wait().expect("it ends").code();
    let told = lab.env.started_output();
    let flat: Vec<&str> = told.split_whitespace().collect();
    let flat = flat.join(" ");
    if fate == Fate::MessageRemoved {
        assert_eq!(code, Some(0), "{what}: {told}");
    } else {
        assert_eq!(code, Some(1), "{what}: {told}");
        let says = flat.contains("State lock lost")
            || fate == Fate::Used && flat.contains("Another run has written");
        assert!(says, "{what}: {told}");
    }
    match fate {
        Fate::Taken => {
            // theirs still stands there, and keeps us out
            lab.run(&APPLY)
                .exits(1)
                .says(&["Error acquiring the state lock", "them@there"]);
            let (status, _) = lab.ask("DELETE", &object, "");
            assert!([200, 204].contains(&status), "{what}: {status}");
        }
        Fate::Used => {
            // whether it has met what the first was about to make is a matter of moments
            let second = second.take().expect("it has run");
            assert!([0, 1].contains(&second.code), "{what}: {}", second.text());
        }
        Fate::Replaced => {
            assert_eq!(lab.state_bytes(), theirs, "{what}");
        }
        Fate::Removed | Fate::MessageRemoved => {}
    }
    lab.run(&APPLY).exits(0);
    let (cloud, _) = truth::check_agreement(&lab, &what);
    for (link, birth) in &before {
        assert_eq!(cloud.objects.get(link), Some(birth), "{what}: {link}");
    }
    let log = lab.log().split_off(logged);
    let twice = truth::made_twice(&log);
    assert!(twice.is_empty(), "{what}: made more than once: {twice:#?}");
    let deleted = truth::deleted(&log);
    assert!(deleted.is_empty(), "{what}: deleted: {deleted:#?}");
    lab.run(&PLAN).exits(0);
}

#[test]
fn a_lock_in_a_bucket_that_is_removed() {
    for requests in [2, 8, 15] {
        check(Fate::Removed, requests);
    }
}

#[test]
fn a_lock_in_a_bucket_that_another_tool_takes() {
    check(Fate::Taken, 3);
}

#[test]
fn a_lock_in_a_bucket_that_another_run_takes() {
    for requests in [1, 3, 6, 10] {
        check(Fate::Used, requests);
    }
}

#[test]
fn a_locked_file_that_is_replaced() {
    check(Fate::Replaced, 4);
}

#[test]
fn a_locks_message_that_is_removed() {
    check(Fate::MessageRemoved, 4);
}
