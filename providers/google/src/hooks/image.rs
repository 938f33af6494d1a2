//! Images by family and by short name.
//!
//! `debian-12` may be an image of the project, a family of the project, or a family of the project
//! that publishes Debian; `debian-cloud/debian-12` an image or a family there. Only asking tells.

use std::sync::{Arc, PoisonError};

use formwork_google_client::{ErrorKind, GoogleError};
use serde_json::Value as Json;

use crate::cloud::Cloud;
use crate::names;

/// Which project publishes images whose names begin so.
const PUBLISHERS: [(&str, &str); 16] = [
    ("almalinux-", "almalinux-cloud"),
    ("centos-", "centos-cloud"),
    ("common-gpu-", "ml-images"),
    ("cos-", "cos-cloud"),
    ("debian-", "debian-cloud"),
    ("fedora-coreos-", "fedora-coreos-cloud"),
    ("hpc-", "cloud-hpc-image-public"),
    ("opensuse-", "opensuse-cloud"),
    ("rhel-", "rhel-cloud"),
    ("rocky-linux-", "rocky-linux-cloud"),
    ("sles-", "suse-cloud"),
    ("slurm-gcp-", "schedmd-slurm-public"),
    ("sql-", "windows-sql-cloud"),
    ("ubuntu-", "ubuntu-os-cloud"),
    ("ubuntu-pro-", "ubuntu-os-pro-cloud"),
    ("windows-", "windows-cloud"),
];

/// The path that the API takes for an image: `projects/P/global/images/N` or `.../family/F`.
///
/// # Errors
/// When no such image is found, or Google cannot be asked.
pub(crate) async fn resolve(cloud: &Cloud, name: &str) -> Result<String, GoogleError> {
    let path = names::relative(name);
    if path.starts_with("projects/") {
        return Ok(path.to_owned());
    }
    let own = cloud.settings.project.as_deref().unwrap_or_default();
    if path.starts_with("global/images/") {
        return Ok(format!("projects/{own}/{path}"));
    }
    let mut tries: Vec<String> = Vec::new();
    let short = path.strip_prefix("family/").unwrap_or(path);
    match path.split_once('/') {
        Some(("family", family)) => {
            tries.push(format!("projects/{own}/global/images/family/{family}"))
        }
        Some((project, rest)) => {
            let rest = rest.strip_prefix("family/").unwrap_or(rest);
            tries.push(format!("projects/{project}/global/images/{rest}"));
            tries.push(format!("projects/{project}/global/images/family/{rest}"));
        }
        None => {
            tries.push(format!("projects/{own}/global/images/{path}"));
            tries.push(format!("projects/{own}/global/images/family/{path}"));
        }
    }
    // The longest beginning first: ubuntu-pro- before ubuntu-.
    let mut publishers: Vec<&(&str, &str)> = PUBLISHERS
        .iter()
        .filter(|(head, _)| short.starts_with(head))
        .collect();
    publishers.sort_by_key(|(head, _)| std::cmp::Reverse(head.len()));
    if !path.contains('/') || path.starts_with("family/") {
        for (_, project) in publishers {
            tries.push(format!("projects/{project}/global/images/family/{short}"));
            tries.push(format!("projects/{project}/global/images/{short}"));
        }
    }
    for path in &tries {
        if image(cloud, path).await?.is_some() {
            return Ok(path.clone());
        }
    }
    Err(GoogleError::local(
        ErrorKind::NotFound,
        format!(
            "no image or image family \"{name}\" was found (looked for {})",
            tries.join(", ")
        ),
    ))
}

/// An image by its path; asked for once per run.
pub(crate) async fn image(cloud: &Cloud, path: &str) -> Result<Option<Arc<Json>>, GoogleError> {
    let known = {
        let images = cloud.images.lock().unwrap_or_else(PoisonError::into_inner);
        images.get(path).cloned()
    };
    if known.is_some() {
        return Ok(known);
    }
    match cloud
        .client
        .send(&cloud.get("compute", format!("compute/v1/{path}")))
        .await
    {
        Ok(answer) => {
            let json = Arc::new(answer.body);
            let mut images = cloud.images.lock().unwrap_or_else(PoisonError::into_inner);
            images.insert(path.to_owned(), Arc::clone(&json));
            Ok(Some(json))
        }
        Err(e) if e.kind == ErrorKind::NotFound => Ok(None),
        Err(e) => Err(e),
    }
}
