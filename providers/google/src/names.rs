//! Self links and names: one place that knows their spellings.
//!
//! Google writes `https://www.googleapis.com/compute/v1/projects/p/global/networks/n`, users write
//! that with another host or version (`.../compute/beta/...`), a path (`projects/p/global/networks/n`,
//! `global/networks/n`) or the bare name. [`relative`] brings all links to the path form; a property
//! test holds that to be idempotent and blind to host and version.

/// A self link without scheme, host and version: `projects/p/global/networks/n`. What is no link is
/// returned as it is.
pub(crate) fn relative(link: &str) -> &str {
    let path = match link.split_once("://") {
        Some((_, rest)) => rest.split_once('/').map_or("", |(_, path)| path),
        None => link
            .strip_prefix("//")
            .and_then(|rest| rest.split_once('/'))
            .map_or(link, |(_, path)| path),
    };
    let path = path.trim_start_matches('/');
    // compute/v1/projects/..., v1/projects/..., storage/v1/b/...; a project may be called like a version
    let mut parts = path.splitn(3, '/');
    match (parts.next(), parts.next(), parts.next()) {
        (Some("projects" | "folders" | "organizations" | "b"), ..) => path,
        (Some(version), Some(_), _) if is_version(version) => {
            path.split_once('/').map_or(path, |(_, after)| after)
        }
        (Some(_), Some(version), Some(rest)) if is_version(version) => rest,
        _ => path,
    }
}

/// `v1`, `beta`, `v2alpha1`.
fn is_version(part: &str) -> bool {
    if matches!(part, "alpha" | "beta" | "staging_v1") {
        return true;
    }
    let Some(rest) = part.strip_prefix('v') else {
        return false;
    };
    let rest = rest.trim_start_matches(|c: char| c.is_ascii_digit());
    let digits = part.len() - 1 - rest.len();
    let stage = ["alpha", "beta"]
        .iter()
        .find_map(|stage| rest.strip_prefix(stage))
        .unwrap_or(rest);
    (1..=2).contains(&digits) && stage.len() <= 2 && stage.chars().all(|c| c.is_ascii_digit())
}

/// The last part of a link or path, or the bare name itself.
pub(crate) fn last(link: &str) -> &str {
    let link = link.split(['?', '#']).next().unwrap_or(link);
    link.trim_end_matches('/')
        .rsplit('/')
        .next()
        .unwrap_or(link)
}

/// Whether two links lead to the same thing. A path without `projects/P` fits any project, because
/// it is short for the project at hand.
pub(crate) fn same_link(a: &str, b: &str) -> bool {
    let (a, b) = (relative(a), relative(b));
    if a == b {
        return true;
    }
    match (without_project(a), without_project(b)) {
        (Some(a), None) => a == b,
        (None, Some(b)) => a == b,
        _ => false,
    }
}

fn without_project(path: &str) -> Option<&str> {
    path.strip_prefix("projects/")
        .and_then(|rest| rest.split_once('/'))
        .map(|(_, rest)| rest)
}

/// The same, where a bare name stands for any link that ends in it.
pub(crate) fn same_link_or_name(a: &str, b: &str) -> bool {
    if !a.contains('/') || !b.contains('/') {
        last(a) == last(b)
    } else {
        same_link(a, b)
    }
}

/// The part after `mark/` in a link: the region of `.../regions/r/subnetworks/s`.
pub(crate) fn after<'l>(link: &'l str, mark: &str) -> Option<&'l str> {
    let mut parts = link.split('/');
    parts.find(|part| *part == mark)?;
    parts.next()
}

/// The region of a zone: `us-central1` of `us-central1-a`.
pub(crate) fn region_of_zone(zone: &str) -> Option<&str> {
    last(zone).rsplit_once('-').map(|(region, _)| region)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn spellings() {
        let path = "projects/p/global/networks/n";
        for link in [
            "https://www.googleapis.com/compute/v1/projects/p/global/networks/n",
            "https://compute.googleapis.com/compute/beta/projects/p/global/networks/n",
            "http://127.0.0.1:80/compute/v1/projects/p/global/networks/n",
            "//compute.googleapis.com/projects/p/global/networks/n",
            "https://file.googleapis.com/v1/projects/p/global/networks/n",
            "compute/v1/projects/p/global/networks/n",
            path,
        ] {
            assert_eq!(relative(link), path, "{link}");
            assert!(same_link(link, "global/networks/n") && same_link_or_name(link, "n"));
            assert!(!same_link(link, "projects/q/global/networks/n"));
            assert_eq!(last(link), "n");
        }
        assert_eq!(relative("plain"), "plain");
        assert_eq!(after("x/regions/r/subnetworks/s", "regions"), Some("r"));
        assert_eq!(region_of_zone("us-central1-a"), Some("us-central1"));
        assert!(!same_link_or_name("a/b/n", "a/c/n") && same_link_or_name("n", "a/c/n"));
    }

    proptest! {
        #![proptest_config(ProptestConfig {
            failure_persistence: None,
            rng_seed: proptest::test_runner::RngSeed::Fixed(7),
            ..ProptestConfig::default()
        })]
        #[test]
        fn canonical_form_is_blind_to_host_and_version(
            host in "(www|compute)\\.googleapis\\.com|127\\.0\\.0\\.1:[0-9]{2,4}",
            version in "v1|beta|alpha|v1beta1",
            project in "[a-z][a-z0-9-]{4,20}[a-z0-9]",
            scope in "global|regions/[a-z]+-[a-z]+[1-9]|zones/[a-z]+-[a-z]+[1-9]-[a-f]",
            collection in "networks|subnetworks|instances|networkProfiles|disks",
            name in "[a-z]([-a-z0-9]{0,30}[a-z0-9])?",
        ) {
            let path = format!("projects/{project}/{scope}/{collection}/{name}");
            let link = format!("https://{host}/compute/{version}/{path}");
            prop_assert_eq!(relative(&link), path.as_str());
            prop_assert_eq!(relative(relative(&link)), path.as_str());
            prop_assert!(same_link(&link, &path));
            let short = format!("{scope}/{collection}/{name}");
            prop_assert!(same_link(&link, &short));
            prop_assert!(same_link_or_name(&name, &link));
            let other = format!("{path}x");
            prop_assert!(!same_link(&link, &other));
        }
    }
}
