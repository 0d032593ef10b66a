"""A fitted sample in a folder, so that a run that was interrupted need not fit it again.

`model.rpf` is an ordinary model file. `fit.json` holds the hash of that file, what the model does not take along, and
what the fit depends on: build, parameters, and the number of rows and a hash of the values of every partition. It is
written last, and each file appears whole or not at all, so that a folder is a finished fit or none. A folder of another
fit is an error, since hours of work may be in it; a damaged one is fitted again.
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ._model import load, save
from ._partition import Facts, Model, SampleFit, build_id

logger = logging.getLogger("rpfcluster.distributed")

MODEL, FIT = "model.rpf", "fit.json"
# They change no label.
_RUNTIME = ("n_jobs", "verbose", "memory_limit")


@dataclass
class Checkpoint:
    """The folder of a fit, and what that fit depends on."""

    folder: Path
    estimator: Model
    inputs: dict[str, Any]

    @classmethod
    def of(cls, folder: str | os.PathLike[str], estimator: Model, max_rows: int, facts: list[Facts]) -> Checkpoint:
        """Describe a fit; the parent of the folder must exist."""
        target = Path(folder)
        if target.exists() and not target.is_dir():
            raise NotADirectoryError(f"the checkpoint {target} is a file, but must be a folder")
        target.mkdir(exist_ok=True)
        params = {name: value for name, value in estimator.get_params().items() if name not in _RUNTIME}
        inputs = {
            "build": build_id(),
            "estimator": type(estimator).__name__,
            "max_rows": max_rows,
            **{name: _plain(value) for name, value in sorted(params.items())},
            "columns": facts[0].names,
            "dtype": facts[0].dtype,
            "partitions": [[fact.rows, fact.content] for fact in facts],
        }
        return cls(target, estimator, json.loads(json.dumps(inputs)))

    def read_or(self, fit: Callable[[], SampleFit]) -> SampleFit:
        """Return the fit of the folder; fit and keep it where there is none."""
        found = self._read()
        if found is None:
            found = fit()
            self._write(found)
        return found

    def _read(self) -> SampleFit | None:
        """Return the fit of the folder, None if there is none; raise ValueError if it is of another fit."""
        record, model = self.folder / FIT, self.folder / MODEL
        if not record.exists():
            return None
        try:
            kept = json.loads(record.read_text())
            inputs, hints, chosen, digest = (kept[name] for name in ("inputs", "hints", "chosen", "model"))
        except (ValueError, KeyError, TypeError):
            logger.warning("the checkpoint %s is damaged; fitting again", self.folder)
            return None
        if (difference := _difference(inputs, self.inputs)) is not None:
            raise ValueError(
                f"the checkpoint {self.folder} is of another fit: {difference}; name another folder, or delete it"
            )
        if not model.exists() or _hash(model) != digest:
            logger.warning("the model of the checkpoint %s is missing or damaged; fitting again", self.folder)
            return None
        read = load(model)
        read.set_params(**self.estimator.get_params())
        logger.info("read the fit of the sample from %s", self.folder)
        return SampleFit(read, hints, chosen)

    def _write(self, found: SampleFit) -> None:
        save(found.model, self.folder / MODEL)
        kept = {
            "inputs": self.inputs,
            "hints": found.hints,
            "chosen": found.chosen,
            "model": _hash(self.folder / MODEL),
        }
        staged = self.folder / f".{FIT}.{os.getpid()}"
        try:
            with staged.open("w") as file:
                json.dump(kept, file)
                file.flush()
                os.fsync(file.fileno())
            os.replace(staged, self.folder / FIT)
        finally:
            staged.unlink(missing_ok=True)


def _plain(value: Any) -> Any:
    """Return a parameter as JSON can hold it."""
    value = value.tolist() if hasattr(value, "tolist") else value
    return value if isinstance(value, str | int | float | list | None) else repr(value)


def _hash(path: Path) -> str:
    with path.open("rb") as file:
        digest = hashlib.sha256()
        while block := file.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()


def _difference(kept: dict[str, Any], asked: dict[str, Any]) -> str | None:
    """Return what first differs in a sentence."""
    for name in (*asked, *kept):
        there, here = kept.get(name), asked.get(name)
        if there == here:
            continue
        if name == "partitions" and isinstance(there, list) and isinstance(here, list):
            if len(there) != len(here):
                return f"it has {len(there)} partitions, not {len(here)}"
            number = next(at for at in range(len(here)) if there[at] != here[at])
            return f"partition {number} has other rows"
        return f"its {name} is {there!r}, not {here!r}"
    return None
