resource "terraform_data" "a" {
  count = 1
  triggers_replace = 1
  lifecycle {
    prevent_destroy = true
  }
}
