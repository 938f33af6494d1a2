//! The configurations that mutants are made of: written for this test, the recorded ones of
//! `tests/oracle`, and the catalogue's blueprint.

use std::path::{Path, PathBuf};

/// A configuration to begin with.
#[derive(Clone, Debug)]
pub struct Seed {
    /// For messages.
    pub name: String,
    /// Configuration files as loading asks for them.
    pub files: Vec<(String, String)>,
    /// Other files that lie in the working directory, for `file` and its like.
    pub others: Vec<(String, String)>,
    /// The working directory, if it is one that exists already.
    pub folder: Option<PathBuf>,
    /// How often it is taken, relative to the others: planning some is dear.
    pub weight: usize,
}

const OTHERS: &[(&str, &str)] = &[
    (
        "t.tftpl",
        "Hello ${name}\n%{ for k, v in tags ~}\n${k} = ${v}\n%{ endfor ~}\n",
    ),
    ("d.json", "{\"a\": [1, 2.5, null, true, {\"b\": \"c\"}]}"),
    ("d.csv", "a,b\n1,2\n3,\n"),
    ("d.yaml", "a: 1\nb: [x, ~, {c: d}]\ne: |\n  text\n"),
];

/// A name, a weight and files.
type Written = (&'static str, usize, &'static [(&'static str, &'static str)]);

const WRITTEN: &[Written] = &[
    ("expressions", 6, &[("main.tf", EXPRESSIONS)]),
    ("repetition", 6, &[("main.tf", REPETITION)]),
    (
        "modules",
        6,
        &[
            ("main.tf", MODULES),
            ("child/main.tf", CHILD),
            ("child/deep/main.tf", DEEP),
        ],
    ),
    ("conditions", 6, &[("main.tf", CONDITIONS)]),
    ("functions", 6, &[("main.tf", FUNCTIONS)]),
    ("settings", 3, &[("main.tf", SETTINGS)]),
    (
        "moves",
        3,
        &[
            ("main.tf", MOVES),
            ("m/main.tf", "resource \"terraform_data\" \"in\" {}\n"),
        ],
    ),
    ("json", 3, &[("main.tf.json", JSON)]),
    ("network", 3, &[("main.tf", NETWORK)]),
    ("machine", 3, &[("main.tf", MACHINE)]),
    ("storage", 3, &[("main.tf", STORAGE)]),
    ("facts", 3, &[("main.tf", FACTS)]),
];

/// All of them.
pub fn seeds() -> Vec<Seed> {
    let owned = |files: &[(&str, &str)]| {
        files
            .iter()
            .map(|(n, t)| ((*n).to_owned(), (*t).to_owned()))
            .collect::<Vec<_>>()
    };
    let mut seeds: Vec<Seed> = WRITTEN
        .iter()
        .map(|(name, weight, files)| Seed {
            name: (*name).to_owned(),
            files: owned(files),
            others: owned(OTHERS),
            folder: None,
            weight: *weight,
        })
        .collect();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    seeds.extend(recorded(&root.join("tests/oracle/configs")));
    seeds.extend(blueprint(&root.join("blueprints/roce-cluster")));
    seeds
}

fn recorded(folder: &Path) -> Vec<Seed> {
    let mut seeds = Vec::new();
    for case in listed(folder) {
        for step in listed(&folder.join(&case)) {
            let mut files = Vec::new();
            texts(&folder.join(&case).join(&step), "", &mut files);
            let (files, others): (Vec<_>, Vec<_>) = files
                .into_iter()
                .partition(|(n, _)| n.ends_with(".tf") || n.ends_with(".tf.json"));
            if !files.is_empty() {
                seeds.push(Seed {
                    name: format!("{case}/{step}"),
                    files,
                    others,
                    folder: None,
                    weight: 1,
                });
            }
        }
    }
    if seeds.is_empty() {
        // straight to the stream: what macros print is shown only of tests that fail
        let _ = std::io::Write::write_all(
            &mut std::io::stderr(),
            b"skipped: the recorded configurations are not there\n",
        );
    }
    seeds
}

/// The names in a folder, in order; none if it is none.
fn listed(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> = std::fs::read_dir(folder)
        .into_iter()
        .flatten()
        .filter_map(|e| e.ok()?.file_name().into_string().ok())
        .collect();
    names.sort();
    names
}

fn texts(folder: &Path, prefix: &str, files: &mut Vec<(String, String)>) {
    for name in listed(folder) {
        let path = folder.join(&name);
        if path.is_dir() {
            texts(&path, &format!("{prefix}{name}/"), files);
        } else if let Ok(text) = std::fs::read_to_string(&path) {
            files.push((format!("{prefix}{name}"), text));
        }
    }
}

fn blueprint(folder: &Path) -> Option<Seed> {
    let example = folder.join("examples/a4");
    let mut files = Vec::new();
    for (directory, prefix) in [(folder, "../../"), (&example, "")] {
        for name in listed(directory) {
            if !name.ends_with(".tf") {
                continue;
            }
            let text = std::fs::read_to_string(directory.join(&name)).ok()?;
            files.push((format!("{prefix}{name}"), text));
        }
    }
    Some(Seed {
        name: "roce-cluster".to_owned(),
        files,
        others: Vec::new(),
        folder: Some(example),
        weight: 1,
    })
}

const EXPRESSIONS: &str = r#"
variable "names" {
  type    = list(string)
  default = ["a", "b", "größe"]
}
variable "settings" {
  type = object({
    size  = optional(number, 3)
    tags  = optional(map(string), {})
    zones = set(string)
    deep  = optional(object({ x = tuple([string, bool]), y = any }))
  })
  default = { zones = ["z1", "z2"], deep = { x = ["s", true], y = [1, "two"] } }
}
variable "secret" {
  type      = string
  sensitive = true
  default   = "hunter2"
}
locals {
  n        = 30
  big      = 123456789012345678901234567890.125
  sum      = 1 + 2 * 3 - 4 / 5 % 6
  logic    = local.n > 3 && !(local.n >= 40) || local.sum != 7
  text     = "a ${local.n} b $${x} %%{y} \u00e9 \"q\" ${upper("x")}"
  chosen   = local.logic ? local.text : null
  map      = { for i, name in var.names : name => { index = i, up = upper(name) } if name != "" }
  grouped  = { for name in var.names : length(name) => name... }
  list     = [for k, v in local.map : "${k}:${v.index}"]
  splat    = values(local.map)[*].up
  old      = var.names.*
  object   = { (local.text) = 1, "q" = [1, 2, { r = null }], s : true }
  at       = local.object["q"][2].r
  heredoc  = <<-EOT
    first ${local.n}
      %{~ for x in var.names ~}
      item ${x}
      %{~ endfor ~}
    %{ if local.logic }yes%{ else }no%{ endif }
  EOT
  wrapped  = "${var.settings}"
  negative = -local.n
}
resource "terraform_data" "one" {
  input = {
    text   = local.text
    secret = var.secret
    list   = local.list
    deep   = var.settings.deep.y[0]
  }
  triggers_replace = [local.heredoc, local.at, local.splat]
}
output "one" {
  value       = terraform_data.one.output.text
  description = "What came out."
}
output "secret" {
  value     = [var.secret, terraform_data.one.id]
  sensitive = true
}
output "all" { value = [local.map, local.grouped, local.old, local.wrapped, local.negative, local.big] }
"#;

const REPETITION: &str = r#"
variable "zones" {
  type    = map(object({ size = number, on = bool }))
  default = { a = { size = 1, on = true }, "b c" = { size = 2, on = false } }
}
locals { many = toset([for i in range(3) : "n${i}"]) }
resource "terraform_data" "counted" {
  count = length(var.zones)
  input = count.index
}
resource "terraform_data" "each" {
  for_each = { for k, v in var.zones : k => v.size if v.on }
  input    = "${each.key}=${each.value}"
  lifecycle {
    create_before_destroy = true
    ignore_changes        = [input]
    replace_triggered_by  = [terraform_data.counted[0].output, terraform_data.set]
  }
}
resource "terraform_data" "set" {
  for_each   = local.many
  input      = each.value
  depends_on = [terraform_data.counted]
}
resource "terraform_data" "maybe" {
  count = terraform_data.each["a"].input == "" ? 0 : 1
  input = terraform_data.counted[*].output
}
resource "google_compute_firewall" "dynamic" {
  name    = "f"
  network = "n"
  dynamic "allow" {
    for_each = { tcp = ["22", "80"], icmp = [] }
    iterator = rule
    content {
      protocol = rule.key
      ports    = rule.value
    }
  }
  dynamic "log_config" {
    for_each = local.many == null ? [] : [1]
    labels   = []
    content { metadata = "INCLUDE_ALL_METADATA" }
  }
  source_ranges = [for k, v in var.zones : "10.${v.size}.0.0/16"]
}
provider "google" { project = "formwork-mock" }
output "first" { value = one(terraform_data.maybe).input }
output "keys"  { value = keys(terraform_data.each) }
output "ids"   { value = { for k, r in terraform_data.set : k => r.id } }
"#;

const MODULES: &str = r#"
variable "net" {
  type    = string
  default = "n"
}
module "one" {
  source = "./child"
  name   = "one-${var.net}"
  sizes  = [1, 2]
}
module "each" {
  source   = "./child"
  for_each = toset(["x", "y"])
  name     = each.key
  sizes    = [for s in module.one.sizes : s + 1]
  depends_on = [module.one]
}
module "counted" {
  source = "./child/deep"
  count  = 2
  value  = { key = module.each["x"].name, n = count.index }
}
resource "terraform_data" "after" {
  input = [module.counted[*].out, module.each["y"].token]
}
output "names" { value = { for k, m in module.each : k => m.name } }
output "token" {
  value     = module.one.token
  sensitive = true
}
"#;

const CHILD: &str = r#"
variable "name" {
  type     = string
  nullable = false
  validation {
    condition     = length(var.name) < 30
    error_message = "The name ${var.name} is too long."
  }
}
variable "sizes" {
  type    = list(number)
  default = []
}
locals { path = "${path.module}/${path.root}/${path.cwd}/${terraform.workspace}" }
resource "terraform_data" "this" {
  input            = { name = var.name, sizes = var.sizes }
  triggers_replace = local.path
}
module "deep" {
  source = "./deep"
  value  = terraform_data.this.output
}
output "name" { value = terraform_data.this.output.name }
output "sizes" { value = var.sizes }
output "token" {
  value     = module.deep.out
  sensitive = true
  depends_on = [terraform_data.this]
}
"#;

const DEEP: &str = r#"
variable "value" {}
resource "terraform_data" "inner" { input = var.value }
output "out" { value = terraform_data.inner.id }
"#;

const CONDITIONS: &str = r#"
variable "zone" {
  type    = string
  default = "us-central1-b"
  validation {
    condition     = can(regex("^[a-z]+-[a-z]+[0-9]-[a-z]$", var.zone))
    error_message = "A zone looks like us-central1-b, but this is ${var.zone}."
  }
  validation {
    condition     = startswith(var.zone, "us-") || var.nodes > 3
    error_message = "Only there."
  }
}
variable "nodes" {
  type      = number
  default   = 2
  nullable  = true
  ephemeral = false
}
resource "terraform_data" "a" {
  input = var.zone
  lifecycle {
    precondition {
      condition     = var.nodes > 0
      error_message = "There must be some, not ${var.nodes}."
    }
    postcondition {
      condition     = self.output == var.zone && self.id != ""
      error_message = "The zone ${self.output} is another one."
    }
    prevent_destroy = false
  }
}
data "terraform_remote_state" "other" {
  backend  = "local"
  config   = { path = "missing.tfstate" }
  defaults = { x = 1 }
  count    = 0
}
check "health" {
  assert {
    condition     = terraform_data.a.output != "" && length(data.terraform_remote_state.other) == 0
    error_message = "Unwell: ${terraform_data.a.id}"
  }
  assert {
    condition     = var.nodes != 7
    error_message = "Seven."
  }
}
output "a" {
  value = terraform_data.a.output
  precondition {
    condition     = length(terraform_data.a.id) > 0
    error_message = "No id."
  }
}
"#;

const FUNCTIONS: &str = r#"
locals {
  a = templatefile("t.tftpl", { name = "x", tags = { k = "v" } })
  b = jsondecode(file("d.json")).a[4].b
  c = csvdecode(file("${path.module}/d.csv"))[*].b
  d = yamldecode(file("d.yaml"))
  e = merge({ a = 1 }, { b = [2] }, null)
  f = try(local.e.c, local.e.b[0], "none")
  g = cidrsubnets("10.0.0.0/8", 8, 8, 16)
  h = [cidrhost("10.1.0.0/16", -2), cidrnetmask("10.0.0.0/12"), cidrsubnet("fd00::/48", 16, 3)]
  i = format("%05.1f %s %q %v %#v %%", 3.14159, "s", "q", [1], { a = null })
  j = formatlist("%s-%d", ["a", "b"], [1, 2])
  k = regexall("(?P<x>[a-z])(?:\\d+)", "a1b22")
  l = setproduct(["a", "b"], [1, 2], toset([true]))
  m = sort(distinct(concat(["b", "a"], flatten([["c"], [["a"]]]))))
  n = lookup({ a = 1 }, "z", 9) + element([1, 2, 3], 4) + index(["q", "r"], "r")
  o = zipmap(["x", "y"], [1, "2"])
  p = base64decode(base64encode("é")) == "é" ? sha256("x") : md5("y")
  q = timecmp(timeadd("2024-02-29T12:00:00Z", "36h"), timestamp()) < 0 ? 1 : 2
  r = formatdate("EEEE, DD-MMM-YYYY hh:mm:ss ZZZ", "2024-02-29T12:00:00Z")
  s = substr(replace(title(trimspace(" ab cd ")), "/b/", "x"), 0, -1)
  t = transpose({ a = ["1", "2"], b = ["2"] })
  u = coalesce(null, "", "u")
  v = nonsensitive(sensitive("v"))
  w = [tonumber("1e3"), tobool("true"), tolist(["a"]), tomap({ a = 1 }), tostring(7), toset([1, 1])]
  x = parseint("ff", 16) + ceil(1.5) + floor(-1.5) + signum(-3) + pow(2, 100) + log(8, 2) + max([1, 2]...)
  y = chunklist(range(5), 2)
  z = provider::terraform::encode_tfvars({ a = [1], b = { "c d" = null } })
  uuid = uuid()
}
resource "terraform_data" "all" {
  input = {
    a = local.a, b = local.b, c = local.c, d = local.d, f = local.f, g = local.g, h = local.h
    i = local.i, j = local.j, k = local.k, l = local.l, m = local.m, n = local.n, o = local.o
    p = local.p, q = local.q, r = local.r, s = local.s, t = local.t, u = local.u, v = local.v
    w = local.w, x = local.x, y = local.y, z = local.z, uuid = local.uuid
  }
}
output "strings" { value = [for k, v in terraform_data.all.input : jsonencode(v)] }
"#;

const SETTINGS: &str = r#"
terraform {
  required_version = ">= 1.3, < 2.0"
  required_providers {
    google = {
      source                = "hashicorp/google"
      version               = "~> 7.1"
      configuration_aliases = []
    }
    formwork = { source = "formwork/formwork" }
  }
  backend "local" { path = "terraform.tfstate" }
}
provider "google" {
  alias   = "east"
  project = "formwork-mock"
  region  = "us-east1"
}
provider "google" {
  project        = "formwork-mock"
  default_labels = { team = "x" }
}
resource "google_compute_network" "east" {
  provider                = google.east
  name                    = "east"
  auto_create_subnetworks = false
}
removed {
  from = terraform_data.gone
  lifecycle { destroy = false }
}
resource "terraform_data" "in" {
}
"#;

const MOVES: &str = r#"
moved {
  from = terraform_data.old
  to   = terraform_data.new
}
moved {
  from = terraform_data.new
  to   = module.m["k"].terraform_data.in
}
moved {
  from = module.was
  to   = module.m["k"]
}
moved {
  from = terraform_data.list[0]
  to   = terraform_data.list["a"]
}
module "m" {
  source   = "./m"
  for_each = toset(["k"])
}
resource "terraform_data" "list" {
  for_each = { a = 1 }
  input    = each.value
}
"#;

const JSON: &str = r#"{
  "//": "a comment",
  "variable": {"x": {"type": "list(string)", "default": ["a", "${b}"]}},
  "locals": {"y": "${upper(var.x[0])} and %{ if true }more%{ endif }", "z": {"a": [1, 2.5, null, true]}},
  "resource": {
    "terraform_data": {
      "one": {"input": "${local.z}", "count": 2, "lifecycle": {"ignore_changes": ["input"]}},
      "two": [{"input": "${terraform_data.one[0].id}", "depends_on": ["terraform_data.one"]}]
    },
    "google_compute_network": {"n": {"name": "n-${var.x[0]}", "auto_create_subnetworks": false, "mtu": 8896}}
  },
  "provider": {"google": [{"project": "formwork-mock"}, {"alias": "b", "region": "us-east1"}]},
  "output": {"o": {"value": "${terraform_data.two.output}", "sensitive": true}}
}
"#;

const NETWORK: &str = r#"
provider "google" {
  project = "formwork-mock"
  region  = "us-central1"
  zone    = "us-central1-b"
}
variable "ranges" {
  type    = map(string)
  default = { a = "10.0.0.0/20", b = "10.0.16.0/20" }
}
resource "google_compute_network" "net" {
  name                    = "net"
  auto_create_subnetworks = false
  mtu                     = 8896
  routing_mode            = "REGIONAL"
}
resource "google_compute_subnetwork" "sub" {
  for_each      = var.ranges
  name          = "sub-${each.key}"
  network       = google_compute_network.net.id
  ip_cidr_range = each.value
  secondary_ip_range {
    range_name    = "pods"
    ip_cidr_range = cidrsubnet("10.64.0.0/12", 4, index(keys(var.ranges), each.key))
  }
  log_config {
    aggregation_interval = "INTERVAL_10_MIN"
    flow_sampling        = 0.5
  }
  timeouts { create = "10m" }
}
resource "google_compute_firewall" "in" {
  name          = "in"
  network       = google_compute_network.net.self_link
  source_ranges = values(google_compute_subnetwork.sub)[*].ip_cidr_range
  priority      = 900
  allow {
    protocol = "tcp"
    ports    = ["22", "6817-6819"]
  }
  allow { protocol = "icmp" }
}
resource "google_compute_router" "r" {
  name    = "r"
  network = google_compute_network.net.name
  bgp { asn = 64514 }
}
resource "google_compute_router_nat" "nat" {
  name                               = "nat"
  router                             = google_compute_router.r.name
  nat_ip_allocate_option             = "AUTO_ONLY"
  source_subnetwork_ip_ranges_to_nat = "LIST_OF_SUBNETWORKS"
  dynamic "subnetwork" {
    for_each = google_compute_subnetwork.sub
    content {
      name                    = subnetwork.value.id
      source_ip_ranges_to_nat = ["ALL_IP_RANGES"]
    }
  }
}
data "google_compute_zones" "all" { region = "us-central1" }
resource "google_compute_address" "a" {
  name         = "a"
  address_type = "INTERNAL"
  subnetwork   = google_compute_subnetwork.sub["a"].id
  labels       = { zones = length(data.google_compute_zones.all.names) }
}
output "net" { value = google_compute_network.net }
"#;

const MACHINE: &str = r#"
provider "google" { project = "formwork-mock" }
data "google_compute_image" "image" {
  family  = "debian-12"
  project = "debian-cloud"
}
resource "google_compute_disk" "data" {
  name = "data"
  zone = "us-central1-b"
  size = 50
  type = "pd-balanced"
}
resource "google_compute_instance" "vm" {
  count        = 2
  name         = "vm-${count.index}"
  zone         = "us-central1-b"
  machine_type = "n2-standard-4"
  tags         = ["a", "b"]
  labels       = { k = "v" }
  boot_disk {
    auto_delete = true
    initialize_params {
      image = data.google_compute_image.image.self_link
      size  = 20
    }
  }
  attached_disk { source = google_compute_disk.data.id }
  scratch_disk { interface = "NVME" }
  network_interface {
    network  = "default"
    nic_type = "GVNIC"
    access_config { network_tier = "PREMIUM" }
  }
  network_interface { subnetwork = "projects/formwork-mock/regions/us-central1/subnetworks/s" }
  metadata = { startup-script = <<-EOT
    #!/bin/bash
    echo ${count.index}
  EOT
  }
  service_account {
    email  = google_service_account.sa.email
    scopes = ["cloud-platform"]
  }
  scheduling {
    preemptible       = false
    automatic_restart = true
    max_run_duration { seconds = 3600 }
  }
  guest_accelerator {
    type  = "nvidia-l4"
    count = 1
  }
  lifecycle { ignore_changes = [metadata["ssh-keys"], boot_disk[0].initialize_params[0].image] }
}
resource "google_service_account" "sa" {
  account_id   = "cluster-sa"
  display_name = "SA"
}
resource "google_project_iam_member" "m" {
  for_each = toset(["roles/logging.logWriter", "roles/monitoring.metricWriter"])
  project  = "formwork-mock"
  role     = each.key
  member   = "serviceAccount:${google_service_account.sa.email}"
}
resource "google_compute_resource_policy" "p" {
  name   = "p"
  region = "us-central1"
  group_placement_policy { collocation = "COLLOCATED" }
}
resource "google_compute_reservation" "r" {
  name = "r"
  zone = "us-central1-b"
  specific_reservation {
    count = 1
    instance_properties {
      machine_type     = "n2-standard-4"
      min_cpu_platform = "Intel Cascade Lake"
    }
  }
}
output "ips" { value = google_compute_instance.vm[*].network_interface[0].network_ip }
"#;

const STORAGE: &str = r#"
provider "google" { project = "formwork-mock" }
resource "google_storage_bucket" "b" {
  name                        = "formwork-mock-b"
  location                    = "US-CENTRAL1"
  uniform_bucket_level_access = true
  hierarchical_namespace { enabled = true }
  lifecycle_rule {
    action { type = "Delete" }
    condition {
      age        = 30
      with_state = "ANY"
    }
  }
  versioning { enabled = false }
}
resource "google_storage_bucket_object" "o" {
  for_each = { "a.txt" = "A", "b/c.json" = jsonencode({ x = 1 }) }
  bucket   = google_storage_bucket.b.name
  name     = each.key
  content  = each.value
}
resource "google_storage_bucket_iam_binding" "i" {
  bucket  = google_storage_bucket.b.name
  role    = "roles/storage.objectViewer"
  members = ["allUsers"]
  condition {
    title      = "t"
    expression = "request.time < timestamp(\"2030-01-01T00:00:00Z\")"
  }
}
resource "google_filestore_instance" "home" {
  name     = "home"
  location = "us-central1-b"
  tier     = "ZONAL"
  file_shares {
    name        = "home"
    capacity_gb = 1024
    nfs_export_options {
      ip_ranges   = ["10.0.0.0/8"]
      access_mode = "READ_WRITE"
    }
  }
  networks {
    network = "default"
    modes   = ["MODE_IPV4"]
  }
}
resource "google_project_service" "s" {
  service            = "file.googleapis.com"
  disable_on_destroy = false
}
data "google_client_config" "me" {}
data "google_project" "p" {}
output "share" { value = "${google_filestore_instance.home.networks[0].ip_addresses[0]}:/${google_filestore_instance.home.file_shares[0].name}" }
output "me" {
  value     = data.google_client_config.me.access_token
  sensitive = true
}
output "number" { value = data.google_project.p.number }
"#;

const FACTS: &str = r#"
terraform {
  required_providers {
    formwork = { source = "formwork/formwork" }
  }
}
variable "type" {
  type    = string
  default = "a4-highgpu-8g"
}
locals {
  machine = provider::formwork::machine(var.type)
  fabric  = provider::formwork::fabric(var.type, "us-central1-b")
  rails   = { for i in range(coalesce(local.fabric.rails, 0)) : "rail-${i}" => cidrsubnet("10.128.0.0/12", 4, i) }
}
resource "google_compute_network" "rdma" {
  name                    = "rdma"
  auto_create_subnetworks = false
  network_profile         = local.fabric.profile
  mtu                     = local.fabric.rdma.mtu
}
resource "google_compute_subnetwork" "rail" {
  for_each      = local.rails
  name          = each.key
  ip_cidr_range = each.value
  network       = google_compute_network.rdma.id
  region        = local.fabric.region
}
provider "google" { project = "formwork-mock" }
provider "formwork" {}
output "machine" { value = [local.machine.vcpus, local.machine.capacity_modes, local.fabric.interfaces[*].nic_type] }
"#;
