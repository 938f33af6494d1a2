# Two a4x-highgpu-4g nodes from a reservation. Try it without an account:
#
#   formwork -chdir=blueprints/roce-cluster/examples/a4x apply -mock

terraform {
  required_version = ">= 1.8"

  required_providers {
    formwork = {
      source = "formwork/formwork"
    }
    google = {
      source  = "hashicorp/google"
      version = ">= 7.0, < 8.0"
    }
  }
}

variable "project_id" {
  description = "Project to build in; the default is the one of the mock cloud."
  type        = string
  default     = "formwork-mock"
}

provider "google" {
  project = var.project_id
  zone    = "us-central1-a"
}

provider "formwork" {}

module "cluster" {
  source = "../.."

  project_id   = var.project_id
  name         = "a4x"
  machine_type = "a4x-highgpu-4g"
  zone         = "us-central1-a"
  node_count   = 2
  reservation  = "a4x-reservation"

  controller_machine_type = "n2-standard-8"
}

output "controller" {
  description = "Name of the Slurm controller."
  value       = module.cluster.controller
}

output "nodes" {
  description = "Names of the GPU nodes."
  value       = module.cluster.nodes
}

output "subnetwork_ranges" {
  description = "Ranges of the host subnetworks and of the rails."
  value       = module.cluster.subnetwork_ranges
}

output "slurm" {
  description = "What Slurm was told about each node."
  value       = module.cluster.slurm
}

output "slurm_config" {
  description = "Slurm's files in the bucket."
  value       = module.cluster.slurm_config
}
