variable "secret" {
  type      = string
  default   = "hunter22"
  sensitive = true
}

resource "terraform_data" "bad" {
  input = "bad"

  provisioner "local-exec" {
    command = "echo ${var.secret}; echo more"
  }
  provisioner "local-exec" {
    command = "true"
  }
  provisioner "local-exec" {
    command = "echo never"
  }
  provisioner "local-exec" {
    when    = destroy
    command = "echo never, since it is tainted"
  }
}

resource "terraform_data" "after" {
  input = terraform_data.bad.id
}

resource "terraform_data" "beside" {
  input = "beside"

  provisioner "local-exec" {
    command = "echo $GREETING"
    quiet   = true
    environment = {
      GREETING = "hello"
    }
  }
}
