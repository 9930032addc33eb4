"""Standard streams that are closed, full or no longer read: a command ends cleanly all the same."""

from __future__ import annotations

import os
import sys
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from evenhand.cli.terminal.ending import BROKEN_PIPE, WRONG

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_SPEAKERS = ("evenhand.cli.", "rich.", "typer", "click")


def silence(stream: Any) -> None:
    """Send a standard stream nowhere from now on, with what it still holds."""
    nowhere = os.open(os.devnull, os.O_RDWR)
    with suppress(OSError, ValueError):
        os.dup2(nowhere, stream.fileno())
    os.close(nowhere)


def open_closed_streams() -> bool:
    """Open what is closed of standard input, output and error, and return whether output was open.

    A file that is opened next would get the number of a closed stream, and whatever is written to that
    stream would go into the file. So its number is taken by one that leads nowhere.
    """
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # gets the lowest number that is free, which is this one
    was_open = sys.stdout is not None
    for name, mode in {"stdin": "r", "stdout": "w", "stderr": "w"}.items():
        if getattr(sys, name) is None:
            setattr(sys, name, Path(os.devnull).open(mode, encoding="utf-8"))  # noqa: SIM115 - for good
    return was_open


def is_of_output(error: OSError) -> bool:
    """Whether an error comes from writing to standard output: it was raised where a command speaks."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    return trace is not None and str(trace.tb_frame.f_globals.get("__name__", "")).startswith(_SPEAKERS)


def exit_on_broken_pipe() -> NoReturn:
    """End as programs do whose output goes to one that has ended, such as ``head``; 1 would mean cells."""
    for stream in (sys.stdout, sys.stderr):
        silence(stream)
    sys.exit(BROKEN_PIPE)


@contextmanager
def exit_if_output_fails(report: Callable[[str], None]) -> Iterator[None]:
    """End with an error where standard output cannot be written, at the latest when the command ends.

    The error is passed to `report`, which writes it to standard error.
    """
    try:
        try:
            yield
        finally:
            sys.stdout.flush()
    except BrokenPipeError:
        exit_on_broken_pipe()
    except OSError as error:
        silence(sys.stdout)
        reason = error.strerror or "the system refused"
        report(
            f"Standard output cannot be written: {reason}. Files that the command wrote before are complete."
        )
        sys.exit(WRONG)
