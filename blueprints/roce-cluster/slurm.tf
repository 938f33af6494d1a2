# Slurm's files, rendered from the machine's facts and put into the bucket for the controller.

locals {
  # One switch per block that is known now; the controller refines it from where the nodes stand.
  switch_names = length(local.blocks) == 0 ? ["all"] : distinct(local.node_block)
  switches = {
    for name in local.switch_names : name => [
      for i, node in local.nodes : node if length(local.blocks) == 0 || local.node_block[i] == name
    ]
  }

  # What the kernel and the machine's firmware keep is not promised to jobs.
  real_memory = try(floor(local.machine.memory_mib * (100 - var.memory_reserve_percent) / 100), null)

  slurm = {
    cluster_name     = var.name
    controller       = "${var.name}-controller"
    node_set         = var.node_count == 1 ? local.nodes[0] : "${var.name}-gpu-[0-${var.node_count - 1}]"
    partition        = var.partition
    cpus             = local.machine.vcpus
    sockets          = local.machine.cpu.sockets
    cores_per_socket = local.machine.cpu.cores_per_socket
    threads_per_core = local.machine.cpu.threads_per_core
    real_memory      = local.real_memory
    gpu_type         = local.machine.slurm.gres_type
    gpu_count        = local.machine.slurm.gres_count
    switches         = local.switches
  }

  # Nothing is rendered for a machine that the gate refuses: its facts may be missing.
  slurm_files = {
    for name in local.buildable ? ["cgroup.conf", "gres.conf", "slurm.conf", "topology.conf"] : [] :
    name => templatefile("${path.module}/templates/${name}.tftpl", local.slurm)
  }
}

resource "google_storage_bucket_object" "slurm" {
  for_each = local.slurm_files

  bucket       = google_storage_bucket.cluster.name
  name         = "slurm/${each.key}"
  content      = each.value
  content_type = "text/plain; charset=utf-8"
}
