//! The generic engine: request, wait, read, by what the data say of a type.

pub(crate) mod apply;
pub(crate) mod carries;
pub(crate) mod exchange;
pub(crate) mod read;
pub(crate) mod settle;

use std::time::Duration;

use formwork_google_schema::{Act, Resource};
use formwork_values::Value;

use crate::cloud::Cloud;
use crate::place::Located;

/// A type, an object of it, and the cloud it lives in.
#[derive(Clone, Copy)]
pub(crate) struct Subject<'a> {
    pub(crate) cloud: &'a Cloud,
    pub(crate) resource: &'a Resource,
    pub(crate) object: &'a Value,
}

impl<'a> Subject<'a> {
    pub(crate) fn located(&self) -> Located<'a> {
        Located {
            resource: self.resource,
            object: self.object,
            settings: &self.cloud.settings,
        }
    }

    /// The same type and cloud with another object.
    pub(crate) fn with<'b>(&self, object: &'b Value) -> Subject<'b>
    where
        'a: 'b,
    {
        Subject {
            cloud: self.cloud,
            resource: self.resource,
            object,
        }
    }

    /// How the object is named in messages.
    pub(crate) fn title(&self) -> String {
        let name = crate::draft::text(self.object, "name")
            .or_else(|| crate::draft::text(self.object, "id"))
            .map(str::to_owned)
            .or_else(|| self.located().plain(&self.resource.id));
        match name {
            Some(name) => format!("{} \"{name}\"", self.resource.name),
            None => self.resource.name.to_string(),
        }
    }

    /// The time that an act may take.
    pub(crate) fn limit(&self, act: Act) -> Duration {
        let name = match act {
            Act::Create => "create",
            Act::Read => "read",
            Act::Update => "update",
            Act::Delete => "delete",
        };
        self.object
            .attribute("timeouts")
            .and_then(|t| t.attribute(name))
            .and_then(Value::as_str)
            .and_then(crate::same::seconds)
            .map(Duration::from_secs_f64)
            .or_else(|| self.resource.timeouts.get(name).copied())
            .unwrap_or(Duration::from_secs(20 * 60))
    }
}
