"""Bands of dates and of numbers on a public grid, and the one cut of a threshold."""

from __future__ import annotations

import math
import re
from datetime import date, datetime, timedelta
from fractions import Fraction
from functools import cache
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from evenhand._validate import refuse
from evenhand.schema.values import number_text, shown

if TYPE_CHECKING:
    from collections.abc import Sequence

ISO = "yyyy-mm-dd"
FORMS = (
    ISO, "yyyy/mm/dd", "yyyy.mm.dd", "dd.mm.yyyy", "dd/mm/yyyy", "mm/dd/yyyy", "dd-mm-yyyy", "mm-dd-yyyy",
    "dd mon yyyy", "dd-mon-yyyy", "mon dd yyyy",
)  # fmt: skip
"""The ways of writing a date that are understood; a time of the day may follow."""

MOST_BANDS = 10_000

_EPOCH = date(1970, 1, 1)
_MONTHS = {"y": 12, "q": 3, "m": 1}
_BAND = re.compile(r"([1-9]\d{0,3})([yqm])")
_PARTS = {
    "yyyy": r"(?P<year>\d{4})",
    "mm": r"(?P<month>\d{1,2})",
    "dd": r"(?P<day>\d{1,2})",
    "mon": r"(?P<month>[A-Za-z]{3,9})",
}
_TIME = r"(?:(?:T| +)\d{1,2}:\d{2}.{0,40})?"
_NAMES = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_SHORT_YEAR = re.compile(r"\d{1,2}([./-])\d{1,2}\1\d{2}")
_LOOK_AT, _FIRST, _MOSTLY = 1_000, 30, 0.9


# --- dates as people write them -------------------------------------------------------------------


@cache
def _pattern(form: str) -> re.Pattern[str]:
    text = re.sub("yyyy|mon|mm|dd", lambda part: _PARTS[part[0]], form.replace(".", r"\."))
    return re.compile(text.replace(" ", ",? +") + _TIME)


def as_date(value: object, form: str = ISO) -> date | None:
    """Return a date, a time stamp or a text as a date; None if it is none.

    >>> as_date("31.12.1999", "dd.mm.yyyy"), as_date("Dec 31, 1999", "mon dd yyyy"), as_date("1999-02-30")
    (datetime.date(1999, 12, 31), datetime.date(1999, 12, 31), None)
    """
    if isinstance(value, np.datetime64):
        value = value.astype("datetime64[D]").item()
    if isinstance(value, datetime):
        return value.date()
    if isinstance(value, date):
        return value
    match = _pattern(form or ISO).fullmatch(value.strip()) if isinstance(value, str) else None
    if match is None:
        return None
    month = match["month"].lower()[:3]
    try:
        number = int(month) if month.isdecimal() else _NAMES.index(month) + 1
        return date(int(match["year"]), number, int(match["day"]))
    except ValueError:
        return None


def day_number(day: date) -> int:
    """Return the days since 1970 began.

    >>> day_number(date(1970, 1, 2)), day_number(date(1969, 12, 31))
    (1, -1)
    """
    return (day - _EPOCH).days


def recognise_dates(texts: Sequence[object]) -> tuple[str, ...]:
    """Return the forms in which nearly all of the texts are dates; none if they are no dates.

    Several forms mean that day and month cannot be told apart.

    >>> recognise_dates(["1.2.1980", "31.12.1999"]), recognise_dates(["01/02/1980"]), recognise_dates(["x"])
    (('dd.mm.yyyy',), ('dd/mm/yyyy', 'mm/dd/yyyy'), ())
    """
    if texts and all(isinstance(text, date) for text in texts):
        return (ISO,)
    forms: dict[str, int] = dict.fromkeys(FORMS, 0)
    for some in (texts[:_FIRST], texts[:_LOOK_AT]):
        forms = {form: sum(as_date(text, form) is not None for text in some) for form in forms}
        most = max(forms.values(), default=0)
        forms = {form: count for form, count in forms.items() if count > _MOSTLY * len(some)}
        if not forms:
            return ()
    return tuple(form for form, count in forms.items() if count == most)


def have_short_years(texts: Sequence[object]) -> bool:
    """Tell whether nearly all of the texts are dates with years of two digits."""
    some = [str(text).strip() for text in texts[:_LOOK_AT]]
    return sum(bool(_SHORT_YEAR.fullmatch(text)) for text in some) > _MOSTLY * len(some)


# --- the grid -------------------------------------------------------------------------------------


def is_band(band: str) -> bool:
    """Tell whether a text says how long a band of dates is."""
    return _BAND.fullmatch(band) is not None


def check_band(band: object, *, owner: str) -> int:
    """Return how many months a band has.

    >>> check_band("10y", owner="Domain.dates"), check_band("1q", owner="Domain.dates")
    (120, 3)
    """
    match = _BAND.fullmatch(band) if isinstance(band, str) else None
    if match is None:
        must_be = "a number of years, quarters or months such as '10y', '1q' or '6m'"
        refuse("band", owner, must_be, shown(band))
    return int(match[1]) * _MONTHS[match[2]]


def check_form(written: object, *, owner: str) -> str:
    """Return a way of writing dates, an empty text for that of ISO; refuse one that is not understood."""
    if written not in ("", *FORMS):
        refuse("written", owner, f"one of {', '.join(FORMS)}", shown(written))
    return "" if written == ISO else str(written)


def check_day(name: str, value: object, *, owner: str) -> date:
    """Return a date, also from a text in the form of ISO."""
    day = as_date(value)
    if day is None:
        refuse(name, owner, "a date such as '1980-01-31'", shown(value))
    return day


def date_bands(
    first: date, last: date, months: int, *, owner: str
) -> tuple[tuple[float, ...], tuple[str, ...]]:
    """Return the edges, in days since 1970, and the labels of the bands that hold two dates.

    Bands begin at multiples of their length, counted from the year 0: those of ten years in 1980, 1990 and so
    on, quarters in January. The last edge is the last day of the last band.

    >>> date_bands(date(1987, 5, 1), date(1990, 1, 1), 120, owner="Domain.dates")
    ((3652.0, 7305.0, 10956.0), ('1980–1989', '1990–1999'))
    """
    low, high = (12 * day.year + day.month - 1 for day in (first, last))
    if high < low:
        refuse("last", owner, "a date that is not before 'first'", last.isoformat())
    starts = [number * months for number in range(low // months, high // months + 2)]
    if len(starts) - 1 > MOST_BANDS:
        refuse(
            "band",
            owner,
            f"so wide that there are at most {MOST_BANDS:,} bands",
            f"{len(starts) - 1:,} of them",
        )
    if starts[0] < 12 or starts[-1] > 12 * 9999:
        refuse("band", owner, "such that all bands lie between the years 1 and 9998", "a band beyond them")
    days = [date(month // 12, month % 12 + 1, 1) for month in starts]
    edges = [float(day_number(day)) for day in days]
    edges[-1] -= 1
    labels = tuple(_label(start, end - timedelta(days=1), months) for start, end in pairwise(days))
    return tuple(edges), labels


def _label(first: date, last: date, months: int) -> str:
    length = 4 if months % 12 == 0 else 7
    ends = first.isoformat()[:length], last.isoformat()[:length]
    return ends[0] if ends[0] == ends[1] else "–".join(ends) if length == 4 else " – ".join(ends)


def band_edges(low: float, high: float, width: float) -> tuple[float, ...]:
    """Return the multiples of a width around two numbers; nothing if they are too many.

    >>> band_edges(17, 45, 10)
    (10.0, 20.0, 30.0, 40.0, 50.0)
    """
    step = Fraction(repr(width))
    start, stop = math.floor(Fraction(low) / step), math.floor(Fraction(high) / step) + 1
    return (
        () if stop - start > MOST_BANDS else tuple(float(number * step) for number in range(start, stop + 1))
    )


# --- the one cut ----------------------------------------------------------------------------------

_RULE = re.compile(r"\s*(>=|<=|>|<|≥|≤)\s*([-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d{1,3})?)\s*")
_OTHER_SIDE = {">=": "<", ">": "<=", "<": ">=", "<=": ">"}
_LARGEST = 2.0**53


def parse_rule(given: object) -> tuple[str, float] | None:
    """Return the sign and the number of a threshold; None if it is none.

    >>> parse_rule(">=50000"), parse_rule("≤ 1.5"), parse_rule(">50K")
    (('>=', 50000.0), ('<=', 1.5), None)
    """
    match = _RULE.fullmatch(given) if isinstance(given, str) else None
    if match is None or not abs(number := float(match[2])) < _LARGEST:
        return None
    return match[1].replace("≥", ">=").replace("≤", "<="), number + 0.0


def rule_text(given: object) -> str | None:
    """Return a threshold as it is written in a schema; None if it is none.

    >>> rule_text(" >=50000.0")
    '>= 50000'
    """
    rule = parse_rule(given)
    return None if rule is None else f"{rule[0]} {number_text(rule[1])}"


def rule_bins(given: Any, *, owner: str) -> tuple[str, tuple[float, ...], tuple[str, ...]]:
    """Return a threshold as it is written, its edges and both labels, the lower side first.

    >>> rule_bins("> 5", owner="Domain.threshold")[2]
    ('<= 5', '> 5')
    """
    rule = parse_rule(given)
    if rule is None:
        refuse("rule", owner, "a sign and a number such as '>= 50000' or '< 0.5'", shown(given))
    sign, number = rule
    labels = tuple(f"{one} {number_text(number)}" for one in (sign, _OTHER_SIDE[sign]))
    low, high = labels if "<" in sign else labels[::-1]
    cut = number if "=" in high else math.nextafter(number, math.inf)
    largest = np.finfo(np.float64).max.item()
    return labels[0], (-largest, cut, largest), (low, high)
