"""A progress bar for a study, in a terminal or a notebook."""

from __future__ import annotations

from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import TYPE_CHECKING, Any

from evenhand.errors import InvalidParameterError
from evenhand.study.run.events import Cancelled, Started

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from rich.console import Console

    from evenhand.study.run.events import Event

    Listener = Callable[[Event], Any]


def listening(progress: object, *, console: Console | None = None) -> AbstractContextManager[Listener]:
    """Return a context whose value takes the events of a study.

    Parameters
    ----------
    progress : bool, callable or None
        True shows a bar, False nothing, a callable is called with every event; None shows a bar if there is
        a terminal or a notebook to show it in.
    console : rich.console.Console, optional
        Where the bar goes; by default standard error.

    Examples
    --------
    >>> from evenhand.study.run.events import Finished
    >>> with listening(print) as tell:
    ...     tell(Finished(done=2, failed=0, total=2))
    Finished(done=2, failed=0, total=2)
    """
    if progress is not None and not isinstance(progress, bool):
        if not callable(progress):
            must_be = "True, False, None or a function of events"
            raise InvalidParameterError("progress", owner="run", must_be=must_be, got=progress)
        return nullcontext(progress)
    if progress is False:
        return nullcontext(_nothing)
    from rich.console import Console  # noqa: PLC0415 - only where something may be shown

    console = console or Console(stderr=True)
    shown = bool(progress) or console.is_terminal or console.is_jupyter
    return _bar(console) if shown else nullcontext(_nothing)


def _nothing(_: Event) -> None:
    """Take an event and show nothing."""


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
