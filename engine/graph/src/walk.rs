//! The parallel walk that planning and applying both use.
//!
//! [`walk`] visits every node after what it needs, at most `limit` at a time. It knows nothing of
//! what a visit does: it hands out numbers and is told [`Visit::Done`] or [`Visit::Failed`].
//!
//! - **Order.** A node is ready when all it needs is done; among ready nodes the smallest number is
//!   started first. With a limit of 1 the whole order is the graph's topological order.
//! - **Failure.** What needs a failed node, directly or not, is never started: it is
//!   [`Outcome::Skipped`] and names the failed node. Independent branches go on to their end.
//! - **Cancellation.** Once cancelled nothing more is started; what runs is waited for (a visit that
//!   wants to stop sooner holds the same [`Cancellation`]). What was not started is
//!   [`Outcome::Cancelled`].
//!
//! All visits are polled by the task that awaits the walk, so they may borrow from their caller and
//! need no locks among themselves beyond what holding data across an await needs. A visit that
//! computes for long hands that to the runtime itself.

use crate::dag::{Dag, Node};
use futures::StreamExt;
use futures::stream::FuturesUnordered;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use tokio::sync::Notify;

/// A request to stop, shared by everyone who has to hear of it.
#[derive(Clone, Debug, Default)]
pub struct Cancellation(Arc<Signal>);

#[derive(Debug, Default)]
struct Signal {
    set: AtomicBool,
    changed: Notify,
}

impl Cancellation {
    /// Nothing requested yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Asks everyone to stop; asking again changes nothing.
    pub fn cancel(&self) {
        self.0.set.store(true, Ordering::SeqCst);
        self.0.changed.notify_waiters();
    }

    /// Whether it was asked for.
    pub fn is_cancelled(&self) -> bool {
        self.0.set.load(Ordering::SeqCst)
    }

    /// Ends when it is asked for; at once if it was.
    pub async fn cancelled(&self) {
        // The listener is enrolled before the flag is read, so a cancel in between is not missed.
        let changed = self.0.changed.notified();
        tokio::pin!(changed);
        changed.as_mut().enable();
        if !self.is_cancelled() {
            changed.await;
        }
    }
}

/// How a visit ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Visit {
    /// What needs this node may start.
    Done,
    /// What needs this node must not start.
    Failed,
}

/// What became of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Visited, and done.
    Done,
    /// Visited, and failed.
    Failed,
    /// Not visited, because this node failed.
    Skipped {
        /// The failed node it needs; the smallest if there are several.
        because: Node,
    },
    /// Not visited, because the walk was cancelled (or the node lies on a cycle).
    Cancelled,
}

/// What became of every node, by number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WalkReport {
    /// One per node.
    pub outcomes: Vec<Outcome>,
}

impl WalkReport {
    /// Whether every node was visited and done.
    pub fn all_done(&self) -> bool {
        self.outcomes.iter().all(|o| *o == Outcome::Done)
    }

    /// Nodes with an outcome that `matches`, ascending.
    pub fn nodes(&self, matches: impl Fn(Outcome) -> bool) -> Vec<Node> {
        (0u32..)
            .zip(&self.outcomes)
            .filter(|(_, o)| matches(**o))
            .map(|(n, _)| n)
            .collect()
    }
}

/// Visits every node of `dag` after what it needs, at most `limit` (at least 1) at a time.
pub async fn walk<F, V>(dag: &Dag, limit: usize, cancel: &Cancellation, visit: F) -> WalkReport
where
    F: Fn(Node) -> V,
    V: Future<Output = Visit>,
{
    let mut waiting: Vec<usize> = dag.nodes().map(|n| dag.dependencies(n).len()).collect();
    let mut blamed: Vec<Option<Node>> = vec![None; dag.len()];
    let mut outcomes = vec![Outcome::Cancelled; dag.len()];
    let mut ready: BinaryHeap<Reverse<Node>> = dag
        .nodes()
        .filter(|n| waiting[*n as usize] == 0)
        .map(Reverse)
        .collect();
    let mut running = FuturesUnordered::new();

    loop {
        while running.len() < limit.max(1) && !cancel.is_cancelled() {
            let Some(Reverse(node)) = ready.pop() else {
                break;
            };
            let visit = visit(node);
            running.push(async move { (node, visit.await) });
        }
        let Some((node, how)) = running.next().await else {
            break;
        };
        outcomes[node as usize] = match how {
            Visit::Done => Outcome::Done,
            Visit::Failed => Outcome::Failed,
        };
        // Ends are passed on in a worklist: a skipped node is at an end too.
        let mut ended = vec![node];
        while let Some(node) = ended.pop() {
            let blame = match outcomes[node as usize] {
                Outcome::Failed => Some(node),
                Outcome::Skipped { because } => Some(because),
                Outcome::Done | Outcome::Cancelled => None,
            };
            for dependent in dag.dependents(node) {
                let d = *dependent as usize;
                if let Some(b) = blame {
                    blamed[d] = Some(blamed[d].map_or(b, |x| x.min(b)));
                }
                waiting[d] -= 1;
                if waiting[d] > 0 {
                    continue;
                }
                match blamed[d] {
                    None => ready.push(Reverse(*dependent)),
                    Some(because) => {
                        outcomes[d] = Outcome::Skipped { because };
                        ended.push(*dependent);
                    }
                }
            }
        }
    }
    // A node some of whose dependencies were cancelled and another failed counts as skipped: the
    // failure is the better explanation. What lies behind it is told the same.
    if let Ok(order) = dag.topological_order() {
        for node in order {
            let n = node as usize;
            if outcomes[n] != Outcome::Cancelled {
                continue;
            }
            let because = dag
                .dependencies(node)
                .iter()
                .filter_map(|d| match outcomes[*d as usize] {
                    Outcome::Failed => Some(*d),
                    Outcome::Skipped { because } => Some(because),
                    Outcome::Done | Outcome::Cancelled => None,
                })
                .min();
            if let Some(because) = because {
                outcomes[n] = Outcome::Skipped { because };
            }
        }
    }
    WalkReport { outcomes }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Mutex;
    use std::sync::atomic::AtomicUsize;

    fn run<T>(future: impl Future<Output = T>) -> T {
        tokio::runtime::Builder::new_current_thread()
            .build()
            .expect("runtime")
            .block_on(future)
    }

    fn diamond() -> Dag {
        // 0 needs 1 and 2, both need 3; 4 stands alone.
        Dag::new(5, [(0, 1), (0, 2), (1, 3), (2, 3)])
    }

    #[test]
    fn one_at_a_time_is_topological() {
        let seen = Mutex::new(Vec::new());
        let report = run(walk(&diamond(), 1, &Cancellation::new(), |n| {
            seen.lock().expect("lock").push(n);
            async { Visit::Done }
        }));
        assert!(report.all_done());
        assert_eq!(*seen.lock().expect("lock"), [3, 1, 2, 0, 4]);
    }

    #[test]
    fn the_limit_holds() {
        let (now, most) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let dag = Dag::new(20, []);
        let (now, most) = (&now, &most);
        run(walk(&dag, 3, &Cancellation::new(), |_| async move {
            most.fetch_max(now.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
            tokio::task::yield_now().await;
            now.fetch_sub(1, Ordering::SeqCst);
            Visit::Done
        }));
        assert_eq!(most.load(Ordering::SeqCst), 3);
    }

    #[test]
    fn failure_skips_dependents_only() {
        let report = run(walk(&diamond(), 10, &Cancellation::new(), |n| async move {
            if n == 1 { Visit::Failed } else { Visit::Done }
        }));
        assert_eq!(
            report.outcomes,
            [
                Outcome::Skipped { because: 1 },
                Outcome::Failed,
                Outcome::Done,
                Outcome::Done,
                Outcome::Done
            ]
        );
        assert_eq!(report.nodes(|o| o == Outcome::Failed), [1]);
    }

    #[test]
    fn cancelling_starts_nothing_more() {
        let cancel = Cancellation::new();
        let report = run(walk(&diamond(), 1, &cancel, |n| {
            let cancel = cancel.clone();
            async move {
                if n == 1 {
                    cancel.cancel();
                    cancel.cancelled().await;
                }
                Visit::Done
            }
        }));
        assert_eq!(
            report.outcomes,
            [
                Outcome::Cancelled,
                Outcome::Done,
                Outcome::Cancelled,
                Outcome::Done,
                Outcome::Cancelled
            ]
        );
    }
}
