#!/usr/bin/env python3
"""Distils what google_* types look like and how they map to REST.

usage: generate.py SHARED_DIR

reads   SHARED_DIR/facts/resource-map.json            facts about 143 resource types
        SHARED_DIR/facts/google-provider-schema.json  types and flags of every field
        ../discovery/data/*.json.gz                   the pruned discovery documents
        overlay.json                                  corrections and additions by hand
        data/known-types.txt                          its names stay: some have no other source
writes  data/resources.jsonl.gz, data/data-sources.jsonl.gz   one type per line, sorted
        data/known-types.txt                          with the names of the facts added

Every mapped field is looked up in its discovery document: the wire's type is recorded with it, and a
field that is not there stands in `unmapped` and is never sent. The reader is src/decode.rs; the keys
are explained there.
"""

import gzip
import io
import json
import pathlib
import re
import sys

HERE = pathlib.Path(__file__).resolve().parent
SHARED = pathlib.Path(sys.argv[1])
MAP = json.loads((SHARED / "facts/resource-map.json").read_text())
FACTS = json.loads((SHARED / "facts/google-provider-schema.json").read_text())
OVERLAY = json.loads((HERE / "overlay.json").read_text())

DOCS = {}
for path in sorted((HERE.parent / "discovery/data").glob("*.json.gz")):
    DOCS[path.name.removesuffix(".json.gz")] = json.loads(gzip.decompress(path.read_bytes()))

SUPPRESS = {
    "CompareSelfLinkOrResourceName": "link_or_name",
    "CompareSelfLinkRelativePaths": "link",
    "compareSelfLinkRelativePathsIgnoreParams": "link",
    "CompareResourceNames": "last_segment",
    "CompareCryptoKeyVersions": "key_version",
    "CompareIpAddressOrSelfLinkOrResourceName": "link_or_name",
    "CaseDiffSuppress": "case",
    "IpCidrRangeDiffSuppress": "netmask",
    "IpDiffSuppress": "address",
    "InternalIpDiffSuppress": "address",
    "ipv6RepresentationDiffSuppress": "address",
    "DurationDiffSuppress": "duration",
    "durationDiffSuppress": "duration",
    "TimestampDiffSuppress(time.RFC3339Nano)": "time",
    "Rfc3339TimeDiffSuppress": "time",
    "DiskImageDiffSuppress": "image",
    "PortRangeDiffSuppress": "port_range",
    "CidrOrSizeDiffSuppress": "netmask",
    "Base64DiffSuppress": "base64",
    "OptionalSurroundingSpacesSuppress": "trim",
    "AddressIpCollectionDiffSuppress": "link_or_name",
    "IpCollectionDiffSuppress": "link_or_name",
    "sourceDiskDiffSuppress": "link_or_name",
    "HourlyFormatSuppressDiff": "hourly",
    "diffSuppressEnableLogging": "",
    "ComputeInstanceMinCpuPlatformEmptyOrAutomaticDiffSuppress": "default:Automatic",
    "ProjectNumberDiffSuppress": "link",
    "emptyOrUnsetBlockDiffSuppress": "empty_block",
    "EmptyOrUnsetBlockDiffSuppress": "empty_block",
}
PRIMITIVE = {"string", "int", "float", "bool"}


def camel(name):
    head, *rest = name.split("_")
    return head + "".join(p[:1].upper() + p[1:] for p in rest)


def seconds(text):
    n, unit = text.split("*")
    return int(n) * {"Second": 1, "Minute": 60, "Hour": 3600}[unit]


class Wire:
    """One discovery document's view of an object."""

    def __init__(self, doc, schema):
        self.doc, self.schema = doc, schema

    def resolve(self, node):
        seen = 0
        while node and "$ref" in node and seen < 8:
            node, seen = self.doc["schemas"].get(node["$ref"]), seen + 1
        return node

    def field(self, node, name):
        """The schema of property `name` of an object, array of objects or map, or None."""
        node = self.resolve(node)
        while node and node.get("type") == "array":
            node = self.resolve(node.get("items"))
        if not node:
            return None
        found = (node.get("properties") or {}).get(name)
        if found is None and "additionalProperties" in node and name == "value":
            return node["additionalProperties"]
        if found is None and "additionalProperties" in node:
            inner = self.resolve(node["additionalProperties"])
            if name == "key":
                return {"type": "string"}
            return (inner.get("properties") or {}).get(name)
        return found

    def kind(self, node):
        node = self.resolve(node)
        if not node:
            return "any"
        t = node.get("type")
        if t == "array":
            return "array:" + self.kind(node.get("items"))
        if "additionalProperties" in node:
            return "map:" + self.kind(node["additionalProperties"])
        if t == "object" or "properties" in node:
            return "object" if node.get("properties") else "any"
        if t == "string":
            return "int64" if node.get("format") in ("int64", "uint64") else "string"
        return {"integer": "int", "number": "number", "boolean": "bool"}.get(t, "any")


def tree(facts):
    """Dotted paths with flags -> nested nodes."""
    root = {}
    for path in sorted(facts, key=lambda p: (p.count("."), p)):
        code = facts[path]
        kind = re.match(r"[a-z]+", code).group(0)
        node = {"n": path.rsplit(".", 1)[-1], "t": kind, "f": code[len(kind):]}
        if "." not in path:
            root[path] = node
            continue
        at = root
        parts = path.split(".")
        try:
            for part in parts[:-1]:
                at = at[part].setdefault("kids", {})
        except KeyError:
            continue
        at[parts[-1]] = node
    return root


def build(facts, fields, wire, overlay, prefix):
    """The list of nodes with wire paths; returns (nodes, unmapped)."""
    defaults = fields.get("defaults", {})
    renames = dict(fields.get("renames", {}))
    renames.update(overlay.get("renames", {}))
    local = set(fields.get("provider_only", [])) | set(overlay.get("local", []))
    for name in overlay.get("mapped", []):
        local.discard(name)
    suppress = fields.get("diff_suppress", {})
    sets, single = set(fields.get("sets", [])), set(fields.get("single_blocks", []))
    sensitive, write_only = set(fields.get("sensitive", [])), set(fields.get("write_only", []))
    deprecated = fields.get("deprecated", [])
    unmapped = []

    def starts(path, head):
        return path[: len(head)] == head

    def depth_below(dotted):
        return [(p.count(".") - dotted.count("."), r.split(".")) for p, r in renames.items() if p.startswith(dotted + ".")]

    def place(dotted, node, above, scope):
        """The API path of a field relative to its parent's, and its schema; None if there is none."""
        name = node["n"]
        if dotted in renames:
            full = renames[dotted].split(".")
            rel = full[len(above):] if starts(full, above) else None
            tries = [rel] if rel is not None else []
        else:
            # The common beginning of what the renames say of anything below.
            tries, common = [], None
            for deep, path in depth_below(dotted):
                if not starts(path, above):
                    continue
                rel = path[len(above):]
                head = rel[: len(rel) - deep] if len(rel) > deep else rel[:-1]
                if common is None:
                    common = head
                else:
                    same = 0
                    while same < min(len(common), len(head)) and common[same] == head[same]:
                        same += 1
                    common = common[:same]
            if common is not None:
                tries.append(common)
            base = camel(name)
            plain = [[base], [base + "s"], [base + "es"], [re.sub("y$", "ies", base)]]
            tries = plain + tries if tries == [[]] and "kids" in node and not depth_below(dotted) else tries + [t for t in plain if t not in tries]
        for rel in tries:
            at = scope
            for part in rel:
                at = wire.field(at, part)
                if at is None:
                    break
            if at is not None:
                return rel, at
        return None

    def walk(kids, dotted_above, above, scope):
        nodes = []
        for name, node in sorted(kids.items()):
            dotted = f"{dotted_above}.{name}" if dotted_above else name
            out = {"n": name, "t": node["t"], "f": node["f"]}
            patch = overlay.get("fields", {}).get(dotted, {})
            if dotted in defaults:
                value = defaults[dotted]
                if node["t"] in ("int", "float") and isinstance(value, str):
                    value = json.loads(value)
                if not isinstance(value, (list, dict)):
                    out["d"] = value
            if dotted in sets:
                out["t"] = "set"
            if dotted in single:
                out["x"] = 1
            if dotted in sensitive:
                out["s"] = 1
            if dotted in write_only:
                out["w"] = 1
            if dotted in deprecated:
                out["dep"] = 1
            if dotted in suppress:
                raw = suppress[dotted]
                m = re.match(r'EmptyOrDefaultStringSuppress\("(.*)"\)', raw)
                kind = "default:" + m.group(1) if m else SUPPRESS.get(raw, "other:" + raw if re.match(r"^\w+$", raw) else "other")
                if kind:
                    out["sup"] = kind
            found = None
            if wire is not None and not (dotted in local) and "p" not in patch:
                found = place(dotted, node, above, scope)
                if found is None:
                    unmapped.append(dotted)
            inner_scope, inner_above = None, above
            if found:
                rel, at = found
                out["p"] = ".".join(rel)
                kind = wire.kind(at)
                resolved = wire.resolve(at)
                if node["t"] in ("list", "set") and "kids" not in node and not kind.startswith("array"):
                    # ["a", "b"] on our side, [{type: a}, {type: b}] on theirs
                    if len(rel) > 1:
                        head = scope
                        for part in rel[:-1]:
                            head = wire.field(head, part)
                        if wire.kind(head) == "array:object":
                            out["p"], out["via"], kind = ".".join(rel[:-1]), rel[-1], "array:object"
                out["wt"] = kind
                if (resolved or {}).get("readOnly"):
                    out["ro"] = 1
                leaf = resolved or {}
                if leaf.get("type") == "array":
                    leaf = wire.resolve(leaf.get("items")) or {}
                if leaf.get("enum") and ("!" in out["f"] or "?" in out["f"]):
                    out["en"] = leaf["enum"]
                inner_scope, inner_above = at, above + rel
            if node["t"] in ("list", "set") and "kids" not in node and "e" not in patch:
                elem = out.get("wt", "").removeprefix("array:")
                out["e"] = {"int": "int", "bool": "bool", "number": "float"}.get(elem, "string") if "via" not in out else "string"
            if node["t"] == "map" and "kids" not in node:
                out["e"] = "string"
            if "kids" in node:
                out["k"] = walk(node["kids"], dotted, inner_above, inner_scope) if (inner_scope is not None or wire is None) else walk_local(node["kids"], dotted)
            out.update(patch)
            if out.get("p") is None:
                out.pop("p", None)
                out.pop("wt", None)
            nodes.append(out)
        return nodes

    def walk_local(kids, dotted_above):
        nonlocal wire
        saved, wire = wire, None
        nodes = walk(kids, dotted_above, [], None)
        wire = saved
        return nodes

    scope = None
    if wire is not None:
        scope = wire.schema
        for part in prefix:
            scope = wire.field(scope, part)
    nodes = walk(tree(facts), "", prefix, scope)
    return nodes, unmapped


REFERENCES = {
    "network": "projects/{project}/global/networks/",
    "subnetwork": "projects/{project}/regions/{region}/subnetworks/",
    "snapshot": "projects/{project}/global/snapshots/",
    "next_hop_gateway": "projects/{project}/global/gateways/",
    "resource_policies": "projects/{project}/regions/{region}/resourcePolicies/",
    "nat_ips": "projects/{project}/regions/{region}/addresses/",
    "drain_nat_ips": "projects/{project}/regions/{region}/addresses/",
    "initial_nat_ips": "projects/{project}/regions/{region}/addresses/",
    "subnetwork.name": "projects/{project}/regions/{region}/subnetworks/",
    "nat64_subnetwork.name": "projects/{project}/regions/{region}/subnetworks/",
    "guest_accelerator.type": "projects/{project}/zones/{zone}/acceleratorTypes/",
    "attached_disk.source": "projects/{project}/zones/{zone}/disks/",
    "boot_disk.source": "projects/{project}/zones/{zone}/disks/",
    "boot_disk.initialize_params.type": "projects/{project}/zones/{zone}/diskTypes/",
    "google_compute_disk:type": "projects/{project}/zones/{zone}/diskTypes/",
    "google_compute_region_disk:type": "projects/{project}/regions/{region}/diskTypes/",
    "google_compute_instance:machine_type": "projects/{project}/zones/{zone}/machineTypes/",
    "google_compute_route:next_hop_vpn_tunnel": "projects/{project}/regions/{region}/vpnTunnels/",
}


def references(nodes, above, type_name):
    """Where a bare name of compute stands for a path, the path before it."""
    for node in nodes:
        dotted = f"{above}.{node['n']}" if above else node["n"]
        found = REFERENCES.get(f"{type_name}:{dotted}") or REFERENCES.get(dotted) or REFERENCES.get(node["n"])
        if found and "k" not in node and node["t"] in ("string", "list", "set") and (node.get("p") or node.get("f") != "=") and "=" != node["f"]:
            node.setdefault("ref", found)
        references(node.get("k", []), dotted, type_name)


def template(path):
    """`{{x}}` and `{x}` alike become `{x}`."""
    return re.sub(r"\{\{%?(\w+)\}\}", r"{\1}", path)


def url(entry, key, overlay):
    """A method's address below the host in terms of attributes."""
    if key in overlay.get("urls", {}):
        return overlay["urls"][key]
    method = entry["methods"].get(key)
    if not isinstance(method, dict):
        return None
    path = method["path"]
    self_, collection = entry.get("self"), entry.get("collection")
    if entry["generation"] == "mmv1":
        head = path.split("projects/")[0] if "projects/" in path else path.split("{")[0]
        own = template(collection if key in ("create", "list") else self_)
        if key == "aggregated_list":
            return path
        if key == "create" and entry.get("nested_in_parent"):
            own = template(self_)
        if key == "list" and entry.get("nested_in_parent"):
            return path
        tail = re.search(r":\w+$", path)
        return head + own.lstrip("/") + (tail.group(0) if tail and not own.endswith(tail.group(0)) else "")
    # Hand-written: path parameters are named after the thing; the last is the object's name.
    names = re.findall(r"\{(\w+)\}", path)
    out = path
    for i, name in enumerate(names):
        last = i == len(names) - 1 and key in ("read", "update", "delete")
        to = {"projectsId": "project", "locationsId": "location"}.get(name, name)
        if last and to not in ("project", "location", "zone", "region"):
            to = overlay.get("name_attribute", "name")
        out = out.replace("{%s}" % name, "{%s}" % re.sub(r"(?<!^)([A-Z])", lambda m: "_" + m.group(1).lower(), to))
    return out


def resource(name, entry):
    overlay = OVERLAY["resources"].get(name, {})
    out = {"type": name, "gen": entry["generation"]}
    facts = FACTS["google"].get("Resource:" + name) or FACTS["beta_only"].get("Resource:" + name)
    facts = dict(facts or {})
    for path, code in overlay.get("add", {}).items():
        facts[path] = code
    for path in overlay.get("drop", []):
        facts.pop(path, None)
    if not facts:
        return None
    if ("Resource:" + name) not in FACTS["google"] and ("Resource:" + name) in FACTS["beta_only"]:
        out["beta"] = 1
    fields = entry["fields"]
    out["version"] = overlay.get("version", entry.get("schema_version", 0))
    timeouts = {k: seconds(v) for k, v in (entry.get("timeouts") or {}).items()}
    out["timeouts"] = overlay.get("timeouts", timeouts)

    methods = {}
    doc_name, root = None, None
    for key, method in entry["methods"].items():
        if not isinstance(method, dict) or "path" not in method:
            continue
        method = {**method, **overlay.get("methods", {}).get(key, {})}
        doc_name = doc_name or method.get("doc")
        m = {"id": method.get("id", ""), "http": method.get("http", "GET"), "url": url(entry, key, overlay)}
        query = [q for q in method.get("query") or []]
        if "requestId" in query:
            m["rid"] = 1
        kind = (entry.get("operation") or {}).get(key)
        op = {"compute.Operation": "compute", "google.longrunning": "longrunning", "container.Operation": "container", "sql.Operation": "sql"}.get(kind)
        if op and method.get("returns") in ("Operation", "GoogleLongrunningOperation"):
            m["op"] = op
        if key == "create":
            own = [q for q in query if q.endswith("Id") and q != "requestId" and q != "clientOperationId"]
            if own and "create_query" not in overlay:
                last = re.findall(r"\{(\w+)\}", template(entry.get("self") or "{name}"))
                m["q"] = {own[0]: "{%s}" % (last[-1] if last else "name")}
        if key in overlay.get("queries", {}):
            m["q"] = overlay["queries"][key]
        methods[key] = m
    if doc_name and doc_name in DOCS:
        out["service"] = DOCS[doc_name]["rootUrl"].split("//")[1].split(".")[0]
        out["doc"] = doc_name
    elif entry.get("api"):
        out["service"] = entry["api"]["service"].split(".")[0]
    out["methods"] = methods

    read = entry["methods"].get("read")
    wire, prefix = None, []
    body = overlay.get("schema") or (read or {}).get("returns") if isinstance(read, dict) else overlay.get("schema")
    if entry.get("api", {}).get("kind") and doc_name in DOCS and entry["api"]["kind"] in DOCS[doc_name]["schemas"]:
        body = overlay.get("schema") or entry["api"]["kind"]
    if doc_name in DOCS and body in DOCS[doc_name]["schemas"] and not overlay.get("nowire"):
        wire = Wire(DOCS[doc_name], DOCS[doc_name]["schemas"][body])
        out["schema"] = body
    nested = entry.get("nested_in_parent")
    if nested:
        out["nested"] = {"keys": nested["keys"], "patch": int(bool(nested.get("modify_by_patch"))), "ids": int(bool(nested.get("is_list_of_ids")))}
        prefix = list(nested["keys"])
    if "prefix" in overlay:
        prefix = overlay["prefix"]
    if prefix:
        out["prefix"] = ".".join(prefix)
    nodes, unmapped = build(facts, fields, wire, overlay, prefix)
    params = set(entry.get("url_params_only") or []) | set(overlay.get("url_params", []))
    for node in nodes:
        if node["n"] in params:
            node["u"] = 1
            node.pop("p", None)
            node.pop("wt", None)
        if node["n"] in ("region", "zone", "location") and ("{%s}" % node["n"]) in template(entry.get("id_format", "")):
            # In the address; some services repeat it in the object, as a URL or a name.
            node["u"] = 1
            node.setdefault("flat", "name")
        if node["n"] == "project" and "p" not in overlay.get("fields", {}).get("project", {}):
            node["u"] = 1
            node.pop("p", None)
            node.pop("wt", None)
    # What is in the id cannot change under it, whatever the facts say.
    ident = set(re.findall(r"\{(\w+)\}", template(entry.get("id_format", ""))))
    for node in nodes:
        if node["n"] in ident and "#" not in node["f"] and node["f"] != "=":
            node["f"] += "#"
    if (doc_name or "").startswith("compute"):
        references(nodes, "", name)
    out["fields"] = nodes
    unmapped = [u for u in unmapped if u.split(".")[0] not in params and u not in ("project",)]
    if unmapped:
        out["unmapped"] = unmapped

    update = entry.get("update") or {}
    style = overlay.get("update_style")
    if style is None:
        if update.get("field_setters") and update.get("whole_resource_immutable"):
            style = "setters"
        elif "update" in methods:
            style = methods["update"]["http"].lower()
        else:
            style = "none"
    out["update"] = {"style": style}
    if update.get("update_mask") or overlay.get("mask"):
        out["update"]["mask"] = 1
    setters = []
    for s in overlay.get("setters", update.get("field_setters") or []):
        if s.get("http") == "NOOP" and "id" not in s:
            s = {**s, "http": "PATCH"}
        head = "compute/v1/" if (doc_name or "").startswith("compute") else ""
        path = template(s["path"])
        if not head and "update" in methods and methods["update"]["url"]:
            head = methods["update"]["url"].split("projects/")[0] if "projects/" in methods["update"]["url"] else ""
        o = {"fields": s["fields"], "http": s["http"], "url": path if path.startswith(head) and head else head + path}
        if s.get("fingerprint_field"):
            o["fp"] = s["fingerprint_field"]
        for key in ("body", "op", "shape"):
            if s.get(key):
                o[key] = s[key]
        setters.append(o)
    if setters:
        out["update"]["setters"] = setters
    out["id"] = overlay.get("id") or template(entry["id_format"])
    out["import"] = [template(f) for f in overlay.get("import", entry.get("import_formats") or [])]
    if entry.get("importable") is False:
        out["import"] = []
    for key in ("mutex", "deletion_policy", "identity"):
        if entry.get(key):
            out[key] = template(entry[key]) if key == "mutex" else entry[key]
    if (entry.get("async") or {}).get("resource_inside_response"):
        out["inside"] = 1
    if entry.get("custom_code"):
        out["code"] = entry["custom_code"]
    if overlay.get("engine"):
        out["engine"] = overlay["engine"]
    out["grade"] = entry["mapped"]["grade"] if "mapped" in entry else ""
    return out


IAM_PARENTS = OVERLAY["iam_parents"]


def iam(name, entry):
    m = re.match(r"(google_.*)_iam_(member|binding)$", name)
    if not m or m.group(1) not in IAM_PARENTS:
        return None
    parent, shape = IAM_PARENTS[m.group(1)], m.group(2)
    nodes = {k: dict(v) for k, v in parent["fields"].items()}
    nodes["role"] = {"t": "string", "f": "!#"}
    nodes["etag"] = {"t": "string", "f": "="}
    nodes["condition"] = {
        "t": "list", "f": "?#", "x": 1, "k": [
            {"n": "description", "t": "string", "f": "?#"},
            {"n": "expression", "t": "string", "f": "!#"},
            {"n": "title", "t": "string", "f": "!#"}]}
    if shape == "member":
        nodes["member"] = {"t": "string", "f": "!#", "sup": "case"}
    else:
        nodes["members"] = {"t": "set", "f": "!", "e": "string"}
    get, set_ = entry["methods"]["getIamPolicy"], entry["methods"]["setIamPolicy"]
    doc = get["doc"]
    return {
        "type": name, "gen": "iam", "version": 0, "timeouts": {}, "engine": "iam_" + shape,
        "service": DOCS[doc]["rootUrl"].split("//")[1].split(".")[0], "doc": doc,
        "methods": {
            "read": {"id": get["id"], "http": get["http"], "url": parent["get"]},
            "update": {"id": set_["id"], "http": set_["http"], "url": parent["set"]}},
        "wrapped": int(bool(entry.get("wrapped_policy_obj"))),
        "fields": [{"n": n, **nodes[n]} for n in sorted(nodes)],
        "update": {"style": "iam"}, "id": parent["id"] + "/{role}" + ("/{member}" if shape == "member" else ""),
        "import": [parent["id"] + " {role}" + (" {member}" if shape == "member" else "")],
        "deletion_policy": "", "grade": "manual",
    }


def data_source(name, entry):
    overlay = OVERLAY["data_sources"].get(name, {})
    facts = dict(FACTS["google"].get("DataSource:" + name) or {})
    facts.update(overlay.get("add", {}))
    if not facts:
        return None
    nodes, _ = build(facts, {"sets": [p for p, c in facts.items() if c.startswith("set")], **overlay.get("facts", {})}, None, {}, [])
    return {"type": name, "gen": "data", "version": 0, "timeouts": {}, "fields": nodes, "read": (entry or {}).get("read", overlay.get("read", []))}


def write(path, rows):
    text = "".join(json.dumps(r, sort_keys=True, separators=(",", ":")) + "\n" for r in rows)
    buffer = io.BytesIO()
    with gzip.GzipFile(fileobj=buffer, mode="wb", compresslevel=9, mtime=0, filename="") as z:
        z.write(text.encode())
    path.write_bytes(buffer.getvalue())
    print(f"{path.name}: {len(rows)} types, {len(text)} bytes, {len(buffer.getvalue())} compressed", file=sys.stderr)


def main():
    rows = []
    for name, entry in sorted(MAP["resources"].items()):
        row = iam(name, entry) if entry["generation"] == "iam" else resource(name, entry)
        if row is None:
            print("left out:", name, file=sys.stderr)
            continue
        rows.append(row)
        if row.get("unmapped"):
            print(name, "unmapped:", *row["unmapped"], file=sys.stderr)
    write(HERE / "data/resources.jsonl.gz", rows)
    rows = []
    for name in sorted(set(MAP["data_sources"]) | set(OVERLAY["data_sources"])):
        row = data_source(name, MAP["data_sources"].get(name))
        if row is not None:
            rows.append(row)
    write(HERE / "data/data-sources.jsonl.gz", rows)
    known_types(HERE / "data/known-types.txt")


def known_types(path):
    lines = path.read_text().splitlines(keepends=True)
    words = {"Resource": "resource", "DataSource": "data"}
    names = {line for line in lines if not line.startswith("#")}
    for key in [*FACTS["google"], *FACTS["beta_only"]]:
        kind, name = key.split(":")
        names.add(f"{words[kind]} {name}\n")
    head = [line for line in lines if line.startswith("#")]
    path.write_text("".join(head + sorted(names, key=lambda n: (n.startswith("data "), n))))


main()
