output "controller" {
  description = "Name of the Slurm controller, for gcloud compute ssh."
  value       = google_compute_instance.controller.name
}

output "nodes" {
  description = "Names of the GPU nodes, in order."
  value       = google_compute_instance.node[*].name
}

output "networks" {
  description = "Self links of the host networks, in interface order, and of the RDMA network."
  value = {
    host = google_compute_network.host[*].self_link
    rdma = google_compute_network.rdma.self_link
  }
}

output "subnetwork_ranges" {
  description = "Ranges of the host subnetworks and of the rails, in order."
  value = {
    host  = google_compute_subnetwork.host[*].ip_cidr_range
    rails = google_compute_subnetwork.rail[*].ip_cidr_range
  }
}

output "home" {
  description = "The NFS share that is /home on every machine."
  value       = local.home
}

output "checkpoints" {
  description = "Where jobs write checkpoints; every node may."
  value       = "gs://${google_storage_bucket.cluster.name}/checkpoints"
}

output "slurm_config" {
  description = "Slurm's files in the bucket, as the controller reads them."
  value       = { for name, object in google_storage_bucket_object.slurm : name => "gs://${object.bucket}/${object.name}" }
}

output "slurm" {
  description = "What Slurm was told about each node."
  value = {
    partition   = var.partition
    cpus        = local.slurm.cpus
    real_memory = local.slurm.real_memory
    gres        = local.buildable ? "gpu:${local.slurm.gpu_type}:${local.slurm.gpu_count}" : null
    switches    = local.switches
  }
}
