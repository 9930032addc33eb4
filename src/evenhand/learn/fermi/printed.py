r"""DP-FERMI as it was published, and as the thesis that compares itself with it ran it.

Nothing is guaranteed. Both add noise to the mean gradient of a batch, by a formula that assumes a bound on
every row's gradient which nothing enforces: the mean is clipped, not the rows. The batches are a shuffled
partition, where the proof wants random subsamples. ``"paper"`` has the whole penalty, ``"thesis"`` what its
program minimises: with one output column the matrix is a single number :math:`w`, and of the trace only the
first entry is left,

.. math:: \psi = -w^2 \, \overline{p} + 2 w \, \overline{p \, 1\{s = g_0\}} / \sqrt{P_{g_0}} - 1

with :math:`g_0` the group that is coded first. That is one of four terms; it is not 0 at independence, and it
is least when nobody of that group is accepted.

Several models are trained at once, on the same batches, each with its own start, strength and noise.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from evenhand.learn.fermi.steps import project_to_ball

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.random import Generator
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Integers = NDArray[np.int64]


def published_noise(
    epsilon: float,
    delta: float,
    *,
    rows: int,
    steps: int,
    smallest: float,
    bound: float = 5.0,
    radius: float = 5.0,
    classes: int = 2,
    protects: Literal["all", "group"] = "all",
) -> tuple[float, float]:
    r"""Return the published standard deviations of the noise on the mean gradients of weights and matrix.

    .. math:: \sigma_\theta^2 = \Bigl( \frac{64 L^2 D^2}{\rho} + 32 D^4 L^2 l^2 \Bigr) c, \quad
              \sigma_W^2 = 32 \Bigl( D^2 + \frac1\rho \Bigr) c, \quad
              c = \frac{T \ln(1/\delta)}{(\varepsilon n)^2}

    where :math:`\rho` is `smallest`, the share of the smallest group, :math:`L` the assumed `bound`,
    :math:`D` the `radius`, :math:`l` the number of `classes`, :math:`T` the `steps` and :math:`n` the `rows`.
    For the group alone (``protects="group"``) they are :math:`16 L^2 D^2 c / \rho` and :math:`16 c / \rho`.

    Examples
    --------
    >>> first, second = published_noise(3, 1e-5, rows=33_916, steps=1_700, smallest=0.3245)
    >>> f"{first:.8f}, {second:.8f}"
    '2.00352002, 0.04121714'
    """
    common = steps * math.log(1 / delta) / (epsilon * rows) ** 2
    if protects == "group":
        return 4 * bound * radius * math.sqrt(common / smallest), 4 * math.sqrt(common / smallest)
    first = 64 * bound**2 * radius**2 / smallest + 32 * radius**4 * bound**2 * classes**2
    return math.sqrt(first * common), math.sqrt(32 * (radius**2 + 1 / smallest) * common)


@dataclass(frozen=True)
class PrintedSettings:
    """The settings of the published runs."""

    mode: Literal["paper", "thesis"] = "thesis"
    epochs: int = 50
    batch: int = 1024
    rates: tuple[float, float] = (0.005, 0.01)
    bound: float = 5.0
    radius: float = 5.0
    average: bool = False

    def steps(self, rows: int) -> int:
        """Return how many batches there are in all; the last of an epoch may be smaller."""
        return self.epochs * -(-rows // self.batch)


def paper_gradients(
    inputs: Floats, labels: Integers, groups: Integers, shares: Floats,
    weights: Floats, matrices: Floats, strengths: Floats,
) -> tuple[Floats, Floats]:  # fmt: skip
    """Return the mean gradients of a batch for a stack of models: the loss in the weights, the penalty in W.

    `weights` is (models, inputs), `matrices` (models, groups, 2), `strengths` (models,).
    """
    chances = _chances(inputs, weights)
    apart = matrices[:, :, 1] - matrices[:, :, 0]
    squares = (matrices[:, :, 1] ** 2 - matrices[:, :, 0] ** 2).sum(axis=1)
    ahead = (2 * apart / np.sqrt(shares))[:, groups].T - squares
    slopes = chances - labels[:, None] + strengths * ahead * chances * (1 - chances)
    member = (groups[:, None] == np.arange(len(shares))) / np.sqrt(shares)
    positive = member.T @ chances / len(inputs)  # (groups, models)
    joint = np.stack([member.mean(axis=0)[:, None] - positive, positive], axis=-1).transpose(1, 0, 2)
    means = np.stack([1 - chances.mean(axis=0), chances.mean(axis=0)], axis=-1)
    return slopes.T @ inputs / len(inputs), 2 * (joint - matrices * means[:, None, :])


def thesis_gradients(
    inputs: Floats, labels: Integers, groups: Integers, shares: Floats,
    weights: Floats, matrices: Floats, strengths: Floats,
) -> tuple[Floats, Floats]:  # fmt: skip
    """Return the same for the thesis's penalty; `matrices` is (models, 1, 1), the first group counts."""
    chances = _chances(inputs, weights)
    single = matrices[:, 0, 0]
    member = (groups == 0)[:, None] / math.sqrt(shares[0])
    slopes = (
        chances - labels[:, None] + strengths * (2 * single * member - single**2) * chances * (1 - chances)
    )
    moved = 2 * ((chances * member).mean(axis=0) - single * chances.mean(axis=0))
    return slopes.T @ inputs / len(inputs), moved[:, None, None]


def train_printed(
    inputs: Floats,
    labels: Integers,
    groups: Integers,
    shares: Floats,
    *,
    strengths: Floats,
    noise: tuple[float, float],
    settings: PrintedSettings,
    generator: Generator,
    progress: Callable[[int, int], object] | None = None,
) -> tuple[Floats, Floats]:
    """Train a stack of models, one for each of `strengths`; the last column of `inputs` is the constant.

    Returns
    -------
    weights : array of (models, inputs)
    matrices : array of (models, groups, 2), or (models, 1, 1) in the thesis's mode
    """
    paper = settings.mode == "paper"
    gradients = paper_gradients if paper else thesis_gradients
    models, width = len(strengths), inputs.shape[1]
    limit = 1 / math.sqrt(max(width - 1, 1))
    weights = generator.uniform(-limit, limit, size=(models, width))
    matrices = generator.standard_normal((models, len(shares), 2) if paper else (models, 1, 1))
    total, taken, steps = np.zeros_like(weights), 0, settings.steps(len(inputs))
    for step, batch in enumerate(_shuffle(len(inputs), settings, generator)):
        first, second = gradients(
            inputs[batch], labels[batch], groups[batch], shares, weights, matrices, strengths
        )
        lengths = np.sqrt((first**2).sum(axis=1, keepdims=True))
        first = first / np.maximum(1, lengths / settings.bound) + noise[0] * generator.standard_normal(
            first.shape
        )
        second = second + noise[1] * generator.standard_normal(second.shape)
        weights = weights - settings.rates[0] * first
        matrices = project_to_ball(
            matrices + settings.rates[1] * strengths[:, None, None] * second, settings.radius
        )
        if 2 * step >= steps:
            total, taken = total + weights, taken + 1
        if progress is not None:
            progress(step + 1, steps)
    return (total / taken if settings.average else weights), matrices


def _chances(inputs: Floats, weights: Floats) -> Floats:
    with np.errstate(over="ignore"):
        return np.asarray(1 / (1 + np.exp(-(inputs @ weights.T))))


def _shuffle(rows: int, settings: PrintedSettings, generator: Generator) -> Iterator[Integers]:
    for _ in range(settings.epochs):
        order = generator.permutation(rows)
        for start in range(0, rows, settings.batch):
            yield order[start : start + settings.batch]
