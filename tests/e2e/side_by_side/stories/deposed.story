A replacement that fails half way leaves a deposed object.
== main.tf
variable "v" { default = 1 }
resource "terraform_data" "a" {
  triggers_replace = var.v
  lifecycle { create_before_destroy = true }
  provisioner "local-exec" {
    when    = destroy
    command = "test ! -e refuse"
  }
}
resource "terraform_data" "b" { input = terraform_data.a.id }
$ init
$ apply -json -auto-approve
== refuse
x
$ apply -json -auto-approve -var=v=2
$ show -json
$ plan -json -var=v=2 -out=p
$ show -json p
== refuse -
$ apply -json -var=v=2 -auto-approve
$ show -json
