data "terraform_remote_state" "r" {
  backend   = "local"
  config    = { path = "other.tfstate" }
}
output "z" {
  value = data.terraform_remote_state.r.outputs.z
}
output "t" {
  value = try(data.terraform_remote_state.r.outputs.z, "none")
}
