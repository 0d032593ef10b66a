"""Base class of estimators on partitions: parameters, the fitted model, and its way from and to an ordinary one."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from ._cluster import RPFCluster
from ._common import check_int
from ._distributed import DistributedFit
from ._partition import Model

if TYPE_CHECKING:
    from typing_extensions import Self


class Partitioned(BaseEstimator):  # type: ignore[misc, unused-ignore]
    """An estimator that fits a sample of the rows with an ordinary estimator, and applies it to partitions."""

    # The ordinary estimator, its first parameter, and the parameters that it does not have and clones keep.
    _local_type: type[Any] = RPFCluster
    _leading = "n_clusters"
    _own: tuple[str, ...] = ("max_rows",)

    max_rows: int
    _params: dict[str, Any]
    _local: Any

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters that were given."""
        return {name: getattr(self, name) for name in (self._leading, *self._own)} | self._params

    def set_params(self, **params: Any) -> Self:
        """Set parameters of this estimator or of the one it fits."""
        for name in (self._leading, *self._own, "client"):
            if name in params and hasattr(self, name):
                setattr(self, name, params.pop(name))
        self._unfitted({**self._params, **params})
        self._params |= params
        return self

    def _unfitted(self, params: dict[str, Any]) -> Model:
        """Return the ordinary estimator, which refuses parameters it does not have."""
        model: Model = self._local_type(getattr(self, self._leading), **params)
        return model

    def _rows_of_sample(self) -> int:
        return check_int(self.max_rows, "max_rows", 2)

    def _set_fit(self, found: DistributedFit) -> None:
        self._set_model(found.model)
        self.sample_rows_, self.n_samples_ = found.sample, sum(found.rows)

    def _set_model(self, model: Any) -> None:
        self._local = model
        self.n_features_in_ = model.n_features_in_
        if hasattr(model, "feature_names_in_"):
            self.feature_names_in_ = model.feature_names_in_

    @classmethod
    def from_local(cls, model: Any, **own: Any) -> Self:
        """Return an estimator that applies a fitted ordinary estimator, as `rpfcluster.load` reads it.

        Parameters
        ----------
        model : RPFCluster or RPForest
            The fitted estimator.
        **own
            Parameters that it does not have, such as ``client``.

        Returns
        -------
        estimator : object
            Without the attributes of the sample.
        """
        check_is_fitted(model)
        params = model.get_params()
        estimator = cls(params.pop(cls._leading), **own, **params)
        estimator._set_model(model)
        return estimator

    def to_local(self) -> Any:
        """Return the model as an ordinary estimator; the training samples are those of the sample.

        `rpfcluster.save` writes it to a file that the command reads.
        """
        check_is_fitted(self)
        return copy.copy(self._local)

    def __sklearn_is_fitted__(self) -> bool:
        """Return whether there is a model."""
        return hasattr(self, "_local")
