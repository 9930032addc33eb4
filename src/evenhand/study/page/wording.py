"""Write numbers, values and cells of tables as pages show them.

Text that came from data goes through :func:`plain`, so that a label can neither end a bold heading nor fill a
page.
"""

from __future__ import annotations

import math
from decimal import ROUND_CEILING, Context, Decimal
from typing import TYPE_CHECKING

from evenhand.report.language import fixed_word, in_language
from evenhand.report.marks import Estimate
from evenhand.report.words import capital, epsilon_of, limits_of, number, plain

if TYPE_CHECKING:
    from evenhand.measure.repeat_means import Estimated
    from evenhand.schema import Schema
    from evenhand.study.tasks.base import Task
    from evenhand.study.tasks.measure import Measure

_RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def counted(count: int, one: str, many: str = "") -> str:
    """Return how many there are.

    >>> counted(1, "repeat"), counted(2540, "repeat"), counted(0, "person", "people")
    ('1 repeat', '2,540 repeats', '0 people')
    """
    return f"{in_language(f'{count:,}')} {one if count == 1 else many or f'{one}s'}"


def delta_text(delta: float) -> str:
    r"""Return delta with two digits, never below what it is.

    >>> delta_text(0.0), delta_text(0.8915), delta_text(1.0), delta_text(0.99991)
    ('0', '0.892', '1.000', '1.000')
    >>> delta_text(6.04e-6).replace("\u00a0", " ")
    '6.1 × 10⁻⁶'
    """
    if not math.isfinite(delta):
        return "unknown"
    if delta <= 0:
        return "0"
    exact = Decimal(repr(float(delta)))
    if delta >= 0.001:
        return in_language(f"{exact.quantize(Decimal('0.001'), rounding=ROUND_CEILING)}")
    rounded = Context(prec=2, rounding=ROUND_CEILING).plus(exact)
    power = rounded.adjusted()
    return f"{in_language(f'{rounded.scaleb(-power):.1f}')}\u00a0×\u00a0{power_of_ten(power)}"


def power_of_ten(power: int) -> str:
    """Return a power of ten with raised figures."""
    return f"10{str(power).translate(_RAISED)}"


def odds_factor(epsilon: float) -> str:
    """Return e to the epsilon, rounded up.

    >>> odds_factor(1), odds_factor(10), odds_factor(50)
    ('2.72', '22,027', 'e^50')
    """
    if epsilon > 20:
        return f"e^{epsilon_of(epsilon)}"
    factor = math.exp(epsilon)
    shown = f"{math.ceil(factor):,}" if factor >= 100 else f"{math.ceil(100 * factor) / 100:g}"
    return in_language(shown)


def digits_of(value: float) -> int:
    """Return how many digits a number of people is shown with: none from a hundred on, more when small."""
    size = abs(value)
    if size < 0.00005:  # what four digits show as zero
        return 1
    return 0 if size >= 100 else 1 if size >= 1 else 2 if size >= 0.01 else 4


def mark(found: Estimated) -> Estimate:
    """Return an estimate as charts take it."""
    return Estimate(found.value, found.low, found.high)


def value_words(column: object, label: object) -> str:
    """Return a column with its value; a label that begins with a comparison is one.

    >>> value_words("hired", "yes"), value_words("pay", ">= 50000")
    ('hired = yes', 'pay >= 50000')
    """
    value = plain(label)
    return f"{plain(column)}{' ' if value.startswith(tuple('<>≤≥=')) else ' = '}{value}"


def outcome_name(schema: Schema) -> str:
    """Return the positive outcome as in "predicted income = high"."""
    return value_words(schema.target, schema.positive_label)


# --- cells of tables ------------------------------------------------------------------------------


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
    """Return what stands above the values of a measure, with its unit.

    >>> from evenhand.study.tasks.measure import CLASSIFIER_MEASURES
    >>> measure_title(CLASSIFIER_MEASURES["sp_gap"])
    'Gap in selection rates, points'
    """
    unit = {"percent": ", %", "points": ", points"}.get(known.form, "")
    return f"{capital(known.words)}{unit}"


def measure_text(task: Task, known: Measure, found: Estimated) -> str:
    """Return a value of a measure as a report writes it, with its interval below."""
    if known.form in {"amount", "delta"} and math.isfinite(found.value):
        return (task.amount_text if known.form == "amount" else delta_text)(found.value)
    if known.form in {"percent", "points"}:
        return cell_text(found)
    return cell_text(found, times=1.0, digits=digits_of(found.value))


def fold_rows(count: int) -> int | None:
    """Return from which row on a long table is folded; None if it is short."""
    return 12 if count > 14 else None
