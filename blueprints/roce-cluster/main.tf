# What the machine type needs, and whether this blueprint can build it.
#
# Every number about the machine (interfaces, rails, MTU, profile, disks, capacity) comes from the
# formwork provider, so a family that it learns about tomorrow needs no change here.

locals {
  machine = provider::formwork::machine(var.machine_type)
  fabric  = provider::formwork::fabric(var.machine_type, var.zone)
  region  = local.fabric.region

  # The one kind of fabric whose networks are laid out below.
  fits = local.fabric.kind == "rocev2-vm"

  needed = {
    "how many host networks it needs" = local.fabric.host.networks
    "the MTU of its host networks"    = local.fabric.host.mtu
    "how many rails it has"           = local.fabric.rails
    "the MTU of its RDMA network"     = local.fabric.rdma.mtu
    "its network profile"             = local.fabric.profile
    "the order of its interfaces"     = local.fabric.interfaces
    "its boot disk types"             = local.machine.boot_disk_types
    "its vCPUs"                       = local.machine.vcpus
    "its memory"                      = local.machine.memory_mib
    "its accelerator count"           = local.machine.slurm.gres_count
    "its accelerator type"            = local.machine.slurm.gres_type
    "its local SSDs"                  = local.machine.local_ssd.disks
  }
  missing   = [for what, fact in local.needed : what if fact == null]
  buildable = local.fits && length(local.missing) == 0

  offered = {
    "reservation" = local.machine.capacity.reservation
    "spot"        = local.machine.capacity.spot
    "flex-start"  = local.machine.capacity.flex_start
  }[var.capacity]

  # Cut to the shorter prefix, two ranges that overlap begin alike. What is no range is told by its variable.
  shorter_prefix = try(min(split("/", var.host_range)[1], split("/", var.rdma_range)[1]), 0)
  ranges_overlap = try(
    cidrhost("${split("/", var.host_range)[0]}/${local.shorter_prefix}", 0) == cidrhost("${split("/", var.rdma_range)[0]}/${local.shorter_prefix}", 0),
    false
  )

  labels = merge(var.labels, { formwork-cluster = var.name })
  nodes  = [for i in range(var.node_count) : "${var.name}-gpu-${i}"]
}

# The gate: every network depends on this read, so a machine that does not fit is refused while
# planning, once, before anything is made. It also finds a zone that lacks the machine type.
data "google_compute_machine_types" "node" {
  project = var.project_id
  zone    = var.zone
  filter  = "name = \"${var.machine_type}\""

  lifecycle {
    precondition {
      condition     = local.fits
      error_message = local.fabric.kind == null ? "The fabric of ${var.machine_type} is not known, and this blueprint builds RoCEv2 on VMs only." : "The fabric of ${var.machine_type} is ${coalesce(local.fabric.title, "unknown")}, and this blueprint builds RoCEv2 on VMs only."
    }
    precondition {
      condition     = !local.fits || length(local.missing) == 0
      error_message = "Some facts about ${var.machine_type} that this blueprint needs are not confirmed: ${join(", ", local.missing)}. They can be given in a machine facts file."
    }
    precondition {
      condition     = local.offered != false
      error_message = "${var.machine_type} is not offered with capacity \"${var.capacity}\". It is offered with: ${join(", ", local.machine.capacity_modes)}."
    }
    precondition {
      condition     = var.capacity != "reservation" || var.reservation != null
      error_message = local.machine.capacity.reservation_required == true ? "${var.machine_type} can only be had from a reservation, so var.reservation must name one." : "With capacity \"reservation\", var.reservation must name one."
    }
    precondition {
      condition     = var.capacity == "reservation" || var.reservation == null
      error_message = "Nodes with capacity \"${var.capacity}\" cannot take a reservation; leave var.reservation out, or set var.capacity to \"reservation\"."
    }
    precondition {
      condition     = local.reservation_block == null || length(var.reservation_blocks) == 0
      error_message = "var.reservation names a block already, so var.reservation_blocks must be empty."
    }
    precondition {
      condition     = var.nodes_per_block == null ? true : var.nodes_per_block * length(local.blocks) >= var.node_count
      error_message = "${length(local.blocks)} blocks of ${coalesce(var.nodes_per_block, 0)} nodes do not hold ${var.node_count} nodes; name more of reservation_blocks, or put more nodes into each."
    }
    precondition {
      condition     = local.domain_nodes == null ? true : var.node_count <= local.domain_nodes
      error_message = "The GPUs of ${var.machine_type} are laid out as ${coalesce(local.gpu_topology, "one")}: ${coalesce(local.domain_gpus, 0)} GPUs, or ${coalesce(local.domain_nodes, 0)} nodes, are one domain of that layout (a sub-block), and one placement policy covers one. So node_count can be at most ${coalesce(local.domain_nodes, 0)}, not ${var.node_count}; make one more cluster for each further domain."
    }
    precondition {
      condition     = !local.ranges_overlap
      error_message = "The ranges of the host networks and of the rails, ${var.host_range} and ${var.rdma_range}, overlap; a machine with an interface in each could not tell them apart."
    }
    postcondition {
      condition     = length(self.machine_types) > 0
      error_message = "The zone ${var.zone} has no ${var.machine_type}."
    }
  }
}

# Fails while planning where the zone lacks the profile; without it the RDMA network cannot be made.
data "google_compute_network_profile" "rdma" {
  project = var.project_id
  name    = local.fabric.profile

  depends_on = [data.google_compute_machine_types.node]
}

# A reservation of this project can be looked at before anything is made.
data "google_compute_reservation" "nodes" {
  count   = local.own_reservation ? 1 : 0
  project = var.project_id
  zone    = var.zone
  name    = local.reservation_name

  lifecycle {
    postcondition {
      condition     = try(self.specific_reservation[0].instance_properties[0].machine_type, var.machine_type) == var.machine_type
      error_message = "The reservation ${local.reservation_name} holds another machine type than ${var.machine_type}."
    }
    postcondition {
      condition     = try(length(self.block_names), 0) == 0 || length(setsubtract(local.blocks, coalesce(self.block_names, []))) == 0
      error_message = "The reservation ${local.reservation_name} has no block ${join(", ", setsubtract(local.blocks, coalesce(self.block_names, [])))}. It has: ${join(", ", coalesce(self.block_names, []))}."
    }
  }

  depends_on = [data.google_compute_machine_types.node]
}

# Services that were on before stay on when the cluster goes.
resource "google_project_service" "required" {
  for_each = toset([
    "cloudresourcemanager.googleapis.com",
    "compute.googleapis.com",
    "file.googleapis.com",
    "iam.googleapis.com",
    "logging.googleapis.com",
    "monitoring.googleapis.com",
    "storage.googleapis.com",
  ])

  project            = var.project_id
  service            = each.key
  disable_on_destroy = false
}
