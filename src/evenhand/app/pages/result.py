"""The fifth step: the answer first, then why, then what to take along."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from htmltools import HTML, Tag, TagList, tags

from evenhand.app.flow.files import DOWNLOADS
from evenhand.app.pages.address import help_address, study_address
from evenhand.app.pages.parts import (
    actions,
    bold,
    command_block,
    control,
    error_note,
    hint,
    label,
    lede,
    link,
    note,
    panel,
    select,
    waiting,
)

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from evenhand.app.flow.views import ResultView, SideBySide
    from evenhand.app.pages.visit import Visit

_POINT = "Point at a mark of a chart to read its value and interval."
_ONE_GROUP = " With one group chosen, charts and tables that tell groups apart show it alone."
_ALL_GROUPS, _ALL_MEASURES = ("", "all groups"), ("", "all measures")


def draw(visit: Visit, study: str) -> TagList:
    """Return the page of the answer."""
    folder, stamp = _place(visit, study)
    asked = {key: _chosen(visit, study, key) for key in ("chosen", "beside", "group", "measure")}
    if stamp is None:
        return _nothing_yet(study)
    key = (study or "shown", stamp, *asked.values())
    answer = visit.inquiry("result:read_result").read(key, folder, **asked)
    if answer.value is None:
        return TagList(
            tags.h1("What came out?"),
            error_note(answer.error)
            if answer.error
            else waiting("Reading the results and drawing the charts."),
        )
    return _show(study, answer.value, asked, waits=answer.waiting)


def _place(visit: Visit, study: str) -> tuple[Path, object]:
    """Return the folder of the results, and what changes when they do; None if there are none."""
    if visit.workbench.read_only is not None:
        return visit.workbench.read_only, "read only"
    state = visit.jobs.state(study)
    return visit.folder(study), (state.state, state.done, state.started) if state.has_results else None


def _chosen(visit: Visit, study: str, key: str) -> str:
    return str(visit.choices().get((study, key), ""))


def _nothing_yet(study: str) -> TagList:
    return TagList(
        tags.h1("What came out?"),
        lede("There is no result yet: the study has not run."),
        actions(link("Go to the run", study_address(study, "run"), look="primary", id="to-run")),
    )


def _show(study: str, view: ResultView, asked: Mapping[str, str], *, waits: bool) -> TagList:
    apply_link = (
        link("Apply this for real", study_address(study, "apply"), look="primary", id="apply")
        if study
        else None
    )
    missing = view.total - view.done - view.failed  # what failed is said in the report, and does not come
    partly = (
        note(
            "warn",
            tags.p(
                tags.b(f"{view.done:,} of {view.total:,} runs {'is' if view.done == 1 else 'are'} in. "),
                "The answer may change when the others are.",
            ),
        )
        if missing > 0
        else None
    )
    return TagList(
        partly,
        tags.div(HTML(view.answer_html), class_="fragment", id="answer-part"),
        note("ok", tags.p(bold(view.advice)), id="advice") if view.advice else None,
        actions(
            apply_link,
            link("Take it along", "#take-along", id="to-files"),
            link("Change the question", study_address(study, "question"), id="ask-again") if study else None,
            link("How to read this", help_address("report"), id="how"),
            waiting("Drawing anew.") if waits else None,
        ),
        _filters(study, view, asked),
        _compared(study, view),
        tags.div(HTML(view.findings_html), class_="fragment", id="findings"),
        _take_along(study, view),
    )


def _filters(study: str, view: ResultView, asked: Mapping[str, str]) -> Tag:
    settings = [(setting.key, setting.label) for setting in view.settings]
    choices = [("chosen", "The page is about", "setting", settings, view.chosen)]
    if view.groups:
        choices.append(("group", "Show one group", "protected", [_ALL_GROUPS, *view.groups], asked["group"]))
    if view.measures:
        choices.append(
            ("measure", "Show one measure", "gap", [_ALL_MEASURES, *view.measures], asked["measure"])
        )
    parts = [
        tags.div(
            label(words, key, word),
            select(key, options, chosen, do="result.choose", data_study=study, data_key=key),
        )
        for key, words, word, options, chosen in choices
    ]
    parts.append(
        tags.div(
            label("Show only marks and rows with", "find-marks"),
            control("input", type="search", id="find-marks", placeholder="such as ε = 1"),
        )
    )
    return panel(
        tags.h2("Look closer"),
        tags.div(*parts, class_="filter"),
        hint(_POINT, _ONE_GROUP if view.groups else None),
        tags.p(id="find-words", class_="hint", role="status"),
        id="filters",
    )


# --- two settings side by side ---------------------------------------------------------------------


def _compared(study: str, view: ResultView) -> Tag | None:
    if len(view.settings) < 2:
        return None
    others = [
        ("", "choose a setting"),
        *((one.key, one.label) for one in view.settings if one.key != view.chosen),
    ]
    picker = tags.div(
        label("Compare it with", "beside"),
        select("beside", others, view.beside, do="result.choose", data_study=study, data_key="beside"),
        id="beside-choice",
    )
    shown = (
        _side_by_side(view.compared)
        if view.compared
        else hint("Choose a second setting to see both side by side.")
    )
    return panel(tags.h2("Two settings side by side"), picker, shown, id="compare")


def _side_by_side(compared: SideBySide) -> TagList:
    halves = []
    for name, answers, numbers in zip(compared.labels, compared.answers, compared.numbers, strict=True):
        facts = [tags.li(tags.b(f"{value} "), words, tags.small(detail)) for words, value, detail in numbers]
        halves.append(
            tags.div(
                tags.h3(name),
                tags.ol(*(tags.li(bold(sentence)) for sentence in answers)),
                tags.ul(*facts) if facts else None,
                class_="prose",
            )
        )
    return TagList(
        tags.div(*halves, class_="form two", id="side-by-side"),
        tags.div(HTML(compared.html), class_="fragment"),
    )


# --- what is taken along ---------------------------------------------------------------------------


def _take_along(study: str, view: ResultView) -> Tag:
    place = f"studies/{study}/files" if study else "report/files"
    files = [
        tags.li(
            tags.a(name, href=f"{place}/{name}", download=name, id=f"download-{name}"),
            tags.br(),
            DOWNLOADS[name].sentence,
        )
        for name in view.files
        if name in DOWNLOADS
    ]
    return panel(
        tags.h2("What do you want to take along?"),
        tags.ul(*files, class_="download"),
        command_block("command-text", "The same on the command line", view.command) if view.command else None,
        command_block("next-text", "To do the chosen setting for everybody", view.next_command)
        if view.next_command
        else None,
        id="take-along",
    )


# --- what its controls do --------------------------------------------------------------------------


async def _choose(visit: Visit, event: Mapping[str, Any]) -> None:
    visit.choose({(str(event.get("study", "")), str(event["key"])): str(event.get("value", ""))})


ACTIONS = {"result.choose": _choose}
"""What the controls of this page do."""
