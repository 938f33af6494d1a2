variable "n" {}
resource "terraform_data" "a" {
  input = var.n
}
check "one" {
  assert {
    condition     = terraform_data.a.input == 1
    error_message = "n is ${var.n}"
  }
}
