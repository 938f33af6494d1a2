module "m" {
  source = "./m"
  for_each = { a = 1 }
  n = each.value
}
