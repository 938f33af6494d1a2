use super::*;
use crate::explain::explain;
use formwork_environment::{Environment, Fixed};
use formwork_state::{
    JournalStore, LockError, LockInfo, Sleeper, SnapshotStore, StateLock, StateStores, lock_within,
};
use futures::executor::block_on;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

fn environment(working: &Path) -> Environment {
    let fixed = Arc::new(Fixed::new(1_000, 7));
    Environment {
        variables: Default::default(),
        home: None,
        working: working.to_owned(),
        temporary: working.to_owned(),
        who: "u@h".to_owned(),
        process: 7,
        clock: fixed.clone(),
        randomness: fixed,
    }
}

fn store(dir: &tempfile::TempDir) -> LocalStore {
    LocalStore::new(
        &environment(dir.path()),
        Path::new("terraform.tfstate"),
        Backup::Beside,
    )
}

fn info(id: &str) -> LockInfo {
    LockInfo {
        id: id.to_owned(),
        operation: "OperationTypeApply".to_owned(),
        who: "u@h".to_owned(),
        path: "terraform.tfstate".to_owned(),
        ..LockInfo::default()
    }
}

fn names(dir: &tempfile::TempDir) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(dir.path())
        .expect("readable")
        .map(|e| e.expect("entry").file_name().into_string().expect("text"))
        .collect();
    names.sort();
    names
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).expect("there").permissions().mode() & 0o777
}

fn holder(answer: Result<(), LockError>) -> String {
    match answer {
        Err(LockError::Held { holder, .. }) => holder.map_or("?".to_owned(), |h| h.id.clone()),
        other => panic!("{other:?}"),
    }
}

#[test]
fn snapshots_are_replaced_as_a_whole_and_private() {
    let dir = tempfile::tempdir().expect("a directory");
    let one = store(&dir);
    assert_eq!(block_on(one.read_snapshot()).expect("readable"), None);
    block_on(one.write_snapshot(b"first")).expect("written");
    block_on(one.write_snapshot(b"second")).expect("written");
    assert_eq!(
        names(&dir),
        ["terraform.tfstate"],
        "there was nothing to back up"
    );
    assert_eq!(mode(one.path()), 0o600);
    let two = store(&dir);
    block_on(two.write_snapshot(b"third")).expect("written");
    block_on(two.write_snapshot(b"fourth")).expect("written");
    assert_eq!(
        names(&dir),
        ["terraform.tfstate", "terraform.tfstate.backup"]
    );
    let backup = dir.path().join("terraform.tfstate.backup");
    assert_eq!(
        fs::read(&backup).expect("there"),
        b"second",
        "as the run found it"
    );
    assert_eq!(mode(&backup), 0o600);
    let read = block_on(two.read_snapshot()).expect("readable");
    assert_eq!(read.as_deref(), Some(&b"fourth"[..]));
}

/// A state that is everybody's to read, as Terraform under a common umask leaves it, and what else may have
/// been left beside it, becomes its owner's, also behind a link.
#[test]
fn what_others_could_read_becomes_private() {
    for (linked, locked) in [(false, false), (false, true), (true, false), (true, true)] {
        let dir = tempfile::tempdir().expect("a directory");
        let elsewhere = tempfile::tempdir().expect("a directory");
        let one = store(&dir);
        let state = if linked {
            let state = elsewhere.path().join("state");
            std::os::unix::fs::symlink(&state, dir.path().join("terraform.tfstate"))
                .expect("linked");
            state
        } else {
            dir.path().join("terraform.tfstate")
        };
        let left = |path: &Path, text: &str| {
            fs::write(path, text).expect("written");
            fs::set_permissions(path, fs::Permissions::from_mode(0o644)).expect("allowed");
        };
        left(&state, "old");
        let one = if linked { store(&dir) } else { one };
        left(one.journal_path(), "");
        let backup = one.path().with_file_name(format!(
            "{}.backup",
            one.path().file_name().expect("a name").to_string_lossy()
        ));
        left(&backup, "older");
        if locked {
            block_on(one.lock(&info("one"))).expect("free");
        }
        block_on(one.append_journal(b"entry\n".to_vec())).expect("written");
        block_on(one.write_snapshot(b"new")).expect("written");
        let what = format!("linked: {linked}, locked: {locked}");
        assert_eq!(fs::read(&state).expect("there"), b"new", "{what}");
        for path in [state.as_path(), one.journal_path(), &backup] {
            assert_eq!(mode(path), 0o600, "{what}: {path:?}");
        }
        if locked {
            block_on(one.unlock("one")).expect("released");
        }
    }
}

#[test]
fn a_lock_excludes_others_also_after_a_write() {
    let dir = tempfile::tempdir().expect("a directory");
    let (one, two) = (store(&dir), store(&dir));
    block_on(one.lock(&info("one"))).expect("free");
    assert_eq!(
        names(&dir),
        [".terraform.tfstate.lock.info", "terraform.tfstate"]
    );
    assert_eq!(mode(one.path()), 0o600);
    assert_eq!(
        block_on(one.read_snapshot()).expect("readable"),
        None,
        "an empty file"
    );
    assert_eq!(holder(block_on(two.lock(&info("two")))), "one");
    assert_eq!(holder(block_on(one.lock(&info("again")))), "one");
    let before = fs::OpenOptions::new()
        .write(true)
        .open(one.path())
        .expect("there");
    block_on(one.write_snapshot(b"new")).expect("written");
    assert_eq!(holder(block_on(two.lock(&info("two")))), "one");
    assert!(
        !file_lock::try_lock(&before).expect("tried"),
        "who opened the file before it was replaced does not get it either"
    );
    assert!(block_on(one.unlock("other")).is_err());
    block_on(one.unlock("one")).expect("held");
    assert_eq!(names(&dir), ["terraform.tfstate"]);
    block_on(two.lock(&info("two"))).expect("free");
    let read = block_on(two.read_snapshot()).expect("readable");
    assert_eq!(read.as_deref(), Some(&b"new"[..]));
    drop(two);
    block_on(one.lock(&info("one"))).expect("the holder is gone, whatever it left");
}

#[test]
fn a_state_that_was_replaced_under_the_lock_is_not_overwritten() {
    let dir = tempfile::tempdir().expect("a directory");
    let path = dir.path().join("terraform.tfstate");
    let one = store(&dir);
    block_on(one.write_snapshot(b"one")).expect("written");
    block_on(one.lock(&info("x"))).expect("locked");
    fs::write(dir.path().join("other"), "other").expect("written");
    fs::rename(dir.path().join("other"), &path).expect("renamed");
    let said = block_on(one.write_snapshot(b"two")).expect_err("the lock is lost");
    let said = said.iter().next().expect("one").clone();
    assert_eq!(said.summary, "State lock lost");
    assert_eq!(fs::read(&path).expect("readable"), b"other");
    // what is gone has nobody's work in it
    fs::remove_file(&path).expect("removed");
    block_on(one.write_snapshot(b"three")).expect("written");
    assert_eq!(fs::read(&path).expect("readable"), b"three");
}

#[test]
fn a_state_that_was_made_to_be_locked_goes_again() {
    let dir = tempfile::tempdir().expect("a directory");
    let one = store(&dir);
    block_on(one.lock(&info("one"))).expect("free");
    block_on(one.unlock("one")).expect("held");
    assert!(names(&dir).is_empty());
    // one that somebody else left empty stays
    fs::write(one.path(), b"").expect("written");
    block_on(one.lock(&info("one"))).expect("free");
    block_on(one.unlock("one")).expect("held");
    assert_eq!(names(&dir), ["terraform.tfstate"]);
}

#[test]
fn the_lock_is_the_one_that_terraform_takes() {
    // Terraform: fcntl F_SETLK, exclusive, over the whole file
    let dir = tempfile::tempdir().expect("a directory");
    let one = store(&dir);
    let theirs = |file: &fs::File, kind: nix::libc::c_int| {
        let lock = nix::libc::flock {
            l_type: kind as nix::libc::c_short,
            l_whence: nix::libc::SEEK_SET as nix::libc::c_short,
            l_start: 0,
            l_len: 0,
            l_pid: 0,
        };
        nix::fcntl::fcntl(file, nix::fcntl::FcntlArg::F_SETLK(&lock)).is_ok()
    };
    let open = || {
        fs::OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(one.path())
            .expect("opened")
    };
    let file = open();
    assert!(theirs(&file, nix::libc::F_WRLCK));
    fs::write(
        dir.path().join(".terraform.tfstate.lock.info"),
        info("theirs").to_json(),
    )
    .expect("written");
    assert_eq!(holder(block_on(one.lock(&info("one")))), "theirs");
    assert!(theirs(&file, nix::libc::F_UNLCK));
    block_on(one.lock(&info("one"))).expect("free");
    assert!(!theirs(&file, nix::libc::F_WRLCK));
    block_on(one.write_snapshot(b"new")).expect("written");
    let (new, old) = (open(), file);
    assert!(!theirs(&new, nix::libc::F_WRLCK));
    assert!(!theirs(&old, nix::libc::F_WRLCK));
    block_on(one.unlock("one")).expect("held");
    assert!(theirs(&new, nix::libc::F_WRLCK));
}

struct Releasing {
    store: LocalStore,
    pauses: AtomicU32,
}

#[async_trait::async_trait]
impl Sleeper for Releasing {
    async fn sleep(&self, time: Duration) {
        assert!(time <= Duration::from_secs(4));
        if self.pauses.fetch_add(1, Ordering::Relaxed) == 2 {
            self.store.unlock("one").await.expect("held");
        }
    }
}

#[test]
fn waiting_for_a_lock() {
    let dir = tempfile::tempdir().expect("a directory");
    let two = store(&dir);
    let other = Releasing {
        store: store(&dir),
        pauses: AtomicU32::new(0),
    };
    block_on(other.store.lock(&info("one"))).expect("free");
    let wait = |seconds| {
        block_on(lock_within(
            &two,
            &info("two"),
            Duration::from_secs(seconds),
            &other,
        ))
    };
    assert_eq!(holder(wait(0)), "one", "without a timeout it is tried once");
    assert_eq!(other.pauses.load(Ordering::Relaxed), 0);
    wait(60).expect("released at the third pause");
    let told = LockError::Held {
        what: "terraform.tfstate".to_owned(),
        holder: Some(Box::new(info("one"))),
    };
    assert_eq!(
        told.into_diagnostics().iter().next().expect("one").detail,
        "The state terraform.tfstate is locked by another run. Two runs that change one state at a \
         time would lose each other's work.\n\nLock Info:\n  ID:        one\n  Path:      \
         terraform.tfstate\n  Operation: OperationTypeApply\n  Who:       u@h\n  Version:   \
         -\n  Created:   -\n  Info:"
    );
}

#[test]
fn journals_are_appended_in_order_and_kept_to_one_process() {
    let dir = tempfile::tempdir().expect("a directory");
    let (one, two) = (store(&dir), store(&dir));
    assert_eq!(block_on(one.read_journal()).expect("readable"), b"");
    assert!(names(&dir).is_empty(), "reading makes nothing");
    block_on(one.replace_journal(b"head\n".to_vec())).expect("written");
    assert_eq!(mode(one.journal_path()), 0o600);
    let appends: Vec<_> = (0..100)
        .map(|i| one.append_journal(format!("{i}\n").into_bytes()))
        .collect();
    // the order is that of the calls, whatever the order of the polls
    for append in appends.into_iter().rev() {
        block_on(append).expect("durable");
    }
    let expected: String = std::iter::once("head\n".to_owned())
        .chain((0..100).map(|i| format!("{i}\n")))
        .collect();
    assert_eq!(
        fs::read_to_string(one.journal_path()).expect("there"),
        expected
    );
    assert!(matches!(
        block_on(two.lock_journal()),
        Err(LockError::Held { .. })
    ));
    let refused = block_on(two.append_journal(b"x".to_vec())).expect_err("held");
    assert!(
        refused
            .iter()
            .next()
            .expect("one")
            .detail
            .contains("is locked by another run")
    );
    assert_eq!(
        block_on(two.read_journal()).expect("anyone may read"),
        expected.as_bytes()
    );
    block_on(one.replace_journal(b"other\n".to_vec())).expect("written");
    assert!(
        block_on(two.lock_journal()).is_err(),
        "the new file is locked too"
    );
    block_on(one.append_journal(b"more\n".to_vec())).expect("durable");
    assert_eq!(
        block_on(one.read_journal()).expect("readable"),
        b"other\nmore\n"
    );
    block_on(one.replace_journal(Vec::new())).expect("removed");
    assert!(names(&dir).is_empty());
    block_on(two.lock_journal()).expect("free");
    block_on(two.unlock_journal());
    assert!(names(&dir).is_empty(), "made only to be locked");

    // who has asked for it keeps it, even while there is nothing in it
    block_on(one.lock_journal()).expect("free");
    block_on(one.replace_journal(b"head\n".to_vec())).expect("written");
    block_on(one.replace_journal(Vec::new())).expect("emptied");
    assert!(block_on(two.replace_journal(b"x\n".to_vec())).is_err());
    assert!(block_on(two.lock_journal()).is_err());
    assert_eq!(block_on(two.read_journal()).expect("readable"), b"");
    block_on(one.unlock_journal());
    assert!(names(&dir).is_empty(), "gone with the lock");
    // what a crash left empty goes too
    fs::write(one.journal_path(), b"").expect("written");
    block_on(two.lock_journal()).expect("free");
    block_on(two.unlock_journal());
    assert!(names(&dir).is_empty());
}

#[test]
fn entries_that_nobody_waits_for_keep_their_order_and_are_written() {
    let dir = tempfile::tempdir().expect("a directory");
    let one = store(&dir);
    let journal = one.journal_path().to_owned();
    let there = || fs::read_to_string(&journal).expect("there");
    block_on(one.replace_journal(b"head\n".to_vec())).expect("written");
    one.queue_journal(b"a\n".to_vec()).expect("queued");
    one.queue_journal(b"b\n".to_vec()).expect("queued");
    block_on(one.append_journal(b"c\n".to_vec())).expect("durable");
    assert_eq!(there(), "head\na\nb\nc\n", "before what is waited for");
    one.queue_journal(b"d\n".to_vec()).expect("queued");
    assert_eq!(
        block_on(one.read_journal()).expect("readable"),
        b"head\na\nb\nc\nd\n",
        "before whatever is asked for next"
    );
    one.queue_journal(b"e\n".to_vec()).expect("queued");
    while !there().ends_with("e\n") {
        // in its own time, though nothing more is asked for
        std::thread::yield_now();
    }
    one.queue_journal(b"f\n".to_vec()).expect("queued");
    block_on(one.append_journal(Vec::new())).expect("durable");
    assert!(there().ends_with("e\nf\n"), "all is waited for");
    one.queue_journal(b"g\n".to_vec()).expect("queued");
    drop(one);
    assert!(there().ends_with("f\ng\n"), "also at the end");
}

#[test]
fn what_a_crash_left_is_removed() {
    let dir = tempfile::tempdir().expect("a directory");
    for name in [
        ".terraform.tfstate.99.formwork-new",
        ".terraform.tfstate.journal.99.formwork-new",
        ".terraform.tfstate.x.formwork-new",
    ] {
        fs::write(dir.path().join(name), b"secret").expect("written");
    }
    let one = store(&dir);
    block_on(one.lock(&info("one"))).expect("free");
    block_on(one.replace_journal(b"head\n".to_vec())).expect("written");
    block_on(one.replace_journal(Vec::new())).expect("removed");
    block_on(one.unlock("one")).expect("held");
    assert_eq!(
        names(&dir),
        [".terraform.tfstate.x.formwork-new"],
        "not ours"
    );
}

#[test]
fn a_link_to_the_state_stays_a_link() {
    let dir = tempfile::tempdir().expect("a directory");
    fs::create_dir(dir.path().join("real")).expect("made");
    let link = dir.path().join("terraform.tfstate");
    symlink("real/state", &link).expect("linked");
    let one = store(&dir);
    block_on(one.write_snapshot(b"new")).expect("written");
    assert!(fs::symlink_metadata(&link).expect("there").is_symlink());
    assert_eq!(
        fs::read(dir.path().join("real/state")).expect("there"),
        b"new"
    );
    assert_eq!(one.describe(), "terraform.tfstate");
}

#[test]
fn errors_say_what_to_do() {
    let dir = tempfile::tempdir().expect("a directory");
    fs::write(dir.path().join("file"), b"").expect("written");
    let at = |path: &str| LocalStore::new(&environment(dir.path()), Path::new(path), Backup::None);
    let below_a_file = at("file/terraform.tfstate");
    let all: &dyn StateStores = &below_a_file;
    let error = block_on(all.write_snapshot(b"x")).expect_err("no directory");
    let d = error.iter().next().expect("one");
    assert_eq!(d.summary, "Failed to write the state");
    assert!(
        d.detail.contains("/file/terraform.tfstate failed: "),
        "{}",
        d.detail
    );
    assert!(matches!(
        block_on(all.lock(&info("x"))),
        Err(LockError::Failed(_))
    ));
    assert!(block_on(all.append_journal(b"x".to_vec())).is_err());
    assert!(block_on(at(".").read_snapshot()).is_err());
    let full = explain(
        "Failed to write the journal",
        "Appending to",
        Path::new("a.journal"),
        &std::io::ErrorKind::StorageFull.into(),
    );
    assert_eq!(
        full.detail,
        "Appending to a.journal failed: the disk is full."
    );
    assert!(full.hints[0].starts_with("Free some space"));
}
