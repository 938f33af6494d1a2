//! The module tree: blocks decoded, static checks, references.
//!
//! [`load`] reads a directory and the modules it calls into a [`Configuration`]: every block of the
//! language as data, with the expressions that evaluation will need and the ranges that diagnostics
//! will need. It says everything that can be said without values and schemas: what is declared
//! twice, misnamed, misplaced or not declared at all.
//!
//! # What a reader may rely on
//!
//! - Loading works with no provider installed: bodies that a provider defines are kept as they are.
//! - A valid configuration is never refused because we do not act on a part of it yet; such parts are
//!   in [`Configuration::unserved`], for the command that would have to act on them.
//! - Everything is shared: a directory that is called a hundred times is read and kept once.
//! - Files come through [`SourceReader`], other modules through [`ModuleFetcher`]; nothing here opens
//!   a connection or looks at the environment.
//!
//! # What it does not know
//!
//! Values of variables, instances, schemas, state. References are found ([`expression_references`])
//! and checked for existence; `graph` orders them and `evaluation` gives them values.
#![forbid(unsafe_code)]

mod check;
mod computed;
mod configuration;
mod constant;
mod depends_on;
mod inputs;
mod language;
mod load;
mod lock;
mod module;
mod module_call;
mod moves;
mod overrides;
mod provider;
mod reader;
mod refactoring;
mod references;
mod resource;
mod shape;
mod static_checks;
mod statics;
mod test_file;
mod tfvars;
mod variable;
mod version;
mod written_address;

#[cfg(test)]
mod tests;

pub use check::{CheckBlock, CheckRule};
pub use configuration::{Configuration, ProviderKey, RequiredProvider, ResolvedProvider};
pub use depends_on::{ProviderReference, StaticReference};
pub use formwork_eval::{Defaults, TypeConstraint, parse_type_constraint};
pub use inputs::{
    Given, InputLayer, InputOrigin, RootVariables, automatic_value_files, disclose_undecided,
    missing_variable, root_variables,
};
pub use language::{LANGUAGE_LEVEL, LanguageLevel};
pub use load::{Loading, load};
pub use lock::{DependencyLock, LOCK_FILE, LockedProvider};
pub use module::{Backend, Module, Unserved};
pub use module_call::{ModuleCall, ModuleSource, PassedProvider};
pub use moves::{MoveResults, Moves};
pub use provider::{ProviderConfig, ProviderRequirement};
pub use reader::{
    ConfinedReader, DiskReader, LocalModulesOnly, MemoryReader, ModuleFetcher, ModuleRequest,
    SourceReader,
};
pub use refactoring::{ImportBlock, MoveTarget, MovedBlock, MovedForEach, RemovedBlock};
pub use references::{
    FoundReference, body_references, dynamic_iterator, expression_references, instance_key,
    parse_reference, parse_test_reference,
};
pub use resource::{
    IgnoreChanges, Lifecycle, Provisioner, ProvisionerTime, Repetition, ResourceBlock,
};
pub use static_checks::provider_key_mistake;
pub use statics::{StaticInputs, StaticVariables};
pub use test_file::{
    DEFAULT_TEST_DIRECTORY, ExpectedFailure, MockDefaults, MockProvider, Override, OverrideTarget,
    Overrides, ProviderUnderTest, RunBlock, RunCommand, RunModule, RunOptions, TestConfiguration,
    TestFile, TestProvider, TestSuite, is_test_file, load_run, load_tests,
};
pub use tfvars::{GivenValue, Unsuitable, parse_tfvars};
pub use variable::{InputVariable, LocalValue, OutputValue};
pub use version::{
    Comparison, Verdict, VersionConstraints, VersionTerm, canonical_constraints, parse_version,
};
pub use written_address::WrittenAddress;
