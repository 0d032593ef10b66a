"""The section `meta` of model files whose checksums are right: what does not fit is refused by the name of the file."""

import json
import re

import numpy as np
import pandas as pd
import pytest

from rpfcluster import RPFCluster, RPForest, load
from rpfcluster._model import _meta

NUMBERS = np.random.default_rng(0).normal(size=(60, 3))
MIXED = pd.DataFrame({"kind": ["a", "b", "c"] * 20, "x": NUMBERS[:, 0], "y": NUMBERS[:, 1]})
PLAIN = RPFCluster(2, n_estimators=5, random_state=0).fit(NUMBERS)
FOREST = RPForest(5, random_state=0).fit(NUMBERS)
CATEGORIES = RPFCluster(2, n_estimators=5, categorical_features=["kind"], missing="native", random_state=0).fit(MIXED)
MEAN = RPFCluster(2, n_estimators=5, missing="mean", random_state=0).fit(NUMBERS)


def _written(path, model, meta):
    native = model._forest if isinstance(model, RPForest) else model._cluster
    native.save(path, meta if isinstance(meta, bytes) else json.dumps(meta).encode())
    return path


def _with(model, **changes):
    meta = _meta(model)
    meta["preparation"] = {**meta["preparation"], **changes}
    return meta


def _without(model, name):
    meta = _meta(model)
    del meta["preparation"][name]
    return meta


def _with_category(**changes):
    return _with(CATEGORIES, categories=[{**_meta(CATEGORIES)["preparation"]["categories"][0], **changes}])


DAMAGED = {
    "no JSON": (PLAIN, b"{", "its section meta is no JSON"),
    "not UTF-8": (PLAIN, b"\xff", "its section meta is no JSON"),
    "nested": (PLAIN, b"[" * 100_000, "its section meta is no JSON"),
    "a list": (PLAIN, [], "its section meta has no preparation"),
    "empty": (PLAIN, {}, "its section meta has no preparation"),
    "another preparation": (PLAIN, {"preparation": [1]}, "its section meta has no preparation"),
    **{
        f"without {name}": (PLAIN, _without(PLAIN, name), f"its preparation has no {name}")
        for name in ("columns", "positions", "named", "missing", "fill", "center", "scale")
    },
    "named": (PLAIN, _with(PLAIN, named="yes"), "named of its preparation is neither true nor false"),
    "missing": (PLAIN, _with(PLAIN, missing=["mean"]), "missing of its preparation is not one of"),
    "short center": (PLAIN, _with(PLAIN, center=[1.0]), "center of its preparation has 1 values, but it has 3 columns"),
    "short scale": (FOREST, _with(FOREST, scale=[1.0]), "scale of its preparation has 1 values, but it has 3 columns"),
    "short positions": (PLAIN, _with(PLAIN, positions=[]), "positions of its preparation has 0 values"),
    "positions": (PLAIN, _with(PLAIN, positions=[0, 1, -1]), "positions of its preparation are not whole numbers"),
    "no list": (PLAIN, _with(PLAIN, center={"a": 1}), "center of its preparation is no list"),
    "NaN": (PLAIN, _with(PLAIN, center=[0.0, np.nan, 0.0]), "center of its preparation holds a value that is not"),
    "infinite": (PLAIN, _with(PLAIN, scale=[1.0, np.inf, 1.0]), "scale of its preparation holds a value that is not"),
    "zero": (PLAIN, _with(PLAIN, scale=[1.0, 0.0, 1.0]), "not a finite number above 0"),
    "negative": (PLAIN, _with(PLAIN, scale=[1.0, -1.0, 1.0]), "not a finite number above 0"),
    "huge": (PLAIN, _with(PLAIN, center=[10**400, 0, 0]), "center of its preparation holds a value that is not"),
    "texts": (PLAIN, _with(PLAIN, center=["a", "b", "c"]), "center of its preparation holds a value that is not"),
    "nothing": (PLAIN, _with(PLAIN, columns=[]), "columns of its preparation are not names of columns"),
    "numbers": (PLAIN, _with(PLAIN, columns=[1, 2, 3]), "columns of its preparation are not names of columns"),
    "two names": (
        PLAIN,
        _with(PLAIN, columns=["a", "b"], positions=[0, 1], center=[0, 0], scale=[1, 1]),
        "its preparation makes 2 columns, but its forest has 3",
    ),
    "no fill": (PLAIN, _with(PLAIN, missing="mean"), "fill of its preparation has 0 values, which do not fit"),
    "short fill": (MEAN, _with(MEAN, fill=[1.0]), "fill of its preparation has 1 values, which do not fit"),
    "NaN in fill": (MEAN, _with(MEAN, fill=[1.0, 1.0, np.nan]), "fill of its preparation holds a value that is not"),
    "no means": (CATEGORIES, _without(CATEGORIES, "means"), "means of its preparation has 0 values, which do not fit"),
    "rows": (PLAIN, {**_meta(PLAIN), "rows": [1, 2]}, "rows of its section meta are not the 60 rows of the model"),
    "no category": (CATEGORIES, _without(CATEGORIES, "categories"), "makes 3 columns, but its forest has 5"),
    "other levels": (CATEGORIES, _with_category(levels=["a", "b"], shares=[0.5, 0.5]), "makes 4 columns"),
    **{
        f"category with {changes}": (CATEGORIES, _with_category(**changes), "a category of its preparation has no")
        for changes in (
            {"column": 3},
            {"column": "kind"},
            {"levels": []},
            {"levels": ["a", "a", "b"]},
            {"levels": [1, 2, 3]},
            {"shares": [1.0]},
            {"shares": [1.0, None, 0.0]},
            {"spread": 0.0},
        )
    },
    "two of a column": (
        CATEGORIES,
        _with(CATEGORIES, categories=_meta(CATEGORIES)["preparation"]["categories"] * 2),
        "categories of its preparation are not in the order of the columns",
    ),
}


@pytest.mark.parametrize("name", DAMAGED)
def test_a_damaged_section_is_refused_by_the_name_of_the_file(tmp_path, name):
    model, meta, problem = DAMAGED[name]
    path = _written(tmp_path / "model.rpf", model, meta)
    with pytest.raises(ValueError, match=f"^{re.escape(f'{path}: the model is damaged: ')}.*{re.escape(problem)}"):
        load(path)


@pytest.mark.parametrize("model", [PLAIN, FOREST, CATEGORIES, MEAN])
def test_an_intact_section_is_read(tmp_path, model):
    again = load(_written(tmp_path / "model.rpf", model, _meta(model)))
    table = MIXED if model is CATEGORIES else NUMBERS
    if model is FOREST:
        assert (again.apply(table) == model.apply(table)).all()
    else:
        assert (again.predict(table) == model.labels_).all()


def test_fields_of_later_versions_are_ignored(tmp_path):
    meta = {**_with_category(later=1), "later": 1}
    again = load(_written(tmp_path / "model.rpf", CATEGORIES, meta))
    assert (again.predict(MIXED) == CATEGORIES.labels_).all()


def test_the_name_of_a_damaged_file_shows_control_characters_escaped(tmp_path):
    path = _written(tmp_path / "model\x1b[2J.rpf", PLAIN, {})
    with pytest.raises(ValueError, match=re.escape(r"model\u{1b}[2J.rpf: the model is damaged: ")):
        load(path)
