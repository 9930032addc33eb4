"""Swapping at random: whole cells, as zhu2023 defines it, or each person for themselves, with estimates."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from evenhand.errors import InvalidParameterError, LimitExceededError
from evenhand.privacy.guarantees.guarantee import Guarantee
from evenhand.privacy.rational import exact
from evenhand.release.mechanisms.bias import WithIntervals, read_only_copy
from evenhand.release.mechanisms.mechanism import Published
from evenhand.release.mechanisms.quasi_response import (
    QuasiResponse,
    Tally,
    printed_delta,
    require_people,
    require_quasi,
)
from evenhand.release.table.released import Release

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy.typing as npt

    from evenhand.privacy.randomness import Source
    from evenhand.release.mechanisms.quasi_response import ResponseLaw
    from evenhand.release.table.histogram import Histogram

    Values = npt.NDArray[np.float64]
    Numbers = npt.NDArray[np.int64]

MOST_PEOPLE = 1 << 34
"""More people than ever lived at once; a draw for each takes half a minute for a thousand million."""

_CHUNK = 1 << 20  # cells, or people
_TIGHT = Fraction(1, 10**12)
_CELLS_OTHERS = "only quasi-identifiers of the person change; where another column changes, delta is 1"
_RECORDS_OTHERS = "only quasi-identifiers of the person change; where others change, nothing is promised"


@dataclass(frozen=True, repr=False, init=False)
class RandomSwapping(QuasiResponse):
    r"""Give each cell's whole count to a random combination of quasi-identifiers (zhu2023, "DP swapping").

    Every cell keeps its combination of quasi-identifiers with probability

    .. math:: \gamma = \frac{e^\varepsilon}{e^\varepsilon + n_Q - 1}

    and otherwise takes a uniform other one, independently; counts that land on one cell are added.
    Here :math:`n_Q` is the number of combinations of quasi-identifiers and :math:`\varepsilon` is `epsilon`.

    **Guarantee.** Next to none. For two tables that differ in the quasi-identifiers of one person it is
    :math:`(0, \delta)`-differentially private with

    .. math:: \delta = 1 - \frac{2\gamma(1-\gamma)}{n_Q - 1} - (n_Q - 2)\left(\frac{1-\gamma}{n_Q-1}\right)^2

    and no epsilon makes that smaller: where the two cells land together the tables agree, elsewhere the
    counts tell them apart. It is attained, so it is exact for every epsilon. If any other column of the
    person changes, delta is 1, because the table of the other columns is published as it is.
    Unit: replace one. If the table has a bound, no count may be above it: counts are lowered to it, so
    otherwise the number of people published could change. For the same reason a table is refused if a rule
    may leave people out for a quasi-identifier.
    Numerics: exact; the probabilities are multiples of 2**-64 rounded toward privacy, and delta is that of
    the probabilities drawn. May be used for release; :class:`~evenhand.release.RecordSwapping` moves each
    person instead, which has a guarantee and far smaller errors.

    Parameters
    ----------
    epsilon : int, float, str, Fraction or Decimal
        Above 0. It sets how many cells move and is no guarantee.

    Notes
    -----
    The published bias is :math:`(\sum_j x_j - n_Q x_i)/(e^\varepsilon + n_Q - 1)`, the sum being over the
    cells that share the other columns (Proposition 1 of [1]_). Theorem 3 of [1]_ has a wrong sign, prints a
    smaller delta, and takes for granted that no other column changes; ``as_printed=True`` gives its number.

    References
    ----------
    .. [1] Zhu, Fioretto, Van Hentenryck, Das, Task (2023). Privacy and bias analysis of disclosure avoidance
           systems. Equation 4, Theorem 3, Proposition 1.

    Examples
    --------
    >>> from evenhand.release.table.histogram import Histogram
    >>> from evenhand.schema import Column, Domain, Schema
    >>> race = Column("race", Domain.categorical(["a", "b", "c"]))
    >>> table = Histogram.of([5, 1, 0], Schema([race], quasi_identifiers="race"))
    >>> swapping = RandomSwapping(epsilon=1)
    >>> f"{float(swapping.guarantee_for(table).delta):.4f}"
    '0.7109'
    >>> swapping.bias(table).values.round(3)
    array([-1.907,  0.636,  1.272])
    """

    name: ClassVar[str] = "random-swapping"
    title: ClassVar[str] = "random swapping of cells"
    label: ClassVar[str] = "Random swapping of cells"

    def guarantee_for(
        self, histogram: Histogram, *, epsilon: Any = None, as_printed: bool = False
    ) -> Guarantee:
        """Return what a release promises about the quasi-identifiers of one person; see the base class.

        Delta is the same for every epsilon; without one it is stated at 0.
        """
        law = self.response(histogram)
        details = self._details(histogram, _CELLS_OTHERS)
        if as_printed:
            return Guarantee(
                epsilon=self.epsilon,
                delta=printed_delta(law.values, self.epsilon),
                proof="Theorem 3 of zhu2023 as printed, which does not hold: the sign of its last term is "
                "wrong and its delta too small",
                **details,
            )
        at = 0 if epsilon is None else exact(epsilon, name="epsilon", owner="guarantee_for", least=0)
        delta, proof = law.together_delta, "coupling of the two changed cells"
        return Guarantee(epsilon=at, delta=delta, tight=True, proof=proof, **details)

    def _publish(self, histogram: Histogram, source: Source) -> Published:
        require_people(histogram, owner="RandomSwapping")
        law, numbering = self.response(histogram), require_quasi(histogram, owner="RandomSwapping")
        tally = Tally(histogram)
        if histogram.counts is None:  # an empty cell has nothing to move, and there are too many of them
            cells, counts = histogram.filled_cells()
        else:
            cells, counts = np.arange(histogram.size), histogram.counts.reshape(-1)
        for start in range(0, cells.size, _CHUNK):
            part, held = cells[start : start + _CHUNK], counts[start : start + _CHUNK]
            places, combinations = law.draw_moves(numbering.of(part), source=source)
            tally.add(part[places], -held[places])
            tally.add(numbering.replace_combinations(part[places], combinations), held[places])
        return Published(tally.histogram())

    def _variance(self, histogram: Histogram) -> npt.NDArray[np.float64] | None:
        matrix = self.response(histogram).cell_variance(histogram.as_matrix())
        return histogram.from_matrix(matrix).counts


@dataclass(frozen=True, eq=False, repr=False)
class SwapEstimate(WithIntervals):
    """Unbiased estimates of the true counts, made from what is published and nothing else.

    Parameters
    ----------
    values : array
        The estimate of each cell, in the shape of the table; it may be negative or a fraction.
    standard_error : array
        The standard error of each estimate, estimated from the release too.
    """

    values: Values
    standard_error: Values

    @classmethod
    def of(cls, published: Histogram, law: ResponseLaw) -> SwapEstimate:
        r"""Return the estimates for a published table.

        The variance of a published count is :math:`\tilde x_i (n_Q - 2) h + h\gamma \sum_j \tilde x_j` in
        expectation, and that of its estimate is :math:`(\gamma - h)^{-2}` times as large.
        """
        counts = published.as_matrix().astype(np.float64)
        sums = counts.sum(axis=1, keepdims=True)
        other, gap = float(law.other), float(law.keep - law.other)
        values = (counts - other * sums) / gap
        spread = counts * float((law.values - 2) * law.other) + sums * float(law.keep * law.other)
        error = np.sqrt(spread) / gap
        tables = (published.from_matrix(matrix).counts for matrix in (values, error))
        return cls(*map(read_only_copy, tables))

    def __repr__(self) -> str:
        size = " x ".join(f"{length:,}" for length in self.values.shape)
        return f"<SwapEstimate of {size} cells>"


@dataclass(frozen=True, repr=False, init=False)
class RecordSwapping(QuasiResponse):
    r"""Give each person a random combination of quasi-identifiers, independently of everybody else.

    A person keeps their combination with probability :math:`\gamma = e^\varepsilon/(e^\varepsilon + n_Q - 1)`
    and takes each other one with probability :math:`h = 1/(e^\varepsilon + n_Q - 1)`, where :math:`n_Q` is
    the number of combinations of quasi-identifiers and :math:`\varepsilon` is `epsilon`.

    **Guarantee.** Pure differential privacy with `epsilon` for a change of one person's quasi-identifiers;
    unit: replace one; tight (met by a table of one person). The other columns are *in the clear*: their
    table is published as it is, and nothing is promised where one of them changes. If the table has a bound,
    no count may be above it: counts are lowered to it, so otherwise the number of people published could
    change. For the same reason a table is refused if a rule may leave people out for a quasi-identifier.
    Proof: each person's combination goes through randomised response, and the table is computed from the
    responses. Numerics: exact; the probabilities are multiples of 2**-64, rounded so that
    :math:`\gamma/h \le e^\varepsilon`. May be used for release.

    Parameters
    ----------
    epsilon : int, float, str, Fraction or Decimal
        Above 0.

    Notes
    -----
    This is Algorithm 4 of [1]_ read word for word ("for row in D"); the results of [1]_ are for
    :class:`~evenhand.release.RandomSwapping`, which moves whole cells. Both have the same bias, and
    :meth:`estimate` removes it. The variance is
    :math:`x_i\gamma(1-\gamma) + \sum_{j \ne i} x_j h(1-h)` in place of squares of the counts.

    References
    ----------
    .. [1] Zhu, Fioretto, Van Hentenryck, Das, Task (2023). Privacy and bias analysis of disclosure avoidance
           systems. Algorithm 4.

    Examples
    --------
    >>> from evenhand.release.table.histogram import Histogram
    >>> from evenhand.schema import Column, Domain, Schema
    >>> race = Column("race", Domain.categorical(["a", "b", "c"]))
    >>> table = Histogram.of([500, 20, 10], Schema([race], quasi_identifiers="race"))
    >>> swapping = RecordSwapping(epsilon=1)
    >>> swapping.variance(table).values.round(1)
    array([127.1,  90.1,  89.3])
    >>> release = swapping.release(table, rng=7)
    >>> release.histogram.people, swapping.estimate(release).values.sum().round(6)
    (530, np.float64(530.0))
    """

    name: ClassVar[str] = "record-swapping"
    title: ClassVar[str] = "random swapping of records"
    label: ClassVar[str] = "Random swapping of records"

    def guarantee_for(
        self, histogram: Histogram, *, epsilon: Any = None, as_printed: bool = False
    ) -> Guarantee:
        """Return what a release promises about the quasi-identifiers of one person; see the base class.

        Below its own epsilon it has a delta, which is given with `epsilon`. Nothing else is printed anywhere,
        so `as_printed` changes nothing.
        """
        del as_printed
        law = self.response(histogram)
        claimed, delta = law.claimed_epsilon, Fraction(0)
        if epsilon is not None:
            claimed = exact(epsilon, name="epsilon", owner="guarantee_for", least=0)
            delta = law.delta_at(claimed)
        return Guarantee(
            epsilon=claimed,
            delta=delta,
            tight=delta > 0 or claimed - law.realised_epsilon <= _TIGHT,
            proof="randomised response on each person's quasi-identifiers",
            **self._details(histogram, _RECORDS_OTHERS),
        )

    def estimate(self, release: Release) -> SwapEstimate:
        r"""Return unbiased estimates of the true counts, with standard errors.

        .. math:: \hat x_i = \frac{\tilde x_i - h \sum_j \tilde x_j}{\gamma - h}

        the sum being over the cells that share the other columns. The variance is linear in the true counts,
        so putting the estimates in for them estimates it without bias; it is never negative.

        Parameters
        ----------
        release : Release
            One made by this mechanism, without post-processing.

        Examples
        --------
        >>> from evenhand.release.table.histogram import Histogram
        >>> from evenhand.schema import Column, Domain, Schema
        >>> race = Column("race", Domain.categorical(["a", "b", "c"]))
        >>> table = Histogram.of([5000, 200, 100], Schema([race], quasi_identifiers="race"))
        >>> swapping = RecordSwapping(epsilon=2)
        >>> swapping.estimate(swapping.release(table, rng=7)).standard_error.round(1)
        array([43.4, 33.3, 33.2])
        """
        if not isinstance(release, Release) or release.mechanism != self or release.postprocessing:
            raise InvalidParameterError(
                "release",
                owner="RecordSwapping.estimate",
                must_be=f"a release by {self!r} without post-processing",
                got="something else",
            )
        self._check(release.histogram, dense=True)
        return SwapEstimate.of(release.histogram, self.response(release.histogram))

    def _publish(self, histogram: Histogram, source: Source) -> Published:
        if require_people(histogram, owner="RecordSwapping") > MOST_PEOPLE:
            raise LimitExceededError(
                f"RecordSwapping draws for each person, and takes {MOST_PEOPLE:,} people at most. "
                "Hint: this is more than live; check the counts.",
                limit="MOST_PEOPLE",
            )
        law, numbering = self.response(histogram), require_quasi(histogram, owner="RecordSwapping")
        cells, counts = histogram.filled_cells()
        own = numbering.of(cells)
        rest = cells - numbering.offset(own)
        tally = Tally(histogram)
        for people in _people(counts):
            places, combinations = law.draw_moves(own[people], source=source)
            movers = people[places]
            tally.add(cells[movers], -1)
            tally.add(rest[movers] + numbering.offset(combinations), 1)
        return Published(tally.histogram())

    def _variance(self, histogram: Histogram) -> npt.NDArray[np.float64] | None:
        matrix = self.response(histogram).record_variance(histogram.as_matrix())
        return histogram.from_matrix(matrix).counts


def _people(counts: Numbers) -> Iterator[Numbers]:
    """Yield the place of each person's cell among the filled cells, so many people at a time."""
    ends = np.cumsum(counts)
    total = int(ends[-1]) if ends.size else 0
    for start in range(0, total, _CHUNK):
        stop = min(total, start + _CHUNK)
        first = int(np.searchsorted(ends, start, side="right"))
        last = int(np.searchsorted(ends, stop, side="left"))
        here = np.diff(np.minimum(ends[first : last + 1], stop), prepend=start)
        yield np.repeat(np.arange(first, last + 1), here)
