A check whose condition cannot be evaluated.
== main.tf
variable "v" { default = 1 }
resource "terraform_data" "a" { input = 1 }
check "broken" {
  assert {
    condition     = tobool(var.v == 1 ? "maybe" : "true")
    error_message = "Broken."
  }
}
$ init
$ plan -json -out=p
$ show -json p
$ apply -json -auto-approve
$ show -json
