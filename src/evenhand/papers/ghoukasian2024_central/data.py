"""The rows behind tables 3.1 to 3.4 of ghoukasian2024: Adult and Credit Card, one-hot and scaled.

Means and standard deviations of the scaling and the vocabularies of the one-hot columns are taken from all
rows, test rows included, without any noise: that is the method of the thesis, and no epsilon covers it.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.model_selection import train_test_split

from evenhand import datasets
from evenhand.papers.stored import read_entries
from evenhand.table import Table

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Numbers = NDArray[Any]

__all__ = ["FILES", "FIRST", "SPLIT", "Parts", "Rows", "load_rows", "split_rows"]

SPLIT = 100
"""The random state of the split into training and test rows."""

FIRST = ("men", "women")
"""Which group has the code 0; that cannot be decided without the file, whose order of rows decides it."""

_TRAINING = 0.75


FILES = read_entries(__package__, "files")
"""The files by name. Which Adult file the thesis had cannot be decided without it."""

_SOURCES = {"adult": "adult", "credit": "credit_default"}


@dataclass(frozen=True, eq=False)
class Rows:
    """Everybody in a file.

    Parameters
    ----------
    features : array
        A row per person, without the group.
    labels : array of 0 and 1
    group : array of 0 and 1
        1 for women.
    """

    features: Numbers
    labels: Numbers
    group: Numbers

    def codes(self, first: str) -> Numbers:
        """Return the group with men or women as 0 and the others as 1."""
        found: Numbers = self.group if first == FIRST[0] else 1 - self.group
        return found

    def aware(self, first: str) -> Numbers:
        """Return the features with the group's code as the last of them."""
        return np.column_stack((self.features, self.codes(first).astype(float)))


@dataclass(frozen=True, eq=False)
class Parts:
    """Which rows are for what: the training part, of it those for DP-SGD and for the rates, and the test."""

    training: Numbers
    fitting: Numbers
    rates: Numbers
    test: Numbers


@lru_cache(maxsize=2)
def load_rows(name: str) -> Rows:
    """Return the rows of a file."""
    file = FILES[name]
    pieces = [datasets.load(_SOURCES[file.dataset], backend="pyarrow", **options) for options in file.pieces]
    schema = pieces[0].schema
    tables = [Table.encode(piece.frame, schema).codes for piece in pieces]
    codes = {column.name: np.concatenate([table[column.name] for table in tables]) for column in schema}
    target, sex = str(schema.target), str(schema.protected)
    columns = [
        _columns(codes[column.name], scaled=column.name in file.scaled)
        for column in schema
        if column.name not in {target, sex}
    ]
    return Rows(
        np.column_stack(columns),
        (codes[target] == schema[target].domain.code(schema.positive)).astype(np.int64),
        (codes[sex] != schema[sex].domain.code(schema.privileged)).astype(np.int64),
    )


def _columns(codes: Numbers, *, scaled: bool) -> Numbers:
    """Return the inputs of a column: one of mean 0 and standard deviation 1, or one for each value seen."""
    values = codes.astype(float)
    if scaled:
        return np.asarray((values - values.mean()) / values.std())
    return np.asarray(codes[:, None] == np.unique(codes), dtype=float)


def split_rows(name: str) -> Parts:
    """Return how a file is divided: the same in all ten runs, as in the published code.

    Three quarters are drawn with random state 100 for training; of them two thirds are for DP-SGD and one
    third for the rates. The thesis drew the thirds without a seed.
    """
    number = len(load_rows(name).labels)
    test, training = train_test_split(
        np.arange(number), test_size=round(_TRAINING * number), random_state=SPLIT
    )
    third = len(training) // 3
    fitting, rates = train_test_split(training, test_size=third, random_state=SPLIT)
    return Parts(training, fitting, rates, test)
