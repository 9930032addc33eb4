r"""The penalty of DP-FERMI, its derivatives, and the steps of training with it.

With :math:`F_{ij}` the chance that row :math:`i` gets answer :math:`j`, :math:`s_i` its group and :math:`P_r`
the share of group :math:`r`, the dependence between answer and group is

.. math:: \mathrm{ERMI} = \sum_{j,r} \frac{P_{jr}^2}{P_j P_r} - 1 = \max_W \frac1n \sum_i \psi_i(W), \quad
          \psi_i(W) = \sum_j F_{ij} \Bigl( \frac{2 W_{s_i j}}{\sqrt{P_{s_i}}} - \sum_r W_{rj}^2 \Bigr) - 1

which is linear in the rows for a fixed :math:`W`, so that both sides can be trained on small batches.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from evenhand.learn.fermi import kernels
from evenhand.learn.training.descent import TailMean

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from evenhand.learn.training.descent import Schedule

    Floats = NDArray[np.float64]
    Integers = NDArray[np.int64]


def start_matrix(shares: Floats) -> Floats:
    """Return the matrix that belongs to independence, whose penalty is 0 for every row."""
    return np.repeat(np.sqrt(shares)[..., None], 2, axis=-1)


def project_to_ball(matrix: Floats, radius: float) -> Floats:
    """Return the matrix, or the nearest one whose length is at most the radius; each of a stack alone."""
    length = np.sqrt((matrix**2).sum(axis=(-2, -1), keepdims=True))
    return np.asarray(matrix * np.minimum(1.0, radius / np.maximum(length, radius / 2)))


def sparse_rows(inputs: Floats, labels: Integers, groups: Integers, *, odds: bool = False) -> kernels.Rows:
    """Return a dense array by its entries that are not 0; with `odds` the label tells a row's matrix."""
    there = inputs != 0
    starts = np.zeros(len(inputs) + 1, dtype=np.int64)
    np.cumsum(there.sum(axis=1), out=starts[1:])
    with np.errstate(over="ignore"):  # a row too long for a float is clipped to 0
        lengths = np.sqrt(np.einsum("ij,ij->i", inputs, inputs))
    small = np.int16
    return kernels.Rows(
        starts=starts,
        columns=np.nonzero(there)[1].astype(np.int32),
        values=inputs[there].astype(np.float64),
        lengths=lengths,
        labels=labels.astype(small),
        groups=groups.astype(small),
        kinds=labels.astype(small) if odds else np.zeros(len(inputs), dtype=small),
    )


@dataclass(frozen=True)
class Clipped:
    """The public settings of the steps; `reaches` are the clips in steps of their grids."""

    width: int
    strength: float
    clips: tuple[float, float]
    reaches: tuple[int, int]
    rates: tuple[float, float]
    batch: int
    radius: float = 5.0
    average: bool = True


def train(
    rows: kernels.Rows,
    shares: Floats,
    batches: Iterable[Integers],
    noise: Iterable[tuple[Integers, Integers]],
    settings: Clipped,
    *,
    schedule: Schedule,
) -> tuple[Floats, Floats]:
    r"""Train the weights and the matrices on clipped, noisy sums.

    Parameters
    ----------
    rows : Rows
        The private rows.
    shares : array of (matrices, groups)
        The shares of the groups, in all or by label, as they were released.
    batches : iterable of arrays of int
        The rows that take part in each step.
    noise : iterable of pairs of arrays of int
        Noise for both sums of each step, in steps of their grids: (width,) and (matrices, 2 groups). It is
        written to.
    settings : Clipped
        Public settings.
    schedule : Schedule
        How many batches there are.

    Returns
    -------
    weights, matrices : arrays
        The mean of the weights over the last half of the steps, or the last ones without `average`; the last
        matrices.
    """
    clips, reaches = np.array(settings.clips, float), np.array(settings.reaches, float)
    public = kernels.Settings(float(settings.strength), 1 / np.sqrt(shares), clips, reaches)
    moves = np.array(settings.rates) * clips / reaches / settings.batch
    weights, matrices = np.zeros(settings.width), start_matrix(shares)
    mean = TailMean(schedule, weights)
    places = np.arange(2 * shares.shape[1], dtype=np.int32)
    room = np.empty(len(places))
    for batch, (first, second) in zip(batches, noise, strict=True):
        kernels.add_rows(batch, rows, weights, matrices, public, room, places, first, second)
        weights = weights - moves[0] * first
        matrices = project_to_ball(matrices + moves[1] * second.reshape(matrices.shape), settings.radius)
        mean.add(weights)
    return (mean.value if settings.average else weights), matrices
