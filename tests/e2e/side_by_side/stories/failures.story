What fails while it is made, and what stands in the plan afterwards.
== main.tf
variable "fail" { default = true }
resource "terraform_data" "ok" { input = 1 }
resource "terraform_data" "bad" {
  input = terraform_data.ok.output
  provisioner "local-exec" {
    command = var.fail ? "echo out; echo err >&2; exit 3" : "true"
  }
}
resource "terraform_data" "after" { input = terraform_data.bad.id }
resource "terraform_data" "loud" {
  provisioner "local-exec" {
    command    = "echo one; echo two; exit 1"
    on_failure = continue
  }
  provisioner "local-exec" {
    command = "echo '${nonsensitive(sensitive("x"))}'"
    quiet   = true
  }
}
resource "terraform_data" "hidden" {
  provisioner "local-exec" {
    command = "echo ${sensitive("x")}"
  }
}
output "o" { value = terraform_data.after.output }
$ init
$ apply -json -auto-approve
$ show -json
$ plan -json -out=p
$ show -json p
$ apply -json -auto-approve -var=fail=false
$ show -json
