//! Gives the references of a configuration their meaning.
//!
//! An [`Evaluator`] holds one configuration and what is known of its objects ([`Objects`]); a
//! [`ModuleScope`] stands for one place in it (a module instance, perhaps an instance key, perhaps
//! `self`) and is the scope that `eval` asks. Variables of child modules, local values and module
//! outputs are evaluated when first asked for and remembered per module instance: each expression
//! once, whoever asks. What is wrong with them is said once too, by whoever visits them
//! ([`Evaluator::variable`], [`Evaluator::local`], [`Evaluator::output`] hand it out the first time).
//!
//! [`decode`] reads a block body by its schema. [`expand`] reads count and for_each. [`check`] judges
//! a condition. [`Calls`] answers provider functions: nothing here waits, a call whose answer is not
//! there yet makes the [`Reading`] pending, and [`Calls::settled`] fetches it and reads again.
//!
//! Unknown values read from objects carry their origin; objects are given to [`Objects`] by planner,
//! apply and validate with their marks and origins already on them.
//!
//! What this crate does not do: it plans nothing, calls providers for functions only, and knows no
//! order: whoever evaluates must have put in what is referred to, which the static graph ensures.
#![forbid(unsafe_code)]

mod calls;
mod conditions;
mod decode;
mod dynamic;
mod evaluator;
mod imports;
mod in_test;
mod moves;
mod objects;
mod origins;
mod provider_config;
mod provisioners;
mod reading;
mod repetition;
mod scope;
mod terraform_functions;
mod trigger;

pub use calls::{Calls, ModuleFunctions, ProviderFunctions};
pub use conditions::{Condition, Verdict, check, referenced};
pub use decode::decode;
pub use evaluator::{Evaluator, Memo, Setting};
pub use imports::{ImportBy, WantedImport, WantedImports};
pub use in_test::{InTest, ModuleStandIns, Runs};
pub use objects::{Expansion, Objects};
pub use origins::origins_of;
pub use provisioners::{ProvisionerBody, ProvisionerSchemas, Provisioners};
pub use reading::Reading;
pub use repetition::{NotKnown, Repeated, expand};
pub use scope::{ModuleScope, RepetitionData};
pub use trigger::computed_key;
