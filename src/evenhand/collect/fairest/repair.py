r"""From what a solver returns to a matrix of probabilities that keeps its privacy in floating point."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt

    from evenhand.collect.fairest.population import Matrix, Population

__all__ = ["average_twins", "excess_ratio", "repair"]

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
        matrix = _filled(matrix / matrix.sum(axis=1).max())
    matrix = matrix / matrix.sum(axis=1, keepdims=True)
    least = _HAIR
    while least < 2 and (over := excess_ratio(matrix, people)) > 0:
        share = min(1.0, max(over / (over + people.width / people.k), least))
        matrix = (1 - share) * matrix + share / people.k
        least *= 2  # a share that rounding swallows must grow; at one, the matrix is uniform
    return matrix


def excess_ratio(matrix: Matrix, people: Population) -> float:
    r"""Return the largest :math:`e^{-\varepsilon} \max_i q_{ij} - \min_i q_{ij}`, a hair too large."""
    return float((people.floor * (1 + _HAIR) * matrix.max(axis=0) - matrix.min(axis=0)).max())


def average_twins(matrix: Matrix, people: Population) -> Matrix:
    """Return the matrix in which groups of the same weight and rate are treated alike.

    It is the average over all ways to swap such groups among themselves, so it is as private, as truthful
    and no less fair.
    """
    labels = _twin_labels(people)
    sizes = np.bincount(labels)
    if sizes.max() == 1:
        return matrix
    member = np.eye(len(sizes))[labels]  # (group, class)
    sums = member.T @ matrix @ member
    own = member.T @ np.diagonal(matrix)
    pairs = np.outer(sizes, sizes).astype(float)
    np.fill_diagonal(pairs, np.maximum(sizes * (sizes - 1), 1))
    means = (sums - np.diag(own)) / pairs
    averaged: Matrix = member @ means @ member.T
    np.fill_diagonal(averaged, (own / sizes)[labels])
    return averaged


def _filled(matrix: Matrix) -> Matrix:
    """Return the matrix with rows that sum to one where there is room below the tops of row and column."""
    tops = np.diagonal(matrix)
    for limit in (np.minimum(tops[:, None], tops[None, :]), np.broadcast_to(tops, matrix.shape)):
        room = np.maximum(limit - matrix, 0.0)
        wanted = np.maximum(1 - matrix.sum(axis=1), 0.0)
        there = room.sum(axis=1)
        part = np.divide(wanted, there, out=np.zeros_like(wanted), where=there > 0)
        matrix = matrix + np.minimum(part, 1.0)[:, None] * room
    return matrix


def _twin_labels(people: Population) -> npt.NDArray[np.intp]:
    pairs = np.stack([people.weights, people.rates], axis=1)
    _, labels = np.unique(pairs, axis=0, return_inverse=True)
    return labels.ravel()
