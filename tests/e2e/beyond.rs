//! What the language has beyond Terraform, through the binary against a mock cloud.

use crate::env;

const MAIN: &str = r#"
terraform {
  required_providers {
    google = {
      source = "hashicorp/google"
    }
  }
}

variable "regions" {
  type    = set(string)
  default = ["europe-west4", "us-central1"]
}
variable "used" {
  type    = set(string)
  default = ["europe-west4", "us-central1"]
}
variable "extra" {
  type    = bool
  default = true
}
variable "keep" {
  type    = bool
  default = false
}

provider "google" {
  alias    = "in"
  for_each = var.regions
  region   = each.key
}

resource "google_compute_network" "main" {
  name                    = "main"
  auto_create_subnetworks = false
  lifecycle {
    prevent_destroy = var.keep
  }
}
resource "google_compute_subnetwork" "in" {
  for_each      = var.used
  provider      = google.in[each.key]
  name          = "in-${each.key}"
  network       = google_compute_network.main.id
  ip_cidr_range = "10.${index(sort(var.regions), each.key)}.0.0/24"
}
resource "google_compute_network" "extra" {
  name                    = "extra"
  auto_create_subnetworks = false
  lifecycle {
    enabled = var.extra
  }
}
output "extra" {
  value = google_compute_network.extra == null ? "none" : google_compute_network.extra.name
}
output "regions" {
  value = [for s in google_compute_subnetwork.in : s.region]
}
"#;

#[test]
fn providers_for_each_region_and_what_is_enabled() {
    let env = env();
    env.write("main.tf", MAIN);
    env.run(&["validate"]).exits(0);
    env.run(&["apply", "-mock", "-auto-approve"]).exits(0);
    let outputs = env.run(&["output", "-mock", "-json"]).exits(0).json();
    assert_eq!(
        outputs["regions"]["value"],
        serde_json::json!(["europe-west4", "us-central1"])
    );
    assert_eq!(outputs["extra"]["value"], "extra");
    env.run(&["plan", "-mock", "-detailed-exitcode"]).exits(0);

    // disabled, and protected
    env.run(&["plan", "-mock", "-var=extra=false", "-out=p"])
        .exits(0)
        .says(&["google_compute_network.extra", "enabled is false"]);
    let plan = env.run(&["show", "-mock", "-json", "p"]).exits(0).json();
    let change = plan["resource_changes"]
        .as_array()
        .expect("changes")
        .iter()
        .find(|c| c["address"] == "google_compute_network.extra")
        .expect("it");
    assert_eq!(change["action_reason"], "delete_because_enabled_false");
    let configuration = &plan["configuration"];
    assert_eq!(
        configuration["provider_config"]["google.in"]["for_each_expression"],
        serde_json::json!({"references": ["var.regions"]})
    );
    let extra = configuration["root_module"]["resources"]
        .as_array()
        .expect("resources")
        .iter()
        .find(|r| r["name"] == "extra")
        .expect("it");
    assert_eq!(
        extra["enabled_expression"],
        serde_json::json!({"references": ["var.extra"]})
    );
    env.run(&["apply", "-mock", "p"]).exits(0);
    env.run(&["destroy", "-mock", "-auto-approve", "-var=keep=true"])
        .exits(1)
        .says(&[
            "Instance cannot be destroyed",
            "google_compute_network.main",
        ]);

    // A region goes: first what lies in it, then its provider.
    let off = "-var=extra=false";
    let used = "-var=used=[\"us-central1\"]";
    let regions = "-var=regions=[\"us-central1\"]";
    env.run(&["plan", "-mock", off, used, regions])
        .exits(1)
        .says(&[
            "Provider configuration not present",
            "in[\"europe-west4\"]",
            "Bring the element back",
        ]);
    env.run(&["apply", "-mock", "-auto-approve", off, used])
        .exits(0);
    env.run(&["plan", "-mock", "-detailed-exitcode", off, used])
        .exits(0);
    env.run(&["destroy", "-mock", "-auto-approve", off, used])
        .exits(0);
}
