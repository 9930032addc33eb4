"""Tell what a running study tells whoever follows it, a bar that shows it, and how it is told to stop."""

from __future__ import annotations

from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from threading import Event as Flag
from typing import TYPE_CHECKING, Any

from evenhand._validate import refuse

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from rich.console import Console

    from evenhand.study.plan.cells import Cell
    from evenhand.study.results.results import Results
    from evenhand.study.store.outcome import Outcome

    Listener = Callable[["Event"], Any]


@dataclass(frozen=True)
class Event:
    """Something that happened in a study.

    Parameters
    ----------
    done, failed, total : int
        Cells finished, with those of earlier runs; those of them that failed; and all cells of the plan.
    """

    done: int
    failed: int
    total: int


@dataclass(frozen=True)
class Started(Event):
    """The study begins; `done` cells are there already."""


@dataclass(frozen=True)
class CellDone(Event):
    """A cell is finished and stored."""

    outcome: Outcome


@dataclass(frozen=True)
class CellFailed(Event):
    """A cell raised an error, which is stored as its result."""

    outcome: Outcome


@dataclass(frozen=True)
class WorkerDied(Event):
    """A worker process ended in the middle of a cell, which is tried once more.

    Parameters
    ----------
    cell : Cell
    code : int, optional
        The exit code; a negative one is the number of the signal that ended it.
    """

    cell: Cell
    code: int | None


@dataclass(frozen=True)
class Timed(Event):
    """Enough cells are finished to tell how long the others take; it comes once, or never in a short study.

    Parameters
    ----------
    seconds_left : float
    workers : int
        Cells that are computed at the same time.
    """

    seconds_left: float
    workers: int


@dataclass(frozen=True)
class StageDone(Event):
    """A stage of the study is finished, and others follow: `results` say what is known so far."""

    results: Results


@dataclass(frozen=True)
class Cancelled(Event):
    """The study was told to stop; what is finished is stored."""


@dataclass(frozen=True)
class Finished(Event):
    """Every cell has a result."""


class Cancel:
    """A token to stop a study with, from any thread.

    Examples
    --------
    >>> cancel = Cancel()
    >>> cancel.requested
    False
    >>> cancel.request()
    >>> cancel.requested
    True
    """

    def __init__(self) -> None:
        self._flag = Flag()

    def request(self) -> None:
        """Ask the study to stop as soon as the cells that run now can be left."""
        self._flag.set()

    @property
    def requested(self) -> bool:
        """Return whether somebody asked."""
        return self._flag.is_set()


# --- a bar in a terminal or a notebook -----------------------------------------------------------------


def listening(progress: object, *, console: Console | None = None) -> AbstractContextManager[Listener]:
    """Return a context whose value takes the events of a study.

    True shows a bar, False nothing, a callable is called with every event; None shows a bar if there is a
    terminal or a notebook to show it in. It goes to the console, by default to standard error.
    """
    if callable(progress):
        return nullcontext(progress)
    if progress is not None and not isinstance(progress, bool):
        refuse("progress", "run", "True, False, None or a function of events", progress)
    from rich.console import Console  # noqa: PLC0415 - only where something may be shown

    console = console or Console(stderr=True)
    is_seen = console.is_terminal or console.is_jupyter
    return _bar(console) if progress or (progress is None and is_seen) else nullcontext(lambda _: None)


@contextmanager
def _bar(console: Console) -> Iterator[Listener]:
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn  # noqa: PLC0415

    progress = Progress(
        TextColumn("{task.description}"),
        BarColumn(bar_width=None),
        MofNCompleteColumn(),
        TextColumn("{task.fields[rate]}"),
        TimeRemainingColumn(),
        TextColumn("{task.fields[failed]}", style="red"),
        console=console,
        expand=True,
    )
    with progress:
        task = progress.add_task("Reading the data", total=None, rate="", failed="")

        def tell(event: Event) -> None:
            words = "Stopped" if isinstance(event, Cancelled) else "Running the study"
            if isinstance(event, Started):
                progress.reset(task, total=event.total, completed=event.done)
            speed = progress.tasks[0].finished_speed or progress.tasks[0].speed
            progress.update(
                task,
                description=words,
                completed=event.done,
                rate=_rate(speed),
                failed=f"{event.failed} failed" if event.failed else "",
            )

        yield tell


def _rate(speed: float | None) -> str:
    """Return a rate in a unit that makes it readable.

    >>> _rate(2.5), _rate(0.05), _rate(None)
    ('2.5 runs/s', '3.0 runs/min', '')
    """
    if not speed:
        return ""
    return f"{speed:.1f} runs/s" if speed >= 1 else f"{speed * 60:.1f} runs/min"
