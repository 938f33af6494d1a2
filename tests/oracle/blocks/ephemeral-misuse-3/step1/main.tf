variable "t" {
  type      = string
  ephemeral = true
  default   = "secret"
}
output "o" {
  value = var.t
}
