resource "terraform_data" "a" {

}
resource "terraform_data" "b" {
  lifecycle {
    replace_triggered_by = [terraform_data.a.nope]
  }
}
