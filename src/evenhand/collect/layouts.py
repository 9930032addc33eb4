"""How reports look: one integer, packed bits, a set of values, or a hash function and a value."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from evenhand.collect.codes import code_type
from evenhand.errors import InvalidParameterError

if TYPE_CHECKING:
    import numpy.typing as npt

__all__ = ["BitsLayout", "HashedLayout", "IntegerLayout", "Layout", "SetLayout"]


class Layout(ABC):
    """What reports of a protocol look like."""

    @abstractmethod
    def checked(self, values: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Return `values` in the layout's type if they can be reports, else refuse them."""


@dataclass(frozen=True)
class IntegerLayout(Layout):
    """A report is one integer below `k`, in the smallest unsigned type that holds it."""

    k: int

    @property
    def dtype(self) -> np.dtype[Any]:
        return code_type(self.k)

    def checked(self, values: npt.NDArray[Any]) -> npt.NDArray[Any]:
        if values.ndim != 1 or values.dtype.kind not in "iu" or _outside(values, self.k):
            raise _refused(f"whole numbers from 0 to {self.k - 1}")
        return values.astype(self.dtype, copy=False)


@dataclass(frozen=True)
class BitsLayout(Layout):
    """A report is `k` bits, packed into bytes; value ``v`` is bit ``v % 8`` (from the low end) of byte ``v // 8``.

    Bits past the last value are nought.
    """

    k: int

    @property
    def width(self) -> int:
        return -(-self.k // 8)

    def checked(self, values: npt.NDArray[Any]) -> npt.NDArray[Any]:
        right = values.ndim == 2 and values.dtype == np.uint8 and values.shape[1] == self.width
        if not right or (self.k % 8 and (values[:, -1] >> (self.k % 8)).any()):
            raise _refused(f"rows of {self.width} bytes that hold {self.k} bits")
        return values


@dataclass(frozen=True)
class SetLayout(Layout):
    """A report is `size` different integers below `k`; their order means nothing."""

    k: int
    size: int

    @property
    def dtype(self) -> np.dtype[Any]:
        return code_type(self.k)

    def checked(self, values: npt.NDArray[Any]) -> npt.NDArray[Any]:
        right = values.ndim == 2 and values.dtype.kind in "iu" and values.shape[1] == self.size
        if not right or _outside(values, self.k):
            raise _refused(f"rows of {self.size} different whole numbers from 0 to {self.k - 1}")
        return values.astype(self.dtype, copy=False)


@dataclass(frozen=True)
class HashedLayout(Layout):
    """A report is a hash function, as its multiplier and offset of `width` bits, and a bucket below `g`."""

    width: int
    g: int

    @property
    def dtype(self) -> np.dtype[Any]:
        word = f"<u{self.width // 8}"
        return np.dtype([("multiplier", word), ("offset", word), ("value", code_type(self.g))])

    def checked(self, values: npt.NDArray[Any]) -> npt.NDArray[Any]:
        if values.ndim != 1 or values.dtype != self.dtype or _outside(values["value"], self.g):
            raise _refused(f"records of multiplier, offset and a value from 0 to {self.g - 1}")
        return values


def _outside(values: npt.NDArray[Any], k: int) -> bool:
    return values.size > 0 and (int(values.min()) < 0 or int(values.max()) >= k)


def _refused(must_be: str) -> InvalidParameterError:
    return InvalidParameterError("reports", owner="the protocol", must_be=must_be, got="something else")
