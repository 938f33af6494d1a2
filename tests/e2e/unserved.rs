//! Validating what cannot be held against a schema: providers that are not there, types that are not
//! served, versions that nobody has.

use crate::env;

const PROVIDERS: &str = r#"
terraform {
  required_providers {
    google      = { source = "hashicorp/google", version = ">= 5.0, < 8.0" }
    google-beta = { source = "hashicorp/google-beta" }
    aws         = { source = "hashicorp/aws", version = "~> 5.0" }
    random      = { source = "hashicorp/random" }
    time        = { source = "hashicorp/time" }
    helm        = { source = "hashicorp/helm" }
    unused      = { source = "example/unused" }
  }
}
"#;

/// Validates; gives severity, summary and line of each diagnostic.
#[track_caller]
fn check(text: &str, want: &[(&str, &str, u64)]) -> Vec<String> {
    let env = env();
    env.write("versions.tf", PROVIDERS).write("main.tf", text);
    let errors = want.iter().any(|w| w.0 == "error");
    let said = env
        .run(&["validate", "-json"])
        .exits(i32::from(errors))
        .json();
    let diagnostics = said["diagnostics"].as_array().expect("a list");
    let found: Vec<(&str, &str, u64)> = diagnostics
        .iter()
        .map(|d| {
            (
                d["severity"].as_str().unwrap_or(""),
                d["summary"].as_str().unwrap_or(""),
                d["range"]["start"]["line"].as_u64().unwrap_or(0),
            )
        })
        .collect();
    assert_eq!(found, want, "{said:#}");
    diagnostics
        .iter()
        .map(|d| d["detail"].as_str().unwrap_or("").to_owned())
        .collect()
}

#[test]
fn providers_that_are_not_there() {
    let details = check(
        r#"variable "names" {
  type    = list(string)
  default = null
}
provider "helm" {
  kubernetes = { host = data.aws_eks_cluster.c.endpoint }
}
data "aws_eks_cluster" "c" {
  name = random_id.x.hex
}
resource "random_id" "x" {
  byte_length = 4
  keepers     = { a = "b" }
}
resource "aws_instance" "i" {
  count = length(var.names)
  dynamic "ebs_block_device" {
    for_each = var.names == null ? [] : var.names
    iterator = device
    content {
      device_name = device.value.name
      size        = var.names.not_there
    }
  }
}
output "o" {
  value = aws_instance.i[0].anything.goes["here"] + provider::time::rfc3339_parse("x").unix
}
"#,
        &[
            ("warning", "Missing required provider", 5),
            ("warning", "Missing required provider", 8),
            ("warning", "Missing required provider", 11),
        ],
    );
    let parts = ["hashicorp/aws", "the 2 blocks", "hashicorp/helm"];
    let all = details.join("\n");
    assert!(parts.iter().all(|p| all.contains(p)), "{all}");
}

#[test]
fn what_needs_no_schema_is_checked_all_the_same() {
    check(
        r#"resource "helm_release" "r" {
  name       = lenght("x")
  depends_on = [aws_instance.i, aws_instance.j]
  lifecycle {
    ignore_change = [name]
  }
  set {
    value = nowhere.at_all
  }
}
resource "aws_instance" "i" {
  dynamic "ebs_block_device" {
    for_each = 5
    content {}
  }
}
"#,
        &[
            ("warning", "Missing required provider", 1),
            ("warning", "Missing required provider", 11),
            ("error", "Call to unknown function", 2),
            ("error", "Reference to undeclared resource", 3),
            ("error", "Unsupported argument", 5),
            ("error", "Reference to undeclared resource", 8),
            ("error", "Invalid dynamic for_each value", 13),
        ],
    );
    check(
        r#"resource "helm_release" "r" {
  name = lenght("x")
  set {
    value = 1 + {}
  }
}
resource "aws_instance" "i" {
  dynamic "ebs_block_device" {
    for_each = 5
    content {}
  }
}
resource "aws_instance" "j" {
  dynamic "ebs_block_device" {
    for_each = aws_instance.i.arn
    content {
      a = upper()
    }
  }
}
"#,
        &[
            ("warning", "Missing required provider", 1),
            ("warning", "Missing required provider", 7),
            ("error", "Call to unknown function", 2),
            ("error", "Invalid operand", 4),
            ("error", "Invalid dynamic for_each value", 9),
            ("error", "Not enough function arguments", 17),
        ],
    );
}

#[test]
fn types_and_versions_that_the_native_provider_does_not_serve() {
    let details = check(
        r#"resource "google_cloudbuild_trigger" "t" {
  anything = google_compute_network.n.id
}
resource "google_cloudbuild_trigger" "u" {
}
data "google_firebase_web_app" "d" {
  provider = google-beta
}
resource "google_compute_netwrok" "n" {
}
resource "google_compute_network" "n" {
  name = data.google_firebase_web_app.d.name
}
data "google_compute_instance_template_iam_member" "n" {
}
resource "google_made_up_last_week" "n" {
}
resource "google_cloudbuild_triger" "t" {
}
output "region" {
  value = provider::google::region_from_zone("us-central1-a")
}
"#,
        &[
            ("warning", "Resource types not served", 1),
            ("warning", "Resource types not served", 6),
            ("error", "Invalid resource type", 9),
            ("error", "Invalid resource type", 18),
        ],
    );
    assert!(
        details[2].contains("\"google_compute_network\"?"),
        "{details:?}"
    );
    assert!(
        details[3].contains("\"google_cloudbuild_trigger\"?"),
        "{details:?}"
    );
    assert!(
        details[0].contains(
            "data.google_compute_instance_template_iam_member, google_cloudbuild_trigger, \
             google_made_up_last_week"
        ),
        "{details:?}"
    );
    let env = env();
    let old = PROVIDERS.replace(">= 5.0, < 8.0", "~> 3.0");
    env.write("versions.tf", old.replace("aws ", "nope "))
        .write("main.tf", "resource \"google_gone\" \"t\" {}\n");
    env.run(&["validate"])
        .exits(0)
        .says(&["Warning: Provider version not served", "~> 3.0"]);
    env.run(&["plan", "-mock"])
        .exits(1)
        .says(&["Error: Provider version not served", "formwork init"]);
    env.write("versions.tf", "").write(
        "main.tf",
        "resource \"google_cloudbuild_trigger\" \"t\" {}\n",
    );
    env.run(&["plan", "-mock"]).exits(1).says(&[
        "Error: Resource type not served",
        "google_cloudbuild_trigger",
    ]);
}

/// A configuration for an older release of the provider may have arguments that ours does not know.
#[test]
fn arguments_of_other_releases() {
    let env = env();
    let text = r#"resource "google_compute_subnetwork" "s" {
  name               = "s"
  ip_cidr_range      = "10.0.0.0/16"
  network            = "n"
  secondary_ip_range = []
  gone_with_six      = true
}
resource "google_storage_bucket" "b" {
  name         = "bucket"
  storage_clas = "STANDARD"
}
"#;
    let versions = |range: &str| PROVIDERS.replace(">= 5.0, < 8.0", range);
    env.write("main.tf", text)
        .write("versions.tf", versions(">= 7.0"));
    env.run(&["validate"]).exits(1).says(&[
        "Error: Unsupported argument",
        "secondary_ip_range",
        "gone_with_six",
        "Error: Missing required argument",
    ]);
    env.write("versions.tf", versions("~> 5.0"));
    env.run(&["validate"]).exits(1).says(&[
        "Warning: Unsupported argument",
        "secondary_ip_range",
        "gone_with_six",
        "Warning: Missing required argument",
        "Error: Unsupported argument",
        "storage_clas",
    ]);
    env.write("main.tf", text.replace("storage_clas ", "storage_class"));
    env.run(&["validate"])
        .exits(0)
        .says(&["wants hashicorp/google 5."]);
}
