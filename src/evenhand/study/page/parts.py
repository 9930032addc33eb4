"""Cells of tables that several pages share."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from evenhand.report.language import fixed_word
from evenhand.report.words import limits_of, number
from evenhand.study.page.wording import delta_text, digits_of

if TYPE_CHECKING:
    from evenhand.measure.repeat_means import Estimated
    from evenhand.study.tasks.base import Task
    from evenhand.study.tasks.measure import Measure


def cell_text(found: Estimated, *, times: float = 100.0, digits: int = 1) -> str:
    r"""Return a value with its interval below.

    >>> from evenhand.measure.repeat_means import Estimated
    >>> cell_text(Estimated(0.806, 0.801, 0.811))
    '80.6\n80.1 to 81.1'
    """
    if not math.isfinite(found.value):
        return fixed_word("form.undefined")
    shown = number(times * found.value, digits)
    if found.low is None or found.high is None:
        return shown
    return f"{shown}\n{limits_of(times * found.low, times * found.high, digits)}"


def measure_title(known: Measure) -> str:
    r"""Return what stands above the values of a measure, with the unit below.

    >>> from evenhand.study.tasks.measure import CLASSIFIER_MEASURES
    >>> measure_title(CLASSIFIER_MEASURES["sp_gap"])
    'Gap in selection rates\npoints'
    """
    unit = {"percent": "%", "points": "points"}.get(known.form, "")
    return f"{known.words[:1].upper()}{known.words[1:]}\n{unit}".rstrip()


def measure_text(task: Task, known: Measure, found: Estimated) -> str:
    """Return a value of a measure as a report writes it, with its interval below."""
    if not math.isfinite(found.value):
        return fixed_word("form.undefined")
    if known.form == "amount":
        return task.amount_text(found.value)
    if known.form == "delta":
        return delta_text(found.value)
    is_share = known.form in {"percent", "points"}
    digits = 1 if is_share else digits_of(found.value)
    return cell_text(found, times=100.0 if is_share else 1.0, digits=digits)


def fold_rows(count: int) -> int | None:
    """Return from which row on a long table is folded; None if it is short."""
    return 12 if count > 14 else None
