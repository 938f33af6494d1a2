//! References to the static graph; cycles explained; the parallel walk.
//!
//! The **static graph** ([`StaticGraph`]) has one node per block per module and no instances: what a
//! `count` comes to is found during the walk, and the graph of instances (the execution graph) is
//! made by the planner. It says in which order blocks can be evaluated, what a target drags along,
//! and what a resource's state depends on.
//!
//! Below it lie two pieces that know nothing of configurations, and that apply runs its execution
//! graph on as well: [`Dag`], nodes as numbers with edges both ways, and [`walk`], which visits them
//! in parallel in dependency order.
//!
//! Invariants: the same configuration gives the same numbers and orders; building and walking cost
//! no more than nodes and edges (and a logarithm); no recursion over the graph.
#![forbid(unsafe_code)]

mod build;
mod dag;
mod node;
mod static_graph;
mod walk;

#[cfg(test)]
mod tests;

pub use dag::{Dag, Direction, Node};
pub use node::{StaticNode, What};
pub use static_graph::StaticGraph;
pub use walk::{Cancellation, Outcome, Visit, WalkReport, walk};
