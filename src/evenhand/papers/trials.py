"""What a study of cells does not express: computed trial by trial, each kept as a file of its own."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from evenhand.errors import StudyStoreError
from evenhand.papers.finished import refuse_other_version
from evenhand.study.results.estimates import Estimated
from evenhand.study.results.intervals import means
from evenhand.study.run.events import Event, Started
from evenhand.table.write import replacing

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from os import PathLike

    from numpy.typing import NDArray

    from evenhand.study.run.events import Cancel

_FORMAT = 1
_LEVEL = 0.95


@dataclass(frozen=True)
class Trials:
    """Records of numbers, one for each trial, in a folder of their name.

    `compute` takes the number of a trial, from 0, and returns its record: names, numbers, lists and mappings
    of them. The same number gives the same record, times apart. `label` is what a trial is, such as "split".

    >>> trials = Trials("squares", 3, lambda number: {"square": number**2})
    >>> [record["square"] for record in trials.run(None).values()]
    [0, 1, 4]
    """

    name: str
    number: int
    compute: Callable[[int], Mapping[str, Any]] = field(repr=False)
    label: str = "trial"

    def load_records(self, folder: str | PathLike[str]) -> dict[int, dict[str, Any]]:
        """Return the records that are finished, by number; a file that is damaged is a StudyStoreError."""
        paths = {number: Path(folder) / f"{number:02d}.json" for number in range(self.number)}
        return {number: self._read(path, number) for number, path in paths.items() if path.is_file()}

    def run(
        self,
        folder: str | PathLike[str] | None,
        *,
        known: Mapping[int, Mapping[str, Any]] | None = None,
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


def estimate_mean(values: NDArray[np.float64]) -> Estimated:
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
