"""The left side of every page: the six steps, and past studies with their state."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from htmltools import Tag, TagList, tags
from shiny import reactive

from evenhand.app.flow.steps import STEPS, step_states
from evenhand.app.pages.address import HOME, study_address
from evenhand.app.pages.parts import counted
from evenhand.errors import EvenhandError

if TYPE_CHECKING:
    from evenhand.app.flow.steps import Step
    from evenhand.app.pages.visit import Visit
    from evenhand.app.state.jobs import RunState
    from evenhand.app.state.record import StudyRecord

SHORT = {
    "data": "Data",
    "schema": "Schema",
    "question": "Question",
    "run": "Run",
    "result": "Result",
    "apply": "Apply",
}
"""The steps in one word each, as the left side names them."""

_MOST_PAST = 4
_SECONDS = 2.0
_DAY = 86_400


def draw_steps(visit: Visit) -> TagList:
    """Return the six numbered steps of the study on show."""
    address = visit.address
    if address.place != "study" or not address.study:
        return TagList()
    visit.saved()
    visit.drawn()
    try:
        record, state = visit.record(address.study), visit.jobs.state(address.study)
    except EvenhandError:
        return TagList()
    if state.is_busy:
        reactive.invalidate_later(_SECONDS)
    steps = step_states(record, state)
    items = [_step(record.id, step, place, address.page) for place, step in enumerate(steps, start=1)]
    return TagList(tags.ol(*items, class_="steps"))


def _step(study: str, step: Step, place: int, page: str) -> Tag:
    is_done = step.state == "done"
    is_here = step.name == page
    mark = tags.span("✓" if is_done and not is_here else str(place), class_="mark", aria_hidden="true")
    said = "done" if is_done else "not yet possible" if step.state == "locked" else "open"
    word = tags.span(
        SHORT[step.name], tags.span(f", step {place} of {len(STEPS)}, {said}", class_="hidden"), class_="word"
    )
    here = {"aria_current": "step"} if is_here else {}
    if step.state == "locked" and not is_here:
        return tags.li(tags.span(mark, word, class_="step", title=step.reason, id=f"step-{step.name}"))
    look = "done" if is_done else ""
    return tags.li(
        tags.a(mark, word, href=study_address(study, step.name), class_=look, id=f"step-{step.name}", **here)
    )


def draw_past(visit: Visit) -> TagList:
    """Return the newest studies with their state."""
    if visit.workbench.read_only is not None:
        return TagList()
    visit.saved()
    visit.drawn()
    studies = visit.workspace.studies()
    states = {record.id: visit.jobs.state(record.id) for record in studies[:_MOST_PAST]}
    if any(state.is_busy for state in states.values()):
        reactive.invalidate_later(_SECONDS)
    if not studies:
        return TagList()
    here = visit.address.study
    items = [
        tags.li(
            tags.a(
                record.name,
                tags.small(state_words(record, states[record.id])),
                href=study_address(record.id, next_step(record, states[record.id])),
                **({"aria_current": "true"} if record.id == here else {}),
            )
        )
        for record in studies[:_MOST_PAST]
    ]
    more = len(studies) - _MOST_PAST
    if more > 0:
        items.append(tags.li(tags.a(f"{more} more", href=HOME)))
    return TagList(tags.div(tags.h2("Past studies"), tags.ul(*items), class_="side-list"))


def next_step(record: StudyRecord, state: RunState) -> str:
    """Return the step where a study goes on: its result where it has one."""
    if state.state in {"waiting", "running", "failed", "stopped"}:
        return "run"
    if state.state == "finished":
        return "result"
    return next((step.name for step in step_states(record, state) if step.is_current), "data")


def state_words(record: StudyRecord, state: RunState) -> str:
    """Return how far a study is, in a few words."""
    share = f"{100 * state.done // state.total}%" if state.total else "0%"
    words = {
        "waiting": "waits for its turn",
        "running": f"running, {share}",
        "stopped": f"stopped at {share}, can go on",
        "finished": counted(state.total, "run"),
        "failed": "did not finish",
    }
    said = words.get(state.state) or ("not run yet" if record.data else "no data yet")
    return f"{said}, {day_words(record.created)}"


def day_words(seconds: float) -> str:
    """Return a day in words: today, yesterday, or its date."""
    day, today = (time.strftime("%Y-%m-%d", time.localtime(when)) for when in (seconds, time.time()))
    yesterday = time.strftime("%Y-%m-%d", time.localtime(time.time() - _DAY))
    return {today: "today", yesterday: "yesterday"}.get(day, day)
