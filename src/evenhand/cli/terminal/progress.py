"""One line that shows how far a study or a long file is: bar, rate, time left. In a log, a few lines."""

from __future__ import annotations

import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from rich.progress import BarColumn, Progress, TextColumn

from evenhand.study.run.events import Timed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from evenhand.cli.terminal.console import Terminal

_LINES = 4
_FEWEST_RUNS = 6  # from which a pace is known


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


_ROUND_SECONDS = sorted(
    unit * amount
    for unit, amounts in (
        (1, (*range(1, 11), 12, 14, 16, 18, 20, 25, 30, 35, 40, 45, 50, 70, 80)),
        (60, (1, 1.5, 2, 2.5, 3, 3.5, 4, 5, 6, 7, 8, 9, 10, 12, 14, 16, 18, 20, 25, 30, 35, 40, 45, 50)),
        (3600, (1, 1.5, 2, 2.5, 3, 3.5, *range(4, 11), 12, 14, 16, 18, 20, 24, 28, 32, 36, 40, 48, 60)),
    )
    for amount in amounts
)


def round_range(seconds: float) -> tuple[float, float]:
    """Return two round times around an expected one, the longer at most twice the shorter.

    >>> round_range(11), round_range(150), round_range(9_000)
    ((8, 16), (120, 210.0), (7200, 12600.0))
    """
    if seconds > _ROUND_SECONDS[-1] / 2:
        hours = round(seconds / 3600 / 2**0.5)
        return 3600 * hours, 7200 * hours
    pairs = [(low, high) for low in _ROUND_SECONDS for high in _ROUND_SECONDS if low < high <= 2 * low]
    return min(pairs, key=lambda pair: max(pair[0] / seconds, seconds / pair[1]))


def spell_range(low: float, high: float) -> str:
    """Return a range of times as people say it, with its unit once.

    >>> spell_range(20, 40), spell_range(120, 180), spell_range(80, 150), spell_range(90, 180)
    ('20 to 40 s', '2 to 3 min', '80 to 150 s', '1.5 to 3 min')
    """
    unit, name = next(
        (unit, name)
        for unit, name in ((3600, "h"), (60, "min"), (1, "s"))
        if (low >= unit and low % (unit / 2) == 0) or unit == 1
    )
    return f"{low / unit:.4g} to {high / unit:.4g} {name}"


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
    pace = _Pace()

    def follow(event: Any) -> None:
        rate, left = pace.of(event)
        shown = f"{rate:.2g}/s" if rate else ""
        remaining = f"{int(left) // 60}:{int(left) % 60:02d} left" if left else ""
        progress.update(
            task, completed=event.done, total=event.total, rate=shown, left=remaining, failed=event.failed
        )

    with progress:
        yield follow


class _Pace:
    """How fast runs are done, those of an earlier command apart, and so is the start of workers.

    Once the study itself says how long the rest takes, that is the time left until some more runs are done.
    """

    def __init__(self) -> None:
        self._start = time.monotonic()
        self._before: int | None = None
        self._told: float | None = None

    def of(self, event: Any) -> tuple[float, float]:
        """Return runs per second and seconds left; zeros while nothing is known."""
        if self._before is None or isinstance(event, Timed):
            self._start, self._before = time.monotonic(), event.done
            self._told = event.seconds_left if isinstance(event, Timed) else None
        done, took = event.done - self._before, time.monotonic() - self._start
        if done <= 0 or took <= 0:
            return 0.0, 0.0
        if self._told is None:  # the first half holds the start of workers
            return done / took, (
                event.total - event.done
            ) * took / done if 2 * event.done >= event.total else 0.0
        if done < _FEWEST_RUNS:
            return done / took, max(self._told - took, 0.0)
        return done / took, (event.total - event.done) * took / done


class _Log:
    """Follow a study in a file or a pipe: a line at each quarter."""

    def __init__(self, terminal: Terminal) -> None:
        self._terminal = terminal
        self._pace = _Pace()
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
