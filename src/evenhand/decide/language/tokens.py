"""The words of a rule or a weight: how names and numbers are written, and how a text falls into them.

What is written here, the parser reads back as the same.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Literal, NoReturn

from evenhand.errors import InvalidParameterError, RuleError
from evenhand.privacy.rational import exact

if TYPE_CHECKING:
    from collections.abc import Sequence

KEYWORDS = ("and", "or", "xor", "not", "signed")
"""Words of the language, in small or capital letters; a column of that name stands in backquotes."""

NAME = re.compile(r"[^\W\d]\w*")
"""A name that needs no backquotes, if Python takes it for one as well: letters, digits, underscores."""

LONGEST_NAME = 200
_LARGEST, _SMALLEST = Fraction(10**100), Fraction(1, 10**100)
_LONGEST_DECIMAL = 18
_MOST_BITS, _FEW_BITS = 1_024, 332  # with few bits above and below, a number is within 1e100 as well

LONGEST_TEXT = 20_000
"""How many characters the text of a rule may have."""

Kind = Literal["number", "name", "word", "sign", "end"]

_DIGITS = r"[0-9]+(?:_[0-9]+)*"
_NUMBER = re.compile(rf"(?:{_DIGITS}(?:\.(?:{_DIGITS})?)?|\.{_DIGITS})(?:[eE][+-]?[0-9]+)?")
_QUOTED = re.compile(r"`((?:[^`]|``)*)`")
_SIGN = re.compile(r">=|<=|[-+*/()<>]")
_SPACE = re.compile(r"[ \t\r\n]+")
_SHOWN = 34  # characters to either side of the place
_EXPECTED = "a number, a name, a sign or a word of the language"

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


# --- writing --------------------------------------------------------------------------------------


def check_input_name(name: object, *, parameter: str, owner: str) -> str:
    """Return the name of an input, which is a text of 1 to 200 characters."""
    if not isinstance(name, str) or not 0 < len(name) <= LONGEST_NAME:
        must_be = f"the name of a column, of 1 to {LONGEST_NAME} characters"
        raise InvalidParameterError(parameter, owner=owner, must_be=must_be, got=name)
    return str(name)


def exact_number(value: object, *, parameter: str, owner: str) -> Fraction:
    """Return a number of a rule as a rational; a float means the decimal that it prints."""
    read = exact(value, name=parameter, owner=owner)
    if not within_limits(read):
        must_be = "0, or from 1e-100 to 1e100 in size with at most 300 digits"
        raise InvalidParameterError(parameter, owner=owner, must_be=must_be, got="another number")
    return read


def within_limits(value: Fraction) -> bool:
    """Return whether a rational is short enough to be a number of a rule."""
    bits = max(value.numerator.bit_length(), value.denominator.bit_length())
    if bits <= _FEW_BITS:
        return True
    return bits <= _MOST_BITS and _SMALLEST <= abs(value) <= _LARGEST


def write_number(value: Fraction) -> str:
    """Write a number: as a decimal where that is exact and short, else as a ratio.

    >>> write_number(Fraction(1, 20)), write_number(Fraction(10_000)), write_number(Fraction(-1, 3))
    ('0.05', '10000', '-1/3')
    """
    if value.denominator == 1:
        return str(value.numerator)
    twos = (value.denominator & -value.denominator).bit_length() - 1
    rest, fives = value.denominator >> twos, 0
    while rest % 5 == 0:
        rest, fives = rest // 5, fives + 1
    places = max(twos, fives)
    if rest > 1 or places > _LONGEST_DECIMAL:
        return f"{value.numerator}/{value.denominator}"
    whole, part = divmod(int(abs(value) * 10**places), 10**places)
    return f"{'-' if value < 0 else ''}{whole}.{part:0{places}d}"


def write_sum(coefficients: Sequence[tuple[str, Fraction]], constant: Fraction = Fraction(0)) -> str:
    """Write a weighted sum of counts, plus a number unless that is 0.

    >>> write_sum([("sp", Fraction(2)), ("s", Fraction(-1))], Fraction(5))
    '2*sp - s + 5'
    """
    pieces = [
        (
            weight < 0,
            quote_name(name) if abs(weight) == 1 else f"{write_number(abs(weight))}*{quote_name(name)}",
        )
        for name, weight in coefficients
    ]
    if constant or not pieces:
        pieces.append((constant < 0, write_number(abs(constant))))
    (minus, text), *others = pieces
    return f"{'-' if minus else ''}{text}" + "".join(
        f" {'-' if minus else '+'} {size}" for minus, size in others
    )


def quote_name(name: str) -> str:
    """Write a name: in backquotes where it is not a plain word, a backquote in it twice.

    >>> quote_name("sp"), quote_name("share of children"), quote_name("or")
    ('sp', '`share of children`', '`or`')
    """
    if NAME.fullmatch(name) and name.isidentifier() and name.lower() not in KEYWORDS:
        return name
    return f"`{name.replace('`', '``')}`"


# --- reading --------------------------------------------------------------------------------------


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
        """Return whether it is one of these signs or words of the language."""
        return self.kind in {"sign", "word"} and self.text in texts

    @property
    def message_text(self) -> str:
        """Return what it is, for a message."""
        return "the end" if self.kind == "end" else f"'{_visible(self.text[:_SHOWN])}'"


def tokenize(text: str, *, keywords: Sequence[str] = KEYWORDS, expected: str = _EXPECTED) -> list[Token]:
    """Return the words of `text`, and its end; refuse the first thing that is none.

    Parameters
    ----------
    text : str
    keywords : sequence of str
        Words of the language, which are no names.
    expected : str
        What a refusal says is expected.
    """
    words: list[Token] = []
    place = 0
    while place < len(text):
        space = _SPACE.match(text, place)
        if space:
            place = space.end()
            continue
        token, place = _next_token(text, place, keywords, expected)
        words.append(token)
    return [*words, Token("end", "", len(text))]


def refuse_text(text: str, place: int, *, expected: str, got: str, hint: str = "") -> NoReturn:
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


def _next_token(text: str, place: int, keywords: Sequence[str], expected: str) -> tuple[Token, int]:
    """Return the word that begins at a place, and where it ends."""
    number = _NUMBER.match(text, place)
    if number:
        return Token("number", number.group().replace("_", ""), place), number.end()
    name = NAME.match(text, place)
    if name:
        word = name.group()
        if not word.isidentifier():  # a power or a fraction in one character, which is no number here
            hint = "write numbers with the digits 0 to 9, and odd names in backquotes."
            refuse_text(text, place, expected="a number or a name", got=f"'{word[:_SHOWN]}'", hint=hint)
        if word.lower() in keywords:
            return Token("word", word.lower(), place), name.end()
        return _name_token(text, word, place), name.end()
    if text[place] == "`":
        quoted = _QUOTED.match(text, place)
        if quoted is None:
            refuse_text(text, place, expected="a second backquote that ends the name", got="none")
        return _name_token(text, quoted.group(1).replace("``", "`"), place), quoted.end()
    sign = _SIGN.match(text, place)
    if sign:
        return Token("sign", sign.group(), place), sign.end()
    better = _INSTEAD.get(text[place], "")
    got = f"'{_visible(text[place])}'"
    refuse_text(text, place, expected=expected, got=got, hint=f"write {better}." if better else "")


def _name_token(text: str, name: str, place: int) -> Token:
    if not 0 < len(name) <= LONGEST_NAME:
        refuse_text(text, place, expected=f"a name of 1 to {LONGEST_NAME} characters", got="another")
    return Token("name", name, place)


def _visible(text: str) -> str:
    """Return the text with a question mark for each character that does not print, so that columns stay."""
    if text.isprintable():
        return text
    return "".join(character if character.isprintable() else "?" for character in text)
