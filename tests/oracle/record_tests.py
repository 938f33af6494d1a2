#!/usr/bin/env python3
"""Records what `terraform test` answers: `tests.jsonl`, one case a line.

    tests/oracle/record_tests.py [TERRAFORM]

Needs a `terraform` binary (1.11 made the data), and only to make the data anew. Each case is a
directory of configurations and test files over `terraform_data`, which needs no network; the files of
the first line, which most of them test, belong to all. What is kept
of an answer: the exit code, the status lines and the summary as they are printed, and of the JSON
events the kind, file, run, progress and status; of diagnostics severity, summary, file and line, and
what the references in their expression are. Sentences of Terraform's are left out; those of the
configurations' authors (error messages) are kept. Of JUnit's XML the names, the counts, and which
element each case has are kept.
"""
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as xml

HERE = pathlib.Path(__file__).resolve().parent

# Used by most cases: fails where its variable says so.
MAIN = """\
variable "v" {
  default = "dv"
  validation {
    condition     = var.v != "bad"
    error_message = "v is bad"
  }
}
variable "w" {
  default = "dw"
}
resource "terraform_data" "a" {
  input = var.v
  lifecycle {
    precondition {
      condition     = var.v != "pre"
      error_message = "pre fails"
    }
    postcondition {
      condition     = self.input != "post"
      error_message = "post fails"
    }
    postcondition {
      condition     = self.output != "late"
      error_message = "late post fails"
    }
  }
}
resource "terraform_data" "b" {
  input = terraform_data.a.id
}
check "c" {
  assert {
    condition     = var.v != "chk"
    error_message = "check fails"
  }
}
output "o" {
  value = terraform_data.a.output
  precondition {
    condition     = var.v != "out"
    error_message = "out fails"
  }
}
output "id" {
  value = terraform_data.a.id
}
output "w" {
  value = var.w
}
output "secret" {
  value     = "s3cr3t"
  sensitive = true
}
module "m" {
  source = "./m"
}
"""
# A check that no plan can decide.
LATE = """\
check "late" {
  assert {
    condition     = terraform_data.a.output != "latechk"
    error_message = "late check fails"
  }
}
"""
CHILD = """\
variable "x" {
  default = "mx"
}
resource "terraform_data" "inner" {
  input = var.x
}
output "mo" {
  value = terraform_data.inner.output
}
output "x" {
  value = var.x
}
"""
COMMON = {"main.tf": MAIN, "m/main.tf": CHILD}

CASES = []


def case(name, files, *arguments):
    CASES.append({"name": name, "files": files, "arguments": list(arguments)})


def runs(name, text, *arguments, **files):
    """A case with one test file, `tests/a.tftest.hcl`."""
    files = {"late.tf": LATE, **files} if "late" in name else files
    case(name, {"tests/a.tftest.hcl": text, **files}, *arguments)


def expect(value, *expected, command="apply"):
    return (f'run "x" {{\n  command = {command}\n  variables {{\n    v = "{value}"\n  }}\n'
            f'  expect_failures = [{", ".join(expected)}]\n}}\nrun "after" {{\n}}\n')


runs("pass", 'run "a" {\n  assert {\n    condition     = output.o == "dv" && module.m.mo == "mx" && terraform_data.a.input == var.v\n    error_message = "nope"\n  }\n}\n')
runs("plan-then-apply", 'run "p" {\n  command = plan\n  assert {\n    condition     = terraform_data.a.input == "dv"\n    error_message = "nope"\n  }\n}\nrun "a" {\n}\n')
runs("unknown-in-plan", 'run "p" {\n  command = plan\n  assert {\n    condition     = terraform_data.a.id == "x"\n    error_message = "nope"\n  }\n}\nrun "a" {\n}\n')
runs("fail-and-go-on", 'run "f" {\n  assert {\n    condition     = output.o == "other"\n    error_message = "fails: ${output.o}"\n  }\n  assert {\n    condition     = var.w == run.x.y\n    error_message = "nope"\n  }\n}\nrun "g" {\n}\n')
runs("fail", 'run "f" {\n  assert {\n    condition     = output.o == "other"\n    error_message = "fails: ${output.o}"\n  }\n  assert {\n    condition     = var.w != var.w\n    error_message = "nope"\n  }\n}\nrun "g" {\n}\n')
runs("fail-sensitive", 'run "f" {\n  assert {\n    condition     = output.secret == "other"\n    error_message = "fails"\n  }\n assert {\n    condition     = output.secret == "other"\n    error_message = "fails ${output.secret}"\n  }\n}\n')
runs("check-warning", 'run "a" {\n  variables {\n    v = "chk"\n  }\n}\nrun "b" {\n}\n')
runs("check-warning-plan", 'run "a" {\n  command = plan\n  variables {\n    v = "chk"\n  }\n}\nrun "b" {\n}\n')
for v, what in [("bad", "var.v"), ("pre", "terraform_data.a"), ("post", "terraform_data.a"), ("late", "terraform_data.a"), ("out", "output.o"), ("chk", "check.c"), ("latechk", "check.late")]:
    for c in ("plan", "apply"):
        runs(f"expect-{v}-{c}", expect(v, what, command=c))
        runs(f"expect-missing-{v}-{c}", expect("fine", what, command=c))
        runs(f"unexpected-{v}-{c}", expect(v, command=c).replace("  expect_failures = []\n", ""))
runs("expect-other", expect("pre", "check.c"))
runs("expect-two", expect("chk", "check.c", "output.o", command="plan"))
runs("expect-and-assert", 'run "x" {\n  command = plan\n  variables {\n    v = "chk"\n  }\n  expect_failures = [check.c]\n  assert {\n    condition     = var.v == "nope"\n    error_message = "fails"\n  }\n}\n')
runs("expect-not-checkable", 'run "x" {\n  expect_failures = [local.x]\n}\nrun "y" {\n}\n')
runs("expect-not-there", 'run "x" {\n  expect_failures = [check.nothing]\n}\nrun "y" {\n}\n')
runs("expect-in-module", 'run "x" {\n  expect_failures = [module.m.terraform_data.inner]\n}\nrun "y" {\n}\n')
runs("run-references", 'run "a" {\n}\nrun "b" {\n  variables {\n    w = run.a.id\n  }\n  assert {\n    condition     = output.w == run.a.id\n    error_message = "nope"\n  }\n}\nrun "c" {\n  module {\n    source = "./m"\n  }\n  variables {\n    x = "${run.b.w}!"\n  }\n  assert {\n    condition     = output.x == "${run.a.id}!"\n    error_message = "nope"\n  }\n}\n')
runs("run-reference-forward", 'run "a" {\n  variables {\n    w = run.b.w\n  }\n}\nrun "b" {\n}\n')
runs("run-reference-unknown-output", 'run "a" {\n}\nrun "b" {\n  variables {\n    w = run.a.nothing\n  }\n}\nrun "c" {}\n')
runs("run-reference-plan", 'run "a" {\n  command = plan\n}\nrun "b" {\n  command = plan\n  variables {\n    w = run.a.id\n  }\n}\nrun "c" {\n  variables {\n    w = run.a.id\n  }\n}\n')
runs("run-reference-skipped", 'run "a" {\n  variables {\n    v = "pre"\n  }\n}\nrun "b" {\n  variables {\n    w = run.a.id\n  }\n}\n')
runs("alternate-module", 'run "setup" {\n  module {\n    source = "./m"\n  }\n}\nrun "again" {\n  module {\n    source = "./m"\n  }\n  variables {\n    x = "second"\n  }\n  assert {\n    condition     = terraform_data.inner.id == run.setup.mo\n    error_message = "nope"\n  }\n}\nrun "main" {\n}\n')
runs("alternate-module-missing", 'run "setup" {\n  module {\n    source = "./missing"\n  }\n}\n')
runs("state-key", 'run "one" {\n  state_key = "k"\n}\nrun "two" {\n  state_key = "k"\n  module {\n    source = "./m"\n  }\n}\nrun "three" {\n}\n')
runs("variables-precedence", 'variables {\n  v = "file"\n  w = "file"\n}\nrun "a" {\n  assert {\n    condition     = output.o == "m: file"\n    error_message = "m: ${output.o} ${output.w}"\n  }\n}\nrun "b" {\n  variables {\n    v = "run"\n  }\n  assert {\n    condition     = output.o == "m:"\n    error_message = "m: ${output.o} ${output.w} ${var.v} ${var.w}"\n  }\n}\n', "-var=w=cli", **{"terraform.tfvars": 'v = "tfvars"\nw = "tfvars"\n', "tests/terraform.tfvars": 'v = "teststfvars"\n'})
runs("variables-files", 'run "a" {\n  assert {\n    condition     = output.o == "m: file"\n    error_message = "m: ${output.o} ${output.w} ${var.v}"\n  }\n}\n', **{"terraform.tfvars": 'v = "tfvars"\nw = "tfvars"\n', "tests/terraform.tfvars": 'v = "teststfvars"\n'})
runs("variables-cli", 'run "a" {\n  assert {\n    condition     = output.o == "m: file"\n    error_message = "m: ${output.o} ${output.w} ${var.v}"\n  }\n}\n', "-var=v=cli", "-var-file=x.tfvars", **{"terraform.tfvars": 'v = "tfvars"\nw = "tfvars"\n', "x.tfvars": 'w = "xfile"\n'})
runs("variables-auto-tests", 'run "a" {\n  assert {\n    condition     = output.o == "m: file"\n    error_message = "m: ${output.o} ${output.w} ${var.v}"\n  }\n}\n', **{"a.auto.tfvars": 'v = "auto"\nw = "auto"\n', "tests/b.auto.tfvars": 'v = "testsauto"\n'})
runs("variables-refer", 'variables {\n  v = "file"\n  w = var.v\n}\nrun "a" {\n  assert {\n    condition     = output.o == "m: file"\n    error_message = "m: ${output.o} ${output.w} ${var.v}"\n  }\n}\nrun "b" {\n  variables {\n    v = "${var.w}!"\n  }\n  assert {\n    condition     = output.o == "m: file"\n    error_message = "m: ${output.o} ${output.w} ${var.v}"\n  }\n}\n')
runs("variables-undeclared", 'variables {\n  unknown = "file"\n}\nrun "a" {\n  variables {\n    other = "run"\n  }\n  assert {\n    condition     = var.unknown == "file" && var.other == "run"\n    error_message = "nope"\n  }\n}\nrun "b" {\n  assert {\n    condition     = var.other == "run"\n    error_message = "nope"\n  }\n}\n')
runs("variables-wrong-type", 'run "a" {\n  variables {\n    w = local.x\n  }\n}\nrun "b" {}\n')
runs("required-variable", 'run "a" {\n  module {\n    source = "./r"\n  }\n}\nrun "b" {\n  module {\n    source = "./r"\n  }\n  variables {\n    r = "x"\n  }\n}\n', **{"r/main.tf": 'variable "r" {\n  type = number\n}\noutput "r" {\n  value = var.r\n}\n'})
runs("variables-from-global-in-module", 'variables {\n  x = "global"\n}\nrun "a" {\n  module {\n    source = "./m"\n  }\n  assert {\n    condition     = output.x == "global"\n    error_message = "nope"\n  }\n}\n')
case("no-tests", {})
case("two-files", {"b.tftest.hcl": 'run "b" {\n}\n', "tests/a.tftest.hcl": 'run "a" {\n}\n', "tests/c.tftest.json": '{"run": {"c": {"command": "plan", "assert": {"condition": "${var.v == \\"x\\"}", "error_message": "nope"}}}}', "tests/sub/d.tftest.hcl": 'run "d" {\n}\n'})
case("filter", {"b.tftest.hcl": 'run "b" {\n}\n', "tests/a.tftest.hcl": 'run "a" {\n}\n'}, "-filter=tests/a.tftest.hcl")
case("filter-two", {"b.tftest.hcl": 'run "b" {\n}\n', "tests/a.tftest.hcl": 'run "a" {\n}\n', "c.tftest.hcl": 'run "c" {\n}\n'}, "-filter=tests/a.tftest.hcl", "-filter=b.tftest.hcl")
case("filter-unknown", {"tests/a.tftest.hcl": 'run "a" {\n}\n'}, "-filter=x.tftest.hcl")
case("test-directory", {"other/b.tftest.hcl": 'run "b" {\n}\n', "tests/a.tftest.hcl": 'run "a" {\n}\n', "r.tftest.hcl": 'run "r" {\n}\n'}, "-test-directory=other")
case("error-then-next-file", {"tests/a.tftest.hcl": 'run "a" {\n  variables {\n    v = "pre"\n  }\n}\nrun "a2" {\n}\n', "tests/b.tftest.hcl": 'run "b" {\n}\n'})
runs("verbose", 'run "p" {\n  command = plan\n}\nrun "a" {\n}\n', "-verbose")
runs("empty-file", '')
runs("unknown-argument", 'run "a" {\n  comand = plan\n}\n')
runs("unknown-block", 'run "a" {\n  asert {\n  }\n}\nrum "b" {\n}\n')
runs("bad-command", 'run "a" {\n  command = destroy\n}\n')
runs("command-text", 'run "a" {\n  command = "plan"\n}\n')
runs("duplicate-run", 'run "a" {\n}\nrun "a" {\n}\n')
runs("bad-run-name", 'run "a b" {\n}\n')
runs("no-run-name", 'run {\n}\n')
runs("syntax-error", 'run "a" {\n')
runs("assert-without-message", 'run "a" {\n  assert {\n    condition = true\n  }\n}\n')
runs("assert-constant", 'run "a" {\n  assert {\n    condition     = true\n    error_message = "nope"\n  }\n}\n')
runs("assert-not-bool", 'run "a" {\n  assert {\n    condition     = var.v\n    error_message = "nope"\n  }\n}\nrun "b" {}\n')
runs("assert-unknown-reference", 'run "a" {\n  assert {\n    condition     = terraform_data.nothing.id == ""\n    error_message = "nope"\n  }\n}\nrun "b" {}\n')
runs("assert-error", 'run "a" {\n  assert {\n    condition     = tonumber(var.v) == 1\n    error_message = "nope"\n  }\n}\nrun "b" {}\n')
runs("assert-message-error", 'run "a" {\n  assert {\n    condition     = var.v == "x"\n    error_message = "fails ${var.nothing}"\n  }\n}\nrun "b" {}\n')
runs("two-variables-blocks", 'variables {\n  v = "a"\n}\nvariables {\n  w = "b"\n}\nrun "a" {\n}\n')
runs("plan-options", 'run "a" {\n}\nrun "b" {\n  command = plan\n  plan_options {\n    refresh = false\n    replace = [terraform_data.a]\n  }\n  assert {\n    condition     = terraform_data.b.input != ""\n    error_message = "nope"\n  }\n}\n')
runs("plan-options-target", 'run "b" {\n  plan_options {\n    target = [terraform_data.a]\n  }\n}\n')
runs("plan-options-bad", 'run "b" {\n  plan_options {\n    mode = destroy\n    foo = 1\n  }\n}\n')
runs("module-bad", 'run "b" {\n  module {\n    version = "1.0"\n  }\n}\n')
runs("module-text", 'run "b" {\n  module {\n    source = "./m"\n    count = 1\n  }\n}\n')
runs("backend", 'run "b" {\n  backend "local" {\n  }\n}\n')
runs("parallel", 'test {\n  parallel = true\n}\nrun "b" {\n  parallel = true\n}\n')
runs("locals-in-assert", 'run "a" {\n  assert {\n    condition     = local.l == 1 && data.x.y.z == 1\n    error_message = "nope"\n  }\n}\n', **{"l.tf": "locals {\n  l = 1\n}\n"})
runs("locals-in-assert-good", 'run "a" {\n  assert {\n    condition     = local.l == 2 && path.module == "x" && terraform.workspace == "y"\n    error_message = "fails"\n  }\n}\n', **{"l.tf": "locals {\n  l = 1\n}\n"})
runs("json-file", '', **{"tests/j.tftest.json": '{"variables": {"v": "jv"}, "run": [{"x": {"variables": {"w": "${var.v}"}, "assert": [{"condition": "${output.w == \\"jv\\"}", "error_message": "nope"}]}}, {"y": {"command": "plan", "expect_failures": ["check.c"], "variables": {"v": "chk"}}}]}'})
runs("invalid-configuration", 'run "a" {\n}\n', **{"bad.tf": 'output "bad" {\n  value = var.nothing\n}\n'})

runs("late-check-plan", 'run "x" {\n  command = plan\n}\nrun "y" {\n}\n')
runs("expect-late-check-in-plan", 'run "x" {\n  command = plan\n  expect_failures = [check.late]\n}\nrun "y" {\n}\n')
runs("expect-two-apply", expect("chk", "check.c", "output.o"))
runs("run-reference-in-file-variables", 'variables {\n  w = run.a.w\n}\nrun "a" {\n}\nrun "b" {\n}\n')
runs("variables-file-refer-run-in-assert-only", 'run "a" {\n  variables {\n    w = "1"\n  }\n}\nrun "b" {\n  assert {\n    condition     = var.w == run.a.w\n    error_message = "m: ${var.w} ${run.a.w}"\n  }\n}\n')
runs("override-resource", 'override_resource {\n  target = terraform_data.a\n  values = {\n    id     = "over"\n    output = "ov"\n  }\n}\nrun "a" {\n  assert {\n    condition     = output.id == "over" && output.o == "ov"\n    error_message = "m: ${output.id} ${output.o}"\n  }\n}\nrun "p" {\n  command = plan\n  assert {\n    condition     = output.id == "x"\n    error_message = "m: ${output.id} ${output.o}"\n  }\n}\n')
runs("override-resource-plan", 'override_resource {\n  target = terraform_data.a\n  values = {\n    id     = "over"\n    output = "ov"\n  }\n}\nrun "p" {\n  command = plan\n  assert {\n    condition     = output.id == "over"\n    error_message = "m: ${output.id} ${output.o}"\n  }\n}\n')
runs("override-resource-during-plan", 'override_resource {\n  target = terraform_data.a\n  override_during = plan\n  values = {\n    id     = "over"\n  }\n}\nrun "p" {\n  command = plan\n  assert {\n    condition     = output.id == "x"\n    error_message = "m: ${output.id}"\n  }\n}\nrun "a" {\n  assert {\n    condition     = output.id == "x"\n    error_message = "m: ${output.id} ${jsonencode(output.o)}"\n  }\n}\n')
runs("override-run-level", 'override_resource {\n  target = terraform_data.a\n  values = {\n    id = "file"\n  }\n}\nrun "r" {\n  override_resource {\n    target = terraform_data.a\n    values = {\n      id = "run"\n    }\n  }\n  assert {\n    condition     = output.id == "x"\n    error_message = "m: ${output.id} ${jsonencode(terraform_data.a)}"\n  }\n}\nrun "s" {\n  assert {\n    condition     = output.id == "x"\n    error_message = "m: ${output.id}"\n  }\n}\n')
runs("override-module", 'override_module {\n  target = module.m\n  outputs = {\n    mo = "overridden"\n  }\n}\nrun "a" {\n  assert {\n    condition     = module.m.mo == "x"\n    error_message = "m: ${module.m.mo} ${jsonencode(module.m.x)}"\n  }\n}\nrun "p" {\n  command = plan\n  assert {\n    condition     = module.m.mo == "x"\n    error_message = "m: ${jsonencode(module.m)}"\n  }\n}\n', "-verbose")
runs("override-module-plan", 'override_module {\n  target = module.m\n  outputs = {\n    mo = "overridden"\n  }\n}\nrun "p" {\n  command = plan\n  assert {\n    condition     = module.m.mo == "x"\n    error_message = "m: ${jsonencode(module.m)}"\n  }\n}\n')
runs("override-resource-in-module", 'override_resource {\n  target = module.m.terraform_data.inner\n  values = {\n    output = "inner!"\n  }\n}\nrun "a" {\n  assert {\n    condition     = module.m.mo == "x"\n    error_message = "m: ${module.m.mo}"\n  }\n}\n')
COUNTED = {"n.tf": 'resource "terraform_data" "n" {\n  count = 2\n  input = count.index\n}\nmodule "mm" {\n  source = "./m"\n  for_each = toset(["a", "b"])\n}\n'}
runs("override-instances", 'override_resource {\n  target = terraform_data.n[0]\n  values = {\n    id = "zero"\n  }\n}\noverride_resource {\n  target = terraform_data.n\n  values = {\n    id = "all"\n  }\n}\noverride_module {\n  target = module.mm\n  outputs = {\n    mo = "every"\n  }\n}\noverride_module {\n  target = module.mm["a"]\n  outputs = {\n    mo = "only a"\n  }\n}\nrun "a" {\n  assert {\n    condition     = var.v == "x"\n    error_message = "m: ${jsonencode(terraform_data.n[*].id)} ${jsonencode([for k, v in module.mm : v.mo])}"\n  }\n}\n', **COUNTED)
runs("override-instances-modules", 'override_resource {\n  target = module.mm.terraform_data.inner\n  values = {\n    output = "every"\n  }\n}\noverride_resource {\n  target = module.mm["a"].terraform_data.inner\n  values = {\n    output = "only a"\n  }\n}\nrun "a" {\n  assert {\n    condition     = var.v == "x"\n    error_message = "m: ${jsonencode([for k, v in module.mm : v.mo])}"\n  }\n}\n', **COUNTED)
DATA = {"d.tf": 'data "terraform_remote_state" "d" {\n  backend = "local"\n  config = {\n    path = "none.tfstate"\n  }\n}\noutput "d" {\n  value = data.terraform_remote_state.d.outputs\n}\n'}
runs("override-data", 'override_data {\n  target = data.terraform_remote_state.d\n  values = {\n    outputs = {\n      k = "v"\n    }\n  }\n}\nrun "p" {\n  command = plan\n  assert {\n    condition     = output.d.k == "x"\n    error_message = "m: ${jsonencode(data.terraform_remote_state.d)}"\n  }\n}\nrun "a" {\n  assert {\n    condition     = output.d.k == "x"\n    error_message = "m: ${jsonencode(data.terraform_remote_state.d)}"\n  }\n}\n', **DATA)
runs("override-data-without-values", 'override_data {\n  target = data.terraform_remote_state.d\n}\nrun "p" {\n  command = plan\n  assert {\n    condition     = var.v == "x"\n    error_message = "m: ${jsonencode(data.terraform_remote_state.d)}"\n  }\n}\n', **DATA)
runs("override-data-in-run", 'run "p" {\n  command = plan\n  override_data {\n    target = data.terraform_remote_state.d\n    values = {\n      outputs = {\n        k = var.v\n      }\n    }\n  }\n  assert {\n    condition     = var.v == "x"\n    error_message = "m: ${jsonencode(output.d)}"\n  }\n}\n', **DATA)
runs("override-unknown-target", 'override_resource {\n  target = terraform_data.nothing\n}\noverride_data {\n  target = data.terraform_remote_state.x\n}\noverride_module {\n  target = module.zzz\n}\nrun "a" {\n}\n')
runs("override-wrong-kind", 'override_resource {\n  target = data.terraform_remote_state.x\n}\noverride_data {\n  target = terraform_data.a\n}\noverride_module {\n  target = terraform_data.a\n}\nrun "a" {\n}\n')
runs("override-without-target", 'override_resource {\n  values = {}\n}\nrun "a" {\n}\n')
runs("override-bad-values", 'override_resource {\n  target = terraform_data.a\n  values = "x"\n}\nrun "a" {\n}\n')
runs("override-unknown-attribute", 'override_resource {\n  target = terraform_data.a\n  values = {\n    nothing = 1\n    input = "in"\n    id = "i"\n  }\n}\nrun "a" {\n  assert {\n    condition     = var.v == "x"\n    error_message = "m: ${jsonencode(terraform_data.a)}"\n  }\n}\n')
runs("override-wrong-type", 'override_resource {\n  target = terraform_data.a\n  values = {\n    id = ["x"]\n  }\n}\nrun "a" {\n}\n')
runs("override-bad-during", 'override_resource {\n  target = terraform_data.a\n  override_during = destroy\n}\nrun "a" {\n}\n')
runs("override-duplicate", 'override_resource {\n  target = terraform_data.a\n}\noverride_resource {\n  target = terraform_data.a\n}\nrun "a" {\n}\n')
runs("override-unknown-argument", 'override_resource {\n  target = terraform_data.a\n  value = {}\n}\nrun "a" {\n}\n')
runs("override-then-not", 'run "o" {\n  override_resource {\n    target = terraform_data.a\n    values = {\n      id = "i"\n    }\n  }\n}\nrun "n" {\n  assert {\n    condition     = output.id == "i"\n    error_message = "nope"\n  }\n}\n')
runs("mock-terraform", 'mock_provider "terraform" {\n}\nrun "a" {\n  assert {\n    condition     = var.v == "x"\n    error_message = "m: ${jsonencode(terraform_data.a.output)} ${length(terraform_data.a.id)}"\n  }\n}\n')
runs("mock-defaults", 'mock_provider "terraform" {\n  mock_resource "terraform_data" {\n    defaults = {\n      id = "def"\n      output = "out"\n    }\n  }\n  mock_data "terraform_remote_state" {\n    defaults = {\n      outputs = {\n        k = 7\n      }\n    }\n  }\n  override_resource {\n    target = terraform_data.b\n    values = {\n      id = "overridden"\n    }\n  }\n}\nrun "a" {\n  assert {\n    condition     = var.v == "x"\n    error_message = "m: ${jsonencode(terraform_data.a)} ${jsonencode(terraform_data.b)} ${jsonencode(data.terraform_remote_state.d)}"\n  }\n}\n', **DATA)
runs("mock-plan", 'mock_provider "terraform" {\n  mock_resource "terraform_data" {\n    defaults = {\n      id = "def"\n    }\n  }\n}\nrun "p" {\n  command = plan\n  assert {\n    condition     = output.id == "def"\n    error_message = "nope"\n  }\n}\n')
runs("mock-during-plan", 'mock_provider "terraform" {\n  override_during = plan\n  mock_resource "terraform_data" {\n    defaults = {\n      id = "def"\n    }\n  }\n}\nrun "p" {\n  command = plan\n  assert {\n    condition     = output.id == "x"\n    error_message = "m: ${output.id} ${jsonencode(output.o)}"\n  }\n}\n')
runs("mock-resource-during-plan", 'mock_provider "terraform" {\n  mock_resource "terraform_data" {\n    override_during = plan\n    defaults = {\n      id = "def"\n    }\n  }\n}\nrun "p" {\n  command = plan\n  assert {\n    condition     = output.id == "x"\n    error_message = "m: ${output.id} ${jsonencode(output.o)}"\n  }\n}\n')
runs("mock-twice", 'mock_provider "terraform" {\n  mock_resource "terraform_data" {\n  }\n  mock_resource "terraform_data" {\n  }\n}\nmock_provider "terraform" {\n}\nrun "a" {\n}\n')
runs("mock-unknown-type", 'mock_provider "terraform" {\n  mock_resource "terraform_dat" {\n  }\n}\nrun "a" {\n}\n')
runs("mock-bad", 'mock_provider "terraform" {\n  mock_thing "x" {\n  }\n  foo = 1\n}\nrun "a" {\n}\n')
runs("mock-source", 'mock_provider "terraform" {\n  source = "./mocks"\n  mock_resource "terraform_data" {\n    defaults = {\n      id = "own"\n    }\n  }\n}\nrun "a" {\n  assert {\n    condition     = var.v == "x"\n    error_message = "m: ${terraform_data.a.id} ${jsonencode(terraform_data.b.id)} ${jsonencode(output.d)}"\n  }\n}\n', **DATA, **{"mocks/a.tfmock.hcl": 'mock_resource "terraform_data" {\n  defaults = {\n    id = "source"\n  }\n}\nmock_data "terraform_remote_state" {\n  defaults = {\n    outputs = {\n      k = 1\n    }\n  }\n}\noverride_resource {\n  target = terraform_data.b\n  values = {\n    id = "b from source"\n  }\n}\n'})
runs("mock-source-missing", 'mock_provider "terraform" {\n  source = "./nomocks"\n}\nrun "a" {\n}\n')
runs("mock-alias", 'mock_provider "terraform" {\n  alias = "fake"\n}\nrun "a" {\n  providers = {\n    terraform = terraform.fake\n  }\n  assert {\n    condition     = length(terraform_data.a.id) == 8\n    error_message = "nope"\n  }\n}\nrun "r" {\n  assert {\n    condition     = length(terraform_data.a.id) == 36\n    error_message = "fails"\n  }\n}\n')
runs("provider-block", 'provider "terraform" {\n}\nprovider "terraform" {\n  alias = "x"\n}\nrun "a" {\n}\n')
runs("provider-unknown", 'run "a" {\n  providers = {\n    terraform = terraform.nothing\n  }\n}\n')
runs("cleanup-blocked", 'run "a" {\n}\nrun "b" {\n  module {\n    source = "./pd"\n  }\n}\n', **{"pd/main.tf": 'resource "terraform_data" "kept" {\n  lifecycle {\n    prevent_destroy = true\n  }\n}\nresource "terraform_data" "other" {\n}\n'})
runs("cleanup-blocked-main", 'run "a" {\n}\nrun "b" {\n  module {\n    source = "./m"\n  }\n}\n', **{"pd.tf": 'resource "terraform_data" "kept" {\n  lifecycle {\n    prevent_destroy = true\n  }\n}\nresource "terraform_data" "other" {\n}\n'})
runs("ephemeral-variable", 'variables {\n  e = "eph"\n}\nrun "a" {\n  assert {\n    condition     = output.le == 3\n    error_message = "nope"\n  }\n}\n', **{"e.tf": 'variable "e" {\n  ephemeral = true\n  type = string\n}\noutput "le" {\n  value = 3\n}\n'})
runs("function-in-run-variables", 'run "a" {\n  variables {\n    v = upper("x${1 + 1}")\n  }\n  assert {\n    condition     = output.o == "X2"\n    error_message = "nope"\n  }\n}\n')
runs("multi-teardown", 'run "a" {\n}\nrun "b" {\n  module {\n    source = "./m"\n  }\n}\nrun "c" {\n  module {\n    source = "./n"\n  }\n}\nrun "d" {\n}\nrun "e" {\n  command = plan\n}\n', **{"n/main.tf": 'resource "terraform_data" "n" {\n}\n'})
runs("data-source-in-check", 'run "a" {\n  assert {\n    condition     = data.terraform_remote_state.s.outputs.x == 1\n    error_message = "nope"\n  }\n}\n')
runs("nested-output-object", 'run "a" {\n}\nrun "b" {\n  assert {\n    condition     = run.a == null\n    error_message = "m: ${jsonencode(keys(run.a))}"\n  }\n}\n')
runs("empty-run-block-reference", 'run "a" {\n  assert {\n    condition     = run.a.o == output.o\n    error_message = "m: ${run.a.o}"\n  }\n}\n')
runs("each-in-assert", 'run "a" {\n  assert {\n    condition     = each.key == "x" && self.y == 1 && count.index == 0\n    error_message = "m:"\n  }\n}\n')
runs("variables-tests-tfvars-cli", 'run "a" {\n  assert {\n    condition     = output.o == "m:"\n    error_message = "m: ${output.o} ${output.w}"\n  }\n}\n', "-var=v=cli", **{"tests/terraform.tfvars": 'v = "teststfvars"\nw = "teststfvars"\n', "root.tftest.hcl": 'run "r" {\n  assert {\n    condition     = output.o == "m:"\n    error_message = "m: ${output.o} ${output.w}"\n  }\n}\n'})
runs("variables-file-from-global", 'variables {\n  v = "${var.g}!"\n}\nrun "a" {\n  assert {\n    condition     = output.o == "m:"\n    error_message = "m: ${output.o}"\n  }\n}\n', "-var=g=global", **{"g.tf": 'variable "g" {\n  default = "dg"\n}\n'})
runs("variables-run-from-default", 'run "a" {\n  variables {\n    v = "${var.w}!"\n  }\n  assert {\n    condition     = output.o == "m:"\n    error_message = "m: ${output.o}"\n  }\n}\n')
runs("variables-cli-undeclared", 'run "a" {\n}\n', "-var=zzz=1")
runs("variables-run-self", 'run "a" {\n  variables {\n    v = "1"\n    w = var.v\n  }\n  assert {\n    condition     = output.w == "m:"\n    error_message = "m: ${output.w}"\n  }\n}\n')
runs("mock-update", 'mock_provider "terraform" {\n}\nrun "a" {\n}\nrun "b" {\n  variables {\n    v = "changed"\n  }\n  assert {\n    condition     = output.id == run.a.id && output.o == null\n    error_message = "m: differ"\n  }\n}\nrun "c" {\n  command = plan\n  variables {\n    v = "again"\n  }\n  assert {\n    condition     = output.id == run.a.id && output.o == null\n    error_message = "m: differ"\n  }\n}\n')
runs("override-functions", 'override_resource {\n  target = terraform_data.a\n  values = {\n    id = upper("x")\n  }\n}\nrun "a" {\n}\n')
runs("paths-alternate", 'run "a" {\n  module {\n    source = "./p"\n  }\n  assert {\n    condition     = output.p == "x"\n    error_message = "m: ${output.p} ${path.module}"\n  }\n}\n', **{"p/main.tf": 'output "p" {\n  value = "${path.module} ${path.root}"\n}\n'})
runs("provider-refers", 'variables {\n  pv = "x"\n}\nprovider "terraform" {\n}\nmock_provider "terraform" {\n  alias = "m"\n}\nrun "a" {\n}\n')
runs("mock-and-provider", 'provider "terraform" {\n}\nmock_provider "terraform" {\n}\nrun "a" {\n}\n')

runs("state-key-shared-with-main", 'run "one" {\n  state_key = "main"\n}\nrun "two" {\n  assert {\n    condition     = output.id != run.one.id\n    error_message = "m: the same"\n  }\n}\n')
runs("state-key-bad", 'run "one" {\n  state_key = main\n}\n')
runs("expect-instances", 'run "one" {\n  command = plan\n  expect_failures = [terraform_data.many]\n}\nrun "two" {\n  command = plan\n  expect_failures = [terraform_data.many[1]]\n}\nrun "three" {\n  command = plan\n  expect_failures = [terraform_data.many[1], terraform_data.many[2]]\n}\n', **{"k.tf": 'resource "terraform_data" "many" {\n  count = 3\n  lifecycle {\n    precondition {\n      condition     = count.index == 0\n      error_message = "fails ${count.index}"\n    }\n  }\n}\n'})
runs("expect-error-not-condition", 'run "one" {\n  command = plan\n  expect_failures = [terraform_data.e]\n}\n', **{"e.tf": 'resource "terraform_data" "e" {\n  input = tonumber(var.v)\n  lifecycle {\n    precondition {\n      condition     = var.v == "dv"\n      error_message = "fails"\n    }\n  }\n}\n'})
runs("module-checks", 'run "one" {\n  command = plan\n  expect_failures = [check.c]\n  variables {\n    v = "chk"\n  }\n}\nrun "two" {\n  command = plan\n}\n', **{"q.tf": 'module "q" {\n  source = "./q"\n}\n', "q/main.tf": 'check "inq" {\n  assert {\n    condition     = path.module == "x"\n    error_message = "fails in q"\n  }\n}\n'})
runs("module-condition-expected-root", 'run "one" {\n  command = plan\n  expect_failures = [output.o]\n}\n', **{"q.tf": 'module "q" {\n  source = "./q"\n}\n', "q/main.tf": 'output "o" {\n  value = 1\n  precondition {\n    condition     = path.module == "x"\n    error_message = "fails in q"\n  }\n}\n'})
runs("apply-error", 'run "one" {\n  variables {\n    v = "late"\n  }\n}\nrun "two" {\n}\n')
runs("no-change-plan", 'run "one" {\n}\nrun "two" {\n  command = plan\n}\n', "-verbose")
case("bad-file-then-good", {"tests/a.tftest.hcl": 'run "a" {\n', "tests/b.tftest.hcl": 'run "b" {\n}\n'})


def references(diagnostic):
    values = (diagnostic.get("snippet") or {}).get("values") or []
    return {v["traversal"]: made_up(v["statement"]) for v in values}


def made_up(text):
    """The text with ids that are others each time left out."""
    text = re.sub(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", "<id>", text)
    return re.sub(r'is "[a-z0-9]{8}"$', 'is "<made up>"', text)


# Messages that the configurations above word themselves.
OURS = re.compile(r"(nope|fails.*|v is bad|(pre|post|late post|check|late check|out) fails|m:.*)")


def event(line):
    """An event: a diagnostic as an object, all else as its words in a fixed order."""
    kind = line["type"]
    if kind in ("version", "log"):
        return None
    about = [line.get("@testfile"), line.get("@testrun")]
    if kind == "diagnostic":
        d = line["diagnostic"]
        r = d.get("range")
        kept = {
            "about": about,
            "severity": d["severity"],
            "summary": d["summary"],
            "at": f'{r["filename"]}:{r["start"]["line"]}' if r else None,
            "values": references(d),
        }
        message = d["detail"].split("\n\n")[0]
        if OURS.fullmatch(message):
            kept["message"] = message
        return kept
    words = [kind, *[a for a in about if a]]
    body = line[kind]
    if kind == "test_abstract":
        words.append(body)
    elif kind == "test_summary":
        words += [body[k] for k in ("status", "passed", "failed", "errored", "skipped")]
    elif kind == "test_cleanup":
        words += [r["instance"] for r in body["failed_resources"]]
    elif kind in ("test_file", "test_run"):
        words += [body[k] for k in ("progress", "status") if k in body]
    return words


STATUS = re.compile(r"^(\S.*\.\.\. |  run \".*\"\.\.\. |Success! |Failure! |Executed 0 |Warning: |Error: )")


def junit(path):
    if not path.exists():
        return None
    suites = []
    for suite in xml.fromstring(path.read_text()):
        cases = []
        for c in suite:
            inner = [e.tag for e in c if e.tag != "system-err"]
            cases.append([c.attrib["name"], c.attrib["classname"], *inner])
        a = suite.attrib
        suites.append([a["name"], a["tests"], a["skipped"], a["failures"], a["errors"], cases])
    return suites


def record(terraform, case):
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        for name, text in {**COMMON, **case["files"]}.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)

        def run(*arguments):
            return subprocess.run([terraform, *arguments], cwd=folder, capture_output=True, text=True, timeout=120)

        run("init", "-no-color", *[a for a in case["arguments"] if a.startswith("-test-directory")])
        text = run("test", "-no-color", f"-junit-xml={folder}/out.xml", *case["arguments"])
        events = run("test", "-json", *case["arguments"])
        said = []
        for line in events.stdout.splitlines():
            if line.startswith("{"):
                kept = event(json.loads(line))
                if kept:
                    said.append(kept)
        answer = {
            "exit": text.returncode,
            "json_exit": events.returncode,
            "lines": [l for l in text.stdout.splitlines() if STATUS.match(l)],
            "junit": junit(folder / "out.xml"),
            "events": said,
        }
        if "-v" in sys.argv:
            print("=" * 20, case["name"], file=sys.stderr)
            print(text.stdout, text.stderr, file=sys.stderr)
        return {**case, **answer}


def main():
    arguments = [a for a in sys.argv[1:] if not a.startswith("-")]
    terraform = arguments[0] if arguments else "terraform"
    only = arguments[1:]
    chosen = [c for c in CASES if not only or any(o in c["name"] for o in only)]
    lines = [json.dumps(record(terraform, c), ensure_ascii=False) + "\n" for c in chosen]
    if only:
        return
    lines.insert(0, json.dumps({"common": COMMON}) + "\n")
    (HERE / "tests.jsonl").write_text("".join(lines))


if __name__ == "__main__":
    main()
