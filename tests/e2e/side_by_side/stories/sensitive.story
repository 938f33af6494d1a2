Where sensitivity comes and goes.
== main.tf
variable "s" {
  sensitive = true
  default   = "a"
}
resource "terraform_data" "a" { input = { x = "a", y = [1] } }
resource "terraform_data" "b" {
  for_each = toset([nonsensitive(var.s)])
  input    = [var.s, { k = var.s }]
}
output "o" { value = terraform_data.a.output }
output "p" {
  value     = terraform_data.b
  sensitive = true
}
$ init
$ apply -json -auto-approve
$ show -json
== main.tf
variable "s" {
  sensitive = true
  default   = "a"
}
resource "terraform_data" "a" { input = { x = var.s, y = [1] } }
resource "terraform_data" "b" {
  for_each = toset(["a"])
  input    = ["a", { k = "a" }]
}
output "o" {
  value     = terraform_data.a.output
  sensitive = true
}
output "p" { value = terraform_data.b }
$ plan -json -out=p
$ show -json p
$ apply -json p
$ show -json
