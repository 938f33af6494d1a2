//! What the recorded expressions do not show: unknown values, marks, diagnostics, calls that wait.

use std::collections::BTreeMap;
use std::sync::Arc;

use formwork_addresses::AbsResourceInstance;
use formwork_diagnostics::{Diagnostic, SourceMap};
use formwork_environment::Fixed;
use formwork_syntax::{OffsetMap, Traversal};
use formwork_values::{Mark, Origin, Path, Refinement, Type, Value, print};

use super::{Evaluated, check_references, evaluate};
use crate::{
    Builtins, Call, CallId, Functions, NoFiles, Outcome, Parameter, Resolved, Scope, Signature,
    Surroundings,
};

struct Names(BTreeMap<&'static str, Value>);

impl Scope for Names {
    fn resolve(&self, reference: &Traversal) -> Resolved {
        match self.0.get(&*reference.root) {
            Some(value) => Resolved::new(value.clone(), 0),
            None => Resolved::failed(self.check(reference)),
        }
    }

    fn check(&self, reference: &Traversal) -> formwork_diagnostics::Diagnostics {
        if self.0.contains_key(&*reference.root) {
            return formwork_diagnostics::Diagnostics::new();
        }
        Diagnostic::error("Undeclared", "There is no such name.")
            .at(reference.range())
            .into()
    }
}

/// The functions of the language and `provider::test::slow`, which is never answered.
struct WithSlow(Builtins);

impl Functions for WithSlow {
    fn signature(&self, name: &str) -> Option<Arc<Signature>> {
        if name != "provider::test::slow" {
            return self.0.signature(name);
        }
        Some(Arc::new(Signature {
            name: name.into(),
            parameters: vec![Parameter {
                name: "x".into(),
                ty: Type::Number,
                nullable: false,
                takes_unknown: false,
                takes_marks: false,
            }],
            variadic: None,
            returns: Type::String,
            may_answer_null: true,
        }))
    }

    fn call(&self, call: &Call<'_>) -> Outcome {
        if call.name != "provider::test::slow" {
            return self.0.call(call);
        }
        let number = call.arguments[0].as_number().and_then(|n| n.to_u64());
        Outcome::Pending(CallId(number.expect("a small number")))
    }

    fn names(&self) -> Vec<Arc<str>> {
        self.0.names()
    }
}

fn functions() -> WithSlow {
    let fixed = Arc::new(Fixed::new(0, 1));
    WithSlow(Builtins::new(Surroundings {
        files: Arc::new(NoFiles),
        clock: fixed.clone(),
        randomness: fixed,
        plan_time: None,
        settle_impure: false,
    }))
}

fn names() -> Names {
    let secret = || Value::string("hunter2").sensitive();
    let length = Refinement::length(2, Some(5));
    let bounds = Refinement {
        not_null: true,
        lower: Some((10.into(), true)),
        ..Refinement::NONE
    };
    Names(
        [
            ("u", Value::unknown(Type::String)),
            ("n", Value::unknown(Type::Number)),
            ("big", Value::unknown_with(Type::Number, bounds)),
            ("b", Value::unknown(Type::Bool)),
            ("d", Value::dynamic()),
            ("ul", Value::unknown_with(Type::list(Type::String), length)),
            ("um", Value::unknown(Type::map(Type::String))),
            ("secret", secret()),
            ("count", Value::int(3)),
            ("name", Value::string("rdma")),
            ("nothing", Value::NULL),
            (
                "list",
                Value::list(Type::String, vec!["a".into(), "b".into()]),
            ),
            ("secrets", Value::tuple(vec![secret(), "open".into()])),
            ("hidden", Value::tuple(vec![1.into(), 2.into()]).sensitive()),
            (
                "obj",
                Value::object([("zone", Value::string("us-east1-b")), ("size", 4.into())]),
            ),
            ("eph", Value::string("e").mark(Mark::Ephemeral)),
        ]
        .into(),
    )
}

fn run(text: &str) -> (Evaluated, SourceMap) {
    let mut sources = SourceMap::new();
    let file = sources.add("here", text.as_bytes());
    let (expression, diagnostics) =
        formwork_syntax::parse_expression(file, text.as_bytes(), OffsetMap::PLAIN);
    assert!(!diagnostics.has_errors(), "{text}: {diagnostics:?}");
    (evaluate(&expression, &names(), &functions()), sources)
}

/// The value as the console prints it, or each error as `summary: the text it is about`.
fn shown(text: &str) -> String {
    let (evaluated, sources) = run(text);
    let errors: Vec<String> = evaluated
        .diagnostics
        .iter()
        .filter(|d| d.is_error())
        .map(|d| {
            format!(
                "{}: {}",
                d.summary,
                sources.text(d.subject.expect("a subject"))
            )
        })
        .collect();
    if errors.is_empty() {
        print::console(&evaluated.value)
            .replace("\n  ", " ")
            .replace('\n', "")
    } else {
        errors.join(" | ")
    }
}

fn check(cases: &[(&str, &str)]) {
    for (text, expected) in cases {
        assert_eq!(shown(text), *expected, "{text}");
    }
}

#[test]
fn unknown_values_decide_where_they_can() {
    check(&[
        ("big > 9", "true"),
        ("big >= 10", "true"),
        ("big > 10", "(known after apply)"),
        ("big < 10", "false"),
        ("big + 1 > 10", "true"),
        ("-big < 0", "true"),
        ("n > 1", "(known after apply)"),
        ("n + 1 == null", "false"),
        ("\"x-${u}\" == \"y-a\"", "false"),
        ("\"x-${u}\" != \"y-a\"", "true"),
        ("b ? 1 : 1", "1"),
        ("(b ? \"aa-1\" : \"aa-2\") == \"bb\"", "false"),
        ("length(ul) > 1", "true"),
        ("length(ul) > 5", "false"),
        ("length(b ? [\"x\"] : [\"y\"])", "1"),
        ("ul[*] == null", "false"),
        ("[for x in ul : x]", "(known after apply)"),
        ("[for k, v in obj : k if v != u]", "(known after apply)"),
        ("startswith(\"pre-${u}\", \"pre\")", "true"),
        ("startswith(u, \"\")", "true"),
        ("upper(u) == null", "false"),
        ("concat(ul, [\"a\"])", "(known after apply)"),
        ("join(\"-\", [\"a\", u]) == \"b-c\"", "false"),
        ("format(\"node-%s\", u) == null", "false"),
        ("merge({a = 1}, um)", "(known after apply)"),
        ("lookup(um, \"k\", \"x\")", "(known after apply)"),
        ("try(u, 1)", "(known after apply)"),
        ("can(u)", "(known after apply)"),
        ("can(obj.zone)", "true"),
        ("timestamp()", "(known after apply)"),
        ("um[u]", "(known after apply)"),
        ("{ a = u }.a == null", "(known after apply)"),
    ]);
}

#[test]
fn either_side_of_a_logical_operator_decides() {
    check(&[
        ("b && false", "false"),
        ("false && b", "false"),
        ("b || true", "true"),
        ("true || b", "true"),
        ("b && true", "(known after apply)"),
        ("nothing.x == 1 || true", "true"),
        ("obj.nope > 1 && false", "false"),
        ("false && obj.nope > 1", "false"),
        ("obj.nope > 1 && true", "Unsupported attribute: .nope"),
        ("true && obj.nope > 1", "Unsupported attribute: .nope"),
        ("false && undeclared", "Undeclared: undeclared"),
        ("try(undeclared, 1)", "Undeclared: undeclared"),
        ("can(undeclared)", "Undeclared: undeclared"),
        ("nothing == null || nothing.x", "true"),
        ("nothing != null && nothing.x > 2", "false"),
    ]);
}

#[test]
fn marks_reach_the_result() {
    check(&[
        ("secret", "(sensitive value)"),
        ("\"x${secret}\"", "(sensitive value)"),
        ("secret == \"x\" ? 1 : 2", "(sensitive value)"),
        ("true ? secret : \"x\"", "(sensitive value)"),
        ("false ? secret : \"x\"", "(sensitive value)"),
        ("secrets", "[ (sensitive value), \"open\",]"),
        ("secrets[1]", "\"open\""),
        ("secrets[*]", "[ (sensitive value), \"open\",]"),
        ("length(secrets)", "2"),
        ("length(hidden)", "(sensitive value)"),
        ("[for x in hidden : 1]", "(sensitive value)"),
        ("{ (secret) = 1 }", "(sensitive value)"),
        ("hidden[0]", "(sensitive value)"),
        ("concat(secrets, [1])", "[ (sensitive value), \"open\", 1,]"),
        ("keys({ a = secret })", "[ \"a\",]"),
        ("values({ a = secret })", "[ (sensitive value),]"),
        ("jsonencode({ a = secret })", "(sensitive value)"),
        ("nonsensitive(secret)", "\"hunter2\""),
        ("issensitive(secret)", "true"),
        ("max(hidden...)", "(sensitive value)"),
        (
            "merge({ a = 1 }, hidden == null ? {} : { b = 2 })",
            "(sensitive value)",
        ),
        (
            "\"%{ if secret == \"x\" }a%{ endif }\"",
            "(sensitive value)",
        ),
        ("eph", "(ephemeral value)"),
        ("ephemeralasnull({ a = eph })", "{ \"a\" = tostring(null)}"),
        ("secret == \"hunter2\" || true", "(sensitive value)"),
    ]);
}

#[test]
fn a_mistake_is_told_once_where_it_is() {
    check(&[
        ("1 + \"x\" + 2 * 3", "Invalid operand: \"x\""),
        ("upper(obj.nope) == \"A\"", "Unsupported attribute: .nope"),
        (
            "[for i in [1, 2, 3] : obj.nope]",
            "Unsupported attribute: .nope",
        ),
        (
            "[for i in [1, 2, 3] : undeclared]",
            "Undeclared: undeclared",
        ),
        ("[obj, obj][*].nope", "Unsupported attribute: .nope"),
        (
            "\"%{ for x in [1, 2] }${obj.nope}%{ endfor }\"",
            "Unsupported attribute: .nope",
        ),
        ("obj.nope ? missing1() : 2", "Unsupported attribute: .nope"),
        ("true ? 1 : obj.nope", "1"),
        ("b ? 1 : obj.nope", "(known after apply)"),
        (
            "b ? [1] : \"x\"",
            "Inconsistent conditional result types: b ? [1] : \"x\"",
        ),
        ("uper(\"x\")", "Call to unknown function: uper"),
        ("true ? 1 : uper(\"x\")", "1"),
        ("upper()", "Not enough function arguments: )"),
        ("upper(\"a\", obj)", "Too many function arguments: obj"),
        ("upper(obj)", "Invalid function argument: obj"),
        ("list[7]", "Invalid index: [7]"),
        ("list.foo", "Unsupported attribute: .foo"),
        ("obj[count]", "Invalid index: [count]"),
        ("{ obj.zone = 1 }", "Ambiguous attribute key: obj.zone"),
        ("{ (nothing) = 1 }", "Null value as key: (nothing)"),
        (
            "[for x in nothing : x]",
            "Iteration over null value: nothing",
        ),
        ("null + 1", "Operation failed: null + 1"),
        ("try(obj.a, obj.b)", "Error in function call: try("),
        (
            "obj.a + obj.b",
            "Unsupported attribute: .a | Unsupported attribute: .b",
        ),
    ]);
}

#[test]
fn diagnostics_explain_and_keep_secrets() {
    let first = |text: &str| {
        let (evaluated, _) = run(text);
        evaluated
            .diagnostics
            .into_iter()
            .next()
            .expect("a diagnostic")
    };
    let values = |text: &str| {
        let d = first(text);
        d.values
            .iter()
            .map(|v| format!("{} {}", v.traversal, v.statement))
            .collect::<Vec<_>>()
    };
    assert_eq!(first("obj.zon").hints, ["Did you mean \"zone\"?"]);
    assert_eq!(
        first("obj.other").hints,
        ["It has the attributes \"size\", \"zone\"."]
    );
    assert_eq!(first("UPPER(name)").hints, ["Did you mean \"upper\"?"]);
    assert!(first("list(1)").hints[0].contains("[a, b]"));
    assert_eq!(first("lenght(name)").hints, ["Did you mean \"length\"?"]);
    assert_eq!(values("name + 1"), ["name is \"rdma\""]);
    assert_eq!(
        values("obj[name]"),
        ["obj is an object with 2 attributes", "name is \"rdma\""]
    );
    assert_eq!(
        values("b ? [u] : secret"),
        [
            "b is a bool",
            "u is a string",
            "secret has a sensitive value"
        ]
    );
    assert_eq!(
        values("[for x in list : x + 1]"),
        ["x is \"a\""],
        "names bound within are explained too"
    );
    for text in [
        "secret + 1",
        "parseint(secret, 10)",
        "tonumber(secret)",
        "obj[secret]",
        "{ for x in [secret, secret] : x => 1 }",
        "regex(secret, \"x\")",
        "format(\"%d\", secret)",
        "jsondecode(secret)",
        "cidrhost(secret, 1)",
        "timeadd(secret, \"1h\")",
        "lookup({}, secret)",
        "formatdate(secret, \"2025-01-01T00:00:00Z\")",
        "index([], secret)",
        "secrets[0].x",
    ] {
        let told = format!("{:?}", run(text).0.diagnostics);
        assert!(
            told.contains("error") || told.contains("Error"),
            "{text}: {told}"
        );
        assert!(!told.contains("hunter2"), "{text}: {told}");
    }
    let call = first("format(\"%d\", name)").function_call.expect("a call");
    assert_eq!(
        (&*call.called_as, &*call.signature),
        ("format", "format(format, args...)")
    );
}

#[test]
fn calls_that_wait_are_collected() {
    let (evaluated, _) =
        run("\"${provider::test::slow(1)}-${provider::test::slow(2)}-${provider::test::slow(1)}\"");
    assert_eq!(evaluated.pending, [CallId(1), CallId(2)]);
    assert!(!evaluated.diagnostics.has_errors());
    let (evaluated, _) = run("provider::test::slow(n)");
    assert!(
        evaluated.pending.is_empty(),
        "unknown arguments need no call"
    );
    assert_eq!(
        shown("provider::test::slow(n) == null"),
        "(known after apply)"
    );
    assert_eq!(
        shown("provider::test::fast(1)"),
        "Unknown provider function: provider::test::fast"
    );
}

#[test]
fn origins_follow_values() {
    let address: AbsResourceInstance = "google_compute_network.rdma[0]"
        .parse()
        .expect("an address");
    let origin = Arc::new(Origin {
        address: address.into(),
        path: Path::ROOT,
    });
    let network = Value::object([("id", Value::unknown(Type::String)), ("mtu", 8896.into())]);
    let scope = Names([("net", Value::tuple(vec![network.with_origin(&origin)]))].into());
    let origin_of = |text: &str| {
        let (expression, _) = formwork_syntax::parse_expression(
            formwork_diagnostics::FileId(0),
            text.as_bytes(),
            OffsetMap::PLAIN,
        );
        let value = evaluate(&expression, &scope, &functions()).value;
        value.origin().map(|o| o.path.to_string())
    };
    for text in [
        "net[0].id",
        "(net[*].id)[0]",
        "\"${net[0].id}\"",
        "[for n in net : n.id][0]",
        "one(net[*].id)",
        "element(net, 0).id",
        "{ a = net[0].id }.a",
        "lookup({ a = net[0].id }, \"a\", \"\")",
        "merge({ a = net[0].id }, {}).a",
        "flatten([net, net])[1].id",
        "true ? net[0].id : \"x\"",
        "tostring(net[0].id)",
        "coalescelist([], net)[0].id",
    ] {
        assert_eq!(origin_of(text).as_deref(), Some(".id"), "{text}");
    }
    for text in ["upper(net[0].id)", "\"x${net[0].id}\"", "net[0].mtu"] {
        assert_eq!(origin_of(text), None, "{text}");
    }
}

#[test]
fn depth_and_length_are_no_danger() {
    let sum = vec!["1"; 10_000].join(" + ");
    assert_eq!(shown(&sum), "10000");
    let nested = format!("{}1{}", "[".repeat(900), "]".repeat(900));
    assert_eq!(shown(&format!("length(flatten({nested}))")), "1");
    assert_eq!(
        shown(&format!("jsonencode({nested}) == jsonencode({nested})")),
        "true"
    );
    assert_eq!(
        shown(&format!("yamldecode(yamlencode({nested})) == {nested}")),
        "true"
    );
}

#[test]
fn static_checks_reach_every_corner() {
    let text = "[for x in [] : { (gone1) = \"${gone2}\" } if x == gone3[0]]";
    let mut sources = SourceMap::new();
    let file = sources.add("here", text.as_bytes());
    let (expression, _) =
        formwork_syntax::parse_expression(file, text.as_bytes(), OffsetMap::PLAIN);
    let found = check_references(&expression, &names());
    assert_eq!(found.error_count(), 3);
    assert_eq!(
        evaluate(&expression, &names(), &functions())
            .diagnostics
            .len(),
        0
    );
}

/// A few lines that would fill any memory, or take for ever, end with a word.
#[test]
fn what_costs_too_much_is_refused() {
    let check = |text: &str, summary: &str, part: &str| {
        let mut sources = SourceMap::new();
        let file = sources.add("here", text.as_bytes());
        let (expression, said) =
            formwork_syntax::parse_expression(file, text.as_bytes(), OffsetMap::PLAIN);
        assert!(said.is_empty(), "{text}: {said:?}");
        let found = evaluate(&expression, &names(), &functions()).diagnostics;
        let told: Vec<_> = found.iter().map(|d| d.summary.as_str()).collect();
        assert_eq!(told, [summary], "{text}");
        let detail = found.iter().map(|d| d.detail.as_str()).next();
        assert!(
            detail.is_some_and(|d| d.contains(part)),
            "{text}: {detail:?}"
        );
    };
    let call = "Error in function call";
    let costly = "Expression too costly";
    let tenfold = |n: usize| {
        let open = "replace(".repeat(n);
        let close = ", \"a\", \"aaaaaaaaaa\")".repeat(n);
        format!("{open}\"a\"{close}")
    };
    check(&tenfold(30), call, "longer than 32 MiB");
    check(
        &format!(
            "try({}, 1)[0]",
            "[for a in range(1024) : [for b in range(1024) : [for c in range(1024) : c]]]"
        ),
        costly,
        "steps",
    );
    check(
        "replace(join(\"\", [for i in range(4) : format(\"%04000d\", i)]), \"/./\", format(\"%04000d\", 1))",
        call,
        "longer than 32 MiB",
    );
    check(
        "join(\"\", [for i in range(1024) : join(\"\", [for j in range(20) : format(\"%04000d\", j)])])",
        costly,
        "MiB in all",
    );
    check(
        "length([for i in range(1024) : format(\"%04000d\", i)][*]) == 0 ? 1 : \"%{ for i in range(1024) }%{ for j in range(1024) }0123456789012345678901234567890123456789%{ endfor }%{ endfor }\"",
        costly,
        "32 MiB in one piece",
    );
    check(
        "[for a in range(1024) : [for b in range(100) : \"${format(\"%04000d\", a)}-${b}\"]]",
        costly,
        "MiB in all",
    );
    check(
        "setproduct(range(1024), range(1024))",
        call,
        "1000000 elements",
    );
}
