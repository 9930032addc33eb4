"""How a guarantee reads: one plain sentence, what is in the clear, and warnings where it is weak."""

from __future__ import annotations

import functools
import inspect
import warnings
from decimal import ROUND_CEILING, Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, TypeVar

from evenhand.errors import PrivacyWarning
from evenhand.privacy.guarantees.units import SEVERAL_ROWS, Measure, Trust, Unit
from evenhand.privacy.rational import (
    as_text,
    decimal_context,
    decimal_text,
    exp_bounds,
    leading_zeros,
    round_decimal,
)
from evenhand.privacy.zcdp import epsilon_from_zcdp

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from evenhand.privacy.guarantees.loss import Statement

    Stated = TypeVar("Stated", bound=Statement)

_LARGE_EPSILON = 10
_LARGE_DELTA = Fraction(1, 100)
_READING_DELTA = Fraction(1, 10**6)
_LARGE_RHO = Fraction(15_393, 10_000)  # where epsilon passes 10 at the delta above
_LONGEST_EXACT = 12
_WARNED = {"epsilon", "people"}  # the other cautions are told wherever a guarantee is shown


def sentence_of(guarantee: Statement) -> str:
    """Return the whole text: the claim, what is in the clear, assumptions and cautions."""
    cautions = dict(cautions_of(guarantee))
    sentences = [cautions.pop("delta", ""), "" if guarantee.trust is Trust.NONE else _claim(guarantee)]
    clear = _join_names(guarantee.in_clear)
    in_clear = (
        f"In the clear, and so not protected: {clear}."
        if clear
        else "Nothing is declared to be in the clear."
    )
    sentences.append(in_clear)
    if clear and not guarantee.protects and guarantee.trust is not Trust.NONE:
        sentences.append("No declared column is protected.")
    if guarantee.assumptions:
        sentences.append(f"Assumes: {'; '.join(guarantee.assumptions)}.")
    sentences.extend(cautions.values())
    return " ".join(sentence for sentence in sentences if sentence)


def cautions_of(guarantee: Statement) -> dict[str, str]:
    """Return what a reader would misjudge, by kind."""
    people = guarantee.people
    return {kind: caution(kind, guarantee, people) for kind in troubles_of(guarantee, people)}


def troubles_of(guarantee: Statement, people: int | None) -> tuple[str, ...]:
    """Return the kinds of trouble, ``delta``, ``people``, ``epsilon`` or ``rho``, without wording them."""
    delta, epsilon, rho = guarantee.delta, guarantee.epsilon, guarantee.rho
    troubles = {
        "delta": delta >= _LARGE_DELTA,
        "people": people is not None and guarantee.trust is not Trust.NONE and delta * people >= 1,
        "epsilon": epsilon is not None and epsilon > _LARGE_EPSILON,
        "rho": rho is not None and rho > _LARGE_RHO,
    }
    return tuple(kind for kind, there in troubles.items() if there)


def caution(kind: str, guarantee: Statement, people: int | None) -> str:
    """Return the sentence for a kind of trouble that the guarantee has."""
    if kind == "delta":
        return f"This is no meaningful guarantee: {_meaning_of_large_delta(guarantee)}."
    if kind == "people":
        return (
            f"Caution: {_delta_fact(guarantee.delta)} with {people:,} people, so delta is at least one in "
            "their number, which allows publishing a random person's row."
        )
    if kind == "epsilon":
        epsilon = guarantee.loss.amount
        return (
            f"Caution: {amount_text('epsilon', epsilon)} allows odds to change by a factor of "
            f"{_factor(epsilon)}."
        )
    rho = guarantee.loss.amount
    return (
        f"Caution: {amount_text('rho', rho)} means epsilon above {_LARGE_EPSILON} already at "
        f"{_delta_fact(_READING_DELTA)}, which allows chances to change by a factor of "
        f"{_factor(_epsilon_to_read(rho))}."
    )


@functools.lru_cache(maxsize=1024)
def _epsilon_to_read(rho: Fraction) -> Fraction:
    return epsilon_from_zcdp(rho, _READING_DELTA)


def amount_text(name: str, value: Fraction) -> str:
    """Return a decimal that is not below the value, and the exact value beside it where that is short.

    >>> amount_text("epsilon", Fraction(1, 10)), amount_text("epsilon", Fraction(10**20, 3**40))
    ('epsilon = 0.1', 'epsilon <= 8.2253')
    >>> amount_text("epsilon", Fraction(1, 3))
    'epsilon = 0.333334 (exactly 1/3)'
    """
    small = max(value.numerator, value.denominator) < 10**_LONGEST_EXACT
    if small and len(as_text(value)) <= _LONGEST_EXACT:
        return f"{name} = {decimal_text(value)}"
    return f"{name} <= {_readable(round_decimal(value, 5, ROUND_CEILING))}"


def delta_text(delta: Fraction) -> str:
    """Return delta with two significant digits, the last rounded up.

    >>> delta_text(Fraction("6.0129962978621e-06")), delta_text(Fraction("0.98")), delta_text(Fraction(1))
    ('6.1e-6', '0.98', '1')
    """
    if 0 < delta < Fraction(1, 1000):
        return f"{round_decimal(delta, 2, ROUND_CEILING):.1e}"
    return _readable(round_decimal(delta, 2, ROUND_CEILING))


def _delta_fact(delta: Fraction) -> str:
    exactly = Fraction(round_decimal(delta, 2, ROUND_CEILING)) == delta
    return f"delta {'=' if exactly else '<='} {delta_text(delta)}"


def _meaning_of_large_delta(guarantee: Statement) -> str:
    if guarantee.trust is Trust.NONE:
        return "nothing limits what can be learnt about one person (trust: none)"
    seen = "a report" if guarantee.unit is Unit.ONE_REPORT else "what is seen"
    told = "one row from another" if _is_of_rows(guarantee) else "one person's record from another's"
    chance = f"{_delta_fact(guarantee.delta)}, and with about this chance"
    return f"{chance} {seen} tells {told}, whatever epsilon says"


def _claim(guarantee: Statement) -> str:
    facts = f"({_facts(guarantee)})"
    if guarantee.epsilon is not None and guarantee.delta == 0:
        change = f"by at most a factor of {_factor(guarantee.epsilon)}"
        return f"{_seeing(guarantee)} can change the odds {_pair(guarantee)} {change} {facts}."
    if guarantee.rho is not None:
        epsilon, delta = _epsilon_to_read(guarantee.rho), _READING_DELTA
        reading = f", read at {_delta_fact(delta)}"
    else:
        epsilon, delta, reading = guarantee.epsilon or Fraction(0), guarantee.delta, ""
    return (
        f"{_changing(guarantee)} changes the chance of anything that can be seen by at most a factor of "
        f"{_factor(epsilon)} plus {delta_text(delta)}{reading} {facts}."
    )


def _facts(guarantee: Statement) -> str:
    facts = []
    if guarantee.epsilon is not None:
        facts.append(amount_text("epsilon", guarantee.epsilon))
    if guarantee.rho is not None:
        facts.append(amount_text("rho", guarantee.rho))
    if guarantee.measure is Measure.APPROXIMATE:
        facts.append(_delta_fact(guarantee.delta))
    facts += [str(guarantee.measure), f"unit: {guarantee.unit}", f"trust: {guarantee.trust}"]
    if guarantee.group_size > 1:
        several = "rows" if _is_of_rows(guarantee) else "people"
        units = "reports" if guarantee.unit is Unit.ONE_REPORT else several
        facts.append(f"for {guarantee.group_size:,} {units} at once")
    how = "tight" if guarantee.tight else "bound"
    by = f", by {guarantee.proof.replace('; ', ' and ')}" if guarantee.proof else ""
    return f"{', '.join(facts)}; {how}{by}"


def _seeing(guarantee: Statement) -> str:
    if guarantee.trust is Trust.CENTRAL:
        return "Seeing what is published"
    many = guarantee.group_size > 1
    return {
        Unit.ONE_REPORT: f"Seeing {_reports(guarantee)}",
        Unit.ONE_PERSON: f"Seeing everything {_whose(guarantee)} {'send' if many else 'sends'}",
    }.get(guarantee.unit, "Seeing all reports")


def _pair(guarantee: Statement) -> str:
    whose = _whose(guarantee)
    if guarantee.unit is Unit.ADD_OR_REMOVE_ONE:
        there = "being in the data and not being in it"
        return f"between {whose} {there}, whatever {_their(guarantee)},"
    if guarantee.unit is not Unit.ONE_REPORT:
        return f"between any two values of {_owned(guarantee)}"
    if guarantee.group_size == 1:
        besides = " besides" if guarantee.in_clear else ""
        return f"between any two values of {_join_names(guarantee.protects) or f'what was asked{besides}'}"
    behind = "them" if guarantee.trust is Trust.LOCAL else _reports(guarantee)
    return f"between any two values of the {_record(guarantee)} behind {behind}"


def _changing(guarantee: Statement) -> str:
    whose, owned = _whose(guarantee), _owned(guarantee)
    return {
        Unit.ONE_REPORT: f"Changing the {_record(guarantee)} behind {_reports(guarantee)}",
        Unit.ONE_PERSON: f"Changing {owned}",
        Unit.REPLACE_ONE: f"Replacing {owned}",
        Unit.ADD_OR_REMOVE_ONE: f"Adding or removing {whose}, whatever {_their(guarantee)},",
    }[guarantee.unit]


def _is_of_rows(guarantee: Statement) -> bool:
    """Whether the claim holds for rows, of which one person may have several."""
    return guarantee.trust is Trust.CENTRAL and SEVERAL_ROWS in guarantee.assumptions


def _whose(guarantee: Statement) -> str:
    one, many = ("row", "rows") if _is_of_rows(guarantee) else ("person", "people")
    return f"one {one}" if guarantee.group_size == 1 else f"any {guarantee.group_size:,} {many}"


def _reports(guarantee: Statement) -> str:
    return "one report" if guarantee.group_size == 1 else f"any {guarantee.group_size:,} reports"


def _record(guarantee: Statement) -> str:
    return _join_names(guarantee.protects) or ("rest of the record" if guarantee.in_clear else "record")


def _owned(guarantee: Statement) -> str:
    """Return what is protected of whom; beside columns in the clear it is not the whole record."""
    rest = "" if guarantee.protects or not guarantee.in_clear else "the rest of "
    if _is_of_rows(guarantee):
        named = f"{_join_names(guarantee.protects)} in " if guarantee.protects else ""
        return f"{rest}{named}{_whose(guarantee)}"
    return f"{rest}{_whose(guarantee)}'s {_join_names(guarantee.protects) or 'record'}"


def _their(guarantee: Statement) -> str:
    rest = "" if guarantee.protects or not guarantee.in_clear else "the rest of "
    their = "its" if _is_of_rows(guarantee) and guarantee.group_size == 1 else "their"
    whole = "values" if _is_of_rows(guarantee) else "record"
    return f"{rest}{their} {_join_names(guarantee.protects) or whole}"


def _factor(epsilon: Fraction) -> str:
    """Return e to the epsilon, rounded up, with two digits of what it is above 1."""
    if epsilon == 0:
        return "1"
    if epsilon > 500:
        return f"e^{_readable(round_decimal(epsilon, 5, ROUND_CEILING))}"
    factor = exp_bounds(epsilon, digits=20 + leading_zeros(epsilon))[1]
    if factor >= 2:
        return _readable(round_decimal(factor, 3, ROUND_CEILING))
    above = round_decimal(factor - 1, 2, ROUND_CEILING)
    if above.adjusted() < -6:
        return f"1 + {above:.1e}"
    return _readable(decimal_context(20).add(1, above))


def _readable(value: Decimal) -> str:
    if value == 0 or -4 <= value.adjusted() < 9:
        plain = f"{value:,f}"
        return plain.rstrip("0").rstrip(".") if "." in plain else plain
    return f"{value:e}"


def _join_names(names: Sequence[str]) -> str:
    return " and ".join([", ".join(names[:-1]), names[-1]]) if len(names) > 1 else "".join(names)


def warn_of_new_trouble(guarantee: Stated, parts: Iterable[Statement] = (), *, people: int | None) -> Stated:
    """Return the guarantee, with a warning of what is weak in it and was in none of its parts.

    `people` is the number of people, or a number that there are at least when the exact one is not known.
    """
    troubles = [kind for kind in troubles_of(guarantee, people) if kind in _WARNED]
    if troubles:
        known = {kind for part in parts for kind in troubles_of(part, part.people)}
        for kind in troubles:
            if kind not in known:
                warnings.warn(
                    caution(kind, guarantee, people), PrivacyWarning, stacklevel=_levels_to_the_caller()
                )
    return guarantee


def _levels_to_the_caller() -> int:
    """Return the stacklevel of the first line outside of this package, seen from the caller."""
    level, frame = 0, inspect.currentframe()
    while frame is not None and frame.f_globals.get("__name__", "").partition(".")[0] == "evenhand":
        level, frame = level + 1, frame.f_back
    return level
