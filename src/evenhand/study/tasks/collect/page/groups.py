"""Who moved, and where the gap comes from: each group before and after, and the gap in labels and reports."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from evenhand.report.charts import bars_chart
from evenhand.report.marks import Axis, Bar
from evenhand.report.page import Note, Section
from evenhand.report.words import listed
from evenhand.study.page.comparing import ENOUGH_REPEATS
from evenhand.study.page.parts import caption, few_people, people_in_a_test, rates_chart, shown_groups
from evenhand.study.page.reading import BASELINE, CHANGE
from evenhand.study.page.wording import mark, outcome_name, points
from evenhand.study.tasks.shared.optimal_setting import NAME

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evenhand.study.results.estimates import Estimated
    from evenhand.study.tasks.collect.reading import CollectReading

_FEW = 3


def groups_section(reading: CollectReading) -> Section:
    """Return the dumbbells with their heading."""
    shown = shown_groups(reading, first={reading.high, reading.low})
    heading, say = moved_heading(reading), reading.sentences.under("moved")
    rest = f"{people_in_a_test(reading, shown)} {paid_apart(reading)}".strip()
    chart = rates_chart(
        reading,
        shown,
        name="who-moved",
        heading=heading,
        caption=caption(reading, say("bars"), rest, together=len(reading.groups)),
    )
    return Section(
        heading=heading,
        lead=say("lead", chosen=reading.setting_name(reading.chosen)),
        charts=(chart,),
        notes=few_people(reading),
        anchor="moved",
    )


# --- who moved ------------------------------------------------------------------------------------


def moved_heading(reading: CollectReading) -> str:
    """Return who is selected more or less often, and who loses accuracy, as a heading."""
    say = reading.sentences.under("moved")
    if not any(reading.moved(group, "selection").has_interval for group in reading.groups):
        return say("few_repeats" if reading.few_repeats_words else "no_intervals", enough=ENOUGH_REPEATS)
    moving = {"up": reading.gaining("selection"), "down": reading.losing("selection")}
    moves = [say(way, who=_who(reading, groups)) for way, groups in moving.items() if groups]
    return say("heading", moves=", ".join(moves) or say("nobody"), accuracy=_accuracy(reading))


def _accuracy(reading: CollectReading) -> str:
    losers, winners = reading.losing(), reading.gaining()
    say = reading.sentences.under("moved")
    if not losers and not winners:
        return say("same")
    if len(losers) == len(reading.groups):
        return say("both_lose" if len(losers) == 2 else "all_lose")
    clearly = "" if losers and winners else say("clearly")
    return listed(
        [
            say(f"{verb}_{'one' if len(groups) == 1 else 'many'}", who=_who(reading, groups), clearly=clearly)
            for verb, groups in (("loses", losers), ("gains", winners))
            if groups
        ]
    )


def _who(reading: CollectReading, groups: Sequence[str]) -> str:
    say, total = reading.sentences.under("moved"), len(reading.groups)
    if len(groups) == total:
        return say("both" if total == 2 else "all")
    if len(groups) > _FEW:
        return say("some", count=len(groups), total=total)
    return listed([reading.named(group) for group in groups])


def paid_apart(reading: CollectReading) -> str:
    """Return whether the two groups of the gap lose different amounts of accuracy."""
    apart = reading.moved_apart("accuracy")
    if not apart.has_interval:
        return ""
    way = "unclear" if not apart.is_clear else "better" if apart.value > 0 else "worse"
    names = {"low": reading.named(reading.low), "high": reading.named(reading.high)}
    return reading.sentences.say(f"moved.apart_{way}", apart=apart, **names)


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


def gap_sources(reading: CollectReading) -> Sources | None:
    """Return the tests of where the gap comes from, or None if a part of it has no interval."""
    truth = reading.data_runs(BASELINE, "tested")
    plain, protected = (reading.runs(setting, "spd") for setting in (BASELINE, reading.chosen))
    mean = reading.tested(truth, within=CHANGE).value
    if not math.isfinite(mean):
        return None
    sign = math.copysign(1.0, mean)
    parts = (plain - truth, protected - plain, plain, protected)
    found = [reading.tested(sign * runs, within=(-2.0, 2.0)) for runs in parts]
    return Sources(*found) if all(part.has_interval for part in found) else None


def data_heading(reading: CollectReading) -> str:
    """Return what the model and protection do to the gap in the labels, as a heading."""
    found, say = gap_sources(reading), reading.sentences.under("data")
    if found is None:
        return say("no_intervals")
    model = _model_key(found) if reading.is_useful(BASELINE) else "model_useless"
    protection = _protection_key(found) if reading.is_useful() else "protection_useless"
    return say("heading", model=say(model), protection=say(protection), **_two_sides(reading))


def _two_sides(reading: CollectReading) -> dict[str, str]:
    """Return the names of the privileged group and of whom it is compared with."""
    place = reading.results.facts.privileged or 0
    names = {
        "privileged": reading.named(reading.groups[place]),
        "others": reading.sentences.say("data.others"),
    }
    return names | ({"others": reading.named(reading.groups[1 - place])} if len(reading.groups) == 2 else {})


def _model_key(found: Sources) -> str:
    if not found.model.is_clear:
        return "model_same"
    if found.plain.is_clear and found.plain.value < 0:
        return "model_turns"
    return "model_widens" if found.model.value > 0 else "model_narrows"


def _protection_key(found: Sources) -> str:
    before, after = found.plain, found.protected
    if not found.protection.is_clear:
        return "protection_same"
    if before.is_clear and after.is_clear and before.value * after.value < 0:
        return "protection_turns"
    if not before.is_clear:
        return "protection_moves"
    wider = found.protection.value * before.value > 0
    return "protection_widens" if wider else "protection_narrows"


def data_section(reading: CollectReading) -> Section | None:
    """Return the four bars with their heading; None without a privileged group to compare with."""
    facts, say = reading.results.facts, reading.sentences.under("data")
    if facts.privileged is None:
        return None
    names = {**_two_sides(reading), "outcome": outcome_name(facts.schema)}
    this_gap = say(f"this_gap_{'two' if len(reading.groups) == 2 else 'many'}")
    truth, reported = (
        reading.tested(reading.data_runs(reading.chosen, name), within=CHANGE)
        for name in ("tested", "reported")
    )
    estimates = {
        "labels": truth,
        "reports": reported,
        "unprotected": reading.before("spd"),
        "protected": reading.value("spd"),
    }
    numbers = [say("bar", label=say(key), points=points(found.value)) for key, found in estimates.items()]
    heading = data_heading(reading)
    chart = bars_chart(
        Axis(say("difference", **names), say("difference_unit", **names), 100.0),
        [Bar(say(key), mark(found), strong=key == "protected") for key, found in estimates.items()],
        name="where-the-gap-comes-from",
        alt=say("alt", heading=heading, numbers="; ".join(numbers), **names),
        caption=caption(reading, say("bars"), say("caption", chosen=reading.setting_name(reading.chosen))),
    )
    by_design = (Note("plain", say("by_design")),) if reading.chosen.mechanism == NAME else ()
    return Section(
        heading=heading,
        lead=say(
            "lead", truth=points(truth.value), reported=points(reported.value), this_gap=this_gap, **names
        ),
        charts=(chart,),
        notes=(*by_design, Note("plain", say("not_fairer", **names))),
        anchor="data",
    )
