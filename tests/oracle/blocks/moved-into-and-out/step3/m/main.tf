resource "terraform_data" "a" {
  input = 1
}
resource "terraform_data" "c" {
  for_each = toset(["x"])
  input = each.key
}
