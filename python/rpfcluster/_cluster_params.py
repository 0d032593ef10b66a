"""Parameters of `RPFCluster` under the names of the Rust library. Types are checked here, ranges there."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils import check_scalar

from ._common import check_choice, check_float, check_int, is_auto
from ._spectral import SpectralBase

# Largest number of trees that n_estimators="auto" grows; the same as for `rpf cluster --trees auto`.
_MAX_TREES = 1600
# Parameters that a clustering on the same forest cannot change.
FOREST_PARAMS = (
    *("n_estimators", "split", "direction", "n_candidates", "max_samples", "n_components", "metric", "duplicates"),
    *("categorical_features", "missing", "random_state"),
)


class ClusterParams(SpectralBase):
    """The parameters that the clusterer has and the embedding does not."""

    def _clustering_params(self) -> tuple[int, dict[str, Any]]:
        """Return the number of clusters and the parameters that the embedding does not have."""
        resolution = self._resolution()
        auto = self.n_clusters is not None and is_auto(self.n_clusters, "n_clusters")
        most = check_int(self.max_clusters, "max_clusters", 1) if auto else None
        k = 1 if auto or self.n_clusters is None else check_int(self.n_clusters, "n_clusters", 1)
        method = check_choice(self.method, "method", ("auto", "kway", "ncut", "leiden"))
        # A string such as "no" would count as true.
        tune = bool(check_scalar(self.tune, "tune", (bool, np.bool_, int)))
        return k, {
            "max_k": most,
            "tune": tune,
            "method": None if method == "auto" else method,
            "quality": check_choice(self.quality, "quality", ("modularity", "cpm")),
            "resolution": resolution,
            "components": self._components(),
            "metric": check_choice(self.metric, "metric", ("auto", "euclidean", "cosine")),
            "duplicates": check_choice(self.duplicates, "duplicates", ("weigh", "keep")),
        }

    def _resolution(self) -> float | None:
        """Return the resolution; raise ValueError unless exactly one of it and the number of clusters is given."""
        if self.resolution is None:
            if self.n_clusters is None:
                raise ValueError("n_clusters=None requires a resolution; give one of the two")
            return None
        if self.n_clusters is not None:
            raise ValueError(
                f"n_clusters is {self.n_clusters!r}, but the number of clusters follows from the resolution; "
                "set n_clusters=None"
            )
        return check_float(self.resolution, "resolution")

    def _components(self) -> Any:
        """Return the number of principal components as the library names it."""
        if self.n_components is None:
            return "none"
        if is_auto(self.n_components, "n_components"):
            return "auto"
        return {"count": check_int(self.n_components, "n_components", 1)}

    def _trees(self) -> dict[str, Any]:
        """Return the number of trees, or its limit."""
        if is_auto(self.n_estimators, "n_estimators"):
            return {"max_trees": _MAX_TREES}
        return {"trees": None} if self.n_estimators is None else super()._trees()
