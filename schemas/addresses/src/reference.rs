//! What an expression refers to.

use crate::instance::{InstanceKey, Resource, ResourceInstance};
use std::fmt;
use std::sync::Arc;

/// The thing a traversal names, before its remaining steps are walked.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Subject {
    /// `var.NAME`.
    InputVariable(Arc<str>),
    /// `local.NAME`.
    LocalValue(Arc<str>),
    /// A resource, all its instances.
    Resource(Resource),
    /// One instance of a resource, named by a literal key.
    ResourceInstance(ResourceInstance),
    /// `module.NAME`, all its instances.
    ModuleCall(Arc<str>),
    /// `module.NAME[KEY]`.
    ModuleCallInstance(Arc<str>, InstanceKey),
    /// `module.NAME.OUTPUT` or `module.NAME[KEY].OUTPUT`.
    ModuleCallOutput(Arc<str>, InstanceKey, Arc<str>),
    /// `output.NAME`, in tests only.
    OutputValue(Arc<str>),
    /// `count.index`.
    CountIndex,
    /// `each.key`.
    EachKey,
    /// `each.value`.
    EachValue,
    /// `path.NAME`: module, root or cwd.
    Path(Arc<str>),
    /// `terraform.NAME`: workspace, applying.
    Terraform(Arc<str>),
    /// `self`.
    SelfObject,
    /// `run.NAME`, in tests only.
    Run(Arc<str>),
    /// `check.NAME`, in expect_failures only.
    Check(Arc<str>),
}

impl fmt::Display for Subject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::InputVariable(n) => write!(f, "var.{n}"),
            Self::LocalValue(n) => write!(f, "local.{n}"),
            Self::Resource(r) => r.fmt(f),
            Self::ResourceInstance(r) => r.fmt(f),
            Self::ModuleCall(n) => write!(f, "module.{n}"),
            Self::ModuleCallInstance(n, k) => write!(f, "module.{n}{k}"),
            Self::ModuleCallOutput(n, k, o) => write!(f, "module.{n}{k}.{o}"),
            Self::OutputValue(n) => write!(f, "output.{n}"),
            Self::CountIndex => f.write_str("count.index"),
            Self::EachKey => f.write_str("each.key"),
            Self::EachValue => f.write_str("each.value"),
            Self::Path(n) => write!(f, "path.{n}"),
            Self::Terraform(n) => write!(f, "terraform.{n}"),
            Self::SelfObject => f.write_str("self"),
            Self::Run(n) => write!(f, "run.{n}"),
            Self::Check(n) => write!(f, "check.{n}"),
        }
    }
}

/// A step after the subject.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ReferenceStep {
    /// `.name`.
    Attribute(Arc<str>),
    /// `[key]` with a literal key.
    Index(InstanceKey),
}

/// A subject and the literal steps walked from it. Where it stands in the text is kept beside it by
/// whoever made it.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Reference {
    /// What is named.
    pub subject: Subject,
    /// Literal steps into its value; what follows a splat or a computed index is not here.
    pub remaining: Vec<ReferenceStep>,
}

impl fmt::Display for Reference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.subject.fmt(f)?;
        for step in &self.remaining {
            match step {
                ReferenceStep::Attribute(n) => write!(f, ".{n}")?,
                ReferenceStep::Index(k) => k.fmt(f)?,
            }
        }
        Ok(())
    }
}
