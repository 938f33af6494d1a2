The modes of planning.
== main.tf
resource "terraform_data" "a" { input = 1 }
resource "terraform_data" "b" { input = terraform_data.a.output }
output "o" { value = terraform_data.b.output }
$ init
$ refresh -json
$ apply -json -auto-approve -target=terraform_data.a
$ show -json
$ apply -json -auto-approve
$ apply -json -auto-approve -refresh-only
$ refresh -json
$ plan -json -refresh=false -replace=terraform_data.a -out=p
$ show -json p
$ plan -json -refresh-only -out=p
$ show -json p
$ apply -json p
$ destroy -json -auto-approve -target=terraform_data.b
$ show -json
$ destroy -json -auto-approve
$ show -json
$ apply -json -auto-approve
$ apply -json -destroy -auto-approve
