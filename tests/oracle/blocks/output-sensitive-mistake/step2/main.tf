variable "s" {
  sensitive = true
  default   = "x"
}
module "m" {
  source = "./m"
  s      = var.s
}
output "o" {
  value = nonsensitive(module.m.o)
}
output "n" {
  value     = module.m.o
  sensitive = true
}
