//! A token bucket per service, and a bound on requests in flight.
//!
//! Google counts requests per minute and project; a client that fires ten thousand reads at once
//! spends the minute's budget in a second and then reads nothing but 429. The bucket lets a burst
//! through and paces the rest.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::Semaphore;
use tokio::time::Instant;

/// How many requests may go to one service.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rate {
    /// Requests per second in the long run; infinite for a mock cloud.
    pub per_second: f64,
    /// Requests that may go at once after a pause.
    pub burst: f64,
    /// Requests in flight at once. HTTP/2 opens one connection per host, whose server bounds
    /// streams to about a hundred.
    pub in_flight: usize,
}

impl Default for Rate {
    fn default() -> Self {
        // Google's usual project quota for reads is 1500 a minute.
        Self {
            per_second: 25.0,
            burst: 100.0,
            in_flight: 90,
        }
    }
}

impl Rate {
    /// No pacing, for a mock cloud.
    pub fn unlimited() -> Self {
        Self {
            per_second: f64::INFINITY,
            burst: f64::INFINITY,
            in_flight: 90,
        }
    }
}

#[derive(Debug)]
struct Bucket {
    /// Tokens left at `at`; negative when callers are already queued.
    tokens: f64,
    at: Instant,
}

/// The buckets of all services.
#[derive(Debug)]
pub(crate) struct Limiter {
    rate: Rate,
    buckets: Mutex<BTreeMap<String, Bucket>>,
    flights: Mutex<BTreeMap<String, Arc<Semaphore>>>,
}

impl Limiter {
    pub(crate) fn new(rate: Rate) -> Self {
        Self {
            rate,
            buckets: Mutex::default(),
            flights: Mutex::default(),
        }
    }

    /// Waits for this caller's turn.
    pub(crate) async fn turn(&self, service: &str) {
        let delay = self.reserve(service, Instant::now());
        if !delay.is_zero() {
            tokio::time::sleep(delay).await;
        }
    }

    /// The semaphore of the service's requests in flight.
    pub(crate) fn flights(&self, service: &str) -> Arc<Semaphore> {
        let mut flights = self.flights.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(
            flights
                .entry(service.to_owned())
                .or_insert_with(|| Arc::new(Semaphore::new(self.rate.in_flight))),
        )
    }

    fn reserve(&self, service: &str, now: Instant) -> Duration {
        if self.rate.per_second.is_infinite() {
            return Duration::ZERO;
        }
        let mut buckets = self.buckets.lock().unwrap_or_else(PoisonError::into_inner);
        let bucket = buckets.entry(service.to_owned()).or_insert(Bucket {
            tokens: self.rate.burst,
            at: now,
        });
        let gained = now.duration_since(bucket.at).as_secs_f64() * self.rate.per_second;
        bucket.tokens = (bucket.tokens + gained).min(self.rate.burst) - 1.0;
        bucket.at = now;
        if bucket.tokens >= 0.0 {
            Duration::ZERO
        } else {
            Duration::from_secs_f64(-bucket.tokens / self.rate.per_second)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_burst_passes_and_the_rest_is_paced() {
        let limiter = Limiter::new(Rate {
            per_second: 10.0,
            burst: 5.0,
            in_flight: 1,
        });
        let start = Instant::now();
        for _ in 0..5 {
            limiter.turn("compute").await;
        }
        assert_eq!(start.elapsed(), Duration::ZERO);
        for _ in 0..10 {
            limiter.turn("compute").await;
        }
        let paced = start.elapsed();
        assert!(
            paced >= Duration::from_millis(990) && paced < Duration::from_millis(1050),
            "{paced:?}"
        );
        limiter.turn("storage").await;
        assert!(start.elapsed() < Duration::from_millis(1050));
    }
}
