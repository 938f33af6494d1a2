resource "terraform_data" "b" {
  triggers_replace = 2
}
moved {
  from = terraform_data.a
  to   = terraform_data.b
}
