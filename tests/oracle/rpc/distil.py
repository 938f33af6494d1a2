#!/usr/bin/env python3
"""Distils recorded provider calls into `calls.jsonl` beside this script.

    tests/oracle/rpc/distil.py RECORDINGS

RECORDINGS is a directory of recordings, one JSON file per scenario, of what Terraform 1.11.4 asked of
a recording provider over protocol 6; it is needed only to make the data anew, never to build or test.

A line is one call: `scenario`, `call` (plan, apply, read, validate), `type`, and the values as hex of
their MessagePack: `config`, `prior`, `proposed`, `planned`, `new`. `legacy` tells that the answer
claimed the legacy type system, `inconsistent` that Terraform then refused the answer. Calls of the
same content are kept once.
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


if __name__ == "__main__":
    main()
