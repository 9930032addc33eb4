"""Shares of people estimated from reports."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from evenhand._validate import integer, one_of
from evenhand.collect.estimates.share_limits import Intervals, Target, score_limits
from evenhand.collect.estimates.simplex import ConsistentShares, onto_simplex
from evenhand.collect.protocols.channel import Channel
from evenhand.collect.protocols.covariance import check_few, count_together, from_law, from_reports
from evenhand.errors import InvalidParameterError
from evenhand.measure.columns import read_array
from evenhand.measure.intervals import check_level

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    from evenhand.collect.protocols.matrix_channel import MatrixChannel
    from evenhand.table.frames import Backend

__all__ = ["Frequencies"]

_NO_REPORTS = "There are no reports."
_TARGETS: tuple[Target, ...] = ("people", "population")


@dataclass(frozen=True, init=False, eq=False, repr=False)
class Frequencies:
    r"""The estimated share of people with each value.

    .. math:: \hat f_v = \frac{C_v / n - q}{p - q}

    where :math:`C_v` of the :math:`n` reports support value :math:`v`. Where a protocol has a whole matrix of
    probabilities :math:`Q` instead of one p and one q, :math:`\hat f = Q^{-\top} C / n`.

    Parameters
    ----------
    counts : array
        How many reports support each value.
    n : int
        How many reports there are. Without any, estimates and limits are NaN.
    protocol : Protocol, optional
        What made the reports. Anything with ``channel``, or with ``p_exact`` and ``q_exact``, will do.
    p, q : Fraction, float or str, optional
        In place of a protocol: the probabilities that a report supports the true value, and any other.

    Examples
    --------
    >>> from evenhand.collect.protocols.grr import GRR
    >>> Frequencies([62, 29, 9], n=100, protocol=GRR(k=3, epsilon=2))
    Shares of 3 values from 100 reports of GRR(k=3, epsilon=2)
    value   share  standard error    95% interval
    0       0.755           0.057  0.639 to 0.877
    1       0.270           0.050  0.168 to 0.378
    2      -0.024           0.045  0.000 to 0.092
    Intervals are about the people who reported.
    """

    counts: npt.NDArray[Any]
    n: int
    protocol: Any
    channel: Channel | MatrixChannel

    def __init__(
        self, counts: npt.ArrayLike, *, n: int, protocol: Any = None, p: Any = None, q: Any = None
    ) -> None:
        number = integer("n", n, owner="Frequencies", low=0)
        object.__setattr__(self, "counts", _checked(counts, number))
        object.__setattr__(self, "n", number)
        object.__setattr__(self, "protocol", protocol)
        object.__setattr__(self, "channel", Channel.of(protocol, p, q, owner="Frequencies"))

    @property
    def reason(self) -> str:
        """Why there is no estimate; nothing if there is one."""
        return "" if self.n else _NO_REPORTS

    @cached_property
    def values(self) -> npt.NDArray[np.float64]:
        """The estimates; without bias, and so sometimes below 0 or above 1."""
        return _locked(self.channel.shares(self.counts, self.n))

    @cached_property
    def standard_error(self) -> npt.NDArray[np.float64]:
        """The standard error of each estimate: what the privacy noise does, about the people who reported.

        It is that of the shares nearest to the estimate that people can have.
        """
        return _locked(np.sqrt(self.channel.variance(self.channel.nearest(self.values), self.n)))

    def interval(
        self,
        level: float = 0.95,
        *,
        of: Target = "people",
        method: Literal["score", "exact"] = "score",
    ) -> Intervals:
        r"""Return one interval for each share.

        Parameters
        ----------
        level : float
            Between 0 and 1.
        of : {"people", "population"}
            Whom it is about: the share among the people who reported, where only their reports are random,
            or the share in the population they were drawn from at random, which is less certain.
        method : {"score", "exact"}
            A score interval, or for the population the interval of Clopper and Pearson, whose level is
            guaranteed for any number of reports. For a matrix of more than two values it is made of the
            intervals of all reports together, and is wider.

        Returns
        -------
        Intervals
            It unpacks into the lower and the upper limits. Each is cut at 0 and 1.

        Examples
        --------
        >>> estimate = Frequencies([600, 400], n=1000, p=0.75, q=0.25)
        >>> low, high = estimate.interval(0.95)
        >>> f"{low[0]:.3f} to {high[0]:.3f}"
        '0.645 to 0.755'
        >>> low, high = estimate.interval(0.95, of="population")
        >>> f"{low[0]:.3f} to {high[0]:.3f}"
        '0.638 to 0.761'
        """
        level = check_level(level, owner="Frequencies.interval")
        target = one_of("of", of, _TARGETS, owner="Frequencies.interval")
        if one_of("method", method, ("score", "exact"), owner="Frequencies.interval") == "score":
            low, high = score_limits(self.counts, self.n, self.channel, level=level, of=target)
            return Intervals(low, high, level, target, "score", exact=False, reason=self.reason)
        if target == "people":
            raise InvalidParameterError(
                "method",
                owner="Frequencies.interval",
                must_be="'score' for the people who reported",
                got="exact",
                hint="of='population' has exact intervals.",
            )
        low, high = self.channel.exact_limits(self.counts, self.n, level)
        return Intervals(low, high, level, target, "Clopper-Pearson", exact=True, reason=self.reason)

    def covariance(self, *, of: Target = "people", reports: Any = None) -> npt.NDArray[np.float64]:
        r"""Return the covariance of the estimates of every two values.

        The variance of the estimated share of several values together is the sum over their rows and
        columns. It is not the sum of their variances, except for the unary protocols and the people who
        reported.

        Parameters
        ----------
        of : {"people", "population"}
            Whom it is about, as in :meth:`interval`.
        reports : Reports, optional
            The reports themselves. With them the covariance is counted, two values at a time; local hashing
            needs that, since its hash functions make neighbouring values move together. Without them it
            is computed from the protocol's law and the shares nearest to the estimate that add up to one.
        """
        target = one_of("of", of, _TARGETS, owner="Frequencies.covariance")
        check_few(len(self))
        shares = onto_simplex(self.values)
        if not self.n:
            return np.full((shares.size, shares.size), math.nan)
        drawn = (np.diag(shares) - np.outer(shares, shares)) / self.n
        if reports is None:
            given = from_law(shares, self.n, self.channel, self.protocol)
            return given + drawn if target == "population" else given
        if not hasattr(self.protocol, "indicator_chunks"):
            must_be = "left out where no protocol can read them"
            raise InvalidParameterError(
                "reports", owner="Frequencies.covariance", must_be=must_be, got="some"
            )
        together = count_together(self.protocol.indicator_chunks(reports), shares.size)
        if not np.array_equal(np.diag(together), self.counts):
            must_be, got = "the reports that this was estimated from", "others"
            raise InvalidParameterError("reports", owner="Frequencies.covariance", must_be=must_be, got=got)
        found = from_reports(together, self.n, self.channel)
        return found if target == "population" else found - drawn

    def consistent(self, how: Literal["simplex"] = "simplex") -> ConsistentShares:
        """Return shares from 0 to 1 that add up to one.

        Parameters
        ----------
        how : {"simplex"}
            ``"simplex"``: the shares nearest to the estimate, by the sum of squared differences.

        Returns
        -------
        ConsistentShares
            Its `note` says what this does: small shares come out too large and large ones too small.
        """
        chosen = one_of("how", how, ("simplex",), owner="Frequencies.consistent")
        return ConsistentShares(_locked(onto_simplex(self.values)), chosen, self)

    def to_frame(
        self, labels: Sequence[Any] | None = None, *, level: float = 0.95, backend: Backend | None = None
    ) -> Any:
        """Return a frame with one row per value: estimate, standard error, and limits of both kinds.

        Parameters
        ----------
        labels : sequence, optional
            What the values are called; by default their codes.
        level : float
            The level of the intervals.
        backend : {"pandas", "polars", "pyarrow"}, optional
            The library of the frame.
        """
        from evenhand.collect.estimates.frequencies_view import shares_frame  # noqa: PLC0415 (only when asked for)

        return shares_frame(self, labels, backend, level=level)

    def __len__(self) -> int:
        return self.counts.size

    def __repr__(self) -> str:
        from evenhand.collect.estimates.frequencies_view import as_text  # noqa: PLC0415 (only when asked for)

        return as_text(self)

    def _repr_html_(self) -> str:
        from evenhand.collect.estimates.frequencies_view import as_html  # noqa: PLC0415 (only when asked for)

        return as_html(self)


def _checked(counts: npt.ArrayLike, n: int) -> npt.NDArray[Any]:
    must_be = "one number from 0 to 'n' for each value"
    array = read_array(counts, name="counts", owner="Frequencies", must_be=must_be)
    if array.ndim != 1 or not ((array >= 0) & (array <= n)).all():
        raise InvalidParameterError("counts", owner="Frequencies", must_be=must_be, got="something else")
    # in 64 bits with a sign: the expected count is taken off, which a narrow or unsigned type cannot hold
    return _locked(array.astype(np.int64 if array.dtype.kind in "biu" else np.float64))


def _locked(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    array.flags.writeable = False
    return array
