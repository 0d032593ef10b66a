"""Fit on a sample, predict in parts: clusters and forests of a table that no machine holds.

The table comes in partitions, and an engine runs functions on them. A first pass counts the rows and refuses infinities
and, unless `missing` allows them, missing values. The sample, the rows with the smallest hashes of (seed, number of the
row), is taken in a second pass and fitted by one worker. `apply_model` then labels a partition where it is. The model
depends on the sample alone, and whether a row is in the sample on its number, so neither partitions nor workers change
a label.

An engine has three methods: `submit` runs a function on a worker, `gather` waits for results, `broadcast` sends a value
to all workers. `rpfcluster.dask` and `rpfcluster.ray` have one; `InProcess` runs everything at once in this process.
"""

from __future__ import annotations

import logging
import os
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from . import _rpfcluster
from ._checkpoint import Checkpoint
from ._common import resolve_seed, warn_caller
from ._forest import RPForest
from ._partition import (
    Facts,
    Model,
    SampleFit,
    build_id,
    describe,
    fit_sample,
    refuse_other_builds,
    take,
)
from ._printable import printable_errors

logger = logging.getLogger("rpfcluster.distributed")


class Engine(Protocol):
    """What the driver needs of Dask, Ray or anything else that runs functions."""

    def submit(self, function: Any, *arguments: Any) -> Any:
        """Return a task that calls the function. Arguments may be tasks, partitions and broadcast values."""

    def gather(self, tasks: list[Any]) -> list[Any]:
        """Return the results of tasks; raise the exception of one that failed."""

    def broadcast(self, value: Any) -> Any:
        """Send a value to all workers once, and return what stands for it among arguments."""


class InProcess:
    """The engine of this process."""

    def submit(self, function: Any, *arguments: Any) -> Any:
        """Call the function."""
        return function(*arguments)

    def gather(self, tasks: list[Any]) -> list[Any]:
        """Return the results."""
        return tasks

    def broadcast(self, value: Any) -> Any:
        """Return the value."""
        return value


def sample_rows(n: int, m: int, random_state: Any = None) -> NDArray[np.int64]:
    """Return the rows of a sample of ``m`` of ``n`` rows, ascending: those with the smallest hashes."""
    seed = resolve_seed(random_state)
    return _rpfcluster.sampled_places(seed, _rpfcluster.sample_limit(seed, n, m), 0, n)


@dataclass
class DistributedFit:
    """A model of a sample, and the table it was fitted on."""

    model: Model
    # The numbers of the rows of the sample.
    sample: NDArray[np.int64]
    # The number of rows of each partition.
    rows: list[int]
    # `chosen_` of the fit, with its evidence.
    chosen: dict[str, Any]


@printable_errors
def fit(
    engine: Engine,
    estimator: Model,
    partitions: list[Any],
    max_rows: int,
    checkpoint: str | os.PathLike[str] | None = None,
) -> DistributedFit:
    """Fit a sample of at most ``max_rows`` of the rows of all partitions, or read that fit from a checkpoint."""
    if getattr(estimator, "affinity", None) == "precomputed":
        raise ValueError("affinity='precomputed' has no rows to sample; use RPFCluster")
    if checkpoint is not None and not isinstance(estimator.random_state, int | np.integer):
        raise ValueError(
            f"a checkpoint is of one seed, but random_state is {estimator.random_state!r}; set a whole number"
        )
    seed = resolve_seed(estimator.random_state)
    gaps_allowed = estimator.missing != "error"
    facts = engine.gather([engine.submit(describe, part, gaps_allowed, checkpoint is not None) for part in partitions])
    _check(facts)
    rows = [fact.rows for fact in facts]
    n, size = sum(rows), sum(fact.bytes for fact in facts)
    if n < 2:
        raise ValueError(f"Found array with {n} sample(s) while a minimum of 2 is required.")
    logger.info(
        "%d rows in %d partitions, %.1f MB, the largest %.1f MB",
        *(n, len(facts), size / 1e6, max(fact.bytes for fact in facts) / 1e6),
    )
    limit = _rpfcluster.sample_limit(seed, n, max_rows)
    firsts = np.cumsum([0, *rows])[:-1].tolist()
    places = [_rpfcluster.sampled_places(seed, limit, *part) for part in zip(firsts, rows, strict=True)]
    numbers = np.concatenate([first + at for first, at in zip(firsts, places, strict=True)])
    seeded = clone(estimator).set_params(random_state=seed)

    def from_rows() -> SampleFit:
        logger.info("fitting a sample of %d rows, %.1f MB, on one worker", len(numbers), size / n * len(numbers) / 1e6)
        parts = zip(partitions, rows, places, strict=True)
        tasks = [engine.submit(take, part, count, at) for part, count, at in parts if len(at)]
        fitted: SampleFit = engine.gather([engine.submit(fit_sample, build_id(), seeded, *tasks)])[0]
        return fitted

    keeper = None if checkpoint is None else Checkpoint.of(checkpoint, seeded, max_rows, facts)
    found = from_rows() if keeper is None else keeper.read_or(from_rows)
    for hint in found.hints:
        warn_caller(f"in the sample: {hint}")
    if isinstance(found.model, RPForest):
        logger.info("grew %d trees", len(found.model._forest.offsets) - 1)
    else:
        logger.info("fitted %d clusters", found.model.n_clusters_)
    return DistributedFit(found.model, numbers, rows, found.chosen)


def _check(facts: list[Facts]) -> None:
    """Raise one error, that of the first partition that cannot be used."""
    if not facts:
        raise ValueError("the table has no partitions")
    refuse_other_builds({f"of partition {number}": fact.build for number, fact in enumerate(facts)})
    for number, fact in enumerate(facts):
        if fact.problem is not None:
            raise ValueError(f"partition {number}: {fact.problem}")
        for what, here, there in (("columns", fact.names, facts[0].names), ("dtype", fact.dtype, facts[0].dtype)):
            if here != there:
                raise ValueError(f"partition {number} has {what} {here}, but partition 0 has {there}")
