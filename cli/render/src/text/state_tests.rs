use crate::{Schemas, Style, outputs_text, state_list, state_show, state_text};
use formwork_addresses::{AbsProviderConfig, ProviderAddr};
use formwork_provider_schema::{
    Attribute, Block, BlockNesting, NestedBlock, ProviderSchema, Schema,
};
use formwork_state::{OutputState, RawJson, ResourceInstanceObject, State};
use formwork_values::{Type, Value};
use std::sync::Arc;

fn schemas() -> Schemas {
    let text = || Attribute::new(Type::String).optional();
    let nested = Block::of_attributes([("size", Attribute::new(Type::Number).optional())]);
    let block = Block::new(
        [
            ("id", text()),
            ("name", text()),
            ("secret", text().sensitive()),
            ("any", Attribute::new(Type::Dynamic).optional()),
        ],
        [("disk", NestedBlock::new(BlockNesting::List, nested))],
    );
    let mut schema = ProviderSchema::default();
    schema
        .resources
        .insert("demo_vm".into(), Arc::new(Schema::new(1, block)));
    let mut all = Schemas::new();
    all.insert(ProviderAddr::implied("demo"), Arc::new(schema));
    all
}

fn state() -> State {
    let mut state = State::new();
    let provider = AbsProviderConfig::root_default(ProviderAddr::implied("demo"));
    let object = |version, json: &str| {
        ResourceInstanceObject::new(version, RawJson::parse(json).expect("JSON"))
    };
    let a = "demo_vm.a[0]".parse().expect("an address");
    let full = r#"{"id":"1","name":null,"secret":"hunter2","any":{"value":[1],"type":["tuple",["number"]]},"disk":[{"size":12345678901234567890123}]}"#;
    state.set_object(&a, &provider, object(1, full).tainted());
    let key = "0123abcd".parse().expect("a key");
    state.set_deposed(&a, &key, &provider, object(1, r#"{"id":"0"}"#));
    // written by another version of the schema
    let b = "module.m[\"k\"].demo_vm.b".parse().expect("an address");
    state.set_object(&b, &provider, object(0, r#"{"old":"x"}"#));
    let output = |v: &Value, s| OutputState::from_value(v, s).expect("known");
    state.set_output("list", output(&Value::tuple(vec![Value::int(1)]), false));
    state.set_output("secret", output(&Value::string("hunter2"), true));
    state
}

#[test]
fn lists_and_objects() {
    let state = state();
    assert_eq!(
        state_list(&state),
        "demo_vm.a[0]\ndemo_vm.a[0] (deposed 0123abcd)\nmodule.m[\"k\"].demo_vm.b\n"
    );
    let want_a = "\
# demo_vm.a[0]: (tainted)
resource \"demo_vm\" \"a\" {
    any    = [
        1,
    ]
    id     = \"1\"
    secret = (sensitive value)

    disk {
        size = 12345678901234567890123
    }
}

# demo_vm.a[0]: (deposed object 0123abcd)
resource \"demo_vm\" \"a\" {
    id = \"0\"
}
";
    let a = "demo_vm.a[0]".parse().expect("an address");
    let shown = state_show(&state, &a, &schemas(), Style::PLAIN);
    assert_eq!(shown.as_deref(), Some(want_a));
    let nobody = "demo_vm.x".parse().expect("an address");
    assert!(state_show(&state, &nobody, &schemas(), Style::PLAIN).is_none());
    assert_eq!(
        state_text(&state, &schemas(), Style::PLAIN),
        format!(
            "{want_a}
# module.m[\"k\"].demo_vm.b:
resource \"demo_vm\" \"b\" {{
    old = \"x\"
}}

Outputs:

list = [
  1,
]
secret = <sensitive>
"
        )
    );
    assert_eq!(outputs_text([], Style::PLAIN), "");
}
