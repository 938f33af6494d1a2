Objects that are moved, forgotten, imported, replaced, tainted and gone.
== main.tf
resource "terraform_data" "a" { input = 1 }
resource "terraform_data" "b" {
  count = 2
  input = count.index
}
resource "terraform_data" "c" {
  for_each         = toset(["x", "y"])
  input            = each.key
  triggers_replace = terraform_data.a.output
}
resource "terraform_data" "t" { input = terraform_data.c["x"].id }
resource "terraform_data" "by" {
  input = 1
  lifecycle { replace_triggered_by = [terraform_data.a] }
}
resource "terraform_data" "lost" { input = 1 }
resource "terraform_data" "forgotten" { input = 1 }
module "m" {
  source = "./m"
}
== m/main.tf
resource "terraform_data" "in" { input = "in" }
$ init
$ apply -json -auto-approve
$ show -json
$ taint terraform_data.t
$ show -json
== main.tf
resource "terraform_data" "a2" { input = 2 }
moved {
  from = terraform_data.a
  to   = terraform_data.a2
}
resource "terraform_data" "b" { input = 0 }
resource "terraform_data" "c" {
  for_each         = toset(["x", "z"])
  input            = each.key
  triggers_replace = terraform_data.a2.output
  lifecycle { create_before_destroy = true }
}
resource "terraform_data" "t" { input = terraform_data.c["x"].id }
resource "terraform_data" "by" {
  input = 1
  lifecycle { replace_triggered_by = [terraform_data.a2] }
}
removed {
  from = terraform_data.forgotten
  lifecycle { destroy = false }
}
module "n" {
  source = "./m"
}
moved {
  from = module.m
  to   = module.n
}
import {
  to = terraform_data.imported
  id = "an-id"
}
resource "terraform_data" "imported" {}
import {
  to = terraform_data.changed
  id = "other-id"
}
resource "terraform_data" "changed" { input = "new" }
$ init
$ plan -json -out=p -replace=module.n.terraform_data.in
$ show -json p
$ apply -json p
$ show -json
$ plan -json -out=p -detailed-exitcode
$ show -json p
$ plan -json -destroy -target=terraform_data.b -out=p
$ show -json p
$ plan -json -target=terraform_data.a2 -out=p
$ show -json p
== main.tf
removed {
  from = terraform_data.b
  provisioner "local-exec" {
    when    = destroy
    command = "echo bye ${self.id}"
  }
}
$ plan -json -out=p
$ show -json p
$ apply -json -auto-approve
$ show -json
