module "m" {
  source = "./m"
  for_each = toset(["x", "y"])
}
moved {
  from = module.m
  to   = module.m["x"]
}
