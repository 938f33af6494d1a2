resource "terraform_data" "one" {
  input = 1
  lifecycle {
    ignore_changes = [input]
  }
}
resource "terraform_data" "all" {
  input = 1
  triggers_replace = 1
  lifecycle {
    ignore_changes = all
  }
}
resource "terraform_data" "nested" {
  input = { a = { b = 1, c = 1 } }
  lifecycle {
    ignore_changes = [input.a.b]
  }
}
resource "terraform_data" "key" {
  input = tomap({ k = 1, l = 1 })
  lifecycle {
    ignore_changes = [input["k"]]
  }
}
resource "terraform_data" "trigger" {
  triggers_replace = 1
  lifecycle {
    ignore_changes = [triggers_replace]
  }
}
