"""Runs a method in a worker process with limits on time and memory. Exceeding a limit is a result, not an error."""

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
# Seconds for one run of a peer.
LIMIT = 300.0
# Seconds for one run of rpf, whose full time is reported.
PATIENT = 3600.0
# Share of the machine's memory that a worker may use.
SHARE = 0.9


@contextlib.contextmanager
def stored(X: Any, y: Any) -> Iterator[tuple[Any, str]]:
    """Store rows and classes in files for the workers; yield a memory map of the rows and the folder."""
    with tempfile.TemporaryDirectory() as folder:
        np.save(Path(folder, "X.npy"), np.ascontiguousarray(X))
        np.save(Path(folder, "y.npy"), y)
        yield np.load(Path(folder, "X.npy"), mmap_mode="r"), folder


def _confine() -> None:
    """Limit the memory of the worker, and make it the first process the kernel kills if memory runs out anyway."""
    total = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    resource.setrlimit(resource.RLIMIT_DATA, (int(total * SHARE),) * 2)
    with contextlib.suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text("1000")


def run(job: dict[str, Any], limit: float = LIMIT) -> Iterator[dict[str, Any]]:
    """Yield one result for each seed of the job; `limit` is the number of seconds for each."""
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
        # Loading the data is not timed, but has the same limit.
        left = list(job["seeds"]) if (why := _next(lines, limit, worker)) == {"ready": True} else []
        if not left:
            yield {"seed": job["seeds"][0], **why}
        while left:
            found = _next(lines, limit, worker)
            yield {"seed": left.pop(0), **found}
            if "failed" in found:  # the other seeds would fail as well
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
