"""Reading the trials of zhu2023, and the rule for its numbers."""

from __future__ import annotations

import math
from functools import reduce
from operator import getitem
from typing import TYPE_CHECKING, Any

import numpy as np

from evenhand.papers.claims import AGREES, CONTRADICTED, INDISTINCT, Checked, cannot_check
from evenhand.papers.stored import fill
from evenhand.papers.trials import estimate_mean
from evenhand.papers.zhu2023.data import DATA, PRINTED
from evenhand.papers.zhu2023.experiments import EXACT
from evenhand.study.results.estimates import Estimated

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from evenhand.papers.claims import Evidence

    Runs = NDArray[np.float64]

ALLOWED = 0.05
"""What a bias or an alpha may be off, as a share of the printed one, besides the spread of an experiment."""

_ERRORS, _CLOSE = 2.0, 1e-12


def runs(evidence: Evidence, trials: str, *path: str) -> Runs:
    """Return a number of some trials, one for each experiment, by the names under which a record has it."""
    return np.array([reduce(getitem, path, record) for record in evidence.trials[trials].values()])


def of_table(
    evidence: Evidence, name: str, mechanism: str, epsilon: str, measure: str, *, kind: str = "tables"
) -> Runs:
    """Return a number of a table, one for each experiment; of the kind "ipums" with race coded so."""
    return runs(evidence, f"{kind}-{name}", "numbers", mechanism, epsilon, measure)


def exact_record(evidence: Evidence, name: str) -> Mapping[str, Any]:
    """Return what is known exactly about a data set."""
    return evidence.trials[EXACT][list(DATA).index(name)]


def printed_number(name: str, mechanism: str, epsilon: str, measure: str) -> tuple[str, float, float]:
    """Return a printed number: its text, its value, and one unit of its last digit.

    Zero has no last digit: it is printed where there is no delta at all, and has a unit of 0.

    >>> printed_number("ma", "discrete-gaussian", "4", "delta")
    ('3E-4', 0.0003, 0.0001)
    """
    text = getattr(PRINTED[name][mechanism, epsilon], measure)
    if text == "0":
        return text, 0.0, 0.0
    mantissa, _, power = text.partition("E")
    _, _, decimals = mantissa.partition(".")
    return text, float(text), 10.0 ** (int(power or 0) - len(decimals))


def number_of(
    evidence: Evidence, name: str, mechanism: str, epsilon: str, measure: str, *, kind: str = "tables"
) -> Checked:
    """Check a number of a table.

    Delta may be off by one unit of its last printed digit, as some are rounded and some are cut; where 0 is
    printed, it must be 0. Publishing the table as it is has a delta of 1: where that is in reach too, the
    number cannot tell the two apart.
    Bias and alpha come from one experiment, so they may be off by twice the spread of our experiments besides
    :data:`ALLOWED`.
    """
    text, paper, unit = printed_number(name, mechanism, epsilon, measure)
    if measure == "delta":
        value = exact_record(evidence, name)["numbers"][mechanism][epsilon]["delta"]
        off, as_it_is = abs(value - paper), abs(1 - paper)
        why = f"Off by {off:.2g}, allowed {unit:g}; doing nothing is off by {as_it_is:.2g}."
        same_as_nothing = INDISTINCT if as_it_is <= unit + _CLOSE else AGREES
        verdict = same_as_nothing if off <= unit + _CLOSE else CONTRADICTED
        return Checked(verdict, why, Estimated(value), text, paper)
    drawn = of_table(evidence, name, mechanism, epsilon, measure, kind=kind)
    ours = estimate_mean(drawn)
    off = ours.value / paper - 1
    if len(drawn) < 2:
        return cannot_check("One experiment has no spread.", ours=ours, paper=text, off=off)
    spread = float(drawn.std(ddof=1)) * math.sqrt(1 + 1 / len(drawn))
    reach = ALLOWED + _ERRORS * spread / paper
    why = fill("Off by {off:+.1%}, allowed {reach:.1%}.", off=off, reach=reach)
    same_as_nothing = INDISTINCT if reach >= 1 else AGREES
    verdict = same_as_nothing if abs(off) <= reach else CONTRADICTED
    return Checked(verdict, why, ours, text, paper, values={"off": off, "allowed": reach})
