"""The fifth step: the answer first, then why, then what to take along."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from htmltools import HTML, Tag, TagList, tags
from shiny import reactive

from evenhand.app.flow.files import DOWNLOADS
from evenhand.app.pages.address import help_address, study_address
from evenhand.app.pages.parts import (
    actions,
    bold,
    command_block,
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
from evenhand.app.pages.visit import count

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from evenhand.app.flow.views import ResultView
    from evenhand.app.pages.visit import Visit

_SECONDS = 1.0
_POINT = "Point at a mark of a chart to read its value and interval."


def draw(visit: Visit, study: str) -> TagList:
    """Return the page of the answer."""
    folder, stamp = _place(visit, study)
    if stamp is None:
        return _nothing_yet(study)
    chosen = str(visit.choices().get((study, "chosen"), ""))
    answer = visit.inquiry("result:read_result").read(
        (study or "shown", stamp, chosen), folder, chosen=chosen
    )
    if answer.value is None:
        return TagList(
            tags.h1("What came out?"),
            error_note(answer.error)
            if answer.error
            else waiting("Reading the results and drawing the charts."),
        )
    is_busy = bool(study) and visit.jobs.state(study).is_busy
    return _show(study, answer.value, waits=answer.waiting, is_busy=is_busy)


def add_outputs(visit: Visit) -> None:
    """Draw the page of a study that runs anew after each stage, and at its end."""
    shown: tuple[object, ...] = ()

    @reactive.effect
    def _() -> None:
        nonlocal shown
        address = visit.address
        visit.saved()
        if not address.study or address.page != "result":
            return
        before, shown = shown, (address.study, _place(visit, address.study)[1])
        if before[:1] == shown[:1] and before != shown:
            count(visit.drawn)
        if visit.jobs.state(address.study).is_busy:
            reactive.invalidate_later(_SECONDS)


def _place(visit: Visit, study: str) -> tuple[Path, object]:
    """Return the folder of the results, and what changes when they do; None if there are none."""
    if visit.workbench.read_only is not None:
        return visit.workbench.read_only, "read only"
    state = visit.jobs.state(study)
    seen = state.staged if state.is_busy else state.done
    return visit.folder(study), (state.state, seen, state.started) if state.has_answer else None


def _nothing_yet(study: str) -> TagList:
    return TagList(
        tags.h1("What came out?"),
        lede("There is no result yet: the study has not run."),
        actions(link("Go to the run", study_address(study, "run"), look="primary", id="to-run")),
    )


def _show(study: str, view: ResultView, *, waits: bool, is_busy: bool = False) -> TagList:
    missing = view.total - view.done - view.failed  # what failed is said in the report, and does not come
    is_busy = is_busy or (waits and missing > 0)  # the whole answer is being drawn
    words = f"Apply {view.recommended}" if view.recommended else "Apply this for real"
    apply_link = link(words, study_address(study, "apply"), look="primary", id="apply") if study else None
    if is_busy:
        apply_link = link("Go to the run", study_address(study, "run"), look="primary", id="to-run")
    partly = (
        note(
            "warn",
            tags.p(
                tags.b("A first look. "),
                f"{view.done:,} of {view.total:,} runs {'is' if view.done == 1 else 'are'} in. "
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
            None if is_busy else link("Take it along", "#take-along", id="to-files"),
            link("Change the question", study_address(study, "question"), id="ask-again")
            if study and not is_busy
            else None,
            link("How to read this", help_address("report"), id="how"),
            waiting("Drawing anew.") if waits else None,
        ),
        _choice(study, view),
        tags.div(HTML(view.findings_html), class_="fragment", id="findings"),
        None if is_busy else _take_along(study, view),
    )


def _choice(study: str, view: ResultView) -> Tag | None:
    """Return the control that says which setting the page is about."""
    if len(view.settings) < 2:
        return None
    settings = [(setting.key, setting.label) for setting in view.settings]
    return tags.div(
        label("The page is about", "chosen", "setting"),
        select("chosen", settings, view.chosen, do="result.choose", data_study=study, data_key="chosen"),
        hint(_POINT),
        class_="filter",
        id="about",
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
        *(
            command_block(f"command-{place}", words, line)
            for place, (words, line) in enumerate(view.commands, start=1)
        ),
        id="take-along",
    )


# --- what its controls do --------------------------------------------------------------------------


async def _choose(visit: Visit, event: Mapping[str, Any]) -> None:
    visit.choose({(str(event.get("study", "")), str(event["key"])): str(event.get("value", ""))})


ACTIONS = {"result.choose": _choose}
"""What the controls of this page do."""
