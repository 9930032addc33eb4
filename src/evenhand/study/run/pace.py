"""Tell how long the runs of a study that are left will take, from the times of those that are finished."""

from __future__ import annotations

import time
from collections import Counter, defaultdict
from contextlib import contextmanager
from statistics import fmean
from typing import TYPE_CHECKING, Any, NamedTuple

from evenhand.study.run.events import Timed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from evenhand.study.plan.cells import Cell, Setting

_WATCHED_SECONDS = 3.0
"""How long runs are watched once every worker is at work."""

_FEWEST_RUNS = 6
"""How many runs are watched, as long as that does not take too long."""

_LONGEST_SECONDS = 25.0
"""After this long, two runs beyond the first of each worker are enough."""

_EARLY_SHARE = 0.25
"""Where a quarter of the runs took less, it is told from those."""

_SHORT_SECONDS = 1.0
"""Of less than this nobody needs to be told."""


class RunTime(NamedTuple):
    """Hold how long a run took, and how much of that was compiling, which no later run does again."""

    seconds: float
    compiling: float = 0.0


@contextmanager
def compile_clock() -> Iterator[Callable[[], float]]:
    """Yield a function that returns how many seconds this process has compiled kernels meanwhile.

    Kernels that were compiled before are read from files, which counts as no compiling.
    """
    from numba.core import event  # noqa: PLC0415 - only where runs are made

    listener: Any = event.TimingListener()  # type: ignore[no-untyped-call]  # numba has no types
    with event.install_listener("numba:compile", listener):
        yield lambda: listener.duration if listener.done else 0.0


class Pace:
    """The times of finished runs by setting, and what follows for those that are left.

    The first run of each worker loads libraries, so its time is used for nothing else. On a machine where
    nothing was compiled yet the first run of each mechanism compiles: that is taken off its time, and is
    expected once more for each mechanism that has not been run. `cells` are in the order in which they are
    handed out; so many `more` follow, of which nothing else is known yet.
    """

    def __init__(
        self,
        cells: Sequence[Cell],
        *,
        workers: int,
        more: int = 0,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._first = {cell.id for cell in cells[:workers]}
        self._left = Counter(cell.setting for cell in cells)
        self._total, self.workers, self._clock = len(cells) + more, max(workers, 1), clock
        self._more = more
        self._seconds: dict[Setting, float] = {}
        self._compiling: dict[str, float] = defaultdict(float)
        self._counted = 0
        self._start = clock()
        self._ready: float | None = None
        self._is_told = False

    def add(self, cell: Cell, took: RunTime) -> float | None:
        """Note how long a run took; return the seconds that the others will take, once, when they are known.

        >>> from evenhand.study import CollectTask, Plan
        >>> cells = Plan(task=CollectTask("grr", [1]), repeats=2).cells()
        >>> pace = Pace(cells, workers=1)
        >>> [pace.add(cell, RunTime(seconds)) for cell, seconds in zip(cells, (9.0, 2.0, 3.0, 3.0))]
        [None, 4.0, None, None]
        """
        self._left[cell.setting] -= 1
        self._compiling[cell.setting.mechanism] += took.compiling
        if cell.id in self._first:
            self._first.remove(cell.id)
            if not self._first:
                self._ready = self._clock()
        else:
            self._counted += 1
            self._seconds[cell.setting] = max(took.seconds - took.compiling, 0.0)
        if self._is_told or not self._is_known():
            return None
        self._is_told = True
        left = self._seconds_left()
        return left if left >= _SHORT_SECONDS else None

    def _is_known(self) -> bool:
        if self._ready is None or not self._counted:
            return False
        now = self._clock()
        is_late = now - self._start >= _LONGEST_SECONDS
        enough = 2 if is_late else max(2 * self.workers, _FEWEST_RUNS)
        watched = now - self._ready >= _WATCHED_SECONDS and self._counted >= enough
        return watched or self._counted >= _EARLY_SHARE * self._total

    def _seconds_left(self) -> float:
        by_mechanism: dict[object, list[float]] = defaultdict(list)
        for setting, seconds in self._seconds.items():
            by_mechanism[setting.mechanism].append(seconds)
        usual = fmean(self._seconds.values())
        alike = {mechanism: fmean(times) for mechanism, times in by_mechanism.items()}
        work = sum(
            count * self._seconds.get(setting, alike.get(setting.mechanism, usual))
            for setting, count in self._left.items()
        )
        unseen = {setting.mechanism for setting in self._left} - set(self._compiling)
        work += self._more * usual
        return (work + len(unseen) * fmean(self._compiling.values())) / self.workers


class Speed:
    """Hold how fast runs are done, those of an earlier command apart, and so is the start of workers.

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
        rest = (event.total - event.done) * took / done
        if self._told is None:  # the first half holds the start of workers
            left = rest if 2 * event.done >= event.total else 0.0
        else:
            left = max(self._told - took, 0.0) if done < _FEWEST_RUNS else rest
        return done / took, left


def spread_first_repeat(cells: Sequence[Cell]) -> list[Cell]:
    """Return cells with the settings of the first repeat mixed, so that the first few stand for all.

    >>> from evenhand.study import CollectTask, Plan
    >>> cells = spread_first_repeat(Plan(task=CollectTask("grr", [1, 2, 3, 4]), repeats=2).cells())
    >>> [(cell.repeat, float(cell.setting.epsilon or 0)) for cell in cells[:6]]
    [(0, 0.0), (0, 4.0), (0, 2.0), (0, 1.0), (0, 3.0), (1, 0.0)]
    """
    if not cells:
        return []
    head = [cell for cell in cells if cell.repeat == cells[0].repeat]
    digits = max((len(head) - 1).bit_length(), 1)
    mixed = sorted(range(len(head)), key=lambda place: f"{place:0{digits}b}"[::-1])
    return [*(head[place] for place in mixed), *(cell for cell in cells if cell.repeat != cells[0].repeat)]
