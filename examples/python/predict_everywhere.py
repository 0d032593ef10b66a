"""One model, labels everywhere: Dask, Ray Data, Spark, Polars and DuckDB, one call each.

A model is fitted once, on rows that one machine holds. It pickles, and the label of a row does not depend on the other
rows in the call, so any engine that runs a function on batches can label rows, in any number of batches and workers.
`dask`, `ray`, `spark`, `polars` and `duckdb` each return the labels of Parquet files; arguments name those to run.
"""

import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from rpfcluster import RPFCluster
from rpfcluster.datasets import make_shape

COLUMNS = ["x", "y"]


def dask(model: RPFCluster, files: list[str]) -> Any:
    """Label partition by partition with `map_partitions`, on the scheduler that Dask has."""
    import dask.dataframe as dd

    rows = dd.read_parquet(files)
    return rows.assign(cluster=rows[COLUMNS].map_partitions(model.predict, meta=np.empty(0, int))).compute()


def ray(model: RPFCluster, files: list[str]) -> Any:
    """Label batch by batch with `map_batches`; `rpfcluster.ray` does it with a model that is read once a worker."""
    import ray.data

    rows = ray.data.read_parquet(files)
    return rows.map_batches(lambda batch: batch.assign(cluster=model.predict(batch[COLUMNS])), batch_format="pandas")


def spark(model: RPFCluster, files: list[str], session: Any) -> Any:
    """Label Arrow batches with `mapInArrow`, in Spark and in Spark Connect."""
    import pyarrow as pa
    from pyspark.sql.types import LongType, StructField, StructType

    def labelled(batches: Any) -> Any:
        for batch in batches:
            yield batch.append_column("cluster", pa.array(model.predict(pa.table(batch).select(COLUMNS))))

    rows = session.read.parquet(*files)
    return rows.mapInArrow(labelled, StructType([*rows.schema, StructField("cluster", LongType())]))


def polars(model: RPFCluster, files: list[str]) -> Any:
    """Label batches of a lazy frame; the streaming engine holds a few of them at a time."""
    import polars as pl

    def labelled(batch: pl.DataFrame) -> pl.DataFrame:
        return batch.with_columns(pl.Series("cluster", model.predict(batch.select(COLUMNS)), pl.Int64))

    rows = pl.scan_parquet(files)
    schema = {**rows.collect_schema(), "cluster": pl.Int64}
    return rows.map_batches(labelled, schema=schema, streamable=True).collect(engine="streaming")


def duckdb(model: RPFCluster, files: list[str]) -> Any:
    """Label a column of a query with a function over Arrow vectors."""
    import duckdb
    import pyarrow as pa

    def cluster(x: Any, y: Any) -> Any:
        return pa.array(model.predict(pa.table([x, y], COLUMNS)))

    with duckdb.connect() as database:
        database.create_function("cluster", cluster, ["DOUBLE", "DOUBLE"], "BIGINT", type="arrow")
        return database.execute("SELECT *, cluster(x, y) AS cluster FROM read_parquet(?)", [files]).df()


ENGINES = {"dask": dask, "ray": ray, "spark": spark, "polars": polars, "duckdb": duckdb}


def main(engines: tuple[str, ...], **more: Any) -> dict[str, float]:
    """Print and return the share of the rows that each engine labels as the model does in this process."""
    X, _ = make_shape("rings", 3000, random_state=0)
    frame = pd.DataFrame(X, columns=COLUMNS).assign(row=np.arange(3000))
    model = RPFCluster(3, n_estimators=50, random_state=0).fit(frame[COLUMNS][:1000])
    expected, found = model.predict(frame[COLUMNS]), {}
    with tempfile.TemporaryDirectory() as folder:
        files = [str(Path(folder, f"{part}.parquet")) for part in range(3)]
        for part, file in enumerate(files):
            frame[1000 * part : 1000 * (part + 1)].to_parquet(file, index=False)
        for name in engines:
            rows = ENGINES[name](model, files, **more)
            for way in ("to_pandas", "toPandas"):
                rows = getattr(rows, way)() if hasattr(rows, way) else rows
            rows = rows.sort_values("row")
            found[name] = float((rows["cluster"].to_numpy() == expected).mean()) * (len(rows) == len(frame))
            print(f"{name:8} {found[name]:.0%} of {len(rows)} labels agree")
    return found


if __name__ == "__main__":
    main(tuple(sys.argv[1:]) or ("dask", "polars"))
