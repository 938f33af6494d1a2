resource "terraform_data" "one" {
  input = 2
  lifecycle {
    ignore_changes = [input]
  }
}
resource "terraform_data" "all" {
  input = 2
  triggers_replace = 2
  lifecycle {
    ignore_changes = all
  }
}
resource "terraform_data" "nested" {
  input = { a = { b = 2, c = 2 } }
  lifecycle {
    ignore_changes = [input.a.b]
  }
}
resource "terraform_data" "key" {
  input = tomap({ k = 2, l = 2 })
  lifecycle {
    ignore_changes = [input["k"]]
  }
}
resource "terraform_data" "trigger" {
  triggers_replace = 2
  lifecycle {
    ignore_changes = [triggers_replace]
  }
}
