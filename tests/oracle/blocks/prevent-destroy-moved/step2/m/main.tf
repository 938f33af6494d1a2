resource "terraform_data" "a" {
  input = 1
  lifecycle {
    prevent_destroy = true
  }
}
