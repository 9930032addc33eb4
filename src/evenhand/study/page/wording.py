"""How findings are worded: numbers with their intervals, names of groups, lists.

Text that came from data goes through :func:`plain`, so that a label can neither end a bold heading nor fill a
page.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import ROUND_CEILING, Context, Decimal
from typing import TYPE_CHECKING

from evenhand.report.language import fixed_word, in_language
from evenhand.report.marks import Estimate
from evenhand.report.words import LONGEST, epsilon_of, interval_of, number, plain
from evenhand.schema.crossing import BETWEEN_VALUES
from evenhand.schema.text import is_bare
from evenhand.study.results.estimates import Estimated

if TYPE_CHECKING:
    from collections.abc import Iterable

    from evenhand.schema import Schema
    from evenhand.study.plan.facts import Facts

_LONGEST_COMBINATION = 2 * LONGEST
_MOST_DIGITS = 4
_NO_BREAK, _SHORT = "\u00a0", 24
_RAISED = "⁰¹²³⁴⁵⁶⁷⁸⁹"


def with_article(noun: str) -> str:
    """Return a noun with its indefinite article.

    >>> with_article("county"), with_article("entity")
    ('a county', 'an entity')
    """
    return f"{'an' if noun[0] in 'aeiou' else 'a'} {noun}"


def counted(count: int, one: str, many: str = "") -> str:
    """Return how many there are.

    >>> counted(1, "repeat"), counted(2540, "repeat"), counted(0, "person", "people")
    ('1 repeat', '2,540 repeats', '0 people')
    """
    return f"{in_language(f'{count:,}')} {one if count == 1 else many or f'{one}s'}"


def percent(value: float, digits: int = 1) -> str:
    """Return a share in percent.

    >>> percent(0.8064), percent(float("nan"))
    ('80.6%', 'undefined')
    """
    if not math.isfinite(value):
        return fixed_word("form.undefined")
    return fixed_word("form.percent", number=number(100 * value, digits))


def points(value: float, digits: int = 1) -> str:
    """Return a difference of shares in points, without the word.

    >>> points(0.3649), points(-0.012)
    ('36.5', '−1.2')
    """
    return number(100 * value, digits) if math.isfinite(value) else fixed_word("form.undefined")


def change(found: Estimated, *, unit: str = "", digits: int | None = None) -> str:
    """Return a change in points with its sign and its interval, and the unit between the two if asked.

    >>> from evenhand.study.results.estimates import Estimated
    >>> change(Estimated(-0.009, -0.011, -0.008)), change(Estimated(0.0002, 0.0001, 0.0003), unit=" points")
    ('−0.9 (−1.1 to −0.8)', '+0.02 points (+0.01 to +0.03)')
    """
    if not math.isfinite(found.value):
        return fixed_word("form.undefined")
    digits = digits or digits_shown(found)
    shown = f"{number(100 * found.value, digits, sign=True)}{unit}"
    if found.low is None or found.high is None:
        return shown
    return f"{shown} {interval_of(100 * found.low, 100 * found.high, digits, sign=True)}"


def is_exactly_zero(found: Estimated) -> bool:
    """Return whether a change is zero in every repeat of several."""
    return found.runs > 1 and found.value == found.standard_error == 0


def amount(found: Estimated, *, unit: str = " points") -> str:
    """Return how large a change is, in points and without its sign, with its interval after the unit.

    >>> from evenhand.study.results.estimates import Estimated
    >>> amount(Estimated(-0.009, -0.011, -0.008))
    '0.9 points (0.8 to 1.1)'
    """
    digits = digits_shown(found)
    shown = f"{number(100 * abs(found.value), digits)}{unit}"
    if found.low is None or found.high is None:
        return shown
    low, high = (found.low, found.high) if found.value >= 0 else (-found.high, -found.low)
    return f"{shown} {interval_of(100 * low, 100 * high, digits)}"


def digits_shown(found: Estimated | Rounded | float) -> int:
    """Return how many digits are shown: one, or as many as keep a clear change from looking like none."""
    if isinstance(found, Rounded):
        return found.digits
    if not isinstance(found, Estimated):
        return 1
    sizes = [abs(each) for each in (found.value, found.low, found.high) if each]
    if not sizes:
        return 1
    seen = min(sizes) if found.is_clear else max(sizes)
    return next((each for each in range(1, _MOST_DIGITS) if round(100 * seen, each)), _MOST_DIGITS)


@dataclass(frozen=True)
class Rounded:
    """A share with how many digits it is shown with, so that numbers of one sentence fit each other."""

    value: float
    digits: int


def round_apart(before: Estimated, after: Estimated, moved: Estimated) -> tuple[Rounded, Rounded]:
    """Return two shares with so many digits that a clear change between them can be seen.

    >>> before, after = round_apart(Estimated(0.3004), Estimated(0.2996), Estimated(-0.0008, -0.001, -0.0006))
    >>> before.digits, points(before.value, before.digits), points(after.value, after.digits)
    (2, '30.04', '29.96')
    """
    digits = 1
    if moved.is_clear:
        shown = range(1, _MOST_DIGITS)
        digits = next((n for n in shown if points(before.value, n) != points(after.value, n)), _MOST_DIGITS)
    return Rounded(before.value, digits), Rounded(after.value, digits)


def digits_that_agree(
    before: float, after: float, change: float, *, fewest: int = 1, times: float = 100.0
) -> int | None:
    """Return with how many digits two numbers and their difference are shown so that the sum is right.

    None if there is no such number of digits that people would want to read.

    >>> digits_that_agree(0.3004, 0.2996, -0.0008), digits_that_agree(0.30, 0.31, 0.01)
    (2, 1)
    """
    numbers = [Decimal(repr(float(times * value))) for value in (before, after, change)]
    if not all(number.is_finite() for number in numbers):
        return fewest
    for digits in range(fewest, _MOST_DIGITS):
        first, second, moved = (Decimal(f"{float(number):.{digits}f}") for number in numbers)
        if second - first == moved:
            return digits
    return None


def delta_text(delta: float) -> str:
    r"""Return delta with two digits, never below what it is.

    >>> delta_text(0.0), delta_text(0.8915), delta_text(1.0), delta_text(0.99991)
    ('0', '0.892', '1.000', '1.000')
    >>> delta_text(6.04e-6).replace("\u00a0", " ")
    '6.1 × 10⁻⁶'
    """
    if not math.isfinite(delta):
        return "unknown"
    if delta <= 0:
        return "0"
    exact = Decimal(repr(float(delta)))
    if delta >= 0.001:
        return in_language(f"{exact.quantize(Decimal('0.001'), rounding=ROUND_CEILING)}")
    rounded = Context(prec=2, rounding=ROUND_CEILING).plus(exact)
    power = rounded.adjusted()
    raised = "".join(_RAISED[int(figure)] for figure in str(-power))
    return f"{in_language(f'{rounded.scaleb(-power):.1f}')}\u00a0×\u00a010⁻{raised}"


def odds_factor(epsilon: float) -> str:
    """Return e to the epsilon, rounded up.

    >>> odds_factor(1), odds_factor(10), odds_factor(50)
    ('2.72', '22,027', 'e^50')
    """
    if epsilon > 20:
        return f"e^{epsilon_of(epsilon)}"
    factor = math.exp(epsilon)
    shown = f"{math.ceil(factor):,}" if factor >= 100 else f"{math.ceil(100 * factor) / 100:g}"
    return in_language(shown)


_NONE = 0.00005  # what four digits show as zero


def digits_of(value: float) -> int:
    """Return how many digits a number of people is shown with: none from a hundred on, more when small."""
    size = abs(value)
    return 0 if size >= 100 else 1 if size >= 1 or size < _NONE else 2 if size >= 0.01 else 4


def mark(found: Estimated) -> Estimate:
    """Return an estimate as charts take it."""
    return Estimate(found.value, found.low, found.high)


# --- names ----------------------------------------------------------------------------------------


def group_name(facts: Facts, group: str) -> str:
    """Return a group as in a sentence: its label, after the column's name where it says nothing alone."""
    if len(facts.schema.protected_columns) > 1:  # whose labels name their columns where they must
        return join_words(plain(group, longest=_LONGEST_COMBINATION).split(BETWEEN_VALUES))
    return label_words(facts.schema.protected, group)


def join_words(parts: Iterable[str]) -> str:
    r"""Return the values of a combination with commas; a line may end between them, and not within one.

    >>> join_words(["women", "race = 1"])
    'women, race\xa0=\xa01'
    """
    return BETWEEN_VALUES.join(
        part.replace(" ", _NO_BREAK) if len(part) <= _SHORT else part for part in parts
    )


def label_words(column: object, label: object) -> str:
    """Return a label as in a sentence, after its column's name where it says nothing alone.

    >>> label_words("sex", "women"), label_words("white", "1")
    ('women', 'white = 1')
    """
    words = plain(label)
    return value_words(column, label) if is_bare(words) else words


def value_words(column: object, label: object) -> str:
    """Return a column with its value; a label that begins with a comparison is one.

    >>> value_words("hired", "yes"), value_words("pay", ">= 50000")
    ('hired = yes', 'pay >= 50000')
    """
    value = plain(label)
    return f"{plain(column)}{' ' if value.startswith(tuple('<>≤≥=')) else ' = '}{value}"


def outcome_name(schema: Schema) -> str:
    """Return the positive outcome as in "predicted income = high"."""
    return value_words(schema.target, schema.positive_label)
