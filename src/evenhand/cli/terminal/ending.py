"""The system's wish that the program ends is heard like Ctrl-C, so that nothing private is left behind."""

from __future__ import annotations

import signal
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING

from evenhand.cli.terminal.console import ENDED, STOPPED

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["heard", "stop_code"]

_wished = threading.Event()


def stop_code() -> int:
    """Return the exit code of a command that was stopped: by Ctrl-C, or by the system."""
    return ENDED if _wished.is_set() else STOPPED


@contextmanager
def heard() -> Iterator[None]:
    """Stop as after Ctrl-C when the system ends the program (SIGTERM).

    A file that is half written and the rows that worker processes share are then removed, and finished cells
    are kept, which a process that just dies does not see to.
    """

    def stop(*_: object) -> None:
        if not _wished.is_set():  # asked twice, it is cleaning up already
            _wished.set()
            raise KeyboardInterrupt

    if threading.current_thread() is not threading.main_thread():  # where the system is not heard
        yield
        return
    before = signal.signal(signal.SIGTERM, stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
        _wished.clear()
