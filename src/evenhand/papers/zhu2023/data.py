"""The tables of zhu2023: three excerpts of the American Community Survey, counted, and what is printed."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from evenhand import datasets
from evenhand.papers.stored import read_entries, read_printed
from evenhand.release.table.histogram import Histogram

if TYPE_CHECKING:
    from evenhand.privacy.randomness import SeededSource

EPSILONS = ("0.5", "1", "2", "4")
"""The epsilons of the tables, as exact texts."""

LAPLACE, GAUSSIAN = "laplace", "discrete-gaussian"
SUPPRESSION, SWAPPING, ANONYMITY = "noisy-suppression", "random-swapping", "sampled-k-anonymity"

MECHANISMS = {
    LAPLACE: "Laplace",
    GAUSSIAN: "Discrete Gaussian",
    SUPPRESSION: "DP Suppression",
    SWAPPING: "DP Swapping",
    ANONYMITY: "DP k-anonymity",
}
"""The rows of each block, by our name, as the paper calls them."""

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

DATA = read_entries(__package__, "data")
"""The data sets by name."""

ASIANS = (0.22, 0.04)
"""The parts of Asians that are taken to be Chinese and Japanese; about those of the country."""

THREE_RACES = 0.1
"""The part of people of several races that is taken to have three or more; about that of the country."""


class Printed(NamedTuple):
    """One row of a table: delta, the l1 norm of the bias, and alpha, as the texts that are printed."""

    delta: str
    l1: str
    alpha: str


PRINTED: dict[str, dict[tuple[str, str], Printed]] = {name: {} for name in DATA}
"""Every row of tables 1 to 3 by data set, mechanism and epsilon; delta is the same in the three tables."""

for _row in read_printed(__package__, "tables"):
    _numbers = Printed(_row["delta"], _row["l1"], _row["alpha"])
    PRINTED[_row["data"]][_row["mechanism"], _row["epsilon"]] = _numbers


@lru_cache(maxsize=3)
def load_people(name: str) -> Any:
    """Return the rows of a data set with its schema."""
    return datasets.load("nist_excerpts", part=DATA[name].part, histogram=True, age_brackets=True)


@lru_cache(maxsize=12)
def count_people(
    name: str, columns: tuple[str, ...] = COLUMNS, quasi: tuple[str, ...] = (QUASI,)
) -> Histogram:
    """Return a data set as a table of counts, empty cells too, with these quasi-identifiers."""
    rows = load_people(name)
    schema = rows.schema.with_roles(quasi_identifiers=quasi, sensitive=quasi, target=None, positive=None)
    return Histogram.count(rows.frame, schema, columns, bound=BOUND)


def draw_ipums_coding(name: str, source: SeededSource) -> Histogram:
    """Return the table with race coded as in IPUMS, which the paper's excerpts had.

    The three codes of American Indians and Alaska Natives are one there; Asians are Chinese, Japanese or
    other, Pacific Islanders among these; several races are two, or three or more. Our excerpt does not tell
    the last two splits, so that they are drawn.
    """
    histogram = count_people(name)
    rows: Any = np.moveaxis(np.asarray(histogram.counts), COLUMNS.index(QUASI), 0)
    white, black, *native, asian, islanders, other, several = rows
    generator = source.generator()
    rest = 1 - sum(ASIANS)
    chinese, japanese, others = np.moveaxis(generator.multinomial(asian, (*ASIANS, rest)), -1, 0)
    three = generator.binomial(several, THREE_RACES)
    coded = [white, black, sum(native), chinese, japanese, others + islanders, other, several - three, three]
    return histogram.with_counts(np.moveaxis(np.array(coded), 0, COLUMNS.index(QUASI)))
