//! Where each service answers.

use std::collections::BTreeMap;

/// Base addresses per service.
///
/// A base ends in `/`; a request's path (which begins with the API's own prefix, `compute/v1/` or
/// `v1/`) is appended to it. Under a mock cloud every service lives below one address, each in a
/// folder of its own named after its host's first label, because paths of different services would
/// otherwise collide (`v1/projects/...`).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Endpoints {
    base: Option<String>,
    custom: BTreeMap<String, String>,
}

impl Default for Endpoints {
    fn default() -> Self {
        Self::google()
    }
}

impl Endpoints {
    /// The public hosts, `https://SERVICE.googleapis.com/`.
    pub fn google() -> Self {
        Self {
            base: None,
            custom: BTreeMap::new(),
        }
    }

    /// All services below one address: `http://127.0.0.1:8080` serves compute at
    /// `http://127.0.0.1:8080/compute/compute/v1/...`.
    pub fn below(base: &str) -> Self {
        Self {
            base: Some(with_slash(base)),
            custom: BTreeMap::new(),
        }
    }

    /// Sets the address of one service; wins over all else. A trailing API prefix (as in
    /// hashicorp/google's `compute_custom_endpoint = "https://host/compute/v1/"`) is recognised by
    /// [`url`](Self::url) and not doubled.
    pub fn set(&mut self, service: &str, base: &str) {
        self.custom.insert(service.to_owned(), with_slash(base));
    }

    /// Whether the services are not Google's own.
    pub fn is_mock(&self) -> bool {
        self.base.is_some()
    }

    /// Whether this service is asked elsewhere than at Google's public host.
    pub fn is_custom(&self, service: &str) -> bool {
        self.base.is_some() || self.custom.contains_key(service)
    }

    /// The full address of a path.
    pub fn url(&self, service: &str, path: &str) -> String {
        if let Some(base) = self.custom.get(service) {
            let rest = overlap(base, path);
            return format!("{base}{rest}");
        }
        match &self.base {
            Some(base) => format!("{base}{service}/{path}"),
            None => format!("https://{service}.googleapis.com/{path}"),
        }
    }
}

fn with_slash(base: &str) -> String {
    if base.ends_with('/') {
        base.to_owned()
    } else {
        format!("{base}/")
    }
}

/// What of `path` is not already the end of `base`: base `https://h/compute/v1/` and path
/// `compute/v1/projects/p` leave `projects/p`.
fn overlap<'p>(base: &str, path: &'p str) -> &'p str {
    let mut best = path;
    for (at, _) in path.match_indices('/') {
        let head = &path[..=at];
        if base
            .strip_suffix(head)
            .is_some_and(|b| b.ends_with('/') && b.len() > "https://".len())
        {
            best = &path[at + 1..];
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses() {
        let mut e = Endpoints::google();
        e.set("compute", "https://psc.example/compute/v1");
        e.set("file", "https://file.example");
        let cases = [
            (
                &e,
                "compute",
                "compute/v1/projects/p",
                "https://psc.example/compute/v1/projects/p",
            ),
            (
                &e,
                "file",
                "v1/projects/p",
                "https://file.example/v1/projects/p",
            ),
            (
                &e,
                "iam",
                "v1/projects/p",
                "https://iam.googleapis.com/v1/projects/p",
            ),
        ];
        for (e, service, path, want) in cases {
            assert_eq!(e.url(service, path), want);
        }
        let m = Endpoints::below("http://127.0.0.1:1");
        assert!(m.is_mock() && m.is_custom("iam") && !e.is_custom("iam"));
        assert_eq!(
            m.url("iam", "v1/projects/p"),
            "http://127.0.0.1:1/iam/v1/projects/p"
        );
    }
}
