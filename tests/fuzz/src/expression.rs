//! Evaluation gives the same twice, within bounds, and without reading a file.

use crate::{FILE, check};
use formwork_environment::Fixed;
use formwork_eval::{
    Builtins, MapScope, NoFiles, Surroundings, check_references, evaluate, evaluate_console,
};
use formwork_syntax::{OffsetMap, parse_expression, parse_template};
use formwork_values::{Mark, Type, Value, print};
use std::sync::Arc;
use std::time::SystemTime;

/// An expression, then a template: parsed, evaluated twice over a small scope, printed.
pub fn expression(text: &[u8]) {
    let functions = functions();
    let scope = scope();
    for (expression, said) in [
        parse_expression(FILE, text, OffsetMap::PLAIN),
        parse_template(FILE, text, OffsetMap::PLAIN),
    ] {
        if said.has_errors() {
            continue;
        }
        let _ = check_references(&expression, &scope);
        let first = evaluate(&expression, &scope, &functions);
        let second = evaluate(&expression, &scope, &functions);
        check::diagnostics(text, &first.diagnostics);
        assert!(first.pending.is_empty(), "nobody answers later here");
        assert_eq!(first.diagnostics.len(), second.diagnostics.len());
        assert_eq!(
            print::console(&first.value),
            print::console(&second.value),
            "not twice the same"
        );
        let _ = evaluate_console(&expression, &scope, &functions);
    }
}

pub(crate) fn functions() -> Builtins {
    let fixed = || Arc::new(Fixed::new(1_700_000_000, 7));
    Builtins::new(Surroundings {
        files: Arc::new(NoFiles),
        clock: fixed(),
        randomness: fixed(),
        plan_time: Some(SystemTime::UNIX_EPOCH),
        // Functions that answer differently each time (uuid) stay unknown, as when planning.
        settle_impure: false,
    })
}

fn scope() -> MapScope {
    let mut scope = MapScope::new();
    let list = Value::list(Type::Number, vec![Value::int(3), Value::int(1)]);
    let object = Value::object([("name", Value::string("n")), ("list", list.clone())]);
    for (name, value) in [
        ("s", Value::string("a-b_c \u{e9}")),
        ("n", Value::int(5)),
        ("t", Value::TRUE),
        ("z", Value::NULL),
        ("l", list),
        ("o", object.clone()),
        ("m", Value::map(Type::String, [("k", Value::string("v"))])),
        ("u", Value::unknown(Type::String)),
        ("ul", Value::unknown(Type::list(Type::String))),
        ("d", Value::dynamic()),
        ("p", Value::string("secret").mark(Mark::Sensitive)),
        ("e", object.mark(Mark::Ephemeral)),
    ] {
        scope.insert(name, value);
    }
    scope
}
