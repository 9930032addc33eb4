r"""What is done to a published table afterwards: clamping, rounding, making it add up, shrinking.

No step sees the true table, so none changes what is promised. Each has a bias of its own, which is exact
where a formula is known. A step is given to ``release(..., post=[...])`` and ``bias(..., post=[...])``. Plans
write a step as text, by the names of :mod:`evenhand.release.postprocess.registry`.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from evenhand._validate import integer
from evenhand.errors import InvalidParameterError
from evenhand.privacy.laws import Law
from evenhand.privacy.randomness import source_from
from evenhand.privacy.rational import exact
from evenhand.release.postprocess.noise_bias import (
    clamp_bias,
    difference_of_two,
    read_counts,
    shrink_bias,
    summed_over_noise,
)
from evenhand.release.postprocess.rounding import (
    checked_amount,
    nonnegative_sum,
    plain_sum,
    stochastic_round,
)
from evenhand.release.table.counting import whole_or_real
from evenhand.schema.values import truth

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

    from evenhand.privacy.randomness import Source

    Values = NDArray[np.float64]

_LARGEST_TOTAL = 2**53  # larger ones are not all numbers of a computer
_LARGEST_SHRINK = 10**9


@dataclass(frozen=True)
class Step(ABC):
    """One step of post-processing; it holds public parameters only."""

    name: ClassVar[str]
    amount: ClassVar[str] = ""
    """What stands behind the ``=`` of a step that is written as text, such as TOTAL; empty without one."""

    @classmethod
    def checked_text(cls, amount: str, *, owner: str) -> str | None:
        """Return an amount as a plan writes it; None if it is none that this step can have.

        Parameters
        ----------
        amount : str
            What was written behind the ``=``.
        owner : str
            Whose parameter it is, for the message of a number that is too large or too small.
        """
        raise NotImplementedError

    @classmethod
    def from_text(cls, form: str, amount: str) -> Self:
        """Return the step that a checked text stands for; `form` is its name in the registry."""
        del form, amount
        return cls()

    @property
    @abstractmethod
    def words(self) -> str:
        """What the step does, in words, as it is written beside a published table."""

    @property
    def label(self) -> str:
        """What the step does, as in the rows of a report, which are short of room."""
        return self.words

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

    @property
    def label(self) -> str:
        """What the step does, in short."""
        return "negatives set to 0" if not self.least else self.words

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

    @property
    def label(self) -> str:
        """What the step does, in short."""
        return "rounded at random"

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
    amount: ClassVar[str] = "TOTAL"
    total: float
    nonnegative: bool = field(default=False, kw_only=True)

    def __post_init__(self) -> None:
        least = 0.0 if self.nonnegative else -math.inf
        object.__setattr__(self, "total", checked_amount("total", self.total, owner="SumTo", least=least))
        truth("nonnegative", self.nonnegative, owner="SumTo")

    @classmethod
    def checked_text(cls, amount: str, *, owner: str) -> str | None:
        """Return a whole number of at least 0, as a plan writes it."""
        if not (amount.isascii() and amount.isdigit()):
            return None
        return str(int(exact(amount, name="post", owner=owner, least=0, most=_LARGEST_TOTAL)))

    @classmethod
    def from_text(cls, form: str, amount: str) -> Self:
        """Return the step with this total, none below 0 if the form says so."""
        return cls(int(amount), nonnegative=form.startswith("nonnegative"))

    @property
    def words(self) -> str:
        """What the step does."""
        condition = ", none below 0" if self.nonnegative else ""
        return f"moved to add up to {self.total:,.15g}{condition}"

    @property
    def label(self) -> str:
        """What the step does, in short."""
        return "shifted to a total, none below 0" if self.nonnegative else "shifted to a total"

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
    amount: ClassVar[str] = "T"
    T: float
    least: int = field(default=0, kw_only=True)

    def __post_init__(self) -> None:
        object.__setattr__(self, "T", checked_amount("T", self.T, owner="Shrink", least=0.0))
        object.__setattr__(self, "least", integer("least", self.least, owner="Shrink"))

    @classmethod
    def checked_text(cls, amount: str, *, owner: str) -> str | None:
        """Return a temperature above 0, as it was written."""
        exact(amount, name="post", owner=owner, above=0, most=_LARGEST_SHRINK)
        return amount

    @classmethod
    def from_text(cls, form: str, amount: str) -> Self:
        """Return the step with this temperature."""
        return cls(float(exact(amount, name="post", owner=form)))

    @property
    def words(self) -> str:
        """What the step does."""
        return f"counts below {self.least} set to {self.least}, small ones shrunk with T = {self.T:.6g}"

    @property
    def label(self) -> str:
        """What the step does, in short."""
        return "small counts lowered"

    def apply(self, values: ArrayLike, *, source: Source | None = None) -> NDArray[Any]:  # noqa: ARG002 - none drawn
        """Return the shrunken values."""
        clamped = np.maximum(_values(values), self.least).astype(np.float64)
        lowered: NDArray[np.float64] = np.maximum(clamped - self.T / (clamped + 1 - self.least), self.least)
        return lowered


@dataclass(frozen=True)
class Cut(Step):
    """Set small counts to 0, so that noise alone seldom shows anybody in an empty cell.

    Counts beyond the largest that is cut stay as they are. Cells of few people lose them on average.

    Parameters
    ----------
    most : int
        The largest count that is set to 0, public and at least 0.
    """

    name: ClassVar[str] = "cut"
    amount: ClassVar[str] = "MOST"
    least: ClassVar[int] = 0
    most: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "most", integer("most", self.most, owner="Cut", low=0, high=_LARGEST_TOTAL))

    checked_text = SumTo.checked_text

    @classmethod
    def from_text(cls, form: str, amount: str) -> Self:  # noqa: ARG003 - it has one form
        """Return the step with this largest count."""
        return cls(int(amount))

    @property
    def words(self) -> str:
        """What the step does."""
        return f"counts up to {self.most:,} set to 0"

    def apply(self, values: ArrayLike, *, source: Source | None = None) -> NDArray[Any]:  # noqa: ARG002 - none drawn
        """Return the values, small ones set to 0."""
        given = _values(values)
        kept: NDArray[Any] = np.where(given > self.most, given, 0)
        return kept


_Cellwise = Nonnegative | Shrink | Cut  # steps that bend the count of one cell


def _values(values: ArrayLike) -> NDArray[Any]:
    return whole_or_real(values, parameter="values", owner="Step.apply")


# --- biases and errors ---------------------------------------------------------------------------------


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
    true, steps = read_counts(counts), tuple(steps)
    given: object = law
    if not isinstance(given, Law):
        got = f"a value of type {type(law).__name__}"
        raise InvalidParameterError("law", owner="bias_after", must_be="a law of noise", got=got)
    first = next((place for place, step in enumerate(steps) if isinstance(step, SumTo)), len(steps))
    if not all(isinstance(step, _Cellwise | Integral | SumTo) for step in steps):
        return None
    before, after = steps[:first], steps[first:]
    bias = _cell_by_cell(true, law, before)
    for place, step in enumerate(after):
        if bias is None or isinstance(step, _Cellwise):
            return None
        if isinstance(step, SumTo):
            untouched = place == 0 and all(isinstance(earlier, Integral) for earlier in before)
            bias = _made_to_add_up(true, bias, step, law if untouched else None)
    return bias


def absolute_error_after(
    counts: ArrayLike, law: Law, steps: Sequence[Step] = ()
) -> NDArray[np.float64] | None:
    r"""Return the exact expected absolute error of whole counts with noise of a law after these steps.

    Without steps it is :math:`E|\eta|` for every count. Clamping takes its own bias off that,
    :math:`E|\max(\ell, x + \eta) - x| = E|\eta| - \text{bias}` from :math:`x = \ell` on, and below that the
    error is the bias. Rounding at random changes none of it. None where no formula is known: where cells are
    made to add up, or continuous noise is shrunk.

    Parameters
    ----------
    counts, law, steps
        As for :func:`bias_after`.

    Examples
    --------
    >>> from evenhand.privacy.laws import DiscreteLaplace
    >>> absolute_error_after([0, 3, 100], DiscreteLaplace(2), [Nonnegative()]).round(4)
    array([0.9595, 1.7049, 1.919 ])
    """
    true = read_counts(counts)
    alone = all(isinstance(step, _Cellwise | Integral) for step in steps)
    changing = _without_rounding(law, steps) if alone else None
    if changing is None:
        return None
    if all(isinstance(step, Nonnegative) for step in changing):
        spread = np.full(true.shape, 2 * clamp_bias([0], law)[0])  # the noise is symmetric
        if not changing:
            return spread
        least = max(step.least for step in changing)
        bias = clamp_bias(true, law, least=least)
        return np.where(true < least, bias, spread - bias)
    if law.support == "reals":
        return None
    distinct, places = np.unique(true, return_inverse=True)
    added = (partial(_add_error, count=count, steps=changing) for count in distinct)
    sizes = [summed_over_noise(np.array([x]), law, each) for x, each in zip(distinct, added, strict=True)]
    return np.ravel(sizes)[places].reshape(true.shape)


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
    true, carried = read_counts(counts), np.array(bias, dtype=np.float64)
    for step in steps:
        if isinstance(step, SumTo) and not step.nonnegative:
            carried = _after_a_sum(true, carried, step)
        elif not isinstance(step, Integral):
            return None
    return carried


def _after_a_sum(true: Values, bias: Values, step: SumTo) -> Values:
    moved = (step.total - float(true.sum())) / true.size
    return bias - float(bias.mean()) + moved


def _cell_by_cell(true: Values, law: Law, steps: Sequence[Step]) -> Values | None:
    """Return the bias after steps that see one cell at a time."""
    changing = _without_rounding(law, steps)
    if changing is None:
        return None
    if not changing:
        return np.zeros(true.shape)
    if all(isinstance(step, Nonnegative) for step in changing):
        return clamp_bias(true, law, least=max(step.least for step in changing))
    shrinks = [step for step in changing if isinstance(step, Shrink)]
    cuts = any(isinstance(step, Cut) for step in changing)
    if len(shrinks) == 1 and not cuts and all(step.least <= shrinks[0].least for step in changing):
        return shrink_bias(true, law, T=shrinks[0].T, least=shrinks[0].least)
    if law.support == "reals":
        return None

    return summed_over_noise(true, law, lambda values: _take_steps(values, changing))


def _add_error(values: NDArray[Any], *, count: float, steps: Sequence[Step]) -> NDArray[Any]:
    """Return the values plus the size of their errors, of which a sum over noise leaves the latter."""
    sizes: NDArray[Any] = values + np.abs(_take_steps(values, steps) - count)
    return sizes


def _take_steps(values: NDArray[Any], steps: Sequence[Step]) -> NDArray[Any]:
    for step in steps:
        values = step.apply(values)
    return values


def _without_rounding(law: Law, steps: Sequence[Step]) -> list[_Cellwise] | None:
    """Leave out rounding where it changes no expectation; None where a later step would see it."""
    kept: list[_Cellwise] = []
    whole, rounded = law.support == "integers", False
    for step in steps:
        if not isinstance(step, _Cellwise):
            rounded, whole = rounded or not whole, True
            continue
        lowest = max((earlier.least for earlier in kept), default=None)
        if isinstance(step, Nonnegative) and lowest is not None and step.least <= lowest:
            continue  # nothing is below it any more
        if rounded:
            return None
        kept.append(step)
        whole = whole and isinstance(step, Nonnegative)
    return kept


def _made_to_add_up(true: Values, bias: Values, step: SumTo, law: Law | None) -> Values | None:
    """Return the bias after a sum; `law` only where the counts carry nothing but noise of it."""
    if not step.nonnegative:
        return _after_a_sum(true, bias, step)
    if true.size == 1:
        return step.total - true
    difference = None if law is None or true.size > 2 else difference_of_two(law)
    if difference is None:
        return None
    places, masses = difference
    first, second = true.ravel()
    shares = np.clip((first - second + places + step.total) / 2, 0, step.total)
    expected = float(masses @ shares)
    return np.array([expected - first, step.total - expected - second]).reshape(true.shape)
