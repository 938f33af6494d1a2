resource "terraform_data" "a" {
  input = "w"
}
resource "terraform_data" "b" {
  for_each = { k = terraform_data.a.output, l = "y" }
  input = each.value
}
