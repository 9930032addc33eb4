"""The first two answers of a study of releases: which cells suffer, and which groups are miscounted.

Here is decided which sentence is true; the words stand in the catalogue beside this module. Each comparative
word rests on an interval: where it leaves room for no difference, the sentence is another one.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from evenhand.release.mechanisms.registry import MECHANISMS
from evenhand.report.page import Answer
from evenhand.report.words import number
from evenhand.study.page.comparing import strict
from evenhand.study.page.reading import mean_of
from evenhand.study.page.wording import is_exactly_zero
from evenhand.study.tasks.release.reading import PERCENT, TENTH
from evenhand.study.tasks.release.wording import (
    error_text,
    fill_of,
    off_text,
    release_name,
    share_interval,
    share_size,
    share_text,
    share_value,
)
from evenhand.study.tasks.shared.wording import mechanism_name

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from evenhand.study.results.estimates import Estimated
    from evenhand.study.tasks.release.reading import ReleaseReading
    from evenhand.study.tasks.shared.sizes import Size

_MORE, _MANY = 1.5, 10
_EQUAL = 1e-6
"""Exact errors that differ by less are the same: sums of floating-point numbers are rounded."""


def _basis(reading: ReleaseReading, *, exact: bool) -> str:
    """Return what numbers rest on: formulas or repeats, of which mechanism."""
    how = release_name(reading, reading.chosen)
    return reading.sentences.say(f"basis.{'exact' if exact else 'sampled'}", how=how, repeats=reading.repeats)


def _with_asides(answer: Answer, *asides: str) -> Answer:
    return Answer(answer.finding, " ".join(filter(None, (answer.evidence, *asides))))


# --- which cells suffer ---------------------------------------------------------------------------


def error_answer(reading: ReleaseReading) -> Answer:
    """Return which cells are far off for their size, and which group bears most of it per person."""
    key, sentences = error_finding(reading), reading.sentences
    slots: dict[str, Any] = {}
    if key not in {"unknown", "empty"}:
        exact = reading.is_exact(reading.chosen, "error")
        slots = {"basis": _basis(reading, exact=exact), "persons": _per_person(reading), **_off(reading)}
        told = key in {"small", "large"}  # whose finding has the shares
        slots["sizes"] = sentences.say(f"error.parts.sizes{'_bare' * told}", **slots)
    return _with_asides(sentences.answer(f"error.{key}", **slots), reading.missing_words("people.missing"))


def error_finding(reading: ReleaseReading) -> str:
    """Return which sentence on small and large cells is true, as far as it is clear."""
    if not math.isfinite(reading.cell_error().value):
        return "unknown"
    if len(reading.sizes) < 2:
        return "one_size" if reading.sizes else "empty"
    errors = [reading.of_size("error", size).value for size in reading.sizes]
    noise = MECHANISMS[reading.chosen.mechanism].may_be_negative
    if noise and reading.is_exact(reading.chosen, "error") and max(errors) - min(errors) < _EQUAL:
        return "same"
    small, large = reading.sizes[0], reading.sizes[-1]
    runs = [reading.size_runs("error", size) for size in (small, large)]
    people = [reading.size_runs("size", size) for size in (small, large)]
    with np.errstate(divide="ignore", invalid="ignore"):
        means = [mean_of(error / size) for error, size in zip(runs, people, strict=True)]
        shares = reading.compared(runs[0] / people[0] - runs[1] / people[1])
    if not shares.is_clear or abs(means[0] - means[1]) < TENTH * max(means):
        return "even" if shares.is_clear else "unclear"
    apart = reading.compared(runs[1] - runs[0]).is_clear
    return "large" if shares.value < 0 else "small" if apart else "alike"


def _off(reading: ReleaseReading) -> dict[str, str]:
    """Return what the smallest and the largest cells are off by, in people and for their size."""
    slots: dict[str, str] = {}
    for name, size in (("small", reading.sizes[0]), ("large", reading.sizes[-1])):
        error, share = _error_of(reading, size)
        slots |= {name: size.label, f"{name}_error": error, f"{name}_share": share}
    return slots | {"size": slots["small"], "error": slots["small_error"], "share": slots["small_share"]}


def _error_of(reading: ReleaseReading, size: Size) -> tuple[str, str]:
    error = reading.of_size("error", size)
    share = 100 * error.value / reading.of_size("size", size).value
    return error_text(reading, reading.chosen, error), f"{number(share, int(share < _MANY))}%"


def _per_person(reading: ReleaseReading) -> str:
    """Return which groups differ most in errors per person, if that is clear among all pairs of groups."""
    runs = _person_runs(reading)
    means = {group: float(np.nanmean(values)) for group, values in runs.items()}
    if len(means) < 2:
        return ""
    high, low = max(means, key=means.__getitem__), min(means, key=means.__getitem__)
    apart = reading.compared(runs[high] - runs[low], level=strict(math.comb(len(runs), 2)))
    if not apart.has_interval:
        return ""
    if not apart.is_clear or not means[low]:
        return reading.sentences.say("error.parts.unclear")
    times = means[high] / means[low]
    slots = {
        "high": reading.named(high),
        "low": reading.named(low),
        "times": number(times, int(times < _MANY)),
    }
    return reading.sentences.say(f"error.parts.{'apart' if round(times, 1) > 1 else 'alike'}", **slots)


def _person_runs(reading: ReleaseReading) -> dict[str, NDArray[np.float64]]:
    found = {group: reading.group_runs(reading.chosen, group, "person_error") for group in reading.judged}
    return {group: runs for group, runs in found.items() if np.isfinite(runs).any()}


# --- who is miscounted ----------------------------------------------------------------------------


def lost_answer(reading: ReleaseReading) -> Answer:
    """Return which groups the published table counts too low or too high."""
    key, slots = _lost(reading)
    settled = all(loss.low is not None and loss.low == loss.high for loss in reading.losses().values())
    basis = _basis(reading, exact=reading.is_exact(reading.chosen) and settled)
    said = reading.sentences.answer(f"lost.{key}", basis=basis, worst=_worst(reading), **slots)
    if key.endswith(("low", "high", "both")) and fill_of(reading.chosen) == "half-threshold":
        finding = f"{said.finding[0].lower()}{said.finding[1:]}"
        said = Answer(reading.sentences.say("lost.parts.read_as", finding=finding), said.evidence)
    return _with_asides(said, _too_few(reading))


def _lost(reading: ReleaseReading) -> tuple[str, dict[str, Any]]:
    known = {group: loss for group, loss in reading.losses().items() if math.isfinite(loss.value)}
    if not known:
        return "too_few" if reading.too_few else "unknown", {}
    if all(loss.value == loss.low == loss.high == 0 or is_exactly_zero(loss) for loss in known.values()):
        return _nobody(reading)
    low, high = (reading.miscounted(sign=sign) for sign in (-1, 1))
    if not low and not high:
        return _little(reading, known)
    first = (low or high)[0]
    told = [first, *(high[:1] if low else [])]
    slots = {"group": reading.named(first), "loss": share_size(known[first])}
    slots |= {"limits": _limits(reading, [known[group] for group in told])}
    slots |= {"others": _others(reading, [group for group in known if group not in told])}
    if low and high:
        return "both", slots | {"other": reading.named(high[0]), "gain": share_size(known[high[0]])}
    way, count = ("low", len(low)) if low else ("high", len(high))
    if count == 1:
        return way, slots
    return f"{'every' if count == len(reading.groups) else 'several'}_{way}", slots


def _little(reading: ReleaseReading, known: dict[str, Estimated]) -> tuple[str, dict[str, Any]]:
    """Return that no group is clearly off, or only by little, with the one that is furthest off."""
    furthest = max(known, key=lambda group: abs(known[group].value))
    slots = {"group": reading.named(furthest), "change": share_value(known[furthest])}
    slots["limits"] = _limits(reading, [known[furthest]], sign=True)
    if not known[furthest].has_interval:
        return ("one_repeat" if known[furthest].runs == 1 else "equal"), slots
    ends = [abs(end) for loss in known.values() for end in (loss.low, loss.high) if end is not None]
    return ("little" if max(ends) <= PERCENT else "unclear"), slots


def _nobody(reading: ReleaseReading) -> tuple[str, dict[str, Any]]:
    """Return that nobody is lost: in any repeat, or on average, and then how far one release is off."""
    chosen = reading.chosen
    moved = any(np.nan_to_num(reading.group_runs(chosen, group, "net")).any() for group in reading.groups)
    spreads = {group: share for group in reading.judged if math.isfinite(share := reading.varies(group))}
    if not moved:
        return "none", {}
    if not spreads:
        return "average_bare", {}
    worst = max(spreads, key=spreads.__getitem__)
    return "average", {"group": reading.named(worst), "spread": f"{number(100 * spreads[worst], 1)}%"}


def _limits(reading: ReleaseReading, losses: Sequence[Estimated], *, sign: bool = False) -> str:
    shown = [text for loss in losses if (text := share_interval(loss, sign=sign).strip("()"))]
    return reading.sentences.say("lost.parts.limits", limits=shown) if shown else ""


def _others(reading: ReleaseReading, groups: Sequence[str]) -> str:
    say, losses = reading.sentences.say, reading.losses()
    order = sorted(groups, key=lambda group: losses[group].value)
    parts = [
        say("lost.parts.other", group=reading.named(each), change=share_text(losses[each])) for each in order
    ]
    return say("lost.parts.others", groups=parts) if parts else ""


def _worst(reading: ReleaseReading) -> str:
    """Return which other mechanism is off by more, half as much again, and for whom, if that is clear."""
    worst = reading.worst(reading.beside)
    if worst is None or worst[0] == reading.chosen:
        return ""
    setting, group = worst
    own = [abs(loss.value) for loss in reading.losses().values()]
    more = abs(reading.lost(group, setting).value) > _MORE * max(own, default=0.0)
    return off_text(reading, setting, group, name=mechanism_name(setting)) if more else ""


def _too_few(reading: ReleaseReading) -> str:
    """Return which groups are too small for a percentage, and as how many people they are counted."""
    say, groups = reading.sentences.say, []
    name = "expected_net" if reading.is_exact(reading.chosen) else "net"
    for group in reading.too_few:
        people = reading.group_people(group)
        counted = people + float(np.nanmean(reading.group_runs(reading.chosen, group, name)))
        slots = {
            "group": reading.named(group),
            "people": people,
            "published": number(counted, int(not reading.classifies and round(counted, 1) % 1 > 0)),
        }
        groups.append(say("people.too_few_group", **slots))
    key = "too_few" if reading.judged else "all_too_few"  # then the finding says that they are
    return say(f"people.{key}", groups=groups) if groups else ""
