data "terraform_remote_state" "r" {
  backend   = "local"
  config    = { path = "nope.tfstate" }
  defaults = { x = 1 }
}
output "x" {
  value = data.terraform_remote_state.r.outputs.x
}
