"""The tables of zhu2023: three excerpts of the American Community Survey, counted."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final

from evenhand import datasets
from evenhand.release.table.histogram import Histogram

__all__ = [
    "BOUND",
    "COLUMNS",
    "DATA",
    "FEATURES",
    "FILL",
    "QUASI",
    "THRESHOLD",
    "Source",
    "count_people",
    "load_people",
]

QUASI = "RAC1P"
"""The quasi-identifier of swapping; only nine values fit the printed delta, and race has nine."""

COLUMNS = ("PUMA", QUASI, "SEX", "OWN_RENT", "INCOME_ABOVE_50000")
"""The columns of the table that is released."""

FEATURES = (QUASI, "SEX", "OWN_RENT", "AGE_BRACKET", "INCOME_ABOVE_50000")
"""The columns of the table that classifiers are trained on, the outcome last."""

THRESHOLD = 6
"""The threshold of suppression and the k of k-anonymity in the tables."""

FILL: Final = "half-threshold"
"""What stands in a suppressed cell, by equation (2) and the algorithms of the paper."""

BOUND = 10_000
"""A public bound on a count, which Theorem 1 needs and the paper does not give; a whole area is smaller."""


@dataclass(frozen=True)
class Source:
    """One of the three data sets.

    Parameters
    ----------
    part : str
        As in :func:`evenhand.datasets.load`.
    title : str
        As the paper calls it.
    table : str
    areas : int
        How many areas the paper says there are.
    errors, alphas, accuracy : str
        The numbers of its figures.
    """

    part: str
    title: str
    table: str
    areas: int
    errors: str
    alphas: str
    accuracy: str


DATA = {
    "ma": Source("ma", "Massachusetts", "Table 1", 5, "2", "3", "4"),
    "tx": Source("tx", "Texas", "Table 2", 6, "6", "8", "5, left"),
    "outlier": Source("national", "Outlier", "Table 3", 20, "7", "9", "5, right"),
}
"""The data sets by name."""


@lru_cache(maxsize=3)
def load_people(name: str) -> Any:
    """Return the rows of a data set with its schema."""
    return datasets.load("nist_excerpts", part=DATA[name].part, histogram=True, age_brackets=True)


@lru_cache(maxsize=12)
def count_people(
    name: str,
    columns: tuple[str, ...] = COLUMNS,
    quasi: tuple[str, ...] = (QUASI,),
    *,
    bound: int | None = BOUND,
) -> Histogram:
    """Return a data set as a table of counts, empty cells too.

    Parameters
    ----------
    name : str
        One of :data:`DATA`.
    columns : tuple of str
    quasi : tuple of str
        The columns that are quasi-identifiers.
    bound : int, optional
        The public bound on a count.
    """
    rows = load_people(name)
    schema = rows.schema.with_roles(quasi_identifiers=quasi, sensitive=quasi, target=None, positive=None)
    return Histogram.count(rows.frame, schema, columns, bound=bound)
