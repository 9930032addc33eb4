"""A report seen from the server: how often it supports the true value, and how often any other."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from evenhand.errors import InvalidParameterError
from evenhand.measure.intervals import clopper_pearson
from evenhand.privacy.rational import exact

if TYPE_CHECKING:
    from fractions import Fraction

    import numpy.typing as npt

    from evenhand.collect.protocols.matrix_channel import MatrixChannel

    Floats = npt.NDArray[np.float64]

__all__ = ["Channel", "ScoreTerms"]

_ADDED = 2  # people for each outcome


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

        The whole part of n q is taken off before there is any rounding, so that an epsilon near nought
        loses no digits.
        """
        if n == 0:
            return np.full(np.shape(counts), math.nan)
        expected = n * self.q
        whole = math.floor(expected)
        found: npt.NDArray[np.float64] = ((np.asarray(counts) - whole) - float(expected - whole)) / n
        return found

    def shares(self, counts: npt.ArrayLike, n: int) -> npt.NDArray[np.float64]:
        """Return the estimated share of people with each value, without bias."""
        return self.excess(counts, n) / self.width

    def variance(self, shares: npt.ArrayLike, n: int) -> npt.NDArray[np.float64]:
        """Return the variance of the estimates where these are the shares; NaN without reports."""
        one = self.noise + self.slope * self.width * np.asarray(shares, dtype=float)
        found: npt.NDArray[np.float64] = one / (n * self.width**2) if n else np.full_like(one, math.nan)
        return found

    def require_inverse(self) -> None:
        """Do nothing: p is above q, so reports can always be undone."""

    def nearest(self, values: Floats) -> Floats:
        """Return the shares nearest to an estimate, each from 0 to 1."""
        return np.clip(values, 0, 1)

    def undone(self, moment: npt.NDArray[Any]) -> npt.NDArray[Any]:
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
        together, people = together + _ADDED / 4 * (1 + np.eye(k)), people + _ADDED
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
        own, other = (float(each) for each in self._exact_squares)
        return np.asarray(other * moment.sum(axis=axis, keepdims=True) + (own - other) * moment)

    @property
    def _exact_squares(self) -> tuple[Fraction, Fraction]:
        p, q = self.p, self.q
        return (p * (1 - q) ** 2 + (1 - p) * q**2) / (p - q) ** 2, q * (1 - q) / (p - q) ** 2
