"""Lists the public API of the library, one line per item, from rustdoc's JSON.

    python3 .ci/public_api.py            compares the list with crates/rpfcluster/public-api.txt
    python3 .ci/public_api.py --update   writes it
    python3 .ci/public_api.py --of DIR   prints the list of another checkout

The JSON output of rustdoc is unstable, so .ci/rustdoc-json runs it with RUSTC_BOOTSTRAP=1. Items that are hidden from
the documentation are not part of the API.
"""

import argparse
import difflib
import json
import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
RECORD = ROOT / "crates" / "rpfcluster" / "public-api.txt"


def rustdoc_json(folder):
    """Builds and reads the JSON documentation of the library in `folder`."""
    cargo = os.environ.get("CARGO", "cargo")
    flags = "-Z unstable-options --output-format json"
    env = {**os.environ, "RUSTDOC": str(ROOT / ".ci" / "rustdoc-json"), "RUSTDOCFLAGS": flags}
    # The whole workspace, as `make doc` builds it: the dependencies are then the same and not compiled again.
    subprocess.run([cargo, "doc", "--workspace", "--no-deps", "--locked", "--quiet"], cwd=folder, env=env, check=True)
    target = json.loads(
        subprocess.run(
            [cargo, "metadata", "--format-version", "1", "--no-deps"], cwd=folder, capture_output=True, check=True
        ).stdout
    )["target_directory"]
    return json.loads((Path(target) / "doc" / "rpfcluster.json").read_text())


def arguments(generic):
    """The generic arguments of a path, such as `<u32>`."""
    if not generic:
        return ""
    if "parenthesized" in generic:
        inputs = ", ".join(shown(t) for t in generic["parenthesized"]["inputs"])
        output = generic["parenthesized"].get("output")
        return f"({inputs})" + (f" -> {shown(output)}" if output else "")
    parts = []
    for argument in generic.get("angle_bracketed", {}).get("args", []):
        ((kind, value),) = argument.items()
        parts.append(value if kind == "lifetime" else shown(value) if kind == "type" else str(value.get("expr", value)))
    for constraint in generic.get("angle_bracketed", {}).get("constraints", []):
        binding = constraint["binding"]
        value = binding.get("equality", {}).get("type") if isinstance(binding, dict) else None
        parts.append(f"{constraint['name']} = {shown(value) if value else '…'}")
    return f"<{', '.join(parts)}>" if parts else ""


def bound(one):
    """A trait bound or a lifetime."""
    if "outlives" in one:
        return one["outlives"]
    trait = one["trait_bound"]["trait"] if "trait_bound" in one else None
    return trait["path"] + arguments(trait.get("args")) if trait else "use<…>"


def shown(kind):
    """A type as Rust writes it."""
    if kind is None:
        return "()"
    ((name, value),) = kind.items() if isinstance(kind, dict) else ((kind, None),)
    match name:
        case "resolved_path":
            return value["path"].rsplit("::", 1)[-1] + arguments(value.get("args"))
        case "generic" | "primitive":
            return value
        case "borrowed_ref":
            lifetime = f"{value['lifetime']} " if value.get("lifetime") else ""
            return f"&{lifetime}{'mut ' if value['is_mutable'] else ''}{shown(value['type'])}"
        case "slice":
            return f"[{shown(value)}]"
        case "array":
            return f"[{shown(value['type'])}; {value['len']}]"
        case "tuple":
            return f"({', '.join(shown(t) for t in value)})"
        case "impl_trait":
            return "impl " + " + ".join(bound(b) for b in value)
        case "dyn_trait":
            traits = [t["trait"]["path"].rsplit("::", 1)[-1] + arguments(t["trait"].get("args")) for t in value["traits"]]
            return "dyn " + " + ".join(traits)
        case "qualified_path":
            return f"{shown(value['self_type'])}::{value['name']}"
        case "raw_pointer":
            return f"*{'mut' if value['is_mutable'] else 'const'} {shown(value['type'])}"
        case _:
            return name


def signature(item):
    """The part of a line behind the name."""
    ((kind, inner),) = item["inner"].items()
    match kind:
        case "function":
            inputs = ", ".join(
                shown(t) if name == "self" else f"{name}: {shown(t)}" for name, t in inner["sig"]["inputs"]
            )
            output = inner["sig"]["output"]
            return f"({inputs})" + (f" -> {shown(output)}" if output else "")
        case "struct_field":
            return f": {shown(inner)}"
        case "constant":
            return f": {shown(inner['type'])} = {inner['const']['expr']}"
        case "assoc_const":
            return f": {shown(inner['type'])}"
        case _:
            return ""


WORDS = {"function": "fn", "struct_field": "field", "constant": "const", "assoc_const": "const", "assoc_type": "type"}


class Listing:
    """Walks the index from the crate's root along everything that is public and documented."""

    def __init__(self, doc):
        self.index = doc["index"]
        self.lines = set()
        self.visit(str(doc["root"]), "", set())

    def visit(self, identifier, path, above):
        """Adds an item and what it contains; `above` are the items on the way here."""
        item = self.index.get(str(identifier))
        if item is None or identifier in above or "hidden" in json.dumps(item.get("attrs", [])):
            return
        ((kind, inner),) = item["inner"].items()
        if kind == "use":
            target = self.index.get(str(inner.get("id")))
            if target is None or inner.get("is_glob"):
                self.lines.add(f"use {path}::{inner['name']}")
            elif target["name"] != inner["name"] and "module" not in target["inner"]:
                self.lines.add(f"use {path}::{inner['name']} = {target['name']}")
            else:
                self.visit(inner["id"], path, above)
            return
        inside = kind in ("struct_field", "variant", "assoc_const", "assoc_type", "function")
        if item["visibility"] != "public" and not (inside and item["visibility"] == "default"):
            return
        name = f"{path}::{item['name']}" if path else item["name"]
        if kind != "module" or path:
            self.lines.add(f"{WORDS.get(kind, kind)} {name}{signature(item)}")
        for child in self.children(kind, inner):
            self.visit(child, name, above | {identifier})
        for block in inner.get("impls", []) if isinstance(inner, dict) else []:
            implementation = self.index.get(str(block))
            if implementation is None:
                continue
            details = implementation["inner"]["impl"]
            if details["trait"] is None:
                for child in details["items"]:
                    self.visit(child, name, above | {identifier})
            elif not details["is_synthetic"] and not details["blanket_impl"]:
                trait = details["trait"]["path"].rsplit("::", 1)[-1] + arguments(details["trait"].get("args"))
                self.lines.add(f"impl {trait} for {name}")

    @staticmethod
    def children(kind, inner):
        """The identifiers of what an item contains."""
        if kind in ("module", "trait"):
            return inner["items"]
        if kind == "enum":
            return inner["variants"]
        if kind in ("struct", "variant") and isinstance(inner["kind"], dict):
            named = "plain" if kind == "struct" else "struct"
            fields = inner["kind"].get(named, {}).get("fields", inner["kind"].get("tuple", []))
            return [field for field in fields if field is not None]
        return []


def main():
    """Compares or writes the list."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--update", action="store_true", help="write the list instead of comparing it")
    parser.add_argument("--of", type=Path, help="print the list of another checkout")
    given = parser.parse_args()
    lines = sorted(Listing(rustdoc_json(given.of or ROOT)).lines, key=lambda line: re.sub(r"^\S+ ", "", line))
    text = "".join(f"{line}\n" for line in lines)
    if given.of:
        sys.stdout.write(text)
    elif given.update:
        RECORD.write_text(text)
        print(f"{RECORD.relative_to(ROOT)}: {len(lines)} public items")
    else:
        kept = RECORD.read_text() if RECORD.exists() else ""
        if kept != text:
            changes = difflib.unified_diff(kept.splitlines(), lines, "recorded", "now", lineterm="", n=0)
            print("\n".join(changes))
            sys.exit("the public API changed; when that is intended, run `make api ARGS=--update` and say so in CHANGELOG.md")


if __name__ == "__main__":
    main()
