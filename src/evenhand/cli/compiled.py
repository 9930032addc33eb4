"""Whether the loops of evenhand are compiled on this machine already; the first use of each takes seconds."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from platformdirs import user_cache_path

import evenhand

if TYPE_CHECKING:
    from evenhand.cli.terminal.console import Terminal


def compile_folder() -> Path:
    """Return where compiled loops are kept, as numba chooses.

    That is the folder that NUMBA_CACHE_DIR names, else that of evenhand, else, where that cannot be written,
    numba's own in the user's cache.
    """
    named, own = os.environ.get("NUMBA_CACHE_DIR"), Path(evenhand.__file__).parent
    if named:
        return Path(named)
    return own if may_write(own) else user_cache_path("numba", appauthor=False)


def may_write(folder: Path) -> bool:
    """Whether this person may write into a folder, or make it where it is not there yet."""
    there = next(place for place in (folder.absolute(), *folder.absolute().parents) if place.exists())
    return os.access(there, os.W_OK)


def count_compiled() -> int:
    """Return how many compiled loops are kept there."""
    return sum(1 for _ in compile_folder().rglob("*.nbi"))


def announce_compiling(terminal: Terminal) -> None:
    """Say that loops are compiled now, where none are kept; later commands find them."""
    if not count_compiled():
        terminal.say("Compile", "compiling, once: about ten seconds; later commands start at once")
