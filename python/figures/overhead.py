"""What a call from Python costs beyond the same work in Rust, on 100,000 rows of 20 columns.

``python python/figures/overhead.py``. One process, one fit: the Rust library times its own stages with its own clock
(``chosen_["seconds"]``), and what the whole Python call takes beyond their sum is counted as overhead. The checks of
the values, the making of labels and arrays, and Rust's own work between stages are all in it, so the figure is an upper
bound. ``predict`` is held against the bare native call, which gets the same array without scikit-learn's checks.
"""

import sys
import time

import numpy as np

from rpfcluster import RPFCluster


def table(n: int, d: int) -> np.ndarray:
    """Return eight round clusters in C order, float32."""
    random = np.random.default_rng(0)
    centres = random.normal(scale=6, size=(8, d))
    return (centres[np.arange(n) % 8] + random.normal(size=(n, d))).astype(np.float32)


def main(n: int = 100_000, d: int = 20) -> tuple[float, float]:
    """Print and return the overhead of fit and of predict, as shares."""
    X = table(n, d)
    RPFCluster(8, tune=False, random_state=0).fit(X[:1000])
    begun = time.perf_counter()
    model = RPFCluster(8, tune=False, random_state=0).fit(X)
    whole = time.perf_counter() - begun
    rust = sum(model.chosen_["seconds"].values())
    fit = (whole - rust) / rust
    print(f"fit:     {whole:.3f} s in Python, {rust:.3f} s in Rust, {100 * fit:.2f} % more")
    native, called = [], []
    for _ in range(3):
        begun = time.perf_counter()
        model._cluster.predict(X)
        native.append(time.perf_counter() - begun)
        begun = time.perf_counter()
        model.predict(X)
        called.append(time.perf_counter() - begun)
    predict = min(called) / min(native) - 1
    print(f"predict: {min(called):.3f} s by the estimator, {min(native):.3f} s natively, {100 * predict:.2f} % more")
    return fit, predict


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
