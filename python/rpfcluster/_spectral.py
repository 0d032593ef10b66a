"""Base class of the clusterer and the embedding: parameters of the native module, and the affinity matrix."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from . import _rpfcluster
from ._common import (
    as_native,
    check_choice,
    check_float_or_auto,
    check_int,
    check_max_samples,
    is_auto,
    make_progress,
    resolve_seed,
    resolve_threads,
)


class SpectralBase(TransformerMixin, BaseEstimator):  # type: ignore[misc, unused-ignore]
    """Base class of the clusterer and the embedding."""

    _cluster: _rpfcluster.Cluster
    _affinities: tuple[str, ...] = ("auto", "paper", "linear", "top-k")

    def _params(self, k: int) -> dict[str, Any]:
        """Return the parameters under the names of the Rust library, with None for ``"auto"``.

        Only types are checked here. The library checks ranges and refuses parameters that do not apply; its errors are
        raised as ValueError with the names of this estimator.
        """
        affinity = check_choice(self.affinity, "affinity", self._affinities)
        split, top = self.min_samples_split, self.n_neighbors
        return {
            "k": k,
            **self._trees(),
            "min_node": None if is_auto(split, "min_samples_split") else check_int(split, "min_samples_split", 2),
            "split": check_choice(self.split, "split", ("uniform", "median")),
            "direction": check_choice(self.direction, "direction", ("gaussian", "sparse")),
            "candidates": check_int(self.n_candidates, "n_candidates", 1),
            "max_samples": check_max_samples(self),
            "affinity": None if affinity == "auto" else affinity,
            "beta1": check_float_or_auto(self.beta1, "beta1"),
            "beta2": check_float_or_auto(self.beta2, "beta2"),
            "diagonal": check_choice(self.diagonal, "diagonal", ("keep", "drop")),
            "top": None if is_auto(top, "n_neighbors") else check_int(top, "n_neighbors", 1),
            "power": check_float_or_auto(self.power, "power"),
            **self._spectral(k),
        }

    def _trees(self) -> dict[str, Any]:
        """Return the number of trees."""
        return {"trees": check_int(self.n_estimators, "n_estimators", 1)}

    def _spectral(self, k: int) -> dict[str, Any]:
        """Return the parameters of the spectral step."""
        solver = check_choice(self.solver, "solver", ("auto", "dense", "block", "nystrom"))
        landmarks = check_int(self.n_landmarks, "n_landmarks", 1)
        return {"solver": solver, "landmarks": landmarks, "seed": resolve_seed(self.random_state)}

    def _fit_cluster(self, X: Any, k: int, embedding: bool = False, **more: Any) -> None:
        params = json.dumps({**self._params(k), **more})
        runtime = resolve_threads(self.n_jobs), self._limit(), make_progress(self.verbose)
        self._cluster = _rpfcluster.Cluster.fit(as_native(X, self), params, *runtime, embedding)
        self._affinity_matrix: Any = None

    def _limit(self) -> int | None:
        return None if self.memory_limit is None else check_int(self.memory_limit, "memory_limit", 1)

    @property
    def chosen_(self) -> dict[str, Any]:
        """Resolved values of the parameters left at "auto", and the outcome of the eigensolver."""
        check_is_fitted(self)
        if "_used" in vars(self):
            return dict(self._used)
        used = json.loads(self._cluster.used)
        affinity = used.pop("affinity")
        names = {"top": "n_neighbors", "kind": "affinity"}
        return {
            **{names.get(name, name): value for name, value in affinity.items()},
            "min_samples_split": used.pop("min_node"),
            **used,
        }

    @property
    def affinity_matrix_(self) -> Any:
        """The affinity matrix, computed on first access.

        A CSR matrix, except for affinity="paper", which has no zero entries and is an ndarray, and for
        affinity="precomputed", which returns the input.
        """
        check_is_fitted(self)
        if self._affinity_matrix is None:
            constant, (starts, columns, values) = self._cluster.affinity(make_progress(self.verbose))
            n = len(starts) - 1
            matrix: Any = sparse.csr_matrix((values, columns, starts), shape=(n, n))
            groups = self._cluster.distinct_rows()
            if groups is not None:
                # Copies of a row have its similarities, and none among themselves.
                matrix = matrix[groups][:, groups]
            self._affinity_matrix = _add_constant(matrix, constant) if constant > 0 else matrix
        return self._affinity_matrix

    def __sklearn_tags__(self) -> Any:
        """Declare support for sparse input, and that float32 and float64 are preserved."""
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def _add_constant(matrix: sparse.csr_matrix, constant: float) -> NDArray[np.float64]:
    """Add a constant to every entry, in blocks of rows, so that Ctrl-C is handled between blocks."""
    dense = np.empty(matrix.shape)
    for first in range(0, len(dense), 1000):
        part = slice(first, first + 1000)
        dense[part] = matrix[part].toarray() + constant
    return dense
