//! The data against itself and against the discovery documents.
#![allow(clippy::unwrap_used, clippy::expect_used)] // helpers of tests, not tests themselves

use formwork_discovery::{Document, FieldKind, Schema};
use formwork_google_schema::{
    Act, Node, NodeKind, Resource, Wire, data_source, data_source_names, resource, resource_names,
    versions,
};

const FIRST: [&str; 21] = [
    "google_compute_address",
    "google_compute_disk",
    "google_compute_firewall",
    "google_compute_global_address",
    "google_compute_instance",
    "google_compute_instance_template",
    "google_compute_network",
    "google_compute_reservation",
    "google_compute_resource_policy",
    "google_compute_route",
    "google_compute_router",
    "google_compute_router_nat",
    "google_compute_subnetwork",
    "google_filestore_instance",
    "google_project_iam_member",
    "google_project_service",
    "google_service_account",
    "google_storage_bucket",
    "google_storage_bucket_iam_binding",
    "google_storage_bucket_iam_member",
    "google_storage_bucket_object",
];

fn step<'d>(document: &'d Document, schema: &'d Schema, part: &str) -> Option<&'d Schema> {
    let mut at = document.resolve(schema);
    while let FieldKind::Array(inner) = &at.kind {
        at = document.resolve(inner);
    }
    match &at.kind {
        FieldKind::Map(inner) if part == "value" => Some(inner),
        FieldKind::Map(inner) => {
            let inner = document.resolve(inner);
            inner.property(part).or(Some(inner))
        }
        _ => at.property(part),
    }
}

fn is_map(document: &Document, schema: &Schema) -> bool {
    matches!(document.resolve(schema).kind, FieldKind::Map(_))
}

fn fits(document: &Document, schema: &Schema, wire: &Wire) -> bool {
    let at = document.resolve(schema);
    match (&at.kind, wire) {
        (_, Wire::Any) | (FieldKind::Array(_), Wire::Items) => true,
        (FieldKind::String, Wire::String) => {
            !matches!(at.format.as_deref(), Some("int64" | "uint64"))
        }
        (FieldKind::String, Wire::Int64) => {
            matches!(at.format.as_deref(), Some("int64" | "uint64"))
        }
        (FieldKind::Integer, Wire::Int)
        | (FieldKind::Number, Wire::Number)
        | (FieldKind::Boolean, Wire::Bool)
        | (FieldKind::Object(_), Wire::Object) => true,
        (FieldKind::Array(inner), Wire::Array(of)) | (FieldKind::Map(inner), Wire::Map(of)) => {
            fits(document, inner, of)
        }
        (FieldKind::Any, Wire::Object) => true,
        _ => false,
    }
}

fn check_nodes(
    resource: &Resource,
    document: &Document,
    scope: &Schema,
    nodes: &[Node],
    wrong: &mut Vec<String>,
) {
    for node in nodes {
        let Some(path) = &node.path else { continue };
        let mut at = scope;
        let mut found = true;
        for part in path.iter() {
            match step(document, at, part) {
                Some(next) => at = next,
                None => found = false,
            }
        }
        // The key of a map is ours to name.
        let key = path.last().is_some_and(|part| &**part == "key") && node.wire == Wire::String;
        if key && is_map(document, scope) {
            continue;
        }
        if !found || !(path.is_empty() || fits(document, at, &node.wire)) {
            wrong.push(format!(
                "{}: {} at {path:?} is not {:?}",
                resource.name, node.name, node.wire
            ));
            continue;
        }
        check_nodes(resource, document, at, &node.children, wrong);
    }
}

#[test]
fn every_mapped_field_stands_in_the_discovery_document() {
    let (mut wrong, mut checked) = (Vec::new(), 0);
    for name in resource_names() {
        let resource = resource(&name).unwrap();
        let Some((service, version)) = resource.document.rsplit_once('.') else {
            continue;
        };
        let Some(document) = formwork_discovery::document(service, version) else {
            continue;
        };
        let Some(whole) = document.schemas.get(&*resource.api_schema) else {
            continue;
        };
        let part = resource
            .prefix
            .iter()
            .try_fold(whole, |at, part| step(document, at, part));
        // A part whose whole is read by another method: nothing of it is mapped.
        let Some(scope) = part else {
            assert!(resource.fields.iter().all(|f| f.path.is_none()), "{name}");
            continue;
        };
        check_nodes(&resource, document, scope, &resource.fields, &mut wrong);
        for act in [Act::Create, Act::Read, Act::Update, Act::Delete] {
            if let Some(method) = resource.methods.of(act)
                && !method.id.is_empty()
                && let Some(known) = document.methods.get(&*method.id)
                && known.http.as_str() != &*method.http
            {
                wrong.push(format!("{name}: {} is {}", method.id, known.http.as_str()));
            }
        }
        checked += 1;
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(checked > 100, "only {checked} types were checked");
}

#[test]
fn nodes_schema_and_object_have_the_same_positions() {
    fn check(nodes: &[Node], block: &formwork_provider_schema::Block) {
        let names: Vec<&str> = nodes.iter().map(|n| &*n.name).collect();
        let fields: Vec<&str> = block.iter().map(|(n, _)| &**n).collect();
        assert_eq!(names, fields);
        for node in nodes {
            assert_eq!(
                block.field(&node.name).unwrap().ty(),
                &node.ty,
                "{}",
                node.name
            );
            if let Some(nested) = block.nested_block(&node.name) {
                check(&node.children, &nested.block);
            }
        }
    }
    for name in resource_names() {
        let resource = resource(&name).unwrap();
        check(&resource.fields, &resource.schema.block);
        assert!(resource.field("id").is_some() && resource.schema.object_type().has("id"));
    }
    for name in data_source_names() {
        let source = data_source(&name).unwrap();
        check(&source.fields, &source.schema.block);
    }
}

#[test]
fn the_first_types_are_whole() {
    for name in FIRST {
        let r = resource(name).unwrap_or_else(|| panic!("{name}"));
        assert!(r.unmapped.is_empty(), "{name}: {:?}", r.unmapped);
        assert!(!r.id.is_empty() && r.methods.read.is_some(), "{name}");
    }
    let network = resource("google_compute_network").unwrap();
    let mtu = network.field("mtu").unwrap();
    assert!(mtu.optional && mtu.computed && !mtu.force_new && mtu.kind == NodeKind::Int);
    assert_eq!(&*network.id, "projects/{project}/global/networks/{name}");
    assert_eq!(network.timeouts["create"].as_secs(), 1200);
    let instance = resource("google_compute_instance").unwrap();
    assert_eq!(instance.schema.version, 6);
    let nic = instance.field("network_interface").unwrap();
    assert!(nic.block && nic.child("nic_type").unwrap().force_new);
    let boot = instance.field("boot_disk").unwrap();
    assert!(boot.child("disk_encryption_key_raw").unwrap().sensitive);
    assert!(resource("google_nothing").is_none());
}

#[test]
fn versions_are_sorted_and_in_range() {
    let all: Vec<Vec<u32>> = versions()
        .map(|v| v.split('.').map(|n| n.parse().unwrap()).collect())
        .collect();
    assert!(all.len() > 140 && all.is_sorted());
    assert!(all.iter().all(|v| v.len() == 3 && (5..8).contains(&v[0])));
}
