variable "t" {
  type      = string
  ephemeral = true
  default   = "secret"
}
resource "terraform_data" "a" {
  lifecycle {
    precondition {
      condition     = var.t == "x"
      error_message = "it is ${var.t}"
    }
  }
}
