"""How long a study takes, timed beside the page: nobody waits longer than a few seconds for it."""

from __future__ import annotations

import threading
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

from evenhand.errors import EvenhandError
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
    notes : tuple of str
        What preparing its rows found out.
    duration : Duration, optional
        None as long as it is not known, or if its runs cannot be timed.
    state : {"waiting", "running", "done"}
        One plan is timed at a time; what waits begins when the same is asked again.
    """

    notes: tuple[str, ...] = ()
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
        _timings[key] = Timing(
            notes=tuple(map(str, prepared.facts.notes)), state="waiting" if can_be_timed else "done"
        )
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
