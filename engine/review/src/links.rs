//! Names of Google's objects: links in all their spellings, brought into one.
//!
//! The form used here is the path from `projects/` on. Where the project is not known before apply
//! (it is the provider's), a placeholder that names the provider configuration stands for it, so
//! that two objects of the same default project still compare equal.

use crate::facts::Instance;

/// Where objects of a type live.
enum Place {
    Global,
    Region,
    Zone,
}

/// Types whose objects others name, with where they live and the collection.
const COLLECTIONS: &[(&str, Place, &str)] = &[
    ("google_compute_network", Place::Global, "networks"),
    ("google_compute_subnetwork", Place::Region, "subnetworks"),
    (
        "google_compute_resource_policy",
        Place::Region,
        "resourcePolicies",
    ),
    ("google_compute_reservation", Place::Zone, "reservations"),
];

/// The links by which others may name an instance, known ones and the one that follows from its name.
pub(crate) fn of_instance(instance: &Instance<'_>) -> Vec<String> {
    let mut links = Vec::new();
    let Some((_, _, _)) = collection(instance.kind()) else {
        return links;
    };
    for attribute in ["self_link", "id"] {
        if let Some(link) = instance.field(attribute).text().and_then(from_projects) {
            links.push(link.to_owned());
        }
    }
    if let Some(name) = instance.field("name").text() {
        links.push(full(name, instance, instance.kind()));
    }
    links.dedup();
    links
}

/// A link or bare name, as `from` has it in an attribute that refers to an object of type `kind`.
pub(crate) fn full(text: &str, from: &Instance<'_>, kind: &str) -> String {
    if let Some(link) = from_projects(text) {
        return link.to_owned();
    }
    let text = text.trim_matches('/');
    if text.contains('/') {
        return format!("{}/{text}", project(from));
    }
    let Some((_, place, collection)) = collection(kind) else {
        return text.to_owned();
    };
    let place = match place {
        Place::Global => "global".to_owned(),
        Place::Region => format!("regions/{}", local(from, "region")),
        Place::Zone => format!("zones/{}", local(from, "zone")),
    };
    format!("{}/{place}/{collection}/{text}", project(from))
}

/// A link for people: without the placeholder for a default project.
pub(crate) fn readable(link: &str) -> &str {
    match link.strip_prefix("projects/(") {
        Some(rest) => rest.split_once(")/").map_or(link, |(_, path)| path),
        None => link,
    }
}

fn collection(kind: &str) -> Option<&'static (&'static str, Place, &'static str)> {
    COLLECTIONS.iter().find(|c| c.0 == kind)
}

/// The part from `projects/` on, if the text has one and more than a project.
fn from_projects(text: &str) -> Option<&str> {
    let at = if text.starts_with("projects/") {
        0
    } else {
        text.find("/projects/")? + 1
    };
    text.get(at..).filter(|path| path.split('/').count() > 2)
}

fn project(from: &Instance<'_>) -> String {
    match from.field("project").text() {
        Some(project) => format!("projects/{project}"),
        None => format!("projects/({})", from.provider),
    }
}

/// The last part of a region or zone; empty where the provider's default will be taken.
fn local<'a>(from: &Instance<'a>, attribute: &str) -> &'a str {
    let text = from.field(attribute).text().unwrap_or_default();
    text.rsplit('/').next().unwrap_or_default()
}
