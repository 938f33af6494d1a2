variable "t" {
  type      = string
  ephemeral = true
  default   = "secret"
}
data "terraform_remote_state" "r" {
  backend = "local"
  config = { path = var.t }
}
