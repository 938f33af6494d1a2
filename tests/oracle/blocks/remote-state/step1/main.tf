data "terraform_remote_state" "r" {
  backend   = "local"
  workspace = null
  config    = { path = "other.tfstate" }
  defaults  = { x = "default", y = "only default" }
}
output "all" {
  value     = data.terraform_remote_state.r.outputs
  sensitive = true
}
output "x" {
  value = data.terraform_remote_state.r.outputs.x
}
output "y" {
  value = data.terraform_remote_state.r.outputs.y
}
output "ws" {
  value = data.terraform_remote_state.r.workspace
}
