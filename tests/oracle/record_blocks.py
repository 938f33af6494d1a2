#!/usr/bin/env python3
"""Asks a `terraform` what it does, and writes the answers to `blocks/NAME/case.json`.

    tests/oracle/record_blocks.py [NAME...]

A case is a folder: `case.json` has a description and, per step, arguments of plan; `stepN/` has the
files of a step. The folder of a run keeps its state from step to step. Each step is validated,
planned, applied as a saved plan and planned again; the facts are kept in the form of `configs/`
(see distil.py), where ids have the names of the objects that they belong to. A new case needs
`{"description": "...", "steps": [{}, ...]}` and the folders; this fills in the rest.

Needs Terraform 1.11.4 on the path, and nothing else: only the built-in provider is used.
"""
import concurrent.futures
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import distil

CASES = pathlib.Path(__file__).resolve().parent / "blocks"
SUMMARIES = ("Plan: ", "No changes", "You can apply this plan", "Changes to Outputs:")
ID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")


class Run:
    """The folder of one case while it is recorded."""

    def __init__(self, folder):
        self.folder = folder
        self.names = {}

    def terraform(self, *arguments):
        environment = {
            **{k: v for k, v in os.environ.items() if not k.startswith("TF_")},
            "CHECKPOINT_DISABLE": "1",
            "TF_IN_AUTOMATION": "1",
            "TF_INPUT": "0",
        }
        done = subprocess.run(
            ["terraform", *arguments],
            cwd=self.folder,
            env=environment,
            capture_output=True,
            text=True,
        )
        return done.returncode, done.stdout

    def streamed(self, *arguments):
        code, out = self.terraform(*arguments)
        events = [json.loads(line) for line in out.splitlines() if line.startswith("{")]
        return {"exit": code, "events": events}

    def name_ids(self, state):
        """Gives each new id the name of the address where it is first seen."""
        for resource in state.get("resources", []):
            module = resource.get("module", "")
            address = (module + "." if module else "") + f"{resource['type']}.{resource['name']}"
            for instance in resource["instances"]:
                id = instance.get("attributes", {}).get("id")
                if not id or id in self.names:
                    continue
                key = instance.get("index_key")
                name = address + ("" if key is None else f"[{json.dumps(key)}]")
                taken = sum(n.rstrip(">").split("#")[0] == f"<id:{name}" for n in self.names.values())
                self.names[id] = f"<id:{name}#{taken + 1}>" if taken else f"<id:{name}>"

    def named(self, value):
        text = json.dumps(value)
        return json.loads(ID.sub(lambda m: json.dumps(self.names.get(m[0], m[0]))[1:-1], text))


def replace_files(folder, source):
    for entry in folder.iterdir():
        if entry.name == ".terraform" or entry.name.startswith("terraform.tfstate"):
            continue
        shutil.rmtree(entry) if entry.is_dir() else entry.unlink()
    shutil.copytree(source, folder, dirs_exist_ok=True)


def record_step(run, step, source):
    replace_files(run.folder, source)
    code, out = run.terraform("init", "-no-color")
    kept = {k: step[k] for k in ("plan_args",) if k in step}
    if code != 0:
        # A configuration that cannot be loaded: what validate says of it tells why.
        pass
    code, out = run.terraform("validate", "-json")
    said = json.loads(out)["diagnostics"]
    kept["validate"] = {"exit": code}
    if said:
        kept["validate"]["diagnostics"] = distil.diagnostics(said)
    arguments = step.get("plan_args", [])
    plan = run.streamed("plan", "-json", "-detailed-exitcode", "-out=plan", *arguments)
    if plan["exit"] != 1:
        plan["json"] = json.loads(run.terraform("show", "-json", "plan")[1])
        shown = run.terraform("show", "-no-color", "plan")[1].splitlines()
        plan["summary_line"] = next((l for l in shown if l.startswith(SUMMARIES)), "")
    kept["plan"] = run.named(distil.run(plan))
    if plan["exit"] == 1:
        return kept
    applied = run.streamed("apply", "-json", "plan")
    path = run.folder / "terraform.tfstate"
    empty = {"check_results": None, "outputs": {}, "resources": []}
    state = json.loads(path.read_text()) if path.exists() else empty
    run.name_ids(state)
    kept["apply"] = run.named(distil.run(applied))
    again = [a for a in arguments if a != "-destroy"]
    kept["second_plan"] = run.named(
        distil.run(run.streamed("plan", "-json", "-detailed-exitcode", *again))
    )
    for key in ("lineage", "serial", "terraform_version", "version"):
        state.pop(key, None)
    kept["state"] = run.named(distil.without_sentences(state))
    kept["state_list"] = run.terraform("state", "list")[1].splitlines()
    shown = json.loads(run.terraform("show", "-json")[1])
    shown = {k: v for k, v in shown.items() if k in ("values", "checks")}
    kept["show_state"] = run.named(distil.without_sentences(shown))
    return kept


def record(name):
    path = CASES / name / "case.json"
    case = json.loads(path.read_text(encoding="utf-8"))
    with tempfile.TemporaryDirectory() as folder:
        run = Run(pathlib.Path(folder))
        steps = [
            record_step(run, step, CASES / name / f"step{number}")
            for number, step in enumerate(case["steps"], 1)
        ]
    distil.write_case(path, case["description"], steps)
    return name


def main():
    names = sys.argv[1:] or sorted(p.parent.name for p in CASES.glob("*/case.json"))
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        for name in pool.map(record, names):
            print(name)


if __name__ == "__main__":
    main()
