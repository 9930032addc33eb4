"""Warnings of weak guarantees, given once and at the line that made them."""

from __future__ import annotations

import inspect
import warnings
from typing import TYPE_CHECKING

from evenhand.errors import PrivacyWarning
from evenhand.privacy.guarantees.wording import caution, troubles_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from evenhand.privacy.guarantees.guarantee import Guarantee

__all__ = ["warn_of_new_trouble"]

_WARNED = {"epsilon", "people"}  # the other cautions are told wherever a guarantee is shown


def warn_of_new_trouble(made: Guarantee, parts: Iterable[Guarantee] = (), *, people: int | None) -> None:
    """Warn of what is weak in a guarantee and was in none of its parts.

    `people` is the number of people, or a number that there are at least when the exact one is not known.
    """
    found = [kind for kind in troubles_of(made, people) if kind in _WARNED]
    if found:
        known = {kind for part in parts for kind in troubles_of(part, part.people)}
        for kind in found:
            if kind not in known:
                warnings.warn(caution(kind, made, people), PrivacyWarning, stacklevel=_levels_to_the_caller())


def _levels_to_the_caller() -> int:
    """Return the stacklevel of the first line outside of this package, seen from the caller."""
    level, frame = 0, inspect.currentframe()
    while frame is not None and frame.f_globals.get("__name__", "").partition(".")[0] == "evenhand":
        level, frame = level + 1, frame.f_back
    return level
