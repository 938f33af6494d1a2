`test -json`.
== main.tf
variable "v" { default = 1 }
resource "terraform_data" "a" { input = var.v }
output "o" { value = terraform_data.a.output }
check "c" {
  assert {
    condition     = var.v == 1
    error_message = "not one"
  }
}
== a.tftest.hcl
run "passes" {
  assert {
    condition     = output.o == 1
    error_message = "no"
  }
}
run "fails" {
  command = plan
  variables { v = 1 }
  assert {
    condition     = var.v == 2
    error_message = "v is ${var.v}"
  }
}
run "after" {
  assert {
    condition     = output.o > 0
    error_message = "no"
  }
}
== b.tftest.hcl
run "expects" {
  command = plan
  variables { v = 2 }
  expect_failures = [check.c]
}
run "errors" {
  assert {
    condition     = output.nothing == 1
    error_message = "no"
  }
}
run "skipped" {}
$ init
$ test -json
$ test -json -filter=b.tftest.hcl
$ test -json -filter=none.tftest.hcl
$ test -json -verbose -filter=a.tftest.hcl
