variable "x" { default = 1 }
resource "terraform_data" "a" {
  input = var.x
}
output "o" {
  value = terraform_data.a.output
  precondition {
    condition     = terraform_data.a.output < 2
    error_message = "too big"
  }
}
