resource "terraform_data" "inner" {
  for_each = toset(["x"])
  input    = each.key
}
