r"""A report seen from the server: how often it supports the true value, and how often any other.

:class:`Channel` has one p and one q. Where a report names one value by any matrix of probabilities,
:class:`MatrixChannel` has the same methods: with :math:`Q_{az}` the probability that a person with value
:math:`a` reports :math:`z`, and :math:`B = Q^{-\top}`, the *score* :math:`B_{vz}` of a report :math:`z` has
mean 1 for a person who has :math:`v` and 0 for anybody else. The share of people with :math:`v` is estimated
without bias by the mean of the scores.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from evenhand.errors import InvalidParameterError
from evenhand.measure.intervals import clopper_pearson
from evenhand.privacy.rational import exact

if TYPE_CHECKING:
    from fractions import Fraction

    import numpy.typing as npt

    Floats = npt.NDArray[np.float64]

ADDED_PEOPLE = 2
"""How many people are added for each outcome, so that no variance is zero."""


class ScoreTerms(NamedTuple):
    """What a score interval needs, for each value.

    Attributes
    ----------
    excess : array
        The estimated share times `width`.
    width : float
        By what a person who has the value moves the excess.
    noise, slope : float or array
        Variance of the excess for one report: ``noise + slope * excess``.
    step : float or array
        What one other report changes in the sum of the excess.
    """

    excess: Any
    width: float
    noise: Any
    slope: Any
    step: Any


@dataclass(frozen=True)
class Channel:
    r"""The two probabilities that an estimate needs.

    Parameters
    ----------
    p : Fraction
        Probability that a report supports the true value.
    q : Fraction
        Probability that it supports a given other value; below `p`.

    Examples
    --------
    >>> from fractions import Fraction
    >>> coin = Channel(Fraction(3, 4), Fraction(1, 4))
    >>> coin.shares(np.array([50, 30]), 100)
    array([0.5, 0.1])
    """

    p: Fraction
    q: Fraction

    def __post_init__(self) -> None:
        if not 0 <= self.q < self.p <= 1:
            raise InvalidParameterError(
                "p", owner="Channel", must_be="above 'q', both from 0 to 1", got=f"p = {self.p}, q = {self.q}"
            )

    @classmethod
    def of(cls, protocol: Any, p: Any = None, q: Any = None, *, owner: str) -> Channel | MatrixChannel:
        """Return the channel of a protocol, or of `p` and `q` where there is none.

        A protocol says in ``channel`` what its own is; anything with ``p_exact`` and ``q_exact`` has one too.
        """
        given = (protocol is not None, p is not None, q is not None)
        if given not in {(True, False, False), (False, True, True)}:
            raise InvalidParameterError(
                "protocol", owner=owner, must_be="given, or else 'p' and 'q'", got="another choice of them"
            )
        if protocol is not None:
            own: Channel | MatrixChannel | None = getattr(protocol, "channel", None)
            return cls(protocol.p_exact, protocol.q_exact) if own is None else own
        limits: dict[str, Any] = {"owner": owner, "least": 0, "most": 1}
        return cls(exact(p, name="p", **limits), exact(q, name="q", **limits))

    @property
    def width(self) -> float:
        """How much more often the true value is supported: p - q."""
        return float(self.p - self.q)

    @property
    def noise(self) -> float:
        """Variance of the support of a value that nobody has, one report: q (1 - q)."""
        return float(self.q * (1 - self.q))

    @property
    def slope(self) -> float:
        """What one more supporting report adds to that variance: 1 - p - q."""
        return float(1 - self.p - self.q)

    def excess(self, counts: npt.ArrayLike, n: int) -> npt.NDArray[np.float64]:
        """Return the share of supporting reports minus `q`; NaN without reports.

        The whole part of n q is taken off before there is any rounding, so that an epsilon near zero
        loses no digits.
        """
        if n == 0:
            return np.full(np.shape(counts), math.nan)
        expected = n * self.q
        whole = math.floor(expected)
        excess: npt.NDArray[np.float64] = ((np.asarray(counts) - whole) - float(expected - whole)) / n
        return excess

    def shares(self, counts: npt.ArrayLike, n: int) -> npt.NDArray[np.float64]:
        """Return the estimated share of people with each value, without bias."""
        return self.excess(counts, n) / self.width

    def variance(self, shares: npt.ArrayLike, n: int) -> npt.NDArray[np.float64]:
        """Return the variance of the estimates where these are the shares; NaN without reports."""
        one = self.noise + self.slope * self.width * np.asarray(shares, dtype=float)
        variance: npt.NDArray[np.float64] = one / (n * self.width**2) if n else np.full_like(one, math.nan)
        return variance

    def covariance(
        self, shares: Floats, n: int, supported: tuple[Fraction, Fraction] | None
    ) -> npt.NDArray[Any]:
        r"""Return the covariance of the estimates about the people who reported.

        The privacy noise of two estimates is correlated as far as one report's support of two values is. With
        :math:`b_1` the probability that a report supports two given values of which one is the true one, and
        :math:`b_0` the same if neither is (`supported`),

        .. math:: n (p - q)^2 \operatorname{Cov}(\hat f_u, \hat f_v)
                  = (f_u + f_v)(b_1 - p q) + (1 - f_u - f_v)(b_0 - q^2)
        """
        if supported is None:
            must_be = "given for this protocol, whose supports are counted two by two"
            raise InvalidParameterError(
                "reports", owner="Frequencies.covariance", must_be=must_be, got="no reports"
            )
        one, none = float(supported[0] - self.p * self.q), float(supported[1] - self.q**2)
        pairs = shares[:, None] + shares[None, :]
        covariance: npt.NDArray[Any] = (pairs * one + (1 - pairs) * none) / (n * self.width**2)
        np.fill_diagonal(covariance, self.variance(shares, n))
        return covariance

    def require_inverse(self) -> None:
        """Accept: p is above q, so the channel always has an inverse."""

    def nearest(self, values: Floats) -> Floats:
        """Return the shares nearest to an estimate, each from 0 to 1."""
        return np.clip(values, 0, 1)

    def invert_moment(self, moment: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Return the covariance of scores from that of supports."""
        return np.asarray(moment / self.width**2)

    # --- intervals --------------------------------------------------------------------------------

    def score_terms(self, counts: npt.ArrayLike, n: int, *, population: bool) -> ScoreTerms:
        """Return what a score interval needs."""
        slope = float(1 - 2 * self.q) if population else self.slope
        return ScoreTerms(self.excess(counts, n), self.width, self.noise, slope, 1.0)

    def exact_limits(self, counts: npt.ArrayLike, n: int, level: float) -> tuple[Floats, Floats]:
        """Return the Clopper-Pearson interval of the supporting reports, as shares of the population.

        An estimate below 0 or above 1 gets the interval of 0 or 1, which is wider than what is left of its
        own: that may be a single point, and would claim to be certain where the reports are least likely.
        """
        p, q = float(self.p), float(self.q)
        low, high = clopper_pearson(np.clip(counts, n * q, n * p), n, level)
        return np.clip((low - q) / self.width, 0, 1), np.clip((high - q) / self.width, 0, 1)

    # --- groups and outcomes ----------------------------------------------------------------------

    @property
    def step(self) -> float:
        """What one other report changes in the score of a value: 1 / (p - q)."""
        return 1 / self.width

    @property
    def least(self) -> float:
        """The least probability that a report supports a value."""
        return float(self.q)

    @property
    def most(self) -> float:
        """The largest probability that a report supports a value."""
        return float(self.p)

    def sums(self, support: npt.NDArray[Any], people: npt.NDArray[Any]) -> Floats:
        """Return the sums of scores (1{supports} - q) / (p - q) from how many reports support each value."""
        return np.asarray((support - people[..., None] * float(self.q)) / self.width)

    def smoothed(
        self, together: npt.NDArray[Any], people: npt.NDArray[Any]
    ) -> tuple[Floats, Floats, npt.NDArray[Any]]:
        """Return sums of scores and of products of two scores, and the people, with two people more.

        They are spread evenly over the four kinds of reports that two values make.
        """
        q, k = float(self.q), together.shape[-1]
        together, people = together + ADDED_PEOPLE / 4 * (1 + np.eye(k)), people + ADDED_PEOPLE
        support = np.diagonal(together, axis1=-2, axis2=-1)
        crossed = support[..., :, None] + support[..., None, :]
        second = together - q * crossed + q * q * people[..., None, None]
        return (support - q * people[..., None]) / self.width, second / self.width**2, people

    def mean_squares(self, with_outcome: Floats) -> tuple[Any, Any]:  # noqa: ARG002 - as MatrixChannel
        """Return the mean squares of the score of a person who has the value, and of one who has not."""
        p, q = float(self.p), float(self.q)
        return (p * (1 - q) ** 2 + (1 - p) * q**2) / self.width**2, self.noise / self.width**2

    # --- several attributes -----------------------------------------------------------------------

    def undo_axis(self, table: Floats, axis: int) -> Floats:
        """Return a table of estimates from a table of reports that each name one value, along one axis."""
        return np.asarray((table - float(self.q) * table.sum(axis=axis, keepdims=True)) / self.width)

    def factors(self, indicators: npt.NDArray[np.uint8]) -> Floats:
        """Return the scores of reports, one row for each."""
        return np.asarray((indicators - float(self.q)) / self.width)

    def square_axis(self, moment: Floats, axis: int) -> Floats:
        """Return the mean squares of the scores along one axis, for people spread as given."""
        p, q = self.p, self.q
        own = float((p * (1 - q) ** 2 + (1 - p) * q**2) / (p - q) ** 2)
        other = float(q * (1 - q) / (p - q) ** 2)
        return np.asarray(other * moment.sum(axis=axis, keepdims=True) + (own - other) * moment)


SINGULAR = 1e7
"""From this condition number on, no number of reports that could be collected tells the values apart."""


_SAME = 1e-7  # probabilities that differ by less are the same to the programs that found them


@dataclass(frozen=True, eq=False)
class MatrixChannel:
    """How often each value is reported as each value.

    Parameters
    ----------
    matrix : array of shape (k, k)
        The probability of every report (column) for every value (row).

    Examples
    --------
    >>> coin = MatrixChannel(np.array([[0.75, 0.25], [0.25, 0.75]]))
    >>> coin.shares(np.array([60, 40]), 100).round(12).tolist()
    [0.7, 0.3]
    """

    matrix: Floats

    # --- the matrix and its inverse ---------------------------------------------------------------

    @cached_property
    def condition(self) -> float:
        """The ratio of the largest to the smallest singular value: how much noise the inverse lets grow."""
        largest, *_, least = np.linalg.svd(self.matrix, compute_uv=False).tolist()
        return math.inf if least == 0 else largest / least

    @cached_property
    def scores(self) -> Floats:
        """The score of every report (column) for every value (row).

        Raises
        ------
        InvalidParameterError
            If the matrix cannot be inverted.
        """
        if not self.condition < SINGULAR:
            raise self._refusal()
        inverse = np.linalg.inv(self.matrix).T
        residual = np.eye(len(inverse)) - (
            inverse.astype(np.longdouble) @ self.matrix.T.astype(np.longdouble)
        )
        return np.asarray(inverse + (residual @ inverse).astype(float))

    def require_inverse(self) -> None:
        """Refuse a matrix that has no inverse."""
        _ = self.scores

    def _refusal(self) -> InvalidParameterError:
        """Return the error that names values which send the same reports, or says that all nearly do."""
        alike = self.alike
        got = "one under which no inverse is left of the reports"
        hint = (
            "where the reports tell nothing about the outcome this cannot be otherwise; "
            "a smaller 'error' leaves more."
        )
        if alike:
            got = f"one that makes the values {' and '.join(map(str, alike[0]))} send the same reports"
            hint = (
                "merge these values into one before they are reported, or use GRR where each must be known."
            )
        return InvalidParameterError(
            "protocol", owner="an estimate", must_be="a matrix that has an inverse", got=got, hint=hint
        )

    @cached_property
    def alike(self) -> tuple[tuple[int, ...], ...]:
        """The sets of values that send the same reports, and so cannot be told apart."""
        left, classes = list(range(len(self.matrix))), []
        while left:
            same = [
                value for value in left if np.abs(self.matrix[value] - self.matrix[left[0]]).max() < _SAME
            ]
            left = [value for value in left if value not in same]
            classes.append(tuple(same))
        return tuple(values for values in classes if len(values) > 1)

    @cached_property
    def squares(self) -> Floats:
        """The mean square of the score for every value (row) of a person who has a value (column)."""
        return np.asarray(self.scores**2 @ self.matrix.T)

    @cached_property
    def step(self) -> Floats:
        """The most that one other report changes in the score of each value."""
        return np.asarray(np.ptp(self.scores, axis=1))

    @property
    def least(self) -> Floats:
        """The least probability of each report."""
        return np.asarray(self.matrix.min(axis=0))

    @property
    def most(self) -> Floats:
        """The largest probability of each report."""
        return np.asarray(self.matrix.max(axis=0))

    # --- shares -----------------------------------------------------------------------------------

    def shares(self, counts: npt.ArrayLike, n: int) -> Floats:
        """Return the estimated share of people with each value, without bias; NaN without reports."""
        if n == 0:
            return np.full(np.shape(counts), math.nan)
        return np.asarray((np.asarray(counts) / n) @ self.scores.T)

    def nearest(self, values: Floats) -> Floats:
        """Return the shares nearest to an estimate that people can have."""
        return onto_simplex(values)

    def variance(self, shares: npt.ArrayLike, n: int) -> Floats:
        """Return the variance of the estimates about the people who reported, where these are the shares."""
        known = np.asarray(shares, dtype=float)
        if n == 0:
            return np.full(known.shape, math.nan)
        return np.asarray(np.maximum(self.squares @ known - known, 0) / n)

    def covariance(self, shares: Floats, n: int, supported: Any) -> npt.NDArray[Any]:  # noqa: ARG002 - as Channel
        """Return the covariance of the estimates about the people who reported."""
        expected = shares @ self.matrix
        covariance = (self.scores * expected) @ self.scores.T - np.diag(shares)
        return np.asarray(covariance / n)

    def invert_moment(self, moment: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Return the second moment of scores from that of indicators."""
        return np.asarray(self.scores @ moment @ self.scores.T)

    # --- intervals --------------------------------------------------------------------------------

    def score_terms(self, counts: npt.ArrayLike, n: int, *, population: bool) -> ScoreTerms:
        """Return what a score interval needs; the people without the value are spread as estimated."""
        shares = self.shares(counts, n)
        own = np.diagonal(self.squares)
        other = mean_other_squares(self.squares, onto_simplex(shares))
        return ScoreTerms(shares, 1.0, other, own - other - (0 if population else 1), self.step)

    def exact_limits(self, counts: npt.ArrayLike, n: int, level: float) -> tuple[Floats, Floats]:
        """Return limits of the shares of the population whose level is guaranteed.

        Every report gets the interval of Clopper and Pearson, all of them together at the level; the limits
        are the least and the largest share that probabilities within them have. Two values need one interval.
        An estimate below 0 or above 1 gets the width of its own interval at 0 or 1.
        """
        number = np.asarray(counts)
        tests = number.size if number.size > 2 else 1
        low, high = clopper_pearson(number, n, 1 - (1 - level) / tests)
        shares = self.shares(number, n)
        least, most = (_extreme(sign * self.scores, low, high) * sign for sign in (-1, 1))
        moved = np.clip(shares, 0, 1) - shares
        least, most = least + np.minimum(moved, 0), most + np.maximum(moved, 0)
        return np.clip(least, 0, 1), np.clip(most, 0, 1)

    # --- groups and outcomes ----------------------------------------------------------------------

    def sums(self, support: npt.NDArray[Any], people: npt.NDArray[Any]) -> Floats:  # noqa: ARG002 - as Channel
        """Return the sums of scores from how many reports say each value, along the last axis."""
        return np.asarray(support @ self.scores.T)

    def smoothed(
        self, together: npt.NDArray[Any], people: npt.NDArray[Any]
    ) -> tuple[Floats, Floats, npt.NDArray[Any]]:
        """Return sums of scores and of products of two scores, and the people, with one more of each report.

        Half a report of each value is taken to say another value too: the scores of all values sum to one,
        and a covariance of all of them could not be inverted otherwise.
        """
        k = together.shape[-1]
        counts = together + np.eye(k) + (1 - np.eye(k)) / (2 * (k - 1))
        first = np.diagonal(counts, axis1=-2, axis2=-1) @ self.scores.T
        return first, self.scores @ counts @ self.scores.T, people + k

    def mean_squares(self, with_outcome: Floats) -> tuple[Floats, Floats]:
        """Return the mean squares of the score of a person in the group, and of one in another.

        The other groups are spread as estimated among the people with one outcome; the outcome with the
        larger square is taken, so that an interval is too wide rather than too narrow.

        Parameters
        ----------
        with_outcome : array of shape (..., 2, k)
            The share of people with each outcome and value.
        """
        return np.diagonal(self.squares), mean_other_squares(self.squares, with_outcome).max(axis=-2)

    # --- several attributes -----------------------------------------------------------------------

    def undo_axis(self, table: Floats, axis: int) -> Floats:
        """Return a table of estimates from a table of reports, along one axis."""
        return np.moveaxis(np.tensordot(self.scores, table, axes=(1, axis)), 0, axis)

    def factors(self, indicators: npt.NDArray[np.uint8]) -> Floats:
        """Return the scores of reports, one row for each."""
        return np.asarray(indicators @ self.scores.T)

    def square_axis(self, moment: Floats, axis: int) -> Floats:
        """Return the mean squares of the scores along one axis, for people spread as given."""
        return np.moveaxis(np.tensordot(self.squares, moment, axes=(1, axis)), 0, axis)


def mean_other_squares(squares: Floats, shares: Floats) -> Floats:
    """Return the mean of `squares` over the people who have another value; over all values if none do."""
    k = shares.shape[-1]
    weights = np.where(np.eye(k, dtype=bool), 0.0, np.maximum(shares, 0)[..., None, :])
    total = weights.sum(axis=-1, keepdims=True)
    even = (1 - np.eye(k)) / (k - 1)
    weights = np.where(total > 0, weights / np.where(total > 0, total, 1), even)
    return np.asarray((weights * squares).sum(axis=-1))


def onto_simplex(values: npt.ArrayLike) -> npt.NDArray[np.float64]:
    r"""Return the point nearest to `values` whose entries are not negative and add up to one.

    .. math:: \arg\min_x \sum_v (x_v - f_v)^2 \quad \text{with} \quad x_v \ge 0, \ \sum_v x_v = 1

    It is :math:`x_v = \max(f_v - t, 0)` with the one :math:`t` that makes the sum right; the entries above
    it are the largest ones, so sorting finds it exactly.

    References
    ----------
    .. [1] Held, Wolfe, Crowder (1974). Validation of subgradient optimization. Mathematical Programming 6.

    Examples
    --------
    >>> onto_simplex([0.7, 0.5, -0.1]).tolist()
    [0.6, 0.4, 0.0]
    """
    given = np.asarray(values, dtype=np.float64)
    falling = np.sort(given)[::-1]
    cuts = (np.cumsum(falling) - 1) / np.arange(1, given.size + 1)
    kept = np.flatnonzero(falling > cuts)
    if not kept.size:  # some are missing: there are no reports
        return np.full(given.shape, np.nan)
    projected = np.maximum(given - cuts[kept[-1]], 0)
    return np.asarray(projected / projected.sum())


def _extreme(scores: Floats, low: Floats, high: Floats) -> Floats:
    """Return, row by row, the largest mean of scores that probabilities from `low` to `high` can have."""
    order = np.argsort(-scores, axis=1, kind="stable")
    room = (high - low)[order]
    left = np.maximum(1 - low.sum(), 0)
    given = np.clip(left - (np.cumsum(room, axis=1) - room), 0, room)
    return np.asarray(scores @ low + (np.take_along_axis(scores, order, axis=1) * given).sum(axis=1))
