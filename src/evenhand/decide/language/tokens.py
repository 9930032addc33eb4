"""The words of a rule's text, each with its place, and the message that points at a place."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal, NoReturn

from evenhand.decide.language.numerals import KEYWORDS, LONGEST_NAME, NAME
from evenhand.errors import RuleError

__all__ = ["LONGEST_TEXT", "Token", "refuse", "tokens"]

LONGEST_TEXT = 20_000
"""How many characters the text of a rule may have."""

Kind = Literal["number", "name", "word", "sign", "end"]

_DIGITS = r"[0-9]+(?:_[0-9]+)*"
_NUMBER = re.compile(rf"(?:{_DIGITS}(?:\.(?:{_DIGITS})?)?|\.{_DIGITS})(?:[eE][+-]?[0-9]+)?")
_QUOTED = re.compile(r"`((?:[^`]|``)*)`")
_SIGN = re.compile(r">=|<=|[-+*/()<>]")
_SPACE = re.compile(r"[ \t\r\n]+")
_SHOWN = 34  # characters to either side of the place

_INSTEAD = {
    "&": "'and'",
    "|": "'or'",
    "^": "'xor'",
    "~": "'not'",
    "!": "'not'",
    "=": "'>', '>=', '<' or '<='",
    "≥": "'>='",
    "≤": "'<='",
    "×": "'*'",
    "·": "'*'",
    "÷": "'/'",
    "−": "'-', the sign on the keyboard",
    "%": "a decimal, 0.05 for 5 percent",
    ",": "10000 or 10_000 for ten thousand",
    "[": "'('",
    "]": "')'",
    "{": "'('",
    "}": "')'",
    '"': "backquotes around an odd name: `share of children`",
    "'": "backquotes around an odd name: `share of children`",
}


@dataclass(frozen=True)
class Token:
    """A word of the text.

    Parameters
    ----------
    kind : {"number", "name", "word", "sign", "end"}
        What it is; a word is one of the language.
    text : str
        The word in small letters, the name without backquotes, or what stands there.
    place : int
        Where it begins, counted from 0.
    """

    kind: Kind
    text: str
    place: int

    def is_(self, *texts: str) -> bool:
        """Whether it is one of these signs or words of the language."""
        return self.kind in {"sign", "word"} and self.text in texts

    @property
    def shown(self) -> str:
        """What it is, for a message."""
        return "the end" if self.kind == "end" else f"'{_visible(self.text[:_SHOWN])}'"


def tokens(text: str) -> list[Token]:
    """Return the words of `text`, and its end; refuse the first thing that is none."""
    found: list[Token] = []
    place = 0
    while place < len(text):
        space = _SPACE.match(text, place)
        if space:
            place = space.end()
            continue
        token, place = _next(text, place)
        found.append(token)
    return [*found, Token("end", "", len(text))]


def refuse(text: str, place: int, *, expected: str, got: str, hint: str = "") -> NoReturn:
    """Raise the error that points at a place of the text."""
    start, stop = max(0, place - _SHOWN), min(len(text), place + _SHOWN)
    if len(text) <= 2 * _SHOWN:
        start, stop = 0, len(text)
    before, after = "..." if start else "", "..." if stop < len(text) else ""
    line = f"{before}{_visible(text[start:stop])}{after}"
    caret = " " * (len(before) + place - start) + "^"
    advice = f" Hint: {hint}" if hint else ""
    message = (
        f"The rule cannot be read at column {place + 1}: expected {expected}, got {got}.{advice}\n"
        f"    {line}\n    {caret}"
    )
    raise RuleError(message, column=place + 1, expected=expected) from None


def _next(text: str, place: int) -> tuple[Token, int]:
    number = _NUMBER.match(text, place)
    if number:
        return Token("number", number.group().replace("_", ""), place), number.end()
    name = NAME.match(text, place)
    if name:
        word = name.group()
        if not word.isidentifier():  # a power or a fraction in one character, which is no number here
            hint = "write numbers with the digits 0 to 9, and odd names in backquotes."
            refuse(text, place, expected="a number or a name", got=f"'{word[:_SHOWN]}'", hint=hint)
        if word.lower() in KEYWORDS:
            return Token("word", word.lower(), place), name.end()
        return _named(text, word, place), name.end()
    if text[place] == "`":
        quoted = _QUOTED.match(text, place)
        if quoted is None:
            refuse(text, place, expected="a second backquote that ends the name", got="none")
        return _named(text, quoted.group(1).replace("``", "`"), place), quoted.end()
    sign = _SIGN.match(text, place)
    if sign:
        return Token("sign", sign.group(), place), sign.end()
    better = _INSTEAD.get(text[place], "")
    got = f"'{_visible(text[place])}'"
    expected = "a number, a name, a sign or a word of the language"
    refuse(text, place, expected=expected, got=got, hint=f"write {better}." if better else "")


def _named(text: str, name: str, place: int) -> Token:
    if not 0 < len(name) <= LONGEST_NAME:
        refuse(text, place, expected=f"a name of 1 to {LONGEST_NAME} characters", got="another")
    return Token("name", name, place)


def _visible(text: str) -> str:
    """Return the text with a question mark for each character that does not print, so that columns stay."""
    if text.isprintable():
        return text
    return "".join(each if each.isprintable() else "?" for each in text)
