# The host networks: ordinary VPCs, one per host interface. The first carries Slurm, /home and SSH.

resource "google_compute_network" "host" {
  count = local.fabric.host.networks

  project                 = var.project_id
  name                    = "${var.name}-host-${count.index}"
  auto_create_subnetworks = false
  mtu                     = local.fabric.host.mtu

  depends_on = [google_project_service.required, data.google_compute_machine_types.node]
}

resource "google_compute_subnetwork" "host" {
  count = length(google_compute_network.host)

  project                  = var.project_id
  region                   = local.region
  name                     = "${var.name}-host-${count.index}"
  network                  = google_compute_network.host[count.index].self_link
  ip_cidr_range            = cidrsubnet(var.host_range, 4, count.index)
  private_ip_google_access = true
}

resource "google_compute_firewall" "internal" {
  count = length(google_compute_network.host)

  project       = var.project_id
  name          = "${var.name}-host-${count.index}-internal"
  description   = "Machines of the cluster reach each other."
  network       = google_compute_network.host[count.index].self_link
  source_ranges = [google_compute_subnetwork.host[count.index].ip_cidr_range]

  allow {
    protocol = "tcp"
  }
  allow {
    protocol = "udp"
  }
  allow {
    protocol = "icmp"
  }
}

resource "google_compute_firewall" "ssh" {
  count = length(var.ssh_source_ranges) == 0 ? 0 : 1

  project       = var.project_id
  name          = "${var.name}-ssh"
  description   = "SSH to the cluster."
  network       = google_compute_network.host[0].self_link
  source_ranges = var.ssh_source_ranges
  target_tags   = ["${var.name}-controller"]

  allow {
    protocol = "tcp"
    ports    = ["22"]
  }
}

# No machine has an external address; packages come through NAT.
resource "google_compute_router" "nat" {
  project = var.project_id
  region  = local.region
  name    = "${var.name}-nat"
  network = google_compute_network.host[0].self_link
}

resource "google_compute_router_nat" "nat" {
  project                            = var.project_id
  region                             = local.region
  name                               = "${var.name}-nat"
  router                             = google_compute_router.nat.name
  nat_ip_allocate_option             = "AUTO_ONLY"
  source_subnetwork_ip_ranges_to_nat = "ALL_SUBNETWORKS_ALL_IP_RANGES"
}

# The RDMA network: one VPC made from the zone's network profile, one subnetwork per rail. The profile
# lets traffic within it through, so it takes no firewall rules.

resource "google_compute_network" "rdma" {
  project                 = var.project_id
  name                    = "${var.name}-rdma"
  auto_create_subnetworks = false
  mtu                     = local.fabric.rdma.mtu
  network_profile         = format(local.fabric.profile_url_format, var.project_id)

  depends_on = [google_project_service.required, data.google_compute_network_profile.rdma]
}

resource "google_compute_subnetwork" "rail" {
  count = local.fabric.rails

  project       = var.project_id
  region        = local.region
  name          = "${var.name}-rail-${count.index}"
  network       = google_compute_network.rdma.self_link
  ip_cidr_range = cidrsubnet(var.rdma_range, 4, count.index)
}
