//! Expressions, templates and functions over a scope, to values.
//!
//! [`evaluate`] takes an expression of `formwork_syntax`, a [`Scope`] that knows what references
//! mean, and [`Functions`] that can be called; it answers a value and what there is to say about it.
//! [`Builtins`] are the functions of the language.
//!
//! Invariants:
//! - Nothing fails or panics. A part that is wrong yields an unknown value of no known type after
//!   its one diagnostic, so that a mistake is told once, where it was made.
//! - Unknown values flow through everything; what is known of them ([`Refinement`]) is kept where an
//!   operation allows. Marks flow likewise: a result is at least as sensitive as what it is made of.
//! - Messages never hold a sensitive value. Where a function fails on one, its reason is withheld.
//! - The same expression over the same scope gives the same value. Clock, randomness and files are
//!   handed in ([`Surroundings`], [`Files`]).
//! - No thread waits: a function whose answer is not there yet is [`Outcome::Pending`]; evaluation
//!   then ends with the calls it needs ([`Evaluated::pending`]) and is repeated when they are there.
//!
//! What this crate does not know: blocks, schemas, modules, providers, instances. `evaluation`, one
//! crate up, gives references their meaning.
//!
//! [`Refinement`]: formwork_values::Refinement
#![forbid(unsafe_code)]

mod builtins;
mod confinement;
mod convert;
mod evaluate;
mod functions;
mod numbers;
mod scope;
mod text;
mod type_constraint;
mod yaml;

pub use builtins::{
    Builtins, DirectoryEntry, FileError, Files, NoFiles, Surroundings, WorkingDirectory,
};
pub use confinement::Confinement;
pub use evaluate::{
    ConsoleResult, Evaluated, check_references, console_question, evaluate, evaluate_console,
    evaluate_literal, explain, explain_unknowns, value_of_reference,
};
pub use functions::{Call, CallError, CallId, Functions, Outcome, Parameter, Signature};
pub use scope::{EmptyScope, MapScope, Resolved, Scope};
pub use type_constraint::{Defaults, TypeConstraint, parse_type_constraint};
