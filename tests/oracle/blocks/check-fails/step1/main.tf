variable "n" { default = 1 }
resource "terraform_data" "a" {
  input = 1
}
check "pass" {
  assert {
    condition     = var.n == 1
    error_message = "no"
  }
}
check "fail" {
  assert {
    condition     = var.n == 2
    error_message = "It is ${var.n + 1}."
  }
  assert {
    condition     = terraform_data.a.output == 2
    error_message = "later"
  }
}
