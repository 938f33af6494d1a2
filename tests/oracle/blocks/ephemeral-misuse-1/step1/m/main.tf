variable "t" {}
output "o" {
  value = var.t
}
