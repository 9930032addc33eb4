"""How a command ends: its exit codes, and that an end by the system is handled like Ctrl-C."""

from __future__ import annotations

import signal
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

FAILED, WRONG, UNCLEAR, FAULT, STOPPED, BROKEN_PIPE, TERMINATED = 1, 2, 3, 70, 130, 141, 143
"""Exit codes: cells failed, a rule is broken or a check failed; wrong use; whether a rule is kept cannot be
told; a fault of evenhand; stopped by Ctrl-C; nobody reads the output; ended by the system."""

_terminated = threading.Event()


def stop_code() -> int:
    """Return the exit code of a command that was stopped: by Ctrl-C, or by the system."""
    return TERMINATED if _terminated.is_set() else STOPPED


@contextmanager
def sigterm_as_interrupt() -> Iterator[None]:
    """Stop as after Ctrl-C when the system ends the program (SIGTERM).

    A file that is half written and the rows that worker processes share are then removed, and finished cells
    are kept, which a process that just dies does not see to.
    """

    def stop(*_: object) -> None:
        if not _terminated.is_set():  # asked twice, it is cleaning up already
            _terminated.set()
            raise KeyboardInterrupt

    if threading.current_thread() is not threading.main_thread():  # no other thread may handle signals
        yield
        return
    before = signal.signal(signal.SIGTERM, stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
        _terminated.clear()
