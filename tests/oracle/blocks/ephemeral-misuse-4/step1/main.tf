variable "t" {
  type      = string
  ephemeral = true
  default   = "secret"
}
module "m" {
  source = "./m"
  t      = var.t
}
