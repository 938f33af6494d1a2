//! The journey in process, with the built-in provider: plan, apply, plan again.
//!
//! `skeleton` walks it once; `recorded` holds it against recorded answers of Terraform, configuration
//! by configuration; `live` against the binary itself, where there is one.

#![allow(clippy::expect_used, clippy::unwrap_used)] // a test that cannot go on says so

mod beyond;
mod blocks;
mod comparing;
mod crashes;
mod deferrals;
mod disk;
mod ephemerals;
mod faults;
mod generated;
mod identities;
mod lifecycles;
mod live;
mod open_conditions;
mod places;
mod protocol;
mod recorded;
mod rules;
mod scripted;
mod skeleton;
mod surroundings;
mod validated;
mod validated_differences;
mod worlds;
