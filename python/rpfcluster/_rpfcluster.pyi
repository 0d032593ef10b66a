"""Types of the native module. It is not public: use the names of the package."""

import os
from collections.abc import Callable
from typing import Any, TypeAlias, TypedDict

import numpy as np
from numpy.typing import NDArray

__version__: str

Ints: TypeAlias = NDArray[np.int64]
Floats: TypeAlias = NDArray[np.float64]
Indices: TypeAlias = NDArray[np.int32] | NDArray[np.int64]
Csr: TypeAlias = tuple[Indices, Indices, Floats]
Dense: TypeAlias = NDArray[np.floating] | NDArray[np.int8] | NDArray[np.uint8]
Sparse: TypeAlias = tuple[NDArray[Any], NDArray[Any], NDArray[Any], int]
Prepared: TypeAlias = tuple[NDArray[Any], list[float] | None, list[tuple[int, str | None]]]
Table: TypeAlias = Dense | Sparse | Prepared
Progress: TypeAlias = Callable[[str, str, int], object]

def column_means(table: NDArray[Any]) -> list[float]: ...

class RerankCounts(TypedDict):
    k: int
    candidates: int

class Forest:
    shape: tuple[int, int]
    dtype: str
    forest_params: str
    offsets: list[int]
    depths: list[int]
    @staticmethod
    def grow(table: Table, params: str, threads: int | None = None, progress: Progress | None = None) -> Forest: ...
    def apply(
        self, table: Table | None = None, threads: int | None = None, progress: Progress | None = None
    ) -> NDArray[np.uint32]: ...
    def features(
        self, table: Table | None = None, threads: int | None = None, progress: Progress | None = None
    ) -> Indices: ...
    def paths(self, tree: int, leaves: list[int]) -> tuple[Ints, Ints]: ...
    def neighbors(
        self,
        k: int,
        table: Table | None = None,
        threads: int | None = None,
        progress: Progress | None = None,
    ) -> tuple[Ints, Floats]: ...
    def nearest(
        self,
        counts: RerankCounts,
        training: Table,
        table: Table | None = None,
        threads: int | None = None,
        progress: Progress | None = None,
    ) -> tuple[Ints, Floats]: ...
    def sparse(
        self,
        threshold: float,
        table: Table | None = None,
        threads: int | None = None,
        progress: Progress | None = None,
        against: Table | None = None,
    ) -> Csr: ...
    def dense(
        self,
        threshold: float,
        table: Table,
        threads: int | None = None,
        progress: Progress | None = None,
        against: Table | None = None,
    ) -> Dense: ...
    def save(self, path: str | os.PathLike[str], meta: bytes) -> None: ...
    def to_bytes(self) -> bytes: ...
    @staticmethod
    def from_bytes(bytes: bytes) -> Forest: ...

class Cluster:
    labels: Ints
    clusters: int
    eigenvalues: Floats
    components: int
    shape: tuple[int, int]
    dtype: str
    forest_params: str
    params: str
    used: str
    verdict: str | None
    distinct: int | None
    @staticmethod
    def fit(
        table: Table,
        params: str,
        threads: int | None = None,
        memory_limit: int | None = None,
        progress: Progress | None = None,
        embedding: bool = False,
    ) -> Cluster: ...
    def recut(
        self,
        params: str,
        threads: int | None = None,
        memory_limit: int | None = None,
        progress: Progress | None = None,
    ) -> Cluster: ...
    def vectors(self, progress: Progress | None = None) -> Floats: ...
    def hints(self, names: list[str]) -> list[str]: ...
    def confidence(self, progress: Progress | None = None) -> Floats: ...
    def report(self, about: str, table: Table | None = None, progress: Progress | None = None) -> str: ...
    def predict(self, table: Table, progress: Progress | None = None) -> Ints: ...
    def predict_with_confidence(self, table: Table, progress: Progress | None = None) -> tuple[Ints, Floats]: ...
    def far_rows(self, table: Table) -> list[int]: ...
    def transform(self, table: Table, progress: Progress | None = None) -> Floats: ...
    def distinct_rows(self) -> NDArray[np.uint32] | None: ...
    def affinity(self, progress: Progress | None = None) -> tuple[float, Csr]: ...
    def save(self, path: str | os.PathLike[str], meta: bytes) -> None: ...
    def to_bytes(self) -> bytes: ...
    @staticmethod
    def from_bytes(bytes: bytes, threads: int | None = None) -> Cluster: ...

def sample_limit(seed: int, n: int, m: int) -> int: ...
def sampled_places(seed: int, limit: int, first: int, count: int) -> Ints: ...
def spectral(
    matrix: Floats | tuple[NDArray[Any], NDArray[Any], Floats],
    params: str,
    threads: int | None = None,
    progress: Progress | None = None,
) -> tuple[Ints, Floats, Floats, str]: ...
def njw(
    rows: Floats, params: str, threads: int | None = None, progress: Progress | None = None
) -> tuple[Ints, Floats, float | None, float, int | None]: ...
def cluster_forests(
    rows: Floats, params: str, threads: int | None = None, progress: Progress | None = None
) -> tuple[Ints, float, list[list[int]], Floats, int | None]: ...
def sweep_grid(name: str) -> tuple[list[float], list[float]]: ...
def sweep(
    forest: Forest,
    params: str,
    classes: list[int] | None = None,
    threads: int | None = None,
    progress: Progress | None = None,
) -> tuple[str, NDArray[np.uint32]]: ...
def scores(labels: list[int], classes: list[int]) -> str: ...
def write_page(path: str | os.PathLike[str], page: str) -> None: ...
def open_model(path: str | os.PathLike[str], threads: int | None = None) -> tuple[Forest | Cluster, bytes | None]: ...
def shapes() -> list[str]: ...
def shape(name: str, n: int, seed: int) -> tuple[Floats, Ints]: ...
def iris() -> tuple[Floats, Ints, list[str], list[str]]: ...
def catalog() -> list[str]: ...
def catalogued(name: str, folder: str, scaling: str) -> tuple[NDArray[Any], Ints, list[str], list[str]]: ...
