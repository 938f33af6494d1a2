resource "terraform_data" "a" {
  input = 1
}
check "pass" {
  assert {
    condition     = 1 == 1
    error_message = "no"
  }
}
check "fail" {
  assert {
    condition     = 1 == 2
    error_message = "It is ${1 + 1}."
  }
  assert {
    condition     = terraform_data.a.output == 2
    error_message = "later"
  }
}
check "null" {
  assert {
    condition     = tobool(null)
    error_message = "null"
  }
}
