resource "terraform_data" "a" {
  input = { l = [1, 2], s = "t" }
}
output "o" {
  value = terraform_data.a.output
}
output "s" {
  value     = "x"
  sensitive = true
}
output "m" {
  value = tomap({ a = 1 })
}
output "set" {
  value = toset(["b", "a"])
}
output "n" {
  value = null
}
