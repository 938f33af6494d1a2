resource "terraform_data" "a" {
  for_each = toset(["x", "y"])
  input = 1
}
moved {
  from = terraform_data.a
  to   = terraform_data.a["x"]
}
