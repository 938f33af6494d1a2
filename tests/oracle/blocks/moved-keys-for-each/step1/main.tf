resource "terraform_data" "a" {
  for_each = toset(["x", "y", "z"])
  input = each.key
}
