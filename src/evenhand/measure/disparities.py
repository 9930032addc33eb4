r"""How far apart groups are in any rate of their predictions: gaps, ratios, and each beside a reference.

A *gap* is the largest minus the smallest rate of the groups that are compared, a *ratio* the smallest divided
by the largest. Of several rates it is the wider gap and the smaller ratio. A group is compared if its rate
rests on enough people; one that is not is named and is in no comparison.

The interval of a gap is that of :mod:`evenhand.measure.gaps`. A ratio gets its interval in the same way: each
pair of groups has an interval of the ratio of its two shares, all of them together at the level asked, so the
smallest ratio is at least the smallest lower limit and at most the smallest upper limit.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

from evenhand.measure.columns import check_name
from evenhand.measure.counts import PLACE, Shares
from evenhand.measure.gaps import difference_range, each_tail, pair_blocks, pair_differences
from evenhand.measure.intervals import clopper_pearson, difference_limits, exact_limits, ratio_limits

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from evenhand.measure.gaps import Pairs
    from evenhand.measure.intervals import Limits

COMPLEMENTS = {"fnr": "tpr", "tnr": "fpr", "fdr": "precision", "for": "npv", "error": "accuracy"}
"""Rates that are one minus another."""

COMPARED_RATES = (
    "selection", "tpr", "fnr", "fpr", "tnr", "precision", "fdr", "npv", "for", "accuracy", "error"
)  # fmt: skip
"""Rates that groups are compared by, in the order in which they are shown."""


class Comparison(NamedTuple):
    """Which rates are compared, and how."""

    rates: tuple[str, ...]
    how: Literal["gap", "ratio"]


COMPARISONS = {
    **{f"{rate}_gap": Comparison((rate,), "gap") for rate in COMPARED_RATES},
    **{f"{rate}_ratio": Comparison((rate,), "ratio") for rate in COMPARED_RATES},
    "odds_gap": Comparison(("tpr", "fpr"), "gap"),
    "odds_ratio": Comparison(("tpr", "fpr"), "ratio"),
}
"""Every comparison by name; *odds* takes the true and the false positive rate together."""

OTHER_NAMES = {
    "demographic_parity_difference": "selection_gap",
    "demographic_parity_ratio": "selection_ratio",
    "disparate_impact": "selection_ratio",
    "equal_opportunity_difference": "tpr_gap",
    "equal_opportunity_ratio": "tpr_ratio",
    "equalized_odds_difference": "odds_gap",
    "equalized_odds_ratio": "odds_ratio",
    "sp_gap": "selection_gap",
    "eo_gap": "odds_gap",
}
"""Names that other libraries, and group reports, have for some comparisons."""


@dataclass(frozen=True)
class Disparity:
    """A comparison of all groups that have enough people.

    Parameters
    ----------
    name : str
        Of :data:`COMPARISONS`.
    value, low, high : float
        NaN where it is undefined.
    rate : str
        The rate that it comes from, where there are several.
    lowest, highest : int, optional
        The places of the groups with the smallest and the largest such rate.
    too_few : tuple of int
        The places of the groups that are not compared.
    reason : {"", "no_outcome", "too_few", "nobody"}
        Why it is undefined: no true labels; fewer than two groups have enough people; a rate is 0 in every
        group, and a ratio divides by it.
    """

    name: str
    value: float
    low: float
    high: float
    rate: str
    lowest: int | None = None
    highest: int | None = None
    too_few: tuple[int, ...] = ()
    reason: str = ""

    @property
    def is_ratio(self) -> bool:
        """Whether it is a ratio, which is 1 without a disparity; a gap is then 0."""
        return COMPARISONS[self.name].how == "ratio"

    @property
    def is_clear(self) -> bool:
        """Whether its interval leaves out no disparity."""
        return self.high < 1 if self.is_ratio else self.low > 0


def comparison_named(name: str) -> str:
    """Return the name of a comparison from what people call it.

    >>> comparison_named("equalized odds difference"), comparison_named("TPR gap")
    ('odds_gap', 'tpr_gap')
    """
    plain = "_".join(name.lower().replace("-", " ").replace("_", " ").split())
    chosen = OTHER_NAMES.get(plain, plain)
    if chosen not in COMPARISONS:
        check_name("Comparison", name, tuple(COMPARISONS))
    return chosen


def rate_counts(shares: Shares, rate: str) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return successes and trials of a rate, on the scale of the effective size; no trials where none are."""
    base = COMPLEMENTS.get(rate, rate)
    successes, trials = (np.asarray(part, dtype=float) for part in shares.of(base))
    known = np.asarray(shares.trials[..., PLACE[base]] > 0)
    successes, trials = np.where(known, successes, 0.0), np.where(known, trials, 0.0)
    return (trials - successes if rate in COMPLEMENTS else successes), trials


def rate_values(shares: Shares, rate: str) -> NDArray[np.float64]:
    """Return a rate of each group, NaN where nobody is counted."""
    values = shares.rate(COMPLEMENTS.get(rate, rate))
    return 1 - values if rate in COMPLEMENTS else values


def rate_limits(shares: Shares, rate: str, level: float) -> Limits:
    """Return the Clopper-Pearson limits of a rate of each group, NaN where nobody is counted."""
    return clopper_pearson(*rate_counts(shares, rate), level)


def compare_groups(shares: Shares, name: str, *, fewest: float, level: float) -> Disparity:
    """Compare the groups that have enough people.

    Parameters
    ----------
    shares : Shares
        Of the groups.
    name : str
        Of :data:`COMPARISONS`.
    fewest : float
        How many people a rate must rest on, with weights effectively.
    level : float

    Examples
    --------
    >>> from evenhand.measure.counts import Tables, count_table
    >>> table = count_table([1, 0] * 40, [1, 0] * 20 + [0] * 40, ["a"] * 40 + ["b"] * 40)
    >>> gap = compare_groups(Tables.of(table, None).groups, "tpr_gap", fewest=10, level=0.95)
    >>> gap.value, gap.lowest, gap.highest
    (1.0, 1, 0)
    """
    rates, how = COMPARISONS[name]
    places = [PLACE[COMPLEMENTS.get(rate, rate)] for rate in rates]
    counted = (shares.trials[:, places] > 0) & (shares.effective[:, places] >= fewest)
    members = np.flatnonzero(counted.all(axis=1))
    few = tuple(np.flatnonzero(~counted.all(axis=1)).tolist())
    if len(members) < 2:
        unlabelled = rates != ("selection",) and not shares.trials[:, PLACE["accuracy"]].any()
        reason = "no_outcome" if unlabelled else "too_few"
        return Disparity(name, math.nan, math.nan, math.nan, rates[0], too_few=few, reason=reason)
    chosen = Shares(shares.successes[members], shares.trials[members], shares.effective[members])
    values = {rate: rate_values(chosen, rate) for rate in rates}
    sizes = {rate: _size(values[rate], how) for rate in rates}
    known = {rate: size for rate, size in sizes.items() if not math.isnan(size)}
    if not known:
        return Disparity(name, math.nan, math.nan, math.nan, rates[0], too_few=few, reason="nobody")
    rate = (max if how == "gap" else min)(known, key=known.__getitem__)
    low, high = (_gap_limits if how == "gap" else _ratio_limits)(chosen, rates, level)
    order = members[np.argsort(values[rate], kind="stable")]  # where all are alike, the first and the last
    return Disparity(name, known[rate], low, high, rate, int(order[0]), int(order[-1]), few)


def _size(values: NDArray[np.float64], how: str) -> float:
    """Return the gap or the ratio of rates; NaN for a ratio of zeros."""
    least, most = float(values.min()), float(values.max())
    if how == "gap":
        return most - least
    return least / most if most > 0 else math.nan


def _gap_limits(shares: Shares, rates: tuple[str, ...], level: float) -> tuple[float, float]:
    """Return limits of the widest gap: that of a rate is that of its complement too."""
    tails = each_tail(level, len(shares.trials), len(rates))
    lows, highs = [], []
    for base in (COMPLEMENTS.get(rate, rate) for rate in rates):
        limits = exact_limits(*shares.of(base), tails)
        for pairs in pair_blocks(len(shares.trials)):
            low, high = difference_range(pair_differences(shares, base, pairs, limits))
            lows.append(float(low.max()))
            highs.append(float(high.max()))
    return max(lows), max(highs)


def _ratio_limits(shares: Shares, rates: tuple[str, ...], level: float) -> tuple[float, float]:
    tails = each_tail(level, len(shares.trials), len(rates))
    blocks = []
    for rate in rates:
        values, limits = rate_values(shares, rate), exact_limits(*rate_counts(shares, rate), tails)
        blocks += [_pair_ratios(values, limits, pairs) for pairs in pair_blocks(len(shares.trials))]
    return min(low for low, _ in blocks), min(high for _, high in blocks)


def _pair_ratios(values: NDArray[np.float64], limits: Limits, pairs: Pairs) -> tuple[float, float]:
    """Return limits of the smallest ratio of two groups, whichever of them is the smaller.

    Two rates of 0 may be in any ratio, so such a pair excludes nothing.
    """
    low, high = limits
    first, second = ((values[place], (low[place], high[place])) for place in pairs)
    ratios = [ratio_limits(*first, *second), ratio_limits(*second, *first)]
    low = np.fmin(*(np.nan_to_num(low, nan=0.0) for low, _ in ratios))
    high = np.fmin(np.fmin(*(high for _, high in ratios)), 1.0)
    return float(np.min(low)), float(np.min(high))


class Against(NamedTuple):
    """A rate of each group beside that of a reference: difference and ratio, with limits of each."""

    difference: NDArray[np.float64]
    difference_limits: Limits
    ratio: NDArray[np.float64]
    ratio_limits: Limits


def compare_with(shares: Shares, rate: str, reference: int, level: float) -> Against:
    """Compare each group with the one at a place; what is undefined is NaN, and so is a ratio to zero."""
    values, (low, high) = rate_values(shares, rate), rate_limits(shares, rate, level)
    beside = values, (low, high), values[reference], (low[reference], high[reference])
    under = values[reference] if values[reference] > 0 else math.nan
    return Against(
        values - values[reference], difference_limits(*beside), values / under, ratio_limits(*beside)
    )
