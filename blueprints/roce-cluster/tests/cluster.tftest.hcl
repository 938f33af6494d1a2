# What the blueprint promises, against the mock cloud:
#
#   formwork -chdir=blueprints/roce-cluster test -mock
#
# Without -mock the last run builds two GPU nodes.

variables {
  project_id   = "formwork-mock"
  name         = "t"
  machine_type = "a3-ultragpu-8g"
  zone         = "us-central1-b"
  reservation  = "a3u-reservation"

  controller_machine_type = "n2-standard-8"
}

provider "google" {
  project = var.project_id
  zone    = var.zone
}

provider "formwork" {}

run "name_is_checked" {
  command = plan

  variables {
    name = "Not a name"
  }

  expect_failures = [var.name]
}

run "reservation_is_required" {
  command = plan

  variables {
    reservation = null
  }

  expect_failures = [data.google_compute_machine_types.node]
}

run "machine_without_roce_is_refused" {
  command = plan

  variables {
    machine_type = "a3-highgpu-8g"
  }

  expect_failures = [data.google_compute_machine_types.node]
}

run "nodes_are_planned" {
  command = plan

  variables {
    node_count = 3
  }

  assert {
    condition     = output.nodes == ["t-gpu-0", "t-gpu-1", "t-gpu-2"]
    error_message = "The nodes are ${join(", ", output.nodes)}."
  }

  assert {
    condition     = length(output.subnetwork_ranges.rails) == 8
    error_message = "There are ${length(output.subnetwork_ranges.rails)} rails for 8 RDMA interfaces."
  }
}

run "cluster" {
  assert {
    condition     = length(google_compute_instance.node) == 2
    error_message = "There are ${length(google_compute_instance.node)} nodes."
  }

  assert {
    condition     = alltrue([for node in google_compute_instance.node : length(node.network_interface) == 10])
    error_message = "A node does not have two host interfaces and eight for RDMA."
  }

  assert {
    condition     = google_compute_network.rdma.mtu == 8896
    error_message = "The RDMA network's MTU is ${google_compute_network.rdma.mtu}."
  }

  assert {
    condition     = output.slurm.gres == "gpu:h200-141gb:8"
    error_message = "Slurm is told of ${output.slurm.gres}."
  }
}

run "growth_replaces_nothing" {
  command = plan

  variables {
    node_count = 3
  }

  # Known while planning only of machines that stay.
  assert {
    condition     = alltrue([for node in slice(google_compute_instance.node, 0, 2) : node.instance_id != ""])
    error_message = "A machine has no id."
  }
}
