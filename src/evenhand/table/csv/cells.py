"""From the text of cells to the type a column needs, without an error that depends on a cell."""

from __future__ import annotations

import itertools
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from evenhand.table.match import FALSE_WORDS, TRUE_WORDS

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from evenhand.schema import Domain

no_number = float("inf")
"""Stands for a cell that is no number in a column of numbers: infinity is outside every domain."""

_INT_LOW, _INT_HIGH = -(2**63), 2**63 - 1
_WHOLE = r"^[+-]?[0-9]+(\.0*)?$"
_NUMBER = r"^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?$"
_GUESSED_NUMBER = r"-?((0|[1-9][0-9]{0,14})(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]{1,3})?"
_GUESSES = {
    "whole": re.compile(r"0|-?[1-9][0-9]{0,17}"),
    "number": re.compile(_GUESSED_NUMBER),
    "truth": re.compile("|".join(TRUE_WORDS + FALSE_WORDS)),
}
_FEW_CELLS = 64

MISSING_WORDS = ("NA", "N/A")
"""What R and spreadsheets write for a missing value."""


def number_pattern(decimal: str) -> re.Pattern[str]:
    """Return the pattern of a cell that makes a column one of numbers, with this decimal mark.

    >>> bool(number_pattern(",").fullmatch("-1,5")), bool(number_pattern(",").fullmatch("1.5"))
    (True, False)
    """
    return re.compile(_with_mark(_GUESSED_NUMBER, decimal))


def _with_mark(pattern: str, decimal: str) -> str:
    return pattern.replace(r"\.", re.escape(decimal))


def no_whole_number(domain: Domain) -> int:
    """Return the number that stands for a cell that is no whole number: the smallest outside the domain.

    >>> from evenhand.schema import Domain
    >>> no_whole_number(Domain.integers(0, 9)) == -(2**63)
    True
    """
    if domain.kind == "integers":
        return _INT_LOW if domain.low != _INT_LOW else domain.high + 1
    return next(number for number in itertools.count(_INT_LOW) if number not in domain.values)


def converter(domain: Domain, *, words: bool = False, decimal: str = ".") -> Callable[[Any], Any]:
    """Return the function that brings an Arrow array of text to the type `domain` needs.

    Text stays text, for truth values too: the words are matched when the table is encoded.
    A cell that does not read as the number wanted becomes one that no domain holds,
    so that the rule for values outside the domain takes care of it. With `words`, for a column whose domain
    was read from rows, one of :data:`MISSING_WORDS` is a missing value unless the domain holds it. Where
    `decimal` is a comma, numbers with points are no numbers.
    """
    values = domain.values if domain.kind == "categorical" else ()
    missing = [word for word in MISSING_WORDS if words and word not in values]
    if domain.value_type is int:
        stand_in = no_whole_number(domain)
        return lambda text: _by_distinct(
            take_as_missing(text, missing), lambda cells: _whole_numbers(cells, stand_in, decimal)
        )
    if domain.value_type is float:
        return lambda text: _by_distinct(
            take_as_missing(text, missing), lambda cells: _numbers(cells, decimal)
        )
    empty = "" in values
    return lambda text: take_as_missing(text, missing, empty=not empty)


def take_as_missing(text: Any, words: Sequence[str], *, empty: bool = True) -> Any:
    """Take some words, and an empty quoted cell unless that is a value, for missing ones."""
    known = [*words, *([""] if empty else [])]
    return pc.if_else(pc.is_in(text, pa.array(known, pa.string())), None, text) if known else text


def point_decimals(text: Any, decimal: str) -> Any:
    """Return text in which numbers have decimal points, whatever the decimal mark of the file."""
    if decimal == ".":
        return text
    is_number = pc.match_substring_regex(pc.ascii_trim(text, " \t"), _with_mark(_NUMBER, decimal))
    return pc.if_else(is_number, pc.replace_substring(text, decimal, "."), text)


@dataclass
class TypeGuess:
    """The narrowest type that every cell seen so far agrees with.

    Whole numbers, numbers, truth values, else text. Numbers written with a leading zero or plus
    sign, with spaces, or with more digits than their type holds are text: codes look like that.

    Parameters
    ----------
    decimal : str
        The decimal mark of numbers, a point or a comma.
    """

    decimal: str = "."
    _open: dict[str, bool] = field(default_factory=lambda: dict.fromkeys(_GUESSES, True))
    _seen: bool = False

    def look(self, text: Any) -> Any:
        """Take in one more piece of the column and hand it on, empty cells and words as missing ones."""
        text = take_as_missing(text, MISSING_WORDS)
        if not any(self._open.values()) or text.null_count == len(text):
            return text
        self._seen = True
        distinct = text.dictionary_encode().dictionary
        for kind, still in self._open.items():
            pattern = number_pattern(self.decimal) if kind == "number" else _GUESSES[kind]
            self._open[kind] = still and _all_match(distinct, pattern)
        return text

    def convert(self, text: Any) -> Any:
        """Bring a piece of the column to the type that was found."""
        if not self._seen or not any(self._open.values()):
            return text
        if self._open["truth"]:
            words = pa.array(TRUE_WORDS)
            return pc.if_else(text.is_null(), None, pc.is_in(text, words))
        if self._open["whole"]:
            return _by_distinct(text, lambda cells: cells.cast(pa.int64()))
        return _by_distinct(text, lambda cells: _numbers(cells, self.decimal))


def _all_match(cells: Any, pattern: re.Pattern[str]) -> bool:
    """Tell whether every cell matches; for a few cells Python is quicker than Arrow."""
    if len(cells) <= _FEW_CELLS:
        return all(map(pattern.fullmatch, cells.to_pylist()))
    return bool(pc.all(pc.match_substring_regex(cells, f"^({pattern.pattern})$")).as_py())


def _by_distinct(text: Any, parse: Callable[[Any], Any]) -> Any:
    encoded = text.dictionary_encode()
    return parse(encoded.dictionary).take(encoded.indices)


def _whole_numbers(text: Any, stand_in: int, decimal: str) -> Any:
    text = pc.ascii_trim(text, " \t")
    whole = pc.match_substring_regex(text, _with_mark(_WHOLE, decimal))
    written = _with_mark(r"^\+?(-?)0*([0-9]+)(\.0*)?$", decimal)
    digits = pc.replace_substring_regex(text, written, r"\1\2")
    short = pc.and_(whole, pc.less(pc.binary_length(digits), 19))
    numbers = pc.if_else(short, digits, "0").cast(pa.int64()).to_numpy().copy()
    numbers[~_mask(short)] = stand_in
    for place in np.flatnonzero(_mask(pc.and_(whole, pc.invert(short)))):
        long = digits[int(place)].as_py()
        number = int(long) if len(long) <= 20 else _INT_HIGH + 1
        if _INT_LOW <= number <= _INT_HIGH:
            numbers[place] = number
    return pa.array(numbers)


def _numbers(text: Any, decimal: str) -> Any:
    text = pc.ascii_trim(text, " \t")
    valid = _mask(pc.match_substring_regex(text, _with_mark(_NUMBER, decimal)))
    written = (text if decimal == "." else pc.replace_substring(text, decimal, ".")).to_pylist()
    numbers = [float(cell) if fits else no_number for cell, fits in zip(written, valid, strict=True)]
    return pa.array(numbers, pa.float64())


def _mask(flags: Any) -> Any:
    return flags.to_numpy(zero_copy_only=False)
