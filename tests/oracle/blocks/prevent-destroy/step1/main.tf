resource "terraform_data" "a" {
  count = 2
  triggers_replace = 1
  lifecycle {
    prevent_destroy = true
  }
}
