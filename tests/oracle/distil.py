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


def compact(value):
    return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"))


def diagnostic(d):
    """Severity, summary and place; never the sentences."""
    at = d.get("range")
    place = f" {at['filename']}:{at['start']['line']}" if at else ""
    # how their graph calls a node is no part of the message
    summary = d["summary"].replace(" (expand)", "")
    return f"{d['severity']}: {summary}{place}"


def diagnostics(said):
    """Each once: how often a mistake is repeated is no fact."""
    return sorted(set(map(diagnostic, said)))


def event(e):
    """What happens to which object, as one line; None for what is no fact about the engine."""
    if e["type"] in ("planned_change", "resource_drift"):
        change = e["change"]
        line = f"{e['type']} {change['action']} {change['resource']['addr']}"
        if change.get("previous_resource"):
            line += f" from {change['previous_resource']['addr']}"
        if change.get("reason"):
            line += f" because {change['reason']}"
        return line
    if "hook" in e:
        hook = e["hook"]
        parts = [e["type"], hook.get("action", ""), hook["resource"]["addr"]]
        return " ".join(p for p in parts if p)
    return None


# Provider's own sentences that end up in results of checks; ours differ after the colon.
SUMMARIES = ("Unable to find remote state: ",)


def without_sentences(value):
    if isinstance(value, dict):
        return {k: without_sentences(v) for k, v in value.items()}
    if isinstance(value, list):
        return [without_sentences(v) for v in value]
    if isinstance(value, str):
        for summary in SUMMARIES:
            if value.startswith(summary):
                return summary + "..."
    return value


def run(recorded):
    """Facts of one command: exit code, events, diagnostics, counts, outputs, plan as JSON."""
    kept = {"exit": recorded["exit"]}
    events = recorded.get("events", [])
    lines = sorted(filter(None, map(event, events)))
    if lines:
        kept["events"] = lines
    said = diagnostics(e["diagnostic"] for e in events if e["type"] == "diagnostic")
    if said:
        kept["diagnostics"] = said
    for e in events:
        if e["type"] == "change_summary":
            kept["counts"] = {k: v for k, v in e["changes"].items() if k != "operation"}
        if e["type"] == "outputs":
            kept["outputs"] = e["outputs"]
    if recorded.get("summary_line"):
        kept["summary_line"] = recorded["summary_line"]
    plan = recorded.get("json")
    if plan is not None:
        plan = dict(plan)
        for key in ("terraform_version", "timestamp", "format_version"):
            plan.pop(key, None)
        # The state before a plan is what the step before has left.
        plan.pop("prior_state", None)
        kept["json"] = without_sentences(plan)
    return kept


def configs(recordings):
    """`configs/`: configurations, step by step, and what validate, plan, apply and the state become.

    `NAME/stepN/` holds the files of a step, `NAME/case.json` the rest: per step the arguments and
    environment of plan, and the facts of each command. Everything that is no fact about the language
    or the engine (versions, times, sentences) is left out.
    """
    target = HERE / "configs"
    shutil.rmtree(target, ignore_errors=True)
    count = 0
    for source in sorted((recordings / "configs").iterdir()):
        if not (source / "case.json").is_file():
            continue
        case = json.loads((source / "case.json").read_text(encoding="utf-8"))
        steps = []
        for number, step in enumerate(case["steps"], 1):
            name = f"step{number}"
            shutil.copytree(source / name, target / source.name / name)
            expected = json.loads((source / f"{name}.expect.json").read_text(encoding="utf-8"))
            kept = {k: step[k] for k in ("env", "plan_args") if k in step}
            if "pre" in step:
                kept["before"] = [
                    {"command": p["cmd"], "exit": p["exit"]} for p in expected["pre"]
                ]
            checked = expected["validate"]["json"]
            kept["validate"] = {"exit": expected["validate"]["exit"]}
            if checked["diagnostics"]:
                kept["validate"]["diagnostics"] = diagnostics(checked["diagnostics"])
            for command in ("plan", "apply", "second_plan"):
                if command in expected:
                    kept[command] = run(expected[command])
            if "state" in expected:
                state = dict(expected["state"])
                for key in ("lineage", "serial", "terraform_version", "version"):
                    state.pop(key, None)
                kept["state"] = without_sentences(state)
                kept["state_list"] = expected["state_list"]
                shown = expected["show_state"]["json"]
                kept["show_state"] = without_sentences(
                    {k: v for k, v in shown.items() if k in ("values", "checks")}
                )
            steps.append(kept)
        write_case(target / source.name / "case.json", case["desc"], steps)
        count += 1
    print(f"configs: {count} cases")


def write_case(path, description, steps):
    """One line per command, so that a difference between recordings can be read."""
    parts = []
    for step in steps:
        lines = [f"   {json.dumps(k)}: {compact(step[k])}" for k in step]
        parts.append("  {\n" + ",\n".join(lines) + "\n  }")
    text = "{\n" + f' "description": {json.dumps(description)},\n "steps": [\n'
    text += ",\n".join(parts) + "\n ]\n}\n"
    json.loads(text)
    path.write_text(text, encoding="utf-8", newline="\n")


MAKERS = {
    "configs": configs,
    "console": console,
    "fmt": fmt,
    "functions": functions,
}


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    recordings = pathlib.Path(sys.argv[1])
    for name in sys.argv[2:] or MAKERS:
        MAKERS[name](recordings)


if __name__ == "__main__":
    main()
