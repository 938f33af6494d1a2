resource "terraform_data" "c" {
  input = 3
}
removed {
  from = terraform_data.b
  lifecycle {
    destroy = false
  }
}
