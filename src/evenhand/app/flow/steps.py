"""The six steps of a study, and which of them are done, open or locked."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from evenhand.app.state.jobs import RunState
    from evenhand.app.state.record import StudyRecord

STEPS: dict[str, str] = {
    "data": "Choose data",
    "schema": "Describe it",
    "question": "Ask",
    "run": "Run",
    "result": "See the answer",
    "apply": "Do it for real",
}
"""Each step with its title, in order."""

StepState = Literal["done", "open", "locked"]

_NO_DATA = "Choose data first."
_NOT_DESCRIBED = "Say first that the columns are right, on the page before."
_NOT_RUN = "Run the study first."


@dataclass(frozen=True)
class Step:
    """A step of a study.

    Parameters
    ----------
    name, title : str
    state : {"done", "open", "locked"}
    is_current : bool
        Whether it is the first that is open: where a study goes on.
    reason : str
        Why it is locked.
    """

    name: str
    title: str
    state: StepState
    is_current: bool = False
    reason: str = ""


def step_states(record: StudyRecord, run: RunState | None = None) -> tuple[Step, ...]:
    """Return every step of a study with its state.

    Parameters
    ----------
    record : StudyRecord
    run : RunState, optional
        How far its run is; by default it was never started.

    Examples
    --------
    >>> from evenhand.app.state.record import StudyRecord
    >>> record = StudyRecord(id="0123456789abcdef", name="Hiring", created=0.0)
    >>> [step.state for step in step_states(record)]
    ['open', 'locked', 'locked', 'locked', 'locked', 'locked']
    """
    state = "none" if run is None else run.state
    needs = {
        "data": ("", record.data is not None),
        "schema": ("" if record.data is not None else _NO_DATA, record.described),
        "question": (_before_question(record), state != "none"),
        "run": (_before_question(record), state == "finished"),
        "result": ("" if run is not None and run.has_answer else _NOT_RUN, False),
        "apply": ("" if run is not None and run.has_results and state != "failed" else _NOT_RUN, False),
    }
    steps: list[Step] = []
    for name, (reason, is_done) in needs.items():
        own: StepState = "locked" if reason else "done" if is_done else "open"
        is_current = own == "open" and not any(step.is_current for step in steps)
        steps.append(Step(name, STEPS[name], own, is_current=is_current, reason=reason))
    return tuple(steps)


def _before_question(record: StudyRecord) -> str:
    if record.data is None:
        return _NO_DATA
    return "" if record.described else _NOT_DESCRIBED
