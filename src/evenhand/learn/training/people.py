"""Several rows of one person in training: whose row each is, which of them count, what is promised then."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from evenhand._validate import refuse
from evenhand.learn.columns import require_length
from evenhand.learn.training.private_rows import ROWS_PUBLIC
from evenhand.measure.columns import encode_labels, read_column
from evenhand.privacy.accounting import check_rows_per_person
from evenhand.privacy.contributions import assume_first, promise_to_people, rows_to_keep
from evenhand.table.persons import person_keys

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from evenhand.privacy.guarantees.guarantee import Guarantee
    from evenhand.privacy.randomness import Source

PERSON = "person"
"""How a guarantee calls what says whose row it is: the argument of ``fit``."""


def rows_left_public(most: int) -> str:
    """Return what is assumed of the number of rows where at most so many of each person count.

    >>> rows_left_public(2)
    'how many rows are left, at most 2 of each person, is treated as public, and one person can change it'
    """
    rows = "one" if most == 1 else f"at most {most:,}"
    return (
        f"how many rows are left, {rows} of each person, is treated as public, and one person can change it"
    )


@dataclass(frozen=True, eq=False)
class People:
    """Whose rows there are. Without codes each row is of another person.

    Parameters
    ----------
    rows : int
        How many rows there are.
    most : int
        How many rows of one person count.
    codes : array, optional
        The person of each row, as a number from 0 on.
    """

    rows: int
    most: int
    codes: NDArray[np.intp] | None

    @property
    def rows_left(self) -> int:
        """How many rows count."""
        return self.rows if self.codes is None else int(np.minimum(np.bincount(self.codes), self.most).sum())

    def draw(self, source: Source) -> NDArray[np.intp] | slice:
        """Return which rows count: of each person at most so many, drawn at random; all without codes."""
        return slice(None) if self.codes is None else rows_to_keep(self.codes, self.most, source=source)

    def promise(self, guarantee: Guarantee) -> Guarantee:
        """Return what is promised to one person where noise was made for so many rows of one.

        Where no number of rows was declared, that of the rows left is used, which one person can change.
        """
        promised = promise_to_people(guarantee, None if self.codes is None else PERSON, self.most)
        if self.codes is None or ROWS_PUBLIC not in promised.assumptions:
            return promised
        return assume_first(promised, rows_left_public(self.most), instead_of=ROWS_PUBLIC)


def read_people(person: Any, rows: int, *, most: Any, owner: str) -> People:
    """Return whose rows there are, or refuse them; no message holds a value.

    Parameters
    ----------
    person : array or None
        One id for each row; which of them are one person's says :mod:`evenhand.table.persons`.
    rows : int
        How many rows there are.
    most : int
        How many rows of one person may count.
    owner : str
        Who asks, for messages.

    Examples
    --------
    >>> read_people(["a", "b", "a", "a"], 4, most=2, owner="example").rows_left
    3
    """
    most = check_rows_per_person(most, owner=owner.split(".", maxsplit=1)[0])
    if person is None:
        if most > 1:
            hint = "without it each row is taken for another person, and one row is all that may count."
            refuse("person", owner, "given where 'rows_per_person' is above 1", None, hint=hint)
        return People(rows, 1, None)
    codes, labels = encode_labels(read_column(person, name="person", owner=owner), name="person", owner=owner)
    require_length("person", len(codes), rows, owner=owner)
    keys = person_keys(pa.array(labels))
    if keys.null_count:
        refuse("person", owner, "a column without missing values", "missing values")
    return People(rows, most, keys.dictionary_encode().indices.to_numpy().astype(np.intp)[codes])
