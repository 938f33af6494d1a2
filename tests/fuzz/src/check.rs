//! What holds for tokens, trees and diagnostics of any text.

use formwork_diagnostics::{Diagnostics, SourceRange};
use formwork_syntax::{Body, Expression, MAX_DIAGNOSTICS, ScanMode, TokenKind, scan};

/// No byte is lost between tokens.
pub(crate) fn tokens(text: &[u8], mode: ScanMode) {
    let mut at = 0;
    let tokens = scan(text, mode);
    for token in &tokens {
        let gap = &text[at as usize..token.start as usize];
        let mark = at == 0 && mode == ScanMode::Code && gap.starts_with(&[0xef, 0xbb, 0xbf]);
        let blanks = if mark { &gap[3..] } else { gap };
        let lost = blanks.iter().any(|b| !matches!(b, b' ' | b'\t'));
        assert!(!lost, "bytes lost before {token:?}");
        assert!(token.start <= token.end, "{token:?}");
        at = token.end;
    }
    assert_eq!(at as usize, text.len(), "bytes lost at the end");
    assert_eq!(tokens.last().map(|t| t.kind), Some(TokenKind::End));
}

fn inside(range: SourceRange, within: SourceRange) -> bool {
    within.start <= range.start && range.start <= range.end && range.end <= within.end
}

/// Few enough, and each stands in the text.
pub(crate) fn diagnostics(text: &[u8], said: &Diagnostics) {
    let errors = said.iter().filter(|d| d.is_error()).count();
    assert!(errors <= 40 * (MAX_DIAGNOSTICS + 1), "{errors} errors");
    for d in said {
        for range in [d.subject, d.context].into_iter().flatten() {
            let fine = range.start <= range.end && range.end as usize <= text.len();
            assert!(fine, "{d:?} lies outside the text");
        }
    }
}

/// Ranges nest, and what could not be read has been reported.
pub(crate) fn body(text: &[u8], body: &Body, reported: bool) {
    let end = u32::try_from(text.len()).expect("small texts");
    let face = body.debug_text();
    // The word may stand in a string.
    let odd = face.contains("<invalid>") && !text.windows(9).any(|w| w == b"<invalid>");
    assert!(!odd || reported, "invalid without a word");
    let mut open = vec![body.clone()];
    while let Some(body) = open.pop() {
        for a in body.attributes() {
            assert!(
                inside(a.range, body.range()),
                "{:?} is not within its body",
                a.name
            );
            assert!(
                reported || inside(a.expression.range(), a.range),
                "a value outside its argument"
            );
            a.expression.variables();
        }
        for block in body.blocks() {
            assert!(
                inside(block.range(), body.range()),
                "a block outside its body"
            );
            open.push(block.body.clone());
        }
    }
    for offset in [0, end / 2, end] {
        body.context_at(offset);
    }
}

/// An expression can be shown, walked and freed.
pub(crate) fn expression(expression: &Expression, reported: bool) {
    expression.debug_text();
    expression.variables();
    assert!(
        !expression.is_invalid() || reported,
        "invalid without a word"
    );
}
