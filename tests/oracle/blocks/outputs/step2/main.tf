resource "terraform_data" "a" {
  input = { l = [1, 2], s = "t" }
}
output "o" {
  value = terraform_data.a.output.l
}
output "s" {
  value = "x"
}
output "m" {
  value = { a = 1 }
}
output "n" {
  value = null
}
