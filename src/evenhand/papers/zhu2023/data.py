"""The tables of zhu2023: three excerpts of the American Community Survey, counted, and what is printed."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from evenhand import datasets
from evenhand.papers.stored import read_entries, read_printed, read_toml
from evenhand.release.table.histogram import Histogram

if TYPE_CHECKING:
    from evenhand.privacy.randomness import SeededSource

_STUDY = read_toml(__package__, "paper.toml")["study"]

EPSILONS, COLUMNS, FEATURES = (tuple(_STUDY[key]) for key in ("epsilons", "columns", "features"))
QUASI, THRESHOLD, FILL, BOUND = (_STUDY[key] for key in ("quasi", "threshold", "fill", "bound"))
THRESHOLDS, SHARES = tuple(_STUDY["thresholds"]), tuple(_STUDY["shares"])
"""What the paper's tables and figures are about; ``paper.toml`` says what each is."""

MECHANISMS: dict[str, str] = _STUDY["mechanisms"]
LAPLACE, GAUSSIAN, SUPPRESSION, SWAPPING, ANONYMITY = MECHANISMS
"""The rows of each block, by our name, as the paper calls them."""

EXTRA: dict[str, str] = _STUDY["extra"]
SMALLER_NOISE, BY_THRESHOLD, AGAINST_ALL = EXTRA
"""What else is in an experiment: the noise of the text, Algorithm 2, and a sample against everybody."""

READINGS: dict[str, dict[str, Any]] = _STUDY["readings"]
CELLS = next(iter(READINGS))
"""What swapping may mean, with the options of the mechanism; claims are judged by the first."""

DATA = read_entries(__package__, "data")
"""The data sets by name."""

ASIANS, THREE_RACES = (0.22, 0.04), 0.1
"""The parts of Asians that are taken to be Chinese and Japanese, and that of people of several races that are
taken to have three or more. They have no source; the page of the paper says how much depends on them."""


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
    """Return a data set as a table of counts, empty cells too.

    For k-anonymity every column is a quasi-identifier: a row is generalised as a whole.
    """
    rows = load_people(name)
    schema = rows.schema.with_roles(quasi_identifiers=quasi, sensitive=quasi, target=None, positive=None)
    return Histogram.count(rows.frame, schema, columns, bound=BOUND)


def draw_ipums_coding(
    name: str, source: SeededSource, *, asians: tuple[float, float] = ASIANS, three: float = THREE_RACES
) -> Histogram:
    """Return the table with race coded as in IPUMS, which the paper's excerpts had.

    The three codes of American Indians and Alaska Natives are one there; Asians are Chinese, Japanese or
    other, Pacific Islanders among these; several races are two, or three or more. Our excerpt does not tell
    the last two splits, so that they are drawn.
    """
    histogram = count_people(name)
    rows: Any = np.moveaxis(np.asarray(histogram.counts), COLUMNS.index(QUASI), 0)
    white, black, *native, asian, islanders, other, several = rows
    generator = source.generator()
    parts = (*asians, 1 - sum(asians))
    chinese, japanese, others = np.moveaxis(generator.multinomial(asian, parts), -1, 0)
    more = generator.binomial(several, three)
    coded = [white, black, sum(native), chinese, japanese, others + islanders, other, several - more, more]
    return histogram.with_counts(np.moveaxis(np.array(coded), 0, COLUMNS.index(QUASI)))
