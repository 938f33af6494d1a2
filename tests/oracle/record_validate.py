#!/usr/bin/env python3
"""Records what `terraform validate -json` says of small configurations: `validate.jsonl`, one a line.

    tests/oracle/record_validate.py [TERRAFORM]

Needs a `terraform` binary (1.11 made the data), and only to make the data anew. Each configuration uses
the built-in provider alone, and modules beside it. A case holds `in`, its files (a text without a
header is `main.tf`; others begin with lines `## name`), and `said`: of each diagnostic in the order of
the files its severity, summary, and file with first line and range in bytes, where it names one.
Sentences are left out.
"""
import json
import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent


def data(inner, name="a"):
    return 'resource "terraform_data" "%s" {\n%s\n}\n' % (name, inner)


def call(inner, child='variable "x" {\n  default = 1\n}\n'):
    return 'module "m" {\n  source = "./m"\n%s\n}\n## m/m.tf\n%s' % (inner, child)


def settings(inner):
    return "terraform {\n%s\n}\n" % inner


BUILT_IN = 'terraform = {\n source = "terraform.io/builtin/terraform"\n%s\n}'


def child_aliases(aliases):
    return settings(" required_providers {\n" + BUILT_IN % (" configuration_aliases = [%s]" % aliases) + "\n }")


CASES = [
    # count and for_each.
    data(" count = -1"), data(' count = "a"'), data(" count = 1.5"), data(" count = null"), data(' count = "2"'),
    data(" count = [1]"), data(" for_each = [1]"), data(' for_each = "a"'), data(" for_each = null"),
    data(" for_each = toset([1])"), data(' for_each = ["a"]'), data(" for_each = {}"), data(" for_each = toset([null])"),
    data(" count = each.key"), data(" for_each = each.value"), data(" count = self.id"), data(" count = count.index"),
    data(" count = terraform_data.a.id"), data(" for_each = terraform_data.a"), data(" count = 1\n input = terraform_data.a[0].id"),
    data(" for_each = sensitive(toset([\"a\"]))"), data(" count = sensitive(1)"), data(" count {\n }"), data(" for_each = [for x in [1] : x]"),
    data(' for_each = { "a" = 1 }\n input = each.key + 1') + 'output "o" {\n value = terraform_data.a["b"].id\n}\n',
    'variable "n" {\n type = number\n}\n' + data(" count = var.n\n input = each.key"),
    # depends_on.
    data(" depends_on = [var.x]") + 'variable "x" {}\n', data(" depends_on = [local.x]") + "locals {\n x = 1\n}\n",
    data(" depends_on = [terraform_data.a]"), data(" depends_on = [path.module]"), data(" depends_on = [each.key]\n for_each = {}"),
    data(" depends_on = [self]"), data(" depends_on = [count.index]\n count = 1"), data(" depends_on = [terraform.workspace]"),
    data(" depends_on = [module.m]") + call(""), data(" depends_on = [module.m.x]") + call("", 'output "x" {\n value = 1\n}\n'),
    data(" depends_on = [module.m[0]]") + call(" count = 1"), data(" depends_on = [module.gone]"), data(" depends_on = [data.a.b]"),
    data(" depends_on = [terraform_data.b[0]]") + data(" count = 1", "b"), data(" depends_on = [terraform_data.b[0].id]") + data(" count = 1", "b"),
    data(' depends_on = ["${terraform_data.b}"]') + data("", "b"), data(" depends_on = []"), data(" depends_on = null"),
    data(" depends_on = [terraform_data.b, terraform_data.b]") + data("", "b"), data(" depends_on = [nope]"), data(" depends_on = terraform_data.b"),
    data(" depends_on = [terraform_data]"), data(" depends_on = [1]"), data(" depends_on = [local.gone]"), data(" depends_on = [var.gone]"),
    'output "o" {\n value = 1\n depends_on = [var.x, local.y]\n}\nvariable "x" {}\nlocals {\n y = 1\n}\n',
    'output "o" {\n value = 1\n depends_on = [module.m, output.o]\n}\n' + call(""),
    call(" depends_on = [var.z]") + '## v.tf\nvariable "z" {}\n', call(" depends_on = [module.m]"), call(" depends_on = [local.q, terraform_data.x]"),
    'data "terraform_remote_state" "s" {\n backend = "local"\n depends_on = [var.x]\n}\nvariable "x" {}\n',
    # lifecycle.
    data(" lifecycle {\n create_before_destroy = var.x\n }") + 'variable "x" {}\n', data(" lifecycle {\n create_before_destroy = 1\n }"),
    data(' lifecycle {\n create_before_destroy = "true"\n }'), data(" lifecycle {\n prevent_destroy = null\n }"), data(" lifecycle {\n nope = 1\n }"),
    data(" lifecycle {\n ignore_changes = all\n }"), data(" lifecycle {\n ignore_changes = [all]\n }"), data(" lifecycle {\n ignore_changes = [nope]\n }"),
    data(" lifecycle {\n ignore_changes = [input, id]\n }"), data(' lifecycle {\n ignore_changes = ["input"]\n }'), data(" lifecycle {\n ignore_changes = [input[0]]\n }"),
    data(" lifecycle {\n ignore_changes = input\n }"), data(" lifecycle {\n ignore_changes = [input.*.x]\n }"), data(" lifecycle {\n ignore_changes = [output]\n }"),
    data(' lifecycle {\n ignore_changes = ["*"]\n }'), data(" lifecycle {\n ignore_changes = [terraform_data.a.input]\n }"),
    data(" lifecycle {\n replace_triggered_by = [terraform_data.b]\n }") + data("", "b"), data(" lifecycle {\n replace_triggered_by = [terraform_data.b.id]\n }") + data("", "b"),
    data(" lifecycle {\n replace_triggered_by = [terraform_data.a]\n }"), data(" lifecycle {\n replace_triggered_by = [var.x]\n }") + 'variable "x" {}\n',
    data(" lifecycle {\n replace_triggered_by = [terraform_data.b[count.index]]\n }\n count = 1") + data(" count = 1", "b"),
    data(" lifecycle {\n replace_triggered_by = [terraform_data.b.nope]\n }") + data("", "b"), data(" lifecycle {\n replace_triggered_by = [data.x.y]\n }"),
    data(" lifecycle {\n replace_triggered_by = []\n }"), data(" lifecycle {\n replace_triggered_by = terraform_data.b\n }") + data("", "b"),
    data(" lifecycle {\n replace_triggered_by = [module.m]\n }") + call(""), data(" lifecycle {\n replace_triggered_by = [each.key]\n }\n for_each = {}"),
    data(" lifecycle {\n precondition {\n }\n }"), data(' lifecycle {\n precondition {\n condition = true\n error_message = "x"\n }\n }'),
    data(' lifecycle {\n precondition {\n condition = self.id != ""\n error_message = "X."\n }\n }'),
    data(' lifecycle {\n postcondition {\n condition = self.id != ""\n error_message = "X."\n }\n }'),
    data(' lifecycle {\n postcondition {\n condition = terraform_data.a.id != ""\n error_message = "X."\n }\n }'),
    data(' lifecycle {\n precondition {\n condition = var.x\n error_message = ""\n }\n }') + 'variable "x" {}\n',
    data(' lifecycle {\n precondition {\n condition = "x"\n error_message = "X."\n }\n }'), data(' lifecycle {\n precondition {\n condition = var.x == 1\n error_message = null\n }\n }') + 'variable "x" {}\n',
    data(" lifecycle {\n }\n lifecycle {\n }"), data(' lifecycle "x" {\n }'), data(" lifecycle = {}"),
    'data "terraform_remote_state" "s" {\n backend = "local"\n lifecycle {\n create_before_destroy = true\n }\n}\n',
    'data "terraform_remote_state" "s" {\n backend = "local"\n lifecycle {\n ignore_changes = all\n }\n}\n',
    'data "terraform_remote_state" "s" {\n backend = "local"\n provisioner "local-exec" {\n command = "x"\n }\n}\n',
    'data "terraform_remote_state" "s" {\n backend = "local"\n connection {\n }\n}\n',
    # Escaped meta-arguments.
    data(" _ {\n count = 1\n }"), data(" _ {\n input = 1\n }"), data(" _ {\n input = 1\n }\n input = 2"), data(" _ {\n }\n _ {\n }"), data(' _ "x" {\n }'),
    data(" _ {\n lifecycle {\n }\n }"), data(" _ {\n _ {\n }\n }"), data(" _ = 1"), data(" _ {\n nope = each.key\n }"),
    'data "terraform_remote_state" "s" {\n _ {\n backend = "local"\n }\n}\n', 'provider "terraform" {\n _ {\n alias = "x"\n }\n}\n', 'provider "terraform" {\n _ {\n }\n _ {\n }\n}\n',
    call(" _ {\n x = 1\n }"), call(" lifecycle {\n }"), call(" locals {\n }"), call(" provider \"x\" {\n }"), call(" foo {\n }"), call(" provisioner \"local-exec\" {\n }"),
    # provider and providers.
    data(" provider = terraform"), data(" provider = terraform.x"), data(' provider = "terraform"'), data(" provider = terraform.x.y"), data(" provider = var.x"), data(" provider = null"),
    data(" provider = gone"), data(' provider = "terraform.x"'), data(" provider = terraform[0]"), data(" provider = [terraform]"), data(" provider = 1"), data(" provider = foo.x"),
    data(" provider = terraform.x") + 'provider "terraform" {\n alias = "x"\n}\n', 'provider "terraform" {\n alias = "x"\n}\nprovider "terraform" {\n alias = "x"\n}\n',
    'provider "terraform" {\n alias = var.x\n}\n', 'provider "terraform" {\n alias = ""\n}\n', 'provider "terraform" {\n alias = "x y"\n}\n', 'provider "terraform" {\n version = "1.0"\n}\n',
    'provider "terraform" {\n version = "x"\n}\n', 'provider "terraform" {\n nope = 1\n}\n', 'provider "terraform" {\n lifecycle {\n }\n}\n', 'provider "terraform" {\n locals {\n }\n}\n',
    'provider "terraform" {\n depends_on = []\n}\n', 'provider "terraform" {\n source = "x"\n}\n', 'provider "1x" {\n}\n', 'provider "a" "b" {\n}\n', 'provider {\n}\n', 'provider "Terraform" {\n}\n',
    'provider "-" {\n}\n', 'provider "a_b" {\n}\n',
    call(" providers = {\n terraform = terraform\n }"), call(" providers = {\n }"), call(" providers = [terraform]"), call(" providers = terraform"), call(" providers = {\n terraform = terraform.x\n }"),
    call(" providers = {\n terraform.x = terraform\n }"), call(" providers = {\n terraform.x = terraform\n }", child_aliases("terraform.x")), call("", child_aliases("terraform.x")),
    call(" providers = {\n terraform = terraform\n }", child_aliases("terraform.x")), call(" providers = {\n terraform.x = terraform.x\n }", child_aliases("terraform.x")) + '## p.tf\nprovider "terraform" {\n alias = "x"\n}\n',
    call(" providers = {\n terraform = terraform\n terraform = terraform\n }"), call(" providers = {\n gone = terraform\n }"), call(' providers = {\n "terraform" = "terraform"\n }'),
    call(" providers = {\n terraform = 1\n }"), call(" providers = {\n terraform = terraform.x.y\n }"), call(" providers = null"), call(" providers = {\n (terraform) = terraform\n }"),
    call(" providers = {\n terraform = gone.x\n }"), call("", child_aliases("terraform.x") + data(" provider = terraform.x")), call("", data(" provider = terraform.y")),
    child_aliases("terraform.x"), child_aliases("other.x"), child_aliases("terraform"), child_aliases('"terraform.x"'), child_aliases("terraform.x, terraform.x"), child_aliases("1"),
    settings(" required_providers {\n" + BUILT_IN % " configuration_aliases = terraform.x" + "\n }"), settings(" required_providers {\n" + BUILT_IN % " configuration_aliases = []" + "\n }"),
    child_aliases("terraform.x") + 'provider "terraform" {\n alias = "x"\n}\n',
    # Providers of child modules.
    call(" count = 1", 'provider "terraform" {\n}\n'), call(" for_each = {}", 'provider "terraform" {\n}\n'), call(" depends_on = [terraform_data.a]", 'provider "terraform" {\n}\n') + "## d.tf\n" + data(""),
    call(" count = 1", 'provider "terraform" {\n alias = "x"\n}\n'), call("", 'provider "terraform" {\n}\n' + data("")), call("", 'provider "terraform" {\n alias = "x"\n}\n' + data(" provider = terraform.x")),
    call(" providers = {\n terraform = terraform\n }", 'provider "terraform" {\n}\n'), call(" providers = {\n terraform = terraform\n }\n count = 1", 'provider "terraform" {\n}\n'),
    call(" providers = {\n terraform.x = terraform\n }", 'provider "terraform" {\n alias = "x"\n}\n'),
    'module "a" {\n source = "./a"\n count = 1\n}\n## a/a.tf\nmodule "b" {\n source = "../b"\n}\n## b/b.tf\nprovider "terraform" {\n}\n',
    # Required providers and settings.
    settings(" required_providers {\n terraform = {\n }\n }"), settings(' required_providers {\n terraform = "1.0"\n }'), settings(" required_providers {\n terraform = 1\n }"), settings(" required_providers {\n terraform = null\n }"),
    settings(' required_providers {\n terraform = {\n source = "terraform.io/builtin/terraform"\n version = "x"\n }\n }'), settings(' required_providers {\n terraform = {\n source = "a/b/c/d"\n }\n }'),
    settings(' required_providers {\n terraform = {\n source = 1\n }\n }'), settings(' required_providers {\n terraform = {\n source = ""\n }\n }'), settings(' required_providers {\n terraform = {\n nope = ""\n }\n }'),
    settings(' required_providers {\n terraform = {\n source = "-/x"\n }\n }'), settings(' required_providers {\n terraform = {\n source = "x/terraform-provider-y"\n }\n }'), settings(' required_providers {\n 1x = {\n }\n }'),
    settings(" required_providers {\n nested {\n }\n }"), settings(' required_providers "x" {\n }'), settings(' required_providers {\n terraform = ["x"]\n }'), settings(" required_providers {\n terraform = {\n version = null\n }\n }"),
    settings(' required_providers {\n a = {\n source = "terraform.io/builtin/terraform"\n }\n b = {\n source = "terraform.io/builtin/terraform"\n }\n }'),
    settings(' required_providers {\n Foo = {\n source = "terraform.io/builtin/terraform"\n }\n }'), settings(" required_version = 1"), settings(" required_version = null"), settings(' required_version = ""'),
    settings(' required_version = ">= 1.0"\n required_version = "x"'), settings(' required_version = ">= 1.0-beta"'), settings(" required_version = [\">= 1.0\"]"), settings(' required_version = ">= 1.0, "'),
    settings(" experiments = []"), settings(" experiments = [nope]"), settings(" experiments = nope"), settings(' language = TF2021'), settings(' language = "x"'), settings(" language = TF2022"),
    settings(' backend "local" {\n }\n cloud {\n }'), settings(' cloud {\n }\n cloud {\n }'), settings(' cloud "x" {\n }'), settings(' backend {\n }'), settings(' backend "a" "b" {\n }'), settings(' backend "nope" {\n }'),
    settings(' backend "local" {\n nope = 1\n }'), settings(' backend "local" {\n path = 1\n }'), settings(' provider_meta "terraform" {\n x = 1\n }'), settings(" provider_meta {\n }"),
    settings(' provider_meta "terraform" {\n }\n provider_meta "terraform" {\n }'), settings(' provider_meta "terraform" {\n x = var.gone\n }'), settings(" nope {\n }"), settings(" nope = 1"), 'terraform "x" {\n}\n',
    call("", settings(' backend "local" {\n }')), call("", settings(" cloud {\n }")), call("", settings(' required_version = ">= 99"')),
    # Modules.
    'module "m" {\n source = ""\n}\n', 'module "m" {\n source = null\n}\n', 'module "m" {\n source = 1\n}\n', 'module "m" {\n source = ["./m"]\n}\n', 'module "1m" {\n source = "./m"\n}\n',
    'module "m" "n" {\n source = "./m"\n}\n', "module {\n}\n", call(" version = null"), call(' version = ""'), call(' version = "x"'), call(" x = y"), call(" x = module.m.y"), call(" nope = 1"), call(" x = self"),
    call(" source = \"./n\""), call(" count = 1\n for_each = {}"), call(" count = count.index"), call(" x = count.index\n count = 1"), call(" x = each.value\n for_each = {}"), call(" x = each.value"),
    call(" count = -1"), call(" for_each = [1]"), call(" count = terraform_data.a.id") + "## d.tf\n" + data(""), call("", 'output "y" {\n value = 1\n}\n') + '## o.tf\noutput "o" {\n value = module.m.nope\n}\n',
    call(" count = 1", 'output "y" {\n value = 1\n}\n') + '## o.tf\noutput "o" {\n value = module.m.y\n}\n', call("", 'output "y" {\n value = 1\n}\n') + '## o.tf\noutput "o" {\n value = module.m[0].y\n}\n',
    call("", 'variable "x" {\n type = list(string)\n}\n').replace("\n\n", '\n x = "a"\n'), call("", 'variable "x" {\n nullable = false\n}\n').replace("\n\n", "\n x = null\n"),
    call("", 'output "o" {\n value = sensitive(1)\n}\n'), call("", 'output "o" {\n value = 1\n ephemeral = true\n}\n'), call(" x = 1", 'variable "x" {\n ephemeral = true\n}\noutput "o" {\n value = var.x\n}\n'),
    # Variables.
    'variable "x" {\n type = string\n default = []\n}\n', 'variable "x" {\n default = var.y\n}\n', 'variable "x" {\n description = 1\n}\n', 'variable "x" {\n description = null\n}\n', 'variable "x" {\n description = ["a"]\n}\n',
    'variable "x" {\n sensitive = null\n}\n', 'variable "x" {\n sensitive = "true"\n}\n', 'variable "x" {\n sensitive = var.y\n}\n', 'variable "x" {\n nullable = false\n default = null\n}\n', 'variable "x" {\n ephemeral = 1\n}\n',
    'variable "x" "y" {\n}\n', 'variable {\n}\n', 'variable "x y" {\n}\n', 'variable "for_each" {\n}\n', 'variable "x" {\n type = "string"\n}\n', 'variable "x" {\n type = "list"\n}\n', 'variable "x" {\n type = any\n default = 1\n}\n',
    'variable "x" {\n type = null\n}\n', 'variable "x" {\n type = map(any)\n default = { a = 1, b = "x" }\n}\n', 'variable "x" {\n validation {\n }\n}\n', 'variable "x" {\n validation {\n condition = 1\n error_message = "X."\n }\n}\n',
    'variable "x" {\n validation {\n condition = var.x > 0\n error_message = "no stop"\n }\n}\n', 'variable "x" {\n validation {\n condition = var.y > 0\n error_message = "X."\n }\n}\nvariable "y" {}\n',
    'variable "x" {\n validation {\n condition = var.x > local.z\n error_message = "X."\n }\n}\n', 'variable "x" {\n validation "a" {\n condition = var.x > 0\n error_message = "X."\n }\n}\n', 'variable "x" {\n nested {\n }\n}\n',
    'variable "x" {\n validation {\n condition = var.x > 0\n error_message = var.x\n }\n}\n', 'variable "x" {\n validation {\n condition = var.x > 0\n error_message = 1\n }\n}\n',
    # Locals and outputs.
    'locals "x" {\n}\n', "locals {\n a = a\n}\n", "locals {\n a = local.a\n}\n", "locals {\n a = local.b\n b = local.a\n}\n", "locals {\n a {\n }\n}\n", 'locals {\n a = each.key\n}\n', "locals {\n count = 1\n}\n",
    'output "x" {\n value = sensitive(1)\n}\n', 'output "x" {\n value = sensitive(1)\n sensitive = true\n}\n', 'output "x" {\n value = output.y\n}\n', 'output "x" {\n value = 1\n sensitive = 1\n}\n', 'output "x" {\n value = 1\n nope = 1\n}\n',
    'output "x" {\n value = 1\n precondition {\n condition = 1 > 2\n error_message = "X."\n }\n}\n', 'output "x" {\n value = 1\n precondition {\n condition = var.gone\n error_message = "X."\n }\n}\n', 'output "x" {\n value = 1\n description = var.x\n}\n',
    'output "x y" {\n value = 1\n}\n', 'output "x" {\n value = 1\n postcondition {\n }\n}\n', 'output "x" {\n value = null\n}\n', 'output "x" {\n value {\n }\n}\n', 'variable "v" {\n ephemeral = true\n}\noutput "x" {\n value = var.v\n}\n',
    # Refactoring.
    "moved {\n from = terraform_data.a\n to = terraform_data.a\n}\n", "moved {\n from = terraform_data.a\n to = terraform_data.b\n}\nmoved {\n from = terraform_data.b\n to = terraform_data.a\n}\n",
    "moved {\n from = terraform_data.a\n to = module.m\n}\n", "moved {\n from = data.a.b\n to = data.a.c\n}\n", "moved {\n from = terraform_data.a[each.key]\n to = terraform_data.b\n}\n", 'moved {\n from = "terraform_data.a"\n to = terraform_data.b\n}\n',
    "moved {\n from = module.a\n to = module.a.module.b\n}\n", "moved {\n from = terraform_data.a.id\n to = terraform_data.b\n}\n", "moved {\n from = var.x\n to = terraform_data.b\n}\n", "moved {\n from = a\n to = b\n}\n", "moved {\n}\n", 'moved "x" {\n}\n',
    "moved {\n from = terraform_data.a\n to = terraform_data.b\n nope = 1\n}\n", "moved {\n from = terraform_data.a\n to = terraform_data.b\n}\n" + data("") + data("", "b"),
    "removed {\n from = terraform_data.a\n}\n", "removed {\n from = terraform_data.a[0]\n}\n", "removed {\n from = terraform_data.a\n lifecycle {\n }\n}\n", "removed {\n from = terraform_data.a\n lifecycle {\n destroy = false\n }\n}\n" + data(""),
    "removed {\n from = terraform_data.a\n lifecycle {\n destroy = var.x\n }\n}\n", "removed {\n from = data.a.b\n}\n", "removed {\n from = module.m\n lifecycle {\n destroy = true\n prevent_destroy = true\n }\n}\n", "removed {\n}\n",
    "removed {\n from = terraform_data.a\n provisioner \"local-exec\" {\n command = \"x\"\n }\n}\n", "removed {\n from = terraform_data.a\n provisioner \"local-exec\" {\n when = destroy\n command = self.id\n }\n}\n",
    "removed {\n from = terraform_data.a\n}\nremoved {\n from = terraform_data.a\n}\n", "import {\n to = terraform_data.a\n id = \"x\"\n}\n", "import {\n to = terraform_data.a\n id = \"x\"\n}\n" + data(""), "import {\n to = terraform_data.a\n id = null\n}\n" + data(""),
    "import {\n to = terraform_data.a[0]\n id = \"x\"\n}\n" + data(""), "import {\n to = module.m.terraform_data.a\n id = \"x\"\n}\n", "import {\n to = data.a.b\n id = \"x\"\n}\n", "import {\n to = terraform_data.a\n id = \"x\"\n}\nimport {\n to = terraform_data.a\n id = \"y\"\n}\n" + data(""),
    "import {\n to = terraform_data.a\n id = terraform_data.b.id\n}\n" + data("") + data("", "b"), "import {\n to = terraform_data.a[each.key]\n id = each.value\n for_each = { x = \"y\" }\n}\n" + data(" for_each = {}"), "import {\n to = terraform_data.a\n id = each.value\n}\n" + data(""),
    "import {\n to = terraform_data.a\n id = \"x\"\n provider = terraform.y\n}\n" + data(""), "import {\n to = terraform_data.a.id\n id = \"x\"\n}\n", "import {\n to = var.x\n id = \"x\"\n}\n", call("", "import {\n to = terraform_data.a\n id = \"x\"\n}\n" + data("")),
    # Checks.
    'check "c" {\n assert {\n condition = true\n error_message = "X."\n }\n}\n', 'check "c" {\n assert {\n condition = terraform_data.a.id != ""\n error_message = "X."\n }\n}\n' + data(""), 'check "c d" {\n assert {\n condition = var.x\n error_message = "X."\n }\n}\nvariable "x" {}\n',
    'check "c" {\n data "terraform_remote_state" "s" {\n backend = "local"\n }\n}\n', 'check "c" {\n data "terraform_remote_state" "s" {\n backend = "local"\n count = 1\n }\n assert {\n condition = var.x\n error_message = "X."\n }\n}\nvariable "x" {}\n',
    'check "c" {\n data "terraform_remote_state" "s" {\n backend = "local"\n }\n data "terraform_remote_state" "t" {\n backend = "local"\n }\n assert {\n condition = var.x\n error_message = "X."\n }\n}\nvariable "x" {}\n', 'check "c" {\n nope = 1\n}\n', "check {\n}\n",
    'check "c" {\n data "terraform_remote_state" "s" {\n backend = "local"\n lifecycle {\n }\n }\n assert {\n condition = var.x\n error_message = "X."\n }\n}\nvariable "x" {}\n', 'check "c" {\n}\ncheck "c" {\n}\n', 'check "c" {\n assert {\n }\n}\n',
    # Provisioners and connections.
    data(' provisioner "nope" {\n }'), data(' provisioner "local-exec" {\n }'), data(' provisioner "local-exec" {\n command = 1\n nope = 2\n }'), data(' provisioner "local-exec" {\n command = "x"\n when = create\n on_failure = continue\n }'),
    data(' provisioner "local-exec" {\n command = "x"\n when = "destroy"\n }'), data(' provisioner "local-exec" {\n command = "x"\n on_failure = nope\n }'), data(' provisioner "local-exec" {\n command = terraform_data.a.id\n }'), data(' provisioner "local-exec" {\n command = var.gone\n }'),
    data(' provisioner "local-exec" {\n command = "x"\n when = destroy\n environment = { a = var.x }\n }') + 'variable "x" {}\n', data(" provisioner {\n }"), data(' provisioner "file" {\n destination = "x"\n }'), data(' provisioner "local-exec" {\n command = "x"\n connection {\n host = self.id\n nope = 1\n }\n }'),
    data(" connection {\n host = self.id\n }"), data(" connection {\n }\n connection {\n }"), data(' connection "x" {\n }'), data(' provisioner "chef" {\n }'), data(' provisioner "local-exec" {\n command = "x"\n lifecycle {\n }\n }'), data(' provisioner "remote-exec" {\n inline = ["x"]\n }'),
    # Bodies by schema.
    data(" nope = 1"), data(" input {\n }"), data(" id = 1"), data(" output = 1"), data(" nope {\n }"), data(" triggers_replace = [1]\n input = upper()"), data(' dynamic "x" {\n }'), data(' dynamic "input" {\n for_each = []\n content {\n }\n }'),
    data(" input = 1\n input = 2"), 'resource "terraform_nope" "a" {\n}\n', 'resource "nope_thing" "a" {\n}\n', 'data "terraform_nope" "a" {\n}\n', 'data "terraform_remote_state" "a" {\n}\n', 'data "terraform_remote_state" "a" {\n backend = 1\n}\n', 'data "terraform_data" "a" {\n}\n',
    'ephemeral "terraform_data" "a" {\n}\n', 'ephemeral "nope_x" "a" {\n}\n', 'resource "Terraform_data" "a" {\n}\n', 'resource "terraform_data" "a b" {\n}\n', 'resource "terraform_data" "a" "b" {\n}\n', "resource {\n}\n", 'resource "1" "a" {\n}\n', 'resource "terraform_data" "a"\n{\n}\n',
    # Top level.
    "nope {\n}\n", "nope = 1\n", 'resources "a" "b" {\n}\n', 'output = 1\n', 'locals = {}\n', 'action "a" "b" {\n}\n', 'list "a" "b" {\n}\n', 'language {\n}\n', 'run "x" {\n}\n',
    # References.
    'output "o" {\n value = terraform_data.a.nope\n}\n' + data(""), 'output "o" {\n value = terraform_data.a[0]\n}\n' + data(""), 'output "o" {\n value = terraform_data.a["x"]\n}\n' + data(" count = 1"), 'output "o" {\n value = terraform_data.a.id\n}\n' + data(" for_each = {}"),
    'output "o" {\n value = terraform_data.a.*.id\n}\n' + data(" for_each = {}"), 'output "o" {\n value = data.terraform_remote_state.a.x\n}\n', 'output "o" {\n value = terraform.nope\n}\n', 'output "o" {\n value = terraform.workspace.x\n}\n', 'output "o" {\n value = path.module.x\n}\n',
    'output "o" {\n value = var.x.y\n}\nvariable "x" {\n type = object({ z = string })\n}\n', 'output "o" {\n value = local.x[0]\n}\nlocals {\n x = []\n}\n', 'output "o" {\n value = nope()\n}\n', 'output "o" {\n value = length()\n}\n', 'output "o" {\n value = length(1)\n}\n', 'output "o" {\n value = upper(1, 2)\n}\n',
    'output "o" {\n value = provider::terraform::nope()\n}\n', 'output "o" {\n value = provider::gone::x()\n}\n', 'output "o" {\n value = provider::terraform\n}\n', 'output "o" {\n value = terraform_data\n}\n', 'output "o" {\n value = module.m\n}\n', 'output "o" {\n value = resource.terraform_data.a.id\n}\n' + data(""),
    # Override files.
    'variable "x" {\n type = string\n}\n## o_override.tf\nvariable "x" {\n type = number\n default = "a"\n}\n', 'variable "x" {\n default = "a"\n}\n## o_override.tf\nvariable "x" {\n type = number\n}\n', '## o_override.tf\nvariable "x" {\n}\n', '## o_override.tf\noutput "x" {\n value = 1\n}\n', '## o_override.tf\nlocals {\n x = 1\n}\n',
    '## o_override.tf\nmodule "x" {\n source = "./m"\n}\n', '## o_override.tf\n' + data(""), '## o_override.tf\ndata "terraform_remote_state" "x" {\n}\n', '## o_override.tf\nprovider "terraform" {\n}\n', "## o_override.tf\nmoved {\n from = terraform_data.a\n to = terraform_data.b\n}\n",
    "## o_override.tf\nimport {\n to = terraform_data.a\n id = \"x\"\n}\n", "## o_override.tf\nremoved {\n from = terraform_data.a\n}\n", '## o_override.tf\ncheck "c" {\n assert {\n condition = 1 > 0\n error_message = "X."\n }\n}\n', 'check "c" {\n assert {\n condition = var.x\n error_message = "X."\n }\n}\nvariable "x" {}\n## o_override.tf\ncheck "c" {\n}\n',
    data(" depends_on = []") + "## o_override.tf\n" + data(" depends_on = [terraform_data.a]"), data(" count = 1") + "## o_override.tf\n" + data(" for_each = {}") + '## p.tf\noutput "o" {\n value = terraform_data.a[0].id\n}\n', data(" lifecycle {\n prevent_destroy = true\n }") + "## o_override.tf\n" + data(" lifecycle {\n nope = true\n }"),
    data(' provisioner "local-exec" {\n command = "x"\n }') + "## o_override.tf\n" + data(' provisioner "local-exec" {\n nope = "x"\n }'), data(" connection {\n }") + "## o_override.tf\n" + data(" connection {\n }"),
    call("") + '## o_override.tf\nmodule "m" {\n x = 2\n nope = 1\n}\n', call("") + '## o_override.tf\nmodule "m" {\n depends_on = [terraform_data.a]\n}\n', call("") + '## o_override.tf\nmodule "m" {\n source = "./n"\n}\n## n/n.tf\n', call(" count = 1") + '## o_override.tf\nmodule "m" {\n for_each = {}\n}\n',
    settings(' required_version = ">= 99"') + "## o_override.tf\n" + settings(' required_version = ">= 1.0"'), settings(' backend "local" {\n }') + "## o_override.tf\n" + settings(" cloud {\n }"), settings(' backend "a" {\n }') + "## o_override.tf\n" + settings(' backend "local" {\n }'),
    settings(" required_providers {\n terraform = {\n version = \"x\"\n }\n }") + "## o_override.tf\n" + settings(" required_providers {\n" + BUILT_IN % "" + "\n }"), 'output "o" {\n value = var.gone\n}\n## o_override.tf\noutput "o" {\n value = 1\n}\n', "locals {\n x = var.gone\n}\n## o_override.tf\nlocals {\n x = 1\n}\n",
    'provider "terraform" {\n}\n## o_override.tf\nprovider "terraform" {\n alias = "x"\n}\n', 'output "o" {\n value = 1\n precondition {\n condition = var.gone\n error_message = "X."\n }\n}\n## o_override.tf\noutput "o" {\n precondition {\n condition = 1 > 0\n error_message = "X."\n }\n}\n',
    'variable "x" {\n validation {\n condition = var.x > local.gone\n error_message = "X."\n }\n}\n## o_override.tf\nvariable "x" {\n validation {\n condition = var.x > 0\n error_message = "X."\n }\n}\n', "## o_override.tf\nnope {\n}\n",
    '## main_override.tf\nvariable "x" {}\n## a.tf\nvariable "x" {\n nope = 1\n}\n', 'data "terraform_remote_state" "s" {\n backend = "local"\n}\n## o_override.tf\ndata "terraform_remote_state" "s" {\n config = {}\n}\n', '## override.tf\nterraform {\n required_version = ">= 1.0"\n}\n',
    # JSON.
    '## main.tf.json\n{"resource": {"terraform_data": {"a": {"count": 1, "input": "${each.key}", "lifecycle": {"ignore_changes": ["input"]}, "depends_on": ["terraform_data.b"]}}}}\n', '## main.tf.json\n{"resource": {"terraform_data": {"a": [{"input": 1}, {"input": 2}]}}}\n',
    '## main.tf.json\n{"module": {"m": {"source": "./m", "x": "${var.gone}", "providers": {"terraform": "terraform"}}}}\n## m/m.tf\nvariable "x" {}\n', '## main.tf.json\n{"variable": {"x": {"type": "string", "default": 1, "nope": 2}}, "output": {"o": {"value": "${var.x}", "depends_on": ["var.x"]}}}\n',
    '## main.tf.json\n{"terraform": {"required_providers": {"terraform": {"source": "terraform.io/builtin/terraform"}}, "backend": {"local": {"path": "x"}}, "required_version": ">= 99"}}\n', '## main.tf.json\n{"locals": {"a": "${local.gone}"}, "moved": [{"from": "terraform_data.a", "to": "terraform_data.b"}], "//": "x"}\n',
    '## main.tf.json\n{"check": {"c": {"assert": [{"condition": "${1 > 0}", "error_message": "X."}]}}, "removed": {"from": "terraform_data.z[0]"}, "import": {"to": "terraform_data.q", "id": "x"}}\n', '## main.tf.json\n[]\n', '## main.tf.json\n{"resource": 1}\n', '## main.tf.json\n{"nope": {}}\n',
    '## main.tf.json\n{"provider": {"terraform": [{"alias": "x"}, {"alias": "x"}]}}\n', '## main.tf.json\n{"resource": {"terraform_data": {"a": {"provisioner": [{"local-exec": {"command": "${var.gone}"}}], "_": {"input": 1}}}}}\n', '## main.tf.json\n{"data": {"terraform_remote_state": {"a": {"backend": "local", "count": "x"}}}}\n',
    '## main.tf.json\n{"variable": {"x": {"validation": [{"condition": "${var.x > 0}", "error_message": "X."}, {"condition": true, "error_message": "X."}]}}}\n', '## a.tf.json\n{"variable": {"x": {"type": "string"}}}\n## a_override.tf.json\n{"variable": {"x": {"default": []}}}\n', '## a.tf\nvariable "x" {\n}\n## a_override.tf.json\n{"variable": {"x": {"type": "number", "default": "a"}}}\n',
    '## a.tf.json\n{"resource": {"terraform_data": {"a": {"input": 1}}}}\n## a_override.tf\n' + data(" nope = 1"), '## a.tf.json\n{"locals": {"x": 1}}\n## a_override.tf.json\n{"locals": {"x": "${var.gone}", "y": 1}}\n', '## a.tf.json\n{"terraform": {"backend": {"nope": {}}}}\n## a_override.tf.json\n{"terraform": {"backend": {"local": {}}}}\n',
    '## a.tf.json\n{"module": {"m": {"source": "./gone"}}}\n## a_override.tf.json\n{"module": {"m": {"source": "./m"}}}\n## m/m.tf\n', '## a.tf.json\n{"output": {"o": {"value": "${var.gone}"}}}\n## a_override.tf.json\n{"output": {"o": {"value": 1}}}\n', '## a_override.tf.json\n{"output": {"o": {"value": 1}}}\n',
]


def files(text):
    parts = [p for p in ("\n" + text).split("\n## ") if p.strip()]
    for i, part in enumerate(parts):
        name, _, rest = part.partition("\n")
        if not part.startswith("\n") and re.fullmatch(r"[\w/]+\.tf(\.json)?", name):
            yield name, rest
        else:
            yield "main.tf", part.lstrip("\n")


def said(terraform, text):
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        for name, content in files(text):
            (folder / name).parent.mkdir(exist_ok=True)
            (folder / name).write_text(content)
        env = {"PATH": "/usr/bin:/bin", "HOME": str(folder), "CHECKPOINT_DISABLE": "1", "TF_IN_AUTOMATION": "1"}
        run = lambda *a: subprocess.run([terraform, *a], cwd=folder, env=env, capture_output=True, text=True)
        if "module" in text or "provider" in text:
            run("init", "-backend=false", "-input=false")
        answer = run("validate", "-json").stdout
        if not answer.startswith("{"):
            return None  # it fell over
        answer = json.loads(answer)
        out = []
        for d in answer["diagnostics"]:
            r = d.get("range")
            place = [r["filename"], r["start"]["line"], r["start"]["byte"], r["end"]["byte"]] if r else None
            out.append([d["severity"], d["summary"], place])
        # An order of its own: Terraform's is that of its maps.
        return sorted(out, key=lambda d: (d[2] or ["", 0, 0, 0], d[0], d[1]))


def main():
    terraform = sys.argv[1] if len(sys.argv) > 1 else "terraform"
    seen = set()
    with open(HERE / "validate.jsonl", "w") as out:
        for text in CASES:
            if text in seen:
                continue
            seen.add(text)
            told = said(terraform, text)
            if told is None:
                print("terraform falls over:", repr(text), file=sys.stderr)
                continue
            out.write(json.dumps({"in": text, "said": told}, ensure_ascii=False) + "\n")


main()
