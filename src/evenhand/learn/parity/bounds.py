"""How far apart groups may be after post-processing: on average, and with a stated confidence.

Everything is computed from what was released, that is from the table with its noise, so that a bound says
nothing more about anybody. The rows of the table must not have trained the classifier.
"""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass, replace
from html import escape
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np
from scipy.special import betaincinv, gammaln, xlogy

from evenhand._notebook import aligned, html_table, number_text
from evenhand._validate import refuse
from evenhand.privacy.laws import DiscreteLaplace
from evenhand.privacy.rational import exact

if TYPE_CHECKING:
    from collections.abc import Sequence
    from fractions import Fraction

    from numpy.typing import NDArray

    from evenhand.privacy.rational import Number

    Values = NDArray[np.float64]

_SIZES = {
    "noisy": "Computed from the released table: its sizes hold noise, and the bounds allow for it.",
    "public": "Computed from rates with noise and from the sizes of the groups, which are said to be public.",
    "true": "Computed from the true counts, which are not private.",
}
NOISE_SHARE = 0.2
"""The share of the risk that noise has: its tails are light, so a small share costs little."""

_MOST_SUMMED = 1 << 14
_ROUNDING = 1e-9  # room for the rounding of logarithms
SPLITS = np.linspace(0.005, 0.995, 199)
"""Where an expectation is cut in two; fixed, so that nothing is chosen by looking at the data."""


class PrintedBounds(NamedTuple):
    """The bounds of Theorem 8 and Proposition 9 of ghoukasian2024."""

    expected: float
    likely: float
    expected_changes: float
    likely_changes: float


class Released(NamedTuple):
    """Counts that noise was added to, and the noise."""

    counts: NDArray[np.int64]  # of (groups, classes), none below 0; of two classes the negative one first
    scale: Fraction | None
    draws: int  # in the whole table
    per_count: int = 1  # draws in each of the counts
    public_sizes: bool = False


@dataclass(frozen=True, eq=False)
class GapBound:
    """The bounds of one gap.

    Attributes
    ----------
    name : str
        Whose gap: ``"positive rate"``, ``"true positive rate"``, ``"false positive rate"`` or, with more
        than two classes, ``"rate of ..."`` for each of them.
    expected : float
        The gap is at most this on average over rows and noise, for groups as large as the table says at
        least.
    likely : float
        It is at most this with the stated confidence.
    low, high : array
        Between these is the rate of each group after post-processing, all at once and with that confidence.
    printed : PrintedBounds or None
        What the formulas of ghoukasian2024 give for the released sizes, for comparison.
    measured : float or None
        The gap on rows of your choice; see :meth:`ParityPostProcessor.measured`.
    """

    name: str
    expected: float
    likely: float
    low: Values
    high: Values
    printed: PrintedBounds | None = None
    measured: float | None = None


@dataclass(frozen=True, eq=False, repr=False)
class Bounds:
    """What is promised about the gaps between groups, beside what was measured.

    Attributes
    ----------
    gap : float
        The target: the gap of the rates in the released table.
    confidence : float
        With which all `likely` bounds hold together.
    parts : tuple of GapBound
        One for statistical parity of two classes, two for equalised odds, one for each of several classes.
    groups : tuple
        The labels of the groups.
    sizes : {"noisy", "public", "true"}
        Which sizes of the groups it was computed from.
    """

    gap: float
    confidence: float
    parts: tuple[GapBound, ...]
    groups: tuple[object, ...]
    sizes: Literal["noisy", "public", "true"]

    @property
    def expected(self) -> float:
        """The largest expected gap of the parts."""
        return max(part.expected for part in self.parts)

    @property
    def likely(self) -> float:
        """No gap of any part is larger, with the stated confidence."""
        return max(part.likely for part in self.parts)

    @property
    def measured(self) -> float | None:
        """The largest gap that was measured, if any was."""
        gaps = [part.measured for part in self.parts if part.measured is not None]
        return max(gaps) if gaps else None

    def beside(self, measured: Sequence[float]) -> Bounds:
        """Return the same bounds with the measured gap of each part beside them."""
        parts = zip(self.parts, measured, strict=True)
        return replace(self, parts=tuple(replace(part, measured=float(gap)) for part, gap in parts))

    def __repr__(self) -> str:
        return "\n".join([self._headline(), *aligned(self._table()), _SIZES[self.sizes]])

    def _repr_html_(self) -> str:
        headline, sizes = escape(self._headline()), escape(_SIZES[self.sizes])
        return f"<div><p>{headline}</p>{html_table(self._table())}<p>{sizes}</p></div>"

    def _headline(self) -> str:
        return f"Largest gap between {len(self.groups)} groups, target {self.gap:.3f}"

    def _table(self) -> list[list[str]]:
        sure = f"{100 * self.confidence:g} % sure"
        shown = any(part.measured is not None for part in self.parts)
        rows = [["Gap of", "expected <=", f"{sure} <=", *(["measured"] if shown else [])]]
        for part in self.parts:
            last = [number_text(np.nan if part.measured is None else part.measured)] if shown else []
            rows.append([part.name, number_text(part.expected), number_text(part.likely), *last])
        return rows


def printed_bounds(
    sizes: Sequence[int], epsilons: Sequence[Number], *, gap: float = 0.0, confidence: float = 0.95
) -> PrintedBounds:
    r"""Return the bounds of ghoukasian2024 for public sizes, for any number of groups and target gap.

    .. math:: \gamma + \sum_a \frac{1}{n_a \varepsilon_a} + \frac{1}{2 \sqrt{n_a}}, \qquad
              \gamma + \sum_{a} \frac{\ln(2k/\eta)}{n_a \varepsilon_a} + \sqrt{\frac{\ln(4k/\eta)}{2 n_a}}

    where :math:`n_a` are `sizes`, :math:`\varepsilon_a` are `epsilons`, :math:`k` is how many they are,
    :math:`\gamma` is `gap` and :math:`\eta` is one minus `confidence`. The first bounds the expected gap, the
    second the gap with that confidence; its sum is over the two worst groups only. Changes exceed the fewest
    possible by at most 5/2 of the same (Theorem 8 with its sizes corrected, and Proposition 9).

    Examples
    --------
    >>> bounds = printed_bounds([300, 700], [0.5, 0.5])
    >>> f"{bounds.expected:.12f} {bounds.likely:.12f}"
    '0.057289546634 0.193913363592'
    """
    risk, k = 1 - check_confidence(confidence), len(sizes)
    noise = [
        1 / (n * float(exact(e, name="epsilons", owner="printed_bounds", above=0)))
        for n, e in zip(sizes, epsilons, strict=True)
    ]
    rows = [math.sqrt(1 / n) for n in sizes]
    expected = sum(noise) + sum(rows) / 2
    worst = [
        math.log(2 * k / risk) * a + math.sqrt(math.log(4 * k / risk) / 2) * b
        for a, b in zip(noise, rows, strict=True)
    ]
    likely = sum(sorted(worst)[-2:])
    return PrintedBounds(gap + expected, gap + likely, 2.5 * expected, 2.5 * likely)


def gap_bounds(
    released: Released,
    keep: Values,
    promote: Values,
    *,
    name: str,
    gap: float,
    confidence: float,
    intervals: int,
    epsilon: Number | None,
) -> GapBound:
    r"""Return the bounds of one gap from a released table.

    A group's rate after post-processing is :math:`r(\alpha) = \tau + (\kappa - \tau) \alpha` where
    :math:`\alpha` is its rate before, :math:`\kappa` and :math:`\tau` are `keep` and `promote`. With
    :func:`rate_limits` of :math:`\alpha` the gap is at most the largest :math:`r(\cdot)` of one group less
    the smallest of another. For the expectation, :math:`|\kappa - \tau| \le 1` and the gap is at most the
    target and the two largest errors of the rates, which come from rows and from noise.

    Parameters
    ----------
    released : Released
        The counts.
    keep, promote : array
        The probabilities made from them.
    name, gap, confidence : str and float
        What is bounded, the target, and how surely.
    intervals : int
        How many intervals hold at once: groups, times two for equalised odds.
    epsilon : number or None
        For the printed bounds.
    """
    low, high, fewest = rate_limits(released, confidence=confidence, intervals=intervals)
    ends = promote + (keep - promote) * np.stack([low, high])
    after_low, after_high = ends.min(axis=0), ends.max(axis=0)
    apart = after_high[:, None] - after_low[None, :]
    np.fill_diagonal(apart, 0.0)
    sizes = released.counts.sum(axis=1)
    printed = None
    if epsilon is not None and (sizes > 0).all():
        printed = printed_bounds(sizes.tolist(), [epsilon] * len(sizes), gap=gap, confidence=confidence)
    return GapBound(
        name=name,
        expected=min(1.0, gap + _expected_rows(fewest) + _expected_noise(released, fewest)),
        likely=float(np.clip(apart.max(), 0, 1)),
        low=after_low,
        high=after_high,
        printed=printed,
    )


def rate_limits(
    released: Released, *, confidence: float, intervals: int
) -> tuple[Values, Values, NDArray[np.int64]]:
    r"""Return limits of every group's rate that hold all at once, and the fewest rows it was seen in.

    With a fifth of the risk, no noise is larger than some :math:`q`; with the rest, Clopper and Pearson's
    limits hold for the true counts, which are within :math:`q` of the released ones. The lower limit is
    smallest for the fewest positives and the most negatives.
    """
    risk = 1 - check_confidence(confidence)
    noise_risk = risk * NOISE_SHARE if released.draws else 0.0
    reach = 0
    if released.scale is not None:
        reach = released.per_count * noise_reach(released.scale, risk_of_each(noise_risk, released.draws))
    tail = risk_of_each((risk - noise_risk) / (1 - noise_risk), intervals) / 2
    negative, positive = (released.counts[:, place].astype(np.float64) for place in (0, 1))
    fewest, most = (np.maximum(positive + sign * reach, 0) for sign in (-1, 1))
    others_most, others_fewest = (np.maximum(negative + sign * reach, 0) for sign in (1, -1))
    low = np.where(fewest > 0, betaincinv(np.maximum(fewest, 1), others_most + 1, tail), 0.0)
    high = np.where(others_fewest > 0, betaincinv(most + 1, np.maximum(others_fewest, 1), 1 - tail), 1.0)
    sizes = released.counts.sum(axis=1) - (0 if released.public_sizes else 2 * reach)
    return low, high, np.maximum(sizes, 0)


def _expected_rows(sizes: NDArray[np.int64]) -> float:
    """Bound the expected sum of the two largest differences between a group's rate in rows and in truth."""
    if (sizes <= 0).any():
        return 1.0
    plain = sum(_mean_deviation(int(size)) for size in sizes)
    return min(plain, math.sqrt(float((0.5 / sizes).sum())))


@functools.lru_cache(maxsize=1024)
def _mean_deviation(n: int) -> float:
    r"""Return how far the share of `n` rows is from its probability on average, for the worst probability.

    By de Moivre, :math:`E|S - np| = 2 \nu \binom{n}{\nu} p^\nu (1 - p)^{n - \nu + 1}` where
    :math:`\nu - 1 \le np < \nu`. In each such stretch it is largest at :math:`p = \nu / (n + 1)`. For many
    rows the square root of the largest variance stands in its place, which is a quarter more.
    """
    if n > _MOST_SUMMED:
        return 0.5 / math.sqrt(n)
    place = np.arange(1.0, n + 1)
    rest = n + 1 - place
    ways = gammaln(n + 1) - gammaln(place) - gammaln(rest)  # of the binomial, times the place
    chance = xlogy(place, place / (n + 1)) + xlogy(rest, rest / (n + 1))
    return 2 * float(np.exp(ways + chance).max()) * (1 + _ROUNDING) / n


def _expected_noise(released: Released, sizes: NDArray[np.int64]) -> float:
    r"""Bound the expected sum of the two largest errors that noise makes in the rates.

    With noise :math:`z_0, z_1` on the counts of a group of :math:`n`, the error is
    :math:`|(1 - \alpha) z_1 - \alpha z_0| / (n + z_0 + z_1)`, on average at most
    :math:`E|z| / ((1 - c) n)` where :math:`z_0 + z_1 > -cn`, and at most 1 elsewhere, for every :math:`c`.
    Where sizes are public it is :math:`|z_1| / n`. Where every count is the sum of several with noise, the
    first part is as many times as large, and so is the second at the same part of :math:`cn`.
    """
    if released.scale is None:
        return 0.0
    if (sizes <= 0).any():
        return 1.0
    ratio = math.exp(-1 / float(released.scale))
    mean = 2 * ratio / (1 - ratio**2)
    if released.public_sizes:
        return float((mean / sizes).sum())
    draws = released.per_count
    cut = np.floor(SPLITS[:, None] * sizes) + 1  # the size is at least n - cut + 1 unless the sum is <= -cut
    errors = draws * (mean / (sizes - cut + 1) + sum_tail(ratio, np.ceil(cut / draws)))
    return float(np.minimum(errors, 1).min(axis=0).sum())


def sum_tail(ratio: float, least: Values) -> Values:
    """Return the probability that two discrete Laplace numbers add up to `least` > 0 or more."""
    steady = (1 + ratio**2) / (1 - ratio**2)
    total = (least + steady) / (1 - ratio) + ratio / (1 - ratio) ** 2
    tail: Values = ((1 - ratio) / (1 + ratio)) ** 2 * ratio**least * total
    return tail


@functools.lru_cache(maxsize=64)
def noise_reach(scale: Fraction, risk: float) -> int:
    """Return the smallest q such that discrete Laplace noise is farther from 0 with at most that risk."""
    law = DiscreteLaplace(scale)
    low, high = -1, max(0, math.ceil(float(scale) * math.log(2 / risk))) + 1
    while high - low > 1:  # halving, as a wide law has more places than fit into memory
        middle = (low + high) // 2
        low, high = (low, middle) if 2 * law.sf(middle) <= risk else (middle, high)
    return high


def risk_of_each(risk: float, events: int) -> float:
    """Return the risk of each of so many independent events, so that one of them happens with `risk`."""
    return -math.expm1(math.log1p(-risk) / events)


def check_confidence(value: float) -> float:
    """Return a confidence between 0 and 1, else refuse it."""
    plain = isinstance(value, int | float | np.floating) and not isinstance(value, bool)
    if not plain or not 0 < value < 1:
        refuse("confidence", "ParityPostProcessor", "a number between 0 and 1", value)
    return float(value)
