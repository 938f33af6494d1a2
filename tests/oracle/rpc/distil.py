#!/usr/bin/env python3
"""Distils recorded provider calls into `calls.jsonl` beside this script.

    tests/oracle/rpc/distil.py RECORDINGS

RECORDINGS is a directory of recordings, one JSON file per scenario, of what Terraform 1.11.4 asked of
a recording provider over protocol 6; it is needed only to make the data anew, never to build or test.

A line is one call: `scenario`, `call` (plan, apply, read, validate), `type`, and the values as hex of
their MessagePack: `config`, `prior`, `proposed`, `planned`, `new`. `legacy` tells that the answer
claimed the legacy type system, `inconsistent` that Terraform then refused the answer. Calls of the
same content are kept once.

And into `scenarios.jsonl`, a line a scenario: its steps, each with the configuration, arguments of
plan, the calls of validate, plan and apply in order (requests and answers), and what came of them:
changes, drift, summaries of diagnostics, resources of the state.
"""
import json
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
CALLS = {
    "PlanResourceChange": ("plan", {"config": "config", "prior": "prior_state",
                                    "proposed": "proposed_new_state"}, {"planned": "planned_state"}),
    "ApplyResourceChange": ("apply", {"config": "config", "prior": "prior_state",
                                      "planned": "planned_state"}, {"new": "new_state"}),
    "ReadResource": ("read", {"prior": "current_state"}, {"new": "new_state"}),
    "ValidateResourceConfig": ("validate", {"config": "config"}, {}),
}


def hex_of(side, name):
    value = side.get(name)
    return value.get("msgpack_hex") if isinstance(value, dict) else None


def calls(scenario, step):
    for phase in step.values():
        if not isinstance(phase, dict):
            continue
        refused = any("inconsistent" in d.get("summary", "") or "invalid" in d.get("summary", "")
                      for d in phase.get("diags", []))
        for rpc in phase.get("rpcs", []):
            if rpc["rpc"] not in CALLS or rpc["request"].get("type_name") != "rec_thing":
                continue
            call, asked, answered = CALLS[rpc["rpc"]]
            out = {"scenario": scenario, "call": call, "type": "rec_thing"}
            for ours, theirs in asked.items():
                out[ours] = hex_of(rpc["request"], theirs)
            for ours, theirs in answered.items():
                out[ours] = hex_of(rpc["response"], theirs)
            out = {k: v for k, v in out.items() if v is not None}
            if rpc["response"].get("legacy_type_system"):
                out["legacy"] = True
            if refused and call in ("plan", "apply"):
                out["inconsistent"] = True
            yield out


# Schemas are written out beside the tests.
LEFT_OUT = {"GetProviderSchema"}


def side(values):
    """One side of a call: values as hex, the rest as it is."""
    out = {}
    for name, value in values.items():
        if name in ("client_capabilities", "type_name", "terraform_version"):
            continue
        if name == "raw_state":
            # its spaces differ with where it was kept
            out[name] = json.loads(value["json"])
            continue
        out[name] = value["msgpack_hex"] if isinstance(value, dict) and "msgpack_hex" in value else value
    return out


def scenario(name, recording):
    steps = []
    for step in recording["steps"]:
        kept = {"config": step["config"], "args": step.get("plan", {}).get("args", []), "calls": []}
        for phase in ("validate", "plan", "apply"):
            facts = step.get(phase)
            if facts is None:
                continue
            said = facts["diags"] if "diags" in facts else facts["json"]["diagnostics"]
            kept[phase] = {
                "exit": facts["exit"],
                "diagnostics": sorted({f"{d['severity']}: {d['summary']}" for d in said}),
            }
            for key in ("resource_changes", "resource_drift"):
                if facts.get(key):
                    kept[phase][key] = facts[key]
            kept["calls"] += [
                {"in": phase, "rpc": c["rpc"], "type": c["request"].get("type_name"),
                 "asked": side(c["request"]), "answer": side(c["response"])}
                for c in facts["rpcs"] if c["rpc"] not in LEFT_OUT
            ]
        if "state_resources" in step:
            kept["resources"] = step["state_resources"]
        steps.append(kept)
    return {"scenario": name, "description": recording["desc"], "steps": steps}


def scenarios(recordings):
    count = 0
    with open(HERE / "scenarios.jsonl", "w", encoding="utf-8", newline="\n") as file:
        for path in sorted(recordings.glob("*.json")):
            line = scenario(path.stem, json.loads(path.read_text(encoding="utf-8")))
            file.write(json.dumps(line, sort_keys=True, separators=(",", ":")) + "\n")
            count += 1
    print(f"scenarios.jsonl: {count} scenarios")


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    seen = set()
    count = 0
    with open(HERE / "calls.jsonl", "w", encoding="utf-8", newline="\n") as file:
        for path in sorted(pathlib.Path(sys.argv[1]).glob("*.json")):
            recording = json.loads(path.read_text(encoding="utf-8"))
            for step in recording["steps"]:
                for call in calls(path.stem, step):
                    content = json.dumps({k: v for k, v in call.items() if k != "scenario"},
                                         sort_keys=True)
                    if content not in seen:
                        seen.add(content)
                        file.write(json.dumps(call, sort_keys=True) + "\n")
                        count += 1
    print(f"calls.jsonl: {count} calls")
    scenarios(pathlib.Path(sys.argv[1]))


if __name__ == "__main__":
    main()
