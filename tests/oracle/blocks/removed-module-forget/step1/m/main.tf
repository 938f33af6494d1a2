resource "terraform_data" "a" {
  input = 1
}
module "n" {
  source = "../n"
}
