"""k-anonymity by Mondrian, as agencies do it and of a random sample."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, get_args

import numpy as np

from evenhand._validate import integer, one_of
from evenhand.errors import InvalidParameterError
from evenhand.privacy.guarantees.guarantee import Guarantee
from evenhand.privacy.guarantees.units import Unit
from evenhand.privacy.rational import Number, exact, exp_bounds, log_above
from evenhand.release.delta.theorem5 import theorem_5_delta
from evenhand.release.kanonymity.generalized import generalize
from evenhand.release.kanonymity.mondrian import MOST_PEOPLE
from evenhand.release.kanonymity.reconstruct import Reconstruction, check_source, expected_counts, reconstruct
from evenhand.release.mechanisms.generalized_sampling import draw_sample
from evenhand.release.mechanisms.mechanism import Published, ReleaseMechanism, checked_unit
from evenhand.release.mechanisms.noise import central_terms

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy.typing as npt

    from evenhand.privacy.randomness import Source
    from evenhand.release.table.histogram import Histogram

    Values = npt.NDArray[np.float64]

GRID = 1 << 53
"""The sampling probability is a multiple of 1 / GRID."""

_PRINTED = (
    "Theorem 5 of zhu2023 as printed: valid and very loose, for it counts samples whose probabilities differ "
    "much instead of the chance beta that the changed record is sampled at all, and does not use k"
)


class _ClassMechanism(ReleaseMechanism):
    """A mechanism that publishes classes of people, and counts drawn from them."""

    defaults: ClassVar[Mapping[str, Any]] = {"k": 5}
    needs_quasi_identifiers: ClassVar[bool] = True

    k: int
    reconstruction: Reconstruction

    def _check_classes(self) -> None:
        owner, ways = type(self).__name__, get_args(Reconstruction)
        self._set(
            k=integer("k", self.k, owner=owner, low=1, high=MOST_PEOPLE),
            reconstruction=one_of("reconstruction", self.reconstruction, ways, owner=owner),
        )

    def _check_source(self, source: Source) -> None:
        check_source(source, self.reconstruction)

    def _publish(self, histogram: Histogram, source: Source) -> Published:
        """Return the classes and counts drawn from them; with fewer than k people all is suppressed."""
        classes = generalize(histogram, self.k)
        counts = reconstruct(classes, source=source, how=self.reconstruction)
        return Published(counts, np.full(histogram.shape, not len(classes)), classes=classes)


@dataclass(frozen=True, repr=False)
class KAnonymity(_ClassMechanism):
    r"""Merge values until at least k people share them, then give each person a value of their class.

    The quasi-identifiers of the table, or all of its columns if none is declared, are generalised by
    Mondrian (:mod:`~evenhand.release.kanonymity.mondrian`): a class has a set of labels, or an interval of
    whole numbers, in place of each value. The other columns stay as they are. The result is
    ``release.classes``; projected to the quasi-identifiers, every row appears at least :math:`k` times
    (Definition 4 of [1]_).

    For a table of counts over the declared cells, every person of a class draws a value from the class's
    set, each column apart (Algorithm 5 of [1]_, :mod:`~evenhand.release.kanonymity.reconstruct`). That is
    ``release.histogram``.

    **Guarantee.** None: the classes are a function of the people, so one person's move can change them for
    certain, and the other columns are published as they are. Unit: replace one. Proof: two tables whose
    classes differ with certainty. Numerics: exact. For studies and comparisons;
    :class:`GeneralizedSampling` is a way to publish groups of at least k people with a guarantee.

    Parameters
    ----------
    k : int
        The least number of people in a class, at least 1. With fewer people in the table there is no class:
        everything is suppressed and ``classes`` has no row.
    reconstruction : {"uniform", "as_printed"}
        How people get whole numbers of an interval: each with the same chance, or by a rounded normal draw as
        the paper prints, for simulations only.

    Notes
    -----
    The paper uses the package anonympy, whose cuts may be others than those of
    :mod:`~evenhand.release.kanonymity.mondrian`. Bias and variance are exact: the classes do not depend on
    chance, and given them every count is a sum of binomial counts.

    References
    ----------
    .. [1] Zhu, Fioretto, Van Hentenryck, Das, Task (2023). Privacy and bias analysis of disclosure avoidance
           systems. Definition 4, Algorithm 5.

    Examples
    --------
    >>> from evenhand.release.table.histogram import Histogram
    >>> from evenhand.schema import Column, Domain, Schema
    >>> schema = Schema([Column("race", Domain.categorical(["a", "b", "c"]))])
    >>> table = Histogram.of([7, 3, 1], schema)
    >>> release = KAnonymity(k=4).release(table)
    >>> release.classes.to_frame("pyarrow").to_pylist()
    [{'race': 'a', 'count': 7}, {'race': 'b | c', 'count': 4}]
    >>> KAnonymity(k=4).bias(table).values
    array([ 0., -1.,  1.])
    """

    name: ClassVar[str] = "k-anonymity"
    title: ClassVar[str] = "k-anonymity by Mondrian"
    example_parameters: ClassVar[Mapping[str, Any]] = {"k": 3}
    label: ClassVar[str] = "k-anonymity"

    k: int
    reconstruction: Reconstruction = field(default="uniform", kw_only=True)

    def __post_init__(self) -> None:
        self._check_classes()

    def guarantee_for(
        self,
        histogram: Histogram,
        *,
        epsilon: Any = None,  # noqa: ARG002 - the same for every epsilon
        as_printed: bool = False,  # noqa: ARG002 - nobody prints another
    ) -> Guarantee:
        """Return the statement that nothing is guaranteed."""
        return Guarantee.no_guarantee(
            unit=Unit.REPLACE_ONE,
            in_clear=histogram.columns,
            proof="the classes are a function of the people, and the other columns are published as they are",
        )

    def _bias(self, histogram: Histogram, post: Sequence[Any]) -> Values | None:
        if post:
            return None
        expected, _ = expected_counts(generalize(histogram, self.k), self.reconstruction)
        return expected - histogram.require_dense(owner=type(self).__name__).astype(np.float64)

    def _variance(self, histogram: Histogram) -> Values:
        return expected_counts(generalize(histogram, self.k), self.reconstruction)[1]


@dataclass(frozen=True, repr=False)
class SampledKAnonymity(_ClassMechanism):
    r"""Take each person with a probability, and publish the k-anonymous table of those who were taken.

    Everybody is in the sample with probability :math:`\beta`, apart from the others, and
    :class:`KAnonymity` does the rest (Algorithm 6 of [1]_). With `epsilon`, :math:`\beta = 1 -
    e^{-\varepsilon}`.

    **Guarantee.** :math:`(\varepsilon', \delta)` differential privacy with :math:`\delta = \beta` for every
    :math:`\varepsilon' \ge 0`; unit: replace one, or add or remove one; tight. With probability :math:`1 -
    \beta` the person who changes is not in the sample, and then nothing differs. Otherwise a class may show
    a label that only this person has: with many others in the table, that happens with a probability as
    near to :math:`\beta` as one likes, and never without the person, so no larger epsilon helps. A delta of
    this size is no meaningful protection. Numerics: exact, :math:`\beta` is rounded down to a multiple of
    :math:`2^{-53}`. May be used for release; :class:`GeneralizedSampling` has a small delta.

    Parameters
    ----------
    k : int
        The least number of people in a class, at least 1. If fewer are sampled, everything is suppressed.
    epsilon : int, float, str, Fraction or Decimal, optional
        Sets :math:`\beta`; above 0.
    beta : int, float, str, Fraction or Decimal, optional
        The probability that a person is sampled, above 0 and below 1. Give this or `epsilon`.
    unit : {"replace one", "add or remove one"}
        What may change between two tables that are compared.
    reconstruction : {"uniform", "as_printed"}
        As for :class:`KAnonymity`.

    Notes
    -----
    Theorem 5 of [1]_ prints a much larger delta (0.9061 for ``epsilon=1``, where 0.6321 is exact);
    ``guarantee_for(..., as_printed=True)`` has it. Counts are those of the sample: they are not scaled up, so
    everything comes out about :math:`\beta` times as large, and the bias says so. The bias is sampled.

    References
    ----------
    .. [1] Zhu, Fioretto, Van Hentenryck, Das, Task (2023). Privacy and bias analysis of disclosure avoidance
           systems. Algorithm 6, Theorem 5.

    Examples
    --------
    >>> mechanism = SampledKAnonymity(k=6, epsilon=1)
    >>> f"{float(mechanism.rate):.4f}"
    '0.6321'
    """

    name: ClassVar[str] = "sampled-k-anonymity"
    title: ClassVar[str] = "k-anonymity of a random sample"
    example_parameters: ClassVar[Mapping[str, Any]] = {"k": 3, "epsilon": 1}
    label: ClassVar[str] = "Sampled k-anonymity"
    in_place_of_epsilon: ClassVar[tuple[str, ...]] = ("beta",)

    k: int
    epsilon: Any = field(default=None, kw_only=True)
    beta: Any = field(default=None, kw_only=True)
    unit: Unit | str = field(default=Unit.REPLACE_ONE, kw_only=True)
    reconstruction: Reconstruction = field(default="uniform", kw_only=True)

    def __post_init__(self) -> None:
        owner = type(self).__name__
        if (self.epsilon is None) == (self.beta is None):
            must_be = "given, or beta, but not both"
            raise InvalidParameterError("epsilon", owner=owner, must_be=must_be, got=self.epsilon)
        self._check_classes()
        self._set(unit=checked_unit(self.unit, owner=owner))
        name = "beta" if self.epsilon is None else "epsilon"
        self._set(**{name: exact(getattr(self, name), name=name, owner=owner, above=0)})
        if self.beta is not None and self.beta >= 1:
            must_be = "a number above 0 and below 1"
            raise InvalidParameterError("beta", owner=owner, must_be=must_be, got=self.beta)
        if not self.rate:
            must_be = "large enough that a sampling probability of 53 bits is above 0"
            raise InvalidParameterError(name, owner=owner, must_be=must_be, got=getattr(self, name))

    @cached_property
    def rate(self) -> Fraction:
        r"""The probability :math:`\beta` that a person is sampled, a multiple of 2**-53."""
        wanted = 1 - exp_bounds(-self.epsilon)[1] if self.beta is None else self.beta
        return Fraction(math.floor(wanted * GRID), GRID)

    def guarantee_for(
        self, histogram: Histogram, *, epsilon: Number | None = None, as_printed: bool = False
    ) -> Guarantee:
        r"""Return what a release of this table promises to one person.

        Parameters
        ----------
        histogram : Histogram
            The table.
        epsilon : number, optional
            The epsilon at which delta is stated, 0 unless told. Delta is the same at every epsilon.
        as_printed : bool
            Return Theorem 5 of the paper instead, at the mechanism's own epsilon unless told; for
            ``beta``, at :math:`-\ln(1 - \beta)`.
        """
        owner = f"{type(self).__name__}.guarantee_for"
        given = None if epsilon is None else exact(epsilon, name="epsilon", owner=owner, least=0)
        terms = central_terms(histogram, self.unit)
        if as_printed:
            own = self.epsilon if self.beta is None else log_above(1 / (1 - self.rate))
            amount = own if given is None else given
            delta = theorem_5_delta(amount, beta=self.rate, bound=histogram.bound)
            return Guarantee.approximate(amount, Fraction(delta), **terms, proof=_PRINTED)
        proof = "sampling: with probability 1 - beta the person who changes is not in the sample"
        return Guarantee.approximate(given or 0, self.rate, **terms, tight=True, proof=proof)

    def _publish(self, histogram: Histogram, source: Source) -> Published:
        counts = draw_sample(histogram.stored, self.rate, source=source)
        return super()._publish(histogram.with_counts(counts), source)
