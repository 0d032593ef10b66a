"""Faults and load: Ctrl-C in every stage, kill -9 at random moments, a hundred predictions at once.

Every run starts with an old version of each of its output files. After Ctrl-C the exit code is 130 within a second,
the old files are unchanged and no other file is left; a run that was complete before the signal has exit code 0 and
only new files. After kill -9 every file under its final name is whole, old or new, and whatever else is left has a
temporary name. `rpf reproduce` is stopped again and again in one folder, resumes each time, and ends with the results
of an undisturbed run.

Moments are drawn from a seeded generator: a stage is found by what the run prints or writes, and the moment within it
is a random share of the time that the stage took undisturbed. `--short` is the part that `make test` runs.
"""

from __future__ import annotations

import argparse
import array
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import record

# Seconds from Ctrl-C to the end of the process.
REACTION = 1.0
# Seconds after which a run counts as hanging.
HANGS = 300.0
MESSAGE = "rpf: interrupted; no partial file is left"
OLD = b"old contents of "
TEMPORARY = (".rpf-", ".tmp")


@dataclass
class Case:
    """A command, the stage in which it is stopped, and the files it writes."""

    stage: str
    line: str
    files: tuple[str, ...] = ()
    # The stage begins when a line of standard error contains this, or a file with a temporary name exists.
    after: str = ""
    staged: bool = False
    # The stage ends with a line that contains this; without it, at the end of the run.
    until: str = ""
    short: bool = False


PAPER = "cluster mid.npy -k 6 -v --affinity paper --beta1 0.1 --beta2 0.2"
TOP_K = "cluster mid.npy -k 4 -v --affinity top-k --top 10 --power 2 --min-node 30"
MODEL = "cluster mid.npy -k 4 -q --affinity linear --model model.rpf -o start.csv"
CASES = [
    Case("read", "neighbors big.csv -n 1 --trees 1 -v -o n.csv", ("n.csv",), until="rows,"),
    Case("grow", "kernel big.npy -v --trees 300 --top 1 -o k.npz", ("k.npz",), "rows,", until="growing", short=True),
    Case("choose", "cluster small.npy -k auto -v -o l.csv --model m.rpf", ("l.csv", "m.rpf"), "rows,", short=True),
    Case("kernel", "kernel big.npy -v --trees 60 --min 0.3 -o k.npz --model m.rpf", ("k.npz", "m.rpf"), "growing"),
    Case("spectral", f"{PAPER} -o l.csv", ("l.csv",), "counting", until="eigenvectors"),
    Case("label", f"{PAPER} --method ncut -o l.csv", ("l.csv",), "eigenvectors"),
    Case("verdict", f"{TOP_K} -o l.csv", ("l.csv",), "labelling"),
    Case(
        "report",
        f"{TOP_K.replace('mid', 'small')} --report r.html --model m.rpf -o l.csv",
        ("r.html", "m.rpf", "l.csv"),
        staged=True,
    ),
    Case(
        "writing a model",
        "cluster small.npy -k 3 -v --trees 1500 --min-node 300 --affinity linear --model m.rpf -o /dev/null",
        ("m.rpf",),
        staged=True,
        short=True,
    ),
    Case(
        "writing a kernel",
        "kernel mid.npy -v --trees 20 --min-node 300 -o k.mtx --model m.rpf",
        ("k.mtx", "m.rpf"),
        staged=True,
    ),
    Case("predict", "predict model.rpf big.npy -v -o p.csv", ("p.csv",), short=True),
    Case("embed", "embed mid.npy -d 3 -v -o e.csv", ("e.csv",)),
    Case("neighbors", "neighbors mid.npy -n 50 --exact -v -o n.csv", ("n.csv",)),
    Case("sweep", "sweep small.npy -k 4 -v --trees 20 --method kway --report s.html", ("s.html",)),
    Case("compare", "compare labelled.csv -k 3 --label class -v"),
    Case("figure", "plot model.rpf --kind heatmap -o h.png --width 2500", ("h.png",)),
    Case("demo", "demo --out .", ("report.html", "iris-kernel.svg")),
]


@dataclass
class Tally:
    """What the runs of one case did, and what was wrong."""

    outcomes: Counter[str] = field(default_factory=Counter)
    slowest: float = 0.0
    faults: list[str] = field(default_factory=list)


class Bench:
    """A folder with tables, a model and old files, and runs of the command in it."""

    def __init__(self, program: Path, folder: Path, seed: int) -> None:
        """Write the tables and the model."""
        self.program, self.folder = program, folder
        self.random = random.Random(seed)
        for name, rows in (("big", 8_000), ("mid", 2_000), ("small", 600)):
            write_npy(folder / f"{name}.npy", rows, 8, self.random)
        lines = (",".join(f"{self.random.gauss(0, 1):.9f}" for _ in range(8)) for _ in range(20_000))
        (folder / "big.csv").write_text("\n".join(lines) + "\n")
        rows = (
            f"{self.random.gauss(c, 1):.6f},{self.random.gauss(0, 1):.6f},{c}" for c in (0, 3, 6) for _ in range(500)
        )
        (folder / "labelled.csv").write_text("x,y,class\n" + "\n".join(rows) + "\n")
        subprocess.run(
            [program, *MODEL.split()],
            cwd=folder,
            check=True,
        )
        self.kept = set(os.listdir(folder))

    def start(self, line: str) -> subprocess.Popen[str]:
        """Start the command; its standard error can be read line by line."""
        # A shell may have started this program with SIGINT ignored, which children inherit.
        return subprocess.Popen(
            [str(self.program), *line.split()],
            cwd=self.folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        )

    def make_old(self, case: Case) -> None:
        """Put an old version of every output in place and remove everything else."""
        for name in set(os.listdir(self.folder)) - self.kept:
            (self.folder / name).unlink()
        for name in case.files:
            (self.folder / name).write_bytes(OLD + name.encode())

    def await_stage(self, case: Case, child: subprocess.Popen[str], errors: list[str]) -> None:
        """Return when the stage begins, or the run has ended."""
        if case.after:
            for text in child.stderr or ():
                errors.append(text.rstrip("\n"))
                if case.after in text:
                    return
        while case.staged and child.poll() is None and not self.temporaries():
            time.sleep(0.001)

    def temporaries(self) -> set[str]:
        """Return the names of temporary files."""
        return {name for name in os.listdir(self.folder) if is_temporary(name)}

    def duration(self, case: Case) -> float:
        """Return the seconds of the stage in an undisturbed run, which must succeed."""
        self.make_old(case)
        child = self.start(case.line)
        errors: list[str] = []
        begun = time.monotonic()
        self.await_stage(case, child, errors)
        if case.after or case.staged:
            begun = time.monotonic()
        ended = None
        for text in child.stderr or ():
            errors.append(text.rstrip("\n"))
            if case.until and case.until in text and ended is None:
                ended = time.monotonic()
        if child.wait(HANGS) != 0:
            sys.exit(f"{case.stage}: rpf {case.line}\n" + "\n".join(errors))
        return (ended or time.monotonic()) - begun

    def interrupt(self, case: Case, seconds: float, tally: Tally) -> None:
        """Press Ctrl-C at a random moment of the stage and check what is left."""
        self.make_old(case)
        delay = self.random.uniform(0, seconds)
        child = self.start(case.line)
        errors: list[str] = []
        self.await_stage(case, child, errors)
        time.sleep(delay)
        pressed = time.monotonic()
        os.kill(child.pid, signal.SIGINT)
        fault = ""
        try:
            _, rest = child.communicate(timeout=HANGS)
            errors.extend(rest.splitlines())
        except subprocess.TimeoutExpired:
            child.kill()
            fault = "does not end"
        reaction = time.monotonic() - pressed
        old = [name for name in case.files if self.is_old(name)]
        others = set(os.listdir(self.folder)) - self.kept - set(case.files)
        if child.returncode == 130:
            tally.slowest = max(tally.slowest, reaction)
            if reaction > REACTION:
                fault = f"took {reaction:.2f} s"
            elif len(old) < len(case.files):
                fault = f"exit 130, but {set(case.files) - set(old)} changed"
            elif not errors or errors[-1] != MESSAGE:
                fault = f"said {errors[-1:]}"
        elif child.returncode == 0:
            if old:
                fault = f"exit 0, but {old} are old"
        elif child.returncode == -signal.SIGINT and not errors:
            # Before the handler was installed: nothing was begun.
            if len(old) < len(case.files):
                fault = "killed, and files changed"
        else:
            fault = f"exit {child.returncode}: {errors[-1:]}"
        if others:
            fault += f" left {sorted(others)}"
        tally.outcomes[{130: "interrupted", 0: "done before"}.get(child.returncode, "not begun")] += 1
        if fault:
            tally.faults.append(f"{case.stage}, {delay:.3f} s: {fault}")

    def is_old(self, name: str) -> bool:
        """Return whether a file is as before the run."""
        path = self.folder / name
        return path.exists() and path.read_bytes() == OLD + name.encode()

    def kill(self, case: Case, seconds: float, whole: dict[str, Callable[[bytes], bool]], tally: Tally) -> None:
        """Kill the run at a random moment and check that every file is whole."""
        self.make_old(case)
        # Beyond the end, so that some moments hit the renames although times vary.
        delay = self.random.uniform(0, seconds * 1.3)
        child = self.start(case.line)
        self.await_stage(case, child, [])
        time.sleep(delay)
        child.kill()
        child.communicate()
        new = 0
        for name in case.files:
            if self.is_old(name):
                continue
            new += 1
            if not (self.folder / name).exists() or not whole[name]((self.folder / name).read_bytes()):
                tally.faults.append(f"{case.stage}, {delay:.3f} s: {name} is not whole")
        strange = {
            name for name in set(os.listdir(self.folder)) - self.kept - set(case.files) if not is_temporary(name)
        }
        if strange:
            tally.faults.append(f"{case.stage}, {delay:.3f} s: left {strange}")
        temporary = " and a temporary file" if self.temporaries() else ""
        state = "all old" if new == 0 else "all new" if new == len(case.files) else "old and new"
        tally.outcomes[state + temporary] += 1


def is_temporary(name: str) -> bool:
    """Return whether this is a name of files that are not complete."""
    return name.startswith(TEMPORARY[0]) and name.endswith(TEMPORARY[1])


def write_npy(path: Path, rows: int, columns: int, source: random.Random) -> None:
    """Write a table of four overlapping clouds."""
    head = f"{{'descr': '<f8', 'fortran_order': False, 'shape': ({rows}, {columns}), }}"
    head += " " * (-(len(head) + 11) % 64) + "\n"
    values = array.array("d", (source.gauss(i // columns % 4, 1.0) for i in range(rows * columns)))
    if sys.byteorder == "big":
        values.byteswap()
    path.write_bytes(b"\x93NUMPY\x01\x00" + len(head).to_bytes(2, "little") + head.encode() + values.tobytes())


def interrupts(bench: Bench, moments: int, short: bool) -> Iterator[tuple[str, Tally]]:
    """Interrupt every stage at so many moments."""
    for case in CASES:
        if short and not case.short:
            continue
        seconds, tally = bench.duration(case), Tally()
        for _ in range(moments):
            bench.interrupt(case, seconds, tally)
        yield f"Ctrl-C, {case.stage}", tally


def kills(bench: Bench, moments: int) -> Iterator[tuple[str, Tally]]:
    """Kill a clustering and the saving of a model at so many moments."""
    files = ("m.rpf", "r.html", "l.csv")
    whole = Case(
        "cluster",
        "cluster small.npy -k 3 -v --trees 100 --affinity linear --model m.rpf --report r.html -o l.csv",
        files,
    )
    writing = Case("the end of cluster", whole.line, files, staged=True)
    saving = next(case for case in CASES if case.stage == "writing a model")
    for case in (whole, writing, saving):
        seconds, tally = bench.duration(case), Tally()
        # A page contains times; labels and models are the same in every run.
        expected = {name: (bench.folder / name).read_bytes() for name in case.files}
        same = {name: expected[name].__eq__ for name in case.files}
        same["r.html"] = lambda page: page.startswith(b"<!doctype html>") and page.endswith(b"</html>\n")
        for _ in range(moments):
            bench.kill(case, seconds, same, tally)
        yield f"kill -9, {case.stage}", tally


def reproduction(bench: Bench, data: Path, moments: int, sign: int) -> Iterator[tuple[str, Tally]]:
    """Stop `rpf reproduce` at so many moments in one folder, and compare what it ends with."""
    line = f"reproduce --data {data} --quick --only iris,soybean --seeds 2 -q -o"
    begun = time.monotonic()
    if bench.start(f"{line} whole").wait(HANGS) != 0:
        sys.exit("rpf reproduce failed")
    seconds, tally = time.monotonic() - begun, Tally()
    out, resumed = bench.folder / "stopped", 0
    for _ in range(moments):
        child = bench.start(f"{line} stopped")
        before = len(list(out.glob("units/*.json")))
        resumed += before > 0
        # Half of the moments in the second half of what is left, where pages are written.
        time.sleep(bench.random.uniform(0, seconds / 2))
        pressed = time.monotonic()
        child.send_signal(sign)
        _, errors = child.communicate(timeout=HANGS)
        reaction = time.monotonic() - pressed
        files = [path for path in out.rglob("*") if path.is_file() and not is_temporary(path.name)]
        for path in files:
            if path.suffix == ".json" and not valid_json(path):
                tally.faults.append(f"reproduce: {path.name} is not whole")
        if len(list(out.glob("units/*.json"))) < before:
            tally.faults.append("reproduce: lost a unit")
        tops = {path.name for path in files if path.parent == out}
        if tops and "report.html" not in tops and sign == signal.SIGINT:
            tally.faults.append("reproduce: some pages without the others")
        if sign == signal.SIGINT:
            tally.slowest = max(tally.slowest, reaction)
            if child.returncode == 130 and (reaction > REACTION or MESSAGE not in errors):
                tally.faults.append(f"reproduce: {reaction:.2f} s, {errors!r}")
            if child.returncode not in (0, 130, -signal.SIGINT):
                tally.faults.append(f"reproduce: exit {child.returncode}: {errors!r}")
            if any(is_temporary(path.name) for path in out.rglob("*")):
                tally.faults.append("reproduce: left a temporary file")
        tally.outcomes["complete" if child.returncode == 0 else "stopped"] += 1
        if child.returncode == 0:
            shutil.rmtree(out)
    if bench.start(f"{line} stopped").wait(HANGS) != 0 or scores(out) != scores(bench.folder / "whole"):
        tally.faults.append("reproduce: other results than an undisturbed run")
    tally.outcomes["resumed"] = resumed
    yield f"{'Ctrl-C' if sign == signal.SIGINT else 'kill -9'}, reproduce", tally
    for name in ("whole", "stopped"):
        shutil.rmtree(bench.folder / name)


def valid_json(path: Path) -> bool:
    """Return whether a file is a whole JSON document."""
    try:
        json.loads(path.read_bytes())
    except ValueError:
        return False
    return True


def scores(out: Path) -> object:
    """Return the results of a reproduction without their times and dates."""

    def strip(value: object) -> object:
        if isinstance(value, dict):
            return {key: strip(item) for key, item in value.items() if key not in ("seconds", "seconds_each", "dates")}
        if isinstance(value, list):
            return [strip(item) for item in value]
        return value

    return strip(json.loads((out / "results.json").read_bytes()))


def load(bench: Bench, many: int) -> Iterator[tuple[str, Tally]]:
    """Predict from one model in so many processes at once."""
    tally = Tally()
    running = [bench.start(f"predict model.rpf small.npy -q --threads 1 -o p{i}.csv") for i in range(many)]
    for child in running:
        _, errors = child.communicate(timeout=HANGS)
        tally.outcomes[f"exit {child.returncode}"] += 1
        if child.returncode:
            tally.faults.append(f"predict: {errors}")
    answers = {(bench.folder / f"p{i}.csv").read_bytes() for i in range(many)}
    if len(answers) != 1:
        tally.faults.append(f"predict: {len(answers)} different files")
    for i in range(many):
        (bench.folder / f"p{i}.csv").unlink()
    yield f"{many} rpf predict at once", tally


def main() -> None:
    """Run everything, print a table, and fail if anything was wrong."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--short", action="store_true", help="few moments of the main stages, half a minute")
    parser.add_argument("--interrupts", type=int, default=20, metavar="N", help="moments of Ctrl-C in each stage (20)")
    parser.add_argument("--kills", type=int, default=50, metavar="N", help="moments of kill -9 in each command (50)")
    parser.add_argument("--seed", type=int, default=0, help="of the moments (0)")
    parser.add_argument(
        "--data", type=Path, default=record.data_folder(), help="folder of the paper's data sets, for rpf reproduce"
    )
    asked = parser.parse_args()
    moments, killed = (2, 4) if asked.short else (asked.interrupts, asked.kills)
    parts = [
        lambda b: interrupts(b, moments, asked.short),
        lambda b: kills(b, killed),
        lambda b: load(b, 20 if asked.short else 100),
    ]
    data = asked.data.resolve()
    if (data / "iris" / "iris.data").exists():
        if not asked.short:
            parts.append(lambda b: reproduction(b, data, moments, signal.SIGINT))
        parts.append(lambda b: reproduction(b, data, 2 if asked.short else killed, signal.SIGKILL))
    faults = []
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(record.built("rpf"), Path(folder), asked.seed)
        for part in parts:
            for name, tally in part(bench):
                counts = ", ".join(f"{count} {what}" for what, count in sorted(tally.outcomes.items()))
                slowest = f", at most {tally.slowest:.2f} s" if tally.slowest else ""
                print(f"{name:28} {counts}{slowest}", flush=True)
                faults += tally.faults
    for fault in faults:
        print(f"fault: {fault}")
    sys.exit(bool(faults))


if __name__ == "__main__":
    main()
