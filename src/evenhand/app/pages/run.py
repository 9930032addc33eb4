"""The fourth step: how far the run is, with first results as they come."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from htmltools import Tag, TagList, tags
from shiny import reactive, render

from evenhand.app.pages.address import study_address
from evenhand.app.pages.glossary import term
from evenhand.app.pages.parts import (
    actions,
    bold,
    button,
    counted,
    error_note,
    hint,
    lede,
    link,
    live,
    note,
    panel,
    table,
)
from evenhand.app.pages.visit import count

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from evenhand.app.pages.visit import Visit
    from evenhand.app.state.jobs import RunState

_SECONDS = 0.7
_MINUTE, _HOUR = 60, 3600
_MOST_ROWS = 24
_STEPS = {"reading": "Reading the data.", "writing": "Writing the report."}


def draw(visit: Visit, study: str) -> TagList:
    """Return the page of a run; what moves on it is drawn by itself."""
    record = visit.record(study)
    with reactive.isolate():
        first = headline_words(visit.jobs.state(study))
    return TagList(
        tags.h1(live("headline", "span", first)),
        lede("You can close this page; finished runs are kept."),
        tags.p(live("run_said", "span"), class_="hidden", role="status"),
        live("progress"),
        live("so_far", aria_live="polite"),
        live("first_results"),
        live("queue"),
        tags.p(f"Study: {record.name}", class_="hint"),
    )


def add_outputs(visit: Visit) -> None:
    """Add the parts of the page that follow the run."""

    @reactive.calc
    def state() -> RunState | None:
        address = visit.address
        visit.saved()
        if address.place != "study" or address.page != "run":
            return None
        found = visit.jobs.state(address.study)
        if found.is_busy:
            reactive.invalidate_later(_SECONDS)
        return found

    @render.ui
    def headline() -> str:
        found = state()
        return "" if found is None else headline_words(found)

    @render.ui
    def run_said() -> str:
        found = state()
        return "" if found is None else said_words(found)

    @render.ui
    def progress() -> TagList | None:
        found = state()
        return None if found is None else draw_progress(visit.address.study, found)

    @render.ui
    def first_results() -> Tag | None:
        return draw_first(state())

    @render.ui
    def queue() -> TagList | None:
        return None if state() is None else draw_queue(visit)

    _add_so_far(visit, state)


def _add_so_far(visit: Visit, state: Callable[[], RunState | None]) -> None:
    """Add the answer so far, which is drawn, and read out, only when it changes."""
    news: reactive.Value[tuple[str, str]] = reactive.Value(("", ""), name="news")

    @reactive.effect
    def _() -> None:
        found = state()
        news.set((visit.address.study, found.so_far) if found is not None and found.is_busy else ("", ""))

    @render.ui
    def so_far() -> Tag | None:
        return draw_so_far(*news())


def headline_words(state: RunState) -> str:
    """Return the heading: how far it is."""
    if state.state == "running":
        return f"Running: {_percent(state)}%" if state.total else "Starting"
    words = {
        "none": "Not started yet",
        "waiting": "Waiting for its turn",
        "stopped": f"Stopped at {_percent(state)}%",
        "finished": "Finished",
        "failed": "The run did not finish",
    }
    return words[state.state]


def said_words(state: RunState) -> str:
    """Return what a screen reader says: only when ten more percent are done, or the state changes."""
    if state.state != "running":
        return headline_words(state)
    return f"Running, {_percent(state) // 10 * 10}% done"


def draw_progress(study: str, state: RunState) -> TagList:
    """Return the bar with rate and time left, and the buttons of the state."""
    return TagList(_fault(state), panel(*_bar(state), _buttons(study, state)))


def _bar(state: RunState) -> list[Tag]:
    if state.state == "none":
        return [tags.p("Ask a question first; the run starts with the button “Run” on that page.")]
    bar = tags.progress(
        max=str(max(state.total, 1)), value=str(state.done), id="bar", aria_label="Runs that are finished"
    )
    parts = []
    if state.total:
        parts.append(
            tags.span(tags.b(f"{state.done:,}"), f" of {counted(state.total, 'run')}", id="runs-done")
        )
    if state.state == "running" and state.per_minute:
        parts.append(tags.span(tags.b(f"{state.per_minute:,.0f}"), " a minute", id="rate"))
    if state.state == "running" and state.seconds_left is not None:
        parts.append(tags.span("about ", tags.b(duration_words(state.seconds_left)), " left", id="time-left"))
    if state.state == "running" and state.step in _STEPS:
        parts.append(tags.span(_STEPS[state.step]))
    if state.state == "waiting":
        parts.append(tags.span(f"number {max(state.place, 1)} in the queue"))
    if state.total:
        parts.append(tags.span(tags.b(f"{state.failed:,}"), " failed", id="runs-failed"))
    return [bar, tags.div(*parts, class_="facts-row")]


def _buttons(study: str, state: RunState) -> Tag:
    if state.is_busy:
        stop = button("Stop", "run.stop", look="danger", id="stop", data_study=study)
        return actions(
            stop, hint("Stops within 2 seconds. “Go on” continues where it stopped, with the same numbers.")
        )
    if state.state == "finished":
        again = link("Change the question", study_address(study, "question"), id="again")
        return actions(
            link("See the answer", study_address(study, "result"), look="primary", id="see"), again
        )
    if state.state == "none":
        return actions(link("Ask a question", study_address(study, "question"), look="primary", id="again"))
    shown = [
        button("Go on", "run.go", look="primary", id="go-on", data_study=study),
        link("Change the question", study_address(study, "question"), id="again"),
    ]
    if state.has_results:
        shown.append(link("See what is finished", study_address(study, "result"), id="see"))
    return actions(*shown, hint("Finished runs are kept and not run again."))


def _fault(state: RunState) -> Tag | None:
    if not state.message:
        return None
    return (
        error_note(state.message, id="run-problem")
        if state.state == "failed"
        else note("plain", tags.p(state.message))
    )


def draw_first(state: RunState | None) -> Tag | None:
    """Return first results: one row for each setting with finished runs; nothing where there is none."""
    if state is None or not state.first:
        return None
    columns = list(dict.fromkeys(key for row in state.first for key in row))
    names = ["setting", "runs", *(key for key in columns if key not in {"setting", "runs"})]
    titles = ["Setting", "Repeats", *names[2:]]
    rows = [[_cell(str(row.get(name, ""))) for name in names] for row in state.first[:_MOST_ROWS]]
    more = len(state.first) - _MOST_ROWS
    finished = state.state == "finished"
    later = "All repeats are in." if finished else "Intervals will narrow as more repeats come in."
    return panel(
        tags.h2("First results"),
        hint(later, " A ", term("setting", "setting"), " is one combination of what is tried."),
        table(titles, rows),
        hint(
            "One more setting has results, too."
            if more == 1
            else f"{more:,} more settings have results, too."
        )
        if more > 0
        else None,
        id="first-results",
    )


def draw_so_far(study: str, answer: str) -> Tag | None:
    """Return the answer of the stages that are finished, and the way to its page."""
    if not answer:
        return None
    see = link("See the answer so far", study_address(study, "result"), id="see-so-far")
    return panel(tags.h2("So far"), tags.p(bold(answer), id="answer-so-far"), actions(see))


def _cell(text: str) -> Tag:
    """Return a value with its interval below it, where it has one."""
    value, _, interval = text.partition("\n")
    return tags.span(value, tags.small(interval) if interval else None)


def draw_queue(visit: Visit) -> TagList | None:
    """Return the other studies that wait or run."""
    here = visit.address.study
    waits = [
        (record, visit.jobs.state(record.id)) for record in visit.workspace.studies() if record.id != here
    ]
    rows = [
        tags.li(
            tags.a(record.name, href=study_address(record.id, "run")),
            f": {_queue_words(state)}. ",
            button(
                "Remove" if state.state == "waiting" else "Stop",
                "run.stop",
                look="small",
                data_study=record.id,
                id=f"remove-{record.id}",
                aria_label=f"Stop {record.name}",
            ),
        )
        for record, state in waits
        if state.is_busy
    ]
    return (
        TagList(tags.div(tags.h2("Other studies in the queue"), tags.ul(*rows), class_="part"))
        if rows
        else None
    )


def _queue_words(state: RunState) -> str:
    return "runs now" if state.state == "running" else f"waits, number {max(state.place, 1)} in the queue"


def _percent(state: RunState) -> int:
    return 100 * state.done // state.total if state.total else 0


def duration_words(seconds: float) -> str:
    """Return a time in words.

    >>> duration_words(320), duration_words(40), duration_words(7300)
    ('5 min 20 s', '40 s', '2 h 1 min')
    """
    whole = max(round(seconds), 0)
    if whole < _MINUTE:
        return f"{whole} s"
    if whole < _HOUR:
        return f"{whole // _MINUTE} min {whole % _MINUTE} s"
    return f"{whole // _HOUR} h {whole % _HOUR // _MINUTE} min"


# --- what its controls do --------------------------------------------------------------------------


async def _stop(visit: Visit, event: Mapping[str, Any]) -> None:
    visit.jobs.cancel(str(event["study"]))
    count(visit.saved)


async def _go_on(visit: Visit, event: Mapping[str, Any]) -> None:
    visit.jobs.enqueue(str(event["study"]))
    count(visit.saved)


ACTIONS = {"run.stop": _stop, "run.go": _go_on}
"""What the controls of this page do."""
