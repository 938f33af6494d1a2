//! The provider block: its schema and what it settles.

use std::sync::Arc;
use std::time::Duration;

use formwork_diagnostics::Diagnostic;
use formwork_environment::Environment;
use formwork_google_client::{Client, ClientConfig, Credentials, ErrorKind, GoogleError};
use formwork_provider::Reported;
use formwork_provider_schema::{Attribute, Block, BlockNesting, NestedBlock, Schema};
use formwork_values::{Path, Type, Value};

use crate::World;
use crate::draft::{entries, text};

/// `NAME_custom_endpoint` and the service that it moves.
const ENDPOINTS: [(&str, &str); 31] = [
    ("artifact_registry", "artifactregistry"),
    ("big_query", "bigquery"),
    ("bigquery_connection", "bigqueryconnection"),
    ("cloud_billing", "cloudbilling"),
    ("cloud_quotas", "cloudquotas"),
    ("cloud_resource_manager", "cloudresourcemanager"),
    ("cloud_run_v2", "run"),
    ("cloud_scheduler", "cloudscheduler"),
    ("compute", "compute"),
    ("container", "container"),
    ("dns", "dns"),
    ("filestore", "file"),
    ("gke_hub", "gkehub"),
    ("hypercomputecluster", "hypercomputecluster"),
    ("iam", "iam"),
    ("kms", "cloudkms"),
    ("logging", "logging"),
    ("lustre", "lustre"),
    ("monitoring", "monitoring"),
    ("netapp", "netapp"),
    ("network_connectivity", "networkconnectivity"),
    ("org_policy", "orgpolicy"),
    ("parallelstore", "parallelstore"),
    ("pubsub", "pubsub"),
    ("resource_manager", "cloudresourcemanager"),
    ("secret_manager", "secretmanager"),
    ("service_networking", "servicenetworking"),
    ("service_usage", "serviceusage"),
    ("sql", "sqladmin"),
    ("storage", "storage"),
    ("tpu_v2", "tpu"),
];

/// What the provider block says, defaults of the environment filled in.
#[derive(Clone, Debug)]
pub(crate) struct Settings {
    pub(crate) project: Option<Arc<str>>,
    pub(crate) region: Option<Arc<str>>,
    pub(crate) zone: Option<Arc<str>>,
    pub(crate) billing_project: Option<Arc<str>>,
    pub(crate) user_project_override: bool,
    pub(crate) default_labels: Vec<(Arc<str>, Arc<str>)>,
    /// The label that says who made it, on new objects or on all.
    pub(crate) attribution: Attribution,
}

/// When the label `goog-terraform-provisioned` is put.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Attribution {
    Never,
    OnCreation,
    Always,
}

/// Where nothing of the provider block is known yet.
pub(crate) fn unknown() -> Settings {
    Settings {
        project: None,
        region: None,
        zone: None,
        billing_project: None,
        user_project_override: false,
        default_labels: Vec::new(),
        attribution: Attribution::Never,
    }
}

/// The schema of the provider block.
pub(crate) fn schema() -> Schema {
    let text = || Attribute::new(Type::String).optional();
    let mut attributes: Vec<(String, Attribute)> = vec![
        ("access_token".into(), text().sensitive()),
        (
            "add_terraform_attribution_label".into(),
            Attribute::new(Type::Bool).optional(),
        ),
        ("billing_project".into(), text()),
        ("credentials".into(), text().sensitive()),
        (
            "default_labels".into(),
            Attribute::new(Type::map(Type::String)).optional(),
        ),
        ("impersonate_service_account".into(), text()),
        (
            "impersonate_service_account_delegates".into(),
            Attribute::new(Type::list(Type::String)).optional(),
        ),
        ("poll_interval".into(), text()),
        ("project".into(), text()),
        ("region".into(), text()),
        ("request_reason".into(), text()),
        ("request_timeout".into(), text()),
        (
            "scopes".into(),
            Attribute::new(Type::list(Type::String)).optional(),
        ),
        (
            "terraform_attribution_label_addition_strategy".into(),
            text(),
        ),
        ("universe_domain".into(), text()),
        (
            "user_project_override".into(),
            Attribute::new(Type::Bool).optional(),
        ),
        ("zone".into(), text()),
    ];
    for (name, _) in ENDPOINTS {
        attributes.push((format!("{name}_custom_endpoint"), text()));
    }
    let batching = Block::of_attributes([
        ("enable_batching", Attribute::new(Type::Bool).optional()),
        ("send_after", text()),
    ]);
    Schema::new(
        0,
        Block::new(
            attributes,
            [(
                "batching",
                NestedBlock::new(BlockNesting::List, batching).bounded(0, 1),
            )],
        ),
    )
}

fn wrong(name: &str, detail: String) -> Reported {
    Reported::at(
        Path::ROOT.attribute(name),
        Diagnostic::error("Invalid provider configuration", detail),
    )
}

/// Checks what can be checked without sending anything.
pub(crate) fn validate(config: &Value) -> Vec<Reported> {
    let mut reported = Vec::new();
    if text(config, "access_token").is_some() && text(config, "credentials").is_some() {
        reported.push(wrong(
            "access_token",
            "Both access_token and credentials are set, and only one of them can be used. Remove one of them.".into(),
        ));
    }
    for name in ["impersonate_service_account", "universe_domain"] {
        if let Some(value) = text(config, name)
            && value != "googleapis.com"
        {
            reported.push(wrong(
                name,
                format!("The argument {name} is not supported by this provider yet. Use credentials that need no such setting: impersonation can be written into the credentials file, which `gcloud auth application-default login --impersonate-service-account` makes."),
            ));
        }
    }
    if let Some(strategy) = text(config, "terraform_attribution_label_addition_strategy")
        && !matches!(strategy, "CREATION_ONLY" | "PROACTIVE")
    {
        reported.push(wrong(
            "terraform_attribution_label_addition_strategy",
            format!("The strategy is \"{strategy}\"; it must be CREATION_ONLY or PROACTIVE."),
        ));
    }
    if let Some(timeout) = text(config, "request_timeout")
        && crate::same::seconds(timeout).is_none()
    {
        reported.push(wrong(
            "request_timeout",
            format!("\"{timeout}\" is no duration. Write it like \"120s\" or \"2m\"."),
        ));
    }
    reported
}

/// Settles the provider block into settings and a client.
///
/// # Errors
/// What is wrong, with the attribute concerned.
pub(crate) fn settle(
    config: &Value,
    environment: &Environment,
    world: &World,
    version: &str,
    terraform_version: &str,
) -> Result<(Settings, Client), Vec<Reported>> {
    let from = |name: &str, variables: &[&str]| -> Option<Arc<str>> {
        text(config, name)
            .or_else(|| variables.iter().find_map(|v| environment.variable(v)))
            .map(Arc::from)
    };
    let project = from(
        "project",
        &[
            "GOOGLE_PROJECT",
            "GOOGLE_CLOUD_PROJECT",
            "GCLOUD_PROJECT",
            "CLOUDSDK_CORE_PROJECT",
        ],
    );
    let region = from(
        "region",
        &["GOOGLE_REGION", "GCLOUD_REGION", "CLOUDSDK_COMPUTE_REGION"],
    );
    let zone = from(
        "zone",
        &["GOOGLE_ZONE", "GCLOUD_ZONE", "CLOUDSDK_COMPUTE_ZONE"],
    );
    let flag = |name: &str| config.attribute(name).and_then(Value::as_bool);
    let attribution = match (
        flag("add_terraform_attribution_label").unwrap_or(true),
        text(config, "terraform_attribution_label_addition_strategy"),
    ) {
        (false, _) => Attribution::Never,
        (true, Some("PROACTIVE")) => Attribution::Always,
        (true, _) => Attribution::OnCreation,
    };
    let settings = Settings {
        project: project.or_else(|| match world {
            World::Mock { project, .. } => project.clone(),
            World::Google => None,
        }),
        region,
        zone,
        billing_project: from("billing_project", &["GOOGLE_BILLING_PROJECT"]),
        user_project_override: flag("user_project_override")
            .or_else(|| {
                environment
                    .variable("USER_PROJECT_OVERRIDE")
                    .map(|v| v == "true")
            })
            .unwrap_or(false),
        default_labels: entries(config.attribute("default_labels")),
        attribution,
    };
    let scopes: Vec<String> = config
        .attribute("scopes")
        .and_then(Value::as_sequence)
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .map(str::to_owned)
        .collect();
    let mut client = match world {
        World::Mock { base, .. } => ClientConfig::mock(base),
        World::Google => ClientConfig::google(
            credentials(config, environment, &scopes).map_err(|e| vec![denied(&e)])?,
        ),
    };
    // With a mock cloud nothing may leave it, whatever address the provider block names.
    if *world == World::Google {
        for (name, service) in ENDPOINTS {
            if let Some(base) = text(config, &format!("{name}_custom_endpoint")) {
                client.endpoints.set(service, base);
            }
        }
    }
    client.user_agent = format!(
        "Formwork/{} (+terraform-provider-google/{version}) Terraform/{terraform_version}",
        env!("CARGO_PKG_VERSION")
    );
    client.request_reason =
        from("request_reason", &["CLOUDSDK_CORE_REQUEST_REASON"]).map(|r| r.to_string());
    if let Some(timeout) = text(config, "request_timeout").and_then(crate::same::seconds) {
        client.request_timeout = Duration::from_secs_f64(timeout);
    }
    let client = Client::new(client).map_err(|e| vec![denied(&e)])?;
    Ok((settings, client))
}

fn credentials(
    config: &Value,
    environment: &Environment,
    scopes: &[String],
) -> Result<Credentials, GoogleError> {
    if let Some(token) =
        text(config, "access_token").or_else(|| environment.variable("GOOGLE_OAUTH_ACCESS_TOKEN"))
    {
        return Ok(Credentials::token(token));
    }
    let given = text(config, "credentials").or_else(|| {
        [
            "GOOGLE_CREDENTIALS",
            "GOOGLE_CLOUD_KEYFILE_JSON",
            "GCLOUD_KEYFILE_JSON",
        ]
        .iter()
        .find_map(|v| environment.variable(v))
    });
    let Some(given) = given else {
        return Credentials::application_default(scopes);
    };
    if given.trim_start().starts_with('{') {
        return Credentials::json(given, scopes);
    }
    // A path; `~` is the home directory.
    let path = match (given.strip_prefix("~/"), &environment.home) {
        (Some(rest), Some(home)) => home.join(rest),
        _ => environment.working.join(given),
    };
    let json = std::fs::read_to_string(&path).map_err(|e| {
        GoogleError::local(
            ErrorKind::Credentials,
            format!(
                "the credentials file {} cannot be read: {e}. The argument credentials takes a path or the JSON itself",
                path.display()
            ),
        )
    })?;
    Credentials::json(&json, scopes)
}

/// What keeps the provider from being used at all.
pub(crate) fn denied(error: &GoogleError) -> Reported {
    let mock = match error.kind {
        ErrorKind::Credentials => {
            " To try things out without an account, run the command with -mock: it works on a cloud of its own, on this machine."
        }
        _ => "",
    };
    Reported::whole(Diagnostic::error(
        "Google cannot be used",
        format!("The Google provider cannot work: {error}.{mock}"),
    ))
}

/// Default labels and endpoints by name, for tests.
#[cfg(test)]
pub(crate) fn bare(project: &str, region: &str, zone: &str) -> Settings {
    let some = |s: &str| (!s.is_empty()).then(|| Arc::from(s));
    Settings {
        project: some(project),
        region: some(region),
        zone: some(zone),
        billing_project: None,
        user_project_override: false,
        default_labels: Vec::new(),
        attribution: Attribution::OnCreation,
    }
}
