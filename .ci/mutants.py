"""Mutation testing of modules of the library: changes the code in many small ways, and expects a test to fail each time.

cargo-mutants lists the changes. Those inside functions are compiled into one library, each behind a switch (mutant schemata: Untch,
Offutt and Harrold, ISSTA 1993), so that a mutant costs a run of the tests instead of a build. A function f with mutants 7
and 8 becomes

    fn f(…) { match crate::mutant() { 7 => { changed body } 8 => { changed body } _ => { body } } }

and RPF_MUTANT selects the mutant of a run. "Not compiled" counts constant functions too. The test programs run one after
another, the fastest first, until one fails or takes ten times as long as without a change, and at least five seconds.
Outcomes are kept, and only survivors are tried again: remove the file after the code or its tests have changed.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import shutil
import subprocess
import sys
import time
from collections import Counter, defaultdict
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SOURCES = Path("crates/rpfcluster/src")
# What a group of sources is tested by: modules of the unit tests, and programs of tests/.
GROUPS = {
    "metrics": (["metrics::"], ["metrics"]),
    "affinity": (
        ["affinity::", "eigen::", "label::"],
        ["affinity", "spectral", "arbitrary_inputs", "definition", "kernel_pairs", "extension", "leiden", "cluster"],
    ),
    "label": (
        ["label::"],
        ["leiden", "cluster", "refit", "spectral", "stopping", "arbitrary_inputs", "degenerate"],
    ),
    "select": (["select::", "pipeline::"], ["choosing", "cluster", "stopping", "failing_tables"]),
    "predict": (["pipeline::"], ["extension", "cluster", "refit", "sampled", "stopping", "degenerate"]),
}
FILES = {
    "metrics": ["metrics/*.rs"],
    "affinity": ["affinity/*.rs"],
    "label": ["label/*.rs", "label/leiden/*.rs"],
    "select": ["select/*.rs", "select/evidence/*.rs"],
    "predict": ["pipeline/predict.rs"],
}
SWITCH = """
#[doc(hidden)]
pub fn mutant() -> u32 {
    static ID: std::sync::OnceLock<u32> = std::sync::OnceLock::new();
    *ID.get_or_init(|| std::env::var("RPF_MUTANT").ok().and_then(|id| id.parse().ok()).unwrap_or(0))
}
"""
# Comments, strings and characters, in which a brace is none. A lifetime is no character.
OPAQUE = re.compile(r'//[^\n]*|/\*.*?\*/|r(#*)".*?"\1|"(?:\\.|[^"\\])*"|\'(?:\\[^\']+|[^\'\\])\'', re.DOTALL)
SLOWER = 10.0
LEAST_SECONDS = 5.0


def offset(text: str, place: dict[str, int]) -> int:
    """Return the position of a line and column, both from 1; columns count characters."""
    start = 0
    for _ in range(place["line"] - 1):
        start = text.index("\n", start) + 1
    return start + place["column"] - 1


def body(text: str, start: int, end: int) -> tuple[int, int] | None:
    """Return the positions after the opening and before the closing brace of the function in this range."""
    plain = OPAQUE.sub(lambda found: " " * len(found.group()), text[start:end])
    depth = 0
    for at, character in enumerate(plain):
        depth += (character in "([") - (character in ")]")
        if character == "{" and depth == 0:
            return start + at + 1, start + plain.rindex("}")
    return None


class Source:
    """A file with its mutants: what cargo-mutants lists, by the outermost function they are in."""

    def __init__(self, path: Path, mutants: list[dict]) -> None:
        self.path = path
        self.text = (ROOT / path).read_text()
        spans = {}
        for mutant in mutants:
            span = mutant["function"]["span"]
            spans[offset(self.text, span["start"]), offset(self.text, span["end"])] = None
        outer = [(a, b) for a, b in spans if not any(c <= a and b <= d and (a, b) != (c, d) for c, d in spans)]
        self.functions: dict[tuple[int, int], list[dict]] = {span: [] for span in sorted(outer)}
        for mutant in mutants:
            at = offset(self.text, mutant["span"]["start"])
            home = next(span for span in outer if span[0] <= at < span[1])
            self.functions[home].append(mutant)

    def write(self, folder: Path, skipped: set[int]) -> dict[int, int]:
        """Write the file with all mutants but the skipped ones; return which mutant each line of the result belongs to.

        Adds the mutants of constant functions to the skipped ones.
        """
        parts, done, lines = [], 0, {}
        for (start, end), mutants in self.functions.items():
            inside = body(self.text, start, end)
            is_constant = re.search(r"\bconst\s+(unsafe\s+)?fn\b", self.text[start : inside[0]] if inside else "")
            wanted = [m for m in mutants if m["id"] not in skipped]
            if inside is None or is_constant:
                skipped.update(m["id"] for m in mutants)
                continue
            if not wanted:
                continue
            first, last = inside
            parts.append(self.text[done:first] + "\nmatch crate::mutant() {\n")
            for mutant in wanted:
                a, b = (offset(self.text, mutant["span"][side]) for side in ("start", "end"))
                before = sum(part.count("\n") for part in parts)
                parts.append(f"{mutant['id']} => {{{self.text[first:a]}{mutant['replacement']}{self.text[b:last]}\n}}\n")
                after = sum(part.count("\n") for part in parts)
                lines.update(dict.fromkeys(range(before + 1, after + 1), mutant["id"]))
            parts.append("_ => {" + self.text[first:last] + "}\n}\n")
            done = last
        parts.append(self.text[done:])
        (folder / self.path).write_text("".join(parts))
        return lines


def listed(files: list[str]) -> list[dict]:
    """Return the mutants that cargo-mutants lists for these files."""
    command = ["cargo", "mutants", "--list", "--json", "--package", "rpfcluster"]
    for pattern in files:
        command += ["--file", str(SOURCES / pattern)]
    found = json.loads(subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout)
    found = [mutant for mutant in found if mutant["function"]]
    for at, mutant in enumerate(found, 1):
        mutant["id"] = at
    return found


def errors(folder: Path, target: Path, lines: dict[str, dict[int, int]]) -> tuple[set[int], list[str]]:
    """Check the tree; return the mutants in which there are errors, and errors elsewhere."""
    command = ["cargo", "check", "--package", "rpfcluster", "--message-format=json", "--quiet", "--locked"]
    environment = os.environ | {"CARGO_TARGET_DIR": str(target)}
    run = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    bad, others = set(), []
    for line in run.stdout.splitlines():
        message = json.loads(line).get("message") or {}
        if message.get("level") != "error":
            continue
        at = [
            mutant
            for span in message["spans"]
            if (mutant := lines.get(span["file_name"], {}).get(span["line_start"])) is not None
        ]
        bad.update(at)
        if not at and message["spans"]:
            others.append(message["rendered"])
    return bad, others


def programs(folder: Path, target: Path, tests: list[str]) -> dict[str, str]:
    """Build the unit tests and the programs of tests/; return their paths by name."""
    command = ["cargo", "test", "--release", "--package", "rpfcluster", "--no-run", "--lib", "--locked"]
    command += [word for test in tests for word in ("--test", test)] + ["--message-format=json", "--quiet"]
    environment = os.environ | {"CARGO_TARGET_DIR": str(target)}
    run = subprocess.run(command, cwd=folder, env=environment, stdout=subprocess.PIPE, text=True, check=True)
    found = [json.loads(line) for line in run.stdout.splitlines()]
    return {
        ("lib" if "lib" in item["target"]["kind"] else item["target"]["name"]): item["executable"]
        for item in found
        if item.get("executable")
    }


def passes(command: list[str], folder: Path, mutant: int, limit: float) -> tuple[str, float]:
    """Run a test program with a mutant; return "passed", "failed" or "time", and the seconds it took."""
    environment = os.environ | {"RPF_MUTANT": str(mutant)}
    start = time.monotonic()
    with subprocess.Popen(
        command, cwd=folder, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as process:
        try:
            outcome = "passed" if process.wait(limit) == 0 else "failed"
        except subprocess.TimeoutExpired:
            process.kill()
            outcome = "time"
    return outcome, time.monotonic() - start


def main() -> None:
    """Try the mutants of the groups, print what survives and a table of outcomes, and keep them in a file."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("groups", nargs="*", default=list(GROUPS), help=f"of {', '.join(GROUPS)}")
    parser.add_argument("--only", help="mutants whose name contains this")
    parser.add_argument("--share", type=float, default=1.0, help="a random share of each group, the same in every run")
    parser.add_argument(
        "--out", type=Path, default=ROOT / "target" / "mutants.jsonl", help="outcomes; only survivors are tried again"
    )
    args = parser.parse_args()
    groups = args.groups or list(GROUPS)
    if unknown := [name for name in groups if name not in GROUPS]:
        sys.exit(f"error: {unknown[0]} is not a group; use {', '.join(GROUPS)}")
    folder, target = ROOT / "target" / "mutants" / "tree", ROOT / "target" / "mutants" / "build"
    shutil.rmtree(folder, ignore_errors=True)
    # `git ls-files` names what belongs to the project; uncommitted changes count.
    names = subprocess.run(["git", "ls-files"], cwd=ROOT, check=True, capture_output=True, text=True).stdout.split("\n")
    for name in filter(None, names):
        if name.startswith(("crates/", "fuzz/", "Cargo", "README", ".config", "rust-toolchain")) and (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(ROOT / name, folder / name)

    mutants = listed([pattern for group in groups for pattern in FILES[group]])
    by_file = defaultdict(list)
    for mutant in mutants:
        by_file[mutant["file"]].append(mutant)
    sources = [Source(Path(file), found) for file, found in by_file.items()]
    with (folder / SOURCES / "lib.rs").open("a") as out:
        out.write(SWITCH)
    skipped: set[int] = set()
    while True:
        lines = {str(source.path): source.write(folder, skipped) for source in sources}
        bad, others = errors(folder, target, lines)
        if not bad:
            break
        skipped |= bad
        print(f"{len(skipped)} of {len(mutants)} mutants do not compile or are in constant functions", flush=True)
    if others:
        sys.exit("error: the tree with mutants does not compile\n" + "\n".join(others))

    tests = sorted({test for group in groups for test in GROUPS[group][1]})
    built = programs(folder, target, tests)
    crate = folder / "crates" / "rpfcluster"
    outcomes: Counter[tuple[str, str]] = Counter()
    args.out.parent.mkdir(parents=True, exist_ok=True)
    args.out.touch()
    known = {line["name"]: line["outcome"] for line in map(json.loads, args.out.read_text().splitlines())}
    with args.out.open("a") as kept:
        for group in groups:
            prefix = tuple(str(SOURCES / pattern.partition("*")[0]) for pattern in FILES[group])
            modules, names = GROUPS[group]
            commands = {"lib": [built["lib"], *modules]} | {name: [built[name]] for name in names}
            seconds = {}
            for name, command in commands.items():
                outcome, seconds[name] = passes(command, crate, 0, 600)
                if outcome != "passed":
                    sys.exit(f"error: the tests of {name} fail without a mutant")
            order = sorted(commands, key=seconds.__getitem__)
            print(f"{group}: " + ", ".join(f"{name} {seconds[name]:.1f} s" for name in order), flush=True)
            of_group = [m for m in mutants if m["file"].startswith(prefix) and (args.only or "") in m["name"]]
            chosen = sorted(random.Random(0).sample(range(len(of_group)), round(args.share * len(of_group))))
            for mutant in (of_group[at] for at in chosen):
                verdict = known.get(mutant["name"], "survived")
                if mutant["id"] in skipped:
                    verdict = "not compiled"
                elif verdict == "survived":
                    for name in order:
                        limit = max(LEAST_SECONDS, SLOWER * seconds[name])
                        outcome, _ = passes(commands[name], crate, mutant["id"], limit)
                        if outcome != "passed":
                            verdict = "caught" if outcome == "failed" else "time limit"
                            break
                outcomes[group, verdict] += 1
                kept.write(json.dumps({"group": group, "name": mutant["name"], "outcome": verdict}) + "\n")
                kept.flush()
                if verdict == "survived":
                    print(f"survived: {mutant['name']}", flush=True)
    kinds = ("caught", "time limit", "survived", "not compiled")
    print("| module | " + " | ".join(kinds) + " |\n" + "|---" * (len(kinds) + 1) + "|")
    for group in groups:
        print(f"| {group} | " + " | ".join(str(outcomes[group, kind]) for kind in kinds) + " |")


if __name__ == "__main__":
    main()
