resource "terraform_data" "a" {
  input = "v"

  provisioner "local-exec" {
    command     = ["x"]
    environment = { A = ["x"] }
  }
  connection {
    host = ["x"]
  }
}
resource "terraform_data" "b" {
  provisioner "local-exec" {
    command = "x"
    timeout = 5
    wait {}
  }
}
resource "terraform_data" "c" {
  provisioner "remote-exec" {
    inline = ["x"]
    script = "x"
  }
}
