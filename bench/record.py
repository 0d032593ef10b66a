"""Where a result comes from and where it is kept: machine, commit, versions, lines of JSON by date.

A result is one line of bench/results/NAME-DATE.jsonl; large files are kept as .jsonl.gz. Nothing is ever rewritten: a
run that was made again is a later line, and the later line counts. What makes two results comparable is their source:
the same tree of crates/ and python/rpfcluster, whatever was committed elsewhere since.
"""

from __future__ import annotations

import functools
import gzip
import hashlib
import importlib.metadata
import json
import os
import platform
import shutil
import subprocess
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
RESULTS = ROOT / "bench" / "results"
SOURCES = ("crates", "python/rpfcluster", "Cargo.lock", "Cargo.toml", "rust-toolchain.toml")
PACKAGES = ("rpfcluster", "scikit-learn", "numpy", "scipy", "dask-ml", "dask")

Line = dict[str, Any]


def data_folder() -> Path:
    """Return the folder of data sets: RPF_DATA, or shared/data beside the checkout."""
    return Path(os.environ.get("RPF_DATA", ROOT.parent / "shared" / "data"))


def built(name: str) -> Path:
    """Return a program that cargo has built for release."""
    return Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "release" / name


def _git(*words: str) -> str:
    return subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True, check=True).stdout.strip()


@functools.cache
def commit() -> str:
    """Name the commit; what is not committed yet is said."""
    return _git("rev-parse", "--short=12", "HEAD") + ("+changes" if _git("status", "--porcelain", *SOURCES) else "")


@functools.cache
def source() -> str:
    """Name the state of the sources that decide what rpf does, committed or not."""
    digest = hashlib.sha256(_git("ls-files", "-s", *SOURCES).encode())
    digest.update(_git("diff", "HEAD", "--", *SOURCES).encode())
    return digest.hexdigest()[:12]


@functools.cache
def machine() -> Line:
    """Say what it ran on."""
    cpu, memory = platform.processor(), 0
    if Path("/proc/cpuinfo").exists():
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        cpu = next((line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), cpu)
    if hasattr(os, "sysconf"):
        memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return {"cpu": cpu, "cores": len(os.sched_getaffinity(0)), "memory_gib": round(memory / 2**30, 1)}


@functools.cache
def versions() -> dict[str, str]:
    """Name the versions of everything that is timed; what is not installed is left out."""
    found = {"python": platform.python_version()}
    for package in PACKAGES:
        try:
            found[package] = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            continue
    found |= {"kernlab": version} if (version := kernlab()) else {}
    return found


@functools.cache
def kernlab() -> str:
    """Return the version of R's kernlab, empty where there is none."""
    if shutil.which("Rscript") is None:
        return ""
    asked = ["Rscript", "-e", 'cat(as.character(packageVersion("kernlab")))']
    return subprocess.run(asked, capture_output=True, text=True).stdout.strip()


def keep(name: str, line: Line) -> Line:
    """Add one result to the file of today, with all that says where it comes from."""
    RESULTS.mkdir(exist_ok=True)
    origin = {"at": time.strftime("%Y-%m-%dT%H:%M:%S%z"), "commit": commit(), "source": source()}
    line = {**line, **origin, "machine": machine(), "versions": versions()}
    with (RESULTS / f"{name}-{time.strftime('%Y-%m-%d')}.jsonl").open("a") as file:
        file.write(json.dumps(line) + "\n")
    return line


def kept(
    name: str, key: Iterable[str], of: str | None = None, ours: Callable[[Line], bool] = lambda _: True
) -> dict[tuple[Any, ...], Line]:
    """Return the last line of each key among the results of this source, or of the source named.

    What is not `ours` does not change with our sources, and counts whatever they were.
    """
    commit()  # as it is now: sources may be edited while a long run is under way
    key, of = tuple(key), of or source()
    lines = (line for line in _lines(name) if line["source"] == of or not ours(line))
    return {tuple(line.get(k) for k in key): line for line in lines}


def last(name: str, key: Iterable[str], ours: Callable[[Line], bool]) -> dict[tuple[Any, ...], Line]:
    """Return the last line of each key, of one source for all seeds: the one that was measured last.

    Sources may differ between keys that differ in more than the seed, the last part of the key; the lines say which.
    """
    *group, seed = key
    lines = sorted(_lines(name), key=lambda line: line["at"])
    newest = {tuple(line.get(k) for k in group): line["source"] for line in lines}
    found = {}
    for line in lines:
        of = tuple(line.get(k) for k in group)
        if line["source"] == newest[of] or not ours(line):
            found[(*of, line.get(seed))] = line
    return found


def last_source(name: str) -> str:
    """Return the source of the latest result; that of the checkout where there is none."""
    return max(_lines(name), key=lambda line: line["at"], default={"source": source()})["source"]


def _lines(name: str) -> Iterator[Line]:
    for path in sorted(RESULTS.glob(f"{name}-*.jsonl*")):
        with gzip.open(path, "rt") if path.suffix == ".gz" else path.open() as file:
            yield from map(json.loads, file)
