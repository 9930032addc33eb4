"""How findings are worded: numbers with their intervals, names of groups and settings, lists.

Text that came from data goes through :func:`plain`, so that a label can neither end a bold heading nor fill a
page.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping
from typing import TYPE_CHECKING

from evenhand.report.marks import Estimate
from evenhand.report.words import clean, epsilon_of, interval_of, number
from evenhand.study.plan.cells import UNPROTECTED
from evenhand.study.tasks.shared.report_settings import protocol_parameters

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evenhand.schema import Schema
    from evenhand.study.plan.cells import Setting
    from evenhand.study.plan.facts import Facts
    from evenhand.study.results.estimates import Estimated

__all__ = [
    "amount",
    "change",
    "counted",
    "epsilon_text",
    "group_name",
    "is_nothing",
    "listed",
    "mark",
    "percent",
    "plain",
    "points",
    "protocol_name",
    "setting_name",
    "way_name",
]

_LONGEST = 60
_MOST_DIGITS = 4
_NAME_DIGITS = 12
_WORD_JOINER = "\u2060"
_WAYS = {"sample": "one column asked of each person"}


def plain(text: object, *, longest: int = _LONGEST) -> str:
    r"""Return text from data as words of a sentence: on one line, not too long, and never a mark of bold.

    >>> plain("a  b\nc"), plain("**x**") == "**x**"
    ('a b c', False)
    """
    words = " ".join(clean(str(text)).split())
    if len(words) > longest:
        words = f"{words[: longest - 1].rstrip()}…"
    return words.replace("**", f"*{_WORD_JOINER}*").replace("**", f"*{_WORD_JOINER}*") or "(blank)"


def listed(words: Sequence[str], *, most: int = 6, rest: str = "others", join: str = "and") -> str:
    """Return words as in a sentence; from the seventh on they are counted.

    >>> listed(["a", "b", "c"]), listed(["a", "b", "c", "d"], most=3)
    ('a, b and c', 'a, b and 2 others')
    """
    shown = list(words)
    if len(shown) > most:
        shown = [*shown[: most - 1], f"{len(shown) - most + 1} {rest}"]
    return f" {join} ".join([", ".join(shown[:-1]), shown[-1]]) if len(shown) > 1 else "".join(shown)


def counted(count: int, one: str, many: str = "") -> str:
    """Return how many there are.

    >>> counted(1, "repeat"), counted(2540, "repeat"), counted(0, "person", "people")
    ('1 repeat', '2,540 repeats', '0 people')
    """
    return f"{count:,} {one if count == 1 else many or f'{one}s'}"


def percent(value: float) -> str:
    """Return a share in percent.

    >>> percent(0.8064), percent(float("nan"))
    ('80.6%', 'undefined')
    """
    return f"{number(100 * value)}%" if math.isfinite(value) else "undefined"


def points(value: float) -> str:
    """Return a difference of shares in points, without the word.

    >>> points(0.3649), points(-0.012)
    ('36.5', '−1.2')
    """
    return number(100 * value) if math.isfinite(value) else "undefined"


def change(found: Estimated, *, unit: str = "") -> str:
    """Return a change in points with its sign and its interval, and the unit between the two if asked.

    >>> from evenhand.study.results.estimates import Estimated
    >>> change(Estimated(-0.009, -0.011, -0.008)), change(Estimated(0.0002, 0.0001, 0.0003), unit=" points")
    ('−0.9 (−1.1 to −0.8)', '+0.02 points (+0.01 to +0.03)')
    """
    if not math.isfinite(found.value):
        return "undefined"
    digits = _digits(found)
    shown = f"{number(100 * found.value, digits, sign=True)}{unit}"
    if found.low is None or found.high is None:
        return shown
    return f"{shown} {interval_of(100 * found.low, 100 * found.high, digits, sign=True)}"


def is_nothing(found: Estimated) -> bool:
    """Return whether a change is nought in every repeat of several."""
    return found.has_interval and found.value == found.low == found.high == 0


def amount(found: Estimated) -> str:
    """Return how large a change is, in points and without its sign, with its interval.

    >>> from evenhand.study.results.estimates import Estimated
    >>> amount(Estimated(-0.009, -0.011, -0.008))
    '0.9 points (0.8 to 1.1)'
    """
    digits = _digits(found)
    shown = f"{number(100 * abs(found.value), digits)} points"
    if found.low is None or found.high is None:
        return shown
    low, high = (found.low, found.high) if found.value >= 0 else (-found.high, -found.low)
    return f"{shown} {interval_of(100 * low, 100 * high, digits)}"


def _digits(found: Estimated) -> int:
    """Return how many digits are shown: one, or as many as keep a clear change from looking like none."""
    sizes = [abs(each) for each in (found.value, found.low, found.high) if each]
    if not sizes:
        return 1
    seen = min(sizes) if found.is_clear else max(sizes)
    return next((each for each in range(1, _MOST_DIGITS) if round(100 * seen, each)), _MOST_DIGITS)


def mark(found: Estimated) -> Estimate:
    """Return an estimate as charts take it."""
    return Estimate(found.value, found.low, found.high)


# --- names ----------------------------------------------------------------------------------------


def group_name(facts: Facts, group: str) -> str:
    """Return a group as in a sentence: its label, after the column's name where it says nothing alone."""
    label = plain(group)
    short = len(label) < 3 or not any(letter.isalpha() for letter in label)
    return f"{plain(facts.schema.protected)} = {label}" if short else label


def outcome_name(schema: Schema) -> str:
    """Return the positive outcome as in "predicted income = high"."""
    value = plain(schema.positive)
    sign = " " if value[0] in "<>≤≥=" else " = "
    return f"{plain(schema.target)}{sign}{value}"


def protocol_name(setting: Setting) -> str:
    """Return the protocol, with its further parameters if it has any.

    >>> from evenhand.study.tasks.shared.report_settings import report_setting
    >>> protocol_name(report_setting("olh", parameters={"as_printed": True}))
    'OLH (as printed)'
    """
    if not setting.is_protected:
        return "unprotected"
    switches = [
        name.replace("_", " ") if value is True else f"{name.replace('_', ' ')} {_value(value)}"
        for name, value in sorted(protocol_parameters(setting).items())
    ]
    if not switches:
        return setting.mechanism.upper()
    said = ", ".join(switches)
    shown = plain(said)
    if len(said) > _LONGEST:  # settings that differ never read the same
        shown = f"{plain(said, longest=_LONGEST - _NAME_DIGITS - 1)} {_digest(protocol_parameters(setting))}"
    return f"{setting.mechanism.upper()} ({shown})"


def _value(value: object) -> str:
    """Return a parameter in a few words; a table is known by digits of its hash, so many that none share."""
    return f"given ({_digest(value)})" if isinstance(value, Mapping) else str(value)


def _digest(value: object) -> str:
    text = json.dumps(value, sort_keys=True, default=dict)
    return hashlib.sha256(text.encode("ascii")).hexdigest()[:_NAME_DIGITS]


def way_name(setting: Setting, *, word: bool = True) -> str:
    """Return how a setting reports several columns: its split, or its strategy.

    >>> from evenhand.study.tasks.shared.report_settings import report_setting
    >>> way_name(report_setting("grr", split="uniform", strategy="independent"))
    'uniform split'
    >>> way_name(report_setting("grr", strategy="combined"))
    'combined'
    """
    split = str(setting.option("split"))
    if split == UNPROTECTED:
        return str(setting.option("strategy"))
    return _WAYS.get(split, f"{split} split" if word else split)


def setting_name(setting: Setting, *, epsilon: bool = True) -> str:
    """Return a setting in words.

    >>> from fractions import Fraction
    >>> from evenhand.study.tasks.shared.report_settings import report_setting
    >>> setting_name(report_setting("grr", Fraction(1, 2), "uniform", "independent"))
    'GRR, uniform split, ε = 0.5'
    """
    if not setting.is_protected or setting.epsilon is None:
        return "unprotected"
    words = [protocol_name(setting), way_name(setting)]
    return ", ".join([*words, f"ε = {epsilon_text(setting)}"] if epsilon else words)


def epsilon_text(setting: Setting) -> str:
    """Return the epsilon of a setting as briefly as it can be said."""
    return "∞" if setting.epsilon is None else epsilon_of(setting.epsilon)
