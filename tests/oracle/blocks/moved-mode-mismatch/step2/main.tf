resource "terraform_data" "b" {
  input = 1
}
module "m" {
  source = "./m"
}
moved {
  from = terraform_data.a
  to   = module.m
}
