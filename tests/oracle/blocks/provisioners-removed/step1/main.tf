resource "terraform_data" "a" {
  count = 2
  input = "v${count.index}"
}
module "m" {
  source = "./m"
}
