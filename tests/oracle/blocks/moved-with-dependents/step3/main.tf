resource "terraform_data" "z" {
  input = 1
}
moved {
  from = terraform_data.a
  to   = terraform_data.z
}
