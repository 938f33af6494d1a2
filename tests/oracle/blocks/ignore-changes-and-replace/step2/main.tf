resource "terraform_data" "a" {
  input = 2
  triggers_replace = 2
  lifecycle {
    ignore_changes = [input]
  }
}
