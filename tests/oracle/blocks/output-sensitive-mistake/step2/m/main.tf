variable "s" {}
output "o" {
  value = var.s
}
