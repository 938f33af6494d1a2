# What the cluster is made of

variable "project_id" {
  description = "Project in which everything is made. Its Compute Engine API must be on, since the plan reads from it."
  type        = string

  validation {
    condition     = can(regex("^[a-z][-a-z0-9.:]{4,}[a-z0-9]$", var.project_id))
    error_message = "This must be the id of a project, such as \"my-project\", not its number or its name."
  }
}

variable "name" {
  description = "Name of the cluster. Every resource's name begins with it."
  type        = string

  validation {
    condition     = can(regex("^[a-z]([-a-z0-9]{0,16}[a-z0-9])?$", var.name))
    error_message = "The name must be 1 to 18 lowercase letters, digits and dashes, begin with a letter and not end with a dash."
  }
}

variable "machine_type" {
  description = "Machine type of the GPU nodes. Its fabric must be RoCEv2 on VMs; networks, interfaces, MTU and disks follow from it."
  type        = string
  nullable    = false
}

variable "zone" {
  description = "Zone of the cluster. It must have the machine type and its network profile."
  type        = string

  validation {
    condition     = can(regex("^[a-z]+-[a-z]+[0-9]+-[a-z][a-z0-9]*$", var.zone))
    error_message = "This must be a zone, such as \"us-central1-a\", not a region."
  }
}

variable "node_count" {
  description = "How many GPU nodes the cluster has."
  type        = number
  default     = 2

  validation {
    condition     = var.node_count >= 1 && var.node_count <= 1000 && floor(var.node_count) == var.node_count
    error_message = "The number of nodes must be a whole number from 1 to 1000."
  }
}

# How the machines are obtained

variable "capacity" {
  description = "How the GPU nodes are obtained: \"reservation\", \"spot\" or \"flex-start\", as the machine family allows."
  type        = string
  default     = "reservation"

  validation {
    condition     = contains(["reservation", "spot", "flex-start"], var.capacity)
    error_message = "The capacity must be \"reservation\", \"spot\" or \"flex-start\"."
  }
}

variable "reservation" {
  description = "Reservation that the nodes take: NAME, projects/P/reservations/NAME for one shared by another project, either with /reservationBlocks/B after it. Required with capacity \"reservation\"."
  type        = string
  default     = null

  validation {
    condition     = var.reservation == null || can(regex("^(projects/[^/]+/reservations/)?[a-z]([-a-z0-9]*[a-z0-9])?(/reservationBlocks/[^/]+(/reservationSubBlocks/[^/]+)?)?$", var.reservation))
    error_message = "The reservation must be NAME or projects/P/reservations/NAME, either with /reservationBlocks/B after it."
  }
}

variable "reservation_blocks" {
  description = "Blocks of the reservation over which the nodes are spread, in order. Leave empty to let the reservation choose; not together with a block in var.reservation."
  type        = list(string)
  default     = []
  nullable    = false

  validation {
    condition     = length(distinct(var.reservation_blocks)) == length(var.reservation_blocks) && alltrue([for b in var.reservation_blocks : can(regex("^[A-Za-z0-9]([-_A-Za-z0-9]*[A-Za-z0-9])?$", b))])
    error_message = "The blocks must be distinct names of blocks, without the reservation in front."
  }
}

variable "nodes_per_block" {
  description = "How many nodes are put into one of reservation_blocks before the next one is begun. null spreads them evenly; then a change of node_count can move nodes to another block, which replaces them."
  type        = number
  default     = null

  validation {
    condition     = var.nodes_per_block == null ? true : var.nodes_per_block >= 1 && floor(var.nodes_per_block) == var.nodes_per_block
    error_message = "The number of nodes per block must be a whole number, at least 1."
  }
}

variable "max_run_hours" {
  description = "With capacity \"flex-start\": hours after which Google deletes the nodes."
  type        = number
  default     = 168

  validation {
    condition     = var.max_run_hours > 0 && var.max_run_hours <= 168
    error_message = "Flex-start gives machines for at most 168 hours (seven days)."
  }
}

# Addresses

variable "host_range" {
  description = "Range from which the subnetworks of the host networks are cut, each a sixteenth of it."
  type        = string
  default     = "10.0.0.0/16"

  validation {
    condition     = can(cidrsubnet(var.host_range, 4, 15))
    error_message = "This must be an IPv4 range in CIDR form, such as \"10.0.0.0/16\", that can be cut in sixteen."
  }
}

variable "rdma_range" {
  description = "Range from which the subnetworks of the rails are cut, each a sixteenth of it. It must not overlap host_range."
  type        = string
  default     = "10.1.0.0/16"

  validation {
    condition     = can(cidrsubnet(var.rdma_range, 4, 15))
    error_message = "This must be an IPv4 range in CIDR form, such as \"10.1.0.0/16\", that can be cut in sixteen."
  }
}

variable "ssh_source_ranges" {
  description = "Ranges from which SSH to the controller is let in. The default is Google's Identity-Aware Proxy, which needs no external address."
  type        = list(string)
  default     = ["35.235.240.0/20"]
  nullable    = false
}

# Machines

variable "controller_machine_type" {
  description = "Machine type of the Slurm controller, an ordinary x86-64 one with at least 4 vCPUs."
  type        = string
  nullable    = false
}

variable "controller_disk_type" {
  description = "Disk type of the controller's boot disk and of the disk that keeps Slurm's state. It must be one that the controller's machine type takes."
  type        = string
  default     = "pd-balanced"
}

variable "controller_image" {
  description = "Image of the controller: a family of images and the project it is in. It must be a Debian or Ubuntu whose Slurm packages are 22.05 or newer."
  type = object({
    family  = string
    project = string
  })
  default = {
    family  = "ubuntu-2404-lts-amd64"
    project = "ubuntu-os-cloud"
  }
}

variable "node_image" {
  description = "Image of the GPU nodes: a family of images and the project it is in. It must carry the GPU and RDMA drivers. null takes Google's Ubuntu accelerator image for the machine's architecture."
  type = object({
    family  = string
    project = string
  })
  default = null
}

variable "node_boot_disk_gb" {
  description = "Size of each node's boot disk in GB."
  type        = number
  default     = 200

  validation {
    condition     = var.node_boot_disk_gb >= 50
    error_message = "The accelerator images need a boot disk of at least 50 GB."
  }
}

# Storage

variable "filestore_tier" {
  description = "Filestore tier of the share for /home: BASIC_HDD, BASIC_SSD or ZONAL."
  type        = string
  default     = "BASIC_SSD"

  validation {
    condition     = contains(["BASIC_HDD", "BASIC_SSD", "ZONAL"], var.filestore_tier)
    error_message = "The tier must be one that lives in a zone: BASIC_HDD, BASIC_SSD or ZONAL."
  }
}

variable "filestore_capacity_gb" {
  description = "Capacity of the share for /home in GB; each tier has a least one (BASIC_SSD 2560, BASIC_HDD and ZONAL 1024)."
  type        = number
  default     = 2560

  validation {
    condition     = var.filestore_capacity_gb >= 1024
    error_message = "No tier has a share smaller than 1024 GB."
  }
}

variable "bucket_name" {
  description = "Name of the bucket for checkpoints, unique in all of Google Cloud. null names it after project and cluster."
  type        = string
  default     = null
}

variable "bucket_force_destroy" {
  description = "Whether destroying the cluster also deletes checkpoints that are still in the bucket. Otherwise destroy refuses until the bucket is empty."
  type        = bool
  default     = false
}

# Slurm

variable "partition" {
  description = "Name of the Slurm partition of all nodes."
  type        = string
  default     = "gpu"

  validation {
    condition     = can(regex("^[A-Za-z][-_A-Za-z0-9]*$", var.partition))
    error_message = "A partition's name consists of letters, digits, dashes and underscores and begins with a letter."
  }
}

variable "memory_reserve_percent" {
  description = "Share of a node's memory that Slurm does not give to jobs: the kernel takes part of it, so a node never reports all that its machine type has."
  type        = number
  default     = 5

  validation {
    condition     = var.memory_reserve_percent >= 1 && var.memory_reserve_percent <= 50
    error_message = "The reserve must be from 1 to 50 percent; with none, every node would be drained for reporting too little memory."
  }
}

variable "labels" {
  description = "Labels put on everything that takes labels, beside the cluster's own."
  type        = map(string)
  default     = {}
  nullable    = false
}
