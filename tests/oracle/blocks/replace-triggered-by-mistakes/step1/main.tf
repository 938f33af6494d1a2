variable "x" { default = 1 }
resource "terraform_data" "b" {
  lifecycle {
    replace_triggered_by = [var.x]
  }
}
