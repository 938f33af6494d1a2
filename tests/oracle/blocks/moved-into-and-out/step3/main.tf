module "n" {
  source = "./n"
  for_each = toset(["k"])
}
resource "terraform_data" "c" {
  for_each = toset(["x"])
  input = each.key
}
moved {
  from = module.m.terraform_data.a
  to   = module.n["k"].terraform_data.z
}
moved {
  from = module.m.terraform_data.c
  to   = terraform_data.c
}
