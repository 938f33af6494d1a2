//! `Debug` of values: short, on one line, without what is marked sensitive or ephemeral.

use std::fmt;

use crate::value::Repr;
use crate::{Kind, Value};

impl fmt::Debug for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let all = |f: &mut fmt::Formatter<'_>, name: &str, values: &[Value]| {
            f.write_str(name)?;
            crate::with_stack(|| f.debug_list().entries(values).finish())
        };
        match self.kind() {
            Kind::Null(ty) => write!(f, "null({ty})"),
            Kind::Unknown(u) if u.refinement.is_none() => write!(f, "unknown({})", u.ty),
            Kind::Unknown(u) => write!(f, "unknown({}, {:?})", u.ty, u.refinement),
            Kind::Bool(b) => write!(f, "{b}"),
            Kind::Number(n) => write!(f, "{n}"),
            Kind::String(s) => write!(f, "{s:?}"),
            Kind::List(values) => all(f, "list", values),
            Kind::Set(values) => all(f, "set", values),
            Kind::Tuple(values) => all(f, "", values),
            Kind::Map(entries) => {
                f.write_str("map")?;
                crate::with_stack(|| {
                    f.debug_map()
                        .entries(entries.iter().map(|(k, v)| (k, v)))
                        .finish()
                })
            }
            Kind::Object(ty, values) => crate::with_stack(|| {
                f.debug_map()
                    .entries(ty.names().iter().zip(values))
                    .finish()
            }),
            Kind::Marked(_, marks) if marks.is_sensitive() => f.write_str("(sensitive value)"),
            Kind::Marked(_, marks) if marks.is_ephemeral() => f.write_str("(ephemeral value)"),
            Kind::Marked(value, _) => write!(f, "deprecated({value:?})"),
        }
    }
}

impl fmt::Debug for Repr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Value(self.clone()).fmt(f)
    }
}
