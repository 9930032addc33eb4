r"""How the estimates of two values move together.

The privacy noise of two estimates is correlated as far as one report's support of two values is. With
:math:`b_1` the probability that a report supports two given values of which one is the true one, and
:math:`b_0` the same if neither is,

.. math:: n (p - q)^2 \operatorname{Cov}(\hat f_u, \hat f_v)
          = (f_u + f_v)(b_1 - p q) + (1 - f_u - f_v)(b_0 - q^2)
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from evenhand.collect.protocols.channel import MatrixChannel
from evenhand.errors import InvalidParameterError, LimitExceededError

if TYPE_CHECKING:
    from collections.abc import Iterable

    import numpy.typing as npt

    from evenhand.collect.protocols.channel import Channel

__all__ = ["MOST_TOGETHER", "check_table_size", "count_together", "from_law", "from_reports"]

MOST_TOGETHER = 4_096
"""Values whose supports are counted two by two: a table of 128 MiB."""

_CELLS_AT_ONCE = 1 << 22


def from_law(
    shares: npt.NDArray[np.float64], n: int, channel: Channel | MatrixChannel, protocol: Any
) -> npt.NDArray[Any]:
    """Return the covariance of the estimates about the people who reported, from the protocol's law."""
    if isinstance(channel, MatrixChannel):
        return channel.covariance(shares, n)
    supported = protocol.both_supported() if hasattr(protocol, "both_supported") else None
    if supported is None:
        raise InvalidParameterError(
            "reports",
            owner="Frequencies.covariance",
            must_be="given for this protocol, whose supports are counted two by two",
            got="no reports",
        )
    with_one, with_none = supported
    one, none = float(with_one - channel.p * channel.q), float(with_none - channel.q**2)
    pairs = shares[:, None] + shares[None, :]
    covariance: npt.NDArray[Any] = (pairs * one + (1 - pairs) * none) / (n * channel.width**2)
    np.fill_diagonal(covariance, channel.variance(shares, n))
    return covariance


def from_reports(
    together: npt.NDArray[np.int64], n: int, channel: Channel | MatrixChannel
) -> npt.NDArray[Any]:
    """Return the covariance of the estimates about the population, from supports counted two by two."""
    supported = np.diag(together) / n
    moment: npt.NDArray[Any] = together / n - np.outer(supported, supported)
    return channel.invert_moment(moment) / n


def count_together(chunks: Iterable[npt.NDArray[np.uint8]], k: int) -> npt.NDArray[np.int64]:
    """Return how many reports support each two values, and on the diagonal each value.

    >>> count_together([np.array([[1, 1, 0], [1, 0, 0]], dtype=np.uint8)], 3).tolist()
    [[2, 1, 0], [1, 1, 0], [0, 0, 0]]
    """
    check_table_size(k)
    total = np.zeros((k, k), dtype=np.int64)
    rows = max(1, _CELLS_AT_ONCE // k)  # below 2**24, so that sums of 32-bit floats are exact
    for chunk in chunks:
        for start in range(0, len(chunk), rows):
            part = chunk[start : start + rows].astype(np.float32)
            total += (part.T @ part).astype(np.int64)
    return total


def check_table_size(k: int) -> None:
    """Refuse a table of more than MOST_TOGETHER values squared."""
    if k > MOST_TOGETHER:
        raise LimitExceededError(
            f"A table of {k:,} values by {k:,} values is larger than {MOST_TOGETHER:,} squared. "
            "Hint: merge values into fewer before they are reported.",
            limit="values",
        )
