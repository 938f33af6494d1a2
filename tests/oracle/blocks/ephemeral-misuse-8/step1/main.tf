variable "t" {
  type      = string
  ephemeral = true
  default   = "secret"
}
check "c" {
  assert {
    condition     = var.t == "x"
    error_message = "it is not"
  }
}
