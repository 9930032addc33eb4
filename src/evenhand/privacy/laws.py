"""The laws of noise: probabilities, tails and variances, accurate far into both tails.

A law describes noise; it is what bias, variance and flip probabilities are computed from. The discrete
laws are drawn exactly and may be released. The continuous ones are *idealized*: no computer adds a real
number to a real number, so they serve in simulations and comparisons and are refused in releases.

Values are floats. They are within one part in 10**12 of the truth wherever they are above 1e-290, also
far from 0 and close to it.
"""

from __future__ import annotations

import functools
import math
from abc import ABC, abstractmethod
from dataclasses import dataclass, fields
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np

from evenhand._lazy import lazy
from evenhand.errors import InvalidParameterError
from evenhand.privacy.randomness import SeededSource
from evenhand.privacy.rational import Number, exact
from evenhand.privacy.sampling import discrete_gaussian, discrete_laplace

if TYPE_CHECKING:
    import numpy.typing as npt

    from evenhand.privacy.randomness import Source
    from evenhand.privacy.sampling import Size

    Values = npt.NDArray[np.float64]

__all__ = ["DiscreteGaussian", "DiscreteLaplace", "Gaussian", "Laplace", "Law"]

special = lazy("scipy.special")

_SMALLEST, _LARGEST = Fraction(1, 10**100), Fraction(10**100)
_SELF_DUAL = 1 / (2 * math.pi)  # squared scale at which a sum over integers and its dual converge alike
_SUMMED_BELOW = 1e6  # squared scale up to which tails are summed; above, Euler and Maclaurin's formula


@dataclass(frozen=True)
class Law(ABC):
    """A law of noise, symmetric about 0.

    Attributes
    ----------
    idealized : bool
        True if the law can only be approximated by a computer: simulations only.
    support : {"integers", "reals"}
        Where the noise lives.
    """

    idealized: ClassVar[bool]
    support: ClassVar[Literal["integers", "reals"]]
    _gap: ClassVar[int]  # from one value to the next

    def __post_init__(self) -> None:
        for field in fields(self):
            given = getattr(self, field.name)
            value = exact(given, name=field.name, owner=type(self).__name__, above=0)
            if not _SMALLEST <= value <= _LARGEST:
                owner, must_be = type(self).__name__, "a number from 1e-100 to 1e100"
                raise InvalidParameterError(field.name, owner=owner, must_be=must_be, got=given)
            object.__setattr__(self, field.name, value)

    def cdf(self, x: npt.ArrayLike) -> Values:
        """Return the probability of noise of at most `x`."""
        place = self._lower_end(x)
        return np.where(place < 0, self._beyond(-place), 1 - self._beyond(place + self._gap))[()]

    def sf(self, x: npt.ArrayLike) -> Values:
        """Return the probability of noise above `x`, accurate where it is tiny."""
        place = self._lower_end(x)
        return np.where(place < 0, 1 - self._beyond(-place), self._beyond(place + self._gap))[()]

    @property
    @abstractmethod
    def variance(self) -> float:
        """The variance of the noise."""

    @property
    def standard_deviation(self) -> float:
        """The square root of the variance."""
        return math.sqrt(self.variance)

    @abstractmethod
    def draw(self, *, size: Size, source: Source) -> npt.NDArray[Any]:
        """Draw noise of this law."""

    @abstractmethod
    def _beyond(self, x: Values) -> Values:
        """Return the probability of noise of at least `x`, for x > 0; any number for other x."""

    def _lower_end(self, x: npt.ArrayLike) -> Values:
        """Return the largest value of at most `x` that noise can have."""
        place = np.asarray(x, dtype=np.float64)
        return np.floor(place) if self._gap else place


class _IntegerLaw(Law):
    idealized = False
    support = "integers"
    _gap = 1

    def pmf(self, k: npt.ArrayLike) -> Values:
        """Return the probability of noise equal to `k`, which is 0 unless `k` is whole."""
        place = np.asarray(k, dtype=np.float64)
        between = np.abs(place) != np.floor(np.abs(place))
        return np.where(between & ~np.isnan(place), 0.0, self._mass(np.abs(place)))[()]

    @abstractmethod
    def _mass(self, size: Values) -> Values: ...


class _RealLaw(Law):
    idealized = True
    support = "reals"
    _gap = 0

    def pdf(self, x: npt.ArrayLike) -> Values:
        """Return the density at `x`."""
        return self._density(np.abs(np.asarray(x, dtype=np.float64)))[()]

    @abstractmethod
    def _density(self, size: Values) -> Values: ...

    def _check_seeded(self, source: Source) -> SeededSource:
        if not isinstance(source, SeededSource):
            raise InvalidParameterError(
                "source",
                owner=f"{type(self).__name__}.draw",
                must_be="a SeededSource, because continuous noise is for simulations only",
                got=source,
                hint=f"use Discrete{type(self).__name__} for a release.",
            )
        return source


@dataclass(frozen=True)
class DiscreteLaplace(_IntegerLaw):
    r"""Integer noise that falls off by the same factor at each step.

    .. math:: \Pr[X = j] = \frac{1 - a}{1 + a} a^{|j|}, \quad
              \Pr[X \ge m] = \frac{a^m}{1 + a} \ (m \ge 1), \quad \operatorname{Var} = \frac{2 a}{(1 - a)^2}

    where :math:`a = e^{-1/b}` and :math:`b` is ``scale``.

    Parameters
    ----------
    scale : int, float, str, Fraction or Decimal
        A number > 0. With sensitivity :math:`\Delta_1` it gives
        :math:`\varepsilon = \Delta_1 / b`.

    Examples
    --------
    >>> law = DiscreteLaplace(2)
    >>> f"{law.pmf(0):.4f} {law.sf(2):.4f} {law.variance:.3f}"
    '0.2449 0.1389 7.835'
    """

    scale: Number

    @property
    def variance(self) -> float:
        """The variance of the noise."""
        rate = 1 / float(self.scale)
        return 2 * math.exp(-rate) / math.expm1(-rate) ** 2

    def draw(self, *, size: Size, source: Source) -> npt.NDArray[np.int64]:
        """Draw noise, exactly; see :func:`~evenhand.privacy.sampling.discrete_laplace`."""
        return discrete_laplace(self.scale, size=size, source=source)

    def _mass(self, size: Values) -> Values:
        return math.tanh(1 / (2 * float(self.scale))) * _exponential(size, float(self.scale))

    def _beyond(self, x: Values) -> Values:
        return _exponential(x, float(self.scale)) / (1 + math.exp(-1 / float(self.scale)))


@dataclass(frozen=True)
class DiscreteGaussian(_IntegerLaw):
    r"""Integer noise with the bell curve at the integers.

    .. math:: \Pr[X = j] = e^{-j^2 / (2 \sigma^2)} / Z, \quad
              Z = \sum_j e^{-j^2 / (2 \sigma^2)} = \sqrt{2 \pi \sigma^2} \sum_j e^{-2 \pi^2 \sigma^2 j^2}

    where :math:`\sigma^2` is ``squared_scale``. The first sum is used for small :math:`\sigma^2`, the
    second, which is its dual, for large ones. The variance is a little below :math:`\sigma^2`.

    Parameters
    ----------
    squared_scale : int, float, str, Fraction or Decimal
        A number > 0, the `variance` argument of the sampler. With L2 sensitivity :math:`\Delta_2` it
        gives :math:`\rho = \Delta_2^2 / (2 \sigma^2)`.

    Examples
    --------
    >>> law = DiscreteGaussian(25)
    >>> f"{law.pmf(0):.5f} {law.sf(20):.3e} {law.variance:.3f}"
    '0.07979 2.006e-05 25.000'
    """

    squared_scale: Number

    @property
    def variance(self) -> float:
        """The variance of the noise, below the squared scale."""
        squared = float(self.squared_scale)
        total, second = _theta(squared)
        if squared < _SELF_DUAL:
            return second / total
        return squared - 4 * math.pi**2 * squared**2 * second / total

    def draw(self, *, size: Size, source: Source) -> npt.NDArray[np.int64]:
        """Draw noise, exactly; see :func:`~evenhand.privacy.sampling.discrete_gaussian`."""
        return discrete_gaussian(self.squared_scale, size=size, source=source)

    def _mass(self, size: Values) -> Values:
        return _bell(size, float(self.squared_scale)) / _normaliser(float(self.squared_scale))

    def _beyond(self, x: Values) -> Values:
        squared = float(self.squared_scale)
        if squared > _SUMMED_BELOW:
            return _tail_by_integral(x, math.sqrt(squared))
        tails = _tails(squared)
        place = np.clip(np.nan_to_num(x), 0, tails.size - 1).astype(np.int64)
        return np.where(np.isnan(x), x, tails[place])


@dataclass(frozen=True)
class Laplace(_RealLaw):
    r"""Real noise with density :math:`e^{-|x|/b} / (2 b)`; *idealized, simulation only*.

    Parameters
    ----------
    scale : int, float, str, Fraction or Decimal
        The number :math:`b` > 0; the variance is :math:`2 b^2`.

    Examples
    --------
    >>> f"{Laplace(2).sf(2):.5f}", Laplace(2).idealized
    ('0.18394', True)
    """

    scale: Number

    @property
    def variance(self) -> float:
        """The variance of the noise."""
        return 2 * float(self.scale) ** 2

    def draw(self, *, size: Size, source: Source) -> Values:
        """Draw noise for a simulation; refuses every source but a seeded one."""
        return self._check_seeded(source).generator().laplace(0, float(self.scale), size)

    def _density(self, size: Values) -> Values:
        return _exponential(size, float(self.scale)) / (2 * float(self.scale))

    def _beyond(self, x: Values) -> Values:
        return _exponential(x, float(self.scale)) / 2


@dataclass(frozen=True)
class Gaussian(_RealLaw):
    r"""Real noise with the normal law; *idealized, simulation only*.

    Parameters
    ----------
    squared_scale : int, float, str, Fraction or Decimal
        The variance :math:`\sigma^2` > 0.

    Examples
    --------
    >>> f"{Gaussian(4).sf(2):.5f}", Gaussian(4).standard_deviation
    ('0.15866', 2.0)
    """

    squared_scale: Number

    @property
    def variance(self) -> float:
        """The variance of the noise."""
        return float(self.squared_scale)

    def draw(self, *, size: Size, source: Source) -> Values:
        """Draw noise for a simulation; refuses every source but a seeded one."""
        return self._check_seeded(source).generator().normal(0, self.standard_deviation, size)

    def _density(self, size: Values) -> Values:
        return _bell(size, self.variance) / math.sqrt(2 * math.pi * self.variance)

    def _beyond(self, x: Values) -> Values:
        return _normal_tail(np.clip(x, 0, 100 * self.standard_deviation) / self.standard_deviation)


def _exponential(x: Values, scale: float) -> Values:
    """Return exp(-x / scale) for x >= 0, without overflow on the way to 0."""
    return np.exp(-np.clip(x, 0, 1000 * scale) / scale)


def _bell(x: Values, squared: float) -> Values:
    """Return exp(-x**2 / (2 squared)) for x >= 0, without overflow on the way to 0."""
    capped = np.minimum(x, 100 * math.sqrt(squared))
    return np.exp(-(capped / squared) * capped / 2)


def _normal_tail(x: Values) -> Values:
    tail: Values = special.erfc(x / math.sqrt(2)) / 2
    return tail


def _theta(squared: float) -> tuple[float, float]:
    """Sum exp(-c k**2) and k**2 exp(-c k**2) over all integers k, on the side where it is quick."""
    rate = 1 / (2 * squared) if squared < _SELF_DUAL else 2 * math.pi**2 * squared
    terms = [(k, math.exp(-rate * k**2)) for k in range(1, 16)]  # rate >= pi: the 4th is below 1e-20
    return 1 + 2 * math.fsum(term for _, term in terms), 2 * math.fsum(k**2 * term for k, term in terms)


def _normaliser(squared: float) -> float:
    total, _ = _theta(squared)
    return total if squared < _SELF_DUAL else total * math.sqrt(2 * math.pi * squared)


@functools.lru_cache(maxsize=16)
def _tails(squared: float) -> Values:
    """Return Pr[X >= m] for m = 0, 1, ... until it is 0, summed from the small end."""
    last = math.ceil(math.sqrt(2 * 746 * squared)) + 1
    places = np.arange(last + 1, dtype=np.float64)
    masses = _bell(places, squared) / _normaliser(squared)
    tails = np.cumsum(masses[::-1])[::-1].copy()
    tails.setflags(write=False)
    return tails


def _tail_by_integral(x: Values, scale: float) -> Values:
    r"""Sum the masses at x, x + 1, ... by Euler and Maclaurin's formula about x - 1/2.

    With :math:`f` the normal density and :math:`a = x - 1/2`:
    :math:`\int_a^\infty f + f'(a)/24 - 7 f'''(a)/5760 + 31 f^{(5)}(a)/967680`. The next term is below
    1e-17 of the sum for a scale of at least 1000 as long as the sum is not 0.
    """
    place = np.clip((x - 0.5) / scale, 0, 100)
    density = np.exp(-(place**2) / 2) / (scale * math.sqrt(2 * math.pi))
    first = -place / scale
    third = -(place**3 - 3 * place) / scale**3
    fifth = -(place**5 - 10 * place**3 + 15 * place) / scale**5
    return _normal_tail(place) + density * (first / 24 - 7 * third / 5760 + 31 * fifth / 967680)
