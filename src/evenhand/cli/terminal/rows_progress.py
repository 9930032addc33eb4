"""One line that shows how far a long file is: bar, rows, rate, time left. Only on a terminal."""

from __future__ import annotations

import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from evenhand.cli.terminal.console import Terminal

__all__ = ["rows_followed"]


@contextmanager
def rows_followed(terminal: Terminal, word: str) -> Iterator[Callable[[int, float], None] | None]:
    """Yield what is called with the rows and the share of the file read so far; None where nobody watches."""
    if terminal.quiet or terminal.as_json or not terminal.notices.is_terminal:
        yield None
        return
    from rich.progress import BarColumn, Progress, TextColumn  # noqa: PLC0415 - rich loads when a command speaks

    columns = (
        TextColumn(f"{word:<8}", style="dim"),
        BarColumn(bar_width=36, complete_style="blue", finished_style="blue"),
        TextColumn(" {task.fields[rows]}"),
    )
    progress = Progress(*columns, console=terminal.notices, transient=True)
    task = progress.add_task("", total=1.0, rows="")
    start = time.monotonic()

    def follow(rows: int, share: float) -> None:
        progress.update(task, completed=share, rows=spelled_pace(rows, share, time.monotonic() - start))

    with progress:
        yield follow


def spelled_pace(rows: int, share: float, seconds: float) -> str:
    """Return rows, rate and time left in few words.

    >>> spelled_pace(2_000_000, 0.25, 4.0)
    '2,000,000 rows, 500,000/s, 0:12 left'
    """
    if seconds <= 0 or share <= 0:
        return f"{rows:,} rows"
    left = round(seconds * (1 - share) / share)
    return f"{rows:,} rows, {rows / seconds:,.0f}/s, {left // 60}:{left % 60:02d} left"
