module "k" {
  source = "./m"
  count = 2
}
moved {
  from = module.m
  to   = module.k
}
