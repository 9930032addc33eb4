"""The section on who moved: each group's rates before and after, as dumbbells."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evenhand.report.charts import moved_chart
from evenhand.report.marks import Axis, Moved
from evenhand.report.page import Note, Section
from evenhand.study.page.parts import caption
from evenhand.study.page.wording import change, counted, listed, mark, outcome_name, percent, setting_name
from evenhand.study.tasks.collect.page.group_tests import moved_heading, paid_apart

if TYPE_CHECKING:
    from evenhand.study.tasks.collect.page.reading import Reading

__all__ = ["groups_section", "shown_groups"]

_MOST = 12
_FEW_PEOPLE = 30


def groups_section(reading: Reading) -> Section:
    """Return the dumbbells with their heading."""
    outcome = outcome_name(reading.results.facts.schema)
    rates = (
        ("selection", Axis(f"predicted {outcome}", "% of the group", 100.0)),
        ("tpr", Axis(f"found among true {outcome}", "% of these in the group", 100.0)),
        ("accuracy", Axis("predicted correctly", "% of the group", 100.0)),
    )
    shown = shown_groups(reading)
    chart = moved_chart(
        [(axis, [_moved(reading, group, rate) for group in shown]) for rate, axis in rates],
        name="who-moved",
        alt=f"{moved_heading(reading)}. {_alt(reading, shown)}",
        caption=caption(
            reading,
            "In brackets, paired by repeat",
            _rest(reading, len(shown)),
            together=len(reading.groups),
        ),
    )
    return Section(
        heading=moved_heading(reading),
        lead=f"From the unprotected model (bar) to {setting_name(reading.chosen)} (filled mark).",
        charts=(chart,),
        notes=_small(reading),
        anchor="moved",
    )


def _small(reading: Reading) -> tuple[Note, ...]:
    """Return a warning of groups of which a test has few people."""
    tested = {group: reading.rate(group, "people").value for group in reading.groups}
    few = {group: count for group, count in tested.items() if count < _FEW_PEOPLE}
    if not few:
        return ()
    who = listed([f"{count:,.0f} of {reading.named(group)}" for group, count in few.items()])
    widest = " The selection gap, which is the widest between any two groups, hangs on them too."
    return (
        Note(
            "warn",
            f"**Few people: on average a test has {who}.** Rates of so few jump from repeat to repeat."
            f"{widest if len(tested) > 2 else ''}",
        ),
    )


def shown_groups(reading: Reading) -> tuple[str, ...]:
    """Return the groups that are drawn: all, or the two of the gap and the largest."""
    groups, sizes = reading.groups, reading.results.facts.sizes
    if len(groups) <= _MOST:
        return groups
    order = sorted(
        range(len(groups)),
        key=lambda place: (groups[place] not in {reading.high, reading.low}, -sizes[place]),
    )
    return tuple(groups[place] for place in sorted(order[:_MOST]))


def _moved(reading: Reading, group: str, rate: str) -> Moved:
    before, after = reading.rate_pair(group, rate)
    return Moved(
        group=reading.groups.index(group),
        label=reading.named(group),
        before=mark(before),
        after=mark(after),
        change=mark(reading.moved(group, rate)),
    )


def _rest(reading: Reading, drawn: int) -> str:
    tested = [reading.rate(group, "people").value for group in reading.groups]
    people = listed(
        [f"{reading.named(group)}: {count:,.0f}" for group, count in zip(reading.groups, tested, strict=True)]
    )
    hidden = len(reading.groups) - drawn
    parts = [
        "Changes are in points; the scales differ.",
        f"People in a test, on average: {people}.",
        f"Not drawn: {counted(hidden, 'smaller group')}." if hidden else "",
        paid_apart(reading),
    ]
    return " ".join(part for part in parts if part)


def _alt(reading: Reading, groups: tuple[str, ...]) -> str:
    words = []
    for group in groups[:5]:
        before, after = reading.rate_pair(group, "selection")
        moved = change(reading.moved(group, "selection"))
        words.append(
            f"{reading.named(group)} from {percent(before.value)} to {percent(after.value)}, {moved}"
        )
    return f"Selected: {'; '.join(words)}."
