//! The surroundings of a run, as data.
//!
//! No crate below `cli` asks the process for its environment, the clock or randomness: it is handed
//! an [`Environment`]. The command line, a language server, a controller and tests then drive the
//! same operations, and tests are the same on every run.
#![forbid(unsafe_code)]

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

/// Time, as a run sees it. Waiting for real is the async runtime's business, not this trait's.
pub trait Clock: Send + Sync {
    /// Now.
    fn now(&self) -> SystemTime;
}

/// Where ids (lineages, request ids, deposed keys) come from.
pub trait Randomness: Send + Sync {
    /// Fills `bytes`.
    fn fill(&self, bytes: &mut [u8]);
}

/// What a run knows of where it runs.
#[derive(Clone)]
pub struct Environment {
    /// Environment variables.
    pub variables: BTreeMap<String, String>,
    /// Home directory, where there is one.
    pub home: Option<PathBuf>,
    /// Working directory, absolute; after `-chdir`.
    pub working: PathBuf,
    /// Directory for temporary files.
    pub temporary: PathBuf,
    /// The user and host for lock messages, as `user@host`.
    pub who: String,
    /// The process id, for lock files and temporary names.
    pub process: u32,
    /// Time.
    pub clock: Arc<dyn Clock>,
    /// Randomness.
    pub randomness: Arc<dyn Randomness>,
}

impl Environment {
    /// A variable that is set and not empty.
    pub fn variable(&self, name: &str) -> Option<&str> {
        self.variables
            .get(name)
            .map(String::as_str)
            .filter(|v| !v.is_empty())
    }

    /// A random UUID (version 4) in its usual text form.
    pub fn uuid(&self) -> String {
        let mut b = [0u8; 16];
        self.randomness.fill(&mut b);
        b[6] = (b[6] & 0x0f) | 0x40;
        b[8] = (b[8] & 0x3f) | 0x80;
        let hex: String = b.iter().map(|x| format!("{x:02x}")).collect();
        format!(
            "{}-{}-{}-{}-{}",
            &hex[..8],
            &hex[8..12],
            &hex[12..16],
            &hex[16..20],
            &hex[20..]
        )
    }
}

impl std::fmt::Debug for Environment {
    /// Names only: variables may hold credentials.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Environment")
            .field("variables", &self.variables.keys().collect::<Vec<_>>())
            .field("working", &self.working)
            .finish_non_exhaustive()
    }
}

/// A clock that stands still until it is moved, and numbers that are the same on each run.
#[derive(Debug)]
pub struct Fixed {
    now: std::sync::Mutex<SystemTime>,
    state: std::sync::Mutex<u64>,
}

impl Fixed {
    /// Starts at `seconds` after the epoch, with the given seed.
    pub fn new(seconds: u64, seed: u64) -> Self {
        Self {
            now: std::sync::Mutex::new(SystemTime::UNIX_EPOCH + Duration::from_secs(seconds)),
            state: std::sync::Mutex::new(seed),
        }
    }

    /// Moves the clock forward.
    pub fn advance(&self, by: Duration) {
        *self
            .now
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner) += by;
    }
}

impl Clock for Fixed {
    fn now(&self) -> SystemTime {
        *self
            .now
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

impl Randomness for Fixed {
    fn fill(&self, bytes: &mut [u8]) {
        let mut state = self
            .state
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner);
        for chunk in bytes.chunks_mut(8) {
            // SplitMix64: small, and every seed gives another stream.
            *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let mut z = *state;
            z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            z ^= z >> 31;
            let z = z.to_le_bytes();
            chunk.copy_from_slice(&z[..chunk.len()]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fixed() -> Environment {
        let fixed = Arc::new(Fixed::new(1_000, 7));
        Environment {
            variables: [
                ("A".to_owned(), String::new()),
                ("S".to_owned(), "secret".to_owned()),
            ]
            .into(),
            home: None,
            working: "/w".into(),
            temporary: "/t".into(),
            who: "u@h".into(),
            process: 1,
            clock: fixed.clone(),
            randomness: fixed,
        }
    }

    #[test]
    fn uuids_are_version_4_and_repeatable() {
        let (a, b) = (fixed(), fixed());
        let first = a.uuid();
        assert_eq!(first, b.uuid());
        assert_ne!(first, a.uuid());
        assert_eq!(first.len(), 36);
        assert_eq!(&first[14..15], "4");
    }

    #[test]
    fn debug_hides_values_and_empty_is_unset() {
        let e = fixed();
        assert!(!format!("{e:?}").contains("secret"));
        assert_eq!((e.variable("A"), e.variable("S")), (None, Some("secret")));
    }
}
