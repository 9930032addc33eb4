r"""The measures of a group report, and their limits, computed from shares.

Three families: differences and a ratio between the privileged group and everybody else; worst
pairs over any number of groups; and figures for everybody together. Each function works on one
table or on a stack of tables, so a report, a bootstrap and a simulation run the same code. A measure that
has no value is NaN, with a sentence that says why.

A worst-pair gap is a largest absolute difference. It cannot be negative, and its estimate is
always above 0, so at a true gap of 0 no interval centred on the estimate, and no bootstrap of it,
covers. The signed differences behind it have no such corner. So every pair gets an interval of
its signed difference, all of them together at the level asked (see :func:`each_tail`), and the gap lies
between what the pairs exclude and what they allow. The result is conservative.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np

from evenhand._lazy import lazy
from evenhand._validate import one_of
from evenhand.measure.counts import PLACE, RATES, GroupRates, Tables, tabulate, why_undefined
from evenhand.measure.intervals import (
    clopper_pearson,
    difference_limits,
    exact_limits,
    mean_of_shares,
    share_difference,
    share_ratio,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from evenhand.measure.counts import CountTable, Shares
    from evenhand.measure.intervals import Limits

Pairs = tuple["NDArray[np.intp]", "NDArray[np.intp]"]
"""The first and the second member of some pairs of groups."""

special, optimize = lazy("scipy.special"), lazy("scipy.optimize")

_PAIRS_AT_ONCE = 1 << 15
_SMALLEST_TAIL = 1e-9  # below it the integral of a range is rounding error
_FARTHEST, _NODES = 9.0, 361  # equal steps are as good as any for what dies out so fast


def pair_blocks(n_groups: int) -> Iterator[Pairs]:
    """Yield all pairs of groups, together if they are few and else by their first member.

    >>> [(first.tolist(), second.tolist()) for first, second in pair_blocks(3)]
    [([0, 0, 1], [1, 2, 2])]
    """
    if n_groups * (n_groups - 1) // 2 <= _PAIRS_AT_ONCE:
        yield np.triu_indices(n_groups, k=1)
        return
    for member in range(n_groups - 1):
        second = np.arange(member + 1, n_groups)
        yield np.full_like(second, member), second


def each_tail(level: float, n_groups: int, rates: int) -> float:
    r"""Return how often each interval may miss, so that those of all pairs and rates hold at `level`.

    Pairs of :math:`k` groups share their members, so their intervals miss together more often than not. With
    independent normal rates of equal variance the largest standardised difference is the range of :math:`k`
    normal variables over :math:`\sqrt 2`, whose quantile is Tukey's; with unequal variances that quantile is
    too large, never too small [1]_. It is below that of Bonferroni, which is taken for the rates and where a
    tail is lost in rounding.

    References
    ----------
    .. [1] Hayter (1984). A proof of the conjecture that the Tukey-Kramer multiple comparisons procedure is
           conservative. Annals of Statistics 12.

    Examples
    --------
    >>> f"{each_tail(0.95, 2, 1):.4f} {each_tail(0.95, 3, 1):.4f}"  # one pair; three pairs
    '0.0500 0.0191'
    """
    missed = (1 - level) / rates
    simple = missed / (n_groups * (n_groups - 1) / 2)
    if n_groups == 2 or missed < _SMALLEST_TAIL:
        return simple
    return max(range_tail(missed, n_groups), simple)


@lru_cache(maxsize=256)
def range_tail(missed: float, n_groups: int) -> float:
    r"""Return the tail of one pair where the range of `n_groups` normal variables leaves out `missed`.

    The range is at most :math:`q` with probability :math:`k \int \phi(x) (\Phi(x) - \Phi(x - q))^{k-1} dx`.

    >>> f"{-special.ndtri(range_tail(0.05, 10) / 2) * math.sqrt(2):.3f}"  # tables of Tukey have 4.474
    '4.474'
    """
    largest, step = np.linspace(-_FARTHEST, _FARTHEST, _NODES, retstep=True)  # the largest of the variables
    weights = n_groups * float(step) * np.exp(-(largest**2) / 2) / math.sqrt(2 * math.pi)
    below = special.ndtr(largest)

    def excess(width: float) -> float:
        within = below - special.ndtr(largest - width)
        return float(weights @ within ** (n_groups - 1)) - (1 - missed)

    width = optimize.brentq(excess, 0.0, 2 * _FARTHEST, xtol=1e-10)
    return float(2 * special.ndtr(-width / math.sqrt(2)))


def pair_differences(shares: Shares, rate: str, pairs: Pairs, limits: Limits) -> Limits:
    """Return intervals of the signed differences of one rate, one per pair along the last axis.

    Parameters
    ----------
    shares : Shares
        The shares of the groups, of shape (..., groups, rates).
    rate : str
        Which rate.
    pairs : tuple of arrays
        The members of each pair.
    limits : tuple of arrays
        The exact intervals of this rate, one per group.
    """
    first, second = pairs
    share, (low, high) = shares.rate(rate), limits
    return difference_limits(
        share[..., first],
        (low[..., first], high[..., first]),
        share[..., second],
        (low[..., second], high[..., second]),
    )


def difference_range(limits: Limits) -> Limits:
    """Turn limits of a signed difference into limits of its absolute value.

    >>> low, high = difference_range((np.array([-0.2, 0.1]), np.array([0.1, 0.3])))
    >>> low.tolist(), high.tolist()
    ([0.0, 0.1], [0.2, 0.3])
    """
    low, high = limits
    distance = np.maximum(np.maximum(low, -high), 0)
    return distance, np.maximum(np.abs(low), np.abs(high))


DIFFERENCES = {"spd": "selection", "eod": "tpr", "ped": "fpr", "oad": "accuracy", "prd": "precision"}
"""Privileged minus everybody else, and of which rate."""

COMPARED = ("di", *DIFFERENCES)
"""Measures that need a privileged group."""

WORST_PAIR = {"sp_gap": ("selection",), "eo_gap": ("tpr", "fpr"), "meo_gap": ("tpr", "fpr")}
"""Largest difference between any two groups, and of which rates."""

OVERALL = {
    "acc": ("accuracy",),
    "f1": ("hits",),
    "recall": ("tpr",),
    "balanced_accuracy": ("tpr", "fpr"),
}
"""Figures for everybody that come from the count table, and from which rates."""

MEASURES = (
    "acc",
    "f1",
    "recall",
    "balanced_accuracy",
    "auc",
    "spd",
    "di",
    *list(DIFFERENCES)[1:],
    *WORST_PAIR,
)
"""Every measure of a report, in the order in which it is shown."""

NO_DISPARITY = {"di": 1.0, **dict.fromkeys((*DIFFERENCES, *WORST_PAIR), 0.0)}
"""The value that means no disparity; measures of everybody have none."""


def value(name: str, tables: Tables) -> NDArray[np.float64]:
    """Return the value of a measure for each table, NaN where it is undefined."""
    if name in DIFFERENCES:
        rate = DIFFERENCES[name]
        return np.asarray(tables.privileged_side.rate(rate) - tables.other_side.rate(rate))
    if name == "di":
        under = tables.privileged_side.rate("selection")
        return np.asarray(tables.other_side.rate("selection") / np.where(under > 0, under, np.nan))
    if name in WORST_PAIR:
        return _worst_value(name, tables)
    return _overall_value(name, tables)


def limits(name: str, tables: Tables, level: float) -> Limits:
    """Return the limits of a measure for each table, NaN where it is undefined."""
    if name in DIFFERENCES:
        rate = DIFFERENCES[name]
        return share_difference(*tables.privileged_side.of(rate), *tables.other_side.of(rate), level)
    if name == "di":
        return share_ratio(*tables.other_side.of("selection"), *tables.privileged_side.of("selection"), level)
    if name in WORST_PAIR:
        return _worst_limits(name, tables, level)
    return _overall_limits(name, tables, level)


def pair_values(name: str, tables: Tables, pairs: Pairs) -> NDArray[np.float64]:
    """Return the gap of each pair of groups, along the last axis."""
    first, second = pairs
    rates = [tables.groups.rate(rate) for rate in WORST_PAIR[name]]
    gaps = [np.abs(rate[..., first] - rate[..., second]) for rate in rates]
    return _join_rates(name, gaps)


def _join_rates(name: str, gaps: list[NDArray[np.float64]]) -> NDArray[np.float64]:
    """Return one gap from those of its rates: their mean, or the larger."""
    return np.asarray(sum(gaps) / len(gaps) if name == "meo_gap" else np.maximum.reduce(gaps))


def worst_members(name: str, tables: Tables) -> tuple[int, int]:
    """Return the places of the two groups that are furthest apart, the first such pair in group order."""
    largest, members = -1.0, (0, 0)
    for first, second in pair_blocks(tables.n_groups):
        gaps = pair_values(name, tables, (first, second))
        place = int(gaps.argmax())
        if gaps[place] > largest:
            largest, members = float(gaps[place]), (int(first[place]), int(second[place]))
    return members


def _worst_value(name: str, tables: Tables) -> NDArray[np.float64]:
    if tables.n_groups < 2:
        return np.full(tables.cells.shape[:-2], np.nan)
    rates = [tables.groups.rate(rate) for rate in WORST_PAIR[name]]
    if name == "meo_gap":  # the largest |x| + |y| is the largest |x + y| or |x - y|: no pair need be formed
        rates = [(rates[0] + rates[1]) / 2, (rates[0] - rates[1]) / 2]
    return np.asarray(np.maximum.reduce([np.ptp(rate, axis=-1) for rate in rates]))


def _worst_limits(name: str, tables: Tables, level: float) -> Limits:
    if tables.n_groups < 2:
        nothing = np.full(tables.cells.shape[:-2], np.nan)
        return nothing, nothing
    tails = each_tail(level, tables.n_groups, len(WORST_PAIR[name]))
    shares = [exact_limits(*tables.groups.of(rate), tails) for rate in WORST_PAIR[name]]
    blocks = [_block_limits(name, tables, pairs, shares) for pairs in pair_blocks(tables.n_groups)]
    lows, highs = zip(*blocks, strict=True)
    return np.asarray(np.maximum.reduce(lows)), np.asarray(np.maximum.reduce(highs))


def _block_limits(name: str, tables: Tables, pairs: Pairs, shares: list[Limits]) -> Limits:
    """Return what the intervals of some pairs exclude and what they allow."""
    ranges = [
        difference_range(pair_differences(tables.groups, rate, pairs, exact))
        for rate, exact in zip(WORST_PAIR[name], shares, strict=True)
    ]
    low, high = (_join_rates(name, list(ends)).max(axis=-1) for ends in zip(*ranges, strict=True))
    return np.asarray(low), np.asarray(high)


def _overall_value(name: str, tables: Tables) -> NDArray[np.float64]:
    rates = [tables.overall.rate(rate) for rate in OVERALL[name]]
    if name == "f1":
        return np.asarray(2 * rates[0] / (1 + rates[0]))
    if name == "balanced_accuracy":
        return np.asarray((rates[0] + 1 - rates[1]) / 2)
    return rates[0]


def _overall_limits(name: str, tables: Tables, level: float) -> Limits:
    successes, trials = tables.overall.of(OVERALL[name][0])
    if name == "balanced_accuracy":
        wrong, negatives = tables.overall.of("fpr")
        return mean_of_shares(successes, trials, negatives - wrong, negatives, level)
    low, high = clopper_pearson(successes, trials, level)
    if name == "f1":
        return 2 * low / (1 + low), 2 * high / (1 + high)
    return low, high


_NO_ROWS = "There are no rows."
_NAMED_AT_MOST = 3


class Measured(float):
    """A float that says why it is NaN.

    Examples
    --------
    >>> undefined = Measured(float("nan"), "There are no rows.")
    >>> undefined, undefined.reason
    (nan, 'There are no rows.')
    >>> Measured(0.25) + 1
    1.25
    """

    reason: str

    def __new__(cls, value: float, reason: str = "") -> Self:
        """Return `value` with its `reason`."""
        measured = super().__new__(cls, value)
        measured.reason = reason
        return measured


def measure_reason(name: str, table: CountTable, tables: Tables, privileged: object) -> str:
    """Return why a measure of the count table is undefined, or nothing if it is defined."""
    if not table.groups:
        return _NO_ROWS
    if name in WORST_PAIR:
        return gap_reason(name, table, tables)
    if name in COMPARED:
        return _compared_reason(name, table, tables, privileged)
    sentences = (_why("There are", rate, tables.overall, table) for rate in OVERALL[name])
    return next(filter(None, sentences), "")


def gap_reason(name: str, table: CountTable, tables: Tables) -> str:
    """Return why a worst-pair gap is undefined, naming the groups at fault."""
    if not table.groups:
        return _NO_ROWS
    if not table.labelled and name != "sp_gap":
        return "No true labels were given."
    if len(table.groups) < 2:
        return "There is only one group, so there is no pair to compare."
    for rate in WORST_PAIR[name]:
        empty = np.flatnonzero(tables.groups.trials[:, PLACE[rate]] <= 0).tolist()
        if empty:
            named = [_why_group(place, rate, table, tables) for place in empty[:_NAMED_AT_MOST]]
            more = len(empty) - len(named)
            return " ".join(named) + (f" So it is with {more} more." if more else "")
    return ""


def group_rates(table: CountTable, tables: Tables, limit: int | None = None) -> dict[Any, GroupRates]:
    """Return the rates of each group by its label, or of the first `limit` groups."""
    labels = table.groups[:limit]
    sizes, rates = table.sizes[:limit].tolist(), tables.groups.values[:limit, : len(RATES)]
    undefined = set(np.flatnonzero(np.isnan(rates).any(axis=1)).tolist())
    rows = {}
    for place, (label, size, values) in enumerate(zip(labels, sizes, rates.tolist(), strict=True)):
        reasons = rate_reasons(place, table, tables) if place in undefined else {}
        selection, tpr, fpr, accuracy, precision, base_rate = values
        rows[label] = GroupRates(size, selection, tpr, fpr, accuracy, precision, base_rate, reasons)
    return rows


def rate_reasons(place: int, table: CountTable, tables: Tables) -> dict[str, str]:
    """Return the rates of one group that are undefined, each with its sentence."""
    sentences = {rate: _why_group(place, rate, table, tables) for rate in RATES}
    return {rate: sentence for rate, sentence in sentences.items() if sentence}


def _compared_reason(name: str, table: CountTable, tables: Tables, privileged: object) -> str:
    if privileged is None:
        return "No privileged group was named."
    rate = DIFFERENCES.get(name, "selection")
    first = f"The privileged group {privileged!r} has"
    for subject, shares in (
        (first, tables.privileged_side),
        ("The unprivileged side has", tables.other_side),
    ):
        sentence = _why(subject, rate, shares, table)
        if sentence:
            return sentence
    if name == "di" and tables.privileged_side.rate("selection") <= 0:
        return f"{first} a selection rate of 0, and the ratio divides by it."
    return ""


def _why_group(place: int, rate: str, table: CountTable, tables: Tables) -> str:
    shares = tables.groups
    row = type(shares)(shares.successes[place], shares.trials[place], shares.effective[place])
    return _why(f"Group {table.groups[place]!r} has", rate, row, table)


def _why(subject: str, rate: str, shares: Shares, table: CountTable) -> str:
    return why_undefined(subject, rate, shares, labelled=table.labelled, weighted=table.weighted)


def data_unfairness(
    y: Any,
    group: Any,
    *,
    kind: Literal["ratio", "difference"] = "ratio",
    groups: Sequence[Any] | None = None,
    positive: object = None,
    weights: Any = None,
) -> Measured:
    r"""Return how unequal the rates of positive labels are.

    .. math:: \Delta = \max_a \left| \frac{P(Y=1 \mid A=a)}{P(Y=1)} - 1 \right|, \qquad
              \Delta' = \max_a P(Y=1 \mid A=a) - \min_a P(Y=1 \mid A=a)

    where :math:`Y` is the label `y` and :math:`A` is the `group`; `kind` ``"ratio"`` is
    :math:`\Delta` and ``"difference"`` is :math:`\Delta'`. 0 means no disparity, for both.

    Parameters
    ----------
    y, group : array, list or series
        Labels and groups, one per row.
    kind : {"ratio", "difference"}
        Which of the two.
    groups : sequence, optional
        Every group, also those without rows. By default those that occur.
    positive : object, optional
        The label that counts as positive, by default 1 or ``True``.
    weights : array, list or series, optional
        One weight per row, at least 0.

    Returns
    -------
    Measured
        A float. It is NaN if a declared group has no rows, if there is only one group, or, for the
        ratio, if nobody has a positive label; then its ``reason`` says which.

    Notes
    -----
    The two are tied by :math:`\Delta \le \Delta' / P(Y=1)` and :math:`\Delta' \le 2 P(Y=1) \Delta`.

    References
    ----------
    .. [1] Ghoukasian (2024). Classification algorithms with differential privacy and fairness
           guarantees. Thesis, McMaster University, chapter 5.

    Examples
    --------
    >>> y, group = [1, 0, 0, 0, 1, 1, 1, 0], ["a"] * 4 + ["b"] * 4
    >>> data_unfairness(y, group)
    0.5
    >>> data_unfairness(y, group, kind="difference")
    0.5
    >>> data_unfairness([0, 0], ["a", "b"]).reason
    'There are no rows with a positive label, and the ratio divides by their share.'
    """
    chosen = one_of("kind", kind, ("ratio", "difference"), owner="data_unfairness")
    table = tabulate(
        {"y": y}, group, groups=groups, positive=positive, weights=weights, owner="data_unfairness"
    ).table
    tables = Tables.of(table, None)
    reason = gap_reason("sp_gap", table, tables)
    if reason:
        return Measured(math.nan, reason)
    rates = tables.groups.rate("selection")
    if chosen == "difference":
        return Measured(rates.max() - rates.min())
    overall = float(tables.overall.rate("selection"))
    if overall <= 0:
        return Measured(
            math.nan, "There are no rows with a positive label, and the ratio divides by their share."
        )
    return Measured(np.abs(rates / overall - 1).max())
