module "m" {
  source = "./m"
  for_each = toset(["x", "y"])
}
removed {
  from = module.m.terraform_data.a
  lifecycle {
    destroy = false
  }
}
