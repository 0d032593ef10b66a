"""Worker process: runs one method, so that its peak memory can be measured and `isolate` can kill it at a limit.

The job is a JSON object on standard input: the folder of X.npy and y.npy, the task, the method, k and the seeds. `fit`
measures seconds, processor seconds, peak memory and scores of a method, `predict` times rpf's labelling of new rows,
`sampled` a fit with trees of a sample or of a sample alone. The worker prints one line of JSON when the data are loaded
and one for each seed, with the result or the reason for a failure.
"""

from __future__ import annotations

import contextlib
import json
import resource
import statistics
import sys
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from methods import METHODS, AbsentError

# Seconds. Shorter runs are repeated three times and the median is reported.
QUICK = 10.0
WARM_UP_ROWS = 200


def say(**line: Any) -> None:
    """Print one line of JSON for the parent process."""
    print(json.dumps(line), flush=True)


def memory(field: str) -> int:
    """Return VmRSS or VmHWM of this process in bytes; ru_maxrss would include memory inherited from the parent."""
    line = next(line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith(field))
    return int(line.split()[1]) * 1024


def cpu() -> float:
    """Return the processor seconds of this process and its children so far."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(of.ru_utime + of.ru_stime for of in used)


def scores(labels: Any, truth: Any) -> dict[str, float]:
    """Return ARI, NMI and rho_c (in percent), computed by scikit-learn and scipy, independently of rpf."""
    from scipy.optimize import linear_sum_assignment
    from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score
    from sklearn.metrics.cluster import contingency_matrix

    table = contingency_matrix(truth, labels)
    matched = table[linear_sum_assignment(table, maximize=True)].sum()
    return {
        "ari": adjusted_rand_score(truth, labels),
        "nmi": normalized_mutual_info_score(truth, labels),
        "rho_c": 100.0 * matched / len(labels),
    }


def without_noise(labels: Any, truth: Any) -> dict[str, float]:
    """Return the share of rows without a cluster (label -1), and ARI and NMI of the others."""
    kept = labels >= 0
    found = scores(labels[kept], truth[kept]) if kept.any() else {"ari": 0.0, "nmi": 0.0}
    return {"noise": float(1.0 - kept.mean()), "ari_assigned": found["ari"], "nmi_assigned": found["nmi"]}


def fit(job: dict[str, Any], X: Any, y: Any, seed: int) -> None:
    """Run the method once, or three times if it is quick, and report."""
    method = METHODS[job["method"]]
    # Warm-up: imports, compilation and thread start are not measured. An error shows again in the measured run.
    with contextlib.suppress(Exception):
        method(X[:WARM_UP_ROWS], job["k"], seed)
    # Reset the peak, so that loading the data does not count.
    Path("/proc/self/clear_refs").write_text("5")
    base, took, worked = memory("VmRSS"), [], []
    for _ in range(3 if job.get("repeat") else 1):
        clock, before = time.perf_counter(), cpu()
        labels = np.asarray(method(X, job["k"], seed))
        took.append(time.perf_counter() - clock)
        worked.append(cpu() - before)
        if took[-1] > QUICK:
            break
    # A method may start a process of its own (R). The memory it inherits from this one is smaller than its peak.
    peak = max(memory("VmHWM"), resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024)
    found = scores(labels, y) | without_noise(labels, y) | {"clusters": len(np.unique(labels[labels >= 0]))}
    found |= {"seconds": statistics.median(took), "cpu_seconds": statistics.median(worked), "runs": len(took)}
    say(seed=seed, peak=peak, above=peak - base, **found)


def predict(job: dict[str, Any], X: Any, y: Any, seed: int) -> None:
    """Fit on the first rows, then time predict on all others."""
    from rpfcluster import RPFCluster

    first = job["fit_rows"]
    model = RPFCluster(n_clusters=job["k"], random_state=seed, affinity=job["affinity"]).fit(X[:first])
    clock = time.perf_counter()
    labels = model.predict(X[first:])
    seconds = time.perf_counter() - clock
    rows = len(X) - first
    say(seed=seed, seconds=seconds, rows=rows, rows_a_second=rows / seconds, **scores(labels, y[first:]))


def sampled(job: dict[str, Any], X: Any, y: Any, seed: int) -> None:
    """Grow the trees on `m` rows and cluster all ("max_samples"), or cluster `m` rows and label all ("max_rows")."""
    from rpfcluster import RPFCluster
    from rpfcluster.dask import sample_rows

    m, grown = job["m"], job["kind"] == "max_samples"
    settings = {"affinity": job["affinity"], "random_state": seed} | ({"max_samples": m} if grown else {})
    model = RPFCluster(n_clusters=job["k"], **settings)
    clock, before = time.perf_counter(), cpu()
    model.fit(X if grown or m >= len(X) else X[sample_rows(len(X), m, seed)])
    fitted = {"fit_seconds": time.perf_counter() - clock, "fit_cpu_seconds": cpu() - before}
    labels = model.labels_ if len(model.labels_) == len(X) else model.predict(X)
    found = {"seconds": time.perf_counter() - clock, "cpu_seconds": cpu() - before, "peak": memory("VmHWM")}
    say(seed=seed, **fitted, **found, **scores(labels, y), stages=model.chosen_["seconds"])


TASKS = {"fit": fit, "predict": predict, "sampled": sampled}


def main() -> None:
    """Read the job and run it."""
    warnings.simplefilter("ignore")
    job = json.load(sys.stdin)
    X, y = (np.load(Path(job["folder"], name)) for name in ("X.npy", "y.npy"))
    say(ready=True)
    for seed in job["seeds"]:
        try:
            TASKS[job["task"]](job, X, y, seed)
        except AbsentError as why:
            say(seed=seed, failed=f"absent: {why}")
        except MemoryError:
            say(seed=seed, failed="out of memory")
        except Exception as why:
            say(seed=seed, failed=f"failed: {type(why).__name__}: {' '.join(str(why).split())[:200]}")


if __name__ == "__main__":
    main()
