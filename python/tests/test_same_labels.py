"""The same seed gives the same labels as the Rust library: both test against the hashes of one file."""

from pathlib import Path

import numpy as np
import pytest

from rpfcluster import RPFCluster
from rpfcluster.datasets import make_shape

RECORD = Path(__file__).parents[2] / "crates" / "rpfcluster-data" / "tests" / "labels.txt"
LINES = RECORD.read_text().splitlines()


def fnv(labels):
    state = 0xCBF29CE484222325
    for byte in labels.astype("<u4").tobytes():
        state = ((state ^ byte) * 0x100000001B3) % 2**64
    return f"{state:016x}"


@pytest.mark.parametrize("line", LINES)
def test_labels_are_those_of_the_rust_library(line):
    shape, n, k, seed, affinity, recorded = line.split()
    X, _ = make_shape(shape, int(n), random_state=0)
    model = RPFCluster(int(k), affinity=affinity, random_state=int(seed)).fit(X)
    assert fnv(model.labels_) == recorded
    assert (model.predict(np.asfortranarray(X)) == model.labels_).all()


def test_five_sets_are_on_record():
    assert len({line.split()[0] for line in LINES}) >= 5
