//! Self links and the many ways to write one.
//!
//! Compute takes a full URL of any host and version, a path from `projects/`, a path from `global/`,
//! `zones/` or `regions/`, or for most fields a bare name; it always answers the full URL with
//! `www.googleapis.com` and `v1`.

use serde_json::Value;

use crate::checking::Body;
pub(crate) use crate::operations::COMPUTE;

/// The path below the version: of `https://host/compute/beta/projects/p/...` it is `projects/p/...`.
pub(crate) fn path_of(link: &str) -> Option<&str> {
    let link = link
        .strip_prefix("https://")
        .or_else(|| link.strip_prefix("http://"))
        .map_or(link, |rest| rest);
    link.find("projects/").map(|at| &link[at..])
}

/// The key of the object that a compute link names.
pub(crate) fn key_of(link: &str) -> Option<String> {
    path_of(link).map(|path| format!("compute/{path}"))
}

/// The full link of a path.
pub(crate) fn full(path: &str) -> String {
    format!("{COMPUTE}{path}")
}

/// The last part of a link.
pub(crate) fn name_of(link: &str) -> &str {
    link.rsplit('/').next().unwrap_or(link)
}

/// The part after `zones/` or `regions/` of a link or path.
pub(crate) fn part_after<'a>(link: &'a str, word: &str) -> Option<&'a str> {
    let mut parts = link.split('/');
    parts.find(|part| *part == word)?;
    parts.next()
}

/// The full link of what a text names. `home` is the collection that a bare name is looked up in:
/// `projects/p/global/networks`.
pub(crate) fn normalise(text: &str, project: &str, home: &str) -> String {
    if let Some(path) = path_of(text) {
        // some clients write projects/p/global/zones/z
        return full(&path.replacen("/global/zones/", "/zones/", 1).replacen(
            "/global/regions/",
            "/regions/",
            1,
        ));
    }
    if ["global/", "zones/", "regions/"]
        .iter()
        .any(|start| text.starts_with(start))
    {
        return full(&format!("projects/{project}/{text}"));
    }
    full(&format!("{home}/{text}"))
}

/// The keys of all compute objects that a body refers to, itself excepted.
pub(crate) fn references(body: &Body) -> Vec<String> {
    let mut out = Vec::new();
    let mut pending: Vec<&Value> = body
        .iter()
        .filter(|(name, _)| !matches!(name.as_str(), "selfLink" | "selfLinkWithId" | "metadata"))
        .map(|(_, value)| value)
        .collect();
    while let Some(value) = pending.pop() {
        match value {
            Value::String(text) => {
                if let Some(path) = text.strip_prefix(COMPUTE) {
                    out.push(format!("compute/{path}"));
                } else if text.starts_with("projects/") && text.split('/').count() >= 5 {
                    out.push(format!("compute/{text}"));
                }
            }
            Value::Array(items) => pending.extend(items),
            Value::Object(fields) => pending.extend(fields.values()),
            _ => {}
        }
    }
    out.sort();
    out.dedup();
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_spellings_are_one_link() {
        let home = "projects/p/global/networks";
        for text in [
            "n",
            "global/networks/n",
            "projects/p/global/networks/n",
            "https://www.googleapis.com/compute/v1/projects/p/global/networks/n",
            "https://compute.googleapis.com/compute/beta/projects/p/global/networks/n",
            "http://127.0.0.1:8080/compute/compute/v1/projects/p/global/networks/n",
        ] {
            assert_eq!(
                normalise(text, "p", home),
                "https://www.googleapis.com/compute/v1/projects/p/global/networks/n"
            );
        }
        assert_eq!(
            normalise("projects/p/global/zones/z", "p", "projects/p/zones"),
            "https://www.googleapis.com/compute/v1/projects/p/zones/z"
        );
        assert_eq!(
            part_after("projects/p/zones/z/instances/i", "zones"),
            Some("z")
        );
    }
}
