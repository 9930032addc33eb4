"""What is in the clear beside columns: words for it, and the leak of domains read from private rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evenhand.errors import InvalidParameterError
from evenhand.privacy.guarantees.guarantee import Guarantee
from evenhand.privacy.guarantees.units import LINKABLE, ROW_ORDER
from evenhand.schema.text import listed, visible

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

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
    assumptions = [assumption for assumption in guarantee.assumptions if assumption != instead_of]
    stated = {
        "assumptions": list(dict.fromkeys((leak_of_domains(names), *assumptions))),
        "in_clear": list(dict.fromkeys((*guarantee.in_clear, READ_FROM_ROWS))),
    }
    return Guarantee.from_dict(guarantee.to_dict() | stated)


INDEX = "index"
"""What is in the clear where the index of a frame is handed on with its rows."""

SCORED_LATER = "people scored later"
"""What is in the clear where a model gets the true values of people it scores."""

_RESERVED = frozenset({LINKABLE, ROW_ORDER, READ_FROM_ROWS, INDEX, SCORED_LATER})


def refuse_reserved_names(names: Iterable[str], *, owner: str, parameter: str) -> None:
    """Refuse columns whose names, listed as in the clear, could not be told from what is listed beside them.

    Parameters
    ----------
    names : iterable of str
        The columns that are reported or in the clear.
    owner, parameter : str
        What the error is about.

    Raises
    ------
    InvalidParameterError
        If a column has a name that says something else in a guarantee.

    Examples
    --------
    >>> refuse_reserved_names(["sex", "Index", "order"], owner="privatize_file", parameter="path")
    """
    for name in names:
        if name in _RESERVED or name.startswith((f"{LINKABLE} (", f"{ROW_ORDER} (")):
            raise InvalidParameterError(
                parameter,
                owner=owner,
                must_be="without a column whose name means something else in a guarantee",
                got=f"a column named '{name}'",
                hint="rename the column; in the list of what is in the clear its name could not be told from "
                "that other meaning.",
            )
