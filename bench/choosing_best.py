"""A fairer best by labels: of every set the setting that is best on the other seeds, judged on this one.

The best of a dozen partitions by the numbers they are judged by is ahead by luck alone, the more so on small sets. What
is chosen by the labels of some seeds and judged on another is not.
"""

from __future__ import annotations

import json
import statistics
from typing import Any

BEST = "best by labels"
OTHERS = "best by labels of other seeds"

Line = dict[str, Any]


def of_other_seeds(lines: list[Line]) -> list[Line]:
    """Return a line for each of best by labels that has other seeds to choose by."""
    sets: dict[tuple[str, ...], list[Line]] = {}
    for line in lines:
        if line["method"] == BEST and "grid" in line:
            sets.setdefault((line["family"], line["set"], line["scaling"]), []).append(line)
    return [derived for runs in sets.values() if len(runs) > 1 for derived in _each(runs)]


def _each(runs: list[Line]) -> list[Line]:
    tried = [{json.dumps(cell["setting"], sort_keys=True): cell for cell in run["grid"]} for run in runs]
    common = sorted(set.intersection(*(set(cells) for cells in tried)))
    derived = []
    for at, run in enumerate(runs):
        others = tried[:at] + tried[at + 1 :]
        taken = max(common, key=lambda setting: statistics.mean(cells[setting]["ari"] for cells in others))
        scores = {name: tried[at][taken][name] for name in ("ari", "nmi", "rho_c")}
        derived.append({**run, "method": OTHERS, "setting": json.loads(taken), **scores})
    return derived
