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
import shutil
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


def console(recordings):
    """`console.jsonl` and `console-fixtures/`: expressions and what the console answers.

    `out` is what it prints, `type` its type, `json` the text of jsonencode; where evaluation fails,
    `errors` has summaries with ranges of bytes within the expression. `planned_out` and
    `planned_type` are the answers once a plan exists. What must not be imitated, and what later
    versions of the language changed, is left out.
    """
    cases = []
    for case in lines(recordings / "console.jsonl"):
        if case.get("quirk") or case.get("level"):
            continue
        kept = {"group": case["cat"], "expr": case["expr"]}
        if case["err"]:
            kept["errors"] = [
                {k: d[k] for k in ("summary", "bytes") if k in d} for d in case["diags"]
            ]
        else:
            kept.update({k: case[k] for k in ("out", "type", "json") if case.get(k) is not None})
            if case.get("plan_out") is not None:
                kept["planned_out"] = case["plan_out"]
                kept["planned_type"] = case["plan_type"]
            elif case.get("plan_err"):
                first = case["plan_err"].split("\n", 1)[0]
                kept["planned_error"] = first.removeprefix("Error: ")
        cases.append(kept)
    write("console.jsonl", cases)
    shutil.copytree(
        recordings / "console-fixtures", HERE / "console-fixtures", dirs_exist_ok=True
    )


def functions(recordings):
    """`functions.json`: the signatures of the functions."""
    signatures = json.loads((recordings / "functions.json").read_text(encoding="utf-8"))
    kept = signatures["function_signatures"]
    text = json.dumps(kept, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    (HERE / "functions.json").write_text(text.replace('},"', '},\n"') + "\n", encoding="utf-8")
    print(f"functions.json: {len(kept)} signatures")


def steps(recordings):
    """Name, directory and answers of each step of each configuration."""
    for case in sorted((recordings / "configs").iterdir()):
        for expected in sorted(case.glob("step*.expect.json")):
            step = expected.name.removesuffix(".expect.json")
            answers = json.loads(expected.read_text(encoding="utf-8"))
            yield f"{case.name}/{step}", case / step, answers


def texts(directory):
    """The files of a configuration by path."""
    return {
        str(path.relative_to(directory)): path.read_text(encoding="utf-8")
        for path in sorted(directory.rglob("*"))
        if path.is_file()
    }


def states(recordings):
    """`states.jsonl`: states as stored, and as `show -json` shows them."""
    cases = []
    for name, _, answers in steps(recordings):
        shown = (answers.get("show_state") or {}).get("json")
        if shown and answers.get("state"):
            cases.append({"name": name, "state": answers["state"], "shown": shown})
    write("states.jsonl", cases)


def configurations(recordings):
    """`configurations.jsonl`: files, and the `configuration` of the plan made from them."""
    cases = []
    for name, directory, answers in steps(recordings):
        plan = (answers.get("plan") or {}).get("json") or {}
        if "configuration" in plan:
            files = texts(directory)
            cases.append({"name": name, "files": files, "configuration": plan["configuration"]})
    write("configurations.jsonl", cases)


MAKERS = {
    "configurations": configurations,
    "console": console,
    "fmt": fmt,
    "functions": functions,
    "states": states,
}


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    recordings = pathlib.Path(sys.argv[1])
    for name in sys.argv[2:] or MAKERS:
        MAKERS[name](recordings)


if __name__ == "__main__":
    main()
