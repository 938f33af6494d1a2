variable "x" { default = 1 }
resource "terraform_data" "a" {
  input = var.x
  lifecycle {
    precondition {
      condition     = var.x < 3
      error_message = "x is ${var.x}"
    }
    postcondition {
      condition     = self.output != 2
      error_message = "output is two"
    }
  }
}
resource "terraform_data" "b" {
  input = terraform_data.a.output
}
