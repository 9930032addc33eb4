"""Words that a guarantee lists as in the clear beside columns, which no column may have for its name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evenhand.errors import InvalidParameterError
from evenhand.privacy.guarantees.inferred import READ_FROM_ROWS
from evenhand.privacy.guarantees.units import ROW_ORDER

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["INDEX", "SCORED_LATER", "refuse_reserved_names"]

INDEX = "index"
"""What is in the clear where the index of a frame is handed on with its rows."""

SCORED_LATER = "people scored later"
"""What is in the clear where a model gets the true values of people it scores."""

_RESERVED = frozenset({ROW_ORDER, READ_FROM_ROWS, INDEX, SCORED_LATER})


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
        if name in _RESERVED or name.startswith(f"{ROW_ORDER} ("):
            raise InvalidParameterError(
                parameter,
                owner=owner,
                must_be="without a column whose name means something else in a guarantee",
                got=f"a column named '{name}'",
                hint="rename the column; in the list of what is in the clear its name could not be told from "
                "that other meaning.",
            )
