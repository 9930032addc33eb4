"""Whether the loops of evenhand are compiled on this machine already; the first use of each takes seconds."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import evenhand

if TYPE_CHECKING:
    from evenhand.cli.terminal.console import Terminal


def compile_folder() -> Path:
    """Return where compiled loops are kept: the folder that NUMBA_CACHE_DIR names, or that of evenhand."""
    named = os.environ.get("NUMBA_CACHE_DIR")
    return Path(named) if named else Path(evenhand.__file__).parent


def count_compiled() -> int:
    """Return how many compiled loops are kept there."""
    return sum(1 for _ in compile_folder().rglob("*.nbi"))


def announce_compiling(terminal: Terminal) -> None:
    """Say that loops are compiled now, where none are kept; later commands find them."""
    if not count_compiled():
        terminal.say("Compile", "compiling, once: about ten seconds; later commands start at once")
