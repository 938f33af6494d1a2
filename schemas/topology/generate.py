#!/usr/bin/env python3
"""Distils schemas/topology/data/machines.json out of a facts folder.

Usage: generate.py SHARED_DIR

SHARED_DIR/facts/accelerators.json is the collected table (one object per machine type, each with
its sources). This script only renames, groups and classifies: it never fills in what the table
leaves null. Every text it classifies must be one it knows; a new one stops it, so that a change of
the facts is looked at by a person.

The output's format is described in docs/formats/machine-facts.md.
"""

import json
import pathlib
import re
import sys

FORMAT = 1
# Raised by hand whenever the content of the distilled file changes.
REVISION = 1

FABRICS = {
    "RoCEv2, VM": "rocev2-vm",
    "RoCEv2, bare metal": "rocev2-metal",
    "GPUDirect-TCPX": "gpudirect-tcpx",
    "GPUDirect-TCPXO": "gpudirect-tcpxo",
    "Cloud RDMA (Falcon)": "falcon",
    "TPU (ICI between chips; gVNIC to VPC)": "tpu-ici",
    "standard VPC": "standard",
    "standard VPC (1 NIC)": "standard",
    None: None,
}

# (compact policies, workload policies, GKE placement_policy) as the table's word says.
PLACEMENTS = {
    "compact": (True, None, None),
    "compact / workload policy": (True, True, None),
    "workload policy": (None, True, None),
    "GKE placement_policy": (None, None, True),
    "none": (False, False, False),
    None: (None, None, None),
}

CAPACITY = ["standard", "spot", "flex_start", "reservation_bound", "reservation_required"]


def role_of(interface):
    """host, gpu (GPU traffic over gVNIC) or rdma, from the table's free text."""
    kind = interface.get("nic_type", interface.get("type"))
    text = interface.get("role", interface.get("basis"))
    if kind in ("MRDMA", "IRDMA"):
        return "rdma"
    if text.startswith("GPU NICs"):
        return "gpu"
    if text.startswith("host") or text.endswith("on the main VPC"):
        return "host"
    raise SystemExit(f"no role known for {interface}")


def sources_of(machine, table):
    keys = []
    for text in machine["sources"]:
        text = re.sub(r" \((text copies ids|excerpt id) [^)]*\)", "", text)
        text = re.sub(r"; (pages|docs) search\)", ")", text)
        text = re.sub(r", number of Local SSD disks.*", "", text)
        text = re.sub(r" \(requirement document\)", "", text)
        text = re.sub(r"; text copy id \d+", "", text)
        keys.append(table.setdefault(text, f"s{len(table) + 1}"))
    return keys


def distil(m, table):
    network, ssd, placement = m["network"], m["local_ssd"], m["placement"]
    mtu = network["mtu"] or {}
    count = m["accelerator_count"]
    speed = m["max_bandwidth_gbps"]
    by_region = speed if isinstance(speed, dict) else None
    detail = placement["detail"] or ""
    compact, workload, gke = PLACEMENTS[placement["kind"]]
    topology = re.search(r"\b(\d+x\d+)\b", detail)
    largest = re.search(r"GKE (?:max|COMPACT \(max|compact placement up to) (\d+) nodes", detail)
    tpu = m["tpu"]
    if tpu:
        shapes = tpu["topologies"]
        rule = None
        if isinstance(shapes, dict):
            rule, shapes = shapes["large"], shapes["small"]
        tpu = {
            "version": tpu["version"],
            "chips_per_vm": tpu["chips_per_vm"],
            "topology_dimensions": tpu["topology_dims"],
            "topologies": shapes,
            "larger_topologies": rule,
            "max_chips": tpu["max_chips"],
            "numa_nodes": tpu["numa_nodes"],
            "topology_setting": {
                "GKE placement_policy.tpu_topology": "placement-policy",
                "workload policy accelerator_topology": "workload-policy",
                None: None,
            }[tpu["topology_setting"]],
        }
    interfaces = m["nic_interfaces"]
    return {
        "family": m["family"],
        "kind": m["kind"],
        "architecture": m["arch"],
        "cpu_platform": m["cpu_platform"],
        "vcpus": m["vcpus"],
        "memory_gib": m["memory_gb"],
        "cpu": {"sockets": None, "cores_per_socket": None, "threads_per_core": None},
        "accelerator": {
            "type": m["accelerator_type"],
            "model": m["accelerator_model"],
            "count": None if isinstance(count, list) else count,
            "counts": count if isinstance(count, list) else None,
            "memory_gb_each": m["accelerator_memory_gb_each"],
        },
        "local_ssd": {
            "included": ssd["included"],
            "disks": ssd["disks"],
            "gib_per_disk": ssd["gib_per_disk"],
            "total_gib": ssd["total_gib"],
            "optional_disk_counts": ssd.get("optional_disk_counts"),
            "max_total_gib": ssd.get("max_total_gib"),
        },
        "physical_nics": m["physical_nics"],
        "max_bandwidth_gbps": by_region["other"] if by_region else speed,
        "max_bandwidth_gbps_by_region": (
            {k: v for k, v in by_region.items() if k != "other"} if by_region else None
        ),
        "interfaces": interfaces
        and [
            {
                "nic_type": i.get("nic_type", i.get("type")),
                "role": role_of(i),
                "count": i["count"],
            }
            for i in interfaces
        ],
        "network": {
            "fabric": FABRICS[network["kind"]],
            "host_networks": regular(network, interfaces, "regular_vpcs"),
            "host_subnetworks": regular(network, interfaces, "regular_subnets"),
            "gpu_networks": gpu_networks(interfaces, network),
            "rdma_networks": network["rdma_vpcs"],
            "rdma_subnetworks": network["rdma_subnets"],
            "rdma_subnetworks_predefined": (
                True if network["kind"] == "RoCEv2, bare metal"
                else False if network["rdma_vpcs"] else None
            ),
            "profile": network["network_profile_pattern"],
            "host_mtu": mtu.get("regular"),
            "gpu_mtu": mtu.get("gpu"),
            "rdma_mtu": mtu.get("rdma"),
        },
        "capacity": {k: m["provisioning"][k] for k in CAPACITY},
        "placement": {
            "compact": compact,
            "workload_policy": workload,
            "gke_placement_policy": gke,
            "from_reservation": True if detail.startswith("reservation: placement comes") else None,
            "group_collocation": "COLLOCATED" if "COLLOCATED" in detail else None,
            "group_gpu_topology": (
                topology and topology[1] if "group placement" in detail else None
            ),
            "accelerator_topology": (
                topology and topology[1] if "acceleratorTopology" in detail else None
            ),
            "gke_max_nodes": int(largest[1]) if largest else None,
        },
        "boot_disk_types": m["boot_disk_types"],
        "gke": {
            "accelerator_label": m["gke"]["accelerator_label"],
            "gpudirect_stack": m["gke"]["gpudirect_stack"],
            "min_extra_networks": m["gke"]["min_extra_networks"],
            "dranet": m["gke"]["dranet"],
        },
        "tpu": tpu,
        "without_local_ssd": m["variants"],
        "notes": [n for n in [m["provisioning"]["note"], placement["detail"], *m["notes"]] if n],
        "sources": sources_of(m, table),
    }


def gpu_networks(interfaces, network):
    """VPCs that carry GPU traffic over gVNIC: one per interface of that role."""
    if interfaces is None:
        return None if network["extra_gvnic_vpcs"] is None else 0
    return sum(i["count"] for i in interfaces if role_of(i) == "gpu")


def regular(network, interfaces, key):
    """Networks (or subnetworks) of the host interfaces: the regular ones without the GPU ones."""
    count = network[key]
    return None if count is None else count - (gpu_networks(interfaces, network) or 0)


def main():
    facts = json.loads(pathlib.Path(sys.argv[1], "facts", "accelerators.json").read_text())
    table = {}
    machines = {}
    for m in facts:
        name = m["machine_type"].removesuffix(" (custom attach)")
        for twin in m["variants"]:
            assert twin.endswith("-nolssd"), twin
        assert name not in machines, name
        machines[name] = distil(m, table)
    out = {
        "format": FORMAT,
        "revision": REVISION,
        "sources": {key: text for text, key in table.items()},
        "machines": machines,
    }
    path = pathlib.Path(__file__).parent / "data" / "machines.json"
    path.write_text(json.dumps(out, indent=1, ensure_ascii=False) + "\n")
    print(f"{len(machines)} machine types, {path.stat().st_size} bytes")


if __name__ == "__main__":
    main()
