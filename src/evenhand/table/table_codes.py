"""The codes of a table by column, with the schema by whose rules they were made."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy as np
    from numpy.typing import NDArray

    from evenhand.schema import Schema

__all__ = ["TableCodes"]


class TableCodes(Mapping[str, "NDArray[np.unsignedinteger]"]):
    """A mapping of columns to codes that cannot be changed.

    Parameters
    ----------
    arrays : mapping of str to array
        The codes of each column.
    schema : Schema
        By whose rules they were made. Whoever reports the codes sees there whether a rule may have left
        people out.
    """

    __slots__ = ("_arrays", "schema")

    def __init__(self, arrays: Mapping[str, NDArray[np.unsignedinteger]], schema: Schema) -> None:
        self._arrays = dict(arrays)
        self.schema = schema

    def __getitem__(self, name: str) -> NDArray[np.unsignedinteger]:
        return self._arrays[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._arrays)

    def __len__(self) -> int:
        return len(self._arrays)

    def __repr__(self) -> str:
        return f"TableCodes of {', '.join(self._arrays)}"

    def __reduce__(self) -> tuple[Any, ...]:
        return TableCodes, (self._arrays, self.schema)
