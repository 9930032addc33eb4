"""The map of crossed groups: the worst-off first, how little is known of small ones, and what margins hide.

How sure a rate is follows here from how many people it rests on, by the exact interval: repeats test the same
people again and again, so that an interval over repeats says little of a small group.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from evenhand.measure.counts import Tables
from evenhand.measure.disparities import compare_groups
from evenhand.measure.intervals import clopper_pearson
from evenhand.report.charts import groups_chart
from evenhand.report.marks import Axis, Estimate, GroupRow
from evenhand.report.page import Note, Section
from evenhand.report.words import plain
from evenhand.study.page.comparing import FEWEST_PEOPLE, LEVEL
from evenhand.study.page.reading import BASELINE, mean_of
from evenhand.study.page.wording import outcome_name

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from evenhand.measure.disparities import Disparity
    from evenhand.report.page import Chart
    from evenhand.study.page.catalogue import Catalogue
    from evenhand.study.page.reading import Reading

_MOST_IN_WORDS = 6


@dataclass(frozen=True)
class GroupMap:
    """All groups with their rates, and those of each crossed column by itself.

    Parameters
    ----------
    rows : tuple of GroupRow
        All groups, the worst-off first; those of too few people come last.
    margins : mapping of str to tuple of GroupRow
        The same for each column.
    gap : Disparity
        Between the groups of enough people.
    margin_gaps : mapping of str to Disparity
        Within each column.
    """

    rows: tuple[GroupRow, ...]
    margins: Mapping[str, tuple[GroupRow, ...]]
    gap: Disparity
    margin_gaps: Mapping[str, Disparity]

    @property
    def is_hidden(self) -> bool:
        """Whether all that the interval of the gap allows is beyond the gap of every column by itself."""
        if self.gap.reason:
            return False
        known = [margin for margin in self.margin_gaps.values() if not margin.reason]
        if self.gap.is_ratio:
            return bool(known) and all(self.gap.high < margin.value for margin in known)
        return bool(known) and all(self.gap.low > margin.value for margin in known)


def order_rows(rows: Sequence[GroupRow], *, worst_is_high: bool = False) -> tuple[GroupRow, ...]:
    """Return the groups of enough people, the worst-off first, then those of too few."""
    sign = -1.0 if worst_is_high else 1.0
    known = [row for row in rows if row.rate.is_finite]
    return tuple(sorted(known, key=lambda row: (row.few, sign * row.rate.value, row.label)))


def rates_map(reading: Reading) -> GroupMap:
    """Return the selection rates of the chosen setting, as sure as the people in one test make them."""
    facts = reading.results.facts
    gap, rows = _rated(reading, {group: reading.named(group) for group in facts.groups}, gap_first=True)
    margins = {
        column: _rated(reading, {label: plain(label) for label in labels})
        for column, labels in facts.margins.items()
    }
    return GroupMap(
        rows,
        {column: found[1] for column, found in margins.items()},
        gap,
        {column: found[0] for column, found in margins.items()},
    )


def _rated(
    reading: Reading, names: Mapping[str, str], *, gap_first: bool = False
) -> tuple[Disparity, tuple[GroupRow, ...]]:
    """Return the gap between some groups and their rows; the pair of the gap is strong if asked for."""
    people = np.array([mean_of(reading.group_runs(BASELINE, group, "people")) for group in names])
    shares = np.array([mean_of(reading.group_runs(reading.chosen, group, "selection")) for group in names])
    there = np.isfinite(shares) & (people > 0)
    people, selected = np.where(there, people, 0.0), np.where(there, people * shares, 0.0)
    cells = np.zeros((len(names), 4))
    cells[:, 0], cells[:, 1] = people - selected, selected
    gap = compare_groups(
        Tables(cells, labelled=False).groups, "selection_gap", fewest=FEWEST_PEOPLE, level=LEVEL
    )
    lows, highs = clopper_pearson(selected, np.maximum(people, 1e-9), LEVEL)
    pair = {gap.lowest, gap.highest} if gap_first else set()
    rows = [
        GroupRow(
            name,
            float(people[place]),
            Estimate(float(shares[place]), float(lows[place]), float(highs[place])),
            few=bool(people[place] < FEWEST_PEOPLE),
            strong=place in pair,
            group=group,
        )
        for place, (group, name) in enumerate(names.items())
        if there[place]
    ]
    return gap, order_rows(rows)


def crossed_section(reading: Reading) -> Section | None:
    """Return the map of all groups with the columns by themselves; None where nothing is crossed."""
    if not reading.results.facts.margins:
        return None
    say, found = reading.sentences.under("crossed"), rates_map(reading)
    outcome = outcome_name(reading.results.facts.schema)
    return map_section(
        reading.sentences,
        found.rows,
        found.margins,
        heading=_heading(reading, found),
        lead=say("lead"),
        unit=say("unit", outcome=outcome),
        caption=say("caption", level=LEVEL),
        note=hidden_note(reading.sentences, found),
    )


def _heading(reading: Reading, found: GroupMap) -> str:
    say, judged = reading.sentences.under("crossed"), [row for row in found.rows if not row.few]
    if found.gap.reason:
        return say("heading_few")
    low, high = judged[0], judged[-1]
    slots: dict[str, Any] = {"low": low.label, "high": high.label, "gap": found.gap.value}
    slots |= {"count": len(judged), "fewest": FEWEST_PEOPLE, "worst": low.rate.value, "best": high.rate.value}
    key = "hidden" if found.is_hidden else "clear" if found.gap.is_clear else "unclear"
    return say(f"heading_{key}", **slots)


def margins_sentence(sentences: Catalogue, found: GroupMap) -> str:
    """Return what the gap is by each column alone, and whether that hides the gap between combinations."""
    known = {column: gap for column, gap in found.margin_gaps.items() if not gap.reason}
    if found.gap.reason or not known or found.gap.is_ratio:
        return ""
    margins = [
        sentences.say("crossed.margin", column=plain(column), gap=gap.value) for column, gap in known.items()
    ]
    return sentences.say(f"crossed.margins{'_hidden' * found.is_hidden}", margins=margins)


def hidden_note(sentences: Catalogue, found: GroupMap) -> Note | None:
    """Return what the columns show by themselves as a note, a warning if they hide something."""
    words = margins_sentence(sentences, found).strip()
    return Note("warn" if found.is_hidden else "plain", words) if words else None


def map_section(
    sentences: Catalogue,
    rows: Sequence[GroupRow],
    margins: Mapping[str, Sequence[GroupRow]],
    *,
    heading: str,
    lead: str,
    unit: str,
    caption: str,
    note: Note | None = None,
    fewest: int = FEWEST_PEOPLE,
    cut_few: bool = False,
) -> Section:
    """Return the picture of all groups beside those of each column by itself."""
    say = sentences.under("crossed")
    few = sum(row.few for row in rows)
    alone = [row for found in margins.values() for row in found]
    caption = f"{caption}{say('few', few=few, fewest=fewest) if few else ''}"

    def draw(rows: Sequence[GroupRow]) -> Chart:
        words = [
            say("alt_group", group=row.label, people=row.people, rate=row.rate.value)
            for row in rows[:_MOST_IN_WORDS]
        ]
        return groups_chart(
            [(Axis(say("groups"), unit, 100.0), rows), (Axis(say("by_column"), unit, 100.0), alone)],
            name="all-groups",
            alt=say("alt", heading=heading, groups=words),
            caption=caption,
            cut_few=cut_few,
        )

    def draw_group(group: str) -> Chart:
        return draw([row for row in rows if row.group == group])

    is_known = any(row.group for row in rows)
    chart = replace(draw(rows), draw_group=draw_group if is_known else None)
    return Section(heading, lead, charts=(chart,), notes=(note,) if note else (), anchor="all-groups")
