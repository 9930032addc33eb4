r"""A channel as whole numbers over 2**53, whose privacy is decided in exact arithmetic."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from evenhand.collect.fairest.population import checked_matrix
from evenhand.collect.protocols.dyadic import GRID, exp_below
from evenhand.errors import GuaranteeError, InvalidParameterError
from evenhand.privacy.rational import exact

if TYPE_CHECKING:
    from fractions import Fraction

    import numpy.typing as npt

    Integers = npt.NDArray[np.int64]

__all__ = ["dyadic_channel", "require_private_channel"]

_MOST_SHARE = 1e-3
_LARGEST_K = 1 << 20


def dyadic_channel(matrix: npt.ArrayLike, epsilon: object) -> list[list[int]]:
    r"""Return the channel as rows of whole numbers over :math:`2^{53}` that keep epsilon exactly.

    Every entry is mixed with the uniform channel by a share just large enough that rounding cannot break the
    ratio, then rounded to a multiple of :math:`2^{-53}` so that each row still sums to one. Whether every
    two entries :math:`q_{ij}, q_{lj}` of a column keep :math:`q_{ij} \le e^\varepsilon q_{lj}` is then
    decided in whole numbers; where one does not, the share grows.

    **Guarantee.** Pure local differential privacy with ``epsilon``; unit: one report.
    Numerics: exact. May be used for release.

    Parameters
    ----------
    matrix : array-like of shape (k, k)
        Probabilities; its ratios may exceed :math:`e^\varepsilon` by rounding only.
    epsilon : int, float, str, Fraction or Decimal
        Privacy parameter, > 0.

    Returns
    -------
    list of list of int
        k rows of k positive integers, each row with the sum ``2**53``.

    Raises
    ------
    GuaranteeError
        If the ratios exceed :math:`e^\varepsilon` by more than a mixture of 1 in 1,000 can undo.

    Examples
    --------
    >>> rows = dyadic_channel([[0.75, 0.25], [0.25, 0.75]], epsilon="1.1")
    >>> [sum(row) == 2**53 for row in rows]
    [True, True]
    >>> round(rows[0][0] / 2**53, 12)
    0.75
    """
    owner = "dyadic_channel"
    found = checked_matrix(matrix, owner=owner)
    privacy = exact(epsilon, name="epsilon", owner=owner, above=0)
    ratio = exp_below(privacy)
    share = 0.0
    while share <= _MOST_SHARE:
        rows = _rounded(found, share)
        if rows is not None and _is_private(rows, ratio):
            return [[int(entry) for entry in row] for row in rows]
        share = max(4 * share, 2.0**-53 * len(found))
    raise GuaranteeError(
        f"The matrix of {owner} does not keep epsilon = {privacy}, by more than rounding explains. "
        "Hint: make it with fairest_channel and the same epsilon."
    )


def require_private_channel(rows: object, epsilon: object, *, owner: str) -> Integers:
    r"""Return rows of whole numbers as an array if they are a channel that keeps epsilon, decided exactly.

    Raises
    ------
    InvalidParameterError
        If they are not k rows of k positive whole numbers that sum to ``2**53``.
    GuaranteeError
        If two entries of a column have a ratio above :math:`e^\varepsilon`.
    """
    law = _whole_numbers(rows)
    if law is None:
        raise InvalidParameterError(
            "rows",
            owner=owner,
            must_be="k rows of k whole numbers above 0, each row with the sum 2**53",
            got="something else",
        )
    privacy = exact(epsilon, name="epsilon", owner=owner, above=0)
    if not _is_private(law, exp_below(privacy)):
        raise GuaranteeError(
            f"The probabilities of {owner} do not keep epsilon = {privacy}. "
            "Hint: make them with fairest_channel and dyadic_channel, and the same epsilon."
        )
    return law


def _is_private(rows: Integers, ratio: Fraction) -> bool:
    """Whether the largest entry of every column is at most `ratio` times the smallest, in whole numbers."""
    above, below = ratio.as_integer_ratio()
    pairs = zip(rows.max(axis=0).tolist(), rows.min(axis=0).tolist(), strict=True)
    return all(most * below <= above * least for most, least in pairs)


def _rounded(matrix: npt.NDArray[np.float64], share: float) -> Integers | None:
    """Return whole numbers over 2**53 that sum to it in each row, or None where one would not be positive.

    Rows are rounded down and the few units that are missing go to the entries that lost most.
    """
    k = len(matrix)
    matrix = matrix / matrix.sum(axis=1, keepdims=True)
    mixed = ((1 - share) * matrix + share / k) * float(GRID)
    rows = np.floor(mixed).astype(np.int64)
    missing = GRID - rows.sum(axis=1)
    rows += (missing // k)[:, None]
    left = missing % k
    order = np.argsort(-(mixed - np.floor(mixed)), axis=1, kind="stable")
    extra = np.arange(k)[None, :] < left[:, None]
    np.put_along_axis(rows, order, np.take_along_axis(rows, order, axis=1) + extra, axis=1)
    return rows if (rows > 0).all() else None


def _whole_numbers(rows: object) -> Integers | None:
    try:
        law = np.array(rows)
    except (TypeError, ValueError, OverflowError):
        return None
    square = law.ndim == 2 and law.shape[0] == law.shape[1] >= 2
    if not square or law.dtype.kind not in "iu" or law.shape[0] > _LARGEST_K:
        return None
    if not ((law > 0).all() and (law <= GRID).all()):
        return None
    law = law.astype(np.int64)
    return law if (law.sum(axis=1) == GRID).all() else None
