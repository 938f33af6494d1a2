#!/usr/bin/env python3
"""Records what Terraform makes of the corners of HCL's specification: `specification.jsonl`.

    tests/oracle/record_specification.py [TERRAFORM]

Needs a `terraform` binary (1.11 made the data), and only to make the data anew. The first line holds
the `locals` that the expressions see, each further line one expression (`expr`; a heredoc ends with its
line break) and its value (`json`). All of them are outputs of one configuration that is applied.
"""
import json
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent

LOCALS = """\
locals {
  l = [{ a = [1, 2], b = { c = "x" } }, { a = [3], b = { c = "y" } }]
  o = { a = "v", n = [{ k = 1 }, { k = 2 }] }
  s = toset(["q", "p"])
  z = null
  e = []
  größe = "groß"
  m = { one = { id = 1 }, two = { id = 2 } }
}
"""

CASES = [
    # heredocs
    "<<E\n  a\n    b\n  E\n",
    "<<-E\n    a\n      b\n    c\n    E\n",
    "<<-E\n    a\n\n      b\n  E\n",
    "<<-E\n\ta\n\t\tb\n  E\n",
    "<<-E\n\t  a\n  \tb\nE\n",
    "<<-E\n    ${local.o.a}\n      b\n    E\n",
    "<<-E\n    a ${local.o.a}\n  ${local.o.a}b\n    E\n",
    "<<-E\n      %{ if true }\n      a\n      %{ endif }\n      E\n",
    "<<-E\n      %{ if true ~}\n      a\n      %{ endif ~}\n      z\n      E\n",
    "<<-E\n    %{ for x in [1, 2] ~}\n    x${x}\n      y\n    %{ endfor ~}\n    E\n",
    "<<-E\n    a\n        \n    b\n    E\n",
    "<<-E\n    a\n  \n    b\n    E\n",
    "<<-E\n    ${\"  a\\n b\"}\n      c\n    E\n",
    "<<E\na\\n$${b} %%{c} \"q\" \\\"\n\nE\n",
    "<<E\nE\n",
    "<<-E\nE\n",
    "<<E\n${local.o.a}\nE\n",
    "[<<E\nx\nE\n, <<F\ny\nF\n]",
    "upper(<<E\nx\nE\n)",
    "<<-E\n  a${~ local.o.a ~}\n  b\n  E\n",
    "<<E\na\n  ${~ local.o.a ~}  \n  b\nE\n",
    "<<E\n%{ if true ~}\n  x\n%{~ else ~}\n  y\n%{~ endif }\nE\n",
    "<<-E\n    é\n   ü\n    E\n",
    # template trimming
    "\"a  ${~ \"b\" ~}  c\"",
    "\"a \\n ${~ \"b\" ~} \\n c\"",
    "\"a${~ \"\" ~}b\"",
    "\"a ${\"b\" ~} ${~ \"c\"} d\"",
    "\"a %{~ if true ~} x %{~ endif ~} b\"",
    "\"%{ if false }x%{ else }y%{ endif }\"",
    "\"%{ for k, v in { a = 1, b = 2 } }${k}=${v};%{ endfor }\"",
    "\"%{ for x in [1, 2, 3] ~} ${x} %{ endfor ~} end\"",
    "\"${~ 1 ~}\"",
    "\"${1}\"",
    "\"${true}\"",
    "\"${[1]}\"",
    "\"x${1}\"",
    "\"${\"${\"a\"}\"}b\"",
    "\" \\t${~ \"a\"}\"",
    "\"$${a}%%{c}%${\"d\"}$\"",
    "\"$$ %% $\"",
    # splats
    "local.l[*].a",
    "local.l[*].a[0]",
    "local.l.*.a",
    "local.l.*.a[0]",
    "local.l[*].b.c",
    "local.l.*.b.c",
    "local.l[*].a[*]",
    "local.o[*].a",
    "local.o.*.a",
    "local.o.a[*]",
    "local.z[*]",
    "local.z.*.x",
    "local.e[*].x",
    "local.e.*.x",
    "local.s[*]",
    "\"x\"[*]",
    "[for x in local.l : x.a[*]]",
    "local.l[*][\"b\"][\"c\"]",
    "local.l[*].a.0",
    "local.l.*.a.0",
    "local.l.0.a.1",
    "local.l.0.b[\"c\"]",
    "local.o.n[*].k",
    "local.o.n.*.k",
    "local.o.n.0.k",
    "local.o.n.1.k",
    "values(local.m)[*].id",
    "[local.m][*].one.id",
    "(local.l)[*].b[\"c\"]",
    "local.l[*].a == [[1, 2], [3]]",
    "[[1, 2], [3]][*][0]",
    "[[[1], [2]], [[3]]][*][*][0]",
    "[1, 2].0",
    "[[1]].0[0]",
    "toset([1])[*]",
    "{ a = 1 }[*].a",
    "length(local.l[*])",
    "local.l[length(local.l) - 1].b.c",
    "local.l[1][\"a\"][0]",
    # unicode
    "local.größe",
    "{ größe = 1 }.größe",
    "[for ключ in [\"a\"] : \"${ключ}!\"]",
    "\"日本\" == \"日本\"",
    "length(\"👨‍👩‍👧\")",
    "{ a-b = 1 }.a-b",
    "\"\\u00e9\\U0001F600\"",
    "length(\"e\\u0301\")",
    "\"e\\u0301\" == \"\\u00e9\"",
    # objects, for
    "{ for k, v in local.m : k => v.id }",
    "{ for k, v in local.m : \"x\" => v.id... }",
    "[for k, v in local.m : k if v.id > 1]",
    "{ \"a\" = 1, b : 2, (\"c\") = 3 }",
    "{ a = 1, a = 2 }",
    "{ \"${\"k\"}x\" = 1 }",
    "{ 1 = 2 }",
    "{ true = 1 }",
    "{ null = 1 }",
    # operators
    "1 + 2 * 3 - 4 / 2 % 3",
    "!true || true && false",
    "1 < 2 == true",
    "-2 * -3",
    "- - 2",
    "!!true",
    "true ? 1 : false ? 2 : 3",
    "(true ? \"a\" : 1)",
    "1 == 1 ? [1] : []",
    "5 % -3",
    "-5 % 3",
    "1 / 3",
    "2 - - 1",
    "\"a\" == \"b\" != true",
    "[\n1,\n2\n,]",
    "[1, # c\n2 /* d */\n]",
    "(\n1\n+\n2\n)",
    "{\na = 1\n\nb = 2, c = 3\n}",
    "max(\n1,\n2,\n)",
    "max([1, 2]...)",
    "[for x in [1, 2, 3] :\n  x\n  if x > 1\n]",
]


def main():
    terraform = sys.argv[1] if len(sys.argv) > 1 else "terraform"
    text = LOCALS
    for i, case in enumerate(CASES):
        if case.startswith("<<"):
            text += f"locals {{\n  h{i} = {case}}}\n"
            case = f"local.h{i}"
        text += f'output "c{i}" {{\n  value = jsonencode({case})\n}}\n'
    with tempfile.TemporaryDirectory() as folder:
        (pathlib.Path(folder) / "main.tf").write_text(text, newline="")

        def run(*words):
            return subprocess.run([terraform, *words], cwd=folder, check=True, capture_output=True).stdout

        run("apply", "-auto-approve", "-no-color")
        outputs = json.loads(run("output", "-json"))
    with open(HERE / "specification.jsonl", "w", newline="") as file:
        file.write(json.dumps({"locals": LOCALS}, ensure_ascii=False) + "\n")
        for i, case in enumerate(CASES):
            line = {"expr": case, "json": outputs[f"c{i}"]["value"]}
            file.write(json.dumps(line, ensure_ascii=False) + "\n")


main()
