resource "terraform_data" "a" {
  count = 0
  lifecycle {
    precondition {
      condition     = false
      error_message = "never"
    }
  }
}
