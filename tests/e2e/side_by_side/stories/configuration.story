The configuration in the plan: expressions of all forms.
== main.tf
terraform {
  required_providers {
    t = { source = "terraform.io/builtin/terraform" }
  }
}
provider "t" {}
provider "terraform" {
  alias = "other"
}
variable "v" { default = { a = [{ b = 1 }], k = "a" } }
variable "flag" {
  type    = bool
  default = true
}
locals {
  l = [1, 2]
}
resource "terraform_data" "a" {
  provider = t
  count    = var.flag ? 1 : 0
  input    = var.v.a[0].b
}
resource "terraform_data" "b" {
  provider = terraform.other
  for_each = { for i in local.l : "k${i}" => i }
  input = [
    terraform_data.a[*].id,
    terraform_data.a[0].output,
    one(terraform_data.a).id,
    var.v[var.v.k],
    "${path.module}/${path.root}/${path.cwd == "" ? "" : "x"}/${terraform.workspace}",
    each.key, each.value,
  ]
}
resource "terraform_data" "c" {
  input = {
    const = -1
    neg   = !false
    math  = 1 + 2
    call  = max(1, 2)
    heredoc = <<-T
      text
    T
    tmpl  = "%{if var.flag}a%{else}b%{endif}"
    loop  = [for k, v in var.v : k if v != null]
    obj   = { for k in ["a"] : k => local.l... }
    fn    = provider::t::encode_expr(1)
  }
  triggers_replace = null
}
module "m" {
  source = "./m"
  providers = {
    terraform = terraform.other
  }
  a = terraform_data.a
  b = module.n[*].o
}
module "n" {
  source     = "./n"
  count      = 0
  depends_on = [terraform_data.c]
}
output "o" {
  value       = try(terraform_data.a[0].id, module.m.o, "none")
  description = "x"
  sensitive   = true
}
output "const" { value = ["a", 1, true, null, { b = [] }] }
== m/main.tf
variable "a" {
  type        = any
  description = "d"
  sensitive   = true
  default     = null
}
variable "b" { default = [] }
data "terraform_remote_state" "r" {
  backend = "local"
  config  = { path = "../none.tfstate" }
  count   = 0
}
output "o" { value = [var.a, var.b, data.terraform_remote_state.r] }
== n/main.tf
variable "z" {
  type    = map(string)
  default = {}
}
output "o" { value = { x = 1 } }
$ init
$ validate -json
$ plan -json -out=p
$ show -json p
$ providers schema -json
$ modules -json
