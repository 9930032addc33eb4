"""A report seen from the server: how often it supports the true value, and how often any other."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from evenhand.errors import InvalidParameterError
from evenhand.privacy.rational import exact

if TYPE_CHECKING:
    from fractions import Fraction

    import numpy.typing as npt

__all__ = ["Channel"]


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
    def of(cls, protocol: Any, p: Any = None, q: Any = None, *, owner: str) -> Channel:
        """Return the channel of a protocol, or of `p` and `q` where there is none."""
        given = (protocol is not None, p is not None, q is not None)
        if given not in {(True, False, False), (False, True, True)}:
            raise InvalidParameterError(
                "protocol", owner=owner, must_be="given, or else 'p' and 'q'", got="another choice of them"
            )
        if protocol is not None:
            return cls(protocol.p_exact, protocol.q_exact)
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
