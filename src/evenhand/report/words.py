"""Text and numbers as they are shown: cleaned of what breaks a page, with a true minus and few digits."""

from __future__ import annotations

import math
import re
import unicodedata
from decimal import ROUND_CEILING, Context, Decimal
from fractions import Fraction
from functools import cache
from itertools import accumulate
from typing import TYPE_CHECKING

from evenhand.report.language import fixed_word, in_language

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evenhand.report.marks import Estimate

MINUS = "\u2212"
LONGEST = 60
"""How many letters of a text from data stand in a sentence."""

_WORD_JOINER = "\u2060"
_STEERING = re.compile("[\u200e\u200f\u061c\u202a-\u202e\u2066-\u2069\ufeff]")
_UNFIT = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufdd0-\ufdef\ufffe\uffff]")
_EPSILON = re.compile(r"ε ([=≤≥<>]) (?=[0-9∞])")
_NARROW = frozenset("iljtfrI.,:;'|!()[] ")
_BROAD = frozenset("mwMW%@")


def clean(text: str) -> str:
    r"""Return `text` without what no page may hold.

    Control characters and lone surrogates, which neither HTML nor XML can hold, become the replacement
    character. Marks that turn the direction of the text after them are dropped: a label could use them to
    make the words beside it read backwards.

    >>> clean("a\x00b\u202ec")
    'a�bc'
    """
    return _UNFIT.sub("\ufffd", _STEERING.sub("", text))


def plain(text: object, *, longest: int = LONGEST) -> str:
    r"""Return text from data as words of a sentence: on one line, not too long, and never a mark of bold.

    >>> plain("a  b\nc"), plain("**x**") == "**x**"
    ('a b c', False)
    """
    words = " ".join(clean(str(text)).split())
    if len(words) > longest:
        words = f"{words[: longest - 1].rstrip()}…"
    words = words.replace("**", f"*{_WORD_JOINER}*").replace("**", f"*{_WORD_JOINER}*")
    return words or fixed_word("form.blank")


def listed(words: Sequence[str], *, most: int = 6) -> str:
    """Return words as in a sentence; from the seventh on they are counted.

    Where several have a comma of their own, they are parted by semicolons.

    >>> listed(["a", "b", "c"]), listed(["a", "b", "c", "d"], most=3), listed(["a, b", "c, d", "e"])
    ('a, b and c', 'a, b and 2 others', 'a, b; c, d and e')
    """
    shown = list(words)
    if len(shown) > most:
        shown = [*shown[: most - 1], f"{len(shown) - most + 1} {fixed_word('form.others')}"]
    between = "; " if sum(", " in word for word in shown[:-1]) > 1 else ", "
    return (
        f" {fixed_word('form.and')} ".join([between.join(shown[:-1]), shown[-1]])
        if len(shown) > 1
        else "".join(shown)
    )


def number(value: float, digits: int = 1, *, sign: bool = False) -> str:
    """Return a number with a true minus, commas between thousands and no sign on zero.

    >>> number(-3.04), number(1234.56, 0), number(2, sign=True), number(-0.01, sign=True)
    ('−3.0', '1,235', '+2.0', '0.0')
    """
    shown = in_language(f"{abs(value):,.{digits}f}")
    if not any(figure in shown for figure in "123456789"):
        return shown
    return f"{MINUS if value < 0 else '+' if sign else ''}{shown}"


def interval_of(low: float, high: float, digits: int = 1, *, sign: bool = False) -> str:
    """Return an interval in brackets, as it stands behind a value.

    >>> interval_of(-1.25, 0.5, sign=True)
    '(−1.2 to +0.5)'
    """
    return f"({limits_of(low, high, digits, sign=sign)})"


def limits_of(low: float, high: float, digits: int = 1, *, sign: bool = False) -> str:
    """Return an interval without brackets."""
    first, last = (number(limit, digits, sign=sign) for limit in (low, high))
    return fixed_word("form.interval", low=first, high=last)


def value_of(estimate: Estimate, digits: int = 1, *, times: float = 1.0) -> str:
    """Return a value with its interval, if it has one.

    >>> from evenhand.report.marks import Estimate
    >>> value_of(Estimate(0.806, 0.801, 0.811), times=100)
    '80.6 (80.1 to 81.1)'
    """
    shown = number(estimate.value * times, digits)
    if estimate.low is None or estimate.high is None:
        return shown
    return f"{shown} {interval_of(estimate.low * times, estimate.high * times, digits)}"


def epsilon_of(epsilon: Fraction | float | None, digits: int = 4) -> str:
    """Return epsilon with few digits and never below what it is; None, which is no protection, is infinite.

    >>> epsilon_of(0.25), epsilon_of(1.12346), epsilon_of(Fraction(1, 3)), epsilon_of(None)
    ('0.25', '1.124', '0.3334', '∞')
    """
    if epsilon is None or math.isinf(epsilon):
        return "∞"
    exact = epsilon if isinstance(epsilon, Fraction) else Fraction(repr(float(epsilon)))
    up = Context(prec=digits, rounding=ROUND_CEILING)
    return in_language(f"{float(up.divide(Decimal(exact.numerator), Decimal(exact.denominator))):.{digits}g}")


def epsilon_words(epsilon: Fraction | float | None) -> str:
    """Return epsilon as sentences, headings, tables and the terminal have it.

    >>> epsilon_words(Fraction(1, 2))
    'ε = 0.5'
    """
    return f"ε = {epsilon_of(epsilon)}"


def capital(text: str) -> str:
    """Return a text with a capital letter at its start; a code such as c140 stays as it is.

    >>> capital("women"), capital("c140 and c152")
    ('Women', 'c140 and c152')
    """
    is_code = any(letter.isdigit() for letter in text.partition(" ")[0])
    return text if is_code else f"{text[:1].upper()}{text[1:]}"


def unbroken(text: str) -> str:
    r"""Return text in which no line ends inside ``ε = 1`` or ``k-based``.

    >>> unbroken("k-based split, ε = 1") == "k\u2011based split, ε\u00a0=\u00a01"
    True
    """
    return _EPSILON.sub("ε\u00a0\\1\u00a0", text).replace("k-based", "k\u2011based")


def width_of(text: str, size: float = 12.0, *, bold: bool = False) -> float:
    """Return about how many pixels `text` takes, on the safe side, for placing labels.

    >>> width_of("iii") < width_of("nnn") < width_of("漢字語")
    True
    """
    return sum(map(_em, text)) * size * (1.07 if bold else 1.0)


def shortened(text: str, width: float, size: float = 12.0, *, bold: bool = False) -> str:
    """Return `text`, or as much of its start as fits `width` pixels with an ellipsis.

    >>> shortened("a very long name of a group", 60)
    'a very lo…'
    """
    text = " ".join(text.split())
    if width_of(text, size, bold=bold) <= width:
        return text
    room = width - width_of("…", size, bold=bold)
    factor = size * (1.07 if bold else 1.0)
    kept = sum(used * factor <= room for used in accumulate(map(_em, text)))
    return f"{text[:kept].rstrip()}…"


def wrap_words(text: str, width: float, size: float = 12.0, *, bold: bool = False) -> list[str]:
    """Return `text` in lines of at most `width` pixels; a word that is longer is broken.

    >>> wrap_words("a very long name of a group", 80)
    ['a very long', 'name of a', 'group']
    """
    lines: list[str] = []
    for word in text.split():
        joined = f"{lines[-1]} {word}" if lines else word
        if lines and width_of(joined, size, bold=bold) <= width:
            lines[-1] = joined
            continue
        lines.append("")
        for letter in word:
            if lines[-1] and width_of(lines[-1] + letter, size, bold=bold) > width:
                lines.append("")
            lines[-1] += letter
    return lines or [""]


@cache
def _em(letter: str) -> float:
    """Return about how wide a letter is, as a share of the size of the type."""
    if unicodedata.combining(letter):
        return 0.0
    if unicodedata.east_asian_width(letter) in "WF":
        return 1.05
    if letter in _NARROW:
        return 0.32
    return 0.86 if letter in _BROAD else 0.72 if letter.isupper() else 0.57


def has_figures(shown: str) -> bool:
    """Return whether a number as it is written is not 0."""
    return any(figure in shown for figure in "123456789")
