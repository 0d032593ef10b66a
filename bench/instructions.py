"""A guard against slow changes that no noise can hide: instructions of the hot paths, counted by callgrind.

Times of a shared machine differ by half from run to run, counts by less than a percent. The counts that are kept
(instructions.json) belong to the pinned compiler and to a processor with AVX2; elsewhere, or without valgrind, there is
nothing to compare and the guard says so. A change that means to cost or to save runs `--update` and says why.
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
# More is a change for the worse; less is one to be kept, so that it is not lost again.
TOLERANCE = 0.03


def unfit() -> str:
    """Say why counts cannot be compared here; nothing when they can."""
    if shutil.which("valgrind") is None:
        return "no valgrind"
    flags = Path("/proc/cpuinfo").read_text() if Path("/proc/cpuinfo").exists() else ""
    if platform.machine() != "x86_64" or " avx2 " not in flags:
        return "counts are kept for x86-64 with AVX2"
    return ""


def count(program: Path, stage: str) -> int:
    """Return the instructions of one stage."""
    words = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", "--toggle-collect=*counted*"]
    done = subprocess.run([*words, str(program), stage], capture_output=True, text=True, timeout=120)
    found = re.search(r"Collected : (\d+)", done.stderr)
    if done.returncode or found is None:
        sys.exit(f"{stage}: valgrind ended with {done.returncode}\n{done.stderr}")
    return int(found[1])


def main() -> None:
    """Count and compare, or keep."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--update", action="store_true", help="keep the counts of now")
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
        sys.exit(f"more than {TOLERANCE:.0%} off: see what changed; if it was meant, bench/instructions.py --update")


if __name__ == "__main__":
    main()
