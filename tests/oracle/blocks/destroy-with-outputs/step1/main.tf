variable "n" { default = 2 }
resource "terraform_data" "a" {
  count = var.n
  input = count.index
}
output "o" {
  value = terraform_data.a[*].output
}
module "m" {
  source = "./m"
  n      = terraform_data.a[0].id
}
