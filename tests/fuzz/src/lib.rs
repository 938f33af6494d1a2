//! What must hold for any bytes at all, one function per kind of text.
//!
//! Each function takes what a fuzzer made up and panics if something does not hold; that nothing
//! panics, hangs or fills memory is part of it. `libfuzzer/` drives them with coverage (it wants a
//! nightly compiler and is no part of the workspace); `tests/corpus.rs` replays the kept corpus in
//! every test run. Findings are mended where they lie and stay in the corpus.
//!
//! Nothing here reads a file: sources are in memory, and the functions of the language get
//! [`NoFiles`].
#![forbid(unsafe_code)]
#![allow(clippy::panic, clippy::expect_used)] // a harness: to panic is how it tells

mod check;
mod expression;
mod layout;

use formwork_configuration::{
    Given, InputLayer, InputOrigin, LanguageLevel, Loading, LocalModulesOnly, MemoryReader,
    StaticInputs, load, load_run, load_tests, parse_tfvars, root_variables,
};
use formwork_diagnostics::{FileId, SourceMap};
use formwork_eval::Functions;
use formwork_syntax::{
    AttributeSchema, BlockSchema, BodySchema, JsonStrings, OffsetMap, ScanMode, parse,
    parse_expression, parse_json, parse_template, parse_traversal,
};
use std::path::Path;

pub use expression::expression;
pub use layout::format;

/// A kind of text: its name, which is the folder of its corpus, and what must hold.
pub type Target = (&'static str, fn(&[u8]));

/// All targets.
pub const TARGETS: &[Target] = &[
    ("parser", parser),
    ("json", json),
    ("format", format),
    ("expression", expression),
    ("tfvars", tfvars),
    ("configuration", configuration),
    ("tests", tests),
];

const FILE: FileId = FileId(0);

/// The native syntax: files, expressions, templates, references.
pub fn parser(text: &[u8]) {
    check::tokens(text, ScanMode::Code);
    check::tokens(text, ScanMode::Template);
    let (body, said) = parse(FILE, text);
    check::diagnostics(text, &said);
    check::body(text, &body, said.has_errors());
    let (expression, said) = parse_expression(FILE, text, OffsetMap::PLAIN);
    check::diagnostics(text, &said);
    check::expression(&expression, said.has_errors());
    let (template, said) = parse_template(FILE, text, OffsetMap::PLAIN);
    check::diagnostics(text, &said);
    check::expression(&template, said.has_errors());
    let (traversal, said) = parse_traversal(FILE, text, OffsetMap::PLAIN);
    check::diagnostics(text, &said);
    assert!(
        traversal.is_some() || said.has_errors(),
        "no reference, and no word"
    );
}

/// The JSON syntax, read with and without a schema.
pub fn json(text: &[u8]) {
    let schema = BodySchema {
        attributes: &[
            AttributeSchema::optional("a"),
            AttributeSchema::required("n"),
        ],
        blocks: &[
            BlockSchema::new("r", &["type", "name"]),
            BlockSchema::new("b", &[]),
        ],
    };
    for strings in [JsonStrings::Templates, JsonStrings::Literals] {
        let (body, said) = parse_json(FILE, text, strings);
        check::diagnostics(text, &said);
        body.debug_text();
        for offset in [0, text.len() / 2, text.len()] {
            body.context_at(u32::try_from(offset).expect("small texts"));
        }
        let (content, said) = body.content(&schema);
        check::diagnostics(text, &said);
        for block in &content.blocks {
            let (attributes, said) = block.body.just_attributes();
            check::diagnostics(text, &said);
            for a in &attributes {
                check::expression(&a.expression, true);
                let _ = a.expression.as_constant();
                a.expression.as_static_call();
                a.expression.as_traversal();
            }
        }
    }
}

/// Files of variable values, in both syntaxes, given to variables of several types.
pub fn tfvars(text: &[u8]) {
    const VARIABLES: &str = r#"
        variable "a" {}
        variable "b" { type = string }
        variable "c" { type = list(number) }
        variable "d" { type = map(object({ a = optional(string, "x"), b = optional(set(bool)) })) }
        variable "e" { type = tuple([number, any]) }
        variable "f" {
          type     = any
          nullable = false
          default  = {}
        }
    "#;
    let reader = MemoryReader::from_iter([("main.tf", VARIABLES)]);
    let mut sources = SourceMap::new();
    let (configuration, said) = load(Path::new("."), &loading(&reader, None), &mut sources);
    assert!(!said.has_errors(), "{said:?}");
    let root = configuration.root().expect("loaded without errors");
    for name in ["x.tfvars", "x.tfvars.json"] {
        let (values, said) = parse_tfvars(name, text, &mut sources);
        check::diagnostics(text, &said);
        let layer = InputLayer {
            origin: InputOrigin::File(name.to_owned()),
            values: values
                .into_iter()
                .map(|(name, value)| (name, Given::Value(value)))
                .collect(),
        };
        let (first, said) = root_variables(root, std::slice::from_ref(&layer), &mut sources);
        let (second, again) = root_variables(root, &[layer], &mut sources);
        assert_eq!(first.values, second.values, "not twice the same");
        assert_eq!(said.len(), again.len(), "not twice the same");
    }
    if let Ok(text) = std::str::from_utf8(text) {
        for v in root.variables.values() {
            let (value, _) = v.value_from_text(text, &mut sources);
            let _ = v.accept(value);
        }
    }
}

/// A whole configuration: files after lines `--- NAME`, the first being `main.tf` without one.
pub fn configuration(text: &[u8]) {
    let mut reader = MemoryReader::new();
    for (name, bytes) in files(text) {
        reader.insert(name, bytes);
    }
    let mut sources = SourceMap::new();
    let functions = expression::functions();
    let with = loading(&reader, Some(&functions));
    let (_, said) = load(Path::new("."), &with, &mut sources);
    for d in &said {
        for range in [d.subject, d.context].into_iter().flatten() {
            let file = sources.get(range.file).expect("a file that was read");
            let inside = range.start <= range.end && range.end as usize <= file.bytes.len();
            assert!(inside, "{d:?} lies outside its file");
        }
    }
    let mut again = SourceMap::new();
    let (_, repeated) = load(Path::new("."), &with, &mut again);
    let lines = |all: &formwork_diagnostics::Diagnostics| -> Vec<String> {
        all.iter().map(|d| format!("{d:?}")).collect()
    };
    assert_eq!(lines(&said), lines(&repeated), "not twice the same");
}

/// Test files, in both syntaxes, and a file of shared mocks; each run is then put together with a
/// configuration.
pub fn tests(text: &[u8]) {
    const MAIN: &str = "variable \"v\" {}\nmodule \"m\" {\n  source = \"./m\"\n}\n";
    for name in [
        "tests/a.tftest.hcl",
        "tests/a.tftest.json",
        "mocks/a.tfmock.hcl",
    ] {
        let mut reader = MemoryReader::from_iter([
            ("main.tf", MAIN),
            ("m/main.tf", "output \"o\" {\n  value = 1\n}\n"),
            (
                "z.tftest.hcl",
                "mock_provider \"x\" {\n  source = \"./mocks\"\n}\nrun \"r\" {\n}\n",
            ),
        ]);
        reader.insert("mocks/b.tfmock.hcl", &b""[..]);
        reader.insert(name, text);
        let with = loading(&reader, None);
        let mut sources = SourceMap::new();
        let (suite, said) = load_tests(Path::new("tests"), &with, &mut sources);
        for d in &said {
            for range in [d.subject, d.context].into_iter().flatten() {
                let file = sources.get(range.file).expect("a file that was read");
                let inside = range.start <= range.end && range.end as usize <= file.bytes.len();
                assert!(inside, "{d:?} lies outside its file");
            }
        }
        for file in &suite.files {
            let _ = file.module_path().to_string();
            for run in file.runs.iter().take(3) {
                let (made, _) = load_run(file, run, &with, &mut sources);
                let _ = (run.state(), made.idle_overrides());
            }
        }
    }
}

fn loading<'a>(reader: &'a MemoryReader, functions: Option<&'a dyn Functions>) -> Loading<'a> {
    Loading {
        reader,
        fetcher: &LocalModulesOnly,
        level: LanguageLevel::default(),
        statics: StaticInputs {
            functions,
            ..StaticInputs::default()
        },
    }
}

/// The files that one text holds.
fn files(text: &[u8]) -> Vec<(&str, &[u8])> {
    let mut found = Vec::new();
    let mut name = "main.tf";
    let (mut start, mut at) = (0, 0);
    for line in text.split_inclusive(|b| *b == b'\n') {
        if let Some(rest) = line.strip_prefix(b"--- ")
            && let Ok(next) = std::str::from_utf8(rest.trim_ascii())
            && !next.is_empty()
        {
            found.push((name, &text[start..at]));
            name = next;
            start = at + line.len();
        }
        at += line.len();
    }
    found.push((name, &text[start..]));
    found
}
