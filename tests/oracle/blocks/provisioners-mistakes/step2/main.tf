resource "terraform_data" "a" {
  provisioner "nobody-knows" {
    command = "x"
  }
}
