r"""What sampling promises: the exact delta of a sampled table whose small counts are suppressed.

Each person is taken with the same chance :math:`\beta`, independently; the sampled counts of fixed, public
cells are published if they are at least :math:`k`. See :func:`sampled_delta`; :func:`rate_for` gives the
largest chance whose delta is within what is asked.

A cell of :math:`w` people has a sampled count :math:`\operatorname{Bin}(w, \beta)`; below :math:`k` it is
suppressed, so all those outcomes are one. A cell that loses a person is a pair of laws (:math:`w`,
:math:`w - 1`), one that gains a person is (:math:`u`, :math:`u + 1`). The ratio of two such laws is monotone
in the outcome, so what one exceeds :math:`e^\varepsilon` times the other by is the difference of two tails.

Floats are enough, because every distance comes with a bound on its rounding error: the laws are sums and
products of positive numbers, so each outcome of a cell of :math:`w` people has a relative error of less than
:math:`8 w + 32` units in the last place, and a difference of tails has an absolute error of so many units of
the two together. That bound is added.
"""

from __future__ import annotations

import functools
import math
from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from evenhand._lazy import lazy
from evenhand._validate import integer, one_of
from evenhand.errors import InvalidParameterError
from evenhand.privacy.guarantees.units import Unit
from evenhand.privacy.rational import Number, exact, exp_bounds, round_up

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import numpy.typing as npt

    Values = npt.NDArray[np.float64]

optimize = lazy("scipy.optimize")

_UNIT = 2.0**-53
_CUT_OFF = 1e-80
_LEFT_OUT = 1e-70
"""More than all that is left out for being negligible, in any table."""


class Cell(NamedTuple):
    """The laws of what is published of a cell of one table and of the same cell of the other.

    Outcomes are in increasing order; `people` is the larger number of people.
    """

    first: Values
    second: Values
    people: int


class Cells(NamedTuple):
    """Several cells in one array, where each starts, the people of each, and what is left out of each."""

    first: Values
    second: Values
    starts: npt.NDArray[np.int64]
    people: Values
    left: Values


def binomials(rate: float, most: int) -> Iterator[tuple[Values, Values]]:
    """Yield the laws of the sampled counts of w people and of w - 1, for w = 1, ..., `most`.

    >>> [law.round(3).tolist() for law, _ in binomials(0.1, 2)]
    [[0.9, 0.1], [0.81, 0.18, 0.01]]
    """
    before = np.ones(1)
    for _ in range(most):
        law = np.zeros(before.size + 1)
        law[:-1] = (1 - rate) * before
        law[1:] += rate * before
        yield law, np.append(before, 0.0)
        kept = law.size
        while law[kept - 1] < _CUT_OFF:  # the upper end; the law as a whole is never negligible
            kept -= 1
        before = law[:kept]


def merge_small_outcomes(first: Values, second: Values, *, k: int, people: int) -> Cell:
    """Return the laws with all outcomes below `k` as one; `k` of 0 or 1 changes nothing."""
    if k <= 1:
        return Cell(first, second, people)
    below = [np.append(law[:k].sum(), law[k:]) for law in (first, second)]
    return Cell(below[0], below[1], people)


def join_cells(cells: list[Cell], *, negligible: float = 0.0) -> Cells:
    """Return cells in one array, so that :func:`distances` takes them at once.

    Outcomes that are less likely than `negligible` in the first table are left out and counted in full.
    """
    kept = [cell.first > negligible for cell in cells]
    starts = np.cumsum([0, *(np.count_nonzero(likely) for likely in kept[:-1])])
    first = np.concatenate([cell.first[likely] for cell, likely in zip(cells, kept, strict=True)])
    second = np.concatenate([cell.second[likely] for cell, likely in zip(cells, kept, strict=True)])
    left = np.array([cell.first[~likely].sum() for cell, likely in zip(cells, kept, strict=True)])
    return Cells(first, second, starts, np.array([float(cell.people) for cell in cells]), left)


def distances_alone(cells: list[Cell], grown: float) -> tuple[Values, Values]:
    r"""Return :math:`\sum (P - e^\varepsilon Q)_+` of each cell by itself, and a bound above it.

    >>> value, above = distances_alone([Cell(np.array([0.5, 0.5]), np.array([0.9, 0.1]), 1)], 1.0)
    >>> value.round(3).tolist(), bool(above[0] - value[0] < 1e-13)
    ([0.4], True)
    """
    first, second = np.zeros((2, len(cells), max(cell.first.size for cell in cells)))
    for row, cell in enumerate(cells):
        first[row, : cell.first.size] = cell.first
        second[row, : cell.second.size] = cell.second
    second *= grown
    units = 16 * np.array([float(cell.people) for cell in cells]) + 128
    more, room = first - second, units[:, None] * _UNIT * (first + second)
    return np.maximum(more, 0.0).sum(axis=1), np.maximum(more + room, 0.0).sum(axis=1) + _LEFT_OUT


def distances(loses: Cell, gains: Cells, grown: float) -> tuple[Values, Values]:
    r"""Return :math:`\sum (P - e^\varepsilon Q)_+` of a cell with each of several, and a bound above it.

    `grown` is :math:`e^\varepsilon`. For each outcome of the second cell, the outcomes of the first that
    count are those from some place on.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.where(loses.second > 0, loses.first / loses.second, np.inf)
        needed = grown * gains.second / gains.first
    place = np.searchsorted(np.maximum.accumulate(ratio), needed, side="right")
    first, second = (np.append(np.cumsum(law[::-1])[::-1], 0.0)[place] for law in loses[:2])
    more, less = gains.first * first, grown * gains.second * second
    value = np.add.reduceat(np.maximum(more - less, 0.0), gains.starts)
    units = 16 * (loses.people + gains.people) + 128
    error = units * _UNIT * np.add.reduceat(more + less, gains.starts)
    return value, value + error + gains.left + _LEFT_OUT


MOST_K = 1_000
"""A larger threshold is refused."""

SMALLEST_DELTA = Fraction(1, 10**40)
"""A smaller delta is refused: it is far below anything that could be noticed."""

_MOST_PEOPLE = 1 << 14  # in the largest cell that is looked at one by one
_MOST_PAIRED = 1 << 10  # the same where cells are compared in pairs
_MOST_WORK = 2 * 10**7  # outcomes of pairs of cells
_BLOCK = 64
_EXACT = 1e-9
_DIGITS = 17
_ROUNDING = 1e-11  # of the law of a partner
_NEGLIGIBLE = 1e-15  # of the distance: outcomes of less chance are counted in full and not looked at
_LEAST_CHANCE = 1e-60
_SMALLEST_SUM = 1e-250
_RATE_CLOSE = 1e-6
_RATE_GRID = 2**64
_MOST_STEPS = 80
_LARGEST_EPSILON = 200  # beyond, e^epsilon leaves the range of floats; delta is stated for this one


class SampledDelta(NamedTuple):
    """A delta, and the tables that attain it.

    Attributes
    ----------
    delta : Fraction
        Never below the truth.
    loses, gains : int or None
        The people, in the first of the two tables, of the cell that loses a person and of the one that gains
        a person; None where there is none.
    exact : bool
        Whether delta is attained, up to one part in 10**9; else it is a bound.
    """

    delta: Fraction
    loses: int | None
    gains: int | None
    exact: bool


class Found(NamedTuple):
    """A distance, a bound above it, the cells that have it, and whether nothing beyond is further."""

    value: float
    upper: float
    loses: int | None
    gains: int | None
    inside: bool = True


Partner = tuple[tuple[float, float], ...]
"""A second cell: the chance of each outcome, and e^epsilon times what the other table has of it by that."""

_NONE = Found(0.0, 0.0, None, None)


def sampled_delta(epsilon: Number, *, rate: Number, k: int, unit: Unit | str) -> SampledDelta:
    r"""Return the exact delta of publishing sampled counts of at least `k`, for cells fixed in advance.

    For one cell (add or remove one), with :math:`f_w` the law of :math:`\operatorname{Bin}(w, \beta)` after
    all outcomes below :math:`k` are made one,

    .. math:: \delta(\varepsilon) = \max_w \max\left(\sum_j (f_w(j) - e^\varepsilon f_{w-1}(j))_+,\;
              \sum_j (f_{w-1}(j) - e^\varepsilon f_w(j))_+\right)

    and for a person who moves between two cells (replace one) the same with products of two laws,
    :math:`f_w f_u` against :math:`f_{w-1} f_{u+1}`, over all :math:`(w, u)`.

    Cells beyond a window are bounded by its last one without suppression, because a further person, alike in
    both tables, can only bring the two closer. The window grows until that bound is below the maximum, so the
    maximum is that over tables of any size.

    Parameters
    ----------
    epsilon : number
        At least 0.
    rate : number
        The chance :math:`\beta` with which each person is sampled, from 0 to 1.
    k : int
        Sampled counts below it are suppressed, 1 to 1,000.
    unit : Unit or str
        ``"replace one"`` or ``"add or remove one"``.

    Notes
    -----
    Where very many pairs of cells would have to be compared (epsilon far below 1, replace one), a bound is
    returned and ``exact`` is False.

    Examples
    --------
    >>> found = sampled_delta(1, rate="1/10", k=6, unit="add or remove one")
    >>> f"{float(found.delta):.8e}", found.loses, found.exact
    ('6.01299630e-06', 8, True)
    >>> found = sampled_delta(1, rate="1/10", k=6, unit="replace one")
    >>> f"{float(found.delta):.8e}", found.loses, found.gains
    ('6.01843123e-06', 8, 15)
    """
    owner = "sampled_delta"
    asked = exact(epsilon, name="epsilon", owner=owner, least=0)
    chance = exact(rate, name="rate", owner=owner, least=0, most=1)
    least = integer("k", k, owner=owner, low=1, high=MOST_K)
    change = one_of("unit", unit, (Unit.REPLACE_ONE, Unit.ADD_OR_REMOVE_ONE), owner=owner)
    return _delta(min(asked, Fraction(_LARGEST_EPSILON)), chance, least, change)


@functools.lru_cache(maxsize=4096)
def _delta(epsilon: Fraction, rate: Fraction, k: int, unit: Unit) -> SampledDelta:
    if rate == 0:
        return SampledDelta(Fraction(0), None, None, exact=True)
    if float(rate) == 1:  # the table itself, with its small counts suppressed: k and k - 1 are told apart
        other = 0 if unit is Unit.REPLACE_ONE else None
        return SampledDelta(Fraction(1), k, other, exact=True)
    grown, chance = float(exp_bounds(epsilon)[0]), float(rate)
    # where e^epsilon (1 - rate) >= 1, a cell with a person fewer is never so much likelier
    worst = one_cell(chance, k, ((1.0, grown),), both=grown * (1 - chance) < 1 + _EXACT)
    if unit is Unit.REPLACE_ONE:
        worst = two_cells(grown, chance, k, worst)
    delta = round_up(Fraction(min(1.0, worst.upper)), digits=_DIGITS)
    return SampledDelta(delta, worst.loses, worst.gains, worst.inside)


def one_cell(rate: float, k: int, partner: Partner, *, both: bool) -> Found:
    """Return the largest distance between a cell with a person more and with a person fewer.

    `partner` is a second cell; with `both`, the same is also read backwards.
    """
    best, edge = _NONE, _NONE
    most, part = _first_window(partner, rate, k), []
    for w, (law, before) in enumerate(binomials(rate, _MOST_PEOPLE), start=1):
        part.append(merge_small_outcomes(law, before, k=k, people=w))
        if w == most or len(part) == _BLOCK:
            best, part = _furthest(best, *_furthest_alone(part, partner, both=both)), []
        if w == most:
            edge = _furthest(*_furthest_alone([Cell(law, before, w)], partner, both=both))
            if edge.upper <= best.value * (1 + _EXACT):
                break
            most = min(2 * most, _MOST_PEOPLE)
    return _settle(best, edge)


def two_cells(grown: float, rate: float, k: int, alone: Found) -> Found:
    """Return the largest distance when a person leaves one cell and enters another."""
    most = max(32, 2 * k, 2 * (alone.loses or 0), 2 * (alone.gains or 0))
    while most <= _MOST_PAIRED:
        worst = _window(grown, rate, k, most, alone.value)
        if worst is None:
            break
        if worst.inside:
            return worst
        most = most * 3 // 2
    partners = _partners(grown, rate, k, _split(rate, k))
    bounds = [one_cell(rate, k, partner, both=False) for partner in partners]
    return _furthest(alone, *bounds)._replace(inside=False)


def _split(rate: float, k: int) -> int:
    """Return how many people a partner has at most that is bounded by its suppressed counts: few above k."""
    return min(4 * k, max(k + 1, math.floor(k / rate)))


def _partners(grown: float, rate: float, k: int, most: int) -> tuple[Partner, Partner]:
    r"""Return two partners that no cell exceeds: none of up to `most` people the first, no other the second.

    What is published of a cell that gains a person is at most :math:`s` times likelier in the first table
    than in the second, with :math:`s` the ratio for a suppressed count; it is 1 on average, so a convex
    function of it is at most that at :math:`s`, divided by :math:`s`. That is the distance of one cell with
    :math:`e^\varepsilon / s`. Cells of more people are nearer than one of `most` without suppression.
    """
    law, before = np.ones(1), np.ones(1)
    for law, before in binomials(rate, most):  # noqa: B007 - only the last is wanted
        pass
    ratio = 1 / (1 - rate)  # that of a sample of nobody, which none exceeds
    if law[:k].sum() > _SMALLEST_SUM:  # else floats do not hold it
        ratio = min(ratio, float(before[:k].sum() / law[:k].sum()))
    suppressed = ratio * (1 + _ROUNDING)
    seen = before > 0
    beyond = zip(before[seen].tolist(), (grown * law[seen] / before[seen]).tolist(), strict=True)
    return ((1.0, grown / suppressed),), tuple(beyond)


def _window(grown: float, rate: float, k: int, most: int, least: float) -> Found | None:
    """Return the largest distance over pairs of cells of up to `most` people; None if there are too many.

    Only cells that can reach `least` together with some partner are looked at.
    """
    laws = [Cell(law, before, w) for w, (law, before) in enumerate(binomials(rate, most), start=1)]
    shown = [merge_small_outcomes(cell.first, cell.second, k=k, people=cell.people) for cell in laws]
    loses = [*shown, laws[-1]]  # the last stands for all that is beyond
    gains = join_cells([_swap_tables(cell) for cell in loses], negligible=least * _NEGLIGIBLE)
    within, _ = _partners(grown, rate, k, most)
    beyond = join_cells([_swap_tables(laws[-1])], negligible=least * _NEGLIGIBLE)
    chosen = [
        place
        for place, upper in enumerate(_with_partner(loses, within)[1])
        if upper >= least or distances(loses[place], beyond, grown)[1][0] >= least
    ]
    if len(chosen) * gains.first.size > _MOST_WORK:
        return None
    best, edge = _NONE, _NONE
    for place in chosen:
        values, uppers = distances(loses[place], gains, grown)
        outside = uppers[-1] if place < most else uppers.max()
        edge = _furthest(edge, Found(0.0, float(outside), None, None))
        if place < most:
            at = int(uppers[:-1].argmax())
            best = _furthest(best, Found(float(values[at]), float(uppers[at]), place + 1, at))
    return _settle(best, edge)


def _settle(best: Found, edge: Found) -> Found:
    """Return the best, made as large as what is beyond may be."""
    inside = edge.upper <= best.value * (1 + _EXACT)
    return best._replace(upper=max(best.upper, edge.upper), inside=inside)


def _furthest_alone(part: list[Cell], partner: Partner, *, both: bool) -> Iterator[Found]:
    """Yield the furthest of the cells that lose a person and, if asked, of the same read backwards."""
    for turned in (False, True) if both else (False,):
        values, uppers = _with_partner([_swap_tables(cell) for cell in part] if turned else part, partner)
        at = int(uppers.argmax())
        people = part[at].people
        places = (None, people - 1) if turned else (people, None)
        yield Found(float(values[at]), float(uppers[at]), *places)


def _with_partner(cells: list[Cell], partner: Partner) -> tuple[Values, Values]:
    """Return the distances of cells, each together with the partner, and bounds above them."""
    values, uppers = np.zeros((2, len(cells)))
    for chance, grown in partner:
        if chance < _LEAST_CHANCE:
            uppers += chance
            continue
        value, upper = distances_alone(cells, grown)
        values += chance * value
        uppers += chance * (1 + _ROUNDING if chance < 1 else 1) * upper
    return values, uppers


def _furthest(*candidates: Found) -> Found:
    return max(candidates, key=lambda candidate: candidate.upper)


def _swap_tables(cell: Cell) -> Cell:
    return Cell(cell.second, cell.first, cell.people)


def _first_window(partner: Partner, rate: float, k: int) -> int:
    """Return a first guess of how many people the worst cell has at most."""
    _, grown = max(partner)  # the likeliest outcome
    share = 1 - (1 - rate) / grown  # sampled shares above it count
    return min(_MOST_PEOPLE, max(8, 2 * k, math.ceil(2 * k / max(share, 1e-9))))


# --- the largest rate whose exact delta is within what is asked ---------------------------------------


@functools.lru_cache(maxsize=256)
def rate_for(epsilon: Fraction, delta: Fraction, *, k: int, unit: Unit) -> Fraction:
    r"""Return the rate at which people may be sampled so that (epsilon, delta) holds, rounded down.

    Two tables with `k` and `k` - 1 people in a cell are told apart by the outcome `k`, which has the chance
    :math:`\beta^k`, so :math:`\delta^{1/k}` is an upper end. From there the rate is found by interpolation
    on the exact delta of :func:`sampled_delta`.

    Parameters
    ----------
    epsilon : Fraction
        Above 0.
    delta : Fraction
        From 1e-40 to below 1.
    k : int
        Sampled counts below it are suppressed, 1 to 1,000.
    unit : Unit
        Replace one, or add or remove one.

    Returns
    -------
    Fraction
        A multiple of 2**-64. Its exact delta is at most `delta`, and at least (1 - 10**-6) times it wherever
        the grid of rates is fine enough.

    Raises
    ------
    InvalidParameterError
        If no rate on the grid is small enough; a larger `k` helps.

    Examples
    --------
    >>> f"{float(rate_for(Fraction(1), Fraction('1e-6'), k=10, unit=Unit.REPLACE_ONE)):.5f}"
    '0.17176'
    """

    def off(rate: Fraction) -> float:
        """Return ln(spent / delta) at the rate."""
        spent = sampled_delta(epsilon, rate=rate, k=k, unit=unit).delta
        return math.log(spent / delta) if spent else -math.inf

    high = _on_grid(float(delta) ** (1 / k))
    if unit is Unit.REPLACE_ONE:  # which allows at most as much, and is quicker to find
        high = rate_for(epsilon, delta, k=k, unit=Unit.ADD_OR_REMOVE_ONE)
    over = off(high)
    low, under = high, over
    while under > 0:
        low = _on_grid(float(low) * math.exp(-under / k) * (1 - _RATE_CLOSE))
        under = off(low)
    rate = low if over <= 0 or under > -_RATE_CLOSE or low == 0 else _between(off, low, high)
    if rate == 0:
        raise InvalidParameterError(
            "delta",
            owner="rate_for",
            must_be=f"large enough that somebody can be sampled with k = {k:,}",
            got=delta,
            hint="a larger k allows a larger rate.",
        )
    return rate


def _between(off: Callable[[Fraction], float], low: Fraction, high: Fraction) -> Fraction:
    """Return a rate just below the one with the target, on a bracket that holds it."""

    def missed(log: float) -> float:
        value = off(_on_grid(math.exp(log)))
        return 0.0 if -_RATE_CLOSE < value <= 0 else value + _RATE_CLOSE / 2  # 0 ends the search

    log_rate = optimize.brentq(missed, math.log(low), math.log(high), xtol=1e-9, maxiter=_MOST_STEPS)
    rate = _on_grid(math.exp(log_rate))
    while off(rate) > 0:
        rate = _on_grid(float(rate) * (1 - _RATE_CLOSE))
    return rate


def _on_grid(rate: float) -> Fraction:
    return Fraction(math.floor(min(rate, 1 - 2**-53) * _RATE_GRID), _RATE_GRID)
