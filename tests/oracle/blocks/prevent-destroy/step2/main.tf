resource "terraform_data" "a" {
  count = 2
  triggers_replace = 2
  lifecycle {
    prevent_destroy = true
  }
}
