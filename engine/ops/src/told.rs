//! One mistake, told once, in the order of the text.

use formwork_diagnostics::{Diagnostic, Diagnostics, Severity, SourceRange};
use std::collections::HashMap;

/// What makes two diagnostics the same mistake: all but the address, since a block with a thousand
/// instances is wrong in one place.
type Mistake = (Severity, String, String, SourceRange);

/// The diagnostics, those about the same text in the same words once: the first is kept and says how
/// many further instances have it. Warnings come before errors, so that errors are what a terminal shows
/// last; of each what has no place comes first, then in the order of files and lines.
pub(crate) fn told_once(said: Diagnostics) -> Diagnostics {
    let mut first: HashMap<Mistake, usize> = HashMap::new();
    let mut kept: Vec<(Diagnostic, usize)> = Vec::with_capacity(said.len());
    for d in said {
        if let Some(range) = d.subject {
            let mistake = (d.severity, d.summary.clone(), d.detail.clone(), range);
            if let Some(at) = first.get(&mistake) {
                if let Some((known, more)) = kept.get_mut(*at) {
                    *more += usize::from(known.address != d.address);
                }
                continue;
            }
            first.insert(mistake, kept.len());
        }
        kept.push((d, 0));
    }
    kept.sort_by_key(|(d, _)| {
        let place = d.subject.map(|s| (s.file, s.start));
        (std::cmp::Reverse(d.severity), place)
    });
    kept.into_iter()
        .map(|(d, more)| match more {
            0 => d,
            1 => d.hint("The same is wrong with 1 more instance."),
            _ => d.hint(format!("The same is wrong with {more} more instances.")),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use formwork_diagnostics::FileId;

    #[test]
    fn the_same_text_is_told_once() {
        let at = |start| SourceRange::new(FileId(0), start, start + 1);
        let error = |start| Diagnostic::error("Bad", "Bad indeed.").at(at(start));
        let said = [
            error(1).about("a.b[0]"),
            error(2),
            error(1).about("a.b[1]"),
            error(1).about("a.b[2]"),
            error(2),
            Diagnostic::error("Nowhere", "It has no place."),
            Diagnostic::error("Nowhere", "It has no place."),
        ];
        let told = told_once(said.into_iter().collect());
        let told: Vec<_> = told
            .iter()
            .map(|d| (d.subject.map(|s| s.start), d.hints.join(" ")))
            .collect();
        let hint = "The same is wrong with 2 more instances.".to_owned();
        let none = String::new;
        assert_eq!(
            told,
            [
                (None, none()),
                (None, none()),
                (Some(1), hint),
                (Some(2), none())
            ]
        );
    }
}
