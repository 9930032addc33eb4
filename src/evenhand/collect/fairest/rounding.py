r"""From what a solver returns to probabilities that keep their privacy: in floats, and exactly over 2**53."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from evenhand.collect.fairest.population import check_matrix
from evenhand.collect.protocols.probabilities import GRID, exp_below
from evenhand.errors import GuaranteeError
from evenhand.privacy.rational import exact

if TYPE_CHECKING:
    from fractions import Fraction

    import numpy.typing as npt

    from evenhand.collect.fairest.population import Matrix, Population

    Integers = npt.NDArray[np.int64]

__all__ = ["average_twins", "dyadic_channel", "excess_ratio", "repair"]

_MOST_SHARE = 1e-3


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
        If the ratios exceed :math:`e^\varepsilon` by more than a mixture of 1 in 1,000 can repair.

    Examples
    --------
    >>> rows = dyadic_channel([[0.75, 0.25], [0.25, 0.75]], epsilon="1.1")
    >>> [sum(row) == 2**53 for row in rows]
    [True, True]
    >>> round(rows[0][0] / 2**53, 12)
    0.75
    """
    owner = "dyadic_channel"
    channel = check_matrix(matrix, owner=owner)
    privacy = exact(epsilon, name="epsilon", owner=owner, above=0)
    ratio = exp_below(privacy)
    share = 0.0
    while share <= _MOST_SHARE:
        rows = _round_rows(channel, share)
        if rows is not None and _is_private(rows, ratio):
            return [[int(entry) for entry in row] for row in rows]
        share = max(4 * share, 2.0**-53 * len(channel))
    raise GuaranteeError(
        f"The matrix of {owner} does not keep epsilon = {privacy}, by more than rounding explains. "
        "Hint: make it with fairest_channel and the same epsilon."
    )


def _is_private(rows: Integers, ratio: Fraction) -> bool:
    """Whether the largest entry of every column is at most `ratio` times the smallest, in whole numbers."""
    above, below = ratio.as_integer_ratio()
    pairs = zip(rows.max(axis=0).tolist(), rows.min(axis=0).tolist(), strict=True)
    return all(most * below <= above * least for most, least in pairs)


def _round_rows(matrix: npt.NDArray[np.float64], share: float) -> Integers | None:
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


_SMALL_FLOOR = 1e-3
_HAIR = 4 * float(np.finfo(float).eps)


def repair(matrix: Matrix, people: Population) -> Matrix:
    r"""Return the nearest matrix to hand whose rows sum to one and whose ratios keep epsilon.

    Entries stay below the top of their column. First the whole matrix is scaled so that no row sums to more
    than one, then each row is filled up in proportion to the room that its entries have. At a large epsilon
    that would change the smallest entries too much, and each row is scaled by itself. What rounding or a want
    of room leaves over is taken away by mixing with the uniform matrix:
    :math:`Q \leftarrow (1 - \tau) Q + \tau / k`, :math:`\tau = v / (v + (e^\varepsilon - 1) / k)`, where
    :math:`v` is the largest :math:`\max_i q_{ij} - e^\varepsilon \min_i q_{ij}`.
    """
    if people.floor > _SMALL_FLOOR:
        matrix = _fill_rows(matrix / matrix.sum(axis=1).max())
    matrix = matrix / matrix.sum(axis=1, keepdims=True)
    least = _HAIR
    while least < 2 and (over := excess_ratio(matrix, people)) > 0:
        share = min(1.0, max(over / (over + people.width / people.k), least))
        matrix = (1 - share) * matrix + share / people.k
        least *= 2  # a share that rounding swallows must grow; at one, the matrix is uniform
    return matrix


def excess_ratio(matrix: Matrix, people: Population) -> float:
    r"""Return the largest :math:`e^{-\varepsilon} \max_i q_{ij} - \min_i q_{ij}`, slightly too large."""
    return float((people.floor * (1 + _HAIR) * matrix.max(axis=0) - matrix.min(axis=0)).max())


def average_twins(matrix: Matrix, people: Population) -> Matrix:
    """Return the matrix in which groups of the same weight and rate are treated alike.

    It is the average over all ways to swap such groups among themselves, so it is as private, as truthful
    and no less fair.
    """
    pairs = np.stack([people.weights, people.rates], axis=1)
    labels = np.unique(pairs, axis=0, return_inverse=True)[1].ravel()
    sizes = np.bincount(labels)
    if sizes.max() == 1:
        return matrix
    member = np.eye(len(sizes))[labels]  # (group, class)
    sums = member.T @ matrix @ member
    own = member.T @ np.diagonal(matrix)
    entries = np.outer(sizes, sizes).astype(float)
    np.fill_diagonal(entries, np.maximum(sizes * (sizes - 1), 1))
    means = (sums - np.diag(own)) / entries
    averaged: Matrix = member @ means @ member.T
    np.fill_diagonal(averaged, (own / sizes)[labels])
    return averaged


def _fill_rows(matrix: Matrix) -> Matrix:
    """Return the matrix with rows that sum to one where there is room below the tops of row and column."""
    tops = np.diagonal(matrix)
    for limit in (np.minimum(tops[:, None], tops[None, :]), np.broadcast_to(tops, matrix.shape)):
        room = np.maximum(limit - matrix, 0.0)
        wanted = np.maximum(1 - matrix.sum(axis=1), 0.0)
        there = room.sum(axis=1)
        part = np.divide(wanted, there, out=np.zeros_like(wanted), where=there > 0)
        matrix = matrix + np.minimum(part, 1.0)[:, None] * room
    return matrix
