"""Numbers for things in the order in which they were first seen, found by hashing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

if TYPE_CHECKING:
    import numpy.typing as npt

__all__ = ["Numbering"]


class Numbering:
    """Whole numbers or texts, each with the number of its first appearance.

    Looking up costs time in proportion to what is looked up and what is known; nothing is a Python loop.
    """

    def __init__(self) -> None:
        self._known: pa.Array | None = None

    @property
    def kind(self) -> Literal["integers", "text"] | None:
        """What is numbered; None as long as there is nothing."""
        if self._known is None:
            return None
        return "integers" if pa.types.is_integer(self._known.type) else "text"

    def find(self, things: pa.Array) -> tuple[npt.NDArray[np.int64], pa.Array]:
        """Return the number of each, and the unknown ones, each once; those are numbered after the known."""
        if self._known is None:
            return _encoded(things)
        numbers = _integers(pc.index_in(things, value_set=self._known).fill_null(-1))
        unknown = numbers < 0
        if not unknown.any():
            return numbers, things[:0]
        later, fresh = _encoded(things.filter(pa.array(unknown)))
        numbers[unknown] = later + len(self._known)
        return numbers, fresh

    def find_integers(self, things: npt.NDArray[np.int64]) -> tuple[npt.NDArray[np.int64], pa.Array]:
        """Return what :meth:`find` returns, for an array of whole numbers."""
        return self.find(pa.array(things, type=pa.int64()))

    def add(self, fresh: pa.Array) -> None:
        """Give numbers to the things that :meth:`find` found unknown."""
        if len(fresh):
            self._known = fresh if self._known is None else pa.concat_arrays([self._known, fresh])


def _encoded(things: pa.Array) -> tuple[npt.NDArray[np.int64], pa.Array]:
    encoded = things.dictionary_encode()
    return _integers(encoded.indices), encoded.dictionary


def _integers(array: pa.Array) -> npt.NDArray[np.int64]:
    return np.array(array.to_numpy(zero_copy_only=False), dtype=np.int64)
