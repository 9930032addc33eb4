"""What a guarantee says where domains were read from private rows instead of a public list."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evenhand.privacy.guarantees.guarantee import Guarantee
from evenhand.schema.text import listed, visible

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["READ_FROM_ROWS", "leak_of_domains", "state_inferred"]

READ_FROM_ROWS = "domains read from the rows"
"""What is in the clear beside the columns."""

_MOST_NAMED = 10


def leak_of_domains(names: Sequence[str]) -> str:
    """Return what takes the place of "the values are public" for columns whose domains were read from rows.

    >>> print(leak_of_domains(["race"]))
    the values of race were read from the private rows, not from a public list: everybody learns that somebody
    has each of them, a leak which this guarantee does not cover
    """
    shown = [visible(name) for name in names[:_MOST_NAMED]]
    shown += [f"{len(names) - _MOST_NAMED} more"] if len(names) > _MOST_NAMED else []
    return (
        f"the values of {listed(shown)} were read from the private rows, not from a public list: everybody "
        "learns that somebody has each of them, a leak which this guarantee does not cover"
    )


def state_inferred(guarantee: Guarantee, names: Sequence[str], *, instead_of: str = "") -> Guarantee:
    """Return the guarantee with the leak in place of the assumption that the values are public.

    Parameters
    ----------
    guarantee : Guarantee
    names : sequence of str
        The columns whose domains were read from rows; without any, the guarantee stays as it is.
    instead_of : str, optional
        The assumption that does not hold, where the guarantee has it.

    Examples
    --------
    >>> stated = Guarantee(epsilon=1, unit="one report", trust="local", assumptions=["the values are public"])
    >>> stated = state_inferred(stated, ["race"], instead_of="the values are public")
    >>> stated.in_clear, len(stated.assumptions), "public list" in stated.assumptions[0]
    (('domains read from the rows',), 1, True)
    """
    if not names:
        return guarantee
    assumptions = [each for each in guarantee.assumptions if each != instead_of]
    stated = {
        "assumptions": list(dict.fromkeys((leak_of_domains(names), *assumptions))),
        "in_clear": list(dict.fromkeys((*guarantee.in_clear, READ_FROM_ROWS))),
    }
    return Guarantee.from_dict(guarantee.to_dict() | stated)
