# The machines: a Slurm controller, and the GPU nodes with every interface in its place.

locals {
  image_architecture = { x86_64 = "amd64", arm64 = "arm64" }
  node_image = var.node_image != null ? var.node_image : {
    family  = "ubuntu-accelerator-2404-${lookup(local.image_architecture, coalesce(local.machine.architecture, "x86_64"), "amd64")}-with-nvidia-570"
    project = "ubuntu-os-accelerator-images"
  }
}

data "google_compute_image" "controller" {
  family  = var.controller_image.family
  project = var.controller_image.project
}

data "google_compute_image" "node" {
  family  = local.node_image.family
  project = local.node_image.project

  depends_on = [data.google_compute_machine_types.node]
}

# Slurm's state and the munge key outlive the controller's boot disk.
resource "google_compute_disk" "state" {
  project = var.project_id
  zone    = var.zone
  name    = "${var.name}-state"
  type    = var.controller_disk_type
  size    = 50
  labels  = local.labels

  depends_on = [google_project_service.required]
}

resource "google_compute_instance" "controller" {
  project      = var.project_id
  zone         = var.zone
  name         = "${var.name}-controller"
  description  = "Slurm controller of the cluster ${var.name}."
  machine_type = var.controller_machine_type
  labels       = local.labels
  tags         = ["${var.name}-controller"]

  # A change of machine type stops the controller, and never replaces it.
  allow_stopping_for_update = true

  boot_disk {
    initialize_params {
      image = data.google_compute_image.controller.self_link
      type  = var.controller_disk_type
      size  = 50
    }
  }

  attached_disk {
    source      = google_compute_disk.state.self_link
    device_name = "slurm-state"
  }

  network_interface {
    subnetwork = google_compute_subnetwork.host[0].self_link
    nic_type   = local.fabric.host.nic_type
  }

  metadata = {
    enable-oslogin = "TRUE"
    slurm-bucket   = google_storage_bucket.cluster.name
    slurm-files    = jsonencode({ for name, text in local.slurm_files : name => sha256(text) })
    startup-script = templatefile("${path.module}/templates/controller.sh.tftpl", {
      cluster     = var.name
      export      = google_compute_subnetwork.host[0].ip_cidr_range
      home        = local.home
      sync_script = file("${path.module}/files/slurm-sync.py")
    })
  }

  service_account {
    email  = google_service_account.controller.email
    scopes = ["cloud-platform"]
  }

  # A newer image of the family is no reason to replace a running controller.
  lifecycle {
    ignore_changes = [boot_disk[0].initialize_params[0].image]
  }

  # Its first boot reads the bucket and the project, so it comes after the rights to.
  depends_on = [
    google_compute_router_nat.nat,
    google_storage_bucket_object.slurm,
    google_storage_bucket_iam_member.controller,
    google_project_iam_member.controller,
  ]
}

resource "google_compute_instance" "node" {
  count = var.node_count

  project           = var.project_id
  zone              = var.zone
  name              = local.nodes[count.index]
  description       = "GPU node of the cluster ${var.name}."
  machine_type      = var.machine_type
  labels            = local.labels
  tags              = ["${var.name}-node"]
  resource_policies = google_compute_resource_policy.placement[*].self_link

  boot_disk {
    initialize_params {
      image = data.google_compute_image.node.self_link
      type  = local.machine.boot_disk_types[0]
      size  = var.node_boot_disk_gb
    }
  }

  # The disks that come with the machine type, spelled out so that they are no surprise in the state.
  dynamic "scratch_disk" {
    for_each = range(coalesce(local.machine.local_ssd.disks, 0))
    content {
      interface = "NVME"
      size      = local.machine.local_ssd.gib_per_disk
    }
  }

  # In the order the machine wants them: interface k of the rails is on rail k's subnetwork.
  dynamic "network_interface" {
    for_each = local.fabric.interfaces
    content {
      nic_type   = network_interface.value.nic_type
      subnetwork = network_interface.value.role == "rdma" ? google_compute_subnetwork.rail[network_interface.value.ordinal].self_link : google_compute_subnetwork.host[network_interface.value.ordinal].self_link
    }
  }

  scheduling {
    provisioning_model          = local.provisioning_model
    preemptible                 = var.capacity == "spot"
    automatic_restart           = var.capacity == "reservation"
    on_host_maintenance         = "TERMINATE"
    instance_termination_action = var.capacity == "spot" ? "STOP" : "DELETE"

    dynamic "max_run_duration" {
      for_each = var.capacity == "flex-start" ? [var.max_run_hours * 3600] : []
      content {
        seconds = max_run_duration.value
      }
    }
  }

  reservation_affinity {
    type = var.capacity == "reservation" ? "SPECIFIC_RESERVATION" : "NO_RESERVATION"

    dynamic "specific_reservation" {
      for_each = var.capacity == "reservation" ? [local.node_reservation[count.index]] : []
      content {
        key    = "compute.googleapis.com/reservation-name"
        values = [specific_reservation.value]
      }
    }
  }

  metadata = {
    enable-oslogin = "TRUE"
    startup-script = templatefile("${path.module}/templates/node.sh.tftpl", {
      cluster    = var.name
      controller = google_compute_instance.controller.name
      gpu_count  = local.machine.slurm.gres_count
      home       = local.home
    })
  }

  service_account {
    email  = google_service_account.node.email
    scopes = ["cloud-platform"]
  }

  lifecycle {
    ignore_changes = [boot_disk[0].initialize_params[0].image]
  }

  depends_on = [
    google_compute_router_nat.nat,
    google_storage_bucket_iam_member.node,
    google_project_iam_member.node,
    data.google_compute_reservation.nodes,
  ]
}
