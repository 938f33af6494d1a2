module "m" {
  source = "./m"
  for_each = { a = 1, b = 2 }
  n = each.value
}
