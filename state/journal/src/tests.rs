use super::*;
use formwork_addresses::AbsProviderConfig;
use formwork_state::{RawJson, ResourceInstanceObject, Snapshot, State, v4};
use proptest::prelude::*;
use std::sync::Arc;

fn provider() -> AbsProviderConfig {
    "provider[\"terraform.io/builtin/terraform\"]"
        .parse()
        .expect("valid")
}

fn object(id: &str) -> Arc<ResourceInstanceObject> {
    let json = RawJson::parse(&format!("{{\"id\":\"{id}\",\"n\":12345678901234567890.5}}"));
    let mut o = ResourceInstanceObject::new(1, json.expect("valid"));
    o.private = Some(Arc::from(&b"private"[..]));
    Arc::new(o)
}

fn begun(id: u64, action: OperationAction, address: &str) -> Begun {
    let mut b = Begun::new(
        OperationId(id),
        action,
        address.parse().expect("valid"),
        provider(),
    );
    b.planned = Some(Arc::from(&b"\x80\xd4\x00\x00"[..]));
    b.dependencies = Arc::from(["a.b".parse().expect("valid")]);
    b
}

/// A short notation: `+1 a.b` creates, `~` updates, `-` deletes, `=` reads, `p` provisions,
/// `f` forgets, `+1 a.b^0badcafe` deposes first, `-1 a.b@0badcafe` works on the deposed object;
/// `n1` notes, `s1 ID` or `s1` succeeds, `x1 ID` or `x1` fails, `d1 ID` or `d1` is settled as done,
/// `u1` as not done.
fn entry(text: &str) -> JournalEntry {
    let (head, rest) = text.split_once(' ').unwrap_or((text, ""));
    let (mark, number) = head.split_at(1);
    let id = OperationId(number.parse().expect("a number"));
    let made = (!rest.is_empty()).then(|| object(rest));
    let action = match mark {
        "+" => OperationAction::Create,
        "~" => OperationAction::Update,
        "-" => OperationAction::Delete,
        "=" => OperationAction::Read,
        "p" => OperationAction::Provision,
        "f" => OperationAction::Forget,
        "n" => {
            return JournalEntry::Noted {
                id,
                note: Arc::from(&b"GET it"[..]),
            };
        }
        "s" => return JournalEntry::Succeeded { id, object: made },
        "x" => {
            return JournalEntry::Failed {
                id,
                object: made,
                reason: "no".to_owned(),
            };
        }
        "d" => {
            return JournalEntry::Settled {
                id,
                resolution: Resolution::Done(made),
            };
        }
        "u" => {
            return JournalEntry::Settled {
                id,
                resolution: Resolution::NotDone,
            };
        }
        _ => panic!("{text}"),
    };
    let (address, deposes) = rest
        .split_once('^')
        .map_or((rest, None), |(a, d)| (a, Some(d)));
    let (address, deposed) = address
        .split_once('@')
        .map_or((address, None), |(a, d)| (a, Some(d)));
    let mut b = begun(id.0, action, address);
    b.deposes = deposes.map(|d| d.parse().expect("valid"));
    b.deposed = deposed.map(|d| d.parse().expect("valid"));
    if !matches!(action, OperationAction::Create | OperationAction::Read) {
        b.prior = Some(object("old"));
    }
    JournalEntry::Begun(Box::new(b))
}

fn entries(text: &str) -> Vec<JournalEntry> {
    text.split(", ")
        .filter(|t| !t.is_empty())
        .map(entry)
        .collect()
}

/// `a.b=1` has the object of id 1 at a.b.
fn state(text: &str) -> State {
    let mut state = State::new();
    for part in text.split(", ").filter(|t| !t.is_empty()) {
        let (address, id) = part.split_once('=').expect("address=id");
        match address.split_once('@') {
            None => state.set_object(&address.parse().expect("valid"), &provider(), object(id)),
            Some((a, d)) => state.set_deposed(
                &a.parse().expect("valid"),
                &d.parse().expect("valid"),
                &provider(),
                object(id),
            ),
        }
    }
    state
}

fn show(state: &State) -> String {
    let mut out = Vec::new();
    let one = |o: &ResourceInstanceObject| {
        let json: serde_json::Value =
            serde_json::from_str(o.attributes_json().expect("JSON").get()).expect("JSON");
        let taint = if o.is_tainted() { "!" } else { "" };
        format!("{}{taint}", json["id"].as_str().expect("text"))
    };
    for (address, instance) in state.instances() {
        out.extend(
            instance
                .current
                .iter()
                .map(|o| format!("{address}={}", one(o))),
        );
        out.extend(
            instance
                .deposed
                .iter()
                .map(|(k, o)| format!("{address}@{k}={}", one(o))),
        );
    }
    out.join(", ")
}

fn snapshot(state: State, serial: u64) -> (Snapshot, Vec<u8>) {
    let mut snapshot = Snapshot::new("lineage", "1.12.2");
    snapshot.serial = serial;
    snapshot.state = state;
    let bytes = v4::write(&snapshot);
    (snapshot, bytes)
}

fn head(serial: u64, bytes: Option<&[u8]>) -> Head {
    Head {
        lineage: "lineage".to_owned(),
        serial,
        snapshot: bytes.map(SnapshotHash::of),
        cloud: None,
        next: OperationId(1),
    }
}

fn encode(head: &Head, entries: &[JournalEntry]) -> Vec<u8> {
    let (mut encoder, mut bytes) = Encoder::begin(head);
    for e in entries {
        bytes.extend(encoder.line(e));
    }
    bytes
}

fn pending_text(pending: &[PendingOperation]) -> String {
    let all: Vec<String> = pending
        .iter()
        .map(|p| {
            let found = p.begun.found.as_ref().map_or("", |_| " found");
            format!("{}{found}", p.begun.describe())
        })
        .collect();
    all.join(", ")
}

/// Replays `text` onto `before`, the journal extending exactly this.
fn check(before: &str, text: &str, after: &str, pending: &str) {
    let (snapshot, bytes) = snapshot(state(before), 3);
    let encoded = encode(&head(3, Some(&bytes)), &entries(text));
    let journal = decode(&encoded, "x.journal").expect(text).expect("a head");
    assert_eq!(journal.entries, entries(text), "round trip of {text}");
    assert_eq!(journal.torn, 0);
    let replayed = replay(Some((&snapshot, SnapshotHash::of(&bytes))), Some(&journal))
        .unwrap_or_else(|d| panic!("{text}: {d:?}"));
    assert_eq!(replayed.relation, Some(Relation::Extends));
    assert_eq!(show(&replayed.state), after, "{text}");
    assert_eq!(pending_text(&replayed.pending), pending, "{text}");
}

#[test]
fn entries_change_the_state() {
    check("", "", "", "");
    check("", "+1 a.b, n1, n1, s1 new", "a.b=new", "");
    check("", "+1 a.b", "", "create of a.b");
    check("", "+1 a.b, n1", "", "create of a.b");
    check("", "+1 a.b, x1", "", "");
    check("", "+1 a.b, x1 half", "a.b=half", "");
    check("a.b=old", "~1 a.b, s1 new", "a.b=new", "");
    check("a.b=old", "~1 a.b, n1", "a.b=old", "update of a.b");
    check("a.b=old", "~1 a.b, x1", "a.b=old", "");
    check("a.b=old", "-1 a.b, s1", "", "");
    check("a.b=old", "-1 a.b, x1 old", "a.b=old", "");
    check("a.b=old", "f1 a.b, s1", "", "");
    check("a.b=old", "f1 a.b", "a.b=old", "");
    check("", "=1 data.a.b", "", "");
    check("", "=1 data.a.b, s1 new", "data.a.b=new", "");
    check("", "+1 a.b, s1 new, p2 a.b", "a.b=new!", "");
    check("", "+1 a.b, s1 new, p2 a.b, s2 new", "a.b=new", "");
    check("", "+1 a.b, n1, d1 new", "a.b=new", "");
    check("", "+1 a.b, u1", "", "");
    check("a.b=old", "-1 a.b, n1, d1", "", "");
}

#[test]
fn replacements_created_first() {
    let key = "0badcafe";
    check(
        "a.b=old",
        "+1 a.b^0badcafe",
        &format!("a.b@{key}=old"),
        "create of a.b",
    );
    check("a.b=old", "+1 a.b^0badcafe, x1", "a.b=old", "");
    check("a.b=old", "+1 a.b^0badcafe, n1, u1", "a.b=old", "");
    check(
        "a.b=old",
        "+1 a.b^0badcafe, s1 new",
        &format!("a.b=new, a.b@{key}=old"),
        "",
    );
    check(
        "a.b=old",
        "+1 a.b^0badcafe, s1 new, -2 a.b@0badcafe, s2",
        "a.b=new",
        "",
    );
    check(
        "a.b=old",
        "+1 a.b^0badcafe, s1 new, -2 a.b@0badcafe, n2",
        &format!("a.b=new, a.b@{key}=old"),
        "delete of a.b (deposed 0badcafe)",
    );
}

#[test]
fn illegal_moves_are_refused() {
    for (text, reason) in [
        ("s1", "operation 1: it was never begun"),
        ("+1 a.b, +1 a.c", "operation 1: it was begun already"),
        ("+1 a.b, s1, n1", "operation 1: it has ended already"),
        ("+2 a.b, +1 a.c", "operation 1: it has ended already"),
        (
            "+1 a.b, ~2 a.b",
            "operation 2: operation 1 on the same object has not ended",
        ),
        (
            "+1 a.b^0badcafe",
            "operation 1: a.b has no object that could be deposed as 0badcafe",
        ),
    ] {
        let mut ledger = Ledger::new(State::new(), OperationId(1));
        let all = entries(text);
        let (last, before) = all.split_last().expect("some");
        for e in before {
            ledger.record(e).expect(text);
        }
        let state = ledger.state().clone();
        let error = ledger.record(last).expect_err(text);
        assert_eq!(error.to_string(), reason, "{text}");
        assert_eq!(ledger.state(), &state);
    }
    use Phase::{Begun, Failed, Noted, Settled, Succeeded};
    let all = [Begun, Noted, Succeeded, Failed, Settled];
    let mut legal = String::new();
    for before in [None].into_iter().chain(all.map(Some)) {
        for after in all.into_iter().filter(|a| a.may_follow(before)) {
            legal += &format!("{before:?}>{after:?} ")
                .replace("Some(", "")
                .replace(')', "");
        }
    }
    assert_eq!(
        legal,
        "None>Begun Begun>Noted Begun>Succeeded Begun>Failed Begun>Settled \
         Noted>Noted Noted>Succeeded Noted>Failed Noted>Settled "
    );
}

/// The journal extends serial 3 of `before`; the state is now serial 4 of `now`.
fn check_stale(before: &str, text: &str, now: &str, pending: &str) {
    let old = snapshot(state(before), 3).1;
    let encoded = encode(&head(3, Some(&old)), &entries(text));
    let journal = decode(&encoded, "x.journal").expect(text).expect("a head");
    let (snapshot, bytes) = snapshot(state(now), 4);
    let replayed = replay(Some((&snapshot, SnapshotHash::of(&bytes))), Some(&journal))
        .unwrap_or_else(|d| panic!("{text}: {d:?}"));
    assert_eq!(replayed.relation, Some(Relation::Stale));
    assert_eq!(show(&replayed.state), now, "nothing is replayed");
    assert_eq!(pending_text(&replayed.pending), pending, "{text}");
    // what is pending can be carried over to a journal of the new state, and is still pending there
    let (recorder, bytes) = Recorder::begin(
        &Head {
            next: replayed.next,
            ..head(4, Some(&bytes))
        },
        snapshot.state.clone(),
        &replayed.pending,
    )
    .expect(text);
    let again = decode(&bytes, "x.journal").expect(text).expect("a head");
    assert_eq!(recorder.next_id(), replayed.next);
    let hash = SnapshotHash::of(&v4::write(&snapshot));
    let carried = replay(Some((&snapshot, hash)), Some(&again)).expect(text);
    assert_eq!(pending_text(&carried.pending), pending);
    assert_eq!(carried.pending, replayed.pending);
}

#[test]
fn a_journal_of_an_older_state_is_not_replayed_and_loses_nothing() {
    check_stale("", "+1 a.b, s1 new", "", "create of a.b found");
    check_stale("", "+1 a.b, s1 new", "a.b=new", "");
    check_stale("", "+1 a.b, s1 new", "a.b=other", "create of a.b found");
    check_stale("", "+1 a.b, n1", "", "create of a.b");
    check_stale("", "+1 a.b, n1", "a.b=other", "create of a.b");
    check_stale("a.b=old", "-1 a.b, n1", "a.b=other", "delete of a.b");
    check_stale("", "+1 a.b, s1 new, -2 a.b, s2", "", "");
    check_stale("a.b=old", "~1 a.b, s1 old", "a.b=old", "");
    check_stale("a.b=old", "~1 a.b, n1", "a.b=old", "");
    check_stale("a.b=old", "~1 a.b, n1", "", "update of a.b");
    check_stale("a.b=old", "-1 a.b, n1", "a.b=old", "");
    check_stale("a.b=old", "-1 a.b, s1", "a.b=old", "");
    check_stale(
        "a.b=old",
        "+1 a.b^0badcafe, s1 new",
        "a.b=old",
        "create of a.b found",
    );
    check_stale(
        "a.b=old",
        "+1 a.b^0badcafe, s1 new",
        "a.b=new, a.b@0badcafe=old",
        "",
    );
    check_stale("", "=1 data.a.b, s1 new", "", "");
    // what would have been deposed is gone
    check_stale("a.b=old", "+1 a.b^0badcafe, n1", "", "create of a.b");
    check_stale(
        "a.b=old",
        "+1 a.b^0badcafe, s1 new",
        "",
        "create of a.b found",
    );
    // one operation on an object, and every object is told of
    check_stale("", "+1 a.b, s1 new, ~2 a.b, n2", "", "update of a.b found");
    check_stale("", "+1 a.b, s1 new, -2 a.b, n2", "", "delete of a.b found");
    for now in ["", "a.b=other"] {
        let both = "create of a.b (deposed 0badcafe) found, create of a.b";
        check_stale("", "+1 a.b, s1 new, +2 a.b^0badcafe, n2", now, both);
        check_stale(
            "",
            "+1 a.b, s1 new, +2 a.b^0badcafe, s2 newer",
            now,
            &format!("{both} found"),
        );
    }
    check_stale(
        "",
        "+1 a.b, s1 new, +2 a.b^0badcafe, s2 newer, -3 a.b@0badcafe, n3",
        "",
        "create of a.b found, delete of a.b (deposed 0badcafe) found",
    );
}

/// The state is `now`, the journal extends an older one; the operations that it left are settled one
/// after another by `words`.
fn check_settled(text: &str, now: &str, words: &str, after: &str) {
    let old = snapshot(State::new(), 3).1;
    let encoded = encode(&head(3, Some(&old)), &entries(text));
    let journal = decode(&encoded, "x.journal").expect(text).expect("a head");
    let (snapshot, bytes) = snapshot(state(now), 4);
    let hash = SnapshotHash::of(&bytes);
    let replayed = replay(Some((&snapshot, hash)), Some(&journal)).expect(text);
    let head = Head {
        next: replayed.next,
        ..head(4, Some(&bytes))
    };
    let begun = Recorder::begin(&head, snapshot.state, &replayed.pending);
    let mut recorder = begun.expect(text).0;
    for word in entries(words) {
        recorder.record(&word).expect(words);
    }
    assert_eq!(show(recorder.ledger().state()), after, "{text}; {words}");
}

#[test]
fn what_is_settled_on_a_newer_state_keeps_every_object() {
    check_settled("+1 a.b, s1 new, ~2 a.b, n2", "", "u2", "a.b=new");
    check_settled("+1 a.b, s1 new, ~2 a.b, n2", "", "d2 new", "a.b=new");
    check_settled("+1 a.b, s1 new, -2 a.b, n2", "", "u2", "a.b=new");
    check_settled("+1 a.b, s1 new, -2 a.b, n2", "", "d2", "");
    check_settled("+1 a.b, s1 new", "", "u1", "");
    // another object has taken the place: it stays, and neither is forgotten
    let both = "a.b=other, a.b@00000000=new";
    for made in ["+1 a.b, s1 new", "+1 a.b, n1"] {
        check_settled(made, "a.b=other", "d1 new", both);
        check_settled(made, "a.b=other", "d1 other", "a.b=other");
        check_settled(made, "a.b=other", "u1", "a.b=other");
    }
    for then in ["~2 a.b, n2", "-2 a.b, n2"] {
        let text = format!("+1 a.b, s1 new, {then}");
        check_settled(&text, "a.b=other", "u2", both);
    }
    check_settled("+1 a.b, s1 new, -2 a.b, n2", "a.b=other", "d2", "a.b=other");
    let two = "+1 a.b, s1 new, +2 a.b^0badcafe, n2";
    check_settled(two, "", "d1 new, u2", "a.b@0badcafe=new");
    check_settled(two, "", "d1 new, d2 newer", "a.b=newer, a.b@0badcafe=new");
    check_settled(
        two,
        "a.b=other",
        "d1 new, d2 newer",
        "a.b=newer, a.b@00000000=other, a.b@0badcafe=new",
    );
    check_settled(
        two,
        "a.b=other",
        "d1 new, u2",
        "a.b=other, a.b@0badcafe=new",
    );
}

#[test]
fn numbers_at_their_end_do_not_break() {
    let mut ledger = Ledger::new(State::new(), OperationId(u64::MAX));
    let begun = format!("+{} a.b", u64::MAX);
    ledger.record(&entry(&begun)).expect("legal");
    assert_eq!(ledger.next_id(), OperationId(u64::MAX));
    let last = Snapshot {
        serial: u64::MAX,
        ..snapshot(State::new(), 1).0
    };
    let after = last.successor(state("a.b=x"), last.other.clone(), "1.12.2");
    assert_eq!(after.expect("changed").serial, u64::MAX);
}

#[test]
fn a_crash_between_snapshot_and_journal_keeps_what_is_pending() {
    // the snapshot was folded, the journal not yet replaced
    check_stale("", "+1 a.b, s1 new, +2 a.c, n2", "a.b=new", "create of a.c");
}

fn check_refused(change: impl FnOnce(&mut Head), with_state: bool, expected: &str) {
    let (snapshot, bytes) = snapshot(state("a.b=old"), 3);
    let mut head = head(3, Some(&bytes));
    change(&mut head);
    let encoded = encode(&head, &entries("+1 a.c, s1 new, +2 a.d, n2"));
    let journal = decode(&encoded, "x.journal")
        .expect("whole")
        .expect("a head");
    let pair = with_state.then_some((&snapshot, SnapshotHash::of(&bytes)));
    let refused = replay(pair, Some(&journal)).expect_err(expected);
    let detail = &refused.iter().next().expect("one").detail;
    assert!(detail.contains(expected), "{detail}");
    assert!(
        detail.ends_with("It holds: create of a.c, create of a.d."),
        "{detail}"
    );
}

#[test]
fn a_journal_of_another_state_is_refused() {
    check_refused(|_| {}, false, "but there is no state");
    check_refused(|h| h.lineage = "other".to_owned(), true, "lineage other");
    check_refused(|h| h.cloud = Some("w".to_owned()), true, "another cloud");
    // before the first snapshot there is none to extend
    let journal = decode(&encode(&head(0, None), &entries("+1 a.b, s1 new")), "x")
        .expect("whole")
        .expect("a head");
    let replayed = replay(None, Some(&journal)).expect("usable");
    assert_eq!(show(&replayed.state), "a.b=new");
    assert_eq!(replayed.next, OperationId(2));
    assert_eq!(replayed.lineage.as_deref(), Some("lineage"));
    // whoever writes the first one meanwhile gives it a lineage of its own
    let (first, bytes) = snapshot(state("a.c=x"), 1);
    let mut alone = head(0, None);
    alone.lineage = "other".to_owned();
    let journal = decode(&encode(&alone, &entries("+1 a.b, s1 new")), "x")
        .expect("whole")
        .expect("a head");
    let hash = SnapshotHash::of(&bytes);
    let replayed = replay(Some((&first, hash)), Some(&journal)).expect("usable");
    assert_eq!(replayed.relation, Some(Relation::Stale));
    assert_eq!(pending_text(&replayed.pending), "create of a.b found");
}

#[test]
fn an_end_that_was_cut_off_never_happened_and_damage_is_refused() {
    let all = entries("+1 a.b, n1, s1 new, +2 a.c, n2");
    let bytes = encode(&head(0, None), &all);
    let ends: Vec<usize> = (0..bytes.len())
        .filter(|i| bytes[*i] == b'\n')
        .map(|i| i + 1)
        .collect();
    for cut in 0..=bytes.len() {
        let whole = ends.iter().filter(|e| **e <= cut).count();
        match decode(&bytes[..cut], "x").expect("no damage") {
            None => assert_eq!(whole, 0),
            Some(journal) => {
                assert_eq!(journal.entries, all[..whole - 1]);
                assert_eq!(journal.torn, cut - ends[whole - 1]);
            }
        }
    }
    // blocks of an append that never reached the disk read as zeros
    let mut zeros = bytes.clone();
    let last = ends[ends.len() - 2];
    zeros[last..].fill(0);
    assert_eq!(
        decode(&zeros, "x").expect("torn").expect("head").entries,
        all[..4]
    );
    for at in 0..ends[ends.len() - 2] {
        let mut flipped = bytes.clone();
        flipped[at] ^= 1;
        let error = decode(&flipped, "x").expect_err("damage is told");
        let detail = &error.iter().next().expect("one").detail;
        assert!(detail.starts_with("Line "), "{detail}");
    }
}

#[test]
fn pending_operations_fit_into_a_snapshot() {
    let (snapshot, bytes) = snapshot(State::new(), 1);
    let journal = decode(
        &encode(
            &head(1, Some(&bytes)),
            &entries("+1 a.b, n1, n1, -2 a.c, +3 a.d, s3 x"),
        ),
        "x",
    )
    .expect("whole")
    .expect("a head");
    let replayed = replay(Some((&snapshot, SnapshotHash::of(&bytes))), Some(&journal)).expect("ok");
    let json = write_pending(&replayed.pending);
    assert_eq!(read_pending(&json).as_ref(), Ok(&replayed.pending));
    assert!(read_pending(&RawJson::null()).is_err());
    assert_eq!(
        format!("{:?}", replayed.pending),
        "[Pending(create of a.b, 2 notes), Pending(delete of a.c, 0 notes)]"
    );
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 200,
        rng_seed: proptest::test_runner::RngSeed::Fixed(20_261_130),
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    /// Whatever a run did and wherever it was cut, the replay is the state at the last whole line, and
    /// what was open then is pending.
    #[test]
    fn replay_is_the_state_of_the_last_whole_line(
        moves in prop::collection::vec((0..6_usize, 0..5_usize), 0..40),
        cut in 0..4_000_usize,
    ) {
        let (snapshot, snapshot_bytes) = snapshot(state("a.i0=old, a.i1=old"), 7);
        let (mut recorder, mut bytes) =
            Recorder::begin(&head(7, Some(&snapshot_bytes)), snapshot.state.clone(), &[]).expect("empty");
        let mut ends = vec![(bytes.len(), recorder.ledger().clone())];
        for (instance, kind) in moves {
            let address = format!("a.i{instance}");
            let open = recorder.ledger().pending().find(|p| p.begun.address.to_string() == address).map(|p| p.begun.clone());
            let there = recorder.ledger().state().object(&address.parse().expect("valid")).is_some();
            let next = recorder.next_id().0;
            let text = match (&open, kind) {
                (None, 0 | 1) if there => format!("-{next} {address}"),
                (None, _) if there => format!("~{next} {address}"),
                (None, _) => format!("+{next} {address}"),
                (Some(b), 0 | 1) => format!("n{}", b.id.0),
                (Some(b), 2) => format!("x{}", b.id.0),
                (Some(b), _) if b.action == OperationAction::Delete => format!("s{}", b.id.0),
                (Some(b), _) => format!("s{} o{}", b.id.0, b.id.0),
            };
            bytes.extend(recorder.record(&entry(&text)).expect("legal"));
            ends.push((bytes.len(), recorder.ledger().clone()));
        }
        let cut = ends[0].0.max(cut.min(bytes.len()));
        let journal = decode(&bytes[..cut], "x").expect("torn at most").expect("a head");
        let replayed = replay(
            Some((&snapshot, SnapshotHash::of(&snapshot_bytes))),
            Some(&journal),
        )
        .expect("extends");
        let (_, at) = ends.iter().rev().find(|(end, _)| *end <= cut).expect("the head");
        prop_assert_eq!(&replayed.state, at.state());
        prop_assert_eq!(replayed.pending, at.pending().cloned().collect::<Vec<_>>());
        prop_assert_eq!(replayed.next, at.next_id());
    }
}
