resource "terraform_data" "a" {}
check "c" {
  data "terraform_remote_state" "r" {
    backend = "local"
    config = { path = "other.tfstate" }
  }
  assert {
    condition     = data.terraform_remote_state.r.outputs.x == 2
    error_message = "x is not 2"
  }
}
