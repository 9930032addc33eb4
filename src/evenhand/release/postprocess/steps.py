r"""What is done to a published table afterwards: clamping, rounding, making it add up, shrinking.

No step sees the true table, so none changes what is promised. Each has a bias of its own, which is exact
where a formula is known. A step is given to ``release(..., post=[...])`` and ``bias(..., post=[...])``; the
functions of this module apply one to a release, a table or an array.

>>> from evenhand.release.postprocess.steps import nonnegative, shrink
>>> nonnegative([-3, 0, 7])
array([0, 0, 7])
>>> shrink(T=2)
Shrink(T=2.0, least=0)
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from evenhand._validate import integer, one_of
from evenhand.errors import InvalidParameterError
from evenhand.privacy.randomness import source_from
from evenhand.release.postprocess.rounding import nonnegative_sum, plain_sum, stochastic_round
from evenhand.release.table.counting import whole_or_real
from evenhand.release.table.histogram import Histogram
from evenhand.schema.values import truth

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

    from evenhand.privacy.laws import Law
    from evenhand.privacy.randomness import Source

__all__ = [
    "Integral",
    "Nonnegative",
    "Shrink",
    "Step",
    "SumTo",
    "bias_after",
    "carried_bias",
    "clamp_bias",
    "integral",
    "nonnegative",
    "optimal_temperature",
    "shrink",
    "shrink_bias",
    "sum_to",
]


@dataclass(frozen=True)
class Step(ABC):
    """One step of post-processing; it holds public parameters only."""

    name: ClassVar[str]

    @property
    @abstractmethod
    def words(self) -> str:
        """What the step does, in words, as it is written beside a published table."""

    @abstractmethod
    def apply(self, values: ArrayLike, *, source: Source | None = None) -> NDArray[Any]:
        """Return the values after the step.

        Parameters
        ----------
        values : array
            Published counts, whole or not.
        source : Source, optional
            Where the randomness comes from, if the step takes any; by default the operating system's.
        """

    def bias(self, counts: ArrayLike, *, law: Law) -> NDArray[np.float64] | None:
        """Return the bias of counts with noise of this law after this step; None if it has no formula."""
        return bias_after(counts, law, [self])


@dataclass(frozen=True)
class Nonnegative(Step):
    r"""Set counts below a least value to that value: :math:`\max(\ell, \tilde x)`.

    Counts near the least value come out too large on average, small groups above all;
    :func:`clamp_bias` says by how much.

    Parameters
    ----------
    least : int, default 0
        The least value, public.
    """

    name: ClassVar[str] = "nonnegative"
    least: int = field(default=0, kw_only=True)

    def __post_init__(self) -> None:
        object.__setattr__(self, "least", integer("least", self.least, owner="Nonnegative"))

    @property
    def words(self) -> str:
        """What the step does."""
        return f"counts below {self.least} set to {self.least}"

    def apply(self, values: ArrayLike, *, source: Source | None = None) -> NDArray[Any]:  # noqa: ARG002 - none drawn
        """Return the values, those below the least one raised to it."""
        raised: NDArray[Any] = np.maximum(_values(values), self.least)
        return raised


@dataclass(frozen=True)
class Integral(Step):
    """Round at random to whole numbers, so that the expectation is the value.

    It adds no bias, and at most 1/4 to the variance of a count. Whole numbers stay as they are.
    """

    name: ClassVar[str] = "integral"

    @property
    def words(self) -> str:
        """What the step does."""
        return "rounded at random to whole numbers"

    def apply(self, values: ArrayLike, *, source: Source | None = None) -> NDArray[Any]:
        """Return whole numbers; the probabilities are exact."""
        return stochastic_round(_values(values), source=source_from(source))


@dataclass(frozen=True)
class SumTo(Step):
    r"""Change counts as little as possible, in squares, so that they add up to a total.

    Without further conditions every count moves by the same, :math:`(S - \sum_j \tilde x_j) / n`, which
    changes no difference between two counts. With `nonnegative`, counts that would fall below 0 stay there
    and the others make up for it, so large and small counts no longer move alike.

    Parameters
    ----------
    total : int or float
        The total, which must be public or published under its own guarantee: the true one is private.
    nonnegative : bool, default False
        Whether no count may come out below 0.
    """

    name: ClassVar[str] = "sum-to"
    total: float
    nonnegative: bool = field(default=False, kw_only=True)

    def __post_init__(self) -> None:
        least = 0.0 if self.nonnegative else -math.inf
        object.__setattr__(self, "total", _finite("total", self.total, owner="SumTo", least=least))
        truth("nonnegative", self.nonnegative, owner="SumTo")

    @property
    def words(self) -> str:
        """What the step does."""
        condition = ", none below 0" if self.nonnegative else ""
        return f"moved to add up to {self.total:,.15g}{condition}"

    def apply(self, values: ArrayLike, *, source: Source | None = None) -> NDArray[Any]:  # noqa: ARG002 - none drawn
        """Return the nearest values that add up."""
        given = _values(values)
        return nonnegative_sum(given, self.total) if self.nonnegative else plain_sum(given, self.total)


@dataclass(frozen=True)
class Shrink(Step):
    r"""Clamp, then lower small counts more than large ones, so that clamping pushes up less on average.

    .. math:: \bar x = \max(\ell, \tilde x), \quad \hat x = \max(\ell, \bar x - \frac{T}{\bar x + 1 - \ell})

    :func:`optimal_temperature` gives the :math:`T` with the smallest worst bias of a count, from the noise
    alone. For another figure, such as alpha or what a budget pays out, another :math:`T` can be better, and
    the clamp alone too: compare them for the decision at hand.

    Parameters
    ----------
    T : float
        The temperature, at least 0; 0 is :class:`Nonnegative`.
    least : int, default 0
        The least value, public.

    References
    ----------
    .. [1] Fioretto, Tran, Van Hentenryck (2021). Decision making with differential privacy under a
           fairness lens. IJCAI.
    """

    name: ClassVar[str] = "shrink"
    T: float
    least: int = field(default=0, kw_only=True)

    def __post_init__(self) -> None:
        object.__setattr__(self, "T", _finite("T", self.T, owner="Shrink", least=0.0))
        object.__setattr__(self, "least", integer("least", self.least, owner="Shrink"))

    @property
    def words(self) -> str:
        """What the step does."""
        return f"counts below {self.least} set to {self.least}, small ones shrunk with T = {self.T:.6g}"

    def apply(self, values: ArrayLike, *, source: Source | None = None) -> NDArray[Any]:  # noqa: ARG002 - none drawn
        """Return the shrunken values."""
        clamped = np.maximum(_values(values), self.least).astype(np.float64)
        lowered: NDArray[np.float64] = np.maximum(clamped - self.T / (clamped + 1 - self.least), self.least)
        return lowered


# --- the short forms ---------------------------------------------------------------------------------


def nonnegative(table: Any = None, *, least: int = 0) -> Any:
    """Apply :class:`Nonnegative` to a Release, a Histogram or an array; without one, return the step."""
    return _applied(Nonnegative(least=least), table)


def integral(table: Any = None, *, rng: Any = None) -> Any:
    """Apply :class:`Integral` to a Release, a Histogram or an array; without one, return the step.

    Parameters
    ----------
    table : Release, Histogram or array, optional
        What is rounded.
    rng : None, int, Generator or Source
        Nothing for the operating system's secure source.

    Examples
    --------
    >>> integral([0.25, 2.0, -1.5], rng=1)
    array([ 0,  2, -2])
    """
    return _applied(Integral(), table, rng=rng)


def sum_to(table: Any = None, *, total: float, nonnegative: bool = False) -> Any:
    """Apply :class:`SumTo` to a Release, a Histogram or an array; without one, return the step.

    Examples
    --------
    >>> sum_to([-3.0, 1.0, 8.0], total=9)
    array([-2.,  2.,  9.])
    >>> sum_to([-3.0, 1.0, 8.0], total=9, nonnegative=True)
    array([0., 1., 8.])
    """
    return _applied(SumTo(total, nonnegative=nonnegative), table)


def shrink(table: Any = None, *, T: float, least: int = 0) -> Any:  # noqa: N803 - the name it has in the literature
    """Apply :class:`Shrink` to a Release, a Histogram or an array; without one, return the step."""
    return _applied(Shrink(T, least=least), table)


def _applied(step: Step, table: Any, *, rng: Any = None) -> Any:
    from evenhand.release.table.released import Release  # noqa: PLC0415 - releases take steps

    if table is None:
        return step
    source = source_from(rng)
    if isinstance(table, Release):
        return table.processed([step], source=source)
    if isinstance(table, Histogram):
        counts = table.require_dense(owner=type(step).__name__)
        return table.with_counts(step.apply(counts, source=source))
    return step.apply(table, source=source)


def _values(values: ArrayLike) -> NDArray[Any]:
    return whole_or_real(values, parameter="values", owner="Step.apply")


def _finite(name: str, value: Any, *, owner: str, least: float) -> float:
    number = isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool)
    if not number or not math.isfinite(value) or value < least:
        must_be = "a finite number" if least == -math.inf else "a finite number of at least 0"
        raise InvalidParameterError(name, owner=owner, must_be=must_be, got=value)
    return float(value)


# --- the biases ---------------------------------------------------------------------------------------


def clamp_bias(counts: ArrayLike, law: Law, *, least: int = 0) -> NDArray[np.float64]:
    r"""Return the exact bias of counts with noise of a law after :class:`Nonnegative`.

    With :math:`d = x - \ell \ge 0`:

    .. math:: \frac b2 e^{-d/b}, \quad \sigma \varphi(d / \sigma) - d\, \Phi(-d / \sigma), \quad
              \frac{a^{d + 1}}{1 - a^2}, \quad \sum_{j > d} (j - d) \Pr[X = j]

    for Laplace, Gaussian, discrete Laplace (:math:`a = e^{-1/b}`) and discrete Gaussian noise. Below the
    least value the bias is :math:`|d|` and that of :math:`|d|`.

    Parameters
    ----------
    counts : array
        True counts. The result is as private as they are.
    law : Law
        The noise; a law of :mod:`evenhand.privacy.laws`.
    least : int, default 0
        The least value.

    Examples
    --------
    >>> from evenhand.privacy.laws import DiscreteLaplace
    >>> clamp_bias([0, 3, 100], DiscreteLaplace(2)).round(4)
    array([0.9595, 0.2141, 0.    ])
    """
    from evenhand.release.postprocess.bias import clamped  # noqa: PLC0415 - imports scipy

    return clamped(counts, law, least=least)


def shrink_bias(
    counts: ArrayLike,
    law: Law,
    *,
    T: float,  # noqa: N803 - the name it has in the literature
    least: int = 0,
) -> NDArray[np.float64]:
    """Return the bias of counts with noise of a law after :class:`Shrink`.

    Exponential integrals for Laplace noise, quadrature for Gaussian noise, sums over whole numbers for the
    discrete laws; within 1e-12 times the scale of the truth.

    Parameters
    ----------
    counts : array
        True counts. The result is as private as they are.
    law : Law
        The noise.
    T : float
        The temperature.
    least : int, default 0
        The least value.

    Examples
    --------
    >>> from evenhand.privacy.laws import Laplace
    >>> shrink_bias([0, 3], Laplace(2), T=1).round(6)
    array([ 0.835083, -0.001512])
    """
    from evenhand.release.postprocess.bias import shrunk  # noqa: PLC0415 - imports scipy

    return shrunk(counts, law, Shrink(T, least=least))


def bias_after(counts: ArrayLike, law: Law, steps: Sequence[Step]) -> NDArray[np.float64] | None:
    """Return the exact bias of counts with independent noise of a law after these steps.

    None where no formula is known: where cells are clamped or shrunk after they were made to add up, or are
    made to add up with none below 0 in a table of more than two cells. It is then sampled.

    Parameters
    ----------
    counts : array
        True counts. The result is as private as they are.
    law : Law
        The noise on each count.
    steps : sequence of Step
        The steps, in order.
    """
    from evenhand.release.postprocess.bias import chained  # noqa: PLC0415 - imports scipy

    return chained(counts, law, tuple(steps))


def carried_bias(bias: ArrayLike, counts: ArrayLike, steps: Sequence[Step]) -> NDArray[np.float64] | None:
    """Return the exact bias of a table after these steps from its bias before them, whatever published it.

    Rounding and sums without further conditions are known by the expectations alone. None with any other
    step. Every cell must be published: a sum is taken over the cells that are.

    Parameters
    ----------
    bias : array
        Expected published minus true before the steps, in the shape of the table.
    counts : array
        True counts.
    steps : sequence of Step
        The steps, in order.

    Examples
    --------
    >>> carried_bias([3.0, -1.0], [10, 20], [SumTo(30), Integral()])
    array([ 2., -2.])
    """
    from evenhand.release.postprocess.bias import carried  # noqa: PLC0415 - imports scipy

    return carried(bias, counts, tuple(steps))


def optimal_temperature(law: Law | float, *, minimize: str = "worst bias") -> float:
    r"""Return the temperature at which :class:`Shrink` has the smallest worst bias, or alpha, of all counts.

    .. math:: T^* = \arg\min_T \max_{x \ge \ell} |B(x)|, \quad
              T_\alpha = \arg\min_T \big( \max_{x \ge \ell} B(x) - \min_{x \ge \ell} B(x) \big), \quad
              B(x) = E[\hat x] - x

    The extremes are over all counts that are possible, so no data are needed: the temperature depends on the
    noise only and may be chosen before the table is seen. For Laplace noise of a large scale :math:`b`,
    :math:`T^*` is about :math:`0.75\, b^2` and its worst bias 42 % below that of clamping, but its alpha is
    16 % above. :math:`T_\alpha` is about :math:`0.17\, b^2` and its alpha 10 % below that of clamping.

    Parameters
    ----------
    law : Law or number
        The noise; a number is the scale of Laplace noise. Where discrete noise is wider than 500, the
        real law of the same scale stands in for it, which changes less than a millionth.
    minimize : {"worst bias", "alpha"}, default "worst bias"
        Which figure is to be small: the bias of the count that is off most, or the largest difference
        between the biases of two counts.

    Examples
    --------
    >>> f"{optimal_temperature(2):.4f} {optimal_temperature(2, minimize='alpha'):.4f}"
    '3.9331 0.8554'
    """
    from evenhand.release.postprocess.temperature import best_temperature, evenest_temperature  # noqa: PLC0415 - imports scipy

    chosen = one_of("minimize", minimize, ("worst bias", "alpha"), owner="optimal_temperature")
    return best_temperature(law) if chosen == "worst bias" else evenest_temperature(law)
