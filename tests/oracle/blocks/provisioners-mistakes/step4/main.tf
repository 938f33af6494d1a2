resource "terraform_data" "x" {}
removed {
  from = terraform_data.y
  lifecycle {
    destroy = true
  }
  provisioner "local-exec" {
    when    = destroy
    command = "echo ${terraform_data.x.id}"
  }
}
