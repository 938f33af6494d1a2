resource "terraform_data" "a" {
  for_each = toset(["p", "q"])
  input = each.key
}
moved {
  from = terraform_data.a["x"]
  to   = terraform_data.a["p"]
}
moved {
  from = terraform_data.a["y"]
  to   = terraform_data.a["q"]
}
