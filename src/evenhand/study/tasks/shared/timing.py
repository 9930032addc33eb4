"""The CPU time of the steps of a cell."""

from __future__ import annotations

import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextmanager
def timed(seconds: dict[str, float], step: str) -> Iterator[None]:
    """Add the CPU time of a block to that of a step."""
    start = time.process_time()
    try:
        yield
    finally:
        seconds[step] += time.process_time() - start
