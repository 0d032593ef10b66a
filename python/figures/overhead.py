"""Overhead of calls from Python over the same work in Rust, on 100,000 samples of 20 features.

``python python/figures/overhead.py [SAMPLES [FEATURES]]``. For ``fit``, the overhead is the time of the Python call
minus the sum of the stages that the Rust library measures (``chosen_["seconds"]``). It includes input validation,
conversion of results and the work of the library between stages, so it is an upper bound. ``predict`` is compared with
the native call on the same array, which skips scikit-learn's validation.
"""

import sys
import time

import numpy as np

from rpfcluster import RPFCluster


def table(n: int, d: int) -> np.ndarray:
    """Return eight spherical clusters, float32 in C order."""
    random = np.random.default_rng(0)
    centres = random.normal(scale=6, size=(8, d))
    return (centres[np.arange(n) % 8] + random.normal(size=(n, d))).astype(np.float32)


def main(n: int = 100_000, d: int = 20) -> tuple[float, float]:
    """Print and return the overhead of fit and of predict as fractions."""
    X = table(n, d)
    RPFCluster(8, tune=False, random_state=0).fit(X[:1000])
    start = time.perf_counter()
    model = RPFCluster(8, tune=False, random_state=0).fit(X)
    total = time.perf_counter() - start
    rust = sum(model.chosen_["seconds"].values())
    fit = (total - rust) / rust
    print(f"fit:     {total:.3f} s in Python, {rust:.3f} s in Rust, {100 * fit:.2f} % more")
    native, called = [], []
    for _ in range(3):
        start = time.perf_counter()
        model._cluster.predict(X)
        native.append(time.perf_counter() - start)
        start = time.perf_counter()
        model.predict(X)
        called.append(time.perf_counter() - start)
    predict = min(called) / min(native) - 1
    print(f"predict: {min(called):.3f} s by the estimator, {min(native):.3f} s natively, {100 * predict:.2f} % more")
    return fit, predict


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
