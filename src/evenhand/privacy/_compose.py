"""What happens to the words and amounts of guarantees that are composed."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple

from evenhand.errors import GuaranteeError
from evenhand.privacy.loss import Loss, largest_two
from evenhand.privacy.units import Trust, Unit

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from evenhand.privacy.guarantee import Guarantee

__all__ = [
    "NOTHING",
    "Composed",
    "check_same_group",
    "merged_words",
    "parallel_loss",
    "proof_names",
    "unique",
    "without_guarantee",
]

NOTHING = Loss(Fraction(0), Fraction(1))
"""The loss of a mechanism that guarantees nothing."""

_BETWEEN_PROOFS = "; "
_FIXED_PARTS = "which part a person belongs to is public and fixed"
_SIZES_MAY_CHANGE = "each part's guarantee also holds when the number of people in its part changes by one"


class Composed(NamedTuple):
    """An amount, what it assumes, and the two heaviest parts where a person may touch two."""

    loss: Loss
    assumptions: tuple[str, ...] = ()
    blocks: tuple[Loss, ...] = ()


def parallel_loss(parts: Sequence[Guarantee], *, public: bool) -> Composed:
    """Take the largest amount, or the two largest where a person may leave one part and enter another."""
    unit = parts[0].unit
    if unit is Unit.ADD_OR_REMOVE_ONE:
        return Composed(largest_two([part.loss for part in parts])[0])
    if unit is not Unit.REPLACE_ONE or public:
        return Composed(largest_two([part.loss for part in parts])[0], (_FIXED_PARTS,))
    blocks = largest_two([block for part in parts for block in part.blocks or (part.loss,)])
    return Composed(blocks[0].plus(blocks[1]), (_SIZES_MAY_CHANGE,), blocks)


def merged_words(parts: Sequence[Guarantee], *, proof: str, assumptions: Iterable[str]) -> dict[str, object]:
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
    return {
        "trust": trust,
        "protects": tuple(column for column in protects if column not in shown),
        "in_clear": shown,
        "proof": _BETWEEN_PROOFS.join(proofs),
        "assumptions": unique((*(each for part in parts for each in part.assumptions), *assumptions)),
    }


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
