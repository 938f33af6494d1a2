resource "terraform_data" "a" {
  input = 1
  triggers_replace = 1
  lifecycle {
    ignore_changes = [input]
  }
}
