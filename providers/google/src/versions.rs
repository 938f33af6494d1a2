//! Which release of hashicorp/google we stand for.

/// The highest released version in our range (5.0 to below 8.0) that `allowed` accepts; `None` when
/// no released version is allowed. Where the list of releases is from stands in google-schema's
/// `data/versions.txt`.
pub fn best_version(allowed: impl Fn(&str) -> bool) -> Option<&'static str> {
    formwork_google_schema::versions()
        .filter(|version| allowed(version))
        .last()
}

/// The highest released version in our range.
pub fn latest_version() -> &'static str {
    best_version(|_| true).unwrap_or("7.0.0")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_highest_that_is_allowed() {
        assert_eq!(best_version(|v| v.starts_with("6.")), Some("6.50.0"));
        assert_eq!(best_version(|v| v.starts_with("4.")), None);
        assert!(latest_version().starts_with("7.") && latest_version() >= "7.40.0");
    }
}
