"""The minority-language rule, on exact counts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["covered"]


def covered(s: Any, sp: Any, spe: Any) -> NDArray[np.bool_]:
    """Tell where ballots must be in the language: (sp/s > 0.05 or sp > 10000) and spe/sp > 0.0131.

    The ratios are compared by multiplying out, so that no rounding decides.

    Examples
    --------
    >>> covered(np.array([1000, 1000, 1000]), np.array([60, 60, 50]), np.array([6, 0, 5])).tolist()
    [True, False, False]
    """
    many = (20 * sp > s) | (sp > 10_000)
    return np.asarray(many & (10_000 * spe > 131 * sp))
