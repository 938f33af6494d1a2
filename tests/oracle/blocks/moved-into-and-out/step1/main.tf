resource "terraform_data" "a" {
  input = 1
}
resource "terraform_data" "b" {
  for_each = toset(["x"])
  input = each.key
}
