//! The provider `terraform.io/builtin/terraform`, which is part of the tool: the resource type
//! `terraform_data` and the data source `terraform_remote_state`.
//!
//! `terraform_data` lives in state alone. Nothing outside changes when it is created or destroyed, so
//! there is nothing to note, nothing to settle, and reading it is giving it back. What it does was
//! tried with Terraform 1.11.4; the tests of its module say case by case what was seen.
//!
//! The functions of this provider (`provider::terraform::encode_tfvars` and its kin) are syntax, not
//! values, so `evaluation` answers them; here are their signatures only.
//!
//! It reads other states by a [`StateReader`](formwork_state::StateReader) that it is handed, and
//! knows no backend.
#![forbid(unsafe_code)]

mod data;
mod functions;
mod provider;
mod remote_state;

pub use provider::BuiltinProvider;

/// Source address of the provider.
pub const SOURCE: &str = "terraform.io/builtin/terraform";

#[cfg(test)]
mod tests;
