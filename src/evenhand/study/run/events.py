"""What a running study tells whoever follows it, and how it is told to stop."""

from __future__ import annotations

from dataclasses import dataclass
from threading import Event as Flag
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from evenhand.study.store.outcome import Outcome


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
        """Whether somebody asked."""
        return self._flag.is_set()
