//! Random valid text, and `hcl-edit` as a second opinion on whether text is valid.
//!
//! The second opinion differs where it is known to be wrong; Terraform itself settles those:
//! - It refuses repeated keys in an object, nesting beyond 64, chains beyond 128 operators, a byte order mark, numbers beyond a
//!   float, invalid UTF-8 in comments.
//! - It accepts a line break within quotes, a heredoc whose end marker is the end of the file,
//!   `[for]` and `{for = 1}`, `1.5.5`, `a.0.1`, `a.*.b.*.c`.

use crate::source::{Choices, file, within_budget};
use formwork_diagnostics::FileId;
use formwork_syntax::{format, parse};

#[test]
fn valid_text_is_accepted_and_formatting_keeps_its_meaning() {
    within_budget("generated", 2_000, |seed| {
        let text = file(&mut Choices::new(seed));
        let (body, diagnostics) = parse(FileId(0), text.as_bytes());
        assert!(
            diagnostics.is_empty(),
            "seed {seed}: {diagnostics:?}\n{text}"
        );
        if let Err(error) = text.parse::<hcl_edit::structure::Body>() {
            assert!(
                known_refusal(&error.to_string()),
                "seed {seed}: {error}\n{text}"
            );
        }
        let (formatted, diagnostics) = format(FileId(0), text.as_bytes());
        assert!(diagnostics.is_empty(), "seed {seed}");
        let (again, diagnostics) = parse(FileId(0), &formatted);
        let formatted = String::from_utf8_lossy(&formatted);
        assert!(
            diagnostics.is_empty(),
            "seed {seed}: {diagnostics:?}\n{text}\n{formatted}"
        );
        // Only what the formatter modernises may differ: lone interpolations and label quotes.
        let plain = |text: String| text.replace(['(', ')', '"'], "").replace("wrap ", "");
        assert_eq!(
            plain(body.debug_text()).replace("parens ", ""),
            plain(again.debug_text()).replace("parens ", ""),
            "seed {seed}:\n{text}\n{formatted}"
        );
    });
}

/// Refusals of the second opinion in which it is wrong.
fn known_refusal(message: &str) -> bool {
    // Of equal keys in an object the last one wins; and a key in parentheses on the next line does not
    // make a call of the keyword before it.
    message.contains("redefined object key")
        || message.contains("invalid object item; expected `}`")
}
