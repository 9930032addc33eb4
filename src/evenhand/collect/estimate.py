"""Shares of people estimated from reports."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt

    from evenhand.collect.base import Protocol

__all__ = ["Frequencies"]


class Frequencies:
    """The estimated share of people with each value."""

    def __init__(self, counts: npt.NDArray[np.int64], *, n: int, protocol: Protocol) -> None:
        self.counts = counts
        self.n = n
        self.protocol = protocol

    @property
    def values(self) -> npt.NDArray[np.float64]:
        """The estimates; without bias, and so sometimes below 0 or above 1."""
        p, q = self.protocol.p, self.protocol.q
        return (self.counts / self.n - q) / (p - q)

    @property
    def standard_error(self) -> Any:
        """The standard error of each estimate."""
        return np.sqrt(self.protocol.variance(np.clip(self.values, 0, 1), self.n))
