"""An answer as a page: the words and numbers of a view, put where a report has them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Literal

from evenhand.answer.status import EFFECT_COLUMNS
from evenhand.report.charts.effect_curve import lack_chart
from evenhand.report.charts.effects import effect_chart
from evenhand.report.language import fixed_word, written_in
from evenhand.report.page import CopiedCommand, Head, Page, Said, Section, Table

if TYPE_CHECKING:
    from evenhand.answer.view import View
    from evenhand.report.marks import EffectPanel

SHOWN_ROWS = 7
"""So many rows of the same numbers are shown; the others are folded."""


def build_page(view: View) -> Page:
    """Return an answer as a page."""
    with written_in(view.language):
        return Page(
            question=view.question,
            kicker=view.kind,
            meta=view.meta,
            sections=view.evidence,
            method=view.method,
            limits=view.limits,
            sources=view.sources,
            language=view.language,
            head=_head(view),
        )


def _head(view: View) -> Head:
    return Head(
        state=view.state,
        verdict=view.verdict,
        said=tuple(
            Said(fixed_word(f"answer.{name}"), said.text, said.details)
            for name, said in view.sentences.items()
            if said.text
        ),
        warnings=tuple((warned.head, warned.text) for warned in view.warnings),
        picture=_picture(view),
        choice=_choice(view),
        epsilon_heading="" if view.epsilon_heading == view.choice_heading else view.epsilon_heading,
        remedy_heading=view.remedy_heading,
        promise=None
        if view.promise is None
        else Section(fixed_word("answer.promised"), view.promise.text, facts=view.promise.facts),
        commands=tuple(CopiedCommand(each.label, each.note, each.line) for each in view.commands),
    )


# --- the main picture, and the same numbers -----------------------------------------------------------


def _picture(view: View) -> Section | None:
    panels = [panel for panel in view.panels if panel.lines]
    if not panels:
        return None
    charts = [effect_chart(panel, name=f"effect-{panel.effect}") for panel in panels]
    known = {key.label for key in charts[0].legend}
    charts[1:] = [
        replace(chart, legend=()) if {key.label for key in chart.legend} <= known else chart
        for chart in charts[1:]
    ]
    rows = {name: [getattr(row, name) for row in view.rows] for name in EFFECT_COLUMNS}
    return Section(
        view.heading,
        view.caption,
        charts=charts,
        tables=tuple(
            _numbers(panel, rows if view.rows and not place else {}) for place, panel in enumerate(panels)
        ),
        anchor="groups",
    )


def _numbers(panel: EffectPanel, data: dict[str, list[object]]) -> Table:
    """Return the numbers of a panel as a table: due, after and its change, with the remedy and its change."""
    has_remedy = any(line.remedy for line in panel.lines)
    change = fixed_word("answer.change")
    stages = [(panel.names[1], 3)] + ([(panel.names[2], 5)] if has_remedy else [])
    header = [fixed_word("answer.group"), panel.names[0]]
    tags: dict[tuple[int, int], Literal["ok", "warn", "bad", "harm"]] = {}
    rows = []
    for place, line in enumerate(panel.lines):
        row = [_two_lines(line.label, line.note), line.due_shown]
        for mark, (_, column) in zip((line.after, line.remedy), stages, strict=False):
            if line.is_few or mark is None:
                row += [line.after.words if column == 3 else "", ""]
                continue
            row += [mark.shown, _two_lines(mark.change, mark.limits)]
            if mark.is_harm:
                tags[place, column] = "harm"
        rows.append(row)
    for name, _ in stages:
        header += [name, change]
    said = panel.title[:1].lower() + panel.title[1:]
    return Table(
        header=header,
        rows=rows,
        numeric=[False, *(True for _ in header[1:])],
        caption=f"**{fixed_word('answer.same_numbers')}** {said} {panel.unit}".rstrip(),
        fold=SHOWN_ROWS,
        tags=tags,
        name="effects" if data else "",
        data=data,
    )


def _two_lines(above: str, below: str) -> str:
    return f"{above}\n{below}" if below else above


# --- what there is to choose from -----------------------------------------------------------------------


def _choice(view: View) -> Section | None:
    curve = view.curve
    charts = []
    if curve is not None and curve.lines:
        charts.append(lack_chart(curve, name="worst-off-lack", is_alone=not view.remedies))
    tables = [_remedies(view)] if view.remedies else []
    if not charts and not tables:
        return None
    return Section(view.choice_heading, view.remedy_caption, charts=charts, tables=tables, anchor="choice")


def _remedies(view: View) -> Table:
    """Return what the worst-off still lack with each remedy, and its price."""
    advised = [place for place, each in enumerate(view.remedies) if each.tag == "recommended"]
    checked = {"recommended": "\N{CHECK MARK} "}
    return Table(
        header=[fixed_word(f"answer.{name}") for name in ("remedy", "left", "price")],
        rows=[
            [
                _two_lines(
                    each.name, f"{checked.get(each.tag, '')}{each.tag_words}" if each.tag_words else ""
                ),
                _two_lines(each.left, each.limits),
                each.price,
            ]
            for each in view.remedies
        ],
        numeric=[False, True, False],
        sunk=0,
        chosen=advised[0] if advised else None,
    )
