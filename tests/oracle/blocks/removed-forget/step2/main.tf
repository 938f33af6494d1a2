resource "terraform_data" "b" {
  input = "x"
}
removed {
  from = terraform_data.a
  lifecycle {
    destroy = false
  }
}
