"""Linear predicates: the normal form of every comparison, and the exact test whether one holds."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from evenhand.decide.language.exact_signs import exceeds
from evenhand.decide.language.numerals import numeral, quoted

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    import numpy as np
    import numpy.typing as npt

__all__ = ["Predicate"]


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
        kept = {name: Fraction(each) for name, each in coefficients.items() if each}
        scale = _to_whole(kept.values())
        terms = tuple((name, each * scale) for name, each in kept.items())
        return cls(terms, Fraction(bound) * scale, strict, needs_positive)

    @property
    def coefficients(self) -> Mapping[str, Fraction]:
        """The coefficients by the name of their input."""
        return MappingProxyType(dict(self.terms))

    @property
    def numbers(self) -> tuple[Fraction, ...]:
        """The coefficients and the bound, those of the denominator among them."""
        below = self.needs_positive.numbers if self.needs_positive is not None else ()
        return (*(each for _, each in self.terms), self.bound, *below)

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
        alone = f"{_summed(self.terms)} {sign} {numeral(self.bound)}"
        return alone if self.needs_positive is None else f"{alone} and {self.needs_positive!r}"


def _to_whole(values: Iterable[Fraction]) -> Fraction:
    """Return the factor > 0 that makes whole numbers without a common divisor of these."""
    values = tuple(values)
    if not values:
        return Fraction(1)
    below = math.lcm(*(each.denominator for each in values))
    return Fraction(below, math.gcd(*(int(each * below) for each in values)))


def _summed(terms: tuple[tuple[str, Fraction], ...]) -> str:
    pieces: list[str] = []
    for name, each in terms:
        size = quoted(name) if abs(each) == 1 else f"{numeral(abs(each))}*{quoted(name)}"
        sign = ("-" if each < 0 else "") if not pieces else (" - " if each < 0 else " + ")
        pieces.append(f"{sign}{size}")
    return "".join(pieces) or "0"
