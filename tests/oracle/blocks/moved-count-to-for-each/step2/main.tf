resource "terraform_data" "a" {
  for_each = toset(["x", "y"])
  input = each.key
}
moved {
  from = terraform_data.a[0]
  to   = terraform_data.a["x"]
}
moved {
  from = terraform_data.a[1]
  to   = terraform_data.a["y"]
}
