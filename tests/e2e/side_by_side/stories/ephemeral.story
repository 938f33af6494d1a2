Ephemeral values.
== main.tf
variable "token" {
  type      = string
  ephemeral = true
}
variable "other" {
  type      = string
  ephemeral = true
  default   = null
}
locals { t = "${var.token}!" }
module "m" {
  source = "./m"
  t      = local.t
}
resource "terraform_data" "a" {
  input = "x"
  provisioner "local-exec" {
    command     = "true"
    environment = { T = module.m.t }
  }
}
check "token" {
  assert {
    condition     = var.token != "bad"
    error_message = "Bad."
  }
}
== m/main.tf
variable "t" { ephemeral = true }
output "t" {
  value     = var.t
  ephemeral = true
}
$ init
$ validate -json
$ plan -json -var=token=hunter2 -out=p
$ show -json p
$ apply -json -var=token=hunter2 p
$ show -json
$ plan -json -var=token=bad -out=p
$ show -json p
