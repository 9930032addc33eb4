"""Reports as they leave people's hands: compact arrays that know which protocol made them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from evenhand.errors import InvalidParameterError

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    from evenhand.collect.base import Protocol

__all__ = ["Reports"]


class Reports:
    """One report per person.

    Reports behave like an array along their first axis: they have a length, can be compared, and can be
    taken apart with slices, masks and positions, which gives reports again.

    Parameters
    ----------
    values : array
        One row per report, in the protocol's layout.
    protocol : Protocol
        What made them.
    simulated : bool
        Whether they were drawn with a seed. Simulated reports are for studies and are not written as
        collected ones.
    """

    def __init__(self, values: npt.NDArray[Any], *, protocol: Protocol, simulated: bool) -> None:
        self.values = values
        self.protocol = protocol
        self.simulated = simulated

    @classmethod
    def of(cls, reports: Any, protocol: Protocol) -> Reports:
        """Return `reports`, or the reports in a bare array, if they can be reports of `protocol`.

        A bare array counts as simulated: nobody knows where it came from.
        """
        if not isinstance(reports, Reports):
            return cls(protocol.layout.checked(np.asarray(reports)), protocol=protocol, simulated=True)
        if reports.protocol != protocol:
            raise InvalidParameterError(
                "reports",
                owner=type(protocol).__name__,
                must_be=f"reports of {protocol!r}",
                got=f"reports of {reports.protocol!r}",
                hint="use reports.protocol, the one that made them.",
            )
        return reports

    @classmethod
    def concat(cls, parts: Sequence[Reports]) -> Reports:
        """Return the reports of several batches of one protocol as one."""
        if not parts:
            raise InvalidParameterError(
                "parts", owner="Reports.concat", must_be="not empty", got="no reports"
            )
        protocol = parts[0].protocol
        values = np.concatenate([cls.of(part, protocol).values for part in parts])
        return cls(values, protocol=protocol, simulated=any(part.simulated for part in parts))

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of the array."""
        return self.values.shape

    @property
    def dtype(self) -> np.dtype[Any]:
        """Type of the array."""
        return self.values.dtype

    def __len__(self) -> int:
        return len(self.values)

    def __getitem__(self, which: Any) -> Any:
        found = self.values[which]
        if np.ndim(which) == 0 and not isinstance(which, slice):
            return found
        return Reports(found, protocol=self.protocol, simulated=self.simulated)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> npt.NDArray[Any]:
        return np.array(self.values, dtype=dtype, copy=copy)

    def __eq__(self, other: object) -> Any:
        return self.values == (other.values if isinstance(other, Reports) else other)

    def __ne__(self, other: object) -> Any:
        return self.values != (other.values if isinstance(other, Reports) else other)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        kind = ", simulated" if self.simulated else ""
        return f"<{len(self):,} reports of {self.protocol!r}{kind}>"
