provider "terraform" {
  alias = "x"
}
resource "terraform_data" "a" {
  provider = terraform.x
  input = 1
}
resource "terraform_data" "b" {
  provider = terraform.x
  input = 1
}
