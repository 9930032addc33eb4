"""What happens to the words and amounts of guarantees that are composed."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any, NamedTuple

from evenhand.errors import GuaranteeError
from evenhand.privacy.guarantees.loss import Loss, largest_two
from evenhand.privacy.guarantees.units import Trust, Unit

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from evenhand.privacy.guarantees.guarantee import Guarantee

__all__ = [
    "MOST_PEOPLE",
    "NOTHING",
    "OWN_PART",
    "Composed",
    "check_same_group",
    "derived_terms",
    "heaviest",
    "keeps_own_part",
    "merged_words",
    "moving",
    "parallel_loss",
    "people_in",
    "proof_names",
    "sum_loss",
    "unique",
    "without_guarantee",
]

NOTHING = Loss(Fraction(0), Fraction(1))
"""The loss of a mechanism that guarantees nothing."""

MOST_PEOPLE = 10**15
"""No count of people, reports or members of a group is larger."""

_BETWEEN_PROOFS = "; "
_FIXED_PARTS = "where only the largest of several parts counts, which part a person is in is public and fixed"
OWN_PART = "where only the largest of several local parts counts, the part a person answers in is fixed"
_SIZES_MAY_CHANGE = (
    "where the two largest of several parts count, each part's guarantee also holds when the number of "
    "people in the part changes by one"
)


class Composed(NamedTuple):
    """An amount, what it assumes, and the two heaviest parts where a person may touch two."""

    loss: Loss
    assumptions: tuple[str, ...] = ()
    blocks: tuple[Loss, ...] = ()


def parallel_loss(parts: Sequence[Guarantee], *, membership: str | None) -> Composed:
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
    return moving(blocks)


def moving(blocks: tuple[Loss, ...]) -> Composed:
    """Return what is lost when a person may leave one of the two heaviest parts and enter the other."""
    return Composed(blocks[0].plus(blocks[1]), (_SIZES_MAY_CHANGE,), blocks)


def sum_loss(first: Guarantee, second: Guarantee) -> Composed:
    """Add the amounts, and the heaviest parts of what was composed side by side under local trust.

    Where all is for 'replace one' already, nothing is left to be read from the parts, and none are kept.
    """
    loss = first.loss.plus(second.loss)
    if not any(map(keeps_own_part, (first, second))):
        return Composed(loss)
    none = Loss(Fraction(0), concentrated=loss.concentrated)
    heavy, light = ((*heaviest(part), none)[:2] for part in (first, second))
    return Composed(loss, blocks=(heavy[0].plus(light[0]), heavy[1].plus(light[1])))


def people_in(parts: Sequence[Guarantee]) -> tuple[int | None, int | None]:
    """Return how many people disjoint parts have, if known of each part, and how many at least."""
    known = [part.people for part in parts if part.people is not None]
    at_least = min(sum(known), MOST_PEOPLE) if known else None
    return (at_least if len(known) == len(parts) else None), at_least


def merged_words(
    parts: Sequence[Guarantee], *, proof: str, assumptions: tuple[str, ...]
) -> dict[str, object]:
    """Unite columns, proofs and assumptions, each once, in order; trust is the weakest.

    A column that one part shows is in the clear, however well another part protects it. When one part
    guarantees nothing, so does the whole: all columns count as in the clear, and there is nothing to prove or
    to assume.
    """
    trusts = {part.trust for part in parts}
    trust = next(each for each in (Trust.NONE, Trust.CENTRAL, Trust.LOCAL) if each in trusts)
    protects = unique(column for part in parts for column in part.protects)
    shown = unique(column for part in parts for column in part.in_clear)
    if trust is Trust.NONE:
        return {"trust": trust, **without_guarantee(protects, shown)}
    proofs = unique((*(name for part in parts for name in proof_names(part.proof)), *proof_names(proof)))
    told = unique((*(each for part in parts for each in _still_assumed(part, assumptions)), *assumptions))
    return {
        "trust": trust,
        "protects": tuple(column for column in protects if column not in shown),
        "in_clear": shown,
        "proof": _BETWEEN_PROOFS.join(proofs),
        "assumptions": told,
    }


def derived_terms(
    parts: Sequence[Guarantee], total: Composed, *, unit: Unit | None, proof: str, group_size: int | None
) -> dict[str, Any]:
    """Return the terms of what follows from the parts, but for whether it is tight and the people."""
    return {
        "epsilon": None if total.loss.concentrated else total.loss.amount,
        "delta": total.loss.delta,
        "rho": total.loss.amount if total.loss.concentrated else None,
        "unit": unit or parts[0].unit,
        "group_size": group_size or parts[0].group_size,
        "blocks": total.blocks,
        **merged_words(parts, proof=proof, assumptions=total.assumptions),
    }


def keeps_own_part(guarantee: Guarantee) -> bool:
    """Whether the largest of several parts alone counts because a person answers in one of them."""
    return OWN_PART in guarantee.assumptions and guarantee.unit in {Unit.ONE_REPORT, Unit.ONE_PERSON}


def heaviest(guarantee: Guarantee) -> tuple[Loss, ...]:
    """Return the parts that a person may touch: those kept, or the whole as it is.

    Where the largest of several parts counts and the others are forgotten, as after a conversion from zCDP,
    another one may be as large.
    """
    return guarantee.blocks or (guarantee.loss,) * (2 if keeps_own_part(guarantee) else 1)


def _still_assumed(part: Guarantee, new: tuple[str, ...]) -> tuple[str, ...]:
    """Leave out that a person's part is fixed where moves between the parts are now counted."""
    if _SIZES_MAY_CHANGE in new and keeps_own_part(part):
        return tuple(each for each in part.assumptions if each != OWN_PART)
    return part.assumptions


def without_guarantee(protects: tuple[str, ...], in_clear: tuple[str, ...]) -> dict[str, object]:
    """Return the words of a statement that guarantees nothing, to groups of any size."""
    return {
        "protects": (),
        "in_clear": unique((*in_clear, *protects)),
        "proof": "",
        "assumptions": (),
        "group_size": 1,
    }


def check_same_group(parts: Sequence[Guarantee], *, alone: bool = False) -> None:
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
