resource "terraform_data" "c" {
  input = "a"
}
resource "terraform_data" "a" {
  input = "b"
}
moved {
  from = terraform_data.b
  to   = terraform_data.a
}
