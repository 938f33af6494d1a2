//! The schema of the recording provider's resource, which has every kind of field: for the tests that
//! read the recordings beside this file.

use formwork_provider_schema::{Attribute, AttributeNesting, Block, BlockNesting, NestedBlock};
use formwork_values::Type;
use std::sync::Arc;

/// The schema of the recording provider's resource.
pub fn thing() -> Block {
    let string = || Attribute::new(Type::String);
    let number = || Attribute::new(Type::Number);
    let part = || {
        Arc::new(Block::of_attributes([
            ("name", string().required()),
            ("size", number().optional()),
            ("mode", string().optional().computed()),
            ("path", string().computed()),
        ]))
    };
    let nested = |nesting| Attribute::nested(nesting, part()).optional();
    let obj = Type::object([("a", Type::String), ("b", Type::list(Type::Bool))]);
    let attributes = [
        ("id", string().computed()),
        ("name", string().required()),
        ("size", number().optional()),
        ("enabled", Attribute::new(Type::Bool).optional()),
        ("zone", string().optional().computed()),
        ("count_seen", number().computed()),
        (
            "status",
            Attribute::new(Type::object([("phase", Type::String)])).computed(),
        ),
        ("labels", Attribute::new(Type::map(Type::String)).optional()),
        ("tags", Attribute::new(Type::set(Type::String)).optional()),
        ("items", Attribute::new(Type::list(Type::Number)).optional()),
        ("obj", Attribute::new(obj).optional()),
        (
            "tup",
            Attribute::new(Type::tuple([Type::String, Type::Number])).optional(),
        ),
        ("dyn", Attribute::new(Type::Dynamic).optional()),
        ("secret", string().optional().sensitive()),
        ("old", string().optional().deprecated("")),
        ("wo", string().optional().write_only()),
        ("wo_version", number().optional()),
        ("one", nested(AttributeNesting::Single)),
        ("many", nested(AttributeNesting::List)),
        ("keyed", nested(AttributeNesting::Map)),
        ("bag", nested(AttributeNesting::Set)),
    ];
    let net = Block::of_attributes([
        ("cidr", string().required()),
        ("gw", string().optional().computed()),
    ]);
    let group = Block::new(
        [("x", string().optional())],
        [(
            "sub",
            NestedBlock::new(
                BlockNesting::List,
                Block::of_attributes([("y", number().optional())]),
            ),
        )],
    );
    let blocks = [
        ("disk", NestedBlock::new(BlockNesting::List, part())),
        ("net", NestedBlock::new(BlockNesting::Set, net)),
        (
            "timeouts",
            NestedBlock::new(
                BlockNesting::Single,
                Block::of_attributes([("create", string().optional())]),
            ),
        ),
        ("grp", NestedBlock::new(BlockNesting::Group, group)),
        (
            "kv",
            NestedBlock::new(
                BlockNesting::Map,
                Block::of_attributes([("v", string().optional())]),
            ),
        ),
    ];
    Block::new(attributes, blocks)
}
