variable "n" { default = 1 }
resource "terraform_data" "a" {
  input = 2
}
check "fail" {
  assert {
    condition     = terraform_data.a.output == 2
    error_message = "later"
  }
}
