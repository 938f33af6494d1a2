resource "terraform_data" "b" {
  lifecycle {
    replace_triggered_by = [terraform_data.nope]
  }
}
