resource "terraform_data" "p" {
  input = "other.tfstate"
}
data "terraform_remote_state" "r" {
  backend   = "local"
  config    = { path = terraform_data.p.output }
}
resource "terraform_data" "u" {
  input = data.terraform_remote_state.r.outputs.x
}
