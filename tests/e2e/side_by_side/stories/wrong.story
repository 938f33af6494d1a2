Configurations that are refused, as `validate` and the stream say it.
== main.tf
resource "terraform_data" "a" {
  inputs = 1
}
variable "v" {
  type = strin
}
output "o" {}
$ validate -json
$ plan -json
== main.tf
resource "terraform_data" "a" {
  input = terraform_data.b.id
}
module "m" {
  source = "./none"
}
$ init -json
$ validate -json
== main.tf
resource "terraform_data" "a" {
  input = var.missing
}
resource "terraform_data" "b" {
  input = terraform_data.a.nothing
  count = "x"
}
locals {
  a = local.b
  b = local.a
}
$ validate -json
$ plan -json -out=p
== main.tf
variable "v" {}
resource "terraform_data" "a" {
  for_each = toset(var.v)
  input    = each.key
}
resource "terraform_data" "b" {
  input = [for i in ["a"] : upper(i, "x")]
}
$ validate -json
$ plan -json -input=false
$ plan -json -var=v=1 -var=x=1
== main.tf
variable "n" { default = { a = [1, 2], s = "t" } }
resource "terraform_data" "a" {
  input = var.n.a[5]
}
resource "terraform_data" "b" {
  input = "${var.n.s}-${tonumber(var.n.s)}"
}
resource "terraform_data" "c" {
  input = var.n.b
}
$ validate -json
$ plan -json -out=p
$ show -json p
== main.tf
resource "terraform_data" "a" {
$ validate -json
$ fmt -check
== main.tf
$ validate -json
$ plan -json -out=p
$ show -json p
$ apply -json -auto-approve
$ show -json
$ apply -json
$ plan -json -destroy
$ plan -json -nonsense
$ show -json none
$ output -json none
$ validate -json none
$ destroy -json -auto-approve
