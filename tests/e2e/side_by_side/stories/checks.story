Conditions of every kind: met, not met, broken, known later.
== main.tf
variable "v" {
  default = 1
  validation {
    condition     = var.v < 50
    error_message = "Too big."
  }
  validation {
    condition     = var.v >= 0
    error_message = "Negative."
  }
}
resource "terraform_data" "a" {
  count = 2
  input = var.v
  lifecycle {
    precondition {
      condition     = var.v < 40
      error_message = "Over 40."
    }
    postcondition {
      condition     = self.output < 30
      error_message = "Output ${self.output} is over 30."
    }
  }
}
resource "terraform_data" "none" {
  count = 0
  lifecycle {
    precondition {
      condition     = var.v != -1
      error_message = "Never."
    }
  }
}
module "m" {
  source   = "./m"
  for_each = toset(["p", "q"])
  v        = var.v
}
check "fails" {
  assert {
    condition     = var.v == 0
    error_message = "v is ${var.v}."
  }
  assert {
    condition     = var.v == 1
    error_message = "v is not one."
  }
}
check "later" {
  assert {
    condition     = terraform_data.a[0].id != ""
    error_message = "No id."
  }
}
check "later_fails" {
  assert {
    condition     = terraform_data.a[0].output == 99
    error_message = "Output is ${terraform_data.a[0].output}."
  }
}
check "scoped" {
  data "terraform_remote_state" "gone" {
    backend = "local"
    config  = { path = "none.tfstate" }
  }
  assert {
    condition     = data.terraform_remote_state.gone.outputs.x == 1
    error_message = "Not there."
  }
}
output "o" {
  value = terraform_data.a[0].output
  precondition {
    condition     = var.v != 20
    error_message = "Twenty."
  }
}
output "deep" {
  value = [for m in module.m : m.o]
}
== m/main.tf
variable "v" {
  validation {
    condition     = var.v != 7
    error_message = "Seven."
  }
}
resource "terraform_data" "in" {
  for_each = toset(["k"])
  input    = var.v
  lifecycle {
    postcondition {
      condition     = self.id != ""
      error_message = "No id."
    }
  }
}
check "inner" {
  assert {
    condition     = terraform_data.in["k"].output == 1
    error_message = "Inner."
  }
}
output "o" {
  value = terraform_data.in["k"].output
  precondition {
    condition     = terraform_data.in["k"].output != 8
    error_message = "Eight."
  }
}
$ init
$ plan -json -out=p
$ show -json p
$ apply -json p
$ show -json
$ plan -json -out=p -var=v=0
$ show -json p
$ apply -json -auto-approve -var=v=0
$ show -json
$ plan -json -out=q -var=v=60
$ show -json q
$ plan -json -out=r -var=v=45
$ show -json r
$ plan -json -out=s -var=v=20
$ show -json s
$ plan -json -out=t -var=v=7
$ show -json t
$ apply -json -auto-approve -var=v=35
$ show -json
$ plan -json -refresh-only -out=u -var=v=0
$ show -json u
$ plan -json -destroy -out=d -var=v=0
$ show -json d
$ apply -json d
$ show -json
