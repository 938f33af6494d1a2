#!/usr/bin/env python3
"""Records what Terraform prints for the commands that draw, describe and list.

    tests/oracle/record_commands.py [TERRAFORM]

Makes `commands.jsonl` beside this script anew, from the cases below; it needs a `terraform` 1.11.4.
Each line is one configuration with what was run before (`apply`) and, for each command, its exit code,
its standard output, and the summaries of errors and warnings on either stream. Sentences of Terraform's
diagnostics are left out, since Formwork's are its own; so are descriptions in schemas.
"""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
TERRAFORM = sys.argv[1] if len(sys.argv) > 1 else "terraform"

GRAPHS = ["graph", "graph -type=plan", "graph -type=apply", "graph -type=plan-refresh-only",
          "graph -type=plan-destroy"]
TREES = ["providers", "modules", "modules -json"]

INNER = """
variable "v" {}
resource "terraform_data" "in" { input = var.v }
resource "terraform_data" "in2" { input = terraform_data.in.output }
module "n" {
  source = "./n"
  w      = terraform_data.in2.id
}
output "o" { value = module.n.p }
"""
DEEP = """
variable "w" {}
resource "terraform_data" "deep" { input = var.w }
output "p" { value = terraform_data.deep.output }
"""

CASES = [
    ("empty directory", {}, [], ["graph", "graph -type=plan", "providers", "providers schema -json", "modules",
                                 "modules -json", "output", "output -json", "output x", "output -raw x",
                                 "show -json", "show", "state list", "workspace list", "workspace show",
                                 "graph -type=nothing", "graph -plan=nothing", "state show terraform_data.x"]),
    ("no resources", {"main.tf": 'output "o" { value = 1 }\n'}, [], GRAPHS + TREES),
    ("modules in modules", {
        "main.tf": """
variable "x" { default = 1 }
locals { l = terraform_data.a.output }
resource "terraform_data" "a" { input = var.x }
resource "terraform_data" "b" { input = local.l }
resource "terraform_data" "c" {
  count      = 2
  input      = terraform_data.a.output
  depends_on = [terraform_data.b]
}
module "m" {
  source = "./m"
  v      = terraform_data.c[0].output
}
module "k" {
  source   = "./m"
  for_each = toset(["a"])
  v        = module.m.o
}
data "terraform_remote_state" "d" {
  count   = 0
  backend = "local"
  config  = { path = terraform_data.a.output }
}
resource "terraform_data" "z" { input = [module.m.o, data.terraform_remote_state.d] }
output "o" { value = module.k["a"].o }
check "c" {
  assert {
    condition     = terraform_data.z.output != null
    error_message = "no"
  }
}
""",
        "m/main.tf": INNER, "m/n/main.tf": DEEP,
    }, [], GRAPHS + TREES),
    ("unused values, aliases, depends_on of modules", {
        "main.tf": """
terraform {
  required_providers {
    t = { source = "terraform.io/builtin/terraform" }
  }
}
variable "unused" { default = 1 }
variable "y" { default = 1 }
locals {
  unused = 1
  used   = var.y
}
provider "t" { alias = "x" }
provider "t" { alias = "idle" }
resource "terraform_data" "a" {
  input    = local.used
  provider = t.x
  lifecycle { replace_triggered_by = [terraform_data.b] }
}
resource "terraform_data" "b" {
  provider = t
  provisioner "local-exec" { command = "true" }
}
module "e" { source = "./e" }
module "f" {
  source     = "./e"
  depends_on = [terraform_data.b]
}
resource "terraform_data" "after" {
  provider   = t
  depends_on = [module.f]
}
output "e" { value = module.e.x }
output "q" { value = provider::t::encode_tfvars({}) }
""",
        "e/main.tf": 'output "x" { value = 1 }\n',
    }, [], GRAPHS + TREES),
    ("a diamond and what it implies", {
        "main.tf": """
resource "terraform_data" "top" {}
resource "terraform_data" "left" { input = terraform_data.top.id }
resource "terraform_data" "right" { input = [for k in [1] : "${terraform_data.top.id}-${k}"] }
resource "terraform_data" "bottom" {
  input = [terraform_data.left.id, terraform_data.right.id, terraform_data.top.id, local.all]
}
locals { all = [local.some, terraform_data.top.id] }
locals { some = terraform_data.left }
resource "terraform_data" "apart" {
  for_each = { a = 1, "b c" = 2 }
  input    = each.value
}
"""
    }, [], GRAPHS),
    ("a cycle", {
        "main.tf": """
resource "terraform_data" "a" { input = terraform_data.b.id }
resource "terraform_data" "b" { input = terraform_data.a.id }
"""
    }, [], ["graph", "graph -type=plan"]),
    ("what a state needs to be destroyed", {
        "main.tf": """
resource "terraform_data" "a" { input = 1 }
resource "terraform_data" "b" { input = terraform_data.a.output }
module "m" {
  source = "./n"
  w      = terraform_data.b.output
}
resource "terraform_data" "c" { depends_on = [module.m, terraform_data.a] }
output "o" { value = module.m.p }
output "other" { value = 1 }
""",
        "n/main.tf": DEEP,
    }, ["apply"], ["graph -type=plan-destroy", "providers", "state list"]),
    ("requirements", {
        "main.tf": """
terraform {
  required_providers {
    google = {
      source  = "hashicorp/google"
      version = "~> 6.0, != 6.1.0"
    }
    tt  = { source = "terraform.io/builtin/terraform" }
    aws = { source = "hashicorp/aws" }
    my = {
      source  = "example.com/foo/bar"
      version = "1.2.3, >=1.0"
    }
    other = { version = "> 1, < 2.5, != 1.7.1" }
  }
}
provider "google" {
  version = "~> 5.0"
  alias   = "x"
}
provider "null" {}
resource "google_x" "b" {}
resource "terraform_data" "x" { provider = tt }
resource "random_id" "x" {}
data "local_file" "x" {}
ephemeral "tls_x" "x" {}
module "m" { source = "./m" }
""",
        "m/main.tf": """
terraform {
  required_providers {
    google = { version = ">= 5.0" }
  }
}
module "b" { source = "./n" }
module "a" { source = "./n" }
""",
        "m/n/main.tf": 'resource "random_id" "x" {}\n',
        "tests/a.tftest.hcl": """
provider "http" {}
run "x" { command = plan }
run "y" {
  module { source = "./m/n" }
}
""",
        "top.tftest.hcl": 'run "x" { command = plan }\n',
        ".terraform/modules/modules.json": json.dumps({"Modules": [
            {"Key": "", "Source": "", "Dir": "."},
            {"Key": "m", "Source": "./m", "Dir": "m"},
            {"Key": "m.a", "Source": "./n", "Dir": "m/n"},
            {"Key": "m.b", "Source": "./n", "Dir": "m/n"},
            {"Key": "test.tests.a.y", "Source": "./m/n", "Dir": "m/n"},
        ]}),
    }, [], TREES),
    ("schemas", {"main.tf": 'resource "terraform_data" "a" {}\n'}, [],
     ["providers schema -json", "providers schema", "metadata functions"]),
    ("outputs", {
        "main.tf": """
resource "terraform_data" "a" { input = { k = [1, "x", null, true] } }
output "text" { value = "a \\"quoted\\"\\nline" }
output "number" { value = 1.5 }
output "truth" { value = true }
output "list" { value = ["a", "b"] }
output "object" { value = terraform_data.a.output }
output "empty" { value = "" }
output "secret" {
  value     = "hunter2"
  sensitive = true
}
output "secrets" {
  value     = { a = "hunter2" }
  sensitive = true
}
"""
    }, ["apply"], ["output", "output -json", "output text", "output -raw text", "output -json text",
                   "output number", "output -raw number", "output -raw truth", "output -raw empty",
                   "output list", "output -raw list", "output -json list", "output object",
                   "output secret", "output -raw secret", "output -json secret", "output secrets",
                   "output nothing", "output -raw nothing", "output -json nothing", "output -json -raw text",
                   "output -raw", "output text number", "show -json", "state show terraform_data.a"]),
]

ENVIRONMENT = {"PATH": os.environ["PATH"], "TF_CLI_CONFIG_FILE": "/dev/null", "CHECKPOINT_DISABLE": "1"}


def run(folder, command):
    words = command.split(" ")
    if words[0] == "apply":
        words.append("-auto-approve")
    return subprocess.run([TERRAFORM, *words, *([] if "-json" in words else ["-no-color"])], cwd=folder,
                          env=ENVIRONMENT | {"HOME": folder}, capture_output=True, text=True, check=False)


def summaries(*streams):
    found = []
    for text in streams:
        text = re.sub(r"\x1b\[[0-9;]*m", "", text)
        found += re.findall(r"^(?:│ )?((?:Error|Warning): .*)$", text, re.M)
    return found


def without_sentences(value):
    if isinstance(value, dict):
        return {k: without_sentences(v) for k, v in value.items() if k not in ("description", "summary")}
    if isinstance(value, list):
        return [without_sentences(v) for v in value]
    return value


def record(name, files, before, commands):
    case = {"name": name, "files": files, "before": before, "commands": []}
    with tempfile.TemporaryDirectory() as folder:
        for path, text in files.items():
            path = pathlib.Path(folder) / path
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        # where providers are not there, the modules are named by hand
        if files and ".terraform/modules/modules.json" not in files:
            initialised = run(folder, "init")
            assert initialised.returncode == 0 or name == "a cycle", initialised.stdout + initialised.stderr
        for command in before:
            ran = run(folder, command)
            assert ran.returncode == 0, ran.stdout + ran.stderr
        for command in commands:
            ran = run(folder, command)
            said = summaries(ran.stdout, ran.stderr)
            kept = {"command": command, "exit": ran.returncode, "said": said}
            if command == "providers schema -json":
                kept["stdout"] = json.dumps(without_sentences(json.loads(ran.stdout)), separators=(",", ":"))
            elif not said and ran.returncode == 0 or ran.stdout.startswith("digraph"):
                kept["stdout"] = re.sub(r"\n\nWarning: .*", "\n", ran.stdout, flags=re.S)
            elif command == "providers":
                kept["stdout"] = ran.stdout.split("\nWarning: ")[0]
            case["commands"].append(kept)
    return case


def main():
    with open(HERE / "commands.jsonl", "w", encoding="utf-8", newline="\n") as file:
        for case in CASES:
            file.write(json.dumps(record(*case), ensure_ascii=False, sort_keys=True) + "\n")
    print(f"commands.jsonl: {len(CASES)} cases")


if __name__ == "__main__":
    main()
