"""What a study of cells does not express: computed trial by trial, each kept as a file of its own.

The records of all trials of a name are kept with the pages of a paper too, in one small file.
"""

from __future__ import annotations

import gzip
import json
from dataclasses import dataclass, field
from functools import reduce
from operator import getitem
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from evenhand.errors import StudyStoreError
from evenhand.measure.repeat_means import Estimated, means
from evenhand.papers.packed import refuse_other_version
from evenhand.privacy.randomness import SeededSource
from evenhand.study.run.events import Event, Started
from evenhand.table.write import replacing

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from os import PathLike

    from numpy.typing import NDArray

    from evenhand.study.run.events import Cancel

    Records = Mapping[int, Mapping[str, Any]]
    Values = NDArray[np.float64]

FOLDER = "cells"  # where a reproduction keeps what is finished, in small files

_FORMAT = 1
_LEVEL = 0.95


@dataclass(frozen=True)
class Trials:
    """Records of numbers, one for each trial, in a folder of their name.

    `compute` takes the number of a trial, from 0, and returns its record: names, numbers, lists and mappings
    of them. The same number gives the same record, times apart.

    >>> trials = Trials("squares", 3, lambda number: {"square": number**2})
    >>> [record["square"] for record in trials.run(None).values()]
    [0, 1, 4]
    """

    name: str
    number: int
    compute: Callable[[int], Mapping[str, Any]] = field(repr=False)

    def load_records(self, folder: str | PathLike[str]) -> dict[int, dict[str, Any]]:
        """Return the records that are finished, by number; a file that is damaged is a StudyStoreError."""
        paths = {number: Path(folder) / f"{number:02d}.json" for number in range(self.number)}
        return {number: self._read(path, number) for number, path in paths.items() if path.is_file()}

    def run(
        self,
        folder: str | PathLike[str] | None,
        *,
        known: Records | None = None,
        tell: Callable[[Event], Any] = lambda _: None,
        cancel: Cancel | None = None,
    ) -> dict[int, dict[str, Any]]:
        """Return every record, computing those that are neither in the folder nor `known` and writing them.

        Without a folder nothing is kept; `tell` is told of every trial, and `cancel` asked before each.
        """
        found = {
            number: dict(record) for number, record in (known or {}).items() if number in range(self.number)
        }
        found |= {} if folder is None else self.load_records(folder)
        tell(Started(done=len(found), failed=0, total=self.number))
        for number in range(self.number):
            if cancel is not None and cancel.requested:
                break
            if number not in found:
                found[number] = dict(self.compute(number))
                if folder is not None:
                    self._write(Path(folder), number, found[number])
                tell(Event(done=len(found), failed=0, total=self.number))
        return dict(sorted(found.items()))

    def _read(self, path: Path, number: int) -> dict[str, Any]:
        try:
            whole = json.loads(path.read_bytes())
            refuse_other_version(whole["format"], f"{path.name} of {self.name}", newest=_FORMAT)
            expected = {"format": _FORMAT, "name": self.name, "number": number}
            if {key: whole[key] for key in expected} == expected and isinstance(whole["record"], dict):
                return dict(whole["record"])
        except (ValueError, KeyError, TypeError):
            pass
        message = f"{path.name} of {self.name} is damaged, or of something else. Hint: remove that file."
        raise StudyStoreError(message)

    def _write(self, folder: Path, number: int, record: Mapping[str, Any]) -> None:
        whole = {"format": _FORMAT, "name": self.name, "number": number, "record": record}
        folder.mkdir(parents=True, exist_ok=True)
        with replacing(folder / f"{number:02d}.json") as file:
            file.write(json.dumps(whole, indent=1).encode())


def records_path(folder: Path, trials: str) -> Path:
    """Return the file of the records of trials in the folder of a reproduction."""
    return folder / FOLDER / f"{trials}.json.gz"


def load_records(path: Path, name: str) -> dict[int, dict[str, Any]]:
    """Return the finished records of trials by number; nothing if there is no such file."""
    if not path.is_file():
        return {}
    try:
        whole = json.loads(gzip.decompress(path.read_bytes()))
        refuse_other_version(whole["format"], f"The finished records in '{path.name}'", newest=_FORMAT)
        records = {name: whole["records"]}[whole["name"]]
        return {int(number): dict(record) for number, record in records.items()}
    except (OSError, EOFError, ValueError, KeyError, TypeError, AttributeError):
        message = f"The finished records in '{path.name}' are damaged, or of something else."
        raise StudyStoreError(f"{message} Hint: put a copy of the file back, or remove it.") from None


def pack_records(path: Path, name: str, records: Records) -> None:
    """Write records of trials to a file, with those that it has already."""
    whole = {**load_records(path, name), **records}
    if whole:
        ordered = {str(number): whole[number] for number in sorted(whole)}
        text = json.dumps({"format": _FORMAT, "name": name, "records": ordered}, separators=(",", ":"))
        path.parent.mkdir(parents=True, exist_ok=True)
        with replacing(path) as file:
            file.write(gzip.compress(text.encode(), mtime=0))


def read_path(records: Records, *path: str) -> NDArray[Any]:
    """Return what is at a path of records, one for each trial.

    >>> read_path({0: {"acc": {"test": 0.5}}, 1: {"acc": {"test": 0.75}}}, "acc", "test").tolist()
    [0.5, 0.75]
    """
    return np.array([reduce(getitem, path, record) for record in records.values()])


def source_of(seed: int, *words: object) -> SeededSource:
    """Return the randomness of one place of a trial, which words name."""
    return SeededSource(seed, cell="/".join(map(str, words)))


def estimate_mean(values: Values) -> Estimated:
    """Return the mean of one value per trial, with its t interval.

    >>> estimate_mean(np.array([0.1, 0.3])).value
    0.2
    """
    found = means(np.asarray(values, dtype=float), level=_LEVEL, extra=0.0)
    value, error, low, high = (float(each) for each in found[:4])
    runs = int(found.runs)
    left = len(values) - runs
    if runs < 2:
        return Estimated(value, None, None, runs, left)
    return Estimated(value, low, high, runs, left, _LEVEL, "seeds", error)
