variable "t" {
  type      = string
  ephemeral = true
  default   = "secret"
}
locals {
  t = "${var.t}!"
}
module "m" {
  source = "./m"
  t      = local.t
}
resource "terraform_data" "a" {
  input = ephemeralasnull(module.m.t) == null ? "null" : "not"
}
output "isnull" {
  value = ephemeralasnull(module.m.t) == null
}
