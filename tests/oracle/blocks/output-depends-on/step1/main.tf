resource "terraform_data" "a" {
  input = 1
}
module "m" {
  source     = "./m"
  depends_on = [terraform_data.a]
}
output "o" {
  value      = "fixed"
  depends_on = [terraform_data.a]
}
