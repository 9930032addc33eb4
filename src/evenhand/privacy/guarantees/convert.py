"""Which unit can be read as which other, at what price, and why the rest cannot."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from evenhand.errors import GuaranteeError
from evenhand.privacy.guarantees.compose import Composed, heaviest, keeps_own_part, moving
from evenhand.privacy.guarantees.units import Trust, Unit

if TYPE_CHECKING:
    from evenhand.privacy.guarantees.guarantee import Guarantee
    from evenhand.privacy.guarantees.loss import Loss

__all__ = ["Conversion", "common_unit", "convert"]

_ONE_STEP = {
    Unit.ONE_REPORT: Unit.ONE_PERSON,
    Unit.ONE_PERSON: Unit.REPLACE_ONE,
    Unit.ADD_OR_REMOVE_ONE: Unit.REPLACE_ONE,
}

_NUMBER_SHOWS = (
    "the number of people may show under 'replace one', and adding or removing a person changes that number"
)
_ABOUT_EVERYBODY = "it speaks of what is made from everybody's records, not of what one person sends"
_SENDING_SHOWS = "whether a person sends anything at all is not hidden by it"
_PROMISES_LESS = "it covers everything a person sends, each report with it, and would only promise less"
_WHY_NOT = {
    (Unit.REPLACE_ONE, Unit.ADD_OR_REMOVE_ONE): _NUMBER_SHOWS,
    (Unit.REPLACE_ONE, Unit.ONE_PERSON): _ABOUT_EVERYBODY,
    (Unit.REPLACE_ONE, Unit.ONE_REPORT): _ABOUT_EVERYBODY,
    (Unit.ADD_OR_REMOVE_ONE, Unit.ONE_PERSON): _ABOUT_EVERYBODY,
    (Unit.ADD_OR_REMOVE_ONE, Unit.ONE_REPORT): _ABOUT_EVERYBODY,
    (Unit.ONE_PERSON, Unit.ONE_REPORT): _PROMISES_LESS,
    (Unit.ONE_PERSON, Unit.ADD_OR_REMOVE_ONE): _SENDING_SHOWS,
    (Unit.ONE_REPORT, Unit.ADD_OR_REMOVE_ONE): _SENDING_SHOWS,
}


class Conversion(NamedTuple):
    """A loss in another unit, what it assumes, and the name of its proof if it is only a bound."""

    loss: Loss
    assumptions: tuple[str, ...] = ()
    proof: str = ""


def common_unit(first: Unit, second: Unit) -> Unit:
    """Return the unit two guarantees are brought to before they are composed."""
    if first is second:
        return first
    return Unit.ONE_PERSON if {first, second} == {Unit.ONE_REPORT, Unit.ONE_PERSON} else Unit.REPLACE_ONE


def convert(guarantee: Guarantee, target: Unit, *, reports: int | None) -> tuple[Composed, str]:
    """Go from the guarantee's unit to the `target` step by step, or say why that is not possible.

    Returned with the name of the proof, if the new amount is only a bound.
    """
    if (guarantee.unit, target) in _WHY_NOT:
        raise GuaranteeError(
            f"A guarantee for '{guarantee.unit}' cannot be read as one for '{target}': "
            f"{_WHY_NOT[guarantee.unit, target]}. Hint: a guarantee for '{target}' needs a proof of its own."
        )
    loss, assumptions, proof = _chain(guarantee.loss, guarantee, target, reports)
    if not keeps_own_part(guarantee):
        blocks = guarantee.blocks if loss == guarantee.loss else ()
        return Composed(loss, assumptions, blocks), proof
    blocks = tuple(_chain(block, guarantee, target, reports).loss for block in heaviest(guarantee))
    if target is not Unit.REPLACE_ONE:
        return Composed(loss, assumptions, blocks), proof
    # Another person may answer in another part, so the largest part alone does not cover it.
    moved = moving(blocks)
    return moved._replace(assumptions=assumptions + moved.assumptions), proof


def _chain(loss: Loss, guarantee: Guarantee, target: Unit, reports: int | None) -> Conversion:
    result, unit = Conversion(loss), guarantee.unit
    while unit is not target:
        result = _step(result, unit, guarantee.trust, reports)
        unit = _ONE_STEP[unit]
    return result


def _step(before: Conversion, unit: Unit, trust: Trust, reports: int | None) -> Conversion:
    if unit is Unit.ADD_OR_REMOVE_ONE:
        # Replacing is removing one and adding another: two steps of the chain, so the group of two.
        return Conversion(before.loss.for_group(2), before.assumptions, "group privacy")
    if unit is Unit.ONE_PERSON:
        # Same number of people, one person's record is another: exactly one person has changed.
        taken_part = ("who takes part is public",) if trust is Trust.LOCAL else ()
        return before._replace(assumptions=before.assumptions + taken_part)
    return _from_report_to_person(before, trust, reports)


def _from_report_to_person(before: Conversion, trust: Trust, reports: int | None) -> Conversion:
    if trust is Trust.LOCAL:
        # Each report has randomness of its own, so the reports of a person compose one after the other.
        times = 1 if reports is None else reports
        said = "each person sends one report" if times == 1 else f"each person sends at most {times} reports"
        proof = "sequential composition" if times > 1 else ""
        return Conversion(before.loss.repeated(times), (said,), proof)
    if reports is None:
        raise GuaranteeError(
            f"A guarantee for '{Unit.ONE_REPORT}' with central trust covers one row, and a person may have "
            "several. Hint: say how many with .as_unit('one person', reports=...)."
        )
    # One mechanism sees all rows, so a person's rows are a group.
    said = f"each person has at most {reports} {'row' if reports == 1 else 'rows'}"
    return Conversion(before.loss.for_group(reports), (said,), "group privacy" if reports > 1 else "")
