"""One cell, run and tried: its result, or what went wrong as a result."""

from __future__ import annotations

import traceback
import warnings
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

from evenhand.errors import EvenhandError
from evenhand.study.store.canonical import numbers_text, outcome_from, result_text
from evenhand.study.store.outcome import Failure, Outcome

if TYPE_CHECKING:
    from collections.abc import Callable

    from evenhand.study.plan.cells import Cell
    from evenhand.study.plan.plan import Plan
    from evenhand.study.tasks.base import Prepared

    Execute = Callable[..., Outcome]

DIED = "WorkerDied"
"""The kind of failure of a cell whose worker process ended, twice, before it had a result."""


def execute(cell: Cell, *, plan: Plan, prepared: Prepared) -> Outcome:
    """Run one cell. The same cell gives the same outcome, whatever ran before it and wherever.

    >>> from evenhand.study import DataSource, Plan
    >>> from evenhand.study.run.prepare import prepare
    >>> plan = Plan(data=DataSource(dataset="causal", options={"n": 2000}))
    >>> outcome = execute(plan.cells()[0], plan=plan, prepared=prepare(plan))
    >>> sorted(outcome.groups), outcome.failure
    (['0', '1'], None)
    """
    return plan.task.execute(cell, plan=plan, prepared=prepared)


def attempt(cell: Cell, *, plan: Plan, prepared: Prepared, execute: Execute) -> Outcome:
    """Return the outcome of a cell; an error is one too, and so is a model that asks Python to exit.

    A KeyboardInterrupt is not caught: in the process of the person who waits it is theirs.

    The cell runs without warnings, so that its result does not depend on the filters in force, and comes
    back as a store would give it back, so that results are the same with a store and without.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            outcome = execute(cell, plan=plan, prepared=prepared)
        return from_texts(cell, as_texts(outcome))
    except (Exception, SystemExit, GeneratorExit) as error:  # noqa: BLE001 - whatever a model raises
        return Outcome(cell, failure=failure_of(error))


def failure_of(error: BaseException) -> Failure:
    """Return what may be told about an error: all of ours, of others only class and place.

    >>> try:
    ...     [][1]
    ... except IndexError as error:
    ...     failure_of(error).kind
    'IndexError'
    """
    kind = type(error).__name__
    if isinstance(error, EvenhandError):
        return Failure(kind, str(error))
    frames = traceback.extract_tb(error.__traceback__)
    if not frames:
        return Failure(kind, "Raised at an unknown place.")
    name = PurePath(frames[-1].filename.replace("\\", "/")).name
    return Failure(kind, f"Raised at {name}:{frames[-1].lineno}.")


def lost(cell: Cell, *, code: int | None) -> Outcome:
    """Return the outcome of a cell whose workers died; a cluster does not say with which code."""
    how = "was lost again and again"
    if code is not None:
        how = f"{f'was ended by signal {-code}' if code < 0 else f'ended with code {code}'}, twice,"
    message = (
        f"The worker process {how} before the run was done. "
        "Hint: if memory ran out, use fewer workers or fewer rows."
    )
    return Outcome(cell, failure=Failure(DIED, message))


def as_texts(outcome: Outcome) -> tuple[str, str]:
    """Return an outcome as the two texts that are stored of it."""
    return result_text(outcome), numbers_text(outcome.seconds)


def from_texts(cell: Cell, texts: Any) -> Outcome:
    """Return the outcome of two texts, see :func:`as_texts`."""
    result, seconds = texts
    return outcome_from(cell, result=result, seconds=seconds)
