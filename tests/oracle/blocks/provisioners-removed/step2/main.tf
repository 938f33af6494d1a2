removed {
  from = terraform_data.a
  lifecycle {
    destroy = true
  }
  connection {
    host = self.input
  }
  provisioner "local-exec" {
    when    = destroy
    command = "echo gone ${count.index} ${self.input}"
  }
}
removed {
  from = module.m.terraform_data.inner
  lifecycle {
    destroy = true
  }
  provisioner "local-exec" {
    when    = destroy
    command = "echo gone ${each.key} ${self.id}"
  }
}
