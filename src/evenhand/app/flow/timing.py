"""How long a study takes, timed beside the page: nobody waits longer than a few seconds for it."""

from __future__ import annotations

import threading
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

from evenhand._notes import Note
from evenhand.app.flow.views import Look
from evenhand.errors import EvenhandError
from evenhand.study.preflight import LOOKED_AT, preflight
from evenhand.study.run.duration import duration
from evenhand.study.run.prepare import prepare

if TYPE_CHECKING:
    from evenhand.study.plan.plan import Plan
    from evenhand.study.run.duration import Duration

THREAD = "timing"
"""The name of the thread in which a plan is timed."""

_MOST_KEPT = 20


@dataclass
class Timing:
    """What is known of how long a plan takes.

    Parameters
    ----------
    looks : tuple of Look
        What a first look at its rows found out, as the command line says it.
    duration : Duration, optional
        None as long as it is not known, or if its runs cannot be timed.
    state : {"waiting", "running", "done"}
        One plan is timed at a time; what waits begins when the same is asked again.
    """

    looks: tuple[Look, ...] = ()
    duration: Duration | None = None
    state: Literal["waiting", "running", "done"] = "done"

    def measure(self, plan: Plan, prepared: Any, seconds: float) -> None:
        """Time a few runs; a plan whose runs fail is not timed."""
        try:
            found = duration(plan, prepared, seconds=seconds)
            self.duration = replace(found, start=0.0)  # most of that is paid once
        except (EvenhandError, ArithmeticError, ValueError):
            self.duration = None
        finally:
            self.state = "done"


_timings: dict[str, Timing] = {}
"""What was timed in this process, by plan, and what is being timed."""


def look_first(plan: Plan, frame: Any, prepared: Any) -> tuple[Look, ...]:
    """Return what a first look at the rows finds, what would waste a run first, and what else was noted."""
    found = [
        Look("bad" if each.stops else "warn", each.text, each.todo)
        for each in preflight(plan, frame, prepared)
    ]
    notes = [note for note in map(Note.of, prepared.facts.notes) if note.kind not in LOOKED_AT]
    return (*found, *(Look("warn", str(note)) for note in notes))


def time_runs(plan: Plan, frame: Any, *, seconds: float, can_be_timed: bool = True) -> Timing:
    """Return how long a plan takes, as far as that is known within so many seconds.

    What takes longer goes on beside, so that it is known when the same is asked again.

    Raises
    ------
    EvenhandError
        If the rows cannot be prepared.
    """
    key, prepared = plan.to_toml(), None
    if key not in _timings:
        prepared = prepare(plan, frame=frame)
        while len(_timings) >= _MOST_KEPT:
            _timings.pop(next(iter(_timings)))
        looks = look_first(plan, frame, prepared)
        _timings[key] = Timing(looks=looks, state="waiting" if can_be_timed else "done")
    timing = _timings[key]
    if timing.state == "waiting" and not any(other.state == "running" for other in _timings.values()):
        timing.state = "running"
        rows = prepared or prepare(plan, frame=frame)
        thread = threading.Thread(
            target=timing.measure, args=(plan, rows, seconds / 2), name=THREAD, daemon=True
        )
        thread.start()
        thread.join(timeout=seconds)
    return timing
