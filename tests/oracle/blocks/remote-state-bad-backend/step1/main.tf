data "terraform_remote_state" "r" {
  backend = "nope"
  config  = {}
}
