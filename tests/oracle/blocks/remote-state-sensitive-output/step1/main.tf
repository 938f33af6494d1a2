data "terraform_remote_state" "r" {
  backend   = "local"
  config    = { path = "other.tfstate" }
}
output "s" {
  value = data.terraform_remote_state.r.outputs.s
}
output "x" {
  value = data.terraform_remote_state.r.outputs.x
}
