//! Which items of two sequences belong together.
//!
//! The algorithm's cost grows with length times difference, so beyond a size its answer is simply
//! "all of this became all of that". A deadline by the clock would do as well, but then the same plan
//! could be shown in two ways.

use similar::{Algorithm, DiffOp, capture_diff_slices};
use std::collections::HashMap;
use std::hash::Hash;

/// What became of an item, by positions before and after.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pair {
    /// It is still there.
    Same(usize, usize),
    /// It became another.
    Changed(usize, usize),
    /// It is gone.
    Removed(usize),
    /// It is new.
    Added(usize),
}

/// Items that differ, both sides together, up to which the best answer is sought.
const MOST: usize = 4_000;

/// Aligns two sequences. `pair` says whether a removed item may be shown as having become an added
/// one that stands in its place.
pub(crate) fn align<T: Eq + Hash>(
    before: &[T],
    after: &[T],
    pair: impl Fn(&T, &T) -> bool,
) -> Vec<Pair> {
    let head = before.iter().zip(after).take_while(|(b, a)| b == a).count();
    let tail = before[head..]
        .iter()
        .rev()
        .zip(after[head..].iter().rev())
        .take_while(|(b, a)| b == a)
        .count();
    let (old_end, new_end) = (before.len() - tail, after.len() - tail);
    let mut pairs: Vec<Pair> = (0..head).map(|i| Pair::Same(i, i)).collect();
    for op in differing(&before[head..old_end], &after[head..new_end]) {
        let (old, new) = (op.old_range(), op.new_range());
        let (old, new) = (
            old.start + head..old.end + head,
            new.start + head..new.end + head,
        );
        match op {
            DiffOp::Equal { .. } => pairs.extend(old.zip(new).map(|(b, a)| Pair::Same(b, a))),
            DiffOp::Delete { .. } => pairs.extend(old.map(Pair::Removed)),
            DiffOp::Insert { .. } => pairs.extend(new.map(Pair::Added)),
            DiffOp::Replace { .. } => {
                let paired = old.len().min(new.len());
                let together = old.clone().zip(new.clone());
                if together.clone().all(|(b, a)| pair(&before[b], &after[a])) {
                    pairs.extend(together.map(|(b, a)| Pair::Changed(b, a)));
                    pairs.extend(old.skip(paired).map(Pair::Removed));
                    pairs.extend(new.skip(paired).map(Pair::Added));
                } else {
                    pairs.extend(old.map(Pair::Removed));
                    pairs.extend(new.map(Pair::Added));
                }
            }
        }
    }
    pairs.extend(
        (old_end..before.len())
            .zip(new_end..)
            .map(|(b, a)| Pair::Same(b, a)),
    );
    pairs
}

/// The operations between two sequences that differ at both ends.
fn differing<T: Eq + Hash>(before: &[T], after: &[T]) -> Vec<DiffOp> {
    if before.len() + after.len() > MOST {
        return vec![DiffOp::Replace {
            old_index: 0,
            old_len: before.len(),
            new_index: 0,
            new_len: after.len(),
        }];
    }
    // items are compared many times, and may be large: each distinct one gets a number
    let mut numbers: HashMap<&T, usize> = HashMap::new();
    let mut number = |item| {
        let next = numbers.len();
        *numbers.entry(item).or_insert(next)
    };
    let before: Vec<usize> = before.iter().map(&mut number).collect();
    let after: Vec<usize> = after.iter().map(&mut number).collect();
    capture_diff_slices(Algorithm::Myers, &before, &after)
}

#[cfg(test)]
mod tests {
    use super::*;
    use Pair::{Added, Changed, Removed, Same};

    #[test]
    fn pairs() {
        let check = |before: &str, after: &str, want: &[Pair]| {
            let (b, a): (Vec<char>, Vec<char>) =
                (before.chars().collect(), after.chars().collect());
            let pair = |x: &char, y: &char| x.is_lowercase() && y.is_lowercase();
            assert_eq!(align(&b, &a, pair), want, "{before} {after}");
        };
        check("", "", &[]);
        check("abc", "abc", &[Same(0, 0), Same(1, 1), Same(2, 2)]);
        check("abc", "ac", &[Same(0, 0), Removed(1), Same(2, 1)]);
        check(
            "abcd",
            "acde",
            &[Same(0, 0), Removed(1), Same(2, 1), Same(3, 2), Added(3)],
        );
        check("axc", "ayc", &[Same(0, 0), Changed(1, 1), Same(2, 2)]);
        check(
            "aXc",
            "aYc",
            &[Same(0, 0), Removed(1), Added(1), Same(2, 2)],
        );
        check("ax", "ayz", &[Same(0, 0), Changed(1, 1), Added(2)]);
        check("aa", "a", &[Same(0, 0), Removed(1)]);
    }

    #[test]
    fn what_is_too_long_is_replaced_whole() {
        let before: Vec<usize> = (0..3_000).collect();
        let after: Vec<usize> = (1..3_001).collect();
        let pairs = align(&before, &after, |_, _| false);
        assert_eq!(pairs.len(), 6_000);
    }
}
