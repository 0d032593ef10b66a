"""The best setting by labels, without the optimism of choosing and scoring on the same run.

The best of a dozen partitions, chosen by the score it is reported with, is optimistic, most of all on small sets. Here
each seed gets the setting with the best mean score on the other seeds, and reports its score on the seed left out
(leave-one-out cross-validation over the seeds).
"""

from __future__ import annotations

import json
import statistics
from typing import Any

BEST = "best by labels"
OTHERS = "best by labels of other seeds"

Line = dict[str, Any]


def of_other_seeds(lines: list[Line]) -> list[Line]:
    """Return one result for each `BEST` run of a set that has at least one other seed."""
    sets: dict[tuple[str, ...], list[Line]] = {}
    for line in lines:
        if line["method"] == BEST and "grid" in line:
            sets.setdefault((line["family"], line["set"], line["scaling"]), []).append(line)
    return [derived for runs in sets.values() if len(runs) > 1 for derived in _leave_one_out(runs)]


def _leave_one_out(runs: list[Line]) -> list[Line]:
    tried = [{json.dumps(cell["setting"], sort_keys=True): cell for cell in run["grid"]} for run in runs]
    common = sorted(set.intersection(*(set(cells) for cells in tried)))
    derived = []
    for at, run in enumerate(runs):
        others = tried[:at] + tried[at + 1 :]
        chosen = max(common, key=lambda setting: statistics.mean(cells[setting]["ari"] for cells in others))
        scores = {name: tried[at][chosen][name] for name in ("ari", "nmi", "rho_c")}
        derived.append({**run, "method": OTHERS, "setting": json.loads(chosen), **scores})
    return derived
