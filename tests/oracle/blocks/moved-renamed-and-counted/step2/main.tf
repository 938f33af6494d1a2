resource "terraform_data" "b" {
  count = 2
  input = 1
}
moved {
  from = terraform_data.a
  to   = terraform_data.b
}
