data "terraform_remote_state" "r" {
  backend = "local"
  config  = { path = "other.tfstate" }
}
output "x" {
  value = data.terraform_remote_state.r.outputs.x
}
