"""Other ways to cluster the kernel or its neighbour graph, beside the sharp setting: mean ARI at the true K.

- average linkage (UPGMA) of 1 - S over all rows, or over segments: the 4K clusters of the sharp graph;
- a maximum spanning tree of the sharp graph whose weakest edges are cut, unless a part would hold fewer rows than a
  share of n / K;
- weights of rows that lie between clusters: edges are multiplied by the mean similarity of both ends to their
  neighbours;
- Leiden at K on sharper and softer graphs, and the sharp setting without over-segmentation and merging;
- propagation: the denser half of the rows is clustered, the others take the labels that most of their weight points
  to.

    python bench/other_families.py --half design
"""

from __future__ import annotations

import argparse
import warnings
from typing import Any

import numpy as np
import record
import verdict
from bundled_sets import bundled
from scipy import sparse
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.sparse.csgraph import connected_components, minimum_spanning_tree
from scipy.spatial.distance import squareform
from sklearn.metrics import adjusted_rand_score

# The kernel of more rows is not computed densely.
MAX_ROWS = 5000
SEGMENTS = 4
SHARES = (0.1, 0.25, 0.5)
# Neighbours and powers of Leiden at K.
LEIDEN = ((10, 0.1), (10, 1.0), (10, 2.0), (20, 0.1), (20, 1.0), (20, 2.0))


def average_linkage(S: Any, k: int) -> Any:
    """Return the labels of average linkage of 1 - S."""
    apart = 1 - S
    np.fill_diagonal(apart, 0)
    tree = linkage(squareform(np.maximum(apart, apart.T), checks=False), "average")
    return fcluster(tree, k, "maxclust")


def over_segments(S: Any, segments: Any, k: int) -> Any:
    """Return the labels of average linkage over segments, by their mean similarity."""
    count = segments.max() + 1
    member = sparse.csr_matrix((np.ones(len(segments)), (segments, np.arange(len(segments)))), (count, len(segments)))
    sums = member @ (member @ S).T
    sizes = np.asarray(member.sum(axis=1)).ravel()
    live = list(range(count))
    of = np.arange(count)
    while len(live) > k:
        mean = sums[np.ix_(live, live)] / np.outer(sizes[live], sizes[live])
        np.fill_diagonal(mean, -1)
        a, b = (live[at] for at in np.unravel_index(np.argmax(mean), mean.shape))
        sums[a] += sums[b]
        sums[:, a] += sums[:, b]
        sizes[a] += sizes[b]
        of[of == b] = a
        live.remove(b)
    return of[segments]


def spanning_tree(graph: Any, k: int, share: float) -> Any:
    """Return the parts of a spanning tree after cutting its weakest edges, none into parts below a share of n / K."""
    n = graph.shape[0]
    distances = graph.copy()
    distances.data = 2 - distances.data / distances.data.max()
    tree = minimum_spanning_tree(distances).tocoo()
    # Components are joined last, at the largest distance.
    count, component = connected_components(tree, directed=False)
    first = [int(np.flatnonzero(component == c)[0]) for c in range(count)]
    rows, cols = [*tree.row.tolist(), *first[1:]], [*tree.col.tolist(), *first[:-1]]
    lengths = np.array([*tree.data.tolist(), *([4.0] * (count - 1))])
    near: list[set[int]] = [set() for _ in range(n)]
    for a, b in zip(rows, cols, strict=True):
        near[a].add(b)
        near[b].add(a)
    least = share * n / k
    parts = 1
    for e in np.argsort(-lengths, kind="stable"):
        if parts == k:
            break
        a, b = rows[e], cols[e]
        near[a].discard(b)
        near[b].discard(a)
        if min(_size(near, a, least), _size(near, b, least)) < least:
            near[a].add(b)
            near[b].add(a)
        else:
            parts += 1
    starts = np.cumsum([0, *(len(around) for around in near)])
    ends = np.array([b for around in near for b in around], int)
    left = sparse.csr_matrix((np.ones(len(ends)), ends, starts), shape=(n, n))
    return connected_components(left, directed=False)[1]


def _size(near: list[set[int]], start: int, enough: float) -> int:
    seen, waiting = {start}, [start]
    while waiting and len(seen) < enough:
        new = near[waiting.pop()] - seen
        seen |= new
        waiting.extend(new)
    return len(seen)


def measure(X: Any, k: int, sharp_only: bool) -> dict[str, Any]:
    """Return the labels of each family."""
    from rpfcluster import RPFCluster, RPForestKernel

    n = len(X)
    fit = {"affinity": "top-k", "tune": False, "random_state": 0}
    # One cluster first, since a fit of more is assessed, which takes longer than all of this.
    forest = RPFCluster(1, **fit).fit(X)
    sharp = forest.recut(n_clusters=k)
    found = {"sharp": sharp.labels_}
    whole = RPFCluster(k, affinity="precomputed", random_state=0).fit(sharp.affinity_matrix_)
    found["sharp, without over-segmentation"] = whole.labels_
    if sharp_only:
        return found
    for neighbors, power in LEIDEN:
        of = forest.recut(n_clusters=k, method="leiden", n_neighbors=neighbors, power=power)
        found[f"leiden, {neighbors} neighbours, power {power}"] = of.labels_
    kernel = RPForestKernel(min_samples_split=24 if n >= 48 else max(6, n // 2), random_state=0)
    S = np.asarray(kernel.fit_transform(X))
    found["average linkage of S"] = average_linkage(S, k)
    segments = forest.recut(n_clusters=min(SEGMENTS * k, n // 5)).labels_
    found["average linkage over segments"] = over_segments(S, segments, k)
    np.fill_diagonal(S, 0)
    order = np.argsort(-S, axis=1, kind="stable")[:, : min(20, n - 1)]
    similar = np.take_along_axis(S, order, 1)
    rows = np.repeat(np.arange(n), order.shape[1])

    def graph(values: Any) -> Any:
        one = sparse.csr_matrix((values.ravel(), (rows, order.ravel())), shape=(n, n))
        one = one.maximum(one.T)
        one.eliminate_zeros()
        return one

    for share in SHARES:
        found[f"spanning tree, parts of at least {share} n/K"] = spanning_tree(graph(similar), k, share)
    dense = similar.mean(axis=1)
    for power in (1, 2):
        weighed = similar**8 * (dense[:, None] * dense[order]) ** power
        of = RPFCluster(k, affinity="precomputed", random_state=0).fit(graph(weighed))
        found[f"rows between weigh less, power {power}"] = of.labels_
    core = np.flatnonzero(dense >= np.median(dense))
    sharp_graph = graph(similar**8)
    # A row of the core may have all its neighbours outside.
    inner = sharp_graph[core][:, core] + 1e-9 * sparse.identity(len(core))
    of_core = RPFCluster(k, affinity="precomputed", random_state=0).fit(inner.tocsr())
    votes = np.zeros((n, k))
    votes[core, of_core.labels_] = 1
    fixed = votes.copy()
    for _ in range(30):
        votes = sharp_graph @ votes
        votes /= np.maximum(votes.sum(axis=1, keepdims=True), 1e-300)
        votes[core] = fixed[core]
    found["propagation from the denser half"] = votes.argmax(axis=1)
    return found


def main() -> None:
    """Print the mean ARI of each family."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--half", choices=("design", "check"), default="design")
    parser.add_argument("--rows", type=int, default=MAX_ROWS, help="larger tables are left out")
    parser.add_argument("--sharp", action="store_true", help="only the sharp setting, with tables of any size")
    asked = parser.parse_args()
    aris: dict[str, dict[str, list[float]]] = {}
    for family, name, X, y in (*verdict.battery(), *bundled()):
        X, y = X[y >= 0], y[y >= 0]
        if verdict.half(name) != asked.half or (len(X) > asked.rows and not asked.sharp) or len(X) < 40:
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for method, labels in measure(X, len(set(y.tolist())), asked.sharp).items():
                ari = adjusted_rand_score(y, labels)
                aris.setdefault(method, {}).setdefault(family, []).append(ari)
                record.keep(
                    "other-families", {"family": family, "set": name, "half": asked.half, "method": method, "ari": ari}
                )
    for method, of in aris.items():
        print(f"| {method} | " + " | ".join(f"{np.mean(found):.3f} ({len(found)})" for found in of.values()) + " |")


if __name__ == "__main__":
    main()
