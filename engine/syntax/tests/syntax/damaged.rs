//! Damaged text: nothing panics, everything ends, no byte is lost, and every range lies in the text.

use crate::source::{Choices, file, within_budget};
use formwork_diagnostics::FileId;
use formwork_syntax::{
    AttributeSchema, BlockSchema, BodySchema, JsonStrings, MAX_DIAGNOSTICS, OffsetMap, ScanMode,
    TokenKind, format, parse, parse_json, parse_template, scan,
};

const PIECES: &[&str] = &[
    "\"",
    "${",
    "%{",
    "}",
    "{",
    "[",
    "]",
    "(",
    ")",
    "=",
    ",",
    ".",
    "...",
    "*",
    "# c\n",
    "/*",
    "*/",
    "<<E\n",
    "E\n",
    "\n",
    "\r\n",
    "\r",
    "\\",
    "~",
    "$",
    "%",
    "for ",
    " in ",
    " if ",
    "::",
    "=>",
    "?",
    ":",
    "1.5.5",
    ".0.1",
    "'",
    "`",
    ";",
    "&",
    "|",
    "\u{201c}",
    "\u{feff}",
    "%{ if x }",
    "%{ endif }",
    "\\u12",
    "é",
    "\0",
];

fn damage(choices: &mut Choices, text: &mut Vec<u8>) {
    for _ in 0..=choices.below(4) {
        let at = choices.below(text.len() + 1);
        match choices.below(4) {
            0 => drop(text.splice(at..at, choices.of(PIECES).bytes())),
            1 => {
                let end = (at + 1 + choices.below(8)).min(text.len());
                text.drain(at..end);
            }
            2 => {
                let end = (at + choices.below(30)).min(text.len());
                let piece = text[at..end].to_vec();
                let to = choices.below(text.len() + 1);
                text.splice(to..to, piece);
            }
            _ => text.insert(at, u8::try_from(choices.below(256)).expect("a byte")),
        }
    }
}

fn check_tokens(text: &[u8], mode: ScanMode, seed: u64) {
    let mut at = 0;
    let tokens = scan(text, mode);
    for token in &tokens {
        let gap = &text[at as usize..token.start as usize];
        let mark = at == 0 && mode == ScanMode::Code && gap.starts_with(&[0xef, 0xbb, 0xbf]);
        let blanks = if mark { &gap[3..] } else { gap };
        let lost = blanks.iter().any(|b| !matches!(b, b' ' | b'\t'));
        assert!(!lost, "seed {seed}: bytes lost before {token:?}");
        assert!(token.start <= token.end, "seed {seed}: {token:?}");
        at = token.end;
    }
    assert_eq!(
        at as usize,
        text.len(),
        "seed {seed}: bytes lost at the end"
    );
    assert_eq!(tokens.last().map(|t| t.kind), Some(TokenKind::End));
}

#[test]
fn damaged_text_does_no_harm() {
    within_budget("damaged", 5_000, |seed| {
        let choices = &mut Choices::new(seed ^ 0xdead_beef);
        let mut text = file(choices).into_bytes();
        damage(choices, &mut text);
        check_tokens(&text, ScanMode::Code, seed);
        check_tokens(&text, ScanMode::Template, seed);
        let (body, diagnostics) = parse(FileId(0), &text);
        assert!(diagnostics.len() <= MAX_DIAGNOSTICS + 1, "seed {seed}");
        for d in &diagnostics {
            let range = d
                .subject
                .unwrap_or_else(|| panic!("seed {seed}: {d:?} has no place"));
            let inside = range.start <= range.end && range.end as usize <= text.len();
            assert!(inside, "seed {seed}: {d:?}");
        }
        let face = body.debug_text();
        assert!(
            !face.contains("<invalid>") || diagnostics.has_errors(),
            "seed {seed}: invalid without a word\n{}",
            String::from_utf8_lossy(&text)
        );
        for attribute in body.attributes() {
            attribute.expression.variables();
        }
        let (out, found) = format(FileId(0), &text);
        assert!(!found.has_errors() || out == text, "seed {seed}");
        let (template, _) = parse_template(FileId(0), &text, OffsetMap::PLAIN);
        template.debug_text();
    });
}

const JSON: &str = r#"{ "//": "c", "a": "x${b.c[0]}\u00e9\ud83d\ude00", "n": [1.5e3, -0, true, null],
  "r": { "t": { "x": { "y": "list(string)" }, "z": [{}, { "k": "%{ if q }w%{ endif }" }] } } }"#;

#[test]
fn damaged_json_does_no_harm() {
    let schema = BodySchema {
        attributes: &[
            AttributeSchema::optional("a"),
            AttributeSchema::required("n"),
        ],
        blocks: &[BlockSchema::new("r", &["type", "name"])],
    };
    within_budget("damaged JSON", 25_000, |seed| {
        let choices = &mut Choices::new(seed ^ 0xbeef);
        let mut text = JSON.as_bytes().to_vec();
        damage(choices, &mut text);
        let (body, diagnostics) = parse_json(FileId(0), &text, JsonStrings::Templates);
        let (content, said) = body.content(&schema);
        for d in diagnostics.iter().chain(&said) {
            let range = d
                .subject
                .unwrap_or_else(|| panic!("seed {seed}: {d:?} has no place"));
            let inside = range.start <= range.end && range.end as usize <= text.len();
            assert!(inside, "seed {seed}: {d:?}");
        }
        for block in &content.blocks {
            for attribute in &block.body.just_attributes().0 {
                attribute.expression.as_static_call();
                let _ = attribute.expression.as_constant();
                attribute.expression.variables();
            }
        }
    });
}
