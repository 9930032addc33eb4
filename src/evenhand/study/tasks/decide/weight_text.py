"""Reading the text of a weight without evaluating anything; what cannot be read is pointed at."""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction
from typing import NoReturn

from evenhand.errors import InvalidParameterError
from evenhand.study.tasks.decide.weights import Product, Weight, multiplied, negative, summed

__all__ = ["weight_of"]

_LONGEST, _DEEPEST = 1_000, 40
_SMALLEST = 1e-50
_SHOWN = 30  # characters to either side of the place
_PIECE = re.compile(
    r"\s*(?:(?P<number>(?:\d[\d_]*\.?\d*|\.\d+)(?:[eE][+-]?\d+)?(?![\w.]))|`(?P<quoted>[^`]+)`"
    r"|(?P<name>[^\W\d]\w*)|(?P<sign>[-+*/()]))"
)
_VALUE = "a column, a number from 1e-50 to 1e50, or ("
_NEXT = "one of + - * /, or the end"
_CLOSE = "one of + - * /, or )"


def weight_of(text: object, *, parameter: str, owner: str) -> Weight:
    """Return the weight that a text stands for.

    Names that are no plain words are put in backquotes.

    Raises
    ------
    InvalidParameterError
        If it is anything else; the message has a caret below the column at fault.

    Examples
    --------
    >>> weight_of("2 * (`exp index` + 1)", parameter="weight", owner="DecideTask").text
    '2 * (`exp index` + 1)'
    """
    if not isinstance(text, str) or not text.strip() or len(text) > _LONGEST:
        must_be = (
            f"made of columns and numbers with + - * / and brackets, such as 'students * index', and of at "
            f"most {_LONGEST:,} letters"
        )
        raise InvalidParameterError(parameter, owner=owner, must_be=must_be, got=text)
    reader = _Reader(text, parameter, owner)
    found = reader.sum(depth=0)
    if not reader.is_done:
        reader.refuse(_NEXT)
    return found


@dataclass
class _Reader:
    """A text, and how far it has been read."""

    text: str
    parameter: str
    owner: str
    at: int = 0

    @property
    def is_done(self) -> bool:
        return not self.text[self.at :].strip()

    def sign(self, *wanted: str) -> str | None:
        """Return the sign that comes next and go past it, if it is among those wanted; else None."""
        found = _PIECE.match(self.text, self.at)
        if found is None or found["sign"] is None or found["sign"] not in wanted:
            return None
        self.at = found.end()
        return found["sign"]

    def sum(self, depth: int) -> Weight:
        terms = [self.product(depth)]
        while (sign := self.sign("+", "-")) is not None:
            term = self.product(depth)
            terms.append(term if sign == "+" else negative(term))
        return summed(terms)

    def product(self, depth: int) -> Weight:
        found = self.value(depth)
        while (sign := self.sign("*", "/")) is not None:
            start = self.at
            found = multiplied(found, self.value(depth), power=1 if sign == "*" else -1)
            if not _fits(found):
                self.refuse(_VALUE, at=start)
        return found

    def value(self, depth: int) -> Weight:
        if self.sign("(") is not None:
            if depth == _DEEPEST:
                self.refuse(f"at most {_DEEPEST} brackets within one another", at=self.at - 1)
            inside = self.sum(depth + 1)
            if self.sign(")") is None:
                self.refuse(_CLOSE)
            return inside
        found = _PIECE.match(self.text, self.at)
        if found is None or found["sign"] is not None:
            self.refuse(_VALUE)
        if found["number"] is None:
            self.at = found.end()
            return Product(Fraction(1), ((found["quoted"] or found["name"], 1),))
        number = _fraction(found["number"].replace("_", ""))
        if number is None:
            self.refuse(_VALUE)
        self.at = found.end()
        return Product(number, ())

    def refuse(self, expected: str, at: int | None = None) -> NoReturn:
        """Point at the next thing that was not read."""
        place = self.at if at is None else at
        end = len(self.text.rstrip())
        while place < end and self.text[place].isspace():
            place += 1
        place = min(place, end)
        start, stop = max(0, place - _SHOWN), place + _SHOWN
        before, after = "..." if start else "", "..." if stop < len(self.text) else ""
        line = "".join(each if each.isprintable() else "?" for each in self.text[start:stop])
        caret = " " * (len(before) + place - start) + "^"
        hint = f"column {place + 1} must hold {expected}.\n    {before}{line}{after}\n    {caret}"
        must_be = "made of columns and numbers with + - * / and brackets"
        raise InvalidParameterError(
            self.parameter, owner=self.owner, must_be=must_be, got="something else", hint=hint
        )


def _fraction(text: str) -> Fraction | None:
    """Return a number exactly, or None if it is 0 or far too small or large; its size is looked at first."""
    if not _SMALLEST <= float(text) <= 1 / _SMALLEST:
        return None
    return Fraction(text)


def _fits(weight: Weight) -> bool:
    """Return whether the number before a product is one that a float holds with room to spare."""
    least = Fraction(_SMALLEST)
    return not isinstance(weight, Product) or least <= abs(weight.factor) <= 1 / least
