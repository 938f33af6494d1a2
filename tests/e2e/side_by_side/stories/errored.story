A plan that fails is written all the same.
== main.tf
variable "v" { default = "x" }
resource "terraform_data" "a" { input = 1 }
resource "terraform_data" "b" {
  input = terraform_data.a.output
  lifecycle {
    precondition {
      condition     = var.v == "y"
      error_message = "v is ${var.v}."
    }
  }
}
resource "terraform_data" "c" { input = terraform_data.b.output }
output "o" { value = terraform_data.c.output }
output "n" { value = tonumber(var.v) }
check "c" {
  assert {
    condition     = var.v == "z"
    error_message = "not z"
  }
}
$ init
$ plan -json -out=p
$ show -json p
$ apply -json p
$ apply -json -auto-approve
$ show -json
