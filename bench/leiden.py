"""The Leiden algorithm of rpfcluster against leidenalg, its accuracy, and its time against the eigenvectors'.

`graphs`: modularity and CPM of both on ten graphs at several resolutions; the aim is 99.5 % of leidenalg's quality.
`labels`: adjusted Rand index and mutual information at the true number of clusters on large real tables, beside kway.
`time`: CPU seconds of the eigenvectors and of the communities on a million rows with 20 neighbours.

leidenalg and igraph (GPL) are installed for the comparison only.
"""

from __future__ import annotations

import argparse
import gzip
import time
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import record
import verdict
from scipy import sparse

from rpfcluster import RPFCluster

Line = dict[str, Any]
NEIGHBORS = 20
# Battery sets of the comparison: the largest design sets.
BATTERY = 4
# CPM resolutions, as multiples of the mean weight over all pairs.
RESOLUTIONS = (0.25, 1.0, 4.0)


def letter() -> tuple[Any, Any]:
    """Return the letters."""
    lines = (record.data_folder() / "large/letter/letter-recognition.data").read_text().split()
    rows = [line.split(",") for line in lines]
    return np.array([row[1:] for row in rows], float), np.array([ord(row[0]) for row in rows])


def pendigits() -> tuple[Any, Any]:
    """Return the pen digits."""
    paths = sorted((record.data_folder() / "large/pendigits").glob("pendigits.t*"))
    table = np.vstack([np.loadtxt(path, delimiter=",") for path in paths])
    return table[:, :-1], table[:, -1].astype(int)


def usps() -> tuple[Any, Any]:
    """Return the USPS digits."""
    folder = record.data_folder() / "large/usps"
    table = np.vstack([np.loadtxt(folder / f"zip.{part}.gz") for part in ("train", "test")])
    return table[:, 1:], table[:, 0].astype(int)


def mnist() -> tuple[Any, Any]:
    """Return MNIST."""
    folder = record.data_folder() / "large/mnist"

    def numbers(name: str, skip: int) -> Any:
        return np.frombuffer(gzip.decompress((folder / name).read_bytes()), np.uint8, offset=skip)

    images = [numbers(f"{part}-images-idx3-ubyte.gz", 16).reshape(-1, 784) for part in ("train", "t10k")]
    classes = [numbers(f"{part}-labels-idx1-ubyte.gz", 8) for part in ("train", "t10k")]
    return np.vstack(images).astype(np.float32), np.concatenate(classes).astype(int)


def mixture(n: int, d: int = 10, k: int = 20, seed: int = 0) -> tuple[Any, Any]:
    """Return a mixture of normal clusters."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, k, n)
    return (rng.normal(size=(k, d)) * 2.0)[y] + rng.normal(size=(n, d)), y


LARGE = {"pendigits": pendigits, "usps": usps, "letter": letter, "mnist": mnist}


def graph_of(x: Any, power: float) -> sparse.csr_matrix:
    """Return the top-k graph of a table."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = RPFCluster(
            1, affinity="top-k", n_neighbors=NEIGHBORS, power=power, tune=False, duplicates="keep", random_state=0
        ).fit(x)
    return model.affinity_matrix_


def graphs() -> Iterator[tuple[str, sparse.csr_matrix]]:
    """Yield ten graphs: three large tables, four battery sets, three made up."""
    yield "pendigits", graph_of(pendigits()[0], 4)
    yield "usps", graph_of(usps()[0], 2)
    yield "letter", graph_of(letter()[0], 4)
    sets = [(len(x), name, x) for _, name, x, _ in verdict.battery() if verdict.half(name) == "design"]
    for _, name, x in sorted(sets, key=lambda one: (-one[0], one[1]))[:BATTERY]:
        yield name, graph_of(x, 8)
    yield "mixture-20000", graph_of(mixture(20_000)[0], 4)
    yield "planted-5000", planted(5000, 40, 12, 6, 1)
    yield "planted-20000-weak", planted(20_000, 100, 8, 8, 2)


def planted(n: int, groups: int, inside: int, outside: int, seed: int) -> sparse.csr_matrix:
    """Return a random graph with planted groups."""
    rng = np.random.default_rng(seed)
    rows = np.repeat(np.arange(n), inside + outside)
    near = rng.integers(0, n // groups, (n, inside)) * groups + (np.arange(n) % groups)[:, None]
    columns = np.hstack([near % n, rng.integers(0, n, (n, outside))]).ravel()
    matrix = sparse.csr_matrix((rng.uniform(0.2, 1, len(rows)), (rows, columns)), (n, n))
    matrix = matrix.maximum(matrix.T).tolil()
    matrix.setdiag(0)
    matrix = matrix.tocsr()
    matrix.eliminate_zeros()
    return matrix


def quality(matrix: sparse.csr_matrix, labels: Any, resolution: float, kind: str) -> float:
    """Return modularity or the CPM sum, computed here for both programs."""
    total = matrix.sum()
    pairs = matrix.tocoo()
    inside = pairs.data[labels[pairs.row] == labels[pairs.col]].sum()
    if kind == "modularity":
        volumes = np.bincount(labels, weights=np.asarray(matrix.sum(axis=1)).ravel())
        return float(inside / total - resolution * ((volumes / total) ** 2).sum())
    sizes = np.bincount(labels).astype(float)
    return float(inside / 2 - resolution * (sizes * (sizes - 1) / 2).sum())


def compare(name: str, matrix: sparse.csr_matrix) -> Iterator[Line]:
    """Yield the quality of both programs on one graph."""
    import igraph
    import leidenalg

    upper = sparse.triu(matrix, 1).tocoo()
    n = matrix.shape[0]
    peer = igraph.Graph(n, list(zip(upper.row.tolist(), upper.col.tolist(), strict=True)))
    types = {"modularity": leidenalg.RBConfigurationVertexPartition, "cpm": leidenalg.CPMVertexPartition}
    for kind, unit in (("modularity", 1.0), ("cpm", matrix.sum() / n**2)):
        for factor in RESOLUTIONS:
            at = unit * factor
            clock = time.process_time()
            model = RPFCluster(
                None, affinity="precomputed", method="leiden", quality=kind, resolution=at, random_state=0
            ).fit(matrix)
            own_seconds = time.process_time() - clock
            clock = time.process_time()
            found = leidenalg.find_partition(
                peer, types[kind], weights=upper.data.tolist(), resolution_parameter=at, seed=0
            )
            peer_seconds = time.process_time() - clock
            own, other = (quality(matrix, np.asarray(x), at, kind) for x in (model.labels_, found.membership))
            yield {
                "graph": name,
                "n": n,
                "pairs": int(matrix.nnz),
                "kind": kind,
                "factor": factor,
                "quality": own,
                "leidenalg": other,
                "ratio": own / other,
                "communities": model.n_clusters_,
                "leidenalg_communities": len(found),
                "seconds": own_seconds,
                "leidenalg_seconds": peer_seconds,
            }


def labels(names: list[str]) -> Iterator[Line]:
    """Yield the agreement with the classes."""
    from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score

    for name in names:
        x, y = LARGE[name]()
        k = len(set(y))
        for settings in ({"n_neighbors": 10, "power": 4.0}, {"n_neighbors": 20, "power": 8.0}):
            for method in ("kway", "leiden"):
                clock = time.process_time()
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    model = RPFCluster(
                        k, tune=False, affinity="top-k", method=method, min_samples_split=24, random_state=0, **settings
                    ).fit(x)
                yield {
                    "set": name,
                    "method": method,
                    **settings,
                    "ari": adjusted_rand_score(y, model.labels_),
                    "nmi": normalized_mutual_info_score(y, model.labels_),
                    "seconds": time.process_time() - clock,
                    "stages": model.chosen_["seconds"],
                }


def times(n: int) -> Iterator[Line]:
    """Yield the time of eigenvectors and of communities."""
    x, y = mixture(n)
    from sklearn.metrics import adjusted_rand_score

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        settings = {"affinity": "top-k", "n_neighbors": NEIGHBORS, "power": 4.0, "tune": False, "random_state": 0}
        model = RPFCluster(1, n_estimators=50, **settings).fit(x.astype(np.float32))
    for method in ("kway", "leiden"):
        clock = time.process_time()
        other = model.recut(n_clusters=20, method=method)
        cpu = time.process_time() - clock
        stages = other.chosen_["seconds"]
        yield {
            "n": n,
            "method": method,
            "cpu_seconds_with_kernel": cpu,
            "stages": stages,
            "ari": adjusted_rand_score(y, other.labels_),
        }


def main() -> None:
    """Run one of the comparisons."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=("graphs", "labels", "time"))
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--sets", default="pendigits,usps,letter,mnist")
    parser.add_argument("--store", action="store_true", help="append the lines to bench/results")
    args = parser.parse_args()
    lines: Iterator[Line]
    if args.what == "graphs":
        lines = (line for name, matrix in graphs() for line in compare(name, matrix))
    elif args.what == "labels":
        lines = labels(args.sets.split(","))
    else:
        lines = times(args.rows)
    for line in lines:
        print({key: round(value, 5) if isinstance(value, float) else value for key, value in line.items()}, flush=True)
        if args.store:
            record.keep("leiden", {"what": args.what, **line})


if __name__ == "__main__":
    main()
