//! When a refused request is sent again, and after how long.

use std::time::Duration;

use crate::error::{ErrorKind, GoogleError};
use crate::request::Effect;

/// Patience with refusals. Delays follow Fibonacci's numbers from `first`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RetryPolicy {
    /// The first delay, and the unit of the sequence.
    pub first: Duration,
    /// No single delay is longer.
    pub longest: Duration,
    /// The time from the first error after which the last one stands.
    pub budget: Duration,
    /// The same for a resource that is busy with another operation: it queues rather than fails.
    pub busy_budget: Duration,
}

impl Default for RetryPolicy {
    fn default() -> Self {
        Self {
            first: Duration::from_millis(500),
            longest: Duration::from_secs(30),
            budget: Duration::from_secs(90),
            busy_budget: Duration::from_secs(20 * 60),
        }
    }
}

impl RetryPolicy {
    /// The delay before attempt `n + 1`, attempts counted from 1; `spread` (any counter) moves it by
    /// up to a tenth so that many callers do not come back at the same instant.
    pub fn delay(&self, attempt: u32, spread: u64) -> Duration {
        let (mut a, mut b) = (1u32, 1u32);
        for _ in 1..attempt.min(24) {
            (a, b) = (b, a.saturating_add(b));
        }
        let base = self.first.saturating_mul(a).min(self.longest);
        let tenths = u32::try_from(spread.wrapping_mul(0x9e37_79b9) % 100).unwrap_or(0);
        base + base / 1000 * tenths
    }

    /// The time that may pass in all with errors of this kind; `None` when it must not be repeated.
    pub(crate) fn budget_for(&self, error: &GoogleError, effect: Effect) -> Option<Duration> {
        match error.kind {
            // Refused before anything happened, whatever the request.
            ErrorKind::RateLimited | ErrorKind::NotReady => Some(self.budget),
            // A name that does not resolve or a port that is closed seldom changes in a minute.
            ErrorKind::Unreachable => Some(self.budget / 4),
            ErrorKind::Busy => Some(self.busy_budget),
            // Nobody knows what happened: only a reader may try again.
            ErrorKind::Server | ErrorKind::Cut | ErrorKind::Malformed => match effect {
                Effect::Reads => Some(self.budget),
                Effect::Mutates => None,
            },
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn delays_grow_like_fibonacci_and_stop() {
        let p = RetryPolicy::default();
        let ms: Vec<u128> = (1..=10).map(|n| p.delay(n, 0).as_millis()).collect();
        assert_eq!(
            ms,
            [500, 500, 1000, 1500, 2500, 4000, 6500, 10500, 17000, 27500]
        );
        assert_eq!(p.delay(40, 0), Duration::from_secs(30));
        assert!(p.delay(3, 77) < Duration::from_millis(1100));
    }
}
