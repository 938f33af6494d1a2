//! Layout changes no meaning.

use crate::FILE;
use formwork_syntax::{Body, Expression, ExpressionKind, TokenKind, parse};

/// Laid out text means what it meant; text with errors stays as it is.
pub fn format(text: &[u8]) {
    let (before, said) = parse(FILE, text);
    let (out, reported) = formwork_syntax::format(FILE, text);
    if said.has_errors() {
        assert!(reported.has_errors(), "an error that went unsaid");
        assert_eq!(out, text, "text with errors was changed");
        return;
    }
    if unwraps_a_comment(text, &before) || joins_numbers(text) {
        return;
    }
    let (after, wrong) = parse(FILE, &out);
    assert!(
        !wrong.has_errors(),
        "laid out, it has errors: {wrong:?}\n{}",
        String::from_utf8_lossy(&out)
    );
    same(&before, &after, &mut Vec::new());
}

/// Terraform, and so we, take `"${` and `}"` away around a comment too, which then may swallow what
/// follows it or stand where no line may end.
fn unwraps_a_comment(text: &[u8], body: &Body) -> bool {
    let comment = |e: &Expression| {
        let range = e.range();
        let inside = &text[range.start as usize..range.end as usize];
        matches!(e.kind(), ExpressionKind::TemplateWrap(_))
            && formwork_syntax::scan(inside, formwork_syntax::ScanMode::Code)
                .iter()
                .any(|t| matches!(t.kind, TokenKind::LineComment | TokenKind::InlineComment))
    };
    let mut open = vec![body.clone()];
    while let Some(body) = open.pop() {
        if body.attributes().iter().any(|a| comment(&a.expression)) {
            return true;
        }
        open.extend(body.blocks().iter().map(|b| b.body.clone()));
    }
    false
}

/// `0. 1`, `x.0 .1` and `1 .E2` lose their spaces, as Terraform has it, and are other numbers then.
fn joins_numbers(text: &[u8]) -> bool {
    formwork_syntax::scan(text, formwork_syntax::ScanMode::Code)
        .windows(3)
        .any(|three| {
            let number = |i: usize| three[i].kind == TokenKind::Number;
            let exponent = three[2].kind == TokenKind::Identifier
                && matches!(text.get(three[2].start as usize), Some(b'e' | b'E'));
            number(0) && three[1].kind == TokenKind::Dot && (number(2) || exponent)
        })
}

fn same<'a>(before: &'a Body, after: &Body, within: &mut Vec<&'a str>) {
    assert_eq!(
        before.attributes().len(),
        after.attributes().len(),
        "arguments"
    );
    assert_eq!(before.blocks().len(), after.blocks().len(), "blocks");
    for (a, b) in before.attributes().iter().zip(after.attributes()) {
        assert_eq!(a.name, b.name);
        let keyword = *within == ["variable"] && &*a.name == "type";
        if !keyword {
            same_value(&a.expression, &b.expression);
        }
    }
    for (a, b) in before.blocks().iter().zip(after.blocks()) {
        assert_eq!(a.block_type, b.block_type);
        let labels = |block: &formwork_syntax::Block| -> Vec<String> {
            block.labels.iter().map(|l| l.value.to_string()).collect()
        };
        assert_eq!(labels(a), labels(b));
        if within.len() < 2 {
            within.push(&a.block_type);
            same(&a.body, &b.body, within);
            within.pop();
        } else {
            same(&a.body, &b.body, within);
        }
    }
}

/// `"${x}"` may have become `x` or `(x)`.
fn same_value(before: &Expression, after: &Expression) {
    let (was, is) = (before.debug_text(), after.debug_text());
    if was == is {
        return;
    }
    if let ExpressionKind::TemplateWrap(inner) = before.kind() {
        let unwrapped = inner.without_parentheses().debug_text();
        if unwrapped == after.without_parentheses().debug_text() {
            return;
        }
    }
    assert_eq!(was, is, "the meaning changed");
}
