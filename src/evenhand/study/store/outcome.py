"""Tell what came of one cell: measures, rates of each group, times; or the error, which is a result too."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from evenhand._notes import Note

if TYPE_CHECKING:
    from collections.abc import Mapping

    from evenhand.study.plan.cells import Cell


@dataclass(frozen=True)
class Failure:
    """Why a cell has no result.

    Parameters
    ----------
    kind : str
        Name of the exception's class.
    message : str
        What it said, if it is one of evenhand's, which hold no private value; of any other exception only
        where it was raised is told.
    """

    kind: str
    message: str


@dataclass(frozen=True)
class Outcome:
    """The result of one cell.

    Parameters
    ----------
    cell : Cell
    measures : mapping of str to float
        Each measure of :data:`evenhand.measure.MEASURES` by name, NaN where it is undefined. With folds, the
        mean over the folds.
    groups : mapping of str to mapping of str to float
        For each group of the protected column, by label and in the schema's order, each rate of
        :data:`evenhand.measure.RATES`, and ``"people"``, how many test rows it has. Where several columns are
        crossed, the groups of each column by itself follow, as ``"sex = women"``.
    data : mapping of str to float
        Disparities of the training labels: ``"true"`` between the true groups, ``"reported"`` between the
        groups as the reports name them.
    seconds : mapping of str to float
        CPU time of each step, ``"train"`` among them. Not part of the canonical table.
    failure : Failure, optional
        Set if and only if the cell has no result; then the mappings are empty.
    entities : tuple of (str, mapping of str to float)
        Where something is decided, the entities that are kept one by one, each with its name and numbers.
    names : tuple of str
        The names of all entities in the order of the data, in the cell of the unprotected setting.
    columns : mapping of str to str
        Numbers of all entities in that order, each packed by :func:`~evenhand.study.store.canonical.pack`.
    notes : tuple of Note
        How the result was found and what a reader must know about it.
    """

    cell: Cell
    measures: Mapping[str, float] = field(default_factory=dict)
    groups: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    data: Mapping[str, float] = field(default_factory=dict)
    seconds: Mapping[str, float] = field(default_factory=dict)
    failure: Failure | None = None
    entities: tuple[tuple[str, Mapping[str, float]], ...] = ()
    names: tuple[str, ...] = ()
    columns: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()  # each a Note

    def __post_init__(self) -> None:
        object.__setattr__(self, "notes", tuple(Note.of(each, "method") for each in self.notes))
