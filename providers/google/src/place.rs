//! Addresses: templates filled from an object and the provider's settings.

use std::sync::Arc;

use formwork_google_client::encode_segment;
use formwork_google_schema::{Resource, Suppress};
use formwork_values::Value;

use crate::draft::text;
use crate::json::Place;
use crate::names;
use crate::settings::Settings;

/// An object of a type, at its place.
pub(crate) struct Located<'a> {
    pub(crate) resource: &'a Resource,
    pub(crate) object: &'a Value,
    pub(crate) settings: &'a Settings,
}

impl Located<'_> {
    /// The project's id.
    pub(crate) fn project(&self) -> Option<String> {
        text(self.object, "project")
            .or(self.settings.project.as_deref())
            .map(|p| p.strip_prefix("projects/").unwrap_or(p).to_owned())
    }

    /// The zone's name.
    pub(crate) fn zone(&self) -> Option<String> {
        text(self.object, "zone")
            .or(self.settings.zone.as_deref())
            .map(|z| names::last(z).to_owned())
    }

    /// The region's name: the object's own, its zone's, or the provider's.
    pub(crate) fn region(&self) -> Option<String> {
        if let Some(region) = text(self.object, "region") {
            return Some(names::last(region).to_owned());
        }
        if self.resource.field("zone").is_some()
            && let Some(zone) = self.zone()
        {
            return names::region_of_zone(&zone).map(str::to_owned);
        }
        self.settings
            .region
            .as_deref()
            .map(|r| names::last(r).to_owned())
            .or_else(|| {
                let zone = self.settings.zone.as_deref()?;
                names::region_of_zone(zone).map(str::to_owned)
            })
    }

    /// The value of one placeholder, not encoded.
    fn part(&self, name: &str) -> Option<String> {
        match name {
            "project" => self.project(),
            "zone" => self.zone(),
            "region" => self.region(),
            "location" => text(self.object, "location")
                .or_else(|| text(self.object, "zone"))
                .map(|l| names::last(l).to_owned())
                .or_else(|| self.region()),
            _ => {
                let value = text(self.object, name)?;
                let rule = self
                    .resource
                    .field(name)
                    .and_then(|node| node.suppress.as_ref());
                Some(match rule {
                    Some(Suppress::LinkOrName | Suppress::LastSegment) => {
                        names::last(value).to_owned()
                    }
                    Some(Suppress::Link) => names::relative(value).to_owned(),
                    Some(Suppress::Bucket) => value.strip_prefix("b/").unwrap_or(value).to_owned(),
                    Some(Suppress::Project) => {
                        value.strip_prefix("projects/").unwrap_or(value).to_owned()
                    }
                    _ => value.to_owned(),
                })
            }
        }
    }

    /// A URL path: parts percent-encoded, but for those that are paths themselves.
    pub(crate) fn url(&self, template: &str) -> Option<String> {
        fill(template, |name| {
            let part = self.part(name)?;
            let whole = self
                .resource
                .field(name)
                .is_some_and(|node| node.suppress == Some(Suppress::Link))
                || part.starts_with("projects/");
            Some(if whole { part } else { encode_segment(&part) })
        })
    }

    /// An id or a name: nothing encoded.
    pub(crate) fn plain(&self, template: &str) -> Option<String> {
        fill(template, |name| self.part(name))
    }
}

impl Place for Located<'_> {
    fn fill(&self, template: &str) -> Option<String> {
        self.plain(template)
    }
}

/// Replaces `{name}` by what `part` gives; `None` if it gives nothing for one of them.
pub(crate) fn fill(template: &str, part: impl Fn(&str) -> Option<String>) -> Option<String> {
    let mut out = String::with_capacity(template.len() + 32);
    let mut rest = template;
    while let Some((before, after)) = rest.split_once('{') {
        let (name, tail) = after.split_once('}')?;
        out.push_str(before);
        out.push_str(&part(name)?);
        rest = tail;
    }
    out.push_str(rest);
    Some(out)
}

/// Reads an id by a form with placeholders; the parts found, or `None` if it does not fit.
pub(crate) fn parse(form: &str, id: &str) -> Option<Vec<(Arc<str>, String)>> {
    let mut found = Vec::new();
    let (mut form, mut id) = (form, id);
    while let Some((literal, after)) = form.split_once('{') {
        id = id.strip_prefix(literal)?;
        let (name, tail) = after.split_once('}')?;
        let stop = tail.chars().next();
        let end = match stop {
            // The last part takes the rest where its name may hold slashes only if nothing follows.
            None => id.len(),
            Some(c) => id.find(c)?,
        };
        let value = &id[..end];
        let one_segment = matches!(name, "name" | "project" | "region" | "zone" | "location");
        if value.is_empty() || (one_segment && value.contains('/')) {
            return None;
        }
        found.push((Arc::from(name), value.to_owned()));
        id = &id[end..];
        form = tail;
    }
    (id == form).then_some(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms() {
        let got = |form: &str, id: &str| {
            parse(form, id).map(|parts| {
                parts
                    .into_iter()
                    .map(|(k, v)| format!("{k}={v}"))
                    .collect::<Vec<_>>()
                    .join(",")
            })
        };
        assert_eq!(
            got(
                "projects/{project}/global/networks/{name}",
                "projects/p/global/networks/n"
            ),
            Some("project=p,name=n".into())
        );
        assert_eq!(
            got("{project}/{name}", "p/n"),
            Some("project=p,name=n".into())
        );
        assert_eq!(got("projects/{project}/x/{name}", "p/n"), None);
        assert_eq!(
            got("b/{bucket} {role} {member}", "b/x roles/r.v user:a@b"),
            Some("bucket=x,role=roles/r.v,member=user:a@b".into())
        );
    }
}
