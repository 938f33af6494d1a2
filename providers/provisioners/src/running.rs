//! Which process groups of ours run, so that none outlives a process that is ended at once.

use rustix::process::{Pid, Signal, kill_process_group};
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};

/// The process groups that run, shared by all provisioners of a process.
#[derive(Clone, Debug, Default)]
pub struct Running(Arc<Mutex<BTreeSet<i32>>>);

impl Running {
    /// Kills all that run. For the end of the process: nothing waits for them.
    pub fn kill_all(&self) {
        for group in std::mem::take(&mut *self.groups()) {
            send(group, Signal::KILL);
        }
    }

    fn groups(&self) -> std::sync::MutexGuard<'_, BTreeSet<i32>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes in a group by the id of its first process.
    pub(crate) fn group(&self, id: u32) -> Option<Group> {
        let id = i32::try_from(id).ok()?;
        self.groups().insert(id);
        Some(Group {
            id,
            running: self.clone(),
            ended: false,
        })
    }
}

/// A group that runs. Dropped before it has ended it is killed.
#[derive(Debug)]
pub(crate) struct Group {
    id: i32,
    running: Running,
    ended: bool,
}

impl Group {
    /// Sends a signal to every process of the group.
    pub(crate) fn signal(&self, signal: Signal) {
        send(self.id, signal);
    }

    /// Says that it has ended by itself: what it has left behind goes on.
    pub(crate) fn ended(mut self) {
        self.ended = true;
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        self.running.groups().remove(&self.id);
        if !self.ended {
            self.signal(Signal::KILL);
        }
    }
}

/// A group that is gone takes no signal, and needs none.
fn send(group: i32, signal: Signal) {
    if let Some(pid) = Pid::from_raw(group) {
        let _ = kill_process_group(pid, signal);
    }
}
