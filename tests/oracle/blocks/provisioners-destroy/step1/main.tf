resource "terraform_data" "counted" {
  count = 2
  input = "v${count.index}"

  provisioner "local-exec" {
    when    = destroy
    command = "echo gone ${count.index} ${self.input} ${path.module}"
  }
}

resource "terraform_data" "keyed" {
  for_each = toset(["a", "b"])
  input    = each.key

  provisioner "local-exec" {
    command = "echo made ${each.value} as ${self.id}"
  }
  provisioner "local-exec" {
    when       = destroy
    command    = "echo gone ${each.key}; exit 1"
    on_failure = continue
  }
  provisioner "local-exec" {
    when    = destroy
    command = "echo at last"
  }
}

resource "terraform_data" "first" {
  triggers_replace = 1

  lifecycle {
    create_before_destroy = true
  }
  provisioner "local-exec" {
    command = "echo made"
  }
  provisioner "local-exec" {
    when    = destroy
    command = "echo never when replaced"
  }
}

resource "terraform_data" "kept" {
  input = "kept"

  provisioner "local-exec" {
    when    = destroy
    command = "echo not yet; exit 1"
  }
}
