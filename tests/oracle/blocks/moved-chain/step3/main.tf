resource "terraform_data" "d" {
  input = "a"
}
moved {
  from = terraform_data.c
  to   = terraform_data.d
}
moved {
  from = terraform_data.b
  to   = terraform_data.c
}
moved {
  from = terraform_data.a
  to   = terraform_data.b
}
resource "terraform_data" "m" {
  input = "m2"
}
