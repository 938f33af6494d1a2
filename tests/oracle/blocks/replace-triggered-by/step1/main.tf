resource "terraform_data" "s" {
  input = "1"
  triggers_replace = "fixed"
}
resource "terraform_data" "c" {
  count = 2
  input = count.index == 0 ? "1" : "same"
}
resource "terraform_data" "e" {
  for_each = toset(["x", "y"])
  input = each.key == "x" ? "1" : "same"
}
resource "terraform_data" "whole" {
  lifecycle {
    replace_triggered_by = [terraform_data.s]
  }
}
resource "terraform_data" "attr" {
  lifecycle {
    replace_triggered_by = [terraform_data.s.input]
  }
}
resource "terraform_data" "other" {
  lifecycle {
    replace_triggered_by = [terraform_data.s.triggers_replace]
  }
}
resource "terraform_data" "counted" {
  lifecycle {
    replace_triggered_by = [terraform_data.c]
  }
}
resource "terraform_data" "first" {
  lifecycle {
    replace_triggered_by = [terraform_data.c[0]]
  }
}
resource "terraform_data" "second" {
  lifecycle {
    replace_triggered_by = [terraform_data.c[1]]
  }
}
resource "terraform_data" "byindex" {
  count = 2
  lifecycle {
    replace_triggered_by = [terraform_data.c[count.index].input]
  }
}
resource "terraform_data" "bykey" {
  for_each = toset(["x", "y"])
  lifecycle {
    replace_triggered_by = [terraform_data.e[each.key]]
  }
}
resource "terraform_data" "id" {
  lifecycle {
    replace_triggered_by = [terraform_data.s.id]
  }
}
