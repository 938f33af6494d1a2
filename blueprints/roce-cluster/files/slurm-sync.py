#!/usr/bin/env python3
"""Brings Slurm's files from the bucket to /etc/slurm, and completes them with what only the running
cluster knows: the processor's shape and the blocks on which the nodes stand.

Run by the controller at boot and every few minutes. Slurm is restarted only when a file changed, and
then tells its nodes, which keep no files of their own, to fetch them anew. A file is taken only if its hash is the one in the controller's own metadata, for jobs may write to the
bucket but not to the metadata. Python 3.8 or newer, standard library only.
"""

import hashlib
import json
import os
import pathlib
import re
import subprocess
import sys
import time
import urllib.parse
import urllib.request

METADATA = "http://metadata.google.internal/computeMetadata/v1/"
TARGET = pathlib.Path("/etc/slurm")
REPORTS = pathlib.Path("/home/.slurm/hardware")


# What is pure, and tested without a cloud.


def expand(node_set):
    """Names of a set such as a-gpu-[0-3]; of a single name, itself."""
    match = re.fullmatch(r"(.*)\[(\d+)-(\d+)\](.*)", node_set)
    if not match:
        return [node_set]
    head, first, last, tail = match.groups()
    return [f"{head}{i}{tail}" for i in range(int(first), int(last) + 1)]


def node_sets(conf):
    """The node sets that slurm.conf declares, in order."""
    return re.findall(r"^NodeName=(\S+)", conf, flags=re.MULTILINE)


def complete_nodes(conf, report):
    """slurm.conf with the shape of the processor from a line of slurmd -C.

    Left alone: a conf that gives the shape already, and a report whose shape does not make up the
    CPUs that the conf declares (then the facts and the machine disagree, and Slurm will say so).
    """
    facts = dict(re.findall(r"(\w+)=(\S+)", report))
    names = {"Sockets": "SocketsPerBoard", "CoresPerSocket": "CoresPerSocket", "ThreadsPerCore": "ThreadsPerCore"}
    try:
        shape = {ours: int(facts.get(theirs, facts.get(ours, ""))) for ours, theirs in names.items()}
        boards = int(facts.get("Boards", "1"))
    except ValueError:
        return conf
    shape["Sockets"] *= boards
    cpus = shape["Sockets"] * shape["CoresPerSocket"] * shape["ThreadsPerCore"]

    def completed(line):
        text = line.group(0)
        declared = re.search(r"\bCPUs=(\d+)", text)
        if "Sockets=" in text or not declared or int(declared[1]) != cpus:
            return text
        words = " ".join(f"{name}={count}" for name, count in shape.items())
        return text.replace(declared[0], f"{declared[0]} {words}", 1)

    return re.sub(r"^NodeName=.*$", completed, conf, flags=re.MULTILINE)


def block_of(instance):
    """The block an instance stands on, as its resource status tells; None where it does not."""
    status = instance.get("resourceStatus", {})
    place = status.get("physicalHostTopology", {})
    return place.get("block")


def topology(base, nodes, instances):
    """topology.conf with one switch per block, each node once.

    The file as planned is kept until every node is known to stand on some block: half a truth would
    leave the others without a switch.
    """
    by_name = {i["name"]: block_of(i) for i in instances}
    if not nodes or any(not by_name.get(n) for n in nodes):
        return base
    blocks = {}
    for node in nodes:
        name = re.sub(r"[^A-Za-z0-9_-]", "-", by_name[node])
        blocks.setdefault(name, []).append(node)
    lines = ["# Written by slurm-sync from the places the nodes were given."]
    lines += [f"SwitchName={name} Nodes={','.join(members)}" for name, members in sorted(blocks.items())]
    if len(blocks) > 1:
        lines.append(f"SwitchName=spine Switches={','.join(sorted(blocks))}")
    return "\n".join(lines) + "\n"


# What talks to the machine and to Google.


def metadata(path):
    request = urllib.request.Request(METADATA + path, headers={"Metadata-Flavor": "Google"})
    with urllib.request.urlopen(request, timeout=10) as answer:
        return answer.read().decode()


def google(url):
    token = json.loads(metadata("instance/service-accounts/default/token"))["access_token"]
    request = urllib.request.Request(url, headers={"Authorization": f"Bearer {token}"})
    with urllib.request.urlopen(request, timeout=30) as answer:
        return answer.read()


def fetch(bucket, name, wanted):
    path = urllib.parse.quote(f"slurm/{name}", safe="")
    text = google(f"https://storage.googleapis.com/storage/v1/b/{bucket}/o/{path}?alt=media")
    found = hashlib.sha256(text).hexdigest()
    if found != wanted:
        raise SystemExit(f"{name}: the bucket holds {found}, the metadata wants {wanted}; left as it was")
    return text.decode()


def instances_of(cluster):
    project = metadata("project/project-id")
    zone = metadata("instance/zone").split("/")[-1]
    query = {"filter": f"labels.formwork-cluster={cluster}", "maxResults": "500"}
    found = []
    while True:
        url = f"https://compute.googleapis.com/compute/v1/projects/{project}/zones/{zone}/instances"
        page = json.loads(google(f"{url}?{urllib.parse.urlencode(query)}"))
        found += page.get("items", [])
        if not page.get("nextPageToken"):
            return found
        query["pageToken"] = page["nextPageToken"]


def first_report(nodes):
    for node in nodes:
        try:
            return (REPORTS / node).read_text()
        except OSError:
            continue
    return ""


def differs(name, text):
    """Whether a file of /etc/slurm is not there yet, or holds something else."""
    path = TARGET / name
    return not path.exists() or path.read_text() != text


def write(name, text):
    """Writes a file of /etc/slurm in one step."""
    path = TARGET / name
    partial = path.with_name(f".{name}.new")
    partial.write_text(text)
    partial.chmod(0o644)
    os.replace(partial, path)


def install(files, run=subprocess.run, pause=time.sleep):
    """Writes what changed, restarts Slurm with it and has the nodes fetch it.

    A mark stays beside the files until all of that is done, so that a run that was cut short is made
    up for by the next one.
    """
    TARGET.mkdir(mode=0o755, parents=True, exist_ok=True)
    unfinished = TARGET / ".slurm-sync-unfinished"
    changed = [name for name, text in files.items() if differs(name, text)]
    if not changed and not unfinished.exists():
        return
    unfinished.touch()
    for name in changed:
        write(name, files[name])
    print(f"changed: {', '.join(changed) or 'nothing since a run that was cut short'}")
    run(["systemctl", "restart", "slurmctld"], check=True)
    # It answers only once it has read its state.
    for _ in range(24):
        if run(["scontrol", "reconfigure"], check=False).returncode == 0:
            unfinished.unlink()
            return
        pause(5)
    raise SystemExit("slurmctld was restarted, but does not take scontrol reconfigure; the next run tries again")


def main():
    cluster = sys.argv[1]
    bucket = metadata("instance/attributes/slurm-bucket")
    wanted = json.loads(metadata("instance/attributes/slurm-files"))
    files = {name: fetch(bucket, name, sha) for name, sha in sorted(wanted.items())}
    nodes = [n for s in node_sets(files["slurm.conf"]) for n in expand(s)]
    files["slurm.conf"] = complete_nodes(files["slurm.conf"], first_report(nodes))
    try:
        files["topology.conf"] = topology(files["topology.conf"], nodes, instances_of(cluster))
    except OSError as problem:
        print(f"topology.conf stays as planned: {problem}")
    install(files)


if __name__ == "__main__":
    main()
