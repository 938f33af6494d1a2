//! Nodes to provider schemas.

use std::sync::Arc;

use formwork_provider_schema::{Attribute, Block, BlockNesting, NestedBlock, Schema};
use formwork_values::Type;

use crate::node::{Node, NodeKind};

/// The schema of a type's fields.
pub(crate) fn schema(version: u64, nodes: &[Node]) -> Schema {
    Schema::new(version, block(nodes))
}

fn block(nodes: &[Node]) -> Block {
    let mut attributes: Vec<(Arc<str>, Attribute)> = Vec::new();
    let mut blocks: Vec<(Arc<str>, NestedBlock)> = Vec::new();
    for node in nodes {
        let name = Arc::clone(&node.name);
        match node.kind {
            NodeKind::Timeouts => blocks.push((
                name,
                NestedBlock::new(BlockNesting::Single, block(&node.children)),
            )),
            NodeKind::Objects | NodeKind::ObjectSet if node.block => {
                let nesting = if node.is_set() {
                    BlockNesting::Set
                } else {
                    BlockNesting::List
                };
                let nested = NestedBlock::new(nesting, block(&node.children))
                    .bounded(u64::from(node.required), u64::from(node.max_one));
                blocks.push((name, nested));
            }
            _ => attributes.push((name, attribute(node))),
        }
    }
    Block::new(attributes, blocks)
}

fn attribute(node: &Node) -> Attribute {
    let mut attribute = Attribute::new(node.ty.clone());
    attribute.required = node.required;
    attribute.optional = node.optional;
    attribute.computed = node.computed;
    attribute.sensitive = node.sensitive;
    attribute.write_only = node.write_only;
    if node.deprecated {
        attribute.deprecated = Some(Arc::from(""));
    }
    attribute
}

/// The type of a node's value.
pub(crate) fn type_of(kind: NodeKind, children: &[Node]) -> Type {
    let object = || {
        Type::object(
            children
                .iter()
                .map(|child| (Arc::clone(&child.name), child.ty.clone())),
        )
    };
    match kind {
        NodeKind::String => Type::String,
        NodeKind::Int | NodeKind::Float => Type::Number,
        NodeKind::Bool => Type::Bool,
        NodeKind::Map(element) => Type::map(element.ty()),
        NodeKind::List(element) => Type::list(element.ty()),
        NodeKind::Set(element) => Type::set(element.ty()),
        NodeKind::Objects => Type::list(object()),
        NodeKind::ObjectSet => Type::set(object()),
        NodeKind::Timeouts => object(),
    }
}
