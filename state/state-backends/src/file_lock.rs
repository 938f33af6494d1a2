//! Record locks over a whole file: the only module that differs by platform.
//!
//! Linux has locks of the open file description (F_OFD_SETLK): they conflict with the process-wide
//! locks that Terraform takes, and end when the last descriptor of this opening is closed. Elsewhere
//! there is only the process-wide F_SETLK, which ends as soon as *any* descriptor of the file is closed
//! in this process: whoever holds such a lock must keep the locked descriptor the only one, and read
//! through it.

use nix::errno::Errno;
use nix::fcntl::{FcntlArg, fcntl};
use nix::libc;
use std::fs::File;
use std::io;

/// Tries to lock the whole of `file` for this process alone; false if somebody else has it.
pub(crate) fn try_lock(file: &File) -> io::Result<bool> {
    let whole = whole(libc::F_WRLCK as libc::c_short);
    match fcntl(file, set(&whole)) {
        Ok(_) => Ok(true),
        Err(Errno::EAGAIN | Errno::EACCES) => Ok(false),
        Err(e) => Err(e.into()),
    }
}

/// Gives a lock back. Closing the file is not enough: between a fork and what it executes, a child
/// has the same opening of the file too, and the lock with it.
pub(crate) fn unlock(file: &File) {
    // the constants are small; their integer type differs by platform
    let _ = fcntl(file, set(&whole(libc::F_UNLCK as libc::c_short)));
}

fn whole(kind: libc::c_short) -> libc::flock {
    libc::flock {
        l_type: kind,
        l_whence: libc::SEEK_SET as libc::c_short,
        l_start: 0,
        l_len: 0,
        l_pid: 0,
    }
}

#[cfg(target_os = "linux")]
fn set(lock: &libc::flock) -> FcntlArg<'_> {
    FcntlArg::F_OFD_SETLK(lock)
}

#[cfg(not(target_os = "linux"))]
fn set(lock: &libc::flock) -> FcntlArg<'_> {
    FcntlArg::F_SETLK(lock)
}
