resource "terraform_data" "a" {
  input = 1
}
removed {
  from = terraform_data.a
  lifecycle {
    destroy = false
  }
}
