"""What the terminal is told of an unforeseen error: its kind and its place, never its message.

Shiny and uvicorn write tracebacks to standard error. The last line of one may quote a value of the data, and
what a terminal shows is often kept in a file.
"""

from __future__ import annotations

import io
import os
import re
import sys
from contextlib import contextmanager, redirect_stderr
from typing import TYPE_CHECKING

from evenhand.app.state.processes import SHOW_TRACEBACKS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_PLACE = re.compile(r'File ".*[/\\](evenhand[/\\].*)\.py", line (\d+)')
_KIND = re.compile(r"([A-Za-z_][\w.]*?)(?::|$)")


class FaultStream(io.TextIOBase):
    """A stream that says of each traceback what kind of error it is and where, and drops the rest.

    Parameters
    ----------
    say : callable
        Is told one sentence for each error.
    """

    def __init__(self, say: Callable[[str], None]) -> None:
        self._say = say
        self._rest = ""
        self._place = ""
        self._is_open = False

    def writable(self) -> bool:
        """Whether the stream can be written to."""
        return True

    def write(self, text: str, /) -> int:
        """Take some text."""
        *lines, self._rest = (self._rest + text).split("\n")
        for line in lines:
            self._read(line.rstrip())
        return len(text)

    def _read(self, line: str) -> None:
        if line.lstrip(" |+-").startswith("Traceback (most recent call last)"):
            self._is_open, self._place = True, ""
            return
        place = _PLACE.search(line)
        if place:
            name = re.sub(r"[/\\]", ".", place[1])
            self._place = f" in {name}, line {place[2]}"
        kind = _KIND.match(line)
        if self._is_open and kind and not line.startswith(" "):
            self._is_open = False
            self._say(f"Something unforeseen happened: {kind[1].rpartition('.')[2]}{self._place}.")


@contextmanager
def hide_messages(say: Callable[[str], None]) -> Iterator[None]:
    """Keep the messages of unforeseen errors off standard error; `say` is told their kind and place."""
    if os.environ.get(SHOW_TRACEBACKS):
        yield
        return
    with redirect_stderr(FaultStream(say)):
        yield
    sys.stderr.flush()
