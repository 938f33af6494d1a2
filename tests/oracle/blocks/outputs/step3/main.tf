resource "terraform_data" "a" {
  input = { l = [1, 2], s = "t" }
}
