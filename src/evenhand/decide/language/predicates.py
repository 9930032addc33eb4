"""Linear predicates: the normal form of every comparison, and the exact test whether one holds.

Whole numbers are multiplied out in 64 bits where nothing can wrap around. Everything else is computed in
floating point with a bound on its error, and the few sums closer to the bound than that error are computed
again as rationals: no rounding decides.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from evenhand.decide.language.tokens import write_number, write_sum
from evenhand.errors import ColumnNotFoundError, InvalidParameterError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    import numpy.typing as npt

    Terms = Sequence[tuple[str, Fraction]]

__all__ = ["Predicate", "exceeds", "read_input_columns"]

_OWNER = "Rule.holds"
_LARGEST = 1 << 62
_ROUNDING = 2.0**-50  # eight times the unit of rounding, for each of the operations of one term


@dataclass(frozen=True, repr=False)
class Predicate:
    r"""A half-space of the inputs: :math:`a \cdot x > c`, or :math:`\ge c`.

    The coefficients are whole numbers without a common divisor, so two comparisons that say the same are
    equal here; they are Fractions all the same, as the bound is.

    Parameters
    ----------
    terms : tuple of (str, Fraction)
        The inputs and their coefficients :math:`a`, none of which is 0.
    bound : Fraction
        The number :math:`c`.
    strict : bool
        True for ``>``, False for ``>=``.
    needs_positive : Predicate, optional
        The denominator of a ratio: the predicate is false unless this holds as well.

    Examples
    --------
    >>> Predicate.of({"sp": 1, "s": Fraction(-1, 20)}, 0, strict=True)
    20*sp - s > 0
    """

    terms: tuple[tuple[str, Fraction], ...]
    bound: Fraction
    strict: bool
    needs_positive: Predicate | None = None

    @classmethod
    def of(
        cls,
        coefficients: Mapping[str, Fraction | int],
        bound: Fraction | int,
        *,
        strict: bool,
        needs_positive: Predicate | None = None,
    ) -> Predicate:
        """Return the predicate in its normal form; coefficients of 0 are left out."""
        kept = {name: Fraction(coefficient) for name, coefficient in coefficients.items() if coefficient}
        scale = _to_whole(kept.values())
        terms = tuple((name, coefficient * scale) for name, coefficient in kept.items())
        return cls(terms, Fraction(bound) * scale, strict, needs_positive)

    @property
    def coefficients(self) -> Mapping[str, Fraction]:
        """The coefficients by the name of their input."""
        return MappingProxyType(dict(self.terms))

    @property
    def numbers(self) -> tuple[Fraction, ...]:
        """The coefficients and the bound, those of the denominator among them."""
        below = self.needs_positive.numbers if self.needs_positive is not None else ()
        return (*(coefficient for _, coefficient in self.terms), self.bound, *below)

    @property
    def inputs(self) -> tuple[str, ...]:
        """The names of the inputs, those of the denominator among them."""
        below = self.needs_positive.inputs if self.needs_positive is not None else ()
        return tuple(dict.fromkeys([*(name for name, _ in self.terms), *below]))

    @property
    def half_space(self) -> Predicate:
        """The same comparison without the condition on the denominator."""
        return Predicate(self.terms, self.bound, self.strict)

    def holds(self, columns: Mapping[str, Any]) -> npt.NDArray[np.bool_]:
        """Tell where the predicate holds, exactly: no rounding decides.

        Parameters
        ----------
        columns : mapping of str to array
            The inputs by name; whole numbers or finite floats, of shapes that broadcast.
        """
        above = exceeds(self.terms, self.bound, columns, strict=self.strict)
        return above if self.needs_positive is None else above & self.needs_positive.holds(columns)

    def __repr__(self) -> str:
        sign = ">" if self.strict else ">="
        alone = f"{write_sum(self.terms)} {sign} {write_number(self.bound)}"
        return alone if self.needs_positive is None else f"{alone} and {self.needs_positive!r}"


def _to_whole(values: Iterable[Fraction]) -> Fraction:
    """Return the factor > 0 that makes whole numbers without a common divisor of these."""
    values = tuple(values)
    if not values:
        return Fraction(1)
    below = math.lcm(*(value.denominator for value in values))
    return Fraction(below, math.gcd(*(int(value * below) for value in values)))


def exceeds(
    terms: Terms, bound: Fraction, columns: Mapping[str, Any], *, strict: bool
) -> npt.NDArray[np.bool_]:
    """Tell where the sum of coefficient times column is > `bound`, or >= where not `strict`."""
    arrays = [read_input_column(columns, name) for name, _ in terms]
    whole = math.lcm(bound.denominator, *(coefficient.denominator for _, coefficient in terms))
    weights = [int(coefficient * whole) for _, coefficient in terms]
    least = int(bound * whole)
    if all(array.dtype.kind in "iu" for array in arrays) and _fits(weights, arrays, least):
        total = np.zeros((), dtype=np.int64)
        for weight, array in zip(weights, arrays, strict=True):
            total = total + np.int64(weight) * array.astype(np.int64)
        return np.asarray(total > least if strict else total >= least)
    signs = _signs(terms, bound, arrays)
    return np.asarray(signs > 0 if strict else signs >= 0)


def read_input_column(columns: Mapping[str, Any], name: str) -> npt.NDArray[Any]:
    """Return one input as an array of whole numbers or finite floats."""
    try:
        raw = columns[name]
    except (KeyError, IndexError, TypeError):
        raise ColumnNotFoundError(name, _names(columns), place="among the columns") from None
    try:
        array = np.asarray(raw)
    except ValueError:  # lists of several lengths
        array = np.empty(0, dtype=object)
    if array.dtype.kind == "f":
        array = array.astype(np.float64, copy=False)
    if array.dtype.kind not in "iuf" or (array.dtype.kind == "f" and not np.isfinite(array).all()):
        must_be = f"columns of numbers without missing or infinite ones; '{name}' is not"
        raise InvalidParameterError("columns", owner=_OWNER, must_be=must_be, got="others")
    return array


def read_input_columns(columns: Mapping[str, Any], names: Sequence[str]) -> dict[str, npt.NDArray[Any]]:
    """Return the inputs as arrays whose shapes broadcast."""
    arrays = {name: read_input_column(columns, name) for name in names}
    try:
        np.broadcast_shapes(*(array.shape for array in arrays.values()))
    except ValueError:
        must_be, got = "columns of one length", "several lengths"
        raise InvalidParameterError("columns", owner=_OWNER, must_be=must_be, got=got) from None
    return arrays


def _names(columns: Any) -> list[str]:
    try:
        return [str(name) for name in columns]
    except TypeError:
        return []


def _fits(weights: list[int], arrays: list[npt.NDArray[Any]], bound: int) -> bool:
    """Whether no sum or bound can leave 64 bits."""
    largest = [max(-int(array.min()), int(array.max()), 1) if array.size else 1 for array in arrays]
    total = sum(abs(weight) * size for weight, size in zip(weights, largest, strict=True))
    return max(total, abs(bound), *map(abs, weights), 0) < _LARGEST


def _signs(terms: Terms, bound: Fraction, arrays: list[npt.NDArray[Any]]) -> npt.NDArray[np.int8]:
    """Return the sign of the sum minus the bound; what floating point cannot tell, as rationals."""
    total = np.full(np.broadcast_shapes(*(array.shape for array in arrays)), -_nearest_float(bound))
    size = np.abs(total)
    with np.errstate(over="ignore", invalid="ignore"):
        for (_, weight), array in zip(terms, arrays, strict=True):
            product = _nearest_float(weight) * array.astype(np.float64)
            total, size = total + product, size + np.abs(product)
        error = size * (_ROUNDING * (len(terms) + 1)) + 1e-290
        clear = np.abs(total) > error
        clear &= np.isfinite(size)
    signs = np.where(clear, np.sign(total), 0).astype(np.int8)
    unclear = np.nonzero(~clear)
    exactly = [np.broadcast_to(array, total.shape)[unclear].tolist() for array in arrays]
    rows = list(zip(*exactly, strict=True))
    settled = {row: _exact_sign(terms, bound, row) for row in set(rows)}  # clamped counts are 0 over and over
    signs[unclear] = [settled[row] for row in rows]
    return signs


def _nearest_float(value: Fraction) -> float:
    """Return the nearest float, infinite beyond the largest."""
    try:
        return float(value)
    except OverflowError:
        return math.inf


def _exact_sign(terms: Terms, bound: Fraction, values: Sequence[float]) -> int:
    total = sum((weight * Fraction(value) for (_, weight), value in zip(terms, values, strict=True)), -bound)
    return (total > 0) - (total < 0)
