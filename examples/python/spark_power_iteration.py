"""The kernel as an edge table for Spark's PowerIterationClustering.

`rpf kernel DATA --top K -o edges.parquet` writes the columns i, j and s: the K most similar rows of each row, both
directions and the diagonal. Power iteration clustering (Lin and Cohen, 2010) wants each pair once and no row beside
itself. It finds the clusters from one vector, a mixture of the leading eigenvectors, in rounds of message passing; a
graph of more rows than a machine holds can be clustered so. It is less accurate than eigenvectors where clusters are
many or close. Needs ``pip install pyspark`` and Java 17, and the command.
"""

import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.metrics import adjusted_rand_score

from rpfcluster.datasets import make_shape


def clusters(session: Any, edges: str, k: int) -> Any:
    """Return the rows and clusters of an edge table as a Spark frame with the columns id and cluster."""
    from pyspark.ml.clustering import PowerIterationClustering
    from pyspark.sql.functions import col

    pairs = session.read.parquet(edges).where("i < j").select(col("i").cast("long"), col("j").cast("long"), "s")
    walk = PowerIterationClustering(k=k, maxIter=60, srcCol="i", dstCol="j", weightCol="s", initMode="degree")
    return walk.assignClusters(pairs)


def main(session: Any, rpf: str = "rpf", n_samples: int = 600) -> list[float]:
    """Print and return the adjusted Rand index with the true clusters for five tables."""
    scores = []
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(5):
            X, y = make_shape("blobs", n_samples, random_state=seed)
            np.save(Path(folder, "rows.npy"), X)
            edges = str(Path(folder, f"edges-{seed}.parquet"))
            line = [rpf, "kernel", str(Path(folder, "rows.npy")), "--top", "20", "--seed", str(seed), "-q", "-o", edges]
            subprocess.run(line, check=True)
            found = clusters(session, edges, len(np.unique(y))).toPandas().sort_values("id")
            # A row without neighbours is in no pair.
            scores.append(float(adjusted_rand_score(y[found["id"]], found["cluster"])))
            print(f"seed {seed}: ARI {scores[-1]:.2f}, {len(found)} of {len(y)} rows")
    return scores


if __name__ == "__main__":
    from pyspark.sql import SparkSession

    main(SparkSession.builder.master("local[2]").getOrCreate(), *sys.argv[1:2])
