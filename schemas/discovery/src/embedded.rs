//! The documents in this binary: written by generate.py, not by hand.

use crate::document::Embedded;

macro_rules! embedded {
    ($service:literal, $version:literal, $revision:literal) => {
        Embedded {
            service: $service,
            version: $version,
            revision: $revision,
            packed: include_bytes!(concat!("../data/", $service, ".", $version, ".json.gz")),
        }
    };
}

/// Sorted by service and version.
pub(crate) const DOCUMENTS: &[Embedded] = &[
    embedded!("artifactregistry", "v1", "20261031"),
    embedded!("bigquery", "v2", "20261009"),
    embedded!("bigqueryconnection", "v1", "20260922"),
    embedded!("cloudkms", "v1", "20260917"),
    embedded!("cloudresourcemanager", "v1", "20261107"),
    embedded!("cloudresourcemanager", "v3", "20261107"),
    embedded!("cloudscheduler", "v1", "20261106"),
    embedded!("compute", "beta", "20261106"),
    embedded!("compute", "v1", "20261106"),
    embedded!("container", "v1", "20261027"),
    embedded!("dns", "v1", "20261009"),
    embedded!("file", "v1", "20260819"),
    embedded!("gkehub", "v1", "20261025"),
    embedded!("hypercomputecluster", "v1", "20261021"),
    embedded!("iam", "v1", "20261023"),
    embedded!("logging", "v2", "20260911"),
    embedded!("monitoring", "v1", "20260903"),
    embedded!("monitoring", "v3", "20260129"),
    embedded!("netapp", "v1", "20260719"),
    embedded!("networkconnectivity", "v1", "20261029"),
    embedded!("orgpolicy", "v2", "20260723"),
    embedded!("parallelstore", "v1", "20251022"),
    embedded!("pubsub", "v1", "20261027"),
    embedded!("run", "v2", "20261031"),
    embedded!("secretmanager", "v1", "20261021"),
    embedded!("servicenetworking", "v1", "20261028"),
    embedded!("serviceusage", "v1", "20260921"),
    embedded!("serviceusage", "v1beta1", "20260921"),
    embedded!("sqladmin", "v1beta4", "20261018"),
    embedded!("storage", "v1", "20261009"),
    embedded!("tpu", "v2", "20261001"),
    embedded!("tpu", "v2alpha1", "20261001"),
];
