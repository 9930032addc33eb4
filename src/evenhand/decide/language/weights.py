"""Weights of an allotment: public columns and numbers with + - * / and brackets, as a plan writes them.

Read from a text by :func:`~evenhand.decide.language.parse.parse_weight`.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from evenhand.decide.language.tokens import quote_name, write_number

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from numpy.typing import NDArray

    Values = NDArray[np.float64]

SMALLEST_NUMBER, LARGEST_NUMBER = Fraction(1, 10**50), Fraction(10**50)
"""The least and the greatest number that may stand in a weight."""


class _Arithmetic:
    """The four operations of products and sums; superfluous brackets are gone."""

    def __add__(self, other: Weight) -> Weight:
        return _sum((*_terms(self), *_terms(other)))

    def __sub__(self, other: Weight) -> Weight:
        negative = (Product(-term.factor, term.columns) for term in _terms(other))
        return _sum((*_terms(self), *negative))

    def __mul__(self, other: Weight) -> Weight:
        return self._multiplied(other, power=1)

    def __truediv__(self, other: Weight) -> Weight:
        return self._multiplied(other, power=-1)

    def _multiplied(self, other: Weight, *, power: int) -> Weight:
        left, right = _as_product(self), _as_product(other)
        factor = left.factor * right.factor**power
        parts = (*left.columns, *((part, own * power) for part, own in right.columns))
        ordered = tuple(sorted(parts, key=lambda part: -part[1]))
        if factor == 1 and len(ordered) == 1 and isinstance(ordered[0][0], Sum) and ordered[0][1] > 0:
            return ordered[0][0]
        return Product(factor, ordered)


@dataclass(frozen=True)
class Product(_Arithmetic):
    """A number times columns and sums, each to the power of 1 or -1.

    Parameters
    ----------
    factor : Fraction
    columns : tuple of (str or Sum, int)
        Names and sums in the order in which they are written, factors with 1 before divisors with -1.

    Examples
    --------
    >>> from evenhand.decide.language.parse import parse_weight
    >>> parse_weight("students * exp_index / 100")
    Product(factor=Fraction(1, 100), columns=(('students', 1), ('exp_index', 1)))
    """

    factor: Fraction
    columns: tuple[tuple[str | Sum, int], ...]

    @property
    def names(self) -> tuple[str, ...]:
        """The columns, each once."""
        inside = ([part] if isinstance(part, str) else part.names for part, _ in self.columns)
        return tuple(dict.fromkeys(name for names in inside for name in names))

    @property
    def text(self) -> str:
        """The product as a plan writes it; it stands for itself when it is read again."""
        above = [_part_text(part) for part, power in self.columns if power > 0]
        below = [_part_text(part) for part, power in self.columns if power < 0]
        first, *divisor = write_number(self.factor).split("/")  # a decimal where that is exact and short
        if above and self.factor.numerator == 1:
            first, divisor = "1", [str(self.factor.denominator)]
        above = above if above and first == "1" else [first, *above]
        return " / ".join([" * ".join(above), *(number for number in divisor if number != "1"), *below])

    def beside(self, name: str) -> Weight | None:
        """Return what one column is multiplied by; None if the whole is not proportional to it.

        >>> from evenhand.decide.language.parse import parse_weight
        >>> parse_weight("poor * (index + 2) / 3").beside("poor").text
        '(index + 2) / 3'
        """
        holds = [part == name or (isinstance(part, Sum) and name in part.names) for part, _ in self.columns]
        if sum(holds) != 1:
            return None
        part, power = self.columns[holds.index(True)]
        inner = Product(Fraction(1), ()) if isinstance(part, str) else part.beside(name)
        if power < 0 or inner is None:
            return None
        rest = tuple(pair for pair, is_it in zip(self.columns, holds, strict=True) if not is_it)
        return Product(self.factor, rest) * inner

    def of(self, columns: Mapping[str, NDArray[Any]], *, rows: int) -> Values:
        """Return the product for every row; a divisor of 0 gives what is not finite."""
        values = np.full(rows, float(self.factor))
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            for part, power in self.columns:
                raw = columns[part] if isinstance(part, str) else part.of(columns, rows=rows)
                column = np.asarray(raw, dtype=np.float64)
                values = values * column if power > 0 else values / column
        return values


@dataclass(frozen=True)
class Sum(_Arithmetic):
    """Two or more products that are added up; the factor of one that is taken away is below 0.

    Parameters
    ----------
    terms : tuple of Product

    Examples
    --------
    >>> from evenhand.decide.language.parse import parse_weight
    >>> parse_weight("index - (2 * rent - 1)").text
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
        text = self.terms[0].text
        for term in self.terms[1:]:
            sign = "-" if term.factor < 0 else "+"
            text += f" {sign} {Product(abs(term.factor), term.columns).text}"
        return text

    def beside(self, name: str) -> Weight | None:
        """Return what one column is multiplied by; None if the whole is not proportional to it."""
        parts = [term.beside(name) for term in self.terms]
        known = [part for part in parts if part is not None]
        return _sum(term for part in known for term in _terms(part)) if len(known) == len(parts) else None

    def of(self, columns: Mapping[str, NDArray[Any]], *, rows: int) -> Values:
        """Return the sum for every row."""
        with np.errstate(invalid="ignore", over="ignore"):
            return np.asarray(sum(term.of(columns, rows=rows) for term in self.terms))


Weight = Product | Sum
"""What a weight is."""


def split_count(formula: Weight, *, count: str = "") -> tuple[str, str | None]:
    """Return the count that money follows and its public weight; an empty count if it is no such product.

    Without a `count` it is the first column that the formula is a multiple of.

    >>> from evenhand.decide.language.parse import parse_weight
    >>> split_count(parse_weight("students * (index + 20) / 100"))
    ('students', '(index + 20) / 100')
    >>> split_count(parse_weight("students + index"))
    ('', None)
    """
    fitting = (name for name in formula.names if formula.beside(name) is not None)
    chosen = count or next(fitting, "")
    rest = formula.beside(chosen) if chosen else None
    if rest is None:
        return "", None
    return chosen, None if rest == Product(Fraction(1), ()) else rest.text


def _sum(terms: Iterable[Product]) -> Weight:
    products = tuple(terms)
    return products[0] if len(products) == 1 else Sum(products)


def _terms(weight: Any) -> tuple[Product, ...]:
    return weight.terms if isinstance(weight, Sum) else (weight,)


def _as_product(weight: Any) -> Product:
    return weight if isinstance(weight, Product) else Product(Fraction(1), ((weight, 1),))


def _part_text(part: str | Sum) -> str:
    return f"({part.text})" if isinstance(part, Sum) else quote_name(part)
