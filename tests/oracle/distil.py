#!/usr/bin/env python3
"""Distils recorded answers of Terraform into the test data beside this script.

    tests/oracle/distil.py RECORDINGS [NAME...]

RECORDINGS is a directory of recordings; it is needed only to make the data anew, never to build or
test. Each function below makes one file; NAMEs choose some of them. Only facts are kept: inputs,
outputs, exit codes, and summaries and places of diagnostics. The sentences of Terraform's diagnostics
are left out, since Formwork's are its own.
"""
import json
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent


def lines(path):
    with open(path, encoding="utf-8") as file:
        return [json.loads(line) for line in file if line.strip()]


def write(name, items):
    path = HERE / name
    with open(path, "w", encoding="utf-8", newline="\n") as file:
        for item in items:
            file.write(json.dumps(item, ensure_ascii=False, sort_keys=True) + "\n")
    print(f"{path.name}: {len(items)} cases")


def fmt(recordings):
    """`fmt.jsonl`: text, and what formatting standard input gives (null where it is refused)."""
    cases = []
    for case in lines(recordings / "fmt.jsonl"):
        refused = case["exit"] != 0
        summary = case["err"].split("\n", 1)[0].removeprefix("Error: ") if refused else None
        cases.append({
            "in": case["in"],
            "out": None if refused else case["out"],
            "summary": summary,
        })
    write("fmt.jsonl", cases)


MAKERS = {"fmt": fmt}


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    recordings = pathlib.Path(sys.argv[1])
    for name in sys.argv[2:] or MAKERS:
        MAKERS[name](recordings)


if __name__ == "__main__":
    main()
