"""Tables with noise on every count: discrete Laplace and discrete Gaussian, both drawn exactly."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from evenhand._validate import integer
from evenhand.errors import InvalidParameterError
from evenhand.privacy import laws
from evenhand.privacy.contributions import assumed_rows
from evenhand.privacy.guarantees.guarantee import Guarantee
from evenhand.privacy.guarantees.in_clear import leak_of_domains
from evenhand.privacy.guarantees.units import Unit
from evenhand.privacy.rational import Number, exact
from evenhand.privacy.scales import GaussianNoise, LaplaceNoise, gaussian_noise, laplace_noise
from evenhand.privacy.zcdp import delta_from_zcdp
from evenhand.release.delta.noise import calibrated_variance, exact_delta, laplace_delta, printed_delta
from evenhand.release.mechanisms.mechanism import Published, ReleaseMechanism, checked_unit
from evenhand.release.postprocess.steps import absolute_error_after, bias_after
from evenhand.schema.roles import MOST_ROWS_PER_PERSON
from evenhand.schema.text import listed

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy.typing as npt

    from evenhand.privacy.randomness import Source
    from evenhand.release.table.histogram import Histogram

    Values = npt.NDArray[np.float64]

_ONE_CELL = "each person is counted in one cell"
_ONE_CELL_EACH = "each row is counted in one cell"
_VALUES_PUBLIC = "the columns and the values they may have are public"

LARGEST_COUNT = 1 << 62
"""Counts beyond this are held at it: with noise, which stays below 2**58, nothing wraps around in 64 bits."""

_HALVINGS = 40
_PRINTED = "zhu2023, as printed: L2 sensitivity 2, which is more than a table has, and the simple bound"


def assumptions_of(histogram: Histogram, *, public: str = _VALUES_PUBLIC) -> tuple[str, ...]:
    """Return what the guarantee of noise on a table assumes of the rows and of its columns.

    A person whom a rule leaves out is in no cell. One count then changes by 1 where a person is replaced by
    one who is left out, and two do where the person moves, so noise for the latter covers the former.

    Parameters
    ----------
    histogram : Histogram
        The table.
    public : str
        What is said of its cells where they were declared.
    """
    several = histogram.repeats is not None or (histogram.schema.rows_per_person or 1) > 1
    one_cell = _ONE_CELL_EACH if several else _ONE_CELL
    if histogram.may_drop:
        one_cell += f", or in none where a rule of {listed(histogram.may_drop)} leaves the row out"
    read = histogram.schema.inferred
    rows = assumed_rows(histogram.schema.person, histogram.schema.rows_per_person)
    return rows, one_cell, leak_of_domains(read) if read else public


def central_terms(histogram: Histogram, unit: Unit | str, *, public: str = _VALUES_PUBLIC) -> dict[str, Any]:
    """Return what a guarantee for all columns of a table says besides its amount and its proof."""
    people = histogram.schema.person is not None and unit == Unit.REPLACE_ONE
    return {
        "unit": Unit.ONE_PERSON if people else unit,
        "trust": "central",
        "protects": histogram.columns,
        "assumptions": assumptions_of(histogram, public=public),
    }


def cells_moved(unit: Unit) -> int:
    """Return how many counts of a table one person moves by 1.

    >>> cells_moved(Unit.REPLACE_ONE), cells_moved(Unit.ADD_OR_REMOVE_ONE)
    (2, 1)
    """
    return 2 if unit is Unit.REPLACE_ONE else 1


def checked_rows(rows: int, *, owner: str) -> int:
    """Return how many rows of one person noise is to cover."""
    return integer("rows_per_person", rows, owner=owner, low=1, high=MOST_ROWS_PER_PERSON)


def _rho_within(epsilon: Fraction, delta: Fraction) -> Fraction:
    """Return a rho, hardly smaller than the largest, that implies this epsilon and delta.

    >>> rho = _rho_within(Fraction(1), Fraction(1, 10**6))
    >>> float(delta_from_zcdp(rho, 1)) <= 1e-6 < float(delta_from_zcdp(rho * (1 + Fraction(1, 10**9)), 1))
    True
    """
    low, high = Fraction(0), epsilon
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if delta_from_zcdp(middle, epsilon) <= delta else (low, middle)
    if not low:
        must_be = "large enough beside 'delta' for a noise that can be drawn"
        raise InvalidParameterError("epsilon", owner="DiscreteGaussian", must_be=must_be, got=float(epsilon))
    return low


def clip_counts(counts: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
    """Return the counts within the limits that leave room for noise; nobody's count ever reaches them."""
    within: npt.NDArray[np.int64] = np.clip(counts, -LARGEST_COUNT, LARGEST_COUNT)
    return within


class _Noisy(ReleaseMechanism):
    """Independent integer noise of one law on every cell of the table, empty or not."""

    @property
    @abstractmethod
    def law(self) -> laws.DiscreteLaplace | laws.DiscreteGaussian: ...

    def _publish(self, histogram: Histogram, source: Source) -> Published:
        noisy = self.law.draw(size=histogram.shape, source=source)
        noisy += clip_counts(histogram.require_dense(owner=type(self).__name__))
        return Published(histogram.with_counts(noisy))

    def _bias(self, histogram: Histogram, post: Sequence[Any]) -> Values | None:
        counts = histogram.require_dense(owner=type(self).__name__)
        return bias_after(counts, self.law, post) if post else np.zeros(counts.shape)

    def _variance(self, histogram: Histogram) -> Values:
        return np.full(histogram.shape, self.law.variance)

    def _absolute_error(self, histogram: Histogram, post: Sequence[Any]) -> Values | None:
        return absolute_error_after(histogram.require_dense(owner=type(self).__name__), self.law, post)


class NoiseForPeople(ReleaseMechanism):
    """A mechanism whose noise covers several rows of one person.

    Of a person who is replaced, up to m rows leave the table and up to m others come: the counts change by at
    most 2 m in all, and their squares by at most 2 m², where all rows stand in one cell. Of one who is added
    or removed, it is m and m².
    """

    rows_per_person: int

    def for_table(self, histogram: Histogram) -> Self:
        """Return the mechanism with noise for as many rows as one person may have in this table."""
        most = histogram.schema.rows_per_person or 1
        if most <= self.rows_per_person:
            return self
        return replace(self, rows_per_person=most)  # type: ignore[call-arg]


class LaplaceMechanism(NoiseForPeople):
    """A mechanism that adds discrete Laplace noise, of a scale that follows from epsilon and the unit."""

    epsilon: Fraction
    unit: Unit

    def _set_noise(self, epsilon: Number, unit: Unit | str, rows_per_person: int) -> None:
        owner = type(self).__name__
        self._set(
            epsilon=exact(epsilon, name="epsilon", owner=owner, above=0, most=1_000_000),
            unit=checked_unit(unit, owner=owner),
            rows_per_person=checked_rows(rows_per_person, owner=owner),
        )
        _ = self.noise  # refuses an epsilon whose noise cannot be drawn

    @cached_property
    def noise(self) -> LaplaceNoise:
        """The scale of the noise as it is drawn, and the epsilon of that."""
        return laplace_noise(self.epsilon, sensitivity=cells_moved(self.unit) * self.rows_per_person)

    @cached_property
    def law(self) -> laws.DiscreteLaplace:
        """The law of the noise on one count."""
        return laws.DiscreteLaplace(self.noise.scale)

    def guarantee_for(
        self,
        histogram: Histogram,
        *,
        epsilon: Any = None,
        as_printed: bool = False,  # noqa: ARG002 - what is printed is right
    ) -> Guarantee:
        """Return what a release of this table promises; with `epsilon`, the delta at that smaller epsilon."""
        mechanism = self.for_table(histogram)
        if mechanism is not self:
            return mechanism.guarantee_for(histogram, epsilon=epsilon)
        claimed, delta = self.noise.epsilon, Fraction(0)
        if epsilon is not None and self.rows_per_person == 1:  # of several rows only the whole is known
            owner = f"{type(self).__name__}.guarantee_for"
            claimed = min(claimed, exact(epsilon, name="epsilon", owner=owner, least=0))
            delta = laplace_delta(self.noise.scale, claimed, cells=cells_moved(self.unit))
        return Guarantee(
            epsilon=claimed,
            delta=delta,
            tight=self._is_tight(histogram, delta),
            proof=self.title,
            **central_terms(histogram, self.unit),
        )

    def _is_tight(self, histogram: Histogram, delta: Fraction) -> bool:  # noqa: ARG002 - for subclasses
        """Return whether the loss is attained by two tables of these cells."""
        return histogram.size >= cells_moved(self.unit)


@dataclass(frozen=True, init=False, repr=False)
class Laplace(LaplaceMechanism, _Noisy):
    r"""Add discrete Laplace noise to every count.

    .. math:: \tilde x_i = x_i + \eta_i, \quad \Pr[\eta_i = j] = \frac{1 - a}{1 + a} a^{|j|}, \quad
              a = e^{-1/b}, \quad b = \Delta_1 / \varepsilon

    where :math:`\varepsilon` is ``epsilon`` and :math:`\Delta_1` is 2 when one person is replaced by another,
    who leaves one cell and enters a second one, and 1 when one person is added or removed.

    **Guarantee.** Pure central differential privacy with ``epsilon``; unit: as given; tight (met where a
    person moves). Assumes that each person is in one cell and the cells are public. Proof: the
    Laplace mechanism on whole numbers. Numerics: exact; the scale is rounded up to a rational that can be
    drawn, which is at most one part in a billion more noise. May be used for release.

    Parameters
    ----------
    epsilon : int, float, str, Fraction or Decimal
        Privacy parameter, > 0. ``0.1`` and ``"1/10"`` mean one tenth exactly.
    unit : {"replace one", "add or remove one"}
        What may change between two tables that are to look alike. With ``"replace one"`` the number of people
        is public.
    rows_per_person : int, default 1
        How many rows one person may have in the table; the noise grows with it. A table that was counted by
        a schema with the role `person` brings its own.

    Examples
    --------
    >>> from evenhand.release.table.histogram import Histogram
    >>> from evenhand.schema import Column, Domain, Schema
    >>> schema = Schema([Column("tenure", Domain.categorical(["own", "rent", "free"]))])
    >>> table = Histogram.of([120, 14, 0], schema)
    >>> laplace = Laplace(epsilon=1, unit="replace one")
    >>> laplace.release(table)
    <Release of 3 cells by Laplace(epsilon=1, unit='replace one')>
    >>> f"{laplace.variance(table).values[0]:.3f}", laplace.alpha(table)
    ('7.835', 0.0)
    """

    name: ClassVar[str] = "laplace"
    title: ClassVar[str] = "discrete Laplace noise"
    example_parameters: ClassVar[Mapping[str, Any]] = {"epsilon": 1, "unit": Unit.REPLACE_ONE}
    label: ClassVar[str] = "Laplace noise"
    may_be_negative: ClassVar[bool] = True

    epsilon: Fraction
    unit: Unit
    rows_per_person: int = field(default=1, kw_only=True)

    def __init__(self, epsilon: Number, *, unit: Unit | str, rows_per_person: int = 1) -> None:
        self._set_noise(epsilon, unit, rows_per_person)


@dataclass(frozen=True, init=False, repr=False)
class DiscreteGaussian(NoiseForPeople, _Noisy):
    r"""Add discrete Gaussian noise to every count.

    .. math:: \tilde x_i = x_i + \eta_i, \quad \Pr[\eta_i = j] \propto e^{-j^2 / 2\sigma^2}, \quad
              \sigma^2 = \Delta_2^2 / 2\rho

    where :math:`\rho` is ``rho`` and :math:`\Delta_2^2` is 2 when one person is replaced by another and 1
    when one is added or removed. Given ``epsilon`` and ``delta`` instead, :math:`\sigma^2` is chosen so that
    the exact delta of the noise at that epsilon is at most ``delta`` and hardly less.

    **Guarantee.** Zero-concentrated differential privacy with ``rho``, or :math:`(\varepsilon, \delta)` with
    the exact delta of the noise, rounded up; unit: as given; tight. Assumes that each person is in one cell
    and the cells are public. Proof: [1]_ for rho, the sum over all outcomes for delta
    (:func:`~evenhand.release.delta.noise.exact_delta`). Numerics: exact; the variance is rounded up to a
    rational that can be drawn. May be used for release.

    Parameters
    ----------
    rho : int, float, str, Fraction or Decimal, optional
        Privacy parameter, > 0. Left out when `epsilon` and `delta` are given.
    epsilon, delta : int, float, str, Fraction or Decimal, optional
        Privacy parameters: epsilon > 0, delta from 1e-100 to below 1.
    unit : {"replace one", "add or remove one"}
        What may change between two tables that are to look alike.
    rows_per_person : int, default 1
        How many rows one person may have in the table. With more than one, delta follows from rho by the
        usual conversion, which is a bound.

    Notes
    -----
    ``guarantee_for(h, epsilon=e)`` gives the exact delta at any epsilon, which is far below what the
    conversion from rho gives. With ``as_printed`` it is that of [2]_: L2 sensitivity 2 in place of the square
    root of 2, and the bound :math:`e^{-(\varepsilon - \rho)^2 / 4\rho}`.

    References
    ----------
    .. [1] Canonne, Kamath, Steinke (2020). The discrete Gaussian for differential privacy. NeurIPS.
    .. [2] Zhu, Fioretto, Van Hentenryck, Das, Task (2023). Privacy and bias analysis of disclosure
           avoidance systems.

    Examples
    --------
    >>> from evenhand.release.table.histogram import Histogram
    >>> from evenhand.schema import Column, Domain, Schema
    >>> schema = Schema([Column("tenure", Domain.categorical(["own", "rent", "free"]))])
    >>> table = Histogram.of([120, 14, 0], schema)
    >>> gaussian = DiscreteGaussian(rho="1/25", unit="replace one")
    >>> gaussian.guarantee_for(table).rho, float(gaussian.guarantee_for(table, epsilon=1).delta)
    (Fraction(1, 25), 2.28670866955554e-05)
    >>> calibrated = DiscreteGaussian(epsilon=1, delta="1e-6", unit="replace one")
    >>> f"{calibrated.law.standard_deviation:.4f}", f"{float(calibrated.guarantee_for(table).delta):.7g}"
    ('5.9766', '9.999999e-07')
    """

    name: ClassVar[str] = "discrete-gaussian"
    title: ClassVar[str] = "discrete Gaussian noise"
    example_parameters: ClassVar[Mapping[str, Any]] = {"rho": "1/10", "unit": Unit.REPLACE_ONE}
    label: ClassVar[str] = "Gaussian noise"
    defaults: ClassVar[Mapping[str, Any]] = {"delta": 1e-6}
    in_place_of_epsilon: ClassVar[tuple[str, ...]] = ("rho",)
    may_be_negative: ClassVar[bool] = True

    rho: Fraction | None = None
    epsilon: Fraction | None = None
    delta: Fraction | None = None
    unit: Unit = field(kw_only=True)
    rows_per_person: int = field(default=1, kw_only=True)

    def __init__(
        self,
        *,
        rho: Number | None = None,
        epsilon: Number | None = None,
        delta: Number | None = None,
        unit: Unit | str,
        rows_per_person: int = 1,
    ) -> None:
        owner = "DiscreteGaussian"
        pair = (epsilon is not None) + (delta is not None)
        if pair != (2 if rho is None else 0):
            must_be = "given alone, or left out with both 'epsilon' and 'delta' given"
            raise InvalidParameterError("rho", owner=owner, must_be=must_be, got="another combination")
        self._set(
            rho=None if rho is None else exact(rho, name="rho", owner=owner, above=0),
            epsilon=None if epsilon is None else exact(epsilon, name="epsilon", owner=owner, above=0),
            delta=None if delta is None else exact(delta, name="delta", owner=owner, above=0, most=1),
            unit=checked_unit(unit, owner=owner),
            rows_per_person=checked_rows(rows_per_person, owner=owner),
        )
        _ = self.noise  # refuses what cannot be drawn

    @cached_property
    def noise(self) -> GaussianNoise:
        """The variance parameter of the noise as it is drawn, and the rho of that."""
        moved, rows = cells_moved(self.unit), self.rows_per_person
        if self.rho is not None:
            return gaussian_noise(self.rho, squared_sensitivity=moved * rows**2)
        if rows > 1:
            spent = _rho_within(self.epsilon, self.delta)  # type: ignore[arg-type]
            return gaussian_noise(spent, squared_sensitivity=moved * rows**2)
        variance = calibrated_variance(self.epsilon, self.delta, cells=moved)  # type: ignore[arg-type]
        return GaussianNoise(variance, moved / (2 * variance))

    @cached_property
    def law(self) -> laws.DiscreteGaussian:
        """The law of the noise on one count."""
        return laws.DiscreteGaussian(self.noise.variance)

    def exact_delta(self, epsilon: Number) -> Fraction:
        """Return the exact delta of a release at `epsilon`, rounded up in its 15th digit.

        Where one person may have several rows, it is a bound.
        """
        if self.rows_per_person > 1:
            return delta_from_zcdp(self.noise.rho, epsilon)
        return exact_delta(self.noise.variance, epsilon, cells=cells_moved(self.unit))

    def guarantee_for(
        self, histogram: Histogram, *, epsilon: Any = None, as_printed: bool = False
    ) -> Guarantee:
        """Return what a release of this table promises.

        Parameters
        ----------
        histogram : Histogram
            The table; only its columns and its size are looked at.
        epsilon : number, optional
            State the exact delta at this epsilon. By default rho is stated, or the epsilon given at first.
        as_printed : bool
            State what the literature prints for this variance, see the notes of the class.
        """
        mechanism = self.for_table(histogram)
        if mechanism is not self:
            return mechanism.guarantee_for(histogram, epsilon=epsilon, as_printed=as_printed)
        several = self.rows_per_person > 1
        asked = self.epsilon if epsilon is None else exact(epsilon, name="epsilon", owner=type(self).__name__)
        if as_printed:
            rho = 2 * self.rows_per_person**2 / self.noise.variance
            delta = None if asked is None else printed_delta(rho, asked)
        else:
            rho = self.noise.rho
            delta = None if asked is None else self.exact_delta(asked)
        stated: dict[str, Any] = {"rho": rho} if delta is None else {"epsilon": asked, "delta": delta}
        return Guarantee(
            **stated,
            tight=histogram.size >= cells_moved(self.unit) and not as_printed and not several,
            proof=_PRINTED if as_printed else self.title,
            **central_terms(histogram, self.unit),
        )
