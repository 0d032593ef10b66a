"""Runs `rpf reproduce` and keeps its results: the page, results.json and the units, and the times of the estimate.

`make reproduction` runs the paper's protocol (ARGS=--quick: the coarse search) and writes

- docs/background/paper-results.md, the page (full run alone),
- bench/results/reproduction-EFFORT-DATE.json, the results with commit, machine and seconds of every unit,
- bench/results/reproduction-units-EFFORT-DATE.jsonl.gz, the units,
- crates/rpfcluster-paper/src/reproduce/pace.json, from which a run estimates its time.

An interrupted run continues where it stopped. --keep stores the results of a finished run without running anything.
"""

from __future__ import annotations

import argparse
import gzip
import json
import shutil
import statistics
import subprocess
import sys
import time
from collections import defaultdict
from pathlib import Path
from typing import Any

import record

PAGE = record.ROOT / "docs/background/paper-results.md"
PACE = record.ROOT / "crates/rpfcluster-paper/src/reproduce/pace.json"


def task_of(unit: dict[str, Any]) -> str:
    """Return the name of what a unit computes."""
    task = unit["task"]
    return task if isinstance(task, str) else str(task["columns"])


def pace(units: list[dict[str, Any]], effort: str) -> None:
    """Replace the times of an effort in pace.json by the mean seconds of these units."""
    stored = json.loads(PACE.read_text())
    probe = statistics.fmean(unit["probe"] for unit in units)
    # All times are of the machine of the stored probe.
    others = any(times for name, times in stored["units"].items() if name != effort)
    scale = stored["probe"] / probe if others else 1.0
    stored["probe"] = stored["probe"] if others else probe
    times: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for unit in units:
        times[unit["dataset"]][task_of(unit)].append(unit["seconds"] * scale)
    stored["units"][effort] = {
        name: {task: round(statistics.fmean(s), 3) for task, s in of.items()} for name, of in times.items()
    }
    PACE.write_text(json.dumps(stored, indent=1, sort_keys=True) + "\n")


def keep(out: Path, effort: str) -> None:
    """Store the results of a finished run."""
    today = time.strftime("%Y-%m-%d")
    record.RESULTS.mkdir(exist_ok=True)
    shutil.copy(out / "results.json", record.RESULTS / f"reproduction-{effort}-{today}.json")
    units = [json.loads(path.read_text()) for path in sorted((out / "units").glob(f"{effort}-*.json"))]
    with gzip.open(record.RESULTS / f"reproduction-units-{effort}-{today}.jsonl.gz", "wt") as file:
        file.writelines(json.dumps(unit) + "\n" for unit in units)
    pace(units, effort)
    if effort == "full":
        shutil.copy(out / "paper-results.md", PAGE)
    print(f"kept {len(units)} units", file=sys.stderr)


def main() -> None:
    """Run, and keep the results."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="the coarse search")
    parser.add_argument("--keep", action="store_true", help="run nothing, store a finished run")
    parser.add_argument("--out", type=Path, default=record.ROOT / "reproduction", help="folder of the run")
    parser.add_argument("--only", help="data sets, for trials; nothing is kept")
    args = parser.parse_args()
    effort = "quick" if args.quick else "full"
    if not args.keep:
        words = [str(record.built("rpf")), "reproduce", "--data", str(record.data_folder()), "-o", str(args.out)]
        words += ["--quick"] if args.quick else []
        words += ["--only", args.only] if args.only else []
        if subprocess.run(words).returncode != 0:
            sys.exit("rpf reproduce failed; the same command continues where it stopped")
    if not args.only:
        keep(args.out, effort)


if __name__ == "__main__":
    main()
