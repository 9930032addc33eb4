r"""Who reports (how many of each group, how often the outcome is 1), and the channels they report through.

A channel is a matrix of probabilities: its unfairness and its error, how what a solver returns is repaired so
that it keeps its privacy, and how it is rounded to whole numbers over 2**53, which keep it exactly.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from evenhand._validate import one_of
from evenhand.collect.protocols.probabilities import GRID, exp_below
from evenhand.errors import GuaranteeError, InvalidParameterError
from evenhand.privacy.rational import exact

if TYPE_CHECKING:
    from fractions import Fraction

    import numpy.typing as npt

    Vector = npt.NDArray[np.float64]
    Matrix = npt.NDArray[np.float64]
    Kind = Literal["ratio", "difference"]
    Integers = npt.NDArray[np.int64]

_SUM_TOLERANCE = 1e-6
_ROW_TOLERANCE = 1e-9
_DIGITS = 12
_SMALL_FLOOR = 1e-3
_HAIR = 4 * float(np.finfo(float).eps)
_MOST_SHARE = 1e-3


@dataclass(frozen=True, eq=False)
class Population:
    r"""Public facts about the groups, and numbers that everything about a channel needs.

    Parameters
    ----------
    weights : ndarray of shape (k,)
        Share of each group; they sum to one.
    rates : ndarray of shape (k,)
        Share with outcome 1 in each group.
    epsilon : float
        Privacy parameter.
    """

    weights: Vector
    rates: Vector
    epsilon: float

    @property
    def k(self) -> int:
        """How many groups there are."""
        return len(self.weights)

    @property
    def mean(self) -> float:
        """Share of outcome 1 among everybody."""
        return float(self.weights @ self.rates)

    @property
    def away(self) -> Vector:
        """How far the rate of each group is from the mean; zero for a group that nobody is in.

        All digits count even where nearly everybody is in one group.
        """
        apart: Vector = (self.rates[:, None] - self.rates[None, :]) @ self.weights
        return np.where(self.weights > 0, apart, 0.0)

    @property
    def floor(self) -> float:
        r"""The least that an entry may be of the largest in its column, :math:`e^{-\varepsilon}`."""
        return math.exp(-self.epsilon)

    @property
    def width(self) -> float:
        r""":math:`1 - e^{-\varepsilon}`, without loss of digits at a small epsilon."""
        return -math.expm1(-self.epsilon)

    @property
    def grr_error(self) -> float:
        r"""Probability that generalized randomized response says another group than the true one."""
        others = (self.k - 1) * self.floor
        return others / (1 + others)

    @property
    def key(self) -> tuple[object, ...]:
        """The numbers themselves: what a kept answer is found by."""
        return tuple(self.weights.tolist()), tuple(self.rates.tolist()), self.epsilon

    @property
    def rounded(self) -> Population:
        """These people with weights and rates of 12 significant digits; epsilon keeps all its digits.

        Whoever keeps answers asks for these, so that no answer depends on what was asked before.
        """
        weights, rates = (
            np.array([float(f"{value:.{_DIGITS}g}") for value in values])
            for values in (self.weights, self.rates)
        )
        return Population(read_only(weights / weights.sum()), read_only(rates), self.epsilon)


def population(weights: npt.ArrayLike, rates: npt.ArrayLike, epsilon: object, *, owner: str) -> Population:
    """Return the checked `Population`; weights that sum to one but for rounding are scaled to do so."""
    shares = _read_numbers("weights", weights, owner=owner)
    if len(shares) < 2:
        raise InvalidParameterError("weights", owner=owner, must_be="of at least two groups", got="fewer")
    total = float(shares.sum())
    if abs(total - 1) > _SUM_TOLERANCE:
        raise InvalidParameterError(
            "weights",
            owner=owner,
            must_be="shares that sum to one",
            got=f"a sum of {total:.6g}",
            hint="divide the counts of the groups by their sum.",
        )
    chances = _read_numbers("rates", rates, owner=owner)
    if len(chances) != len(shares):
        raise InvalidParameterError(
            "rates",
            owner=owner,
            must_be=f"one number for each of the {len(shares)} groups",
            got=f"{len(chances)} numbers",
        )
    privacy = exact(epsilon, name="epsilon", owner=owner, above=0)
    return Population(read_only(shares / total), read_only(chances), float(privacy))


def check_matrix(matrix: npt.ArrayLike, *, k: int | None = None, owner: str) -> Matrix:
    """Return `matrix` as floats if it is square and its rows are probabilities."""
    array = np.asarray(matrix, dtype=np.float64)
    square = array.ndim == 2 and array.shape[0] == array.shape[1] and array.shape[0] >= 2
    if not square or (k is not None and len(array) != k):
        size = "of k rows and k columns, k >= 2" if k is None else f"of {k} rows and {k} columns"
        raise InvalidParameterError("matrix", owner=owner, must_be=size, got=f"a shape of {array.shape}")
    if not ((array >= 0).all() and (np.abs(array.sum(axis=1) - 1) <= _ROW_TOLERANCE).all()):
        raise InvalidParameterError(
            "matrix", owner=owner, must_be="of probabilities, each row with the sum one", got="something else"
        )
    return array


def read_only(values: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Return the same array, which nobody can write to any more."""
    values.flags.writeable = False
    return values


def _read_numbers(name: str, values: npt.ArrayLike, *, owner: str) -> Vector:
    try:
        numbers = np.array(values, dtype=np.float64)
    except (TypeError, ValueError):
        numbers = np.empty((0, 0))
    if numbers.ndim != 1 or not ((numbers >= 0) & (numbers <= 1)).all():
        raise InvalidParameterError(
            name, owner=owner, must_be="a list of numbers from 0 to 1, one for each group", got=values
        )
    return numbers


KINDS: tuple[Kind, ...] = ("ratio", "difference")


def channel_unfairness(
    matrix: npt.ArrayLike, weights: npt.ArrayLike, rates: npt.ArrayLike, *, kind: Kind = "ratio"
) -> float:
    r"""Return how far the outcome still depends on the group that a channel reports.

    With :math:`\rho_a = \Pr(Y = 1 \mid Z = a)` and :math:`\pi = \Pr(Y = 1)`,

    .. math:: \Delta = \max_a |\rho_a / \pi - 1|, \qquad \Delta' = \max_a \rho_a - \min_a \rho_a,

    where :math:`Z` is the reported group, :math:`Y` the outcome, :math:`\Delta` is ``kind="ratio"`` and
    :math:`\Delta'` is ``kind="difference"``. Zero means that a report tells nothing about the outcome.

    Parameters
    ----------
    matrix : array-like of shape (k, k)
        Row :math:`i` holds the probabilities of the reports of somebody in group :math:`i`.
    weights, rates : array-like of shape (k,)
        Share of each group, and share with outcome 1 in it.
    kind : {"ratio", "difference"}, default "ratio"
        Which of the two.

    Examples
    --------
    >>> truth = [[1, 0], [0, 1]]
    >>> round(channel_unfairness(truth, [0.7, 0.3], [0.2, 0.6], kind="difference"), 12)
    0.4
    """
    owner = "channel_unfairness"
    people = population(weights, rates, 1, owner=owner)
    channel = check_matrix(matrix, k=people.k, owner=owner)
    return unfairness_of(channel, people, one_of("kind", kind, KINDS, owner=owner), owner=owner)


def unfairness_of(matrix: Matrix, people: Population, kind: Kind, *, owner: str) -> float:
    """Return the unfairness of a checked matrix; a report that nobody makes does not count."""
    if kind == "ratio":
        require_outcome(people, owner=owner)
    reported = people.weights @ matrix
    made = reported > 0
    # The mean is taken off first: the differences lose no digits where the rates are nearly equal.
    apart = (people.weights * people.away) @ matrix
    away = apart[made] / reported[made]
    if kind == "ratio":
        return float(np.abs(away).max() / people.mean)
    return float(away.max() - away.min())


def require_outcome(people: Population, *, owner: str) -> None:
    """Refuse rates that are all zero, because a ratio to their mean has no meaning."""
    if people.mean <= 0:
        raise InvalidParameterError(
            "rates",
            owner=owner,
            must_be="above 0 in a group that has people, for kind='ratio'",
            got="only zeros",
            hint="with kind='difference' the unfairness is defined for every rate.",
        )


def channel_error(matrix: Matrix, people: Population) -> float:
    """Return the probability that a report says another group than the true one."""
    return float(people.weights @ (1 - np.diagonal(matrix)))


def printed_channel(weights: npt.ArrayLike, epsilon: object) -> Matrix:
    r"""Return the closed form for two groups, as printed: the larger group reports a fair coin.

    .. math:: (q_{00}, q_{11}) = \begin{cases} (1 - e^{-\varepsilon}/2,\; 1/2) & p_0 \le p_1 \\
              (1/2,\; 1 - e^{-\varepsilon}/2) & p_1 < p_0 \end{cases}

    where :math:`p_0, p_1` are ``weights``, :math:`q_{ii}` is the probability of the truth and
    :math:`\varepsilon` is ``epsilon``.

    Parameters
    ----------
    weights : array-like of shape (2,)
        Share of each group.
    epsilon : number
        Privacy parameter, > 0.

    Returns
    -------
    ndarray of shape (2, 2)
        Row :math:`i` holds the probabilities of the reports of group :math:`i`.

    Notes
    -----
    [1]_, Theorem 14. The theorem silently needs :math:`q_{00}, q_{11} \ge 1/2`, and groups of the same
    size may use either branch: the first is taken. At its own error probability it is not the fairest
    channel; `fairest_channel` is.

    References
    ----------
    .. [1] Ghoukasian (2024). Classification algorithms with differential privacy and fairness guarantees.
           Thesis, section 5.

    Examples
    --------
    >>> printed_channel([0.7, 0.3], 1).round(4)
    array([[0.5   , 0.5   ],
           [0.1839, 0.8161]])
    """
    people = population(weights, [0.5] * np.size(weights), epsilon, owner="printed_channel")
    if people.k != 2:
        raise InvalidParameterError(
            "weights",
            owner="printed_channel",
            must_be="of two groups",
            got=f"{people.k} groups",
            hint="fairest_channel works for any number of groups.",
        )
    half = people.floor / 2
    if people.weights[0] <= people.weights[1]:
        return np.array([[1 - half, half], [0.5, 0.5]])
    return np.array([[0.5, 0.5], [half, 1 - half]])


def dyadic_channel(matrix: npt.ArrayLike, epsilon: object) -> list[list[int]]:
    r"""Return the channel as rows of whole numbers over :math:`2^{53}` that keep epsilon exactly.

    Every entry is mixed with the uniform channel by a share just large enough that rounding cannot break the
    ratio, then rounded to a multiple of :math:`2^{-53}` so that each row still sums to one. Whether every
    two entries :math:`q_{ij}, q_{lj}` of a column keep :math:`q_{ij} \le e^\varepsilon q_{lj}` is then
    decided in whole numbers; where one does not, the share grows.

    **Guarantee.** Pure local differential privacy with ``epsilon``; unit: one report.
    Numerics: exact. May be used for release.

    Parameters
    ----------
    matrix : array-like of shape (k, k)
        Probabilities; its ratios may exceed :math:`e^\varepsilon` by rounding only.
    epsilon : int, float, str, Fraction or Decimal
        Privacy parameter, > 0.

    Returns
    -------
    list of list of int
        k rows of k positive integers, each row with the sum ``2**53``.

    Raises
    ------
    GuaranteeError
        If the ratios exceed :math:`e^\varepsilon` by more than a mixture of 1 in 1,000 can repair.

    Examples
    --------
    >>> rows = dyadic_channel([[0.75, 0.25], [0.25, 0.75]], epsilon="1.1")
    >>> [sum(row) == 2**53 for row in rows]
    [True, True]
    >>> round(rows[0][0] / 2**53, 12)
    0.75
    """
    owner = "dyadic_channel"
    channel = check_matrix(matrix, owner=owner)
    privacy = exact(epsilon, name="epsilon", owner=owner, above=0)
    ratio = exp_below(privacy)
    share = 0.0
    while share <= _MOST_SHARE:
        rows = _round_rows(channel, share)
        if rows is not None and _is_private(rows, ratio):
            return [[int(entry) for entry in row] for row in rows]
        share = max(4 * share, 2.0**-53 * len(channel))
    raise GuaranteeError(
        f"The matrix of {owner} does not keep epsilon = {privacy}, by more than rounding explains. "
        "Hint: make it with fairest_channel and the same epsilon."
    )


def _is_private(rows: Integers, ratio: Fraction) -> bool:
    """Whether the largest entry of every column is at most `ratio` times the smallest, in whole numbers."""
    above, below = ratio.as_integer_ratio()
    pairs = zip(rows.max(axis=0).tolist(), rows.min(axis=0).tolist(), strict=True)
    return all(most * below <= above * least for most, least in pairs)


def _round_rows(matrix: npt.NDArray[np.float64], share: float) -> Integers | None:
    """Return whole numbers over 2**53 that sum to it in each row, or None where one would not be positive.

    Rows are rounded down and the few units that are missing go to the entries that lost most.
    """
    k = len(matrix)
    matrix = matrix / matrix.sum(axis=1, keepdims=True)
    mixed = ((1 - share) * matrix + share / k) * float(GRID)
    rows = np.floor(mixed).astype(np.int64)
    missing = GRID - rows.sum(axis=1)
    rows += (missing // k)[:, None]
    left = missing % k
    order = np.argsort(-(mixed - np.floor(mixed)), axis=1, kind="stable")
    extra = np.arange(k)[None, :] < left[:, None]
    np.put_along_axis(rows, order, np.take_along_axis(rows, order, axis=1) + extra, axis=1)
    return rows if (rows > 0).all() else None


def repair(matrix: Matrix, people: Population) -> Matrix:
    r"""Return the nearest matrix to hand whose rows sum to one and whose ratios keep epsilon.

    Entries stay below the top of their column. First the whole matrix is scaled so that no row sums to more
    than one, then each row is filled up in proportion to the room that its entries have. At a large epsilon
    that would change the smallest entries too much, and each row is scaled by itself. What rounding or a want
    of room leaves over is taken away by mixing with the uniform matrix:
    :math:`Q \leftarrow (1 - \tau) Q + \tau / k`, :math:`\tau = v / (v + (e^\varepsilon - 1) / k)`, where
    :math:`v` is the largest :math:`\max_i q_{ij} - e^\varepsilon \min_i q_{ij}`.
    """
    if people.floor > _SMALL_FLOOR:
        matrix = _fill_rows(matrix / matrix.sum(axis=1).max())
    matrix = matrix / matrix.sum(axis=1, keepdims=True)
    least = _HAIR
    while least < 2 and (over := excess_ratio(matrix, people)) > 0:
        share = min(1.0, max(over / (over + people.width / people.k), least))
        matrix = (1 - share) * matrix + share / people.k
        least *= 2  # a share that rounding swallows must grow; at one, the matrix is uniform
    return matrix


def excess_ratio(matrix: Matrix, people: Population) -> float:
    r"""Return the largest :math:`e^{-\varepsilon} \max_i q_{ij} - \min_i q_{ij}`, slightly too large."""
    return float((people.floor * (1 + _HAIR) * matrix.max(axis=0) - matrix.min(axis=0)).max())


def average_twins(matrix: Matrix, people: Population) -> Matrix:
    """Return the matrix in which groups of the same weight and rate are treated alike.

    It is the average over all ways to swap such groups among themselves, so it is as private, as truthful
    and no less fair.
    """
    pairs = np.stack([people.weights, people.rates], axis=1)
    labels = np.unique(pairs, axis=0, return_inverse=True)[1].ravel()
    sizes = np.bincount(labels)
    if sizes.max() == 1:
        return matrix
    member = np.eye(len(sizes))[labels]  # (group, class)
    sums = member.T @ matrix @ member
    own = member.T @ np.diagonal(matrix)
    entries = np.outer(sizes, sizes).astype(float)
    np.fill_diagonal(entries, np.maximum(sizes * (sizes - 1), 1))
    means = (sums - np.diag(own)) / entries
    averaged: Matrix = member @ means @ member.T
    np.fill_diagonal(averaged, (own / sizes)[labels])
    return averaged


def _fill_rows(matrix: Matrix) -> Matrix:
    """Return the matrix with rows that sum to one where there is room below the tops of row and column."""
    tops = np.diagonal(matrix)
    for limit in (np.minimum(tops[:, None], tops[None, :]), np.broadcast_to(tops, matrix.shape)):
        room = np.maximum(limit - matrix, 0.0)
        wanted = np.maximum(1 - matrix.sum(axis=1), 0.0)
        there = room.sum(axis=1)
        part = np.divide(wanted, there, out=np.zeros_like(wanted), where=there > 0)
        matrix = matrix + np.minimum(part, 1.0)[:, None] * room
    return matrix
