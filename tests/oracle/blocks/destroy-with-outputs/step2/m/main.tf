variable "n" {}
resource "terraform_data" "b" {
  input = var.n
}
output "b" {
  value = terraform_data.b.id
}
