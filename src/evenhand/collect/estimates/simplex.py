"""Shares that add up to one: the nearest ones to an estimate that may leave [0, 1]."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    from evenhand.collect.estimates.frequencies import Frequencies
    from evenhand.collect.estimates.share_limits import Intervals
    from evenhand.table.frames import Backend

__all__ = ["ConsistentShares", "onto_simplex"]


def onto_simplex(values: npt.ArrayLike) -> npt.NDArray[np.float64]:
    r"""Return the point nearest to `values` whose entries are not negative and add up to one.

    .. math:: \arg\min_x \sum_v (x_v - f_v)^2 \quad \text{with} \quad x_v \ge 0, \ \sum_v x_v = 1

    It is :math:`x_v = \max(f_v - t, 0)` with the one :math:`t` that makes the sum right; the entries above
    it are the largest ones, so sorting finds it exactly.

    References
    ----------
    .. [1] Held, Wolfe, Crowder (1974). Validation of subgradient optimization. Mathematical Programming 6.

    Examples
    --------
    >>> onto_simplex([0.7, 0.5, -0.1]).tolist()
    [0.6, 0.4, 0.0]
    """
    given = np.asarray(values, dtype=np.float64)
    falling = np.sort(given)[::-1]
    cuts = (np.cumsum(falling) - 1) / np.arange(1, given.size + 1)
    kept = np.flatnonzero(falling > cuts)
    if not kept.size:  # some are missing: there are no reports
        return np.full(given.shape, np.nan)
    projected = np.maximum(given - cuts[kept[-1]], 0)
    return np.asarray(projected / projected.sum())


@dataclass(frozen=True, eq=False, repr=False)
class ConsistentShares:
    """Shares from 0 to 1 that add up to one, made from an estimate by projection.

    Make them with :meth:`Frequencies.consistent`. They are for tables that must add up. They have a bias
    that the estimate does not have, and `note` says which.

    Parameters
    ----------
    values : array
        The shares.
    how : str
        The name of the choice.
    estimate : Frequencies
        What they were made from.
    """

    values: npt.NDArray[np.float64]
    how: str
    estimate: Frequencies

    note = (
        "Projected onto shares that add up to one. "
        "This has a bias: small shares come out too large and large ones too small on average, "
        "the more so the fewer the reports, the smaller epsilon and the more values there are. "
        "Intervals and standard errors are those of the estimate before the projection."
    )
    """What the projection does to the shares, in words."""

    def interval(self, level: float = 0.95, **options: Any) -> Intervals:
        """Return the intervals of the estimate; a projected share may lie outside of its interval."""
        return self.estimate.interval(level, **options)

    def to_frame(self, labels: Sequence[Any] | None = None, *, backend: Backend | None = None) -> Any:
        """Return the frame of the estimate with one more column, ``consistent_share``."""
        from evenhand.collect.estimates.frequencies_view import shares_frame  # noqa: PLC0415 (only when asked for)

        return shares_frame(self.estimate, labels, backend, consistent=self.values)

    def __repr__(self) -> str:
        from evenhand.collect.estimates.frequencies_view import as_text  # noqa: PLC0415 (only when asked for)

        return as_text(self.estimate, consistent=self.values, note=self.note)

    def _repr_html_(self) -> str:
        from evenhand.collect.estimates.frequencies_view import as_html  # noqa: PLC0415 (only when asked for)

        return as_html(self.estimate, consistent=self.values, note=self.note)
