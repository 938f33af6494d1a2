resource "terraform_data" "a" {
  input = 1
}
moved {
  from = terraform_data.a["x"]
  to   = terraform_data.a
}
