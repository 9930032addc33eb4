"""The third answer of a study of releases: what to publish with, what that costs whom, and the command."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from evenhand.report.page import Answer
from evenhand.study.page.comparing import ENOUGH_REPEATS
from evenhand.study.page.wording import delta_text
from evenhand.study.tasks.release.wording import error_text, off_text, release_name, short_name, tone_of
from evenhand.study.tasks.shared.table_mechanisms import title_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evenhand.study.plan.cells import Setting
    from evenhand.study.tasks.release.reading import ReleaseReading

_MOST_NAMED = 3


def choice_answer(reading: ReleaseReading) -> Answer:
    """Return what to publish with, or that none of these tables is to be published."""
    key, slots, setting = _choice(reading)
    said = reading.sentences.answer(f"choice.{key}", **slots)
    if setting is not None:
        return Answer(said.finding, said.evidence, reading.next_command(setting))
    if key == "repeats":
        return Answer(said.finding, said.evidence, "evenhand audit --plan plan.toml --repeats 10")
    action = reading.task.audit_command(reading.results.plan.data)
    return Answer(said.finding, said.evidence, action if key in {"none", "none_one", "compare"} else "")


def recommended(reading: ReleaseReading) -> Setting | None:
    """Return the setting that the third answer names; None where it names none."""
    return _choice(reading)[2]


def _choice(reading: ReleaseReading) -> tuple[str, dict[str, Any], Setting | None]:
    """Return which sentence is true, its slots, and the setting it recommends."""
    done = [setting for setting in reading.beside if math.isfinite(reading.cell_error(setting).value)]
    field = [setting for setting in done if setting in reading.promising]
    if not done:
        return "unknown", {}, None
    if not field:
        delta = min(reading.delta(setting) for setting in done)
        told = {"delta": delta_text(delta), "name": short_name(reading, done[0])}
        return "none" if len(done) > 1 else "none_one", told, None
    drawn = [setting for setting in field if not reading.has_enough_repeats(setting)]
    if drawn:
        runs = min(reading.cell_error(setting).runs for setting in drawn)
        return "repeats", {"bad": _delta(reading), "repeats": runs, "enough": ENOUGH_REPEATS}, None
    return _recommended(reading, field)


def _recommended(
    reading: ReleaseReading, field: Sequence[Setting]
) -> tuple[str, dict[str, Any], Setting | None]:
    """Return the same, where several settings with a promise can be compared or there is one."""
    best = reading.chosen if reading.chosen in field else reading.preferred(field)
    pick = _fairer(reading, best, field)
    slots: dict[str, Any] = {"how": _how(reading, pick), "errors": _errors(reading, pick, field)}
    slots |= {"delta": _delta(reading), "weak": _weak(reading, pick), "hint": _hint(reading, pick)}
    least = min(field, key=lambda setting: reading.cell_error(setting).value)
    trade = reading.errs_less(least, pick, comparisons=len(field) - 1)
    if trade or reading.miscounted(best):
        other = least if trade else best
        slots |= {"other": short_name(reading, other), "cost": _cost(reading, other)}
        return _unfair(reading, pick, field, slots, trade=trade)
    if smaller := _smaller_epsilon(reading, pick):
        own, was = (error_text(reading, each, reading.cell_error(each)) for each in (smaller, pick))
        slots |= {"name": short_name(reading, pick), "smaller": smaller.epsilon, "epsilon": pick.epsilon}
        slots["errors"] = reading.sentences.say("choice.parts.error_smaller", own=own, was=was, **slots)
        return "smaller", slots, smaller
    return *_among(reading, pick, field, slots), pick


def _unfair(
    reading: ReleaseReading, pick: Setting, field: Sequence[Setting], slots: dict[str, Any], *, trade: bool
) -> tuple[str, dict[str, Any], Setting | None]:
    """Return what to do where the mechanism with the smallest errors miscounts a group."""
    if not reading.miscounted(pick):
        return ("trade" if trade else "fairer"), slots, pick
    if slots["hint"]:
        return "compare", slots | {"cost": _cost(reading, pick)}, None
    return ("unfair" if len(field) > 1 else "unfair_one"), slots | {"cost": _cost(reading, pick)}, pick


def _how(reading: ReleaseReading, setting: Setting) -> str:
    return release_name(reading, setting, name=short_name(reading, setting))


def _among(
    reading: ReleaseReading, best: Setting, field: Sequence[Setting], slots: dict[str, Any]
) -> tuple[str, dict[str, Any]]:
    """Return why the best mechanism is taken: others promise nothing, or none clearly errs less."""
    bad = [setting for setting in reading.beside if setting not in reading.promising]
    names = list(dict.fromkeys(title_of(setting.mechanism) for setting in bad))
    mixed = {setting.mechanism for setting in bad} & {setting.mechanism for setting in reading.promising}
    if bad and len(names) <= _MOST_NAMED and not mixed:
        give = "gives" if len(names) == 1 else "give"
        return "guarantee", slots | {"bad_names": names, "give": give}
    if bad:
        return ("guarantee_others" if len(field) == 1 else "guarantee_some"), slots
    others = [setting for setting in field if setting != best]
    if not others:
        return "only", slots
    same = [each for each in others if not reading.errs_less(best, each, comparisons=len(others))]
    if not same:
        return "least", slots
    are = "is" if len(same) == 1 else "are"
    return "alike", slots | {"others": [short_name(reading, each) for each in same], "are": are}


# --- the fairer mechanism -------------------------------------------------------------------------


def miscounts_nobody(reading: ReleaseReading, setting: Setting) -> bool:
    """Return whether it is known that no group that is judged is clearly off by a percent or more."""
    known = [loss for loss in reading.losses(setting).values() if math.isfinite(loss.value)]
    return bool(known) and all(loss.has_interval for loss in known) and not reading.miscounted(setting)


def _fairer(reading: ReleaseReading, best: Setting, field: Sequence[Setting]) -> Setting:
    """Return the best setting, or one that errs less or as little and miscounts no group."""
    fair = [setting for setting in field if miscounts_nobody(reading, setting)]
    if not fair:
        return best
    least = reading.preferred([*([best] if best in fair else []), *(each for each in fair if each != best)])
    return least if reading.miscounted(best) or best in fair else best


def _cost(reading: ReleaseReading, setting: Setting) -> str:
    """Return for whom a setting is furthest off."""
    off = reading.miscounted(setting)[:1]
    return "".join(off_text(reading, setting, group, name=short_name(reading, setting)) for group in off)


def _hint(reading: ReleaseReading, setting: Setting) -> str:
    """Return that plain noise would miscount nobody, where a setting does and plain noise was not tried."""
    tried = any(each.mechanism == "laplace" and not reading.task.post_of(each) for each in reading.beside)
    return "" if tried or not reading.miscounted(setting) else reading.sentences.say("choice.parts.hint")


def _weak(reading: ReleaseReading, setting: Setting) -> str:
    """Return that a guarantee is weak, where a random record may be published under it."""
    delta = reading.delta(setting)
    if tone_of(delta, people=reading.people) == "ok":
        return ""
    return reading.sentences.say("choice.parts.weak", delta=delta_text(delta), people=reading.people)


def _smaller_epsilon(reading: ReleaseReading, best: Setting) -> Setting | None:
    """Return the smallest epsilon at which the mechanism errs no more than matters, and miscounts no more."""
    series = [
        setting
        for setting in reading.protected
        if (setting.mechanism, setting.options) == (best.mechanism, best.options)
        and setting.epsilon is not None
        and best.epsilon is not None
        and setting.epsilon < best.epsilon
    ]
    for setting in sorted(series, key=lambda each: each.epsilon or 0):
        more = reading.less_error(setting, best, comparisons=len(series))
        little = more.high is not None and not reading.matters(more.high, best)
        fair = miscounts_nobody(reading, setting) or not miscounts_nobody(reading, best)
        if little and fair:
            return setting
    return None


# --- evidence -------------------------------------------------------------------------------------


def _errors(reading: ReleaseReading, pick: Setting, field: Sequence[Setting]) -> str:
    """Return the error of a cell with the setting, and with each other one that keeps a promise."""
    say = reading.sentences.say
    shown = {setting: error_text(reading, setting, reading.cell_error(setting)) for setting in field}
    others = [
        say("choice.parts.error", name=short_name(reading, each), error=shown[each])
        for each in field
        if each != pick
    ]
    return say(f"choice.parts.{'errors' if others else 'error_one'}", own=shown[pick], others=others)


def _delta(reading: ReleaseReading) -> str:
    """Return which mechanisms promise nothing, each with its delta."""
    say, bad = reading.sentences.say, [each for each in reading.beside if each not in reading.promising]
    parts = [
        say("choice.parts.bad", name=short_name(reading, each), delta=delta_text(reading.delta(each)))
        for each in bad
    ]
    return say("choice.parts.delta", names=parts) if parts else ""
