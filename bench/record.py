"""Storage of results, with the machine, commit and versions they were measured with.

A result is one line of bench/results/NAME-DATE.jsonl; large files are compressed as .jsonl.gz. Results are never
rewritten: a repeated run adds a later line, and the latest line counts. Results are comparable if they have the same
`source`, a hash of the files that decide what rpf does; commits to other files do not change it.
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
PACKAGES = (
    *("rpfcluster", "scikit-learn", "numpy", "scipy", "dask-ml", "dask", "evoc", "umap-learn", "hdbscan", "leidenalg"),
    *("lumbermark", "genieclust", "fast-hdbscan", "faiss-cpu", "ray"),
)

Line = dict[str, Any]


def data_folder() -> Path:
    """Return the folder of the data sets: RPF_DATA, or ../shared/data relative to the checkout."""
    return Path(os.environ.get("RPF_DATA", ROOT.parent / "shared" / "data"))


def built(name: str) -> Path:
    """Return the path of a program built by cargo in release mode."""
    return Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "release" / name


def _git(*words: str) -> str:
    return subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True, check=True).stdout.strip()


@functools.cache
def commit() -> str:
    """Return the commit, marked `+changes` if the sources have uncommitted changes."""
    return _git("rev-parse", "--short=12", "HEAD") + ("+changes" if _git("status", "--porcelain", *SOURCES) else "")


@functools.cache
def source() -> str:
    """Return a hash of the sources that decide what rpf does, with uncommitted changes."""
    digest = hashlib.sha256(_git("ls-files", "-s", *SOURCES).encode())
    digest.update(_git("diff", "HEAD", "--", *SOURCES).encode())
    return digest.hexdigest()[:12]


@functools.cache
def machine() -> Line:
    """Return processor, cores and memory."""
    cpu, memory = platform.processor(), 0
    if Path("/proc/cpuinfo").exists():
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        cpu = next((line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), cpu)
    if hasattr(os, "sysconf"):
        memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return {"cpu": cpu, "cores": len(os.sched_getaffinity(0)), "memory_gib": round(memory / 2**30, 1)}


@functools.cache
def versions() -> dict[str, str]:
    """Return the versions of the packages under test that are installed."""
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
    """Return the version of R's kernlab; empty if it is not installed."""
    if shutil.which("Rscript") is None:
        return ""
    asked = ["Rscript", "-e", 'cat(as.character(packageVersion("kernlab")))']
    return subprocess.run(asked, capture_output=True, text=True).stdout.strip()


def keep(name: str, line: Line) -> Line:
    """Append one result to the file of today, with its origin."""
    RESULTS.mkdir(exist_ok=True)
    origin = {"at": time.strftime("%Y-%m-%dT%H:%M:%S%z"), "commit": commit(), "source": source()}
    line = {**line, **origin, "machine": machine(), "versions": versions()}
    with (RESULTS / f"{name}-{time.strftime('%Y-%m-%d')}.jsonl").open("a") as file:
        file.write(json.dumps(line) + "\n")
    return line


def kept(
    name: str, key: Iterable[str], of: str | None = None, ours: Callable[[Line], bool] = lambda _: True
) -> dict[tuple[Any, ...], Line]:
    """Return the latest line of each key among the results of the given source, by default the present one.

    Lines that are not `ours` do not depend on the source and are returned whatever it is.
    """
    if of is None:
        commit()  # cached now, since files may be edited during a long run
    key, of = tuple(key), of or source()
    lines = (line for line in _lines(name) if line["source"] == of or not ours(line))
    return {tuple(line.get(k) for k in key): line for line in lines}


def last(name: str, key: Iterable[str], ours: Callable[[Line], bool]) -> dict[tuple[Any, ...], Line]:
    """Return the latest line of each key, such that all seeds of a group have the same source.

    The seed is the last part of the key, the rest is the group. Different groups may have different sources.
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


def last_source(name: str, among: Callable[[Line], bool] = lambda _: True) -> str:
    """Return the source of the latest result among these; that of the checkout if there is none."""
    latest = max(filter(among, _lines(name)), key=lambda line: line["at"], default=None)
    return latest["source"] if latest else source()


def _lines(name: str) -> Iterator[Line]:
    for path in sorted(RESULTS.glob(f"{name}-*.jsonl*")):
        with gzip.open(path, "rt") if path.suffix == ".gz" else path.open() as file:
            yield from map(json.loads, file)
