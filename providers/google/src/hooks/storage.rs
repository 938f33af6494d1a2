//! Filestore names its place by zone or location, and its network without the host.

use async_trait::async_trait;
use formwork_google_schema::Act;
use formwork_values::Value;
use serde_json::{Map, Value as Json};

use crate::draft::Draft;
use crate::engine::Subject;
use crate::failure::Failure;
use crate::hooks::Hooks;
use crate::names;
use crate::plan::Plan;

pub(crate) struct Filestore;

#[async_trait]
impl Hooks for Filestore {
    fn plan(&self, plan: &mut Plan<'_>) {
        if plan.configured("location").is_some() {
            return;
        }
        if let Some(before) = plan.before("location").filter(|b| !b.is_null()) {
            plan.planned.set("location", before.clone());
            return;
        }
        let zone = plan
            .configured("zone")
            .cloned()
            .or_else(|| plan.settings.zone.as_deref().map(Value::string));
        match zone {
            Some(zone) => plan.planned.set("location", zone),
            None => plan.reported.push(formwork_provider::Reported::at(
                formwork_values::Path::ROOT.attribute("location"),
                formwork_diagnostics::Diagnostic::error(
                    "Missing place of a resource",
                    "Neither the resource nor the provider says which location the Filestore instance belongs to. Set location to a zone (a region for the regional tiers).",
                ),
            )),
        }
    }

    fn derive(
        &self,
        _subject: &Subject<'_>,
        json: &Json,
        draft: &mut Draft,
        _known: Option<&Value>,
    ) {
        let name = json.get("name").and_then(Json::as_str).unwrap_or_default();
        if draft.text("name").is_none() && !name.is_empty() {
            draft.set("name", Value::string(names::last(name)));
        }
        if draft.text("location").is_none()
            && let Some(location) = names::after(name, "locations")
        {
            draft.set("location", Value::string(location));
        }
    }

    async fn encode(
        &self,
        _subject: &Subject<'_>,
        _act: Act,
        _prior: Option<&Value>,
        body: &mut Map<String, Json>,
    ) -> Result<(), Failure> {
        if let Some(Json::Array(networks)) = body.get_mut("networks") {
            for network in networks {
                if let Some(Json::String(link)) = network.get_mut("network") {
                    *link = names::relative(link).to_owned();
                }
            }
        }
        Ok(())
    }
}
