"""Whose row it is: ids of persons read by one rule, so that one person is not counted as several.

The rule. An id is a number or a text. Blanks around it do not count. What is written as a number is that
number: ``7``, ``07``, ``7.0``, ``+7`` and ``7e0`` are one person, in columns of numbers and of text alike.
Every other text is taken letter by letter. An id that is missing, empty, ``NA`` or ``N/A`` is no person.
Numbers are compared as they are written and never rounded, so whole numbers of any length stay apart.
"""

from __future__ import annotations

import hashlib
import re
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from evenhand.errors import OutsideDomainError
from evenhand.table.column_codes import Labelled, pieces
from evenhand.table.csv.cells import MISSING_WORDS

if TYPE_CHECKING:
    import narwhals as nw
    from numpy.typing import NDArray

RULE = "numbers are compared as numbers and blanks around them do not count"
"""The rule as a guarantee says it."""

MOST_KEY_BYTES = 71
"""The longest key: a longer id has a digest as its key."""

_LONGEST_AS_WRITTEN = 64
_PLAIN = r"^(0|-?[1-9][0-9]*)$"
_WHOLE = r"^(?:[+]|(-?))0*([0-9]+)([.]0*)?$"
_NUMBER = re.compile(r"([+-]?)([0-9]*)[.]?([0-9]*)(?:[eE]([+-]?[0-9]{1,18}))?")
_NUMBER_PATTERN = r"^[+-]?([0-9]+[.]?[0-9]*|[.][0-9]+)([eE][+-]?[0-9]{1,18})?$"
_PIECE_ROWS = 1 << 18


def person_keys(ids: Any) -> pa.Array:
    """Return one text for each id of an Arrow array, equal exactly for ids of one person.

    Raises
    ------
    TypeError
        If the ids are neither numbers nor text.

    Examples
    --------
    >>> person_keys(pa.array(["7", " 07", "7.0", "a7", "NA"])).to_pylist()
    ['7', '7', '7', 'a7', None]
    """
    if pa.types.is_dictionary(ids.type):
        return person_keys(ids.dictionary).take(ids.indices)
    if pa.types.is_floating(ids.type):
        ids = pc.if_else(pc.is_nan(ids), None, ids)
    try:
        text = pc.utf8_trim_whitespace(ids.cast(pa.string()))
    except pa.ArrowException:
        raise TypeError from None  # Arrow's own message may hold an id
    text = pc.if_else(pc.is_in(text, pa.array(["", *MISSING_WORDS])), None, text)
    text = pc.replace_substring_regex(text, _WHOLE, r"\1\2")
    is_plain = pc.match_substring_regex(text, _PLAIN)
    odd = pc.and_not(pc.match_substring_regex(text, _NUMBER_PATTERN), is_plain)
    odd = pc.or_(odd, pc.greater(pc.binary_length(text), _LONGEST_AS_WRITTEN))
    odd = pc.if_else(text.is_valid(), odd, pa.scalar(value=False))
    places = np.flatnonzero(odd.to_numpy(zero_copy_only=False))
    if not len(places):
        return text
    read = [_key(text[int(place)].as_py()) for place in places]
    return pc.replace_with_mask(text, odd, pa.array(read, pa.string()))


def _key(text: str) -> str:
    """Return the key of one id: a number in one way of writing it, and a digest where that is long."""
    number = _NUMBER.fullmatch(text)
    if number is not None and (number[2] or number[3]):
        sign, whole, fraction, exponent = number.groups()
        digits = (whole + fraction).lstrip("0")
        shift = int(exponent or 0) - len(fraction) + len(digits)
        digits = digits.rstrip("0")
        shift -= len(digits)  # the number is now the digits, times ten to this power
        if not digits:
            return "0"
        text = digits + ("0" * shift if 0 <= shift <= _LONGEST_AS_WRITTEN else f"e{shift}")
        text = f"-{text}" if sign == "-" else text
    if len(text.encode()) <= _LONGEST_AS_WRITTEN:
        return text
    return f"sha256:{hashlib.sha256(text.encode()).hexdigest()}"


def person_codes(series: nw.Series[Any]) -> NDArray[np.intp]:
    """Return whose row each is, as a number from 0 on that is the same for rows of one person.

    Raises
    ------
    OutsideDomainError
        If a row has no person, or ids are of several types. No message holds an id.
    """
    keys = pa.chunked_array(
        [read_keys(piece, series.name) for piece in pieces(series, _PIECE_ROWS)], pa.string()
    )
    codes: NDArray[np.intp] = keys.combine_chunks().dictionary_encode().indices.to_numpy().astype(np.intp)
    return codes


def read_keys(piece: Any, name: str) -> pa.Array:
    """Return the keys of a piece of the column `name`, or refuse ids that are missing or of several types."""
    try:
        keys = _piece_keys(piece)
    except TypeError:
        keys = None
    if keys is None:
        hint = "write all of them as numbers, or all as text."
        raise OutsideDomainError(name, what="persons of several types", hint=hint)
    if keys.null_count:
        hint = "write whose row it is into each of them, or leave such rows out."
        raise OutsideDomainError(name, what="no person in some rows", hint=hint)
    return keys


def _piece_keys(piece: Any) -> pa.Array:
    if isinstance(piece, Labelled):
        places = np.asarray(piece.places)
        return _piece_keys(piece.categories).take(pa.array(places, mask=places < 0))
    if isinstance(piece, np.ndarray):
        try:
            piece = pa.array(piece, from_pandas=True)
        except (pa.ArrowException, OverflowError, ValueError):
            raise TypeError from None
    return person_keys(piece)
