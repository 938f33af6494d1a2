variable "t" {
  ephemeral = true
}
output "t" {
  value     = var.t
  ephemeral = true
}
