//! The embedded documents, unpacked when first asked for.

use std::sync::OnceLock;

use crate::embedded::DOCUMENTS;
use crate::reading::unpack;
use crate::shape::{Document, Method};

/// A document as it lies in the binary.
pub(crate) struct Embedded {
    pub(crate) service: &'static str,
    pub(crate) version: &'static str,
    pub(crate) revision: &'static str,
    pub(crate) packed: &'static [u8],
}

/// Which document it is, without unpacking it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct DocumentInfo {
    /// `compute`
    pub service: &'static str,
    /// `v1`
    pub version: &'static str,
    /// `20261106`
    pub revision: &'static str,
}

/// Every document of this binary, by service and version.
pub fn documents() -> impl Iterator<Item = DocumentInfo> {
    DOCUMENTS.iter().map(|document| DocumentInfo {
        service: document.service,
        version: document.version,
        revision: document.revision,
    })
}

/// The document of a service in a version; `None` if it is not on the recorded list.
///
/// Unpacks it at the first call (compute takes some tens of milliseconds in a debug build).
#[must_use]
pub fn document(service: &str, version: &str) -> Option<&'static Document> {
    static UNPACKED: [OnceLock<Document>; DOCUMENTS.len()] =
        [const { OnceLock::new() }; DOCUMENTS.len()];
    let index = DOCUMENTS
        .iter()
        .position(|document| document.service == service && document.version == version)?;
    let (slot, embedded) = (UNPACKED.get(index)?, DOCUMENTS.get(index)?);
    Some(slot.get_or_init(|| {
        // The bytes are part of the binary and a test unpacks every one of them.
        #[allow(clippy::expect_used)]
        unpack(embedded.packed).expect("an embedded discovery document is well formed")
    }))
}

/// The method of that id in a version of its service: `method("v1", "compute.networks.insert")`.
#[must_use]
pub fn method(version: &str, id: &str) -> Option<&'static Method> {
    let (service, _) = id.split_once('.')?;
    document(service, version)?.methods.get(id)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shape::{FieldKind, Http, Location};

    #[test]
    fn every_document_unpacks_and_is_what_it_claims() {
        let mut previous = None;
        for info in documents() {
            assert!(previous < Some(info), "sorted");
            previous = Some(info);
            let document = document(info.service, info.version).unwrap();
            assert_eq!(document.service, info.service);
            assert_eq!(document.version, info.version);
            assert_eq!(document.revision, info.revision);
            for (id, method) in &document.methods {
                assert_eq!(&method.id, id);
                for name in method.request.iter().chain(&method.response) {
                    assert!(document.schemas.contains_key(name), "{id}: {name}");
                }
            }
            let mut pending: Vec<_> = document.schemas.values().collect();
            while let Some(schema) = pending.pop() {
                match &schema.kind {
                    FieldKind::Reference(name) => {
                        assert!(document.schemas.contains_key(name), "{name}")
                    }
                    FieldKind::Object(properties) => pending.extend(properties.values()),
                    FieldKind::Map(items) | FieldKind::Array(items) => pending.push(items),
                    _ => {}
                }
            }
        }
    }

    #[test]
    fn a_method_tells_its_route() {
        let insert = method("v1", "compute.instances.insert").unwrap();
        assert_eq!(insert.http, Http::Post);
        assert_eq!(insert.path, "projects/{project}/zones/{zone}/instances");
        assert_eq!(
            (insert.collection(), insert.verb()),
            ("compute.instances", "insert")
        );
        assert_eq!(insert.request.as_deref(), Some("Instance"));
        assert_eq!(insert.response.as_deref(), Some("Operation"));
        let zone = insert.parameter("zone").unwrap();
        assert!(zone.required && zone.location == Location::Path && zone.pattern.is_some());
        assert_eq!(
            insert.parameter("requestId").unwrap().location,
            Location::Query
        );

        let create = method("v1", "file.projects.locations.instances.create").unwrap();
        assert_eq!(create.path, "v1/{+parent}/instances");
        assert_eq!(
            create.flat_path,
            "v1/projects/{projectsId}/locations/{locationsId}/instances"
        );

        let upload = method("v1", "storage.objects.insert").unwrap();
        assert_eq!(
            upload.media_upload.as_ref().unwrap().simple.as_deref(),
            Some("/upload/storage/v1/b/{bucket}/o")
        );
        assert!(method("v1", "storage.objects.get").unwrap().media_download);
    }

    #[test]
    fn a_schema_tells_its_fields() {
        let compute = document("compute", "v1").unwrap();
        let network = &compute.schemas["Network"];
        assert_eq!(network.property("mtu").unwrap().kind, FieldKind::Integer);
        assert!(network.property("subnetworks").unwrap().read_only);
        assert!(!network.property("name").unwrap().required_for.is_empty());
        let routing = compute.resolve(network.property("routingConfig").unwrap());
        assert_eq!(
            routing.property("routingMode").unwrap().enum_values,
            ["GLOBAL", "REGIONAL"]
        );
        let size = compute.schemas["Disk"].property("sizeGb").unwrap();
        assert_eq!(
            (&size.kind, size.format.as_deref()),
            (&FieldKind::String, Some("int64"))
        );
        let labels = compute.schemas["Instance"].property("labels").unwrap();
        assert!(matches!(&labels.kind, FieldKind::Map(items) if items.kind == FieldKind::String));
    }

    #[test]
    fn what_is_not_on_the_list_is_unknown() {
        assert!(document("compute", "v7").is_none());
        assert!(method("v1", "compute.networks.paint").is_none());
        assert!(method("v1", "nonsense").is_none());
    }
}
