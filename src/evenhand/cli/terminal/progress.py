"""One line that shows how far a study or a long file is: bar, rate, time left. In a log, a few lines."""

from __future__ import annotations

import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from rich.progress import BarColumn, Progress, TextColumn

from evenhand.study.run.pace import Speed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from evenhand.cli.terminal.console import Terminal

_LINES = 4


def spell_seconds(seconds: float) -> str:
    """Return a time as people say it.

    >>> spell_seconds(42), spell_seconds(320), spell_seconds(12_000)
    ('42 s', '5 min 20 s', '3 h 20 min')
    """
    whole = max(round(seconds), 1)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        minutes, rest = divmod(whole, 60)
        return f"{minutes} min {rest} s" if rest and minutes < 15 else f"{minutes} min"
    hours, rest = divmod(round(whole / 60), 60)
    return f"{hours} h {rest} min" if rest else f"{hours} h"


@contextmanager
def follow_study(terminal: Terminal) -> Iterator[Callable[[Any], None]]:
    """Yield what a runner calls with each event."""
    if terminal.quiet:
        yield lambda _: None
    elif terminal.notices.is_terminal:
        with _bar(terminal) as follow:
            yield follow
    else:
        yield _Log(terminal)


@contextmanager
def _bar(terminal: Terminal) -> Iterator[Callable[[Any], None]]:
    columns = (
        TextColumn("Running ", style="dim"),
        BarColumn(bar_width=36, complete_style="blue", finished_style="blue"),
        TextColumn(" {task.completed:.0f}/{task.total:.0f}  {task.fields[rate]}  {task.fields[left]}"),
        TextColumn(" {task.fields[failed]} failed"),
    )
    progress = Progress(*columns, console=terminal.notices, transient=False)
    task = progress.add_task("", total=1, rate="", left="", failed=0)
    pace = Speed()

    def follow(event: Any) -> None:
        rate, left = pace.of(event)
        shown = f"{rate:.2g}/s" if rate else ""
        remaining = f"{int(left) // 60}:{int(left) % 60:02d} left" if left else ""
        progress.update(
            task, completed=event.done, total=event.total, rate=shown, left=remaining, failed=event.failed
        )

    with progress:
        yield follow


class _Log:
    """Follow a study in a file or a pipe: a line at each quarter."""

    def __init__(self, terminal: Terminal) -> None:
        self._terminal = terminal
        self._pace = Speed()
        self._next = 0

    def __call__(self, event: Any) -> None:
        _, left = self._pace.of(event)
        if event.total and event.done * _LINES >= self._next * event.total:
            self._next = event.done * _LINES // event.total + 1
            rest = f", about {spell_seconds(left)} left" if left else ""
            failed = f", {event.failed} failed" if event.failed else ""
            self._terminal.say("Running", f"{event.done:,} of {event.total:,} runs{rest}{failed}")


@contextmanager
def follow_rows(terminal: Terminal, word: str) -> Iterator[Callable[[int, float], None] | None]:
    """Yield what is called with the rows and the share of the file read so far; None where nobody watches."""
    if terminal.quiet or terminal.as_json or not terminal.notices.is_terminal:
        yield None
        return
    columns = (
        TextColumn(f"{word:<8}", style="dim"),
        BarColumn(bar_width=36, complete_style="blue", finished_style="blue"),
        TextColumn(" {task.fields[rows]}"),
    )
    progress = Progress(*columns, console=terminal.notices, transient=True)
    task = progress.add_task("", total=1.0, rows="")
    start = time.monotonic()

    def follow(rows: int, share: float) -> None:
        progress.update(task, completed=share, rows=spell_pace(rows, share, time.monotonic() - start))

    with progress:
        yield follow


def spell_pace(rows: int, share: float, seconds: float) -> str:
    """Return rows, rate and time left in few words.

    >>> spell_pace(2_000_000, 0.25, 4.0)
    '2,000,000 rows, 500,000/s, 0:12 left'
    """
    if seconds <= 0 or share <= 0:
        return f"{rows:,} rows"
    left = round(seconds * (1 - share) / share)
    return f"{rows:,} rows, {rows / seconds:,.0f}/s, {left // 60}:{left % 60:02d} left"
