resource "terraform_data" "a" {
  triggers_replace = 2
}
resource "terraform_data" "b" {
  lifecycle {
    replace_triggered_by = [terraform_data.a]
  }
}
resource "terraform_data" "c" {
  lifecycle {
    replace_triggered_by = [terraform_data.b.id]
  }
}
resource "terraform_data" "d" {
  input = terraform_data.c.id
}
