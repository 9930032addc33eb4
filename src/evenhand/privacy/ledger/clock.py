"""The time of an entry, and the refusal of a clock that jumps.

A period of a budget begins when the clock says so, so a clock that was moved could open a period twice or too
early.
"""

from __future__ import annotations

import time
from datetime import UTC, datetime

from evenhand.errors import LedgerError

_TOLERATED_SECONDS = 60.0  # what a clock is corrected by while it runs
_FORM = "%Y-%m-%dT%H:%M:%SZ"


class Clock:
    """The clock of this machine, watched from when a ledger was opened."""

    def __init__(self) -> None:
        self._drift = _wall_seconds() - _running_seconds()

    def stamp(self, last: str, *, name: str) -> str:
        """Return the time of an entry that comes after one of the time `last`.

        Raises
        ------
        LedgerError
            If the clock was moved since the ledger was opened, is behind the last entry or says no date.
        """
        now = _wall_seconds()
        if abs(now - _running_seconds() - self._drift) > _TOLERATED_SECONDS:
            raise LedgerError(
                f"The clock of this machine was moved while ledger '{name}' was open. Nothing was spent. "
                "Hint: check the clock and open the ledger again."
            )
        try:
            text = _text_of(now)
        except (ValueError, OverflowError, OSError):
            raise LedgerError(
                f"The clock of this machine says no date that an entry of ledger '{name}' can have. Nothing "
                "was spent. Hint: set the clock right."
            ) from None
        if last and now < _seconds_of(last) - _TOLERATED_SECONDS:
            raise LedgerError(
                f"The clock of this machine says {text}, before the last entry of ledger '{name}' "
                f"({last}). Nothing was spent. Hint: set the clock right. If it is right, it was ahead at "
                "that entry: make a new ledger with what is left."
            )
        return max(text, last)


def _wall_seconds() -> float:
    return time.time()


def _running_seconds() -> float:
    """Return the seconds since the machine started, with those in which it slept where that is known."""
    for name in ("CLOCK_BOOTTIME", "CLOCK_MONOTONIC"):  # of Linux and of macOS, whose own monotonic() sleeps
        if hasattr(time, name):
            return time.clock_gettime(getattr(time, name))
    return time.monotonic()


def _text_of(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime(_FORM)


def _seconds_of(text: str) -> float:
    return datetime.strptime(text, _FORM).replace(tzinfo=UTC).timestamp()
