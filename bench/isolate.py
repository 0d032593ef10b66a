"""Starts workers, and ends them when they take too long or too much memory; both are results, not errors."""

from __future__ import annotations

import contextlib
import json
import os
import queue
import resource
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

WORKER = Path(__file__).with_name("worker.py")
LIMIT = 300.0
# Where the whole time is wanted, five minutes are not enough.
PATIENT = 3600.0
# Of the machine's memory, what one method may have; the rest is the system's.
SHARE = 0.9


@contextlib.contextmanager
def stored(X: Any, y: Any) -> Iterator[tuple[Any, str]]:
    """Keep rows and classes in files for the workers; a view of the file stands in for the rows here."""
    with tempfile.TemporaryDirectory() as folder:
        np.save(Path(folder, "X.npy"), np.ascontiguousarray(X))
        np.save(Path(folder, "y.npy"), y)
        yield np.load(Path(folder, "X.npy"), mmap_mode="r"), folder


def _confine() -> None:
    """Let the worker meet a MemoryError rather than the machine a shortage; where that fails, it is ended first."""
    total = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    resource.setrlimit(resource.RLIMIT_DATA, (int(total * SHARE),) * 2)
    with contextlib.suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text("1000")


def run(job: dict[str, Any], limit: float = LIMIT) -> Iterator[dict[str, Any]]:
    """Yield one result for each seed of the job; `limit` is the seconds each may take."""
    worker = subprocess.Popen(
        [sys.executable, str(WORKER)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        preexec_fn=_confine,
        start_new_session=True,
    )
    lines: queue.Queue[str | None] = queue.Queue()

    def listen() -> None:
        for line in worker.stdout or ():
            lines.put(line)
        lines.put(None)

    threading.Thread(target=listen, daemon=True).start()
    try:
        assert worker.stdin is not None
        worker.stdin.write(json.dumps(job))
        worker.stdin.close()
        # Loading the data is not timed, but must end too.
        left = list(job["seeds"]) if (why := _next(lines, limit, worker)) == {"ready": True} else []
        if not left:
            yield {"seed": job["seeds"][0], **why}
        while left:
            found = _next(lines, limit, worker)
            yield {"seed": left.pop(0), **found}
            if "failed" in found:  # the other seeds would fare no better
                break
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(worker.pid, signal.SIGKILL)
        worker.wait()


def _next(lines: queue.Queue[str | None], limit: float, worker: subprocess.Popen[str]) -> dict[str, Any]:
    try:
        line = lines.get(timeout=limit)
    except queue.Empty:
        return {"failed": f"over {limit:.0f} s"}
    if line is not None:
        found: dict[str, Any] = json.loads(line)
        return found
    if (code := worker.wait()) == -signal.SIGKILL:
        return {"failed": "out of memory"}
    return {"failed": f"failed: ended with {code}"}
