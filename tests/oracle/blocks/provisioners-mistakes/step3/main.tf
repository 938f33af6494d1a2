removed {
  from = module.m
  lifecycle {
    destroy = true
  }
  provisioner "local-exec" {
    when    = destroy
    command = "x"
  }
}
