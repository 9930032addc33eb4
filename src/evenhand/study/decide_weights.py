"""Weights of an allotment as a plan writes them: a product of public columns and numbers."""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from evenhand.errors import InvalidParameterError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

__all__ = ["Product", "product_of"]

_LONGEST = 1_000
_SMALLEST = 1e-50
_SHOWN = 30  # characters to either side of the place
_PIECE = re.compile(
    r"\s*(?:(?P<number>(?:\d[\d_]*\.?\d*|\.\d+)(?:[eE][+-]?\d+)?(?![\w.]))|`(?P<quoted>[^`]+)`|(?P<name>[^\W\d]\w*)"
    r"|(?P<sign>[*/]))"
)


@dataclass(frozen=True)
class Product:
    """A number times columns, each to the power of 1 or -1.

    Parameters
    ----------
    factor : Fraction
    columns : tuple of (str, int)
        Names in the order in which they are written, with 1 for a factor and -1 for a divisor.

    Examples
    --------
    >>> product_of("students * exp_index / 100", parameter="formula", owner="allocate")
    Product(factor=Fraction(1, 100), columns=(('students', 1), ('exp_index', 1)))
    """

    factor: Fraction
    columns: tuple[tuple[str, int], ...]

    @property
    def names(self) -> tuple[str, ...]:
        """The columns, each once."""
        return tuple(dict.fromkeys(name for name, _ in self.columns))

    @property
    def text(self) -> str:
        """The product as a plan writes it; it stands for itself when it is read again."""
        above = [_spelled(name) for name, power in self.columns if power > 0]
        if self.factor.numerator != 1 or not above:
            above = [str(self.factor.numerator), *above]
        below = [_spelled(name) for name, power in self.columns if power < 0]
        below = [str(self.factor.denominator), *below] if self.factor.denominator != 1 else below
        return " / ".join([" * ".join(above), *below])

    def without(self, name: str) -> Product:
        """Return what stands beside one factor, which must be among the columns."""
        rest = list(self.columns)
        rest.remove((name, 1))
        return Product(self.factor, tuple(rest))

    def of(self, columns: Mapping[str, NDArray[Any]], *, rows: int) -> NDArray[np.float64]:
        """Return the product for every row; a divisor of nought gives what is not finite."""
        values = np.full(rows, float(self.factor))
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            for name, power in self.columns:
                column = np.asarray(columns[name], dtype=np.float64)
                values = values * column if power > 0 else values / column
        return values


def product_of(text: object, *, parameter: str, owner: str) -> Product:
    """Return the product that a text stands for.

    Names that are no plain words are put in backquotes.

    Raises
    ------
    InvalidParameterError
        If it is anything else; the message has a caret below the column at fault.

    Examples
    --------
    >>> product_of("2 * `exp index`", parameter="weight", owner="DecideTask").text
    '2 * `exp index`'
    """
    if not isinstance(text, str) or not text.strip() or len(text) > _LONGEST:
        must_be = f"a product of columns, such as 'students * index', of at most {_LONGEST:,} letters"
        raise InvalidParameterError(parameter, owner=owner, must_be=must_be, got=text)
    factor, columns, sign, at = Fraction(1), [], "*", 0
    expects_value = True
    end = len(text.rstrip())
    while at < end:
        found = _PIECE.match(text, at)
        if found is None or (found["sign"] is None) != expects_value:
            start = at + len(text[at:]) - len(text[at:].lstrip())
            _refuse(text, start, expects_value=expects_value, parameter=parameter, owner=owner)
        at = found.end()
        if found["sign"]:
            sign = found["sign"]
        elif found["number"]:
            number = _fraction(found["number"].replace("_", ""))
            if number is None:
                _refuse(text, found.start("number"), expects_value=True, parameter=parameter, owner=owner)
            factor = factor * number if sign == "*" else factor / number
        else:
            columns.append((found["quoted"] or found["name"], 1 if sign == "*" else -1))
        expects_value = bool(found["sign"])
    if expects_value or not Fraction(_SMALLEST) <= factor <= 1 / Fraction(_SMALLEST):
        _refuse(text, end, expects_value=True, parameter=parameter, owner=owner)
    return Product(factor, tuple(columns))


def _fraction(text: str) -> Fraction | None:
    """Return a number exactly, or None if it is 0 or far too small or large; its size is looked at first."""
    if not _SMALLEST <= float(text) <= 1 / _SMALLEST:
        return None
    return Fraction(text)


def _refuse(text: str, at: int, *, expects_value: bool, parameter: str, owner: str) -> NoReturn:
    expected = "a column, or a number from 1e-50 to 1e50" if expects_value else "* or /, or the end"
    start, stop = max(0, at - _SHOWN), at + _SHOWN
    before, after = "..." if start else "", "..." if stop < len(text) else ""
    line = "".join(each if each.isprintable() else "?" for each in text[start:stop])
    caret = " " * (len(before) + at - start) + "^"
    hint = f"column {at + 1} must hold {expected}.\n    {before}{line}{after}\n    {caret}"
    must_be = "a product of columns and numbers"
    raise InvalidParameterError(parameter, owner=owner, must_be=must_be, got="something else", hint=hint)


def _spelled(name: str) -> str:
    return name if re.fullmatch(r"[^\W\d]\w*", name) else f"`{name}`"
