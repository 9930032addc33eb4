"""Cells of tables that several pages share."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from evenhand.report.language import fixed_word
from evenhand.report.words import limits_of, number
from evenhand.study.page.wording import delta_text, digits_of

if TYPE_CHECKING:
    from evenhand.study.results.estimates import Estimated
    from evenhand.study.tasks.base import Task
    from evenhand.study.tasks.measure import Measure

_MOST_IN_WORDS = 5


def cell_text(
    found: Estimated, *, times: float = 100.0, digits: int = 1, bold: bool = False, sign: bool = False
) -> str:
    r"""Return a value with its interval below.

    >>> from evenhand.study.results.estimates import Estimated
    >>> cell_text(Estimated(0.806, 0.801, 0.811), bold=True)
    '**80.6**\n80.1 to 81.1'
    """
    if not math.isfinite(found.value):
        return fixed_word("form.undefined")
    shown = number(times * found.value, digits, sign=sign)
    shown = f"**{shown}**" if bold else shown
    if found.low is None or found.high is None:
        return shown
    return f"{shown}\n{limits_of(times * found.low, times * found.high, digits, sign=sign)}"


def measure_title(known: Measure, *, change: bool = False) -> str:
    r"""Return what stands above the values of a measure, with the unit below; or above their changes.

    >>> from evenhand.study.tasks.measure import CLASSIFIER_MEASURES
    >>> measure_title(CLASSIFIER_MEASURES["sp_gap"]), measure_title(CLASSIFIER_MEASURES["acc"], change=True)
    ('Gap in selection rates\npoints', 'Change\npoints')
    """
    words = "Change" if change else f"{known.words[:1].upper()}{known.words[1:]}"
    unit = {"percent": "points" if change else "%", "points": "points"}.get(known.form, "")
    return f"{words}\n{unit}".rstrip()


def measure_text(task: Task, known: Measure, found: Estimated, *, sign: bool = False) -> str:
    """Return a value of a measure as a report writes it, with its interval below."""
    if not math.isfinite(found.value):
        return fixed_word("form.undefined")
    if known.form == "amount":
        return task.amount_text(found.value, sign=sign)
    if known.form == "delta" and not sign:
        return delta_text(found.value)
    is_share = known.form in {"percent", "points"}
    digits = 1 if is_share else digits_of(found.value)
    return cell_text(found, times=100.0 if is_share else 1.0, digits=digits, sign=sign)


def fold_rows(count: int, *, at: int = 12) -> int | None:
    """Return from which row on a long table is folded; None if it is short."""
    return at if count > at + 2 else None
