data "terraform_remote_state" "r" {
  backend   = "local"
  config    = { path = "nope.tfstate" }
}
output "x" {
  value = data.terraform_remote_state.r.outputs
}
