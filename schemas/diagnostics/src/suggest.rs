//! Near names, for "did you mean".

/// The candidate nearest to `given`, if one is near enough to be what the user meant.
///
/// Near enough is a Damerau-Levenshtein distance (adjacent swaps count one) of at most a third of
/// the longer name, at least 1; names of one letter are near none. Among equals the first in the given
/// order wins. Where none is near enough, the only one that begins with the given name, or that the
/// given name begins with, is taken if what they share is three letters or more.
pub fn nearest<'a>(given: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let candidates: Vec<&str> = candidates.into_iter().collect();
    // what was written is known, but means nothing where it stands: no other name was meant
    if candidates.contains(&given) {
        return None;
    }
    nearest_within(given, candidates.iter().copied(), usize::MAX).or_else(|| {
        let same = |c: &&&str| {
            given.len().min(c.len()) >= 3 && (c.starts_with(given) || given.starts_with(**c))
        };
        let mut begun = candidates.iter().filter(same);
        match (begun.next(), begun.next()) {
            (Some(only), None) => Some(*only),
            _ => None,
        }
    })
}

/// The same with at most `most` slips, for long names of which different ones come near each other.
pub fn nearest_within<'a>(
    given: &str,
    candidates: impl IntoIterator<Item = &'a str>,
    most: usize,
) -> Option<&'a str> {
    let mut best: Option<(usize, &str)> = None;
    for candidate in candidates {
        let limit = (given.chars().count().max(candidate.chars().count()) / 3).max(1);
        let limit = limit.min(most);
        if given.chars().count().max(candidate.chars().count()) == 1 {
            continue;
        }
        // cheaper than the distance, and never more than it
        if given.len().abs_diff(candidate.len()) > limit * 4 {
            continue;
        }
        let distance = distance(given, candidate);
        if distance <= limit && best.is_none_or(|(d, _)| distance < d) {
            best = Some((distance, candidate));
        }
    }
    best.map(|(_, name)| name)
}

fn distance(a: &str, b: &str) -> usize {
    let a: Vec<char> = a.chars().collect();
    let b: Vec<char> = b.chars().collect();
    let mut before: Vec<usize> = vec![0; b.len() + 1];
    let mut previous: Vec<usize> = (0..=b.len()).collect();
    for i in 1..=a.len() {
        let mut row = vec![i; b.len() + 1];
        for j in 1..=b.len() {
            let substitution = previous[j - 1] + usize::from(a[i - 1] != b[j - 1]);
            row[j] = substitution.min(previous[j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                row[j] = row[j].min(before[j - 2] + 1);
            }
        }
        before = std::mem::replace(&mut previous, row);
    }
    previous[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nearest_names() {
        let names = ["google_compute_network", "google_compute_subnetwork", "ab"];
        assert_eq!(
            nearest("google_compute_netwrok", names),
            Some("google_compute_network")
        );
        assert_eq!(nearest("ba", names), Some("ab"));
        assert_eq!(nearest("kubernetes", names), None);
        assert_eq!(
            nearest("desc", ["default", "description"]),
            Some("description")
        );
        assert_eq!(nearest("des", ["descend", "description"]), None);
        assert_eq!(nearest("z", ["x", "y"]), None);
        assert_eq!(nearest("count", ["count", "counts"]), None);
    }
}
