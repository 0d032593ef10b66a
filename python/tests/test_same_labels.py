"""Labels are those of the Rust library: both are tested against the same recorded hashes."""

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
def test_labels_equal_those_of_the_rust_library(line):
    shape, n, k, seed, affinity, recorded = line.split()
    X, _ = make_shape(shape, int(n), random_state=0)
    model = RPFCluster(int(k), affinity=affinity, random_state=int(seed)).fit(X)
    assert fnv(model.labels_) == recorded
    assert (model.predict(np.asfortranarray(X)) == model.labels_).all()


def test_record_covers_at_least_five_shapes():
    assert len({line.split()[0] for line in LINES}) >= 5
