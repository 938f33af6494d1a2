data "terraform_remote_state" "r" {
  backend = "local"
  config  = { nope = 1 }
}
