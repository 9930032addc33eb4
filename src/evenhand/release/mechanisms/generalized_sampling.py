"""Sampling with a fixed generalisation: a table of sampled people whose small counts are left out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from evenhand._validate import integer
from evenhand.errors import InvalidParameterError, LimitExceededError
from evenhand.privacy.guarantees.guarantee import Guarantee
from evenhand.privacy.guarantees.units import Unit
from evenhand.privacy.rational import Number, exact
from evenhand.privacy.sampling import bernoulli
from evenhand.release.delta.sampling import MOST_K, SMALLEST_DELTA, rate_for, sampled_delta
from evenhand.release.delta.theorem5 import theorem_5_delta
from evenhand.release.mechanisms.mechanism import Published, ReleaseMechanism, checked_unit
from evenhand.release.mechanisms.noise import central_terms
from evenhand.release.mechanisms.suppression import whole_counts
from evenhand.release.mechanisms.suppression_bias import sampled_moments
from evenhand.release.table.coarse import Generalization, checked_generalization, coarse_histogram
from evenhand.release.table.histogram import Histogram

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from fractions import Fraction

    import numpy.typing as npt

    from evenhand.privacy.randomness import Source
    from evenhand.release.table.released import Release

    Values = npt.NDArray[np.float64]

MOST_SAMPLED = 10**10
"""A table of more people is refused: each of them is drawn, and there are fewer on Earth."""

_CHUNK = 1 << 22  # people
_FIXED = "the cells and groups are fixed without looking at the rows"
_PRINTED_BOUND = 10_000  # of counts in the printed theorem where none is declared: it is far from the worst


@dataclass(frozen=True)
class Weighted:
    """A step of post-processing: published counts divided by the rate at which people were sampled."""

    rate: Fraction

    @property
    def words(self) -> str:
        """What the step does, in words."""
        return f"divided by the sampling rate {float(self.rate):.6g}"

    def apply(self, values: npt.ArrayLike, *, source: Source | None = None) -> Values:  # noqa: ARG002 - no draws
        """Return the values divided by the rate."""
        return np.asarray(values, dtype=np.float64) / float(self.rate)


@dataclass(frozen=True, repr=False)
class GeneralizedSampling(ReleaseMechanism):
    r"""Publish counts of a random sample of the people, in public groups of values, unless they are small.

    Each person is taken with chance :math:`\beta`, independently. The sampled people are counted in cells
    that are fixed and public: those of the table, or coarser ones by `generalization`. Counts of at least
    :math:`k` are published as they are, the others are suppressed. What is published is true of the sample;
    multiplied by :math:`1/\beta` (:meth:`weighted`, :meth:`estimate`) it estimates the table.

    **Guarantee.** ``(epsilon, delta)``-differential privacy for `unit`, with the largest rate :math:`\beta`
    for which that is so. Delta is the exact one of the rate that is drawn, maximised over tables of any size
    (see :func:`~evenhand.release.delta.sampling.sampled_delta`), and is rounded up. Proof: hockey stick of
    binomial laws with small outcomes as one. Assumes that cells and groups are fixed without looking at the
    rows. Numerics: exact; the rate is a multiple of 2**-64, rounded down. May be used for release.

    Parameters
    ----------
    k : int
        Sampled counts below it are suppressed, 1 to 1,000.
    epsilon : int, float, str, Fraction or Decimal
        Above 0.
    delta : int, float, str, Fraction or Decimal
        From 1e-40 to below 1; a larger `k` allows a larger rate for the same delta.
    generalization : mapping, optional
        For a column, the name of one of its levels, or a mapping from labels to the values they stand for;
        every value must be in one group. None takes the table as it is.
    unit : {"replace one", "add or remove one"}
        The change that the guarantee is about.

    Notes
    -----
    [1]_ samples with the rate :math:`1 - e^{-\varepsilon}` and then generalises by looking at the sample;
    that has :math:`\delta = \beta` at every epsilon. Its Theorem 5 (``as_printed=True``) prints another
    delta, which does not use `k`. With a fixed generalisation and a small rate delta is far smaller, as was
    observed in [2]_.

    References
    ----------
    .. [1] Zhu, Fioretto, Van Hentenryck, Das, Task (2023). Privacy and bias analysis of disclosure avoidance
           systems. Algorithm 6, Theorem 5.
    .. [2] Li, Qardaji, Su (2012). On sampling, anonymization, and differential privacy. ASIACCS.

    Examples
    --------
    >>> from evenhand.schema import Column, Domain, Schema
    >>> table = Histogram.of([400, 30, 500, 20], Schema([Column("age", Domain.integers(1, 4))]))
    >>> sampling = GeneralizedSampling(
    ...     k=10, epsilon=1, delta="1e-6", generalization={"age": {"1-2": [1, 2], "3-4": [3, 4]}}
    ... )
    >>> f"{float(sampling.rate):.4f}"
    '0.1718'
    >>> out = sampling.release(table, rng=7)
    >>> out.histogram.counts.tolist(), sampling.estimate(out).round().tolist()
    ([76, 89], [442.0, 518.0])
    """

    name: ClassVar[str] = "generalized-sampling"
    title: ClassVar[str] = "sampling in public groups"
    example_parameters: ClassVar[Mapping[str, Any]] = {"k": 2, "epsilon": 1, "delta": "1/20"}
    label: ClassVar[str] = "Sampling, fixed groups"
    defaults: ClassVar[Mapping[str, Any]] = {"k": 10, "delta": 1e-6}
    suppresses: ClassVar[bool] = True
    takes_sparse: ClassVar[bool] = True

    k: int
    epsilon: Fraction
    delta: Fraction
    generalization: Generalization = ()
    unit: Unit = Unit.REPLACE_ONE

    def __init__(
        self,
        k: int,
        epsilon: Number,
        delta: Number,
        *,
        generalization: Mapping[str, Any] | Generalization | None = None,
        unit: Unit | str = Unit.REPLACE_ONE,
    ) -> None:
        owner = type(self).__name__
        target = exact(delta, name="delta", owner=owner, above=0)
        if not SMALLEST_DELTA <= target < 1:
            must_be = "a number from 1e-40 to below 1"
            raise InvalidParameterError("delta", owner=owner, must_be=must_be, got=delta)
        self._set(
            k=integer("k", k, owner=owner, low=1, high=MOST_K),
            epsilon=exact(epsilon, name="epsilon", owner=owner, above=0),
            delta=target,
            generalization=checked_generalization(generalization or None, owner=owner),
            unit=checked_unit(unit, owner=owner),
        )

    @property
    def rate(self) -> Fraction:
        """The chance with which each person is sampled; found once and kept."""
        return rate_for(self.epsilon, self.delta, k=self.k, unit=self.unit)

    def guarantee_for(
        self, histogram: Histogram, *, epsilon: Any = None, as_printed: bool = False
    ) -> Guarantee:
        """Return the guarantee, at the mechanism's epsilon or another; see the base class."""
        at = (
            self.epsilon
            if epsilon is None
            else exact(epsilon, name="epsilon", owner="guarantee_for", least=0)
        )
        details = central_terms(histogram, self.unit, public=_FIXED)
        if as_printed:
            delta = theorem_5_delta(self.epsilon, beta=self.rate, bound=histogram.bound or _PRINTED_BOUND)
            proof = "Theorem 5 of zhu2023 as printed, which does not use k: valid and far from tight"
            return Guarantee(epsilon=self.epsilon, delta=delta, proof=proof, **details)
        worst = sampled_delta(at, rate=self.rate, k=self.k, unit=self.unit)
        proof = "hockey stick of binomial laws with small outcomes as one"
        return Guarantee(epsilon=at, delta=worst.delta, tight=worst.exact, proof=proof, **details)

    def coarse(self, histogram: Histogram) -> Histogram:
        """Return the true table in the groups that are published."""
        self._check(histogram)
        return coarse_histogram(histogram, self.generalization, owner=type(self).__name__)

    def weighted(self) -> Weighted:
        """Return the step of post-processing that divides by the rate, for ``release(..., post=[...])``."""
        return Weighted(self.rate)

    def estimate(self, release: Release) -> Values:
        """Return published counts divided by the rate; NaN where a count is suppressed.

        For a count that would be published whatever is drawn it is unbiased; suppression lowers the others.
        """
        counts = whole_counts(release.histogram, owner=f"{type(self).__name__}.estimate")
        hidden = False if release.suppressed is None else release.suppressed
        return np.where(hidden, np.nan, self.weighted().apply(counts))

    def _published_table(self, histogram: Histogram) -> Histogram:
        """Return the table in the published groups, where a suppressed count is 0.

        Without steps the bias is that of the sampled counts, which are smaller than the true ones by design;
        with ``post=[self.weighted()]`` that of the estimate.
        """
        return self.coarse(histogram)

    def _publish(self, histogram: Histogram, source: Source) -> Published:
        counts = whole_counts(histogram, owner=type(self).__name__)
        drawn = draw_sample(counts, self.rate, source=source)
        small = drawn < self.k
        if histogram.cells is not None:
            seen = ~small
            kept = Histogram.of_cells(histogram.cells[seen], drawn[seen], histogram.schema)
            return Published(kept, np.zeros(int(seen.sum()), np.bool_))
        return Published(histogram.with_counts(np.where(small, 0, drawn)), small)

    def _bias(self, histogram: Histogram, post: Sequence[Any]) -> Values | None:
        weights = {(): 1.0, (self.weighted(),): float(1 / self.rate)}
        weight = weights.get(tuple(post)) if all(isinstance(step, Weighted) for step in post) else None
        if weight is None:
            return None
        counts = whole_counts(histogram, owner=type(self).__name__)
        return sampled_moments(counts, self.k, float(self.rate), weight=weight).bias

    def _variance(self, histogram: Histogram) -> Values:
        counts = whole_counts(histogram, owner=type(self).__name__)
        return sampled_moments(counts, self.k, float(self.rate)).variance


def draw_sample(counts: npt.NDArray[np.int64], rate: Fraction, *, source: Source) -> npt.NDArray[np.int64]:
    """Return how many of each count are sampled: one exact draw for each person.

    Memory is that of the counts and a constant. The time tells how many people there are.

    Parameters
    ----------
    counts : array of int64
        How many people each cell has; below 1 means nobody.
    rate : Fraction
        A multiple of 2**-64 from 0 to 1.
    source : Source
        Where the randomness comes from.

    Raises
    ------
    LimitExceededError
        If there are more people than `MOST_SAMPLED`, which no table of people has.

    Examples
    --------
    >>> from fractions import Fraction
    >>> from evenhand.privacy.randomness import SeededSource
    >>> draw_sample(np.array([10_000, 0]), Fraction(1, 4), source=SeededSource(1)).round(-2)
    array([2500,    0])
    """
    ends = np.maximum(counts.reshape(-1), 0)
    if ends.sum(dtype=np.float64) > MOST_SAMPLED:
        raise LimitExceededError(
            f"A table of more than {MOST_SAMPLED:,} people cannot be sampled person by person. "
            "Hint: are these counts of people?",
            limit="MOST_SAMPLED",
        )
    np.cumsum(ends, out=ends)
    drawn = np.zeros(ends.size, np.int64)
    total = int(ends[-1]) if ends.size else 0
    for start in range(0, total, _CHUNK):
        size = min(_CHUNK, total - start)
        taken = start + np.flatnonzero(bernoulli(rate, size=size, source=source))
        np.add.at(drawn, np.searchsorted(ends, taken, side="right"), 1)
    return drawn.reshape(counts.shape)
