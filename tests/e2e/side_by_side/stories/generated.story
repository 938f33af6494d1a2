Imports whose configuration is generated.
== main.tf
import {
  to = terraform_data.gen
  id = "x"
}
import {
  for_each = { a = "1", b = "2" }
  to       = terraform_data.each[each.key]
  id       = each.value
}
resource "terraform_data" "each" {
  for_each = toset(["a", "b"])
}
$ init
$ plan -json -generate-config-out=gen.tf -out=p
$ show -json p
$ apply -json p
$ show -json
$ plan -json -out=p
$ show -json p
$ import terraform_data.new abc
