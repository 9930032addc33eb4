"""Rows of a store: a cell's result beside what it was computed with, and a checksum over all of it."""

from __future__ import annotations

import hashlib
import json
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from evenhand.errors import StudyStoreError
from evenhand.study.plan.cells import Cell
from evenhand.study.store.outcome_json import canonical, numbers_text, outcome_from, result_text

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from evenhand.study.store.outcome import Outcome

__all__ = ["COLUMNS", "RNG", "Record", "checksum", "outcome_of", "row_of", "versions_hash"]

COLUMNS = ("spec", "cell", "state", "result", "seconds", "seed", "rng", "versions", "finished", "checksum")
"""The columns of the table of cells; the last is the checksum of the others."""

RNG = "seeded"
"""The kind of random source that every cell of a study draws from."""


@dataclass(frozen=True)
class Record:
    """A stored cell with what is needed to compute it again.

    Parameters
    ----------
    outcome : Outcome
    spec : str
        Hash of the data, schema, task and seed, see :class:`~evenhand.study.plan.spec.Spec`.
    seed : int
        Of the study.
    rng : str
        The kind of the random source, ``"seeded"``.
    versions : mapping of str to str
        Of Python, evenhand and the packages it was computed with.
    finished : str
        When, in UTC.
    """

    outcome: Outcome
    spec: str
    seed: int
    rng: str
    versions: Mapping[str, str]
    finished: str


def checksum(values: Sequence[Any]) -> str:
    """Return the SHA-256 of values, in hexadecimal.

    >>> checksum(["a", 1])[:16]
    '135f17a475a61afd'
    """
    return hashlib.sha256(canonical(list(values)).encode("ascii")).hexdigest()


def versions_hash(text: str) -> str:
    """Return the name under which a table of versions is kept."""
    return checksum([text])


def row_of(outcome: Outcome, *, spec: str, seed: int, versions: str, finished: str) -> tuple[Any, ...]:
    """Return the row of an outcome."""
    state = "done" if outcome.failure is None else "failed"
    texts = (result_text(outcome), numbers_text(outcome.seconds))
    values = (spec, outcome.cell.id, state, *texts, seed, RNG, versions, finished)
    return (*values, checksum(values))


def outcome_of(row: Sequence[Any], *, file: str, known: Mapping[str, Cell]) -> Outcome:
    """Return the outcome of a row; a row that is not as it was written is refused, by its cell.

    Parameters
    ----------
    row : sequence
    file : str
        The name of the store.
    known : mapping of str to Cell
        Cells of the plan by name.
    """
    columns = dict(zip(COLUMNS, row, strict=True))
    outcome = None
    with suppress(ValueError, TypeError, KeyError, AttributeError):
        cell = known.get(columns["cell"]) or Cell.from_id(columns["cell"])
        whole = checksum(row[:-1]) == columns["checksum"]
        outcome = outcome_from(cell, result=columns["result"], seconds=columns["seconds"]) if whole else None
    if outcome is None:
        where = _cell_words(columns["cell"], known)
        why = f"The store '{file}' is damaged in the cell {where}."
        raise StudyStoreError(
            f"{why} Hint: put a copy of the file back, or run the study again in another folder."
        )
    return outcome


def _cell_words(name: object, known: Mapping[str, Cell]) -> str:
    """Return a cell in words, or its name as it stands if that is damaged too."""
    try:
        cell = known.get(str(name)) or Cell.from_id(str(name))
        return f"'{cell.setting}, repeat {int(cell.repeat)}'"
    except (ValueError, TypeError, KeyError, AttributeError, ZeroDivisionError):
        return json.dumps(str(name)[:200])
