r"""Quasi-identifiers: which combination a cell has, and randomised response on these combinations.

Cells are numbered as in :class:`~evenhand.release.Histogram`, so that a table kept as its filled cells is
moved about in the same way as one kept as all of them.

A combination is kept with probability :math:`\gamma` and becomes each of the :math:`n - 1` others with
probability :math:`h`. Both are multiples of 2**-64; :math:`h` is rounded up and :math:`\gamma` is what is
left, so :math:`\gamma / h` never exceeds :math:`e^\varepsilon`. Bias, variance and delta below are those of
the probabilities that are really drawn. Swapping at random, be it of cells or of records, is built on it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from evenhand._validate import integer
from evenhand.errors import GuaranteeError, InvalidParameterError
from evenhand.privacy.rational import Number, exact, exp_bounds, log_above, round_up
from evenhand.privacy.sampling import bernoulli, uniform_below
from evenhand.release.mechanisms.mechanism import ReleaseMechanism, bound_assumed
from evenhand.release.mechanisms.noise import assumptions_of
from evenhand.release.postprocess.steps import Integral, Nonnegative
from evenhand.release.table.counting import Cells, cell_numbers, sum_by_cell
from evenhand.release.table.histogram import Histogram
from evenhand.schema.text import brief

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy.typing as npt

    from evenhand.privacy.randomness import Source

    Numbers = npt.NDArray[np.int64]

GRID = 1 << 64
"""Every probability is a multiple of 1 / GRID."""

_MOST_DIGITS = 640
_NOTED = Fraction(1, 10**9)
_MOST_TABLED = 1 << 20
_NUMBER_KNOWN = "the number of people and the table of the other columns are public"


@dataclass(frozen=True)
class QuasiCells:
    """The numbering of cells by their quasi-identifiers.

    Parameters
    ----------
    shape : tuple of int
        How many values each column has.
    quasi : tuple of int
        The axes of the quasi-identifiers.

    Examples
    --------
    >>> import numpy as np
    >>> cells = QuasiCells((2, 3), (0,))
    >>> cells.combinations, cells.of(np.arange(6)).tolist()
    (2, [0, 0, 0, 1, 1, 1])
    >>> cells.replace_combinations(np.array([0, 5]), np.array([1, 0])).tolist()
    [3, 2]
    """

    shape: tuple[int, ...]
    quasi: tuple[int, ...]

    @property
    def sizes(self) -> tuple[int, ...]:
        """How many values each quasi-identifier has."""
        return tuple(self.shape[axis] for axis in self.quasi)

    @property
    def combinations(self) -> int:
        """How many combinations of quasi-identifiers there are, as a Python integer."""
        return math.prod(self.sizes)

    def of(self, cells: Numbers) -> Numbers:
        """Return the number of the combination that each cell has."""
        codes = np.unravel_index(cells, self.shape)
        return cell_numbers([codes[axis] for axis in self.quasi], self.sizes)

    def offset(self, combinations: Numbers) -> Numbers:
        """Return what each combination adds to the number of a cell."""
        if self._table is not None:
            return self._table[combinations]
        return self._offset(combinations)

    def replace_combinations(self, cells: Numbers, combinations: Numbers) -> Numbers:
        """Return the cells with these combinations in place of their own."""
        return cells - self.offset(self.of(cells)) + self.offset(combinations)

    @cached_property
    def _table(self) -> Numbers | None:
        if self.combinations > _MOST_TABLED:
            return None
        return self._offset(np.arange(self.combinations))

    def _offset(self, combinations: Numbers) -> Numbers:
        offsets = np.zeros(combinations.shape, np.int64)
        for axis, codes in zip(self.quasi, np.unravel_index(combinations, self.sizes), strict=True):
            stride = int(np.prod(self.shape[axis + 1 :], dtype=np.int64))
            offsets += codes.astype(np.int64) * stride
        return offsets


class Tally:
    """Counts that change as people, or whole cells, move.

    Parameters
    ----------
    histogram : Histogram
        The table to start from.
    """

    def __init__(self, histogram: Histogram) -> None:
        self._histogram = histogram
        self._stored: Numbers | Cells = (
            histogram.filled_cells() if histogram.counts is None else histogram.counts.flatten()
        )

    def add(self, cells: Numbers, amounts: Numbers | int) -> None:
        """Add amounts to cells; a cell may be there more than once."""
        if not isinstance(self._stored, Cells):
            np.add.at(self._stored, cells, amounts)
            return
        many = np.broadcast_to(np.asarray(amounts, np.int64), cells.shape)
        numbers = np.concatenate((self._stored.cells, cells))
        self._stored = sum_by_cell(numbers, np.concatenate((self._stored.filled, many)))

    def histogram(self) -> Histogram:
        """Return the table as it stands; a sparse one does not tell which cells were filled once."""
        if not isinstance(self._stored, Cells):
            return self._histogram.with_counts(self._stored)
        cells, filled = self._stored
        return Histogram(schema=self._histogram.schema, cells=cells[filled != 0], filled=filled[filled != 0])


def require_quasi(histogram: Histogram, *, owner: str) -> QuasiCells:
    """Return the numbering of a table whose quasi-identifiers have two combinations or more."""
    cells = QuasiCells(histogram.shape, histogram.split_columns()[0])
    if cells.combinations < 2:
        raise InvalidParameterError(
            "histogram",
            owner=owner,
            must_be="a table whose quasi-identifiers have at least two combinations",
            got="one with fewer",
            hint="declare them with Schema(..., quasi_identifiers=[...]) and keep them among the columns.",
        )
    return cells


def require_people(histogram: Histogram, *, owner: str) -> int:
    """Return how many people a table of true counts holds; refuse a table that counts no people."""
    counts = histogram.stored
    if counts.size and (counts.dtype.kind == "f" or int(counts.min()) < 0):
        must_be, got = "a table of people: whole numbers of at least 0", "other numbers"
        raise InvalidParameterError("histogram", owner=owner, must_be=must_be, got=got)
    return int(histogram.people)


@dataclass(frozen=True)
class ResponseLaw:
    r"""Keep a value with probability :math:`e^\varepsilon/(e^\varepsilon+n-1)`, else take a uniform other.

    Parameters
    ----------
    values : int
        How many values there are, :math:`n \ge 2`.
    epsilon : Fraction
        Above 0.
    owner : str
        For the message when no probabilities on the grid fit.

    Examples
    --------
    >>> law = ResponseLaw(9, Fraction(1, 2), owner="example")
    >>> f"{float(law.keep):.4f} {float(law.other):.4f} {float(law.together_delta):.14f}"
    '0.1709 0.1036 0.88939115542638'
    """

    values: int
    epsilon: Fraction
    owner: str = field(compare=False, kw_only=True)

    def __post_init__(self) -> None:
        integer("values", self.values, owner=self.owner, low=2)
        if self.keep <= self.other:
            raise InvalidParameterError(
                "epsilon",
                owner=self.owner,
                must_be=f"large enough that {self.values:,} combinations of quasi-identifiers can be told "
                "apart with probabilities of 64 bits",
                got=str(self.epsilon),
                hint="take fewer or coarser quasi-identifiers, or a larger epsilon.",
            )
        self._require_private()

    @cached_property
    def other(self) -> Fraction:
        r"""The probability :math:`h` of one given other value."""
        shrunk = exp_bounds(-self.epsilon)[1]
        wanted = shrunk / (1 + (self.values - 1) * shrunk)
        return Fraction(max(1, math.ceil(wanted * GRID)), GRID)

    @cached_property
    def keep(self) -> Fraction:
        r"""The probability :math:`\gamma` that a value stays as it is."""
        return 1 - (self.values - 1) * self.other

    @property
    def ratio(self) -> Fraction:
        r"""The worst ratio between two values, :math:`\gamma / h`."""
        return self.keep / self.other

    @cached_property
    def realised_epsilon(self) -> Fraction:
        """The logarithm of the ratio, rounded up; never above `epsilon`."""
        return min(self.epsilon, log_above(self.ratio))

    @property
    def claimed_epsilon(self) -> Fraction:
        """The `epsilon` asked for, or less where the probabilities have noticeably less."""
        if self.epsilon - self.realised_epsilon > _NOTED * self.epsilon:
            return min(self.epsilon, round_up(self.realised_epsilon, digits=15))
        return self.epsilon

    @property
    def together_delta(self) -> Fraction:
        r"""One minus the chance that two values become the same one.

        .. math:: \delta = 1 - 2\gamma h - (n - 2) h^2
        """
        return 1 - 2 * self.keep * self.other - (self.values - 2) * self.other**2

    def delta_at(self, epsilon: Fraction) -> Fraction:
        r"""Return the delta of one response, :math:`(\gamma - e^{\varepsilon'} h)_+`, rounded up."""
        if epsilon >= self.realised_epsilon:
            return Fraction(0)
        return max(Fraction(0), self.keep - exp_bounds(epsilon)[0] * self.other)

    # --- errors of a table whose rows hold one entry per value -----------------------------------

    def bias(self, matrix: npt.ArrayLike) -> npt.NDArray[np.float64]:
        r"""Return expected minus true, :math:`h (S - n x)` with :math:`S` the sum of the row."""
        counts = np.asarray(matrix, dtype=np.float64)
        off: npt.NDArray[np.float64] = counts.sum(axis=1, keepdims=True) - self.values * counts
        return float(self.other) * off

    def record_variance(self, matrix: npt.ArrayLike) -> npt.NDArray[np.float64]:
        r"""Return :math:`x\gamma(1-\gamma) + (S-x)h(1-h)`: each person responds on their own."""
        return self._spread(np.asarray(matrix, dtype=np.float64))

    def cell_variance(self, matrix: npt.ArrayLike) -> npt.NDArray[np.float64]:
        r"""Return :math:`x^2\gamma(1-\gamma) + h(1-h)\sum_{j \ne i} x_j^2`: a cell moves as a whole."""
        return self._spread(np.asarray(matrix, dtype=np.float64) ** 2)

    def _spread(self, weights: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        kept, other = (float(chance * (1 - chance)) for chance in (self.keep, self.other))
        spread: npt.NDArray[np.float64] = (
            weights * kept + (weights.sum(axis=1, keepdims=True) - weights) * other
        )
        return spread

    # --- draws -----------------------------------------------------------------------------------

    def draw_moves(
        self, values: npt.NDArray[np.int64], *, source: Source
    ) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """Return the places of `values` that change, and what they become; exact.

        How many words are drawn depends on how many values there are, never on which.
        """
        flips = bernoulli(1 - self.keep, size=values.size, source=source)
        places = np.flatnonzero(flips)
        drawn = uniform_below(self.values - 1, size=places.size, source=source)
        drawn += drawn >= values[places]
        return places, drawn

    def _require_private(self) -> None:
        digits = 40
        while log_above(self.ratio, digits=digits) > self.epsilon and digits < _MOST_DIGITS:
            digits *= 2
        if log_above(self.ratio, digits=digits) > self.epsilon:
            raise GuaranteeError(
                f"The probabilities of {self.owner} do not keep epsilon = {self.epsilon}. "
                "Hint: this is a fault of evenhand, please report it; nothing was drawn."
            )


def printed_delta(values: int, epsilon: Fraction) -> Fraction:
    r"""Return the delta that Theorem 3 of zhu2023 prints, which is too small: its last sign is wrong.

    .. math:: 1 - \frac{1 - \gamma^2}{n_Q - 1} - \left(\frac{1 - \gamma}{n_Q - 1}\right)^2

    where the last term has to be added. Rounded up to 15 digits.

    Examples
    --------
    >>> [f"{float(printed_delta(9, Fraction(epsilon))):.4f}" for epsilon in ("1/2", 1, 2, 4)]
    ['0.8679', '0.8743', '0.8996', '0.9698']
    """
    shrunk = exp_bounds(-epsilon)[1]
    other = shrunk / (1 + (values - 1) * shrunk)
    keep = 1 - (values - 1) * other
    return round_up(1 - (1 - keep**2) / (values - 1) - other**2, digits=15)


def refuse_varying_total(may_drop: Sequence[str], in_clear: Sequence[str], *, owner: str) -> None:
    """Refuse to publish how many people are counted where that may depend on a column that is protected.

    Whoever is replaced by a person that a rule leaves out changes the total, which swapping publishes as it
    is: with certainty, whatever epsilon is. Where the rule is that of a column in the clear nothing is
    promised about that column anyway.

    Parameters
    ----------
    may_drop : sequence of str
        The columns whose rules may leave people out; only what is declared counts, not what happened.
    in_clear : sequence of str
        The columns of the table that are published as they are.
    owner : str
        The mechanism, for the message.
    """
    hidden = [name for name in may_drop if name not in in_clear]
    if hidden:
        raise InvalidParameterError(
            "histogram",
            owner=owner,
            must_be=f"a table from which no rule leaves people out for column '{brief(hidden[0])}', for the "
            "number of people is published as it is",
            got="one with the rule 'drop'",
            hint="declare 'other' for the column, or publish by laplace or discrete-gaussian, which hide it.",
        )


@dataclass(frozen=True, repr=False)
class QuasiResponse(ReleaseMechanism):
    """A mechanism in which combinations of quasi-identifiers go through randomised response."""

    needs_quasi_identifiers: ClassVar[bool] = True
    example_parameters: ClassVar[Mapping[str, Any]] = {"epsilon": 1}
    takes_sparse: ClassVar[bool] = True
    unlisted: ClassVar[str] = "zero"

    epsilon: Fraction

    def __init__(self, epsilon: Number) -> None:
        self._set(epsilon=exact(epsilon, name="epsilon", owner=type(self).__name__, above=0))

    def response(self, histogram: Histogram) -> ResponseLaw:
        """Return the probabilities with which a combination is kept or another is taken."""
        owner = type(self).__name__
        return ResponseLaw(require_quasi(histogram, owner=owner).combinations, self.epsilon, owner=owner)

    @classmethod
    def _details(cls, histogram: Histogram, others: str) -> dict[str, Any]:
        """Return what a guarantee says besides its amount; `others` is about a change of other columns."""
        protects = histogram.quasi_identifiers
        in_clear = tuple(name for name in histogram.columns if name not in protects)
        refuse_varying_total(histogram.may_drop, in_clear, owner=cls.__name__)
        return {
            "unit": "replace one",
            "trust": "central",
            "protects": protects,
            "in_clear": in_clear,
            "assumptions": (others, _NUMBER_KNOWN, *assumptions_of(histogram), *bound_assumed(histogram)),
        }

    def _bias(self, histogram: Histogram, post: Sequence[Any]) -> npt.NDArray[np.float64] | None:
        if not _leave_counts(post):
            return None
        matrix = self.response(histogram).bias(histogram.as_matrix())
        return histogram.from_matrix(matrix).counts


def _leave_counts(post: Sequence[Any]) -> bool:
    """Whether these steps leave whole numbers of at least 0 as they are, which is all that swapping makes."""
    return all(
        isinstance(step, Integral) or (isinstance(step, Nonnegative) and step.least <= 0) for step in post
    )
