#!/usr/bin/env python3
"""Prunes Google's discovery documents to the recorded list and writes the crate's data files.

    pip download google-api-python-client==2.202.0 --no-deps && unzip google_api_python_client-*.whl
    ./generate.py googleapiclient/discovery_cache/documents

The documents are Google's (Apache-2.0; see data/NOTICE). Out of each we keep the routes of the
recorded methods and every schema they reach. Prose is dropped, but three facts that stand only in
prose are kept as flags before it goes: "output only", "required" and "immutable". Output is
deterministic: sorted keys, gzip without a time.
"""

import fnmatch
import gzip
import json
import pathlib
import re
import sys

HERE = pathlib.Path(__file__).parent
DATA = HERE / "data"

# only at the beginning: "Output only for PARTNER type" further on means that others may set it
OUTPUT_ONLY = re.compile(r"\s*(\[\s*output[- ]only\s*\]|output[- ]only[.:])", re.IGNORECASE)
REQUIRED = re.compile(r"(^|\.\s+)required\.", re.IGNORECASE)
IMMUTABLE = re.compile(r"(^|\.\s+)immutable\.", re.IGNORECASE)


def read_list(path):
    documents, current = {}, None
    for line in path.read_text().splitlines():
        line = line.strip()
        if not line or line.startswith("#"):
            continue
        if line.startswith("["):
            current = documents.setdefault(line.strip("[]"), [])
        else:
            current.append(line)
    return documents


def methods_of(node, into):
    for method in (node.get("methods") or {}).values():
        into[method["id"]] = method
    for resource in (node.get("resources") or {}).values():
        methods_of(resource, into)
    return into


def flags(node, out):
    text = node.get("description", "")
    if node.get("readOnly") or OUTPUT_ONLY.match(text):
        out["readOnly"] = True
    if REQUIRED.search(text):
        out["requiredInText"] = True
    if IMMUTABLE.search(text):
        out["immutable"] = True


def prune_type(node, refs):
    """A schema node without prose. `refs` collects the names of the schemas it points to."""
    out = {}
    for key in ("type", "$ref", "format", "pattern", "enum", "repeated", "default"):
        if key in node:
            out[key] = node[key]
    if "$ref" in node:
        refs.add(node["$ref"])
    deprecated = [v for v, gone in zip(node.get("enum", []), node.get("enumDeprecated", [])) if gone]
    if deprecated:
        out["enumDeprecated"] = deprecated
    if node.get("deprecated"):
        out["deprecated"] = True
    required = (node.get("annotations") or {}).get("required")
    if required:
        out["requiredFor"] = required
    flags(node, out)
    if "items" in node:
        out["items"] = prune_type(node["items"], refs)
    if "additionalProperties" in node:
        out["additionalProperties"] = prune_type(node["additionalProperties"], refs)
    if "properties" in node:
        out["properties"] = {k: prune_type(v, refs) for k, v in node["properties"].items()}
    return out


def prune_parameter(node):
    out = {k: node[k] for k in ("type", "format", "pattern", "enum", "location", "default") if k in node}
    for key in ("required", "repeated", "deprecated"):
        if node.get(key):
            out[key] = True
    return out


def prune_method(method, refs):
    out = {"http": method["httpMethod"], "path": method["path"]}
    if method.get("flatPath", method["path"]) != method["path"]:
        out["flatPath"] = method["flatPath"]
    order = list(method.get("parameterOrder", []))
    parameters = method.get("parameters", {})
    order += sorted(p for p in parameters if p not in order)
    out["parameters"] = [dict(prune_parameter(parameters[p]), name=p) for p in order]
    for key in ("request", "response"):
        if "$ref" in method.get(key, {}):
            out[key] = method[key]["$ref"]
            refs.add(out[key])
    upload = method.get("mediaUpload")
    if upload:
        out["mediaUpload"] = {k: v["path"] for k, v in upload["protocols"].items()}
    if method.get("supportsMediaDownload"):
        out["mediaDownload"] = True
    return out


def prune(document, patterns, name):
    every = methods_of(document, {})
    chosen, refs = {}, set()
    for pattern in patterns:
        # `*` stands for one last part: `iam.projects.*` does not mean `iam.projects.roles.list`
        hits = [i for i in every if fnmatch.fnmatchcase(i, pattern) and i.count(".") == pattern.count(".")]
        if not hits:
            sys.exit(f"{name}: nothing matches {pattern}")
        for method_id in hits:
            chosen[method_id] = prune_method(every[method_id], refs)
    schemas = {}
    while refs:
        wanted, refs = refs, set()
        for schema in wanted:
            if schema not in schemas:
                schemas[schema] = prune_type(document["schemas"][schema], refs)
    return {
        "service": document["name"],
        "version": document["version"],
        "revision": document["revision"],
        "rootUrl": document["rootUrl"],
        "servicePath": document["servicePath"],
        "parameters": [dict(prune_parameter(p), name=n) for n, p in sorted(document["parameters"].items())],
        "methods": chosen,
        "schemas": schemas,
    }


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    source = pathlib.Path(sys.argv[1])
    for old in DATA.glob("*.json.gz"):
        old.unlink()
    table, revisions = [], []
    for name, patterns in sorted(read_list(DATA / "methods.txt").items()):
        pruned = prune(json.loads((source / f"{name}.json").read_text()), patterns, name)
        text = json.dumps(pruned, sort_keys=True, separators=(",", ":")).encode()
        packed = gzip.compress(text, 9, mtime=0)
        (DATA / f"{name}.json.gz").write_bytes(packed)
        service, version = name.split(".")
        table.append(f'    embedded!("{service}", "{version}", "{pruned["revision"]}"),\n')
        revisions.append(
            f"{name}\t{pruned['revision']}\t{len(pruned['methods'])}\t{len(pruned['schemas'])}\t{len(text)}\t{len(packed)}\n"
        )
    (DATA / "revisions.tsv").write_text(
        "document\trevision\tmethods\tschemas\tbytes\tcompressed\n" + "".join(revisions)
    )
    (HERE / "src" / "embedded.rs").write_text(
        "//! The documents in this binary: written by generate.py, not by hand.\n\n"
        "use crate::document::Embedded;\n\n"
        "macro_rules! embedded {\n"
        "    ($service:literal, $version:literal, $revision:literal) => {\n"
        "        Embedded {\n"
        "            service: $service,\n"
        "            version: $version,\n"
        "            revision: $revision,\n"
        '            packed: include_bytes!(concat!("../data/", $service, ".", $version, ".json.gz")),\n'
        "        }\n"
        "    };\n"
        "}\n\n"
        "/// Sorted by service and version.\n"
        "pub(crate) const DOCUMENTS: &[Embedded] = &[\n" + "".join(table) + "];\n"
    )


main()
