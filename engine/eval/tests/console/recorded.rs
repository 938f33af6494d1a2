//! Every recorded expression, evaluated and compared with what Terraform's console answered.
//! `tests/oracle/distil.py` makes the data; the scope is the module it was recorded in.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::SystemTime;

use formwork_diagnostics::{Diagnostic, Diagnostics, SourceMap};
use formwork_environment::Fixed;
use formwork_eval::{
    Builtins, ConsoleResult, EmptyScope, Resolved, Scope, Surroundings, WorkingDirectory,
    check_references, evaluate, evaluate_console,
};
use formwork_syntax::{Expression, Traversal};
use formwork_values::{Mark, Type, Value, print};

pub fn oracle() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tests/oracle")
}

pub fn builtins() -> Builtins {
    let fixed = Arc::new(Fixed::new(1_700_000_000, 7));
    Builtins::new(Surroundings {
        files: Arc::new(WorkingDirectory {
            base: oracle()
                .join("console-fixtures")
                .canonicalize()
                .expect("the fixtures are there"),
            home: Some("/home/somebody".into()),
            within: None,
        }),
        clock: fixed.clone(),
        randomness: fixed,
        plan_time: Some(SystemTime::UNIX_EPOCH),
        settle_impure: true,
    })
}

/// The module the expressions were recorded in: names its references can have, with values.
struct Module {
    variables: BTreeMap<String, Value>,
    locals: BTreeMap<String, Value>,
    resource: Value,
}

impl Module {
    fn new(functions: &Builtins, planned: bool) -> Module {
        let mut sources = SourceMap::new();
        let text = std::fs::read(oracle().join("console-fixtures/main.tf")).expect("main.tf");
        let file = sources.add("main.tf", text.clone());
        let (body, diagnostics) = formwork_syntax::parse(file, &text);
        assert!(!diagnostics.has_errors(), "{diagnostics:?}");
        let value = |e: &Expression| {
            let (value, diagnostics) = evaluate(e, &EmptyScope, functions).into_checked();
            assert!(!diagnostics.has_errors(), "{diagnostics:?}");
            value
        };
        let mut variables = BTreeMap::new();
        for block in body.blocks_of("variable") {
            let name = block.label(0).expect("a name").to_string();
            let mut default = value(
                &block
                    .body
                    .attribute("default")
                    .expect("a default")
                    .expression,
            );
            // types are read by another crate: these are the declared ones, by hand
            let ty = match &*name {
                "secret_map" => Type::map(Type::String),
                "anylist" => Type::list(Type::Dynamic),
                "typed" => {
                    let attributes = [
                        ("name", Value::string("n")),
                        ("size", Value::int(3)),
                        ("tags", Value::map::<Arc<str>>(Type::String, [])),
                        (
                            "inner",
                            Value::object([
                                ("on", Value::TRUE),
                                ("label", Value::null(Type::String)),
                            ]),
                        ),
                        ("list", Value::null(Type::list(Type::String))),
                    ];
                    default = Value::object(attributes);
                    default.type_of()
                }
                _ => Type::String,
            };
            default = formwork_values::convert(default, &ty).expect("a default of its type");
            for (argument, mark) in [
                ("sensitive", Mark::Sensitive),
                ("ephemeral", Mark::Ephemeral),
            ] {
                if block.body.attribute(argument).is_some() {
                    default = default.mark(mark);
                }
            }
            variables.insert(name, default);
        }
        let mut locals = BTreeMap::new();
        for block in body.blocks_of("locals") {
            for attribute in block.body.attributes() {
                locals.insert(attribute.name.to_string(), value(&attribute.expression));
            }
        }
        let resource = if planned {
            Value::object([
                ("id", Value::unknown(Type::String)),
                ("input", Value::string("x")),
                ("output", Value::unknown(Type::String)),
                ("triggers_replace", Value::NULL),
            ])
        } else {
            Value::dynamic()
        };
        Module {
            variables,
            locals,
            resource,
        }
    }

    fn find(&self, reference: &Traversal) -> Result<(Value, usize), &'static str> {
        let name = reference.attribute(0).map(|n| n.to_string());
        let in_table = |table: &BTreeMap<String, Value>, missing| match &name {
            None => Err("Invalid reference"),
            Some(name) => table.get(name).map(|v| (v.clone(), 1)).ok_or(missing),
        };
        match &*reference.root {
            "var" => in_table(&self.variables, "Reference to undeclared input variable"),
            "local" => in_table(&self.locals, "Reference to undeclared local value"),
            "each" => Err("Reference to \"each\" in context without for_each"),
            "count" => Err("Reference to \"count\" in non-counted context"),
            "self" => Err("Invalid \"self\" reference"),
            "path" => match name.as_deref() {
                Some("root" | "module" | "cwd") => Ok((Value::string("."), 1)),
                _ => Err("Invalid \"path\" attribute"),
            },
            "terraform" => Ok((Value::string("default"), 1)),
            "terraform_data" => Ok((self.resource.clone(), 1)),
            _ if name.is_none() => Err("Invalid reference"),
            _ => Err("Reference to undeclared resource"),
        }
    }
}

impl Scope for Module {
    fn resolve(&self, reference: &Traversal) -> Resolved {
        match self.find(reference) {
            Ok((value, consumed)) => Resolved::new(value, consumed),
            Err(_) => Resolved::failed(self.check(reference)),
        }
    }

    fn check(&self, reference: &Traversal) -> Diagnostics {
        match self.find(reference) {
            Ok(_) => Diagnostics::new(),
            Err(summary) => {
                let steps = if &*reference.root == "self" { 0 } else { 1 };
                Diagnostic::error(summary, "")
                    .at(reference.range_of(steps))
                    .into()
            }
        }
    }
}

/// The expression stands in this text, so that errors at its ends are those of a file.
const BEFORE: &str = "locals {\n  expression_under_test_xx = ";
const AFTER: &str = "\n}\n";

/// What an expression comes to, in the words of a record.
struct Answer {
    out: String,
    ty: String,
    json: Option<String>,
    errors: Vec<(String, i64, i64)>,
}

fn answer(text: &str, module: &Module, functions: &Builtins) -> Answer {
    let mut sources = SourceMap::new();
    let file_text = format!("{BEFORE}{text}{AFTER}");
    let file = sources.add("console", file_text.as_bytes());
    let (body, mut diagnostics) = formwork_syntax::parse(file, file_text.as_bytes());
    let expression = body
        .blocks_of("locals")
        .next()
        .and_then(|b| b.body.attributes().first().map(|a| a.expression.clone()));
    let mut result = ConsoleResult::Value(Value::dynamic());
    if let Some(expression) = expression.filter(|_| !diagnostics.has_errors()) {
        diagnostics = check_references(&expression, module);
        if !diagnostics.has_errors() {
            let (value, found) = evaluate_console(&expression, module, functions);
            result = value;
            diagnostics = found;
        }
    }
    let offset = i64::try_from(BEFORE.len()).expect("short");
    let errors = diagnostics
        .iter()
        .filter(|d| d.is_error())
        .map(|d| {
            assert!(!d.detail.is_empty() || d.values.is_empty());
            let (start, end) = d
                .subject
                .map_or((0, 0), |s| (i64::from(s.start), i64::from(s.end)));
            (d.summary.clone(), start - offset, end - offset)
        })
        .collect();
    match result {
        ConsoleResult::Type(ty) => Answer {
            out: print::console_type(&ty),
            ty: "type".to_owned(),
            json: None,
            errors,
        },
        ConsoleResult::Value(value) => {
            let ty = print::console_type(&value.type_of());
            let out = print::console(&value);
            let json = json_of(&value, functions);
            Answer {
                out,
                ty,
                json,
                errors,
            }
        }
    }
}

fn json_of(value: &Value, functions: &Builtins) -> Option<String> {
    use formwork_eval::{Call, Functions, Outcome};
    if !value.is_wholly_known() {
        return Some("(unknown)".to_owned());
    }
    let (bare, _) = value.clone().unmark_deep();
    let signature = functions.signature("jsonencode")?;
    let call = Call {
        name: "jsonencode",
        signature: &signature,
        arguments: &[bare],
    };
    match functions.call(&call) {
        Outcome::Value(value, _) => value.as_str().map(str::to_owned),
        _ => None,
    }
}

/// Differences that stay, with their reasons.
const KNOWN: &[(&str, &str)] = &[
    (
        "type(tomap({a = 1, b = true}))",
        "the mistake is in tomap, and that is what is told; Terraform's console says that type does \
         not exist",
    ),
    (
        "base64gzip(join(\"\", [for i in range(100) : \"abc\"]))",
        "what a compressor makes of repetitions is its own; it decompresses to the same",
    ),
    (
        "\"${1\"",
        "FIXME syntax: the block around is called unclosed, not the string",
    ),
];

fn text<'a>(case: &'a serde_json::Value, key: &str) -> Option<&'a str> {
    case.get(key).and_then(serde_json::Value::as_str)
}

#[test]
fn every_recorded_expression() {
    let functions = builtins();
    let (module, planned) = (
        Module::new(&functions, false),
        Module::new(&functions, true),
    );
    let records = std::fs::read_to_string(oracle().join("console.jsonl")).expect("records");
    let (mut cases, mut same, mut ranges, mut same_ranges) = (0, 0, 0, 0);
    let mut different = Vec::new();
    let mut off = Vec::new();
    for line in records.lines() {
        let case: serde_json::Value = serde_json::from_str(line).expect("a record");
        let expr = text(&case, "expr").expect("an expression");
        let found = answer(expr, &module, &functions);
        let mut problems = Vec::new();
        cases += 1;
        if let Some(errors) = case.get("errors").and_then(serde_json::Value::as_array) {
            let first = errors.first().and_then(|e| text(e, "summary"));
            match (found.errors.first(), first) {
                (None, _) => problems.push(format!("no error, but {}", found.out)),
                (Some((summary, ..)), Some(expected)) if summary != expected => {
                    problems.push(format!("error {summary:?}, expected {expected:?}"));
                }
                _ => {}
            }
            let bytes = errors
                .first()
                .and_then(|e| e.get("bytes"))
                .and_then(|b| b.as_array());
            if let (Some(bytes), Some((summary, start, end)), true) =
                (bytes, found.errors.first(), problems.is_empty())
            {
                ranges += 1;
                let expected: Vec<i64> =
                    bytes.iter().filter_map(serde_json::Value::as_i64).collect();
                // ours span the whole part at fault, theirs where it begins; quotes are ours
                let begins = (*start..=*start + 1).contains(&expected[0]);
                if begins && (*end).max(*start + 1) >= expected[1] {
                    same_ranges += 1;
                } else {
                    off.push(format!(
                        "{expr}: {summary} at {start}..{end}, expected {expected:?}"
                    ));
                }
            }
        } else {
            if let Some((summary, start, end)) = found.errors.first() {
                problems.push(format!("error {summary:?} at {start}..{end}"));
            } else {
                compare(&mut problems, "out", &found.out, text(&case, "out"));
                compare(&mut problems, "type", &found.ty, text(&case, "type"));
                compare(
                    &mut problems,
                    "json",
                    found.json.as_deref().unwrap_or(""),
                    text(&case, "json"),
                );
            }
            let late = || answer(expr, &planned, &functions);
            if let Some(out) = text(&case, "planned_out") {
                let found = late();
                compare(&mut problems, "planned out", &found.out, Some(out));
                compare(
                    &mut problems,
                    "planned type",
                    &found.ty,
                    text(&case, "planned_type"),
                );
            } else if let Some(summary) = text(&case, "planned_error") {
                let found = late();
                let first = found.errors.first().map_or("", |e| &e.0);
                compare(&mut problems, "planned error", first, Some(summary));
            }
        }
        if problems.is_empty() {
            same += 1;
        } else {
            different.push((expr.to_owned(), problems.join("; ")));
        }
    }
    println!("{same} of {cases} expressions agree; {same_ranges} of {ranges} places of errors do");
    for place in &off {
        println!("  {place}");
    }
    let unexpected: Vec<String> = different
        .iter()
        .filter(|(expr, _)| !KNOWN.iter().any(|(known, _)| known == expr))
        .map(|(expr, problem)| format!("{expr}\n    {problem}"))
        .collect();
    let mended: Vec<&str> = KNOWN
        .iter()
        .map(|(expr, _)| *expr)
        .filter(|known| different.iter().all(|(expr, _)| expr != known))
        .collect();
    assert!(
        unexpected.is_empty(),
        "{} differ:\n{}",
        unexpected.len(),
        unexpected.join("\n")
    );
    assert!(
        mended.is_empty(),
        "these agree now, take them off the list: {mended:?}"
    );
}

fn compare(problems: &mut Vec<String>, what: &str, found: &str, expected: Option<&str>) {
    if let Some(expected) = expected
        && found != expected
    {
        problems.push(format!("{what} {found:?}, expected {expected:?}"));
    }
}

/// A type of the recorded signatures in the notation of ours.
fn recorded_type(ty: &serde_json::Value) -> Type {
    match (ty.as_str(), ty.as_array().map(Vec::as_slice)) {
        (Some("string"), _) => Type::String,
        (Some("number"), _) => Type::Number,
        (Some("bool"), _) => Type::Bool,
        (_, Some([kind, element])) => {
            let element = recorded_type(element);
            match kind.as_str() {
                Some("list") => Type::list(element),
                Some("set") => Type::set(element),
                _ => Type::map(element),
            }
        }
        _ => Type::Dynamic,
    }
}

/// Functions that the recorded binary does not have.
const LATER: [&str; 4] = ["base64gunzip", "cidrcontains", "convert", "urldecode"];

#[test]
fn signatures_are_as_recorded() {
    let text = std::fs::read_to_string(oracle().join("functions.json")).expect("signatures");
    let recorded: BTreeMap<String, serde_json::Value> = serde_json::from_str(&text).expect("JSON");
    let functions = builtins();
    let (later, ours): (Vec<_>, Vec<_>) = functions
        .signatures()
        .partition(|s| LATER.contains(&&*s.name));
    assert_eq!(later.len(), LATER.len());
    let names: Vec<String> = ours.iter().map(|s| s.name.to_string()).collect();
    assert_eq!(names, recorded.keys().cloned().collect::<Vec<_>>());
    for signature in ours {
        let expected = &recorded[&*signature.name];
        let parameter =
            |p: &formwork_eval::Parameter| (p.name.to_string(), p.ty.clone(), p.nullable);
        let recorded_parameter = |p: &serde_json::Value| {
            let nullable = p.get("is_nullable").is_some_and(|n| n == true);
            let name = text_of(p, "name");
            (
                name,
                recorded_type(p.get("type").expect("a type")),
                nullable,
            )
        };
        let list = expected
            .get("parameters")
            .and_then(serde_json::Value::as_array);
        assert_eq!(
            signature
                .parameters
                .iter()
                .map(parameter)
                .collect::<Vec<_>>(),
            list.map_or(&[][..], Vec::as_slice)
                .iter()
                .map(recorded_parameter)
                .collect::<Vec<_>>(),
            "{}",
            signature.name
        );
        assert_eq!(
            signature.variadic.as_ref().map(parameter),
            expected.get("variadic_parameter").map(recorded_parameter),
            "{}",
            signature.name
        );
        assert_eq!(
            signature.returns,
            recorded_type(expected.get("return_type").expect("a type")),
            "{}",
            signature.name
        );
    }
}

fn text_of(value: &serde_json::Value, key: &str) -> String {
    text(value, key).expect("a text").to_owned()
}
