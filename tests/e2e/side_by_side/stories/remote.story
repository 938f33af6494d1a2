Data sources: read while planning, and later.
== main.tf
resource "terraform_data" "path" { input = "other/terraform.tfstate" }
data "terraform_remote_state" "now" {
  backend = "local"
  config  = { path = "other.tfstate" }
  defaults = { d = 1 }
}
data "terraform_remote_state" "later" {
  backend   = "local"
  config    = { path = terraform_data.path.id == "" ? "x" : "other.tfstate" }
  depends_on = [terraform_data.path]
}
data "terraform_remote_state" "many" {
  for_each  = toset(["a"])
  backend   = "local"
  workspace = "default"
  config    = { path = "other.tfstate" }
  lifecycle {
    postcondition {
      condition     = self.outputs.n == 1
      error_message = "Not one."
    }
  }
}
resource "terraform_data" "use" {
  input = {
    now   = data.terraform_remote_state.now.outputs
    later = data.terraform_remote_state.later.outputs.n
  }
}
output "secret" {
  value     = data.terraform_remote_state.now.outputs.s
  sensitive = true
}
== other.tfstate
{"version":4,"terraform_version":"1.11.4","serial":1,"lineage":"a","outputs":{"n":{"value":1,"type":"number"},"s":{"value":"hunter2","type":"string","sensitive":true}},"resources":[]}
$ init
$ plan -json -out=p
$ show -json p
$ apply -json p
$ show -json
$ plan -json -out=p
$ show -json p
== other.tfstate
{"version":4,"terraform_version":"1.11.4","serial":2,"lineage":"a","outputs":{"n":{"value":2,"type":"number"},"s":{"value":"hunter3","type":"string","sensitive":true}},"resources":[]}
$ plan -json -out=p
$ show -json p
