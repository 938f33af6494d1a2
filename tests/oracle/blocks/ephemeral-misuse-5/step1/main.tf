variable "t" {
  type      = string
  ephemeral = true
  default   = "secret"
}
resource "terraform_data" "a" {
  input = length(var.t) > 3 ? 1 : 2
}
