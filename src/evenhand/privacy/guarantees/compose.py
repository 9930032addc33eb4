"""What happens to the words and amounts of guarantees that are composed or read for another unit."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any, NamedTuple

from evenhand.errors import GuaranteeError
from evenhand.privacy.guarantees.loss import Loss, largest_two
from evenhand.privacy.guarantees.units import Trust, Unit

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from evenhand.privacy.guarantees.loss import Statement

NO_GUARANTEE = Loss(Fraction(0), Fraction(1))
"""The loss of a mechanism that makes no guarantee."""

MOST_PEOPLE = 10**15
"""No count of people, reports or members of a group is larger."""

_BETWEEN_PROOFS = "; "
_FIXED_PARTS = "where only the largest of several parts counts, which part a person is in is public and fixed"
OWN_PART = "where only the largest of several local parts counts, the part a person answers in is fixed"
_SIZES_MAY_CHANGE = (
    "where the two largest of several parts count, each part's guarantee also holds when the number of "
    "people in the part changes by one"
)

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


class Composed(NamedTuple):
    """An amount, what it assumes, and the two heaviest parts where a person may touch two.

    `proof` is the name of the proof that is added, where the amount is only a bound.
    """

    loss: Loss
    assumptions: tuple[str, ...] = ()
    blocks: tuple[Loss, ...] = ()
    proof: str = ""


def parallel_loss(parts: Sequence[Statement], *, membership: str | None) -> Composed:
    """Take the largest amount, or the two largest where a person may leave one part and enter another.

    A person's report comes out of the part they answer in, so under local trust the largest is enough. Read
    for 'replace one' it is not: the two heaviest parts are kept for that.
    """
    unit = parts[0].unit
    if unit is Unit.ADD_OR_REMOVE_ONE:
        return Composed(largest_two([part.loss for part in parts])[0])
    if membership == "public":
        return Composed(largest_two([part.loss for part in parts])[0], (_FIXED_PARTS,))
    blocks = largest_two([block for part in parts for block in heaviest(part)])
    local = all(part.trust is Trust.LOCAL for part in parts)
    if local and unit is not Unit.REPLACE_ONE and membership is None:
        return Composed(largest_two([part.loss for part in parts])[0], (OWN_PART,), blocks)
    return compose_moving(blocks)


def compose_moving(blocks: tuple[Loss, ...]) -> Composed:
    """Return what is lost when a person may leave one of the two heaviest parts and enter the other."""
    return Composed(blocks[0].plus(blocks[1]), (_SIZES_MAY_CHANGE,), blocks)


def sum_loss(first: Statement, second: Statement) -> Composed:
    """Add the amounts, and the heaviest parts of what was composed side by side under local trust.

    Where all is for 'replace one' already, nothing is left to be read from the parts, and none are kept.
    """
    loss = first.loss.plus(second.loss)
    if not any(map(keeps_own_part, (first, second))):
        return Composed(loss)
    none = Loss(Fraction(0), concentrated=loss.concentrated)
    heavy, light = ((*heaviest(part), none)[:2] for part in (first, second))
    return Composed(loss, blocks=(heavy[0].plus(light[0]), heavy[1].plus(light[1])))


def people_in(parts: Sequence[Statement]) -> tuple[int | None, int | None]:
    """Return how many people disjoint parts have, if known of each part, and how many at least."""
    known = [part.people for part in parts if part.people is not None]
    at_least = min(sum(known), MOST_PEOPLE) if known else None
    return (at_least if len(known) == len(parts) else None), at_least


def merged_words(parts: Sequence[Statement], total: Composed) -> dict[str, object]:
    """Unite columns, proofs and assumptions, each once, in order; trust is the weakest.

    A column that one part shows is in the clear, however well another part protects it. When one part
    makes no guarantee, neither does the whole: all columns count as in the clear, without proof or
    assumption.
    """
    trusts = {part.trust for part in parts}
    trust = next(trust for trust in (Trust.NONE, Trust.CENTRAL, Trust.LOCAL) if trust in trusts)
    protects = unique(column for part in parts for column in part.protects)
    shown = unique(column for part in parts for column in part.in_clear)
    if trust is Trust.NONE:
        return {"trust": trust, **without_guarantee(protects, shown)}
    texts = (*(part.proof for part in parts), total.proof)
    proofs = unique(name for text in texts for name in proof_names(text))
    kept = (assumption for part in parts for assumption in _keep_assumptions(part, total.assumptions))
    return {
        "trust": trust,
        "protects": tuple(column for column in protects if column not in shown),
        "in_clear": shown,
        "proof": _BETWEEN_PROOFS.join(proofs),
        "assumptions": unique((*kept, *total.assumptions)),
    }


def derived_terms(
    parts: Sequence[Statement], total: Composed, *, unit: Unit | None, group_size: int | None
) -> dict[str, Any]:
    """Return the terms of what follows from the parts, but for whether it is tight and the people."""
    return {
        **total.loss.amounts(),
        "unit": unit or parts[0].unit,
        "group_size": group_size or parts[0].group_size,
        "blocks": total.blocks,
        **merged_words(parts, total),
    }


def keeps_own_part(guarantee: Statement) -> bool:
    """Whether the largest of several parts alone counts because a person answers in one of them."""
    return OWN_PART in guarantee.assumptions and guarantee.unit in {Unit.ONE_REPORT, Unit.ONE_PERSON}


def heaviest(guarantee: Statement) -> tuple[Loss, ...]:
    """Return the parts that a person may touch: those kept, or the whole as it is.

    Where the largest of several parts counts and the others are forgotten, as after a conversion from zCDP,
    another one may be as large.
    """
    return guarantee.blocks or (guarantee.loss,) * (2 if keeps_own_part(guarantee) else 1)


def _keep_assumptions(part: Statement, new: tuple[str, ...]) -> tuple[str, ...]:
    """Leave out that a person's part is fixed where moves between the parts are now counted."""
    if _SIZES_MAY_CHANGE in new and keeps_own_part(part):
        return tuple(assumption for assumption in part.assumptions if assumption != OWN_PART)
    return part.assumptions


def without_guarantee(protects: tuple[str, ...], in_clear: tuple[str, ...]) -> dict[str, object]:
    """Return the words of a statement that makes no guarantee, to groups of any size."""
    return {
        "protects": (),
        "in_clear": unique((*in_clear, *protects)),
        "proof": "",
        "assumptions": (),
        "group_size": 1,
    }


def check_same_group(parts: Sequence[Statement], *, alone: bool = False) -> None:
    """Refuse guarantees for groups of different sizes, or any group when they must be for one person."""
    sizes = {part.group_size for part in parts if part.trust is not Trust.NONE}
    if len(sizes) > 1 or (alone and sizes - {1}):
        raise GuaranteeError(
            "Guarantees for groups of people compose only one after the other and for groups of one size. "
            "Hint: compose first, then call .group(size) on the result."
        )


def proof_names(proof: str) -> tuple[str, ...]:
    """Return the names that a composed proof is made of."""
    return tuple(name for name in proof.split(_BETWEEN_PROOFS) if name)


def unique(names: Iterable[str]) -> tuple[str, ...]:
    """Return the names, each once, in order."""
    return tuple(dict.fromkeys(names))


def common_unit(first: Unit, second: Unit) -> Unit:
    """Return the unit two guarantees are brought to before they are composed."""
    if first is second:
        return first
    return Unit.ONE_PERSON if {first, second} == {Unit.ONE_REPORT, Unit.ONE_PERSON} else Unit.REPLACE_ONE


def convert(guarantee: Statement, target: Unit, *, reports: int | None) -> Composed:
    """Go from the guarantee's unit to the `target` step by step, or say why that is not possible."""
    if (guarantee.unit, target) in _WHY_NOT:
        raise GuaranteeError(
            f"A guarantee for '{guarantee.unit}' cannot be read as one for '{target}': "
            f"{_WHY_NOT[guarantee.unit, target]}. Hint: a guarantee for '{target}' needs a proof of its own."
        )
    total = _chain(guarantee.loss, guarantee, target, reports)
    if not keeps_own_part(guarantee):
        return total._replace(blocks=guarantee.blocks if total.loss == guarantee.loss else ())
    blocks = tuple(_chain(block, guarantee, target, reports).loss for block in heaviest(guarantee))
    if target is not Unit.REPLACE_ONE:
        return total._replace(blocks=blocks)
    # Another person may answer in another part, so the largest part alone does not cover it.
    moved = compose_moving(blocks)
    return moved._replace(assumptions=total.assumptions + moved.assumptions, proof=total.proof)


def _chain(loss: Loss, guarantee: Statement, target: Unit, reports: int | None) -> Composed:
    result, unit = Composed(loss), guarantee.unit
    while unit is not target:
        result = _step(result, unit, guarantee.trust, reports)
        unit = _ONE_STEP[unit]
    return result


def _step(before: Composed, unit: Unit, trust: Trust, reports: int | None) -> Composed:
    if unit is Unit.ADD_OR_REMOVE_ONE:
        # Replacing is removing one and adding another: two steps of the chain, so the group of two.
        return Composed(before.loss.for_group(2), before.assumptions, proof="group privacy")
    if unit is Unit.ONE_PERSON:
        # Same number of people, one person's record is another: exactly one person has changed.
        taken_part = ("who takes part is public",) if trust is Trust.LOCAL else ()
        return before._replace(assumptions=before.assumptions + taken_part)
    return _from_report_to_person(before, trust, reports)


def _from_report_to_person(before: Composed, trust: Trust, reports: int | None) -> Composed:
    if trust is Trust.LOCAL:
        # Each report has randomness of its own, so the reports of a person compose one after the other.
        times = 1 if reports is None else reports
        assumption = (
            "each person sends one report" if times == 1 else f"each person sends at most {times} reports"
        )
        proof = "sequential composition" if times > 1 else ""
        return Composed(before.loss.repeated(times), (assumption,), proof=proof)
    if reports is None:
        raise GuaranteeError(
            f"A guarantee for '{Unit.ONE_REPORT}' with central trust covers one row, and a person may have "
            "several. Hint: say how many with .as_unit('one person', reports=...)."
        )
    # One mechanism sees all rows, so a person's rows are a group.
    assumption = f"each person has at most {reports} {'row' if reports == 1 else 'rows'}"
    proof = "group privacy" if reports > 1 else ""
    return Composed(before.loss.for_group(reports), (assumption,), proof=proof)
