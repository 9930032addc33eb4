"""Weights of an allotment as a plan writes them: public columns and numbers with + - * / and brackets."""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from evenhand.decide.language.numerals import numeral

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from numpy.typing import NDArray

    Values = NDArray[np.float64]

__all__ = ["Product", "Sum", "Weight", "multiplied", "negative", "summed"]


@dataclass(frozen=True)
class Product:
    """A number times columns and sums, each to the power of 1 or -1.

    Parameters
    ----------
    factor : Fraction
    columns : tuple of (str or Sum, int)
        Names and sums in the order in which they are written, factors with 1 before divisors with -1.

    Examples
    --------
    >>> from evenhand.study.tasks.decide.weight_text import weight_of
    >>> weight_of("students * exp_index / 100", parameter="formula", owner="allocate")
    Product(factor=Fraction(1, 100), columns=(('students', 1), ('exp_index', 1)))
    """

    factor: Fraction
    columns: tuple[tuple[str | Sum, int], ...]

    @property
    def names(self) -> tuple[str, ...]:
        """The columns, each once."""
        inside = ([each] if isinstance(each, str) else each.names for each, _ in self.columns)
        return tuple(dict.fromkeys(name for names in inside for name in names))

    @property
    def text(self) -> str:
        """The product as a plan writes it; it stands for itself when it is read again."""
        above = [_spelled(each) for each, power in self.columns if power > 0]
        below = [_spelled(each) for each, power in self.columns if power < 0]
        first, *divisor = numeral(self.factor).split("/")  # a decimal where that is exact and short
        if above and self.factor.numerator == 1:
            first, divisor = "1", [str(self.factor.denominator)]
        above = above if above and first == "1" else [first, *above]
        return " / ".join([" * ".join(above), *(each for each in divisor if each != "1"), *below])

    def beside(self, name: str) -> Weight | None:
        """Return what one column is multiplied by; None if the whole is not proportional to it.

        >>> from evenhand.study.tasks.decide.weight_text import weight_of
        >>> weight_of("poor * (index + 2) / 3", parameter="formula", owner="allocate").beside("poor").text
        '(index + 2) / 3'
        """
        holds = [each == name or (isinstance(each, Sum) and name in each.names) for each, _ in self.columns]
        if sum(holds) != 1:
            return None
        part, power = self.columns[holds.index(True)]
        inner = _ONE if isinstance(part, str) else part.beside(name)
        if power < 0 or inner is None:
            return None
        rest = tuple(pair for pair, is_it in zip(self.columns, holds, strict=True) if not is_it)
        return multiplied(Product(self.factor, rest), inner)

    def of(self, columns: Mapping[str, NDArray[Any]], *, rows: int) -> Values:
        """Return the product for every row; a divisor of nought gives what is not finite."""
        values = np.full(rows, float(self.factor))
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            for each, power in self.columns:
                held = columns[each] if isinstance(each, str) else each.of(columns, rows=rows)
                column = np.asarray(held, dtype=np.float64)
                values = values * column if power > 0 else values / column
        return values


@dataclass(frozen=True)
class Sum:
    """Two or more products that are added up; the factor of one that is taken away is below 0.

    Parameters
    ----------
    terms : tuple of Product

    Examples
    --------
    >>> from evenhand.study.tasks.decide.weight_text import weight_of
    >>> weight_of("index - (2 * rent - 1)", parameter="weight", owner="DecideTask").text
    'index - 2 * rent + 1'
    """

    terms: tuple[Product, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """The columns, each once."""
        return tuple(dict.fromkeys(name for term in self.terms for name in term.names))

    @property
    def text(self) -> str:
        """The sum as a plan writes it; it stands for itself when it is read again."""
        said = self.terms[0].text
        for term in self.terms[1:]:
            sign = "-" if term.factor < 0 else "+"
            said += f" {sign} {Product(abs(term.factor), term.columns).text}"
        return said

    def beside(self, name: str) -> Weight | None:
        """Return what one column is multiplied by; None if the whole is not proportional to it."""
        found = [term.beside(name) for term in self.terms]
        known = [each for each in found if each is not None]
        return summed(known) if len(known) == len(found) else None

    def of(self, columns: Mapping[str, NDArray[Any]], *, rows: int) -> Values:
        """Return the sum for every row."""
        with np.errstate(invalid="ignore", over="ignore"):
            return np.asarray(sum(term.of(columns, rows=rows) for term in self.terms))


Weight = Product | Sum
"""What a weight is."""

_ONE = Product(Fraction(1), ())


def multiplied(first: Weight, second: Weight, *, power: int = 1) -> Weight:
    """Return the product of two, or with a power of -1 their quotient; brackets that do nothing are gone."""
    left, right = _as_product(first), _as_product(second)
    factor = left.factor * right.factor**power
    parts = (*left.columns, *((each, own * power) for each, own in right.columns))
    ordered = tuple(sorted(parts, key=lambda part: -part[1]))
    if factor == 1 and len(ordered) == 1 and isinstance(ordered[0][0], Sum) and ordered[0][1] > 0:
        return ordered[0][0]
    return Product(factor, ordered)


def summed(parts: Iterable[Weight]) -> Weight:
    """Return the sum of some; brackets that do nothing are gone."""
    terms: list[Product] = []
    for part in parts:
        terms += part.terms if isinstance(part, Sum) else [part]
    return terms[0] if len(terms) == 1 else Sum(tuple(terms))


def negative(weight: Weight) -> Weight:
    """Return the same below 0."""
    if isinstance(weight, Sum):
        return Sum(tuple(Product(-term.factor, term.columns) for term in weight.terms))
    return Product(-weight.factor, weight.columns)


def _as_product(weight: Weight) -> Product:
    return weight if isinstance(weight, Product) else Product(Fraction(1), ((weight, 1),))


def _spelled(part: str | Sum) -> str:
    if isinstance(part, Sum):
        return f"({part.text})"
    return part if re.fullmatch(r"[^\W\d]\w*", part) else f"`{part}`"
