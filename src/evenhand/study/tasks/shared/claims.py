"""Claims of a study that never promise more than is known: numbers are rounded, and rows are not people."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from evenhand._notes import Note
from evenhand.privacy.contributions import promise_to_rows

if TYPE_CHECKING:
    from collections.abc import Iterable
    from fractions import Fraction

    from evenhand.privacy.guarantees.guarantee import Guarantee


def rounded_up(delta: Fraction) -> float:
    """Return the nearest number of a computer that is not below a delta.

    >>> from fractions import Fraction
    >>> float(Fraction(1, 3)) >= Fraction(1, 3), rounded_up(Fraction(1, 3)) >= Fraction(1, 3)
    (False, True)
    """
    near = float(delta)
    return near if near >= delta else math.nextafter(near, math.inf)


def asks_whose_rows(notes: Iterable[str]) -> bool:
    """Return whether notes of a plan or of its rows ask whose rows they are: one person may have several."""
    return any(Note.of(note).kind == "unit" for note in notes)


def state_rows(guarantee: Guarantee, notes: Iterable[str]) -> Guarantee:
    """Return the guarantee for rows, not people, if the notes of a plan ask whose rows they are."""
    return promise_to_rows(guarantee) if asks_whose_rows(notes) else guarantee
