"""How a report on releases words things: delta, what it means, mechanisms with their parameters, counts."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Literal

from evenhand.release.mechanisms.registry import MECHANISMS
from evenhand.report.words import epsilon_words, interval_of, number
from evenhand.study.page.wording import digits_of, listed
from evenhand.study.tasks.shared.table_mechanisms import BLANKS_READ_AS, NO_GUARANTEE
from evenhand.study.tasks.shared.wording import FILL_WORDS, mechanism_name

if TYPE_CHECKING:
    from collections.abc import Iterable

    from evenhand.study.plan.cells import Setting
    from evenhand.study.results.estimates import Estimated
    from evenhand.study.tasks.release.reading import ReleaseReading

__all__ = [
    "amount_text",
    "blanks_text",
    "error_text",
    "errors_text",
    "promise",
    "release_name",
    "share_interval",
    "share_text",
    "share_value",
    "tone_of",
    "way_text",
]


def tone_of(delta: float, *, people: int) -> Literal["ok", "warn", "bad"]:
    """Return how a delta is to be taken: it holds, it may publish a random row, or it promises nothing.

    >>> tone_of(1e-9, people=1000), tone_of(0.002, people=1000), tone_of(0.5, people=1000)
    ('ok', 'warn', 'bad')
    """
    if not delta < NO_GUARANTEE:
        return "bad"
    return "warn" if people and delta >= 1 / people else "ok"


def promise(delta: float, *, people: int) -> str:
    """Return what a delta promises, in a few words."""
    words = {"ok": "holds", "warn": "weak: δ ≥ 1/people", "bad": "no meaningful guarantee"}
    return words[tone_of(delta, people=people)]


def release_name(setting: Setting) -> str:
    """Return a setting in words, with its epsilon if it has one."""
    name = mechanism_name(setting)
    if setting.epsilon is None:
        return name
    return f"{name} at {epsilon_words(setting.epsilon)}"


def blanks_text(settings: Iterable[Setting]) -> str:
    """Say how the suppressed cells of these settings are read; an empty text if they suppress none.

    >>> from evenhand.study.plan.cells import Setting
    >>> blanks_text([Setting("laplace"), Setting("suppression", options={"threshold": 6})])
    'A release leaves suppressed cells blank; here they are read as half of the threshold (Suppression).'
    """
    readings: dict[str, list[str]] = {}
    for setting in settings:
        mechanism = MECHANISMS[setting.mechanism]
        if mechanism.suppresses:
            usual = BLANKS_READ_AS if "fill" in mechanism.parameter_names() else "blank"
            names = readings.setdefault(FILL_WORDS[setting.options.get("fill", usual)], [])
            names += [mechanism.label] if mechanism.label not in names else []
    if not readings:
        return ""
    shown = " and ".join(f"as {reading} ({', '.join(names)})" for reading, names in readings.items())
    return f"A release leaves suppressed cells blank; here they are read {shown}."


def errors_text(reading: ReleaseReading) -> str:
    """Say which mechanisms' errors are exact, and what those of the others are."""
    exact = [setting for setting in reading.beside if reading.is_exact(setting, "error")]
    if not exact:
        return f"Errors are means over {reading.repeats_words}."
    if len(exact) == len(reading.beside):
        return "Errors are exact."
    names = listed([mechanism_name(setting) for setting in exact], most=4)
    return f"Errors are exact for {names}, and means over {reading.repeats_words} for the others."


def error_text(reading: ReleaseReading, setting: Setting, error: Estimated) -> str:
    """Return an error of cells without its interval, with one more digit where it is exact."""
    if not math.isfinite(error.value):
        return "undefined"
    return number(error.value, digits_of(error.value) + reading.is_exact(setting, "error"))


def amount_text(found: Estimated, *, sign: bool = False) -> str:
    """Return a number of people with its interval, with as many digits as its size asks for.

    >>> from evenhand.study.results.estimates import Estimated
    >>> amount_text(Estimated(2.412, 2.3, 2.5)), amount_text(Estimated(1184.9))
    ('2.4 (2.3 to 2.5)', '1,185')
    """
    if not math.isfinite(found.value):
        return "undefined"
    digits = digits_of(found.value)
    shown = number(found.value, digits, sign=sign)
    if found.low is None or found.high is None or found.low == found.high:
        return shown
    return f"{shown} {interval_of(found.low, found.high, digits, sign=sign)}"


def share_value(found: Estimated) -> str:
    """Return a share in percent with its sign."""
    if not math.isfinite(found.value):
        return "undefined"
    return f"{number(100 * found.value, _share_digits(found), sign=True)}%"


def share_interval(found: Estimated) -> str:
    """Return the interval of a share in percent; an empty text if there is none."""
    if not math.isfinite(found.value) or found.low is None or found.high in (None, found.low):
        return ""
    return interval_of(100 * found.low, 100 * found.high, _share_digits(found), sign=True)


def share_text(found: Estimated) -> str:
    """Return a share in percent with its sign and interval, as in a sentence.

    >>> from evenhand.study.results.estimates import Estimated
    >>> share_text(Estimated(-0.031, -0.034, -0.028))
    '−3.1% (−3.4 to −2.8)'
    """
    return f"{share_value(found)} {share_interval(found)}".rstrip()


def way_text(found: Estimated) -> str:
    """Return how many people are too few or too many, as a share in percent and in words.

    >>> from evenhand.study.results.estimates import Estimated
    >>> way_text(Estimated(-0.031, -0.034, -0.028)), way_text(Estimated(20.04))
    ('3.1% (2.8 to 3.4) fewer', '2,004% more')
    """
    digits = _share_digits(found)
    word = "fewer" if found.value < 0 else "more"
    shown = f"{number(100 * abs(found.value), digits)}%"
    if found.low is None or found.high is None or found.low == found.high:
        return f"{shown} {word}"
    ends = sorted((abs(found.low), abs(found.high))) if found.is_clear else (0.0, 0.0)
    return f"{shown} {interval_of(100 * ends[0], 100 * ends[1], digits)} {word}"


def _share_digits(found: Estimated) -> int:
    """Return one digit, none for large shares, or as many as keep a clear change from looking like none."""
    sizes = [abs(each) for each in (found.value, found.low, found.high) if each]
    if sizes and max(sizes) >= 1:
        return 0
    if not found.is_clear:
        return 1 if not sizes or round(100 * max(sizes), 1) else 2
    return next((each for each in (1, 2, 3) if round(100 * min(sizes), each)), 3)
