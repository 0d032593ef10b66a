"""Regression test for speed: instruction counts of the hot paths, measured by callgrind.

On a shared machine times vary by half from run to run, instruction counts by less than one percent. The stored counts
(instructions.json) are valid for the pinned compiler and a processor with AVX2. On another processor, or without
valgrind, the test is skipped. After an intended change run `--update` and give the reason in the commit.
"""

from __future__ import annotations

import argparse
import json
import platform
import re
import shutil
import subprocess
import sys
from pathlib import Path

import record

KEPT = Path(__file__).with_suffix(".json")
STAGES = ("grow", "top-k", "product", "k-means")
# Relative. A decrease fails as well, so that the lower count is stored and cannot be lost unnoticed.
TOLERANCE = 0.03


def unfit() -> str:
    """Return why counts cannot be compared on this machine; empty if they can."""
    if shutil.which("valgrind") is None:
        return "valgrind is not installed"
    flags = Path("/proc/cpuinfo").read_text() if Path("/proc/cpuinfo").exists() else ""
    if platform.machine() != "x86_64" or " avx2 " not in flags:
        return "the stored counts are for x86-64 with AVX2"
    return ""


def count(program: Path, stage: str) -> int:
    """Return the number of instructions of one stage."""
    words = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", "--toggle-collect=*counted*"]
    done = subprocess.run([*words, str(program), stage], capture_output=True, text=True, timeout=120)
    found = re.search(r"Collected : (\d+)", done.stderr)
    if done.returncode or found is None:
        sys.exit(f"{stage}: valgrind exited with {done.returncode}\n{done.stderr}")
    return int(found[1])


def main() -> None:
    """Count, then compare with the stored counts or replace them."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--update", action="store_true", help="store the present counts")
    asked = parser.parse_args()
    if why := unfit():
        print(f"skipped: {why}")
        return
    program = record.built("examples/instructions")
    counts = {stage: count(program, stage) for stage in STAGES}
    if asked.update:
        KEPT.write_text(json.dumps(counts, indent=2) + "\n")
        return
    kept, off = json.loads(KEPT.read_text()), False
    for stage, now in counts.items():
        change = now / kept[stage] - 1
        off |= abs(change) > TOLERANCE
        print(f"{stage:8} {now:13,} instructions, {change:+.2%}")
    if off:
        sys.exit(f"a count is off by over {TOLERANCE:.0%}; if that is intended, run bench/instructions.py --update")


if __name__ == "__main__":
    main()
