//! Data sources: objects that are read, never managed.

use std::sync::Arc;

use formwork_google_client::{ErrorKind, Listing, Request};
use formwork_google_schema::{Node, Resource};
use formwork_values::{Type, Value};
use serde_json::{Value as Json, json};

use crate::cloud::Cloud;
use crate::draft::{Draft, text};
use crate::failure::Failure;
use crate::json::flatten;
use crate::names;
use crate::place::Located;

/// The data sources that are really read.
pub(crate) const SUPPORTED: [&str; 7] = [
    "google_client_config",
    "google_compute_image",
    "google_compute_machine_types",
    "google_compute_network_profile",
    "google_compute_reservation",
    "google_compute_zones",
    "google_project",
];

struct Reading<'a> {
    cloud: &'a Cloud,
    source: &'a Resource,
    config: &'a Value,
}

/// Reads a data source by its configuration.
pub(crate) async fn read(
    cloud: &Cloud,
    source: &Resource,
    config: &Value,
) -> Result<Value, Failure> {
    let reading = Reading {
        cloud,
        source,
        config,
    };
    match &*source.name {
        "google_client_config" => reading.client_config().await,
        "google_compute_image" => reading.image().await,
        "google_compute_machine_types" => reading.machine_types().await,
        "google_compute_network_profile" => reading.network_profile().await,
        "google_compute_reservation" => reading.reservation().await,
        "google_compute_zones" => reading.zones().await,
        "google_project" => reading.project().await,
        name => Err(Failure::Refused(
            "Unsupported by the provider",
            format!("The data source {name} is not supported by this provider yet."),
            "",
        )),
    }
}

/// The API's name of a field where none is mapped: `creation_timestamp` is `creationTimestamp`.
fn camel(name: &str) -> String {
    let mut out = String::with_capacity(name.len());
    for (i, part) in name.split('_').enumerate() {
        let mut chars = part.chars();
        match chars.next() {
            Some(first) if i > 0 => {
                out.extend(first.to_uppercase());
                out.push_str(chars.as_str());
            }
            _ => out.push_str(part),
        }
    }
    out
}

/// The nodes with places: those of `renames` by dotted path, all others by their names.
fn placed(nodes: &[Node], above: &str, renames: &[(&str, &str)]) -> Vec<Node> {
    nodes
        .iter()
        .map(|node| {
            let dotted = if above.is_empty() {
                node.name.to_string()
            } else {
                format!("{above}.{}", node.name)
            };
            let path = renames
                .iter()
                .find(|(from, _)| *from == dotted)
                .map_or_else(|| camel(&node.name), |(_, to)| (*to).to_owned());
            let mut node = node.clone();
            node.children = placed(&node.children, &dotted, renames);
            node.path = (path != "-").then(|| path.split('.').map(Arc::from).collect());
            node
        })
        .collect()
}

impl Reading<'_> {
    fn draft(&self) -> Draft {
        Draft::of(self.source, self.config)
    }

    fn located(&self) -> Located<'_> {
        Located {
            resource: self.source,
            object: self.config,
            settings: &self.cloud.settings,
        }
    }

    fn project_id(&self) -> Result<String, Failure> {
        self.located().project().ok_or_else(|| {
            Failure::Refused(
                "Missing place of a data source",
                "Neither the data source nor the provider says which project is meant. Set project in one of them.".into(),
                "project",
            )
        })
    }

    fn get(&self, path: String) -> Request {
        self.cloud.get("compute", path)
    }

    /// The object of an answer, with what the configuration says kept.
    fn from(&self, json: &Json, renames: &[(&str, &str)]) -> Draft {
        let nodes = placed(&self.source.fields, "", renames);
        let values = flatten(&nodes, json, None);
        let read = Value::object_of(self.source.schema.object_type().clone(), values);
        let mut draft = Draft::of(self.source, &read);
        let config = self.draft();
        for node in &self.source.fields {
            if let Some(said) = config
                .get(&node.name)
                .filter(|v| !v.is_null() && v.is_known())
            {
                let empty = said.as_sequence().is_some_and(<[_]>::is_empty);
                if node.configurable() && !empty {
                    draft.set(&node.name, said.clone());
                }
            }
        }
        draft
    }

    fn missing(&self, what: &str) -> Failure {
        Failure::Refused("Object not found", format!("{what} was not found."), "")
    }

    async fn one(&self, request: &Request, what: &str) -> Result<Json, Failure> {
        match self.cloud.client.send(request).await {
            Ok(answer) => Ok(answer.body),
            Err(e) if e.kind == ErrorKind::NotFound => Err(self.missing(what)),
            Err(e) => Err(e.into()),
        }
    }

    async fn client_config(&self) -> Result<Value, Failure> {
        let settings = &self.cloud.settings;
        let mut draft = self.draft();
        for (name, value) in [
            ("project", &settings.project),
            ("region", &settings.region),
            ("zone", &settings.zone),
        ] {
            if let Some(value) = value {
                draft.set(name, Value::string(&**value));
            }
        }
        let token = self
            .cloud
            .client
            .config()
            .credentials
            .access_token()
            .await?;
        if let Some(token) = token {
            draft.set("access_token", Value::string(&*token));
        }
        let labels = settings
            .default_labels
            .iter()
            .map(|(k, v)| (Arc::clone(k), Value::string(&**v)));
        draft.set("default_labels", Value::map(Type::String, labels));
        let or = |v: &Option<Arc<str>>| v.as_deref().unwrap_or_default().to_owned();
        draft.set(
            "id",
            Value::string(format!(
                "projects/\"{}\"/regions/\"{}\"/zones/\"{}\"/scopes/[]",
                or(&settings.project),
                or(&settings.region),
                or(&settings.zone)
            )),
        );
        Ok(draft.into_value())
    }

    async fn project(&self) -> Result<Value, Failure> {
        let id = match text(self.config, "project_id") {
            Some(id) => id.to_owned(),
            None => self.project_id()?,
        };
        let id = id.strip_prefix("projects/").unwrap_or(&id).to_owned();
        let request = self
            .cloud
            .get("cloudresourcemanager", format!("v1/projects/{id}"));
        let json = self.one(&request, &format!("The project \"{id}\"")).await?;
        let mut draft = self.from(
            &json,
            &[
                ("number", "projectNumber"),
                ("billing_account", "-"),
                ("effective_labels", "labels"),
                ("terraform_labels", "-"),
                ("tags", "-"),
                ("auto_create_network", "-"),
                ("deletion_policy", "-"),
                ("org_id", "-"),
                ("folder_id", "-"),
                ("id", "-"),
            ],
        );
        draft.set("project_id", Value::string(&id));
        draft.set("id", Value::string(format!("projects/{id}")));
        let parent = |key: &str| {
            json.pointer(&format!("/parent/{key}"))
                .and_then(Json::as_str)
                .unwrap_or_default()
                .to_owned()
        };
        match parent("type").as_str() {
            "organization" => draft.set("org_id", Value::string(parent("id"))),
            "folder" => draft.set("folder_id", Value::string(parent("id"))),
            _ => {}
        }
        Ok(draft.into_value())
    }

    async fn zones(&self) -> Result<Value, Failure> {
        let project = self.project_id()?;
        let request = self.get(format!("compute/v1/projects/{project}/zones"));
        let listed = self
            .cloud
            .client
            .list(&request, &Listing::Array("items".into()))
            .await?;
        let region = self.located().region();
        let wanted = text(self.config, "region")
            .map(|r| names::last(r).to_owned())
            .or(region.clone());
        let status = text(self.config, "status");
        let mut found: Vec<String> = listed
            .items
            .iter()
            .filter(|zone| {
                let get = |key: &str| zone.get(key).and_then(Json::as_str).unwrap_or_default();
                wanted
                    .as_deref()
                    .is_none_or(|r| names::last(get("region")) == r)
                    && status.is_none_or(|s| get("status") == s)
            })
            .filter_map(|zone| zone.get("name").and_then(Json::as_str).map(str::to_owned))
            .collect();
        found.sort();
        let mut draft = self.draft();
        draft.set(
            "names",
            Value::list(Type::String, found.iter().map(Value::string).collect()),
        );
        draft.set("project", Value::string(&project));
        draft.set(
            "id",
            Value::string(format!(
                "projects/{project}/regions/{}",
                wanted.unwrap_or_default()
            )),
        );
        Ok(draft.into_value())
    }

    async fn image(&self) -> Result<Value, Failure> {
        let project = self.project_id()?;
        let base = format!("compute/v1/projects/{project}/global/images");
        let (name, family, filter) = (
            text(self.config, "name"),
            text(self.config, "family"),
            text(self.config, "filter"),
        );
        let json = match (name, family, filter) {
            (Some(name), None, None) => {
                self.one(
                    &self.get(format!("{base}/{name}")),
                    &format!("The image \"{name}\" of project \"{project}\""),
                )
                .await?
            }
            (None, Some(family), None) => {
                self.one(
                    &self.get(format!("{base}/family/{family}")),
                    &format!("The image family \"{family}\" of project \"{project}\""),
                )
                .await?
            }
            (None, None, Some(filter)) => {
                let request = self.get(base).query("filter", filter);
                let mut listed = self
                    .cloud
                    .client
                    .list(&request, &Listing::Array("items".into()))
                    .await?
                    .items;
                let newest = self
                    .config
                    .attribute("most_recent")
                    .and_then(Value::as_bool)
                    == Some(true);
                if listed.len() > 1 && !newest {
                    return Err(Failure::Refused(
                        "More than one image",
                        format!(
                            "The filter fits {} images. Set most_recent = true to take the newest, or make the filter narrower.",
                            listed.len()
                        ),
                        "filter",
                    ));
                }
                listed.sort_by_key(|i| {
                    i.get("creationTimestamp")
                        .and_then(Json::as_str)
                        .unwrap_or_default()
                        .to_owned()
                });
                listed
                    .pop()
                    .ok_or_else(|| self.missing("An image that the filter fits"))?
            }
            _ => {
                return Err(Failure::Refused(
                    "Invalid combination of arguments",
                    "Exactly one of name, family and filter must say which image is meant.".into(),
                    "name",
                ));
            }
        };
        let mut draft = self.from(
            &json,
            &[
                ("image_id", "id"),
                ("image_encryption_key_sha256", "imageEncryptionKey.sha256"),
                (
                    "source_disk_encryption_key_sha256",
                    "sourceDiskEncryptionKey.sha256",
                ),
                ("id", "-"),
                ("project", "-"),
                ("filter", "-"),
                ("most_recent", "-"),
            ],
        );
        let name = json
            .get("name")
            .and_then(Json::as_str)
            .unwrap_or_default()
            .to_owned();
        draft.set("name", Value::string(&name));
        if let Some(family) = json.get("family").and_then(Json::as_str) {
            draft.set("family", Value::string(family));
        }
        draft.set("project", Value::string(&project));
        draft.set(
            "id",
            Value::string(format!("projects/{project}/global/images/{name}")),
        );
        Ok(draft.into_value())
    }

    async fn reservation(&self) -> Result<Value, Failure> {
        let project = self.project_id()?;
        let zone = self.located().zone().unwrap_or_default();
        let name = text(self.config, "name").unwrap_or_default();
        let request = self.get(format!(
            "compute/v1/projects/{project}/zones/{zone}/reservations/{name}"
        ));
        let json = self
            .one(
                &request,
                &format!("The reservation \"{name}\" of project \"{project}\" in {zone}"),
            )
            .await?;
        let mut draft = self.from(
            &json,
            &[
                ("block_names", "-"),
                ("deletion_policy", "-"),
                ("params", "-"),
                ("project", "-"),
                ("id", "-"),
                ("share_settings.project_map", "-"),
            ],
        );
        draft.set("project", Value::string(&project));
        draft.set("zone", Value::string(&zone));
        draft.set(
            "id",
            Value::string(format!(
                "projects/{project}/zones/{zone}/reservations/{name}"
            )),
        );
        let blocks = self.get(format!("{}/reservationBlocks", request.path));
        match self
            .cloud
            .client
            .list(&blocks, &Listing::Array("items".into()))
            .await
        {
            Ok(listed) => {
                let names = listed
                    .items
                    .iter()
                    .filter_map(|b| b.get("name").and_then(Json::as_str).map(Value::string))
                    .collect();
                draft.set("block_names", Value::list(Type::String, names));
            }
            // Not every reservation has blocks.
            Err(e) if matches!(e.kind, ErrorKind::NotFound | ErrorKind::Invalid) => {}
            Err(e) => return Err(e.into()),
        }
        Ok(draft.into_value())
    }

    async fn machine_types(&self) -> Result<Value, Failure> {
        let project = self.project_id()?;
        let zone = self.located().zone().ok_or_else(|| {
            Failure::Refused(
                "Missing place of a data source",
                "Neither the data source nor the provider says which zone is meant. Set zone in one of them.".into(),
                "zone",
            )
        })?;
        let mut request = self.get(format!(
            "compute/v1/projects/{project}/zones/{zone}/machineTypes"
        ));
        if let Some(filter) = text(self.config, "filter") {
            request = request.query("filter", filter);
        }
        let listed = self
            .cloud
            .client
            .list(&request, &Listing::Array("items".into()))
            .await?;
        let json = json!({"machineTypes": listed.items});
        let mut draft = self.from(
            &json,
            &[
                ("machine_types.is_shared_cpus", "isSharedCpu"),
                (
                    "machine_types.maximum_persistent_disks_size_gb",
                    "maximumPersistentDisksSizeGb",
                ),
                ("id", "-"),
                ("project", "-"),
                ("zone", "-"),
                ("filter", "-"),
            ],
        );
        // A filter that fits nothing finds no machine types: an empty list, which can be counted.
        if listed.items.is_empty() {
            let element = draft
                .get("machine_types")
                .and_then(|v| v.type_of().element().cloned());
            if let Some(element) = element {
                draft.set("machine_types", Value::list(element, Vec::new()));
            }
        }
        draft.set("project", Value::string(&project));
        draft.set("zone", Value::string(&zone));
        draft.set(
            "id",
            Value::string(format!(
                "projects/{project}/zones/{zone}/machineTypes/filters/{}",
                text(self.config, "filter").unwrap_or_default()
            )),
        );
        Ok(draft.into_value())
    }

    async fn network_profile(&self) -> Result<Value, Failure> {
        let project = self.project_id()?;
        let name = names::last(text(self.config, "name").unwrap_or_default()).to_owned();
        let request = self.get(format!(
            "compute/v1/projects/{project}/global/networkProfiles/{name}"
        ));
        let json = self
            .one(&request, &format!("The network profile \"{name}\""))
            .await?;
        // Features that are lists stand in attributes of their own; the map holds the switches.
        let mut flat = json.clone();
        let mut switches = serde_json::Map::new();
        if let Some(features) = json.get("features").and_then(Json::as_object) {
            for (key, value) in features {
                match value {
                    Json::String(_) => {
                        switches.insert(key.clone(), value.clone());
                    }
                    _ => flat[key] = value.clone(),
                }
            }
        }
        flat["features"] = Json::Object(switches);
        let mut draft = self.from(
            &flat,
            &[
                ("profile_id", "id"),
                ("id", "-"),
                ("zone", "-"),
                ("project", "-"),
            ],
        );
        let place = |key: &str| {
            json.pointer(&format!("/location/{key}"))
                .and_then(Json::as_str)
                .unwrap_or_default()
                .to_owned()
        };
        if place("scope") == "ZONE" {
            draft.set("zone", Value::string(names::last(&place("name"))));
        }
        draft.set("name", Value::string(&name));
        draft.set("project", Value::string(&project));
        draft.set(
            "id",
            Value::string(format!("projects/{project}/global/networkProfiles/{name}")),
        );
        Ok(draft.into_value())
    }
}
