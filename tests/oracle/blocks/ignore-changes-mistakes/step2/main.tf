resource "terraform_data" "a" {
  input = 1
  lifecycle {
    ignore_changes = [id]
  }
}
