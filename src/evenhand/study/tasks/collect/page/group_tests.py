"""Who moved, whether the protocol matters, and where the gap comes from: headings and their tests."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from evenhand.study.page.wording import amount, change, counted, epsilon_text, listed, setting_name
from evenhand.study.tasks.collect.page.accuracy import gaining, losing
from evenhand.study.tasks.collect.page.reading import UNPROTECTED_SETTING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evenhand.study.results.estimates import Estimated
    from evenhand.study.tasks.collect.page.reading import Reading

__all__ = [
    "Sources",
    "data_heading",
    "gap_sources",
    "moved_heading",
    "paid_apart",
    "protocols_heading",
    "widest_rival",
]

_FEW = 3


# --- who moved ------------------------------------------------------------------------------------


def moved_heading(reading: Reading) -> str:
    """Return who is selected more or less often, and who loses accuracy, as a heading."""
    groups = reading.groups
    if not any(reading.moved(group, "selection").has_interval for group in groups):
        return "Who moved cannot be told without intervals"
    up, down = gaining(reading, "selection"), losing(reading, "selection")
    if not up and not down:
        first = "no group clearly moves"
    else:
        parts = [f"{_who(reading, names)} {way}" for names, way in ((up, "up"), (down, "down")) if names]
        first = ", ".join(parts)
    return f"Who moved: {first}, and {_accuracy(reading)}"


def _accuracy(reading: Reading) -> str:
    losers, winners = losing(reading), gaining(reading)
    if not losers and not winners:
        return "no group's accuracy clearly changes"
    if len(losers) == len(reading.groups):
        return "both lose accuracy" if len(losers) == 2 else "all lose accuracy"
    parts = []
    if losers:
        clearly = "" if winners else " clearly"
        parts.append(f"{_who(reading, losers)}{clearly} {'loses' if len(losers) == 1 else 'lose'} accuracy")
    if winners:
        clearly = "" if losers else " clearly"
        parts.append(f"{_who(reading, winners)}{clearly} {'gains' if len(winners) == 1 else 'gain'} accuracy")
    return listed(parts)


def _who(reading: Reading, groups: Sequence[str]) -> str:
    if len(groups) == len(reading.groups):
        return "both" if len(groups) == 2 else "all"
    if len(groups) > _FEW:
        return f"{len(groups)} of {counted(len(reading.groups), 'group')}"
    return listed([reading.named(group) for group in groups])


def paid_apart(reading: Reading) -> str:
    """Return whether the two groups of the gap lose different amounts of accuracy."""
    apart = reading.moved_apart("accuracy")
    if not apart.has_interval:
        return ""
    low, high = reading.named(reading.low), reading.named(reading.high)
    if not apart.is_clear:
        return f"In the change of accuracy {low} and {high} do not differ clearly: {change(apart)}."
    way = "better" if apart.value > 0 else "worse"
    return f"The change of accuracy is {way} for {low} than for {high}, by {amount(apart)}."


# --- protocols ------------------------------------------------------------------------------------


def protocols_heading(reading: Reading) -> str:
    """Return whether other settings at the chosen epsilon differ, as a heading."""
    at = f"At ε = {epsilon_text(reading.chosen)},"
    name = setting_name(reading.chosen, epsilon=False)
    if not any(each.accuracy.has_interval or each.gap.has_interval for each in reading.rivals):
        return f"{at} settings cannot be told apart without intervals"
    differing = [each for each in reading.rivals if each.verdict != "same"]
    if not differing:
        return f"{at} no other setting differs clearly from {name}"
    every = len(reading.rivals)
    if len(differing) == every:
        return (
            f"{at} {'the other setting differs' if every == 1 else 'every other setting differs'} from {name}"
        )
    verb = "differs" if len(differing) == 1 else "differ"
    return f"{at} {len(differing)} of {every} other settings {verb} clearly from {name}"


def widest_rival(reading: Reading) -> str:
    """Return the largest difference in the gap from the chosen setting, with what its interval says."""
    known = [each for each in reading.rivals if each.gap.has_interval]
    if not known:
        return ""
    most = max(known, key=lambda each: abs(each.gap.value))
    inside = "which leaves out no difference" if most.gap.is_clear else "which includes no difference"
    return (
        f"Furthest away in the gap is {setting_name(most.setting, epsilon=False)}: "
        f"{change(_turned(most.gap), unit=' points')}, {inside}."
    )


def _turned(found: Estimated) -> Estimated:
    low = None if found.high is None else -found.high
    high = None if found.low is None else -found.low
    return replace(found, value=-found.value, low=low, high=high)


# --- where the gap comes from ---------------------------------------------------------------------


@dataclass(frozen=True)
class Sources:
    """How far apart the privileged group and everybody else are, turned so that the labels' gap is positive.

    Parameters
    ----------
    model, protection : Estimated
        What the predictions add to the gap of the labels, and what protection adds to that.
    plain, protected : Estimated
        The gaps of the predictions.
    """

    model: Estimated
    protection: Estimated
    plain: Estimated
    protected: Estimated


def gap_sources(reading: Reading) -> Sources | None:
    """Return the tests of where the gap comes from, or None if a part of it has no interval."""
    results = reading.results
    arrays = results.arrays
    truth = arrays.of_data[results.place(UNPROTECTED_SETTING), :, arrays.data.index("true")]
    plain, protected = (reading.runs(each, "spd") for each in (UNPROTECTED_SETTING, reading.chosen))
    mean = reading.tested(truth).value
    if not math.isfinite(mean):
        return None
    sign = math.copysign(1.0, mean)
    parts = (plain - truth, protected - plain, plain, protected)
    found = [reading.tested(sign * each) for each in parts]
    return Sources(*found) if all(each.has_interval for each in found) else None


def data_heading(reading: Reading) -> str:
    """Return what the model and protection do to the gap in the labels, as a heading."""
    found = gap_sources(reading)
    if found is None:
        return "Where the gap comes from cannot be told without intervals"
    return f"{_model_words(found)}; {_protection_words(found)}"


def _model_words(found: Sources) -> str:
    if not found.model.is_clear:
        return "The model's gap does not differ clearly from that of the labels"
    if found.plain.is_clear and found.plain.value < 0:
        return "The model turns the gap of the labels round"
    return (
        "The model widens the gap of the labels"
        if found.model.value > 0
        else "The model narrows the gap of the labels"
    )


def _protection_words(found: Sources) -> str:
    before, after = found.plain, found.protected
    if not found.protection.is_clear:
        return "protection does not clearly change it"
    if before.is_clear and after.is_clear and before.value * after.value < 0:
        return "protection turns it round"
    if not before.is_clear:
        return "protection moves it"
    wider = found.protection.value * before.value > 0
    return "protection widens it" if wider else "protection narrows it"
