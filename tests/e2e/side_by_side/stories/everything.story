Values of all types, modules, keys, sensitive and unknown parts, and what becomes of them.
== main.tf
terraform {
  required_version = ">= 1.4"
}
variable "plain" {
  description = "a text"
  type        = string
  default     = "p<&>\u2028"
}
variable "secret" {
  type      = string
  default   = "hunter2"
  sensitive = true
}
variable "untyped" {}
variable "shape" {
  type = object({
    a = optional(number, 3)
    b = list(string)
    c = map(object({ d = bool }))
  })
  default  = { b = ["x"], c = { k = { d = true } } }
  nullable = false
}
variable "nothing" {
  type    = string
  default = null
}
variable "short" {
  type      = string
  default   = "e"
  ephemeral = true
}
locals {
  joined = "${var.plain}-${terraform_data.one.id}"
  table  = { for k in ["x", "y"] : k => upper(k) }
}
resource "terraform_data" "one" {
  input = {
    text   = var.plain
    secret = var.secret
    list   = [1, 2.5, null, true, [var.secret]]
    nested = { a = { b = { c = [] } } }
    empty  = {}
    big    = 123456789012345678901234567890
    set    = toset(["b", "a"])
    map    = tomap({ a = "b" })
  }
}
resource "terraform_data" "many" {
  count            = 3
  input            = "${local.joined}-${count.index}"
  triggers_replace = [count.index, terraform_data.one.output.text]
}
resource "terraform_data" "keyed" {
  for_each   = local.table
  input      = { (each.key) = each.value, other = terraform_data.many[0].output }
  depends_on = [terraform_data.many]
  lifecycle {
    create_before_destroy = true
    ignore_changes        = [triggers_replace]
    precondition {
      condition     = var.plain != ""
      error_message = "Must not be empty."
    }
    postcondition {
      condition     = self.id != ""
      error_message = "Has no id."
    }
  }
  provisioner "local-exec" {
    command     = "echo made ${self.id}"
    interpreter = ["/bin/sh", "-c"]
    environment = { A = each.key }
    when        = create
    on_failure  = continue
  }
  provisioner "local-exec" {
    when    = destroy
    command = "echo gone"
  }
  connection {
    host = "localhost"
    type = "ssh"
  }
}
module "child" {
  source   = "./child"
  for_each = toset(["l", "r"])
  in       = terraform_data.keyed["x"].output
  fixed    = each.key
}
module "twice" {
  source     = "./child"
  count      = 2
  in         = terraform_data.one.id
  fixed      = tostring(count.index)
  depends_on = [module.child]
}
check "health" {
  assert {
    condition     = terraform_data.one.output.text == var.plain
    error_message = "Text ${var.plain} is not ${terraform_data.one.id}."
  }
  assert {
    condition     = length(terraform_data.many) == 4
    error_message = "There are ${length(terraform_data.many)}."
  }
}
output "number" { value = 1.50 }
output "text" {
  value       = local.joined
  description = "joined"
}
output "secret" {
  value     = var.secret
  sensitive = true
}
output "structure" {
  value = { list = [1, "a", true, null], map = tomap({ a = 1 }), set = toset([2, 1]), empty = [] }
}
output "from_module" {
  value      = module.child["l"].out
  depends_on = [terraform_data.many]
  precondition {
    condition     = module.child["l"].out != null
    error_message = "None."
  }
}
output "all" { value = [for k, m in module.child : m.out] }
output "null" { value = null }
== child/main.tf
variable "in" { type = any }
variable "fixed" {
  type        = string
  description = "a key"
  validation {
    condition     = length(var.fixed) == 1
    error_message = "One letter."
  }
}
resource "terraform_data" "inner" {
  input = var.in
}
resource "terraform_data" "fixed" {
  input            = var.fixed
  triggers_replace = terraform_data.inner.id
}
module "leaf" {
  source = "../leaf"
  v      = var.fixed
}
output "out" { value = terraform_data.inner.output }
output "leaf" {
  value     = module.leaf.id
  sensitive = true
}
== leaf/main.tf
variable "v" {}
resource "terraform_data" "leaf" { input = var.v }
output "id" { value = terraform_data.leaf.id }
$ init -json
$ validate -json
$ show -json
$ plan -json -var=untyped=u -out=p
$ show -json p
$ apply -json p
$ show -json
$ output -json
$ output -json structure
$ output -json text
$ plan -json -var=untyped=u -out=p -detailed-exitcode
$ show -json p
$ plan -json -var=untyped=v -var=plain=q -var=secret=other -out=p -detailed-exitcode
$ show -json p
$ apply -json -var=untyped=v -var=plain=q -var=secret=other -auto-approve
$ show -json
$ plan -json -var=untyped=v -destroy -out=p
$ show -json p
$ apply -json p
$ show -json
$ output -json
