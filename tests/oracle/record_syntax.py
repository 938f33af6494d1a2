#!/usr/bin/env python3
"""Records what Terraform says of small texts: `syntax.jsonl`, one case a line.

    tests/oracle/record_syntax.py [TERRAFORM]

Needs a `terraform` binary (1.11 made the data), and only to make the data anew. Each text is given to
`terraform fmt`. A case holds `in`, and either `out` (the formatted text) or `errors`, the sorted
`[line, summary]` of each diagnostic; sentences are left out. The texts are those below, and seeded
mutations of them: blanks moved, pieces inserted, deleted and repeated. A case is marked `quirk` where
Terraform itself loses text: a block label with a `$` or `%` in it, and the index `[null]`.
"""
import json
import pathlib
import random
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
MUTANTS = 1600

# One line each: a text whose line breaks are written as they are in a string of this language.
TEXTS = [
    # Bodies.
    "a = 1\n", "a=1\r\nb=2\r\n", "a = 1", "\ufeffa=1\n", "a = 1\rb = 2\n", "", "  \n\t\n", "# x", "/* x",
    "// x\r", "a = 1 2\n", "a = 1, b = 2\n", "a = \nb = 1\n", "= 1\n", "\"a\" = 1\n", "a\n", "a 1\n",
    "a[0] = 1\n", "a.b = 1\n", "a : 1\n", "a = 1\na = 2\n", "b {\n a=1\n a=2\n a=3\n}\n",
    "b {\n", "b {\n a = 1\n", "}\n", "b {}\n", "b {} c {}\n", "b {\n} c\n", "b { c = 1 }\n",
    "b { c = 1\n}\n", "b { c = 1, d = 2 }\n", "b { c = 1 d }\n", "b { c {} }\n", "b { c }\n",
    "b { \"c\" = 1 }\n", "b { = 1 }\n", "b \"x\" y {\n}\n", "b \"x\"\n{\n}\n", "b \"x\" = 1\n", "b 1 {\n}\n",
    "b \"x${y}\" {\n}\n", "b \"x\n\" {\n}\n", "b \"\\q\" {\n}\n", "b \"\\u00e9\\u200b\" {\n}\n", "b \"\" {}\n",
    "a b c\n", "for x y {}\n", "a /* 1 */ b /* 2 */ \"c\" /* 3 */ {\n}\n", "a /*x\n*/ = 1\n",
    "x {\n  y {\n    z = 1\n  }\n\n\n  w = [\n  1]\n}\n", "größe = 1\n", "a-b = c-d\n",
    # Expressions.
    "a = b ? c : d ? e : f\n", "a = x ? 1\n", "a = x ?\n", "a = 1 < 2 < 3\n", "a = 1 & 2\n", "a = 1 | 2\n",
    "a = b ~ c\n", "a = 1 ** 2\n", "a = 1 ^ 2\n", "a = !\n", "a = -\n", "a = 1 +\n", "a = %\n", "a = b ...\n",
    "a = 'x'\n", "a = `x`\n", "a = 1; b = 2\n", "a = \u201cx\u201d\n", "a = \\ 1\n", "a = (1\nb = 2\n",
    "a = (b\n.c\n[0])\n", "a = (1 + # x\n2)\n", "a = 1 + # x\n2\n", "a = ()\n", "a = \"x\" \"y\"\n",
    "a = 1.5.5\n", "a = 1.e5\n", "a = 1..2\n", "a = 1e400\n", "a = 1e99999999999\n", "a = 1e1e1\n", "a = .5\n",
    "a = 007\n", "a = b.0.1\n", "a = b.00\n", "a = b.1e5\n", "a = b.\n", "a = b.\"c\"\n", "a = b. c\n",
    "a = b.*.c.*.d\n", "a = b.*.c[0].*.d\n", "a = b.*.0.1\n", "a = b.*.0.c[1]\n", "a = b.*.\n",
    "a = b[*].c[*].d\n", "a = b[*\n", "a = b[* c]\n", "a = b[1 2]\n", "a = b[\n", "a = b[]\n", "a = b[-1]\n",
    "a = b[\n0\n]\n", "a = true.b\n", "a = null\n", "a = 1.b\n", "a = {}.b\n", "a = [1] [0]\n",
    "a = f(\n", "a = f(,)\n", "a = f(1 2)\n", "a = f(1,2\nb = 3\n", "a = f(b...)\n", "a = f(b...,)\n",
    "a = f(b... c)\n", "a = f(1,)\n", "a = f (1)\n", "a = f\n(1)\n", "a = a::b\n", "a = a::\n",
    "a = a::b::c(1)\n", "a = a :: b(1)\n", "a = a\n::b(1)\n", "a = [1 2]\n", "a = [1,,2]\n", "a = [,]\n", "a = [1\n",
    "a = [1,\n2,\n]\n", "a = [\n# c\n1 # d\n, 2]\n", "a = {b 2}\n", "a = {b = 1 c = 2}\n", "a = {b = 1,, c = 2}\n",
    "a = {,}\n", "a = {b}\n", "a = {b, c}\n", "a = {b\n}\n", "a = {b\n= 1}\n", "a = {b =\n1}\n", "a = {\"x\" y}\n",
    "a = {b = 1 # x\nc = 2}\n", "a = {b = 1\n", "a = {(b).c = 1, d.e = 2, f ? g : h = 3}\n", "a = {b: 1, \"c\": 2}\n",
    "a = {for = 1}\n", "a = [for]\n", "a = [for, 1]\n", "a = for\n", "a = [for x in y : x]\n", "a = [for x y]\n",
    "a = [for x in y]\n", "a = [for 1 in y : x]\n", "a = [for x, in y : x]\n", "a = [for x in y : x => x]\n",
    "a = [for x in y : x...]\n", "a = [for x in y : x if z w]\n", "a = {for x in y : x}\n",
    "a = {for k, v in y :\n k => v...\n if k}\n", "a = {\nfor k, v in y: k=>v\n}\n", "b = [for x in [1]:x]\n",
    # Templates.
    "a = \"\\n\\r\\t\\\"\\\\\\u00e9\\U0001F600\"\n", "a = \"\\q\"\n", "a = \"\\uD800\"\n", "a = \"\\u12\"\n",
    "a = \"\\U00110000\"\n", "a = \"\\\n\"\n", "a = \"x\ny\"\n", "a = \"abc\nb = 2\n", "a = \"\n", "a = \"$${x} %%{y} $ %\"\n",
    "a = \"$$${x}\"\n", "a = \"${b\"\nc = 1\n", "a = \"${b \"c\"}\"\n", "a = \"${b:c}\"\n", "a = \"${b c}\"\n", "a = \"${}\"\n",
    "a = \"${b}\" # c\n", "a = \"${~ b ~}\"\n", "a = \"${\n b ?\n c : d\n}\"\n", "a = \"${\n(b)\n}\"\n", "a = \"${b # x\n}\"\n",
    "a = \"${ { b = c } }\"\n", "a = \"x${ { b = c } }\"\n", "a = \"${\"${b}\"}\"\n", "a = (\"${b}\")\n",
    "a = \"%{ if x }a%{ else }b%{ endif }\"\n", "a = \"%{if x}a\"\n", "a = \"%{endif}a\"\n", "a = \"%{foo}a\"\n",
    "a = \"%{if x}a%{else}b%{else}c%{endif}\"\n", "a = \"%{for x in y}a%{else}b%{endfor}\"\n", "a = \"%{1}\"\n",
    "a = \"%{for x y}a%{endfor}\"\n", "a = \"%{if x}a%{endfor}\"\n", "a = \"%{if x a\"\n", "a = \"%{if x b}c%{endif}\"\n",
    "a = \"%{for k, v in y ~} ${k} %{~ endfor}\"\n", "a = <<EOT\nx\nEOT\n", "a = <<EOT\nx\n  EOT  \nb=1\n", "a = <<EOT\nx\nEOT",
    "a = <<EOT\n", "a = <<EOT \nx\nEOT\n", "a = <<-EOT\n  x\n    ${b} %{ if  c }d%{endif}\n  EOT\n", "a = <<E\r\nx\r\nE\r\n",
    "x {\n a=<<EOT\n   ${ b(\n c\n) } \nEOT\nc=1\n}\n", "a = [<<E\nx\nE\n,<<F\ny\nF\n]\nb=1\n", "a = <<EOT\n ${b\nEOT\n",
    "a = f(<<EOT\ny\nEOT\n) # x\nddd = 2 # y\n",
    # Layout.
    "a = 1 # one\nbbb = 2 # two\nccc={\n}\ndd=3 // three\n", "a=b-c\nd= - - b\nf=[-c,-  d,{k=-1,l:-1}]\ng=b?-c:-d\nk=1- 2\n",
    "a=[[\n1\n],[\n2\n]]\nb=f({\nc=1\n},[\n1\n])\n", "a=[[\n1\n]\n,[\n2\n]\n]\n", "a=f(b,\nc,\nd)\ng=1\n", "a=x ? {\nb=1\n} : {\nc=1\n}\n",
    "variable x {\n type=\"map\"\n}\nvariable y {\n type=list\n a {\n type = set\n }\n}\ntype = list\n",
    "variable \"x\" {\n type = object({\n a=string\n bb=optional(list(string) , [ ])\n })\n default={}\n}\n",
    "a = \"\u65e5\u672c\" # x\nbb = \"e\u0301\" # y\nccc = \"\U0001F468\u200d\U0001F469\u200d\U0001F467\" # z\n",
    "resource \"a\" \"b\" {\n  count=2\n\n  dynamic \"disk\" {\n  for_each = { for k,v in var.d : k=>v if v.on }\n  content {\n  name=disk.key\n  size_gb   = disk.value.size # GB\n  }\n  }\n lifecycle {\n ignore_changes=[tags[\"x\"], all]\n }\n}\n",
    "module \"m\" {\n  source = \"./m\"\n  providers = { google=google.eu }\n  v = merge(local.a,{\n    x=\"${var.y}-z\"\n  })[*].id\n}\n",
]

PIECES = [
    " ", "  ", "\n", "\t", "\"", "${", "%{", "}", "{", "[", "]", "(", ")", "=", "==", ",", ".", "...", "*", "# c\n",
    "/* d */", "// e\n", "a", "for", "in", "if", "1", "1.5", "-", "!", "?", ":", "::", "=>", "<<EOT\n", "EOT\n", "EOT",
    "\"x\"", "~", "$", "$$", "%", "&&", "||", "\r\n", "\"${a}\"", "\"a${b}c\"", "a = 1\n", "b {\n", "}\n", "\u00e9", "\\",
    "endif", "%{ if x }", "%{endif}", "[*]", ".*", "0", "null", "true",
]


def mutant(choices, texts):
    text = choices.choice(texts)
    blanks_only = choices.random() < 0.35
    for _ in range(choices.choice([1, 1, 2, 3])):
        if not text:
            break
        at = choices.randrange(len(text))
        if blanks_only:
            if text[at] in " \t":
                text = text[:at] + choices.choice(["", "  ", "\t"]) + text[at + 1:]
            elif text[at] in "([{,=":
                text = text[:at + 1] + choices.choice([" ", "\n", " # c\n", " /* d */"]) + text[at + 1:]
            continue
        kind = choices.random()
        if kind < 0.4:
            text = text[:at] + choices.choice(PIECES) + text[at:]
        elif kind < 0.7:
            text = text[:at] + text[at + choices.choice([1, 1, 2, 4]):]
        else:
            end = at + choices.choice([1, 2, 5, 20])
            text = text[:end] + text[at:end] + text[end:]
    return text


def record(terraform, texts):
    with tempfile.TemporaryDirectory() as folder:
        paths = [pathlib.Path(folder) / f"{index}.tf" for index in range(len(texts))]
        for path, text in zip(paths, texts):
            path.write_bytes(text.encode())
        run = subprocess.run(
            [terraform, "fmt", "-no-color", "-list=false", folder],
            capture_output=True, text=True, errors="replace", check=False,
        )
        errors = {}
        for part in re.split(r"\n(?=Error: )", run.stderr):
            found = re.match(r"Error: (.*)\n+ +on (?:\S*/)?(\d+)\.tf line (\d+)", part)
            if found:
                place = [int(found[3]), found[1]]
                errors.setdefault(int(found[2]), []).append(place)
        for index, (path, text) in enumerate(zip(paths, texts)):
            if index in errors:
                yield {"in": text, "errors": sorted(errors[index])}
            else:
                out = path.read_bytes().decode()
                case = {"in": text, "out": out}
                squeeze = lambda t: re.sub(r"[\s\"(){}$~]|/\*.*?\*/", "", t, flags=re.DOTALL)
                if len(squeeze(text)) > len(squeeze(out)):
                    lost = "[null]" in re.sub(r"\s", "", text) or re.search(r'"[^"\n]*[$%][^"\n]*"[^\n]*\{', text)
                    if lost:
                        case["quirk"] = True
                yield case


def main():
    terraform = sys.argv[1] if len(sys.argv) > 1 else "terraform"
    choices = random.Random(1)
    cases = list(record(terraform, TEXTS))
    # Of sound texts, so that about half of the mutants are sound too.
    sound = [case["in"] for case in cases if "out" in case]
    mutants = dict.fromkeys(mutant(choices, sound) for _ in range(MUTANTS))
    cases += record(terraform, [text for text in mutants if text not in TEXTS])
    with open(HERE / "syntax.jsonl", "w", encoding="utf-8", newline="\n") as file:
        for case in cases:
            file.write(json.dumps(case, ensure_ascii=True, sort_keys=True) + "\n")
    refused = sum("errors" in case for case in cases)
    print(f"syntax.jsonl: {len(cases)} cases, {refused} refused")


if __name__ == "__main__":
    main()
