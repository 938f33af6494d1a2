//! The odd ones: what the data cannot say of a type.
//!
//! A [`Hooks`] has a sane default for everything, so a type of data only has none. Each hook says in
//! its header what is odd.

mod bucket;
mod bucket_object;
mod compute;
mod disk;
mod iam;
mod image;
mod instance;
mod instance_disks;
mod instance_template;
mod instance_update;
mod project_service;
mod router_nat;
mod service_account;
mod storage;

use async_trait::async_trait;
use formwork_google_client::{ErrorKind, GoogleError, Request};
use formwork_google_schema::{Act, Resource, Setter};
use formwork_provider::OperationLog;
use formwork_values::Value;
use serde_json::{Map, Value as Json};

use crate::draft::Draft;
use crate::engine::Subject;
use crate::failure::Failure;
use crate::plan::Plan;

pub(crate) use image::resolve as resolve_image;

/// What code adds to a type's data.
#[async_trait]
pub(crate) trait Hooks: Send + Sync {
    /// Changes a plan after the general rules.
    fn plan(&self, _plan: &mut Plan<'_>) {}

    /// The object with what only apply can make, such as a unique name.
    fn complete(&self, _subject: &Subject<'_>) -> Option<Value> {
        None
    }

    /// The path that reads the object, where the data's template does not fit.
    fn path(&self, _subject: &Subject<'_>) -> Option<String> {
        None
    }

    /// Reads the object in another way than by one GET.
    async fn read(&self, _subject: &Subject<'_>) -> Option<Result<Option<Json>, GoogleError>> {
        None
    }

    /// The object out of what the GET answered: a part of it, or nothing if it counts as absent.
    fn part(&self, _subject: &Subject<'_>, json: Json) -> Option<Json> {
        Some(json)
    }

    /// Whether an error of the GET says that the object is gone.
    fn is_gone(&self, error: &GoogleError) -> bool {
        error.kind == ErrorKind::NotFound
    }

    /// Whether a new object may be invisible to readers for some seconds.
    fn eventual(&self) -> bool {
        false
    }

    /// Whether lists hold whole objects.
    fn listable(&self) -> bool {
        true
    }

    /// The key of the array in a list.
    fn list_key(&self, resource: &Resource) -> String {
        if resource.methods.aggregated.is_some() || resource.service.as_ref() == "compute" {
            let collection = resource
                .methods
                .list
                .as_ref()
                .or(resource.methods.aggregated.as_ref())
                .and_then(|m| m.id.rsplit('.').nth(1).map(str::to_owned))
                .unwrap_or_default();
            return if resource.methods.aggregated.is_some() {
                collection
            } else {
                "items".to_owned()
            };
        }
        match resource.service.as_ref() {
            "storage" | "dns" => "items".to_owned(),
            "iam" => "accounts".to_owned(),
            _ => resource
                .methods
                .list
                .as_ref()
                .and_then(|m| m.id.rsplit('.').nth(1).map(str::to_owned))
                .unwrap_or_default(),
        }
    }

    /// Brings what the API says into the shape that the data describe.
    fn decode(&self, _subject: &Subject<'_>, _json: &mut Json) {}

    /// Fills attributes that no field of the API stands behind.
    fn derive(
        &self,
        _subject: &Subject<'_>,
        _json: &Json,
        _draft: &mut Draft,
        _known: Option<&Value>,
    ) {
    }

    /// Brings a body into the shape that the API wants.
    async fn encode(
        &self,
        _subject: &Subject<'_>,
        _act: Act,
        _prior: Option<&Value>,
        _body: &mut Map<String, Json>,
    ) -> Result<(), Failure> {
        Ok(())
    }

    /// Changes the creating request.
    fn creation(&self, _subject: &Subject<'_>, _request: &mut Request) {}

    /// Changes the body of a PATCH.
    fn patch(&self, _subject: &Subject<'_>, _part: &mut Map<String, Json>) {}

    /// Creates in another way; the object's JSON.
    async fn create(
        &self,
        _subject: &Subject<'_>,
        _log: &dyn OperationLog,
    ) -> Option<Result<Json, Failure>> {
        None
    }

    /// Something to do after the creation; whether the object must be read again.
    async fn created(
        &self,
        _subject: &Subject<'_>,
        _log: &dyn OperationLog,
    ) -> Result<bool, Failure> {
        Ok(false)
    }

    /// Changes in another way.
    async fn update(
        &self,
        _subject: &Subject<'_>,
        _prior: &Value,
        _log: &dyn OperationLog,
    ) -> Option<Result<(), Failure>> {
        None
    }

    /// Whether a setter can make the change at hand.
    fn setter_fits(&self, _subject: &Subject<'_>, _setter: &Setter, _prior: &Value) -> bool {
        true
    }

    /// Whether a local attribute has an effect when it changes.
    fn sends(&self, _name: &str) -> bool {
        false
    }

    /// Deletes in another way.
    async fn delete(
        &self,
        _subject: &Subject<'_>,
        _log: &dyn OperationLog,
    ) -> Option<Result<(), Failure>> {
        None
    }

    /// Something to do before the deletion.
    async fn before_delete(
        &self,
        _subject: &Subject<'_>,
        _log: &dyn OperationLog,
    ) -> Result<(), Failure> {
        Ok(())
    }

    /// What of a found object is compared with what was planned.
    fn compared<'j>(&self, json: &'j Json) -> &'j Json {
        json
    }
}

struct Plain;
impl Hooks for Plain {}

/// The hooks of a type.
pub(crate) fn hooks(name: &str) -> &'static dyn Hooks {
    match name {
        "google_compute_network" => &compute::Network,
        "google_compute_subnetwork" => &compute::Subnetwork,
        "google_compute_firewall" => &compute::Firewall,
        "google_compute_route" => &compute::Route,
        "google_compute_resource_policy" => &compute::ResourcePolicy,
        "google_compute_reservation" => &compute::Reservation,
        "google_compute_router_nat" => &router_nat::RouterNat,
        "google_compute_disk" => &disk::Disk,
        "google_compute_instance" => &instance::Instance,
        "google_compute_instance_template" => &instance_template::InstanceTemplate,
        "google_storage_bucket" => &bucket::Bucket,
        "google_storage_bucket_object" => &bucket_object::BucketObject,
        "google_storage_bucket_iam_member"
        | "google_project_iam_member"
        | "google_service_account_iam_member" => &iam::Member,
        "google_storage_bucket_iam_binding"
        | "google_project_iam_binding"
        | "google_service_account_iam_binding" => &iam::Binding,
        "google_filestore_instance" => &storage::Filestore,
        "google_service_account" => &service_account::ServiceAccount,
        "google_project_service" => &project_service::ProjectService,
        _ => &Plain,
    }
}

/// The types that this provider really runs; all others are refused by name when they are planned.
pub(crate) const SUPPORTED: [&str; 24] = [
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
    "google_project_iam_binding",
    "google_project_iam_member",
    "google_project_service",
    "google_service_account",
    "google_service_account_iam_binding",
    "google_service_account_iam_member",
    "google_storage_bucket",
    "google_storage_bucket_iam_binding",
    "google_storage_bucket_iam_member",
    "google_storage_bucket_object",
];
