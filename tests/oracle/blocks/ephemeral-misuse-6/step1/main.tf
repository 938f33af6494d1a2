variable "t" {
  type      = string
  ephemeral = true
  default   = "secret"
}
locals {
  m = { for k in [var.t] : k => 1 }
}
resource "terraform_data" "a" {
  for_each = local.m
}
