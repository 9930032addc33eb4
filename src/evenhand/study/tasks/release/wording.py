"""How a report on releases words things: what delta means, mechanisms, how blanks are read, shares."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Literal

from evenhand.release.mechanisms.registry import MECHANISMS
from evenhand.report.words import interval_of, number
from evenhand.study.page.wording import digits_of
from evenhand.study.tasks.shared.table_mechanisms import BLANKS_READ_AS, NO_GUARANTEE, title_of
from evenhand.study.tasks.shared.wording import FILL_WORDS, mechanism_name

if TYPE_CHECKING:
    from collections.abc import Iterable

    from evenhand.study.plan.cells import Setting
    from evenhand.study.results.estimates import Estimated
    from evenhand.study.tasks.release.reading import ReleaseReading

_MOST_DIGITS = 4


def tone_of(delta: float, *, people: int) -> Literal["ok", "warn", "bad"]:
    """Return how a delta is to be taken: it holds, it may publish a random row, or it promises nothing.

    >>> tone_of(1e-9, people=1000), tone_of(0.002, people=1000), tone_of(0.5, people=1000)
    ('ok', 'warn', 'bad')
    """
    if not delta < NO_GUARANTEE:
        return "bad"
    return "warn" if people and delta >= 1 / people else "ok"


def promise(reading: ReleaseReading, setting: Setting) -> str:
    """Return what the delta of a setting promises, in a few words."""
    return reading.sentences.say(f"promise.{tone_of(reading.delta(setting), people=reading.people)}")


def release_name(reading: ReleaseReading, setting: Setting, *, name: str = "") -> str:
    """Return a setting in words, with its epsilon if it has one."""
    name = name or mechanism_name(setting)
    if setting.epsilon is None:
        return name
    return reading.sentences.say("name.at", name=name, epsilon=setting.epsilon)


def short_name(reading: ReleaseReading, setting: Setting) -> str:
    """Return a mechanism without its parameters, where no other of the same kind stands beside it."""
    same = [each for each in reading.beside if each.mechanism == setting.mechanism]
    return title_of(setting.mechanism) if len(same) < 2 else mechanism_name(setting)


def fill_of(setting: Setting) -> str:
    """Return how suppressed cells of a setting are read; an empty text if it suppresses none.

    >>> from evenhand.study.plan.cells import Setting
    >>> fill_of(Setting("suppression")), fill_of(Setting("thresholded-laplace")), fill_of(Setting("laplace"))
    ('half-threshold', 'blank', '')
    """
    mechanism = MECHANISMS[setting.mechanism]
    usual = BLANKS_READ_AS if "fill" in mechanism.parameter_names() else "blank"
    return str(setting.options.get("fill", usual)) if mechanism.suppresses else ""


def blanks_text(reading: ReleaseReading, settings: Iterable[Setting]) -> str:
    """Return how the suppressed cells of these settings are read; an empty text if they suppress none."""
    readings: dict[str, list[str]] = {}
    for setting in settings:
        if fill := fill_of(setting):
            names = readings.setdefault(FILL_WORDS[fill], [])
            names += [title] if (title := title_of(setting.mechanism)) not in names else []
    say = reading.sentences.say
    shown = [say("blanks.reading", reading=each, names=", ".join(names)) for each, names in readings.items()]
    return say("blanks.sentence", readings=shown) if shown else ""


def errors_text(reading: ReleaseReading) -> str:
    """Return which mechanisms' errors are exact, and what those of the others are."""
    exact = [mechanism_name(each) for each in reading.beside if reading.is_exact(each, "error")]
    key = "sampled" if not exact else "exact" if len(exact) == len(reading.beside) else "some"
    return reading.sentences.say(f"errors.{key}", names=exact, repeats=reading.repeats_words)


def error_text(reading: ReleaseReading, setting: Setting, error: Estimated) -> str:
    """Return an error of cells without its interval, with one more digit where it is exact."""
    if not math.isfinite(error.value):
        return "undefined"
    tiny = not round(error.value, _MOST_DIGITS)
    return "0" if tiny else number(error.value, digits_of(error.value) + reading.is_exact(setting, "error"))


def share_value(found: Estimated) -> str:
    """Return a share in percent with its sign."""
    if not math.isfinite(found.value):
        return "undefined"
    return f"{number(100 * found.value, _share_digits(found), sign=True)}%"


def share_interval(found: Estimated, *, sign: bool = True) -> str:
    """Return the interval of a share in percent; an empty text if there is none.

    >>> from evenhand.study.results.estimates import Estimated
    >>> share_interval(Estimated(-0.031, -0.034, -0.028), sign=False)
    '(2.8 to 3.4)'
    """
    if not math.isfinite(found.value) or found.low is None or found.high in (None, found.low):
        return ""
    limits = (found.low, found.high or 0.0)
    low, high = limits if sign else sorted(map(abs, limits))
    return interval_of(100 * low, 100 * high, _share_digits(found), sign=sign)


def share_text(found: Estimated) -> str:
    """Return a share in percent with its sign and interval, as in a sentence.

    >>> from evenhand.study.results.estimates import Estimated
    >>> share_text(Estimated(-0.031, -0.034, -0.028))
    '−3.1% (−3.4 to −2.8)'
    """
    return f"{share_value(found)} {share_interval(found)}".rstrip()


def share_size(found: Estimated) -> str:
    """Return a share in percent without its sign.

    >>> from evenhand.study.results.estimates import Estimated
    >>> share_size(Estimated(-0.031, -0.034, -0.028)), share_size(Estimated(20.04))
    ('3.1%', '2,004%')
    """
    return f"{number(100 * abs(found.value), _share_digits(found))}%"


def off_text(reading: ReleaseReading, setting: Setting, group: str, *, name: str) -> str:
    """Return by how much the count of a group is off with a setting, as a sentence."""
    say, change = reading.sentences.say, share_text(reading.lost(group, setting))
    read = say("lost.parts.worst_read") if fill_of(setting) == BLANKS_READ_AS else ""
    return say("lost.parts.worst", name=name, read=read, group=reading.named(group), change=change)


def _share_digits(found: Estimated) -> int:
    """Return one digit, none for large shares, or as many as keep a clear change from looking like none."""
    sizes = [abs(each) for each in (found.value, found.low, found.high) if each]
    if sizes and max(sizes) >= 1:
        return 0
    if not found.is_clear:
        return 1 if not sizes or round(100 * max(sizes), 1) else 2
    return next((each for each in (1, 2, 3) if round(100 * min(sizes), each)), 3)
