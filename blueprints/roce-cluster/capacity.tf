# From "capacity" and "reservation" to what each node asks for.

locals {
  # NAME, projects/P/reservations/NAME, either with /reservationBlocks/B[/reservationSubBlocks/S].
  reservation_block = try(regex("/reservationBlocks/([^/]+)", var.reservation)[0], null)
  reservation_path  = try(split("/reservationBlocks/", var.reservation)[0], null)
  reservation_name  = try(reverse(split("/", local.reservation_path))[0], null)
  own_reservation   = local.reservation_path != null && try(!startswith(var.reservation, "projects/") || startswith(var.reservation, "projects/${var.project_id}/"), false)

  # A block can only be asked for by its full path.
  reservation_full = try(startswith(local.reservation_path, "projects/") ? local.reservation_path : "projects/${var.project_id}/reservations/${local.reservation_path}", null)

  # The blocks known now, and the block of each node: neighbours in name are neighbours in the fabric.
  # With nodes_per_block a node keeps its block when the cluster grows.
  blocks = local.reservation_block == null ? var.reservation_blocks : [local.reservation_block]
  node_block = [
    for i in range(var.node_count) : length(local.blocks) == 0 ? "" : local.blocks[
      var.nodes_per_block == null ? floor(i * length(local.blocks) / var.node_count) : min(floor(i / var.nodes_per_block), length(local.blocks) - 1)
    ]
  ]

  node_reservation = [
    for block in local.node_block : block == "" ? var.reservation : (
      local.reservation_block == null ? "${local.reservation_full}/reservationBlocks/${block}" :
      "${local.reservation_full}${trimprefix(var.reservation, local.reservation_path)}"
    )
  ]

  provisioning_model = {
    "reservation" = "RESERVATION_BOUND"
    "spot"        = "SPOT"
    "flex-start"  = "FLEX_START"
  }[var.capacity]

  # Machines in a reservation are placed by it, unless the family is laid out in a GPU topology. Spot
  # machines are kept together by the family's compact policy. Flex-start takes no such policy: it is
  # placed by a workload policy, and only in a managed instance group, which is not made here.
  gpu_topology = local.machine.placement.gpu_topology
  placed       = local.gpu_topology != null || (var.capacity == "spot" && local.machine.placement.compact == true)

  # How many nodes one domain of that topology (such as 2x8: 16 GPUs) holds. One policy covers one domain.
  domain_gpus  = try(split("x", local.gpu_topology)[0] * split("x", local.gpu_topology)[1], null)
  domain_nodes = try(floor(local.domain_gpus / local.machine.slurm.gres_count), null)
}

resource "google_compute_resource_policy" "placement" {
  count = local.placed ? 1 : 0

  project = var.project_id
  region  = local.region
  name    = "${var.name}-placement"

  group_placement_policy {
    collocation  = coalesce(local.machine.placement.collocation, "COLLOCATED")
    gpu_topology = local.gpu_topology
  }

  depends_on = [google_project_service.required, data.google_compute_machine_types.node]
}
