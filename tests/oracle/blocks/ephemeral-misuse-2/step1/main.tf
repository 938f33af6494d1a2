variable "t" {
  type      = string
  ephemeral = true
  default   = "secret"
}
resource "terraform_data" "a" {
  count = length(var.t)
}
