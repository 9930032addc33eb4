"""Which arrays and frames came out of a privatizer, as long as they live."""

from __future__ import annotations

from contextlib import suppress
from typing import Any
from weakref import WeakValueDictionary

__all__ = ["is_privatized", "remember"]

_MADE: WeakValueDictionary[int, Any] = WeakValueDictionary()


def remember(made: Any) -> Any:
    """Return what a privatizer made, having noted that it did; nothing is kept alive by that."""
    with suppress(TypeError):  # some containers cannot be noted
        _MADE[id(made)] = made
    return made


def is_privatized(given: Any) -> bool:
    """Whether a privatizer made this very object, or the array of which it is a view.

    >>> import numpy as np
    >>> made = remember(np.zeros((3, 2)))
    >>> is_privatized(made), is_privatized(made[:2]), is_privatized(np.zeros((3, 2)))
    (True, True, False)
    """
    return any(
        _MADE.get(id(each)) is each for each in (given, getattr(given, "base", None)) if each is not None
    )
