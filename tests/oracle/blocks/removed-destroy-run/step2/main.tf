resource "terraform_data" "b" {
  input = 2
}
removed {
  from = terraform_data.a
  lifecycle {
    destroy = false
  }
}
