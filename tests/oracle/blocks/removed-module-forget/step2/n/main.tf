resource "terraform_data" "b" {
  count = 2
}
