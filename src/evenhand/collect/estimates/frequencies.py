"""Shares of people estimated from reports: estimates, intervals, shares that add up to one, and tables."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from evenhand._notebook import number_text
from evenhand._validate import integer, one_of
from evenhand.collect.estimates import tables
from evenhand.collect.estimates.ratio_limits import score_root
from evenhand.collect.protocols.channel import Channel, onto_simplex
from evenhand.errors import InvalidParameterError, LimitExceededError
from evenhand.measure.columns import read_array
from evenhand.measure.intervals import Interval, check_level, normal_quantile

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    import numpy.typing as npt

    from evenhand.collect.protocols.channel import MatrixChannel
    from evenhand.table.frames import Backend

_NO_REPORTS = "There are no reports."
_LEVEL = 0.95
_MOST_TOGETHER = 4_096  # values whose supports are counted two by two: a table of 128 MiB
_CELLS_AT_ONCE = 1 << 22
_TARGETS: tuple[Target, ...] = ("people", "population")


@dataclass(frozen=True, init=False, eq=False, repr=False)
class Frequencies(tables.TableView):
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
    labels : sequence, optional
        What the values are called where the estimate is shown; by default their codes.

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
    >>> named = Frequencies([62, 29, 9], n=100, protocol=GRR(k=3, epsilon=2), labels=["car", "bus", "foot"])
    >>> named.to_frame(backend="pyarrow")["value"].to_pylist()
    ['car', 'bus', 'foot']
    """

    counts: npt.NDArray[Any]
    n: int
    protocol: Any
    channel: Channel | MatrixChannel
    labels: Sequence[Any]

    def __init__(
        self,
        counts: npt.ArrayLike,
        *,
        n: int,
        protocol: Any = None,
        p: Any = None,
        q: Any = None,
        labels: Sequence[Any] | None = None,
    ) -> None:
        number = integer("n", n, owner="Frequencies", low=0)
        object.__setattr__(self, "counts", _check_counts(counts, number))
        object.__setattr__(self, "n", number)
        object.__setattr__(self, "protocol", protocol)
        object.__setattr__(self, "channel", Channel.of(protocol, p, q, owner="Frequencies"))
        codes = range(self.counts.size)
        named = codes if labels is None else tables.as_labels(labels, len(codes), owner="Frequencies")
        object.__setattr__(self, "labels", named)

    @property
    def reason(self) -> str:
        """Why there is no estimate; empty if there is one."""
        return "" if self.n else _NO_REPORTS

    @cached_property
    def values(self) -> npt.NDArray[np.float64]:
        """The estimates; without bias, and so sometimes below 0 or above 1."""
        return _read_only(self.channel.shares(self.counts, self.n))

    @cached_property
    def standard_error(self) -> npt.NDArray[np.float64]:
        """The standard error of each estimate: what the privacy noise does, about the people who reported.

        It is that of the shares nearest to the estimate that people can have.
        """
        return _read_only(np.sqrt(self.channel.variance(self.channel.nearest(self.values), self.n)))

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
        _check_table_size(len(self))
        shares = onto_simplex(self.values)
        if not self.n:
            return np.full((shares.size, shares.size), math.nan)
        drawn = (np.diag(shares) - np.outer(shares, shares)) / self.n
        if reports is None:
            supported = getattr(self.protocol, "both_supported", lambda: None)()
            given = self.channel.covariance(shares, self.n, supported)
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
        supported = self.counts / self.n
        moment = together / self.n - np.outer(supported, supported)
        counted = self.channel.invert_moment(moment) / self.n
        return counted if target == "population" else counted - drawn

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
        return ConsistentShares(_read_only(onto_simplex(self.values)), chosen, self)

    def to_frame(
        self, labels: Sequence[Any] | None = None, *, level: float = 0.95, backend: Backend | None = None
    ) -> Any:
        """Return a frame with one row per value: estimate, standard error, and limits of both kinds.

        Parameters
        ----------
        labels : sequence, optional
            What the values are called; by default :attr:`labels`.
        level : float
            The level of the intervals.
        backend : {"pandas", "polars", "pyarrow"}, optional
            The library of the frame.
        """
        return _shares_frame(self, labels, backend, level=level)

    def __len__(self) -> int:
        return self.counts.size

    def _make_table(self) -> tuple[str, list[list[str]], list[str]]:
        maker = f" of {self.protocol!r}" if self.protocol is not None else ""
        title = f"Shares of {len(self):,} values from {self.n:,} report{'' if self.n == 1 else 's'}{maker}"
        low, high = self.interval(_LEVEL)
        rows = [["value", "share", "standard error", f"{_LEVEL:.0%} interval"]]
        for value in range(min(len(self), tables.SHOWN)):
            share, error = self.values[value], self.standard_error[value]
            limits = tables.limits_text(low[value], high[value])
            rows.append([str(self.labels[value]), number_text(share), number_text(error), limits])
        about = self.reason or "Intervals are about the people who reported."
        return title, rows, [*tables.more_rows(len(self)), about]


def count_together(chunks: Iterable[npt.NDArray[np.uint8]], k: int) -> npt.NDArray[np.int64]:
    """Return how many reports support each two values, and on the diagonal each value.

    >>> count_together([np.array([[1, 1, 0], [1, 0, 0]], dtype=np.uint8)], 3).tolist()
    [[2, 1, 0], [1, 1, 0], [0, 0, 0]]
    """
    _check_table_size(k)
    total = np.zeros((k, k), dtype=np.int64)
    rows = max(1, _CELLS_AT_ONCE // k)  # below 2**24, so that sums of 32-bit floats are exact
    for chunk in chunks:
        for start in range(0, len(chunk), rows):
            part = chunk[start : start + rows].astype(np.float32)
            total += (part.T @ part).astype(np.int64)
    return total


def _check_table_size(k: int) -> None:
    """Refuse a table of more than _MOST_TOGETHER values squared."""
    if k > _MOST_TOGETHER:
        raise LimitExceededError(
            f"A table of {k:,} values by {k:,} values is larger than {_MOST_TOGETHER:,} squared. "
            "Hint: merge values into fewer before they are reported.",
            limit="values",
        )


def _check_counts(counts: npt.ArrayLike, n: int) -> npt.NDArray[Any]:
    must_be = "one number from 0 to 'n' for each value"
    array = read_array(counts, name="counts", owner="Frequencies", must_be=must_be)
    if array.ndim != 1 or not ((array >= 0) & (array <= n)).all():
        raise InvalidParameterError("counts", owner="Frequencies", must_be=must_be, got="something else")
    # in 64 bits with a sign: the expected count is taken off, which a narrow or unsigned type cannot hold
    return _read_only(array.astype(np.int64 if array.dtype.kind in "biu" else np.float64))


def _read_only(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    array.flags.writeable = False
    return array


@dataclass(frozen=True, eq=False, repr=False)
class ConsistentShares(tables.TableView):
    """Shares from 0 to 1 that add up to one, made from an estimate by projection.

    Make them with :meth:`Frequencies.consistent`. They are for tables that must add up. They have a bias
    that the estimate does not have, and `note` says which.

    Parameters
    ----------
    values : array
        The shares.
    how : str
        The name of the choice.
    estimate : Frequencies
        What they were made from.
    """

    values: npt.NDArray[np.float64]
    how: str
    estimate: Frequencies

    note = (
        "Projected onto shares that add up to one. "
        "This has a bias: small shares come out too large and large ones too small on average, "
        "the more so the fewer the reports, the smaller epsilon and the more values there are. "
        "Intervals and standard errors are those of the estimate before the projection."
    )
    """What the projection does to the shares, in words."""

    def interval(self, level: float = 0.95, **options: Any) -> Intervals:
        """Return the intervals of the estimate; a projected share may lie outside of its interval."""
        return self.estimate.interval(level, **options)

    def to_frame(self, labels: Sequence[Any] | None = None, *, backend: Backend | None = None) -> Any:
        """Return the frame of the estimate with one more column, ``consistent_share``."""
        return _shares_frame(self.estimate, labels, backend, consistent=self.values)

    def _make_table(self) -> tuple[str, list[list[str]], list[str]]:
        title, rows, notes = self.estimate._make_table()  # noqa: SLF001 - of the same module
        added = ["consistent share", *(number_text(share) for share in self.values[: tables.SHOWN])]
        return title, [[*row, cell] for row, cell in zip(rows, added, strict=True)], [*notes, self.note]


def _shares_frame(
    estimate: Frequencies,
    labels: Sequence[Any] | None,
    backend: Backend | None,
    *,
    level: float = _LEVEL,
    consistent: npt.NDArray[Any] | None = None,
) -> Any:
    """Return one row per value: estimate, standard error, and limits of both kinds."""
    people, population = estimate.interval(level), estimate.interval(level, of="population")
    columns = {
        "value": tables.label_column(
            tables.as_labels(estimate.labels if labels is None else labels, len(estimate), owner="to_frame")
        ),
        "share": estimate.values.tolist(),
        "standard_error": estimate.standard_error.tolist(),
        "low_people": people.low.tolist(),
        "high_people": people.high.tolist(),
        "low_population": population.low.tolist(),
        "high_population": population.high.tolist(),
        "level": [people.level] * len(estimate),
    }
    if consistent is not None:
        columns["consistent_share"] = consistent.tolist()
    return tables.estimates_frame(columns, backend)


Target = Literal["people", "population"]
"""Whom an interval is about: those who reported, or those they were drawn from."""

Limits = tuple["npt.NDArray[np.float64]", "npt.NDArray[np.float64]"]


@dataclass(frozen=True, eq=False)
class Intervals:
    """One interval for each value; unpacks into its lower and its upper limits.

    Parameters
    ----------
    low, high : array
        The limits, from 0 to 1; NaN if there are no reports.
    level : float
        How often each of them is meant to hold the true share.
    of : {"people", "population"}
        Whom they are about.
    method : str
        The name of the method.
    exact : bool
        Whether the level is guaranteed for every sample size, and not only approached.
    reason : str
        Why there are none, if there are none.

    Examples
    --------
    >>> found = Intervals(
    ...     np.array([0.1, 0.4]), np.array([0.3, 0.7]), level=0.95, of="people", method="score", exact=False
    ... )
    >>> low, high = found
    >>> low.tolist(), found.at(1).high
    ([0.1, 0.4], 0.7)
    """

    low: npt.NDArray[np.float64]
    high: npt.NDArray[np.float64]
    level: float
    of: Target
    method: str
    exact: bool
    reason: str = ""

    def __iter__(self) -> Iterator[npt.NDArray[np.float64]]:
        yield self.low
        yield self.high

    def at(self, value: int) -> Interval:
        """Return the interval of one value."""
        low, high = float(self.low[value]), float(self.high[value])
        return Interval(low, high, self.level, self.method, exact=self.exact, reason=self.reason)


def score_limits(
    counts: npt.ArrayLike, n: int, channel: Channel | MatrixChannel, *, level: float, of: Target
) -> Limits:
    r"""Return the shares that a test at the level does not reject, in closed form.

    .. math:: \left| \tfrac{C}{n} - q - f (p - q) \right| \le \tfrac{1}{2n} + z \sqrt{V(f) / n}

    where :math:`C` of the :math:`n` reports support the value, :math:`f` is its share and :math:`z` the
    normal quantile. About the people who reported, :math:`V(f) = f p(1-p) + (1-f) q(1-q)`; about the
    population they were drawn from, :math:`V(f) = \pi (1 - \pi)` with :math:`\pi = q + f(p-q)`.
    The half report is the correction for counts being whole. An estimate below 0 or above 1 gets the
    interval of 0 or 1: it is never empty and never a single point. Where reports follow a matrix, V is the
    variance of the score, and the people who do not have the value are spread as estimated.
    """
    if n == 0:
        nothing = np.full(np.shape(counts), np.nan)
        return nothing, nothing.copy()
    scaled = normal_quantile(1 - level) ** 2 / n
    excess, width, noise, slope, step = channel.score_terms(counts, n, population=of == "population")
    half, leading = 0.5 * step / n, 1 + scaled if of == "population" else 1.0
    low, high = (
        score_root(np.clip(moved, 0, width), 1.0, (scaled * noise, scaled * slope, leading), sign) / width
        for moved, sign in ((excess - half, -1), (excess + half, 1))
    )
    return np.clip(low, 0, 1), np.clip(high, 0, 1)
