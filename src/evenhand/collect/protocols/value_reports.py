"""What protocols have in common whose report says one value."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from evenhand.collect.protocols.base import Protocol
from evenhand.collect.protocols.codes import code_type
from evenhand.collect.reports.layouts import IntegerLayout
from evenhand.errors import InvalidParameterError

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy.typing as npt

__all__ = ["Naming", "count_tables"]

_BLOCK = 1 << 20  # reports counted at a time
_FEW = 1 << 14  # values whose several tables of counts stay in the cache


class Naming(Protocol):
    """A protocol whose report says one of the values, and supports that value."""

    def _bits(self) -> int:
        return (self.k - 1).bit_length()

    def _layout(self) -> IntegerLayout:
        return IntegerLayout(self.k)

    def _counts(self, values: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
        from evenhand.collect.kernels import response as _kernels_response  # noqa: PLC0415 - starts the compiler

        tables = count_tables(self.k)
        for block in self._blocks(values):
            self._require(_kernels_response.add_counts(block, tables))
        return np.asarray(tables.sum(axis=0))

    def _indicators(self, values: npt.NDArray[Any]) -> npt.NDArray[np.uint8]:
        from evenhand.collect.kernels import response as _kernels_response  # noqa: PLC0415 - starts the compiler

        out = np.zeros((len(values), self.k), dtype=np.uint8)
        start = 0
        for block in self._blocks(values):
            self._require(_kernels_response.mark(block, out[start : start + len(block)]))
            start += len(block)
        return out

    def _blocks(self, values: npt.NDArray[Any]) -> Iterator[npt.NDArray[Any]]:
        """Yield the reports in blocks without gaps, as the kernels want them."""
        if values.dtype != self.layout.dtype:
            values = self.layout.checked(values)
        for start in range(0, len(values), _BLOCK):
            yield np.ascontiguousarray(values[start : start + _BLOCK])

    def _require(self, right: bool) -> None:  # noqa: FBT001 - what a kernel says of its reports
        if not right:
            raise InvalidParameterError(
                "reports",
                owner=type(self).__name__,
                must_be=f"whole numbers from 0 to {self.k - 1}",
                got="something else",
            )

    def _outputs(self) -> npt.NDArray[Any]:
        self._check_few(self.k)
        return np.arange(self.k, dtype=code_type(self.k))


def count_tables(k: int) -> npt.NDArray[np.int64]:
    """Return empty tables for the kernel that counts values from 0 to ``k - 1``; their sum is the counts."""
    return np.zeros((4 if k <= _FEW else 1, k), dtype=np.int64)
