# /home on Filestore, checkpoints and Slurm's files in a bucket, and who may read and write what.

locals {
  bucket_name = coalesce(var.bucket_name, "${var.project_id}-${var.name}")
  home        = "${google_filestore_instance.home.networks[0].ip_addresses[0]}:/${google_filestore_instance.home.file_shares[0].name}"
}

resource "google_filestore_instance" "home" {
  project     = var.project_id
  location    = var.zone
  name        = "${var.name}-home"
  description = "Home directories of the cluster ${var.name}."
  tier        = var.filestore_tier
  labels      = local.labels

  file_shares {
    name        = "home"
    capacity_gb = var.filestore_capacity_gb
  }

  networks {
    network      = google_compute_network.host[0].name
    modes        = ["MODE_IPV4"]
    connect_mode = "DIRECT_PEERING"
  }
}

resource "google_storage_bucket" "cluster" {
  project                     = var.project_id
  name                        = local.bucket_name
  location                    = upper(local.region)
  uniform_bucket_level_access = true
  public_access_prevention    = "enforced"
  force_destroy               = var.bucket_force_destroy
  labels                      = local.labels

  # Folders that can be renamed in one step, as checkpointing wants.
  hierarchical_namespace {
    enabled = true
  }

  depends_on = [google_project_service.required]
}

resource "google_service_account" "controller" {
  project      = var.project_id
  account_id   = "${var.name}-controller"
  display_name = "Slurm controller of ${var.name}"

  depends_on = [google_project_service.required]
}

resource "google_service_account" "node" {
  project      = var.project_id
  account_id   = "${var.name}-node"
  display_name = "GPU nodes of ${var.name}"

  depends_on = [google_project_service.required]
}

# The controller only reads; it takes Slurm's files only where their hash is the one in its metadata,
# so that jobs, which may write to the bucket, cannot change them.
resource "google_storage_bucket_iam_member" "controller" {
  bucket = google_storage_bucket.cluster.name
  role   = "roles/storage.objectViewer"
  member = "serviceAccount:${google_service_account.controller.email}"
}

resource "google_storage_bucket_iam_member" "node" {
  bucket = google_storage_bucket.cluster.name
  role   = "roles/storage.objectUser"
  member = "serviceAccount:${google_service_account.node.email}"
}

# compute.viewer lets the controller see on which blocks the nodes came to stand.
resource "google_project_iam_member" "controller" {
  for_each = toset(["roles/compute.viewer", "roles/logging.logWriter", "roles/monitoring.metricWriter"])

  project = var.project_id
  role    = each.key
  member  = "serviceAccount:${google_service_account.controller.email}"

  depends_on = [google_project_service.required]
}

resource "google_project_iam_member" "node" {
  for_each = toset(["roles/logging.logWriter", "roles/monitoring.metricWriter"])

  project = var.project_id
  role    = each.key
  member  = "serviceAccount:${google_service_account.node.email}"

  depends_on = [google_project_service.required]
}
