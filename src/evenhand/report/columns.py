"""Text in the columns of a terminal: how wide it is, where lines end, which letters can be printed."""

from __future__ import annotations

import codecs
import re
import unicodedata
from functools import cache
from itertools import accumulate

_PLAIN = {
    "ε": "eps", "δ": "delta", "−": "-", "–": "-", "—": "-", "×": "x", "≤": "<=", "≥": ">=", "→": "->",
    "←": "<-", "…": "...", "’": "'", "‘": "'", "“": '"', "”": '"', "·": "-",
    "\u00a0": " ", "\u202f": " ", "━": "-",
}  # fmt: skip
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


def fit(text: str, encoding: str | None) -> str:
    """Return `text` in characters that the encoding has, and without control characters.

    >>> fit("ε = 1, −0.9", "ascii")
    'eps = 1, -0.9'
    >>> fit("ε = 1", "utf-8")
    'ε = 1'
    """
    clean = _CONTROL.sub("?", text)
    known = encoding or "utf-8"
    if can_encode(clean, known):
        return clean
    plain = "".join(_PLAIN.get(letter, letter) for letter in clean)
    try:
        codecs.lookup(known)
    except LookupError:
        known = "ascii"
    # A letter that is missing is written as its number: as a question mark two values would look alike.
    return plain.encode(known, "backslashreplace").decode(known)


def can_encode(text: str, encoding: str) -> bool:
    """Return whether an encoding has all letters of `text`."""
    try:
        text.encode(encoding)
    except (UnicodeEncodeError, LookupError):
        return False
    return True


def columns_of(text: str) -> int:
    """Return how many columns of a terminal `text` takes.

    >>> columns_of("Frauen"), columns_of("女性"), columns_of("e\u0301")
    (6, 4, 1)
    """
    return sum(map(_columns, text))


def pad(text: str, columns: int, *, right: bool = False) -> str:
    """Return `text` with blanks behind it, or before it, so that it takes so many columns."""
    blanks = " " * (columns - columns_of(text))
    return blanks + text if right else text + blanks


def shorten(text: str, columns: int, *, gap: str = "…") -> str:
    """Return `text`, or its start and its end with a gap between, in at most so many columns.

    The end is kept because names of groups often differ there.

    >>> shorten("race = White, sex = F", 12)
    'race =…x = F'
    """
    if columns_of(text) <= columns:
        return text
    room = max(columns - columns_of(gap), 0)
    start = _fitting(text, (room + 1) // 2)
    end = _fitting(text[::-1], room - columns_of(start))[::-1]
    return _fitting(f"{start}{gap}{end}", columns)


def wrap(text: str, columns: int) -> list[str]:
    """Return `text` in lines of at most so many columns; a word that is longer is broken.

    >>> wrap("for men no clear change is seen", 16)
    ['for men no clear', 'change is seen']
    """
    lines: list[str] = []
    for word in text.split():
        if lines and columns_of(f"{lines[-1]} {word}") <= columns:
            lines[-1] = f"{lines[-1]} {word}"
            continue
        rest = word
        while rest:
            part = _fitting(rest, columns) or rest[0]
            lines.append(part)
            rest = rest[len(part) :]
    return lines or [""]


def _fitting(text: str, columns: int) -> str:
    """Return the longest start of `text` that takes at most so many columns."""
    return text[: sum(used <= columns for used in accumulate(map(_columns, text)))]


@cache
def _columns(letter: str) -> int:
    if unicodedata.category(letter) in {"Mn", "Me", "Cf"}:
        return 0
    return 2 if unicodedata.east_asian_width(letter) in "WF" else 1
