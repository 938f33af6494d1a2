//! Where an unknown value comes from.

use std::fmt;
use std::sync::Arc;

use formwork_addresses::AbsResourceInstance;

use crate::Path;

/// The attribute of a resource instance that an unknown value stands for.
///
/// Set when a reference reads an unknown attribute ([`crate::Value::with_origin`]); kept by
/// traversal, by wrapping into collections and by conversions that keep the text; dropped by every
/// other operation. Part of neither equality nor any file but the plan.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Origin {
    /// The instance whose attribute is not known yet.
    pub address: Arc<AbsResourceInstance>,
    /// The path within the instance.
    pub path: Path,
}

impl fmt::Debug for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.address, self.path)
    }
}
