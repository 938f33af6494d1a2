resource "terraform_data" "a" {
  input = "v"
}
resource "terraform_data" "b" {
  for_each = { k = terraform_data.a.id, l = "x" }
  input = each.value
}
