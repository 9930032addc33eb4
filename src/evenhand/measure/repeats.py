r"""Repeated runs: how much of the spread is sampling, mechanism and training noise.

A study repeats a measure over splits of the data, over draws of the mechanism on each split, and
over training seeds on each draw. The design is nested and balanced:

.. math:: x_{ijk} = \mu + S_i + M_{ij} + T_{ijk}

where :math:`S_i` is the effect of split :math:`i`, :math:`M_{ij}` of draw :math:`j` on that split and
:math:`T_{ijk}` of seed :math:`k` on that draw. The variance of each effect comes from an analysis of
variance, and the mean has the standard error of its top level: a thousand seeds on two splits are
still two splits.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from evenhand._lazy import lazy
from evenhand._validate import refuse
from evenhand.measure.columns import encode_labels, read_column, read_numbers, same_index, same_length
from evenhand.measure.intervals import Interval, check_level

if TYPE_CHECKING:
    from numpy.typing import NDArray

special = lazy("scipy.special")

_LEVELS = ("sampling", "mechanism", "training")


@dataclass(frozen=True)
class NoisePart:
    """One source of spread, or several that the design cannot tell apart.

    Parameters
    ----------
    sources : tuple of str
        ``"sampling"``, ``"mechanism"``, ``"training"``: those in this part.
    variance : float
        Its estimated variance, NaN if the design says nothing about it.
    note : str
        What a reader must know: merged sources, an estimate below 0, no estimate.
    """

    sources: tuple[str, ...]
    variance: float
    note: str = ""

    @property
    def name(self) -> str:
        """The sources in words, such as ``"mechanism + training"``."""
        return " + ".join(self.sources)


@dataclass(frozen=True)
class NoiseParts:
    """The mean of repeated runs, its standard error, and what the spread is made of.

    Parameters
    ----------
    mean, standard_error : float
        NaN standard error after a single run.
    degrees_of_freedom : int
        Of the standard error: repeats of the top level that has any, minus one.
    parts : tuple of NoisePart
        From sampling to training.
    repeats : tuple of int
        Splits, draws per split, seeds per draw.
    notes : tuple of str
        What the interval of the mean does not cover, and the notes of the parts.
    """

    mean: float
    standard_error: float
    degrees_of_freedom: int
    parts: tuple[NoisePart, ...]
    repeats: tuple[int, int, int]
    notes: tuple[str, ...] = ()

    def interval(self, level: float = 0.95) -> Interval:
        """Return the t interval of the mean."""
        level = check_level(level, owner="NoiseParts.interval")
        if self.degrees_of_freedom < 1:
            reason = "There is a single run, so nothing is known about the spread."
            return Interval(math.nan, math.nan, level, "none", exact=False, reason=reason)
        reach = float(special.stdtrit(self.degrees_of_freedom, 0.5 + level / 2)) * self.standard_error
        method = f"t with {self.degrees_of_freedom} degrees of freedom"
        return Interval(self.mean - reach, self.mean + reach, level, method, exact=False)

    def variance(self, name: str) -> float:
        """Return the variance of a part by its name; NaN if no part has this name."""
        return next((part.variance for part in self.parts if part.name == name), math.nan)


def noise_parts(values: Any, *, split: Any, mechanism: Any = None, training: Any = None) -> NoiseParts:
    r"""Separate sampling, mechanism and training noise in repeated runs of one measure.

    Parameters
    ----------
    values : array, list or series
        The measure, one value per run.
    split : array, list or series
        Which split of the data each run used.
    mechanism : array, list or series, optional
        Which draw of the mechanism, within its split: draw 1 of split 1 and draw 1 of split 2 are
        two draws. Without it, one draw per split.
    training : array, list or series, optional
        Which training seed, within its draw. Without it, one seed per draw.

    Returns
    -------
    NoiseParts

    Raises
    ------
    InvalidParameterError
        If the design is not balanced: every split needs as many draws as every other, every draw as
        many seeds, and no run may occur twice.

    Notes
    -----
    With :math:`a` splits, :math:`b` draws and :math:`c` seeds the mean squares have expectations
    :math:`\sigma_T^2`, :math:`\sigma_T^2 + c \sigma_M^2` and
    :math:`\sigma_T^2 + c \sigma_M^2 + bc \sigma_S^2`; solved for the variances they give moment
    estimates whose expectation is right, and which can fall below 0: those are set to 0 and noted.
    A level with one repeat cannot be told from the level above it. With a single split the
    interval of the mean holds for that split only.

    Splits of one data set overlap, so sampling noise found this way is smaller than that of fresh
    data.

    Examples
    --------
    >>> parts = noise_parts([0.1, 0.3, 0.5, 0.7], split=[1, 1, 2, 2], mechanism=[1, 2, 1, 2])
    >>> f"{parts.mean:.2f}", f"{parts.standard_error:.2f}", parts.degrees_of_freedom
    ('0.40', '0.20', 1)
    >>> [(part.name, f"{part.variance:.2f}") for part in parts.parts]
    [('sampling', '0.07'), ('mechanism + training', '0.02')]
    """
    cube = _cube(values, split, mechanism, training)
    squares = _mean_squares(cube)
    parts = _parts(cube.shape, squares)
    top = next((level for level in range(3) if cube.shape[level] > 1), None)
    notes = [part.note for part in parts if part.note]
    if top is None:
        return NoiseParts(float(cube.mean()), math.nan, 0, parts, cube.shape, tuple(notes))
    if top > 0:
        missing = " and ".join(_LEVELS[:top])
        notes.insert(0, f"The interval of the mean does not cover {missing} noise.")
    return NoiseParts(
        float(cube.mean()),
        math.sqrt(squares[top] / cube.size),
        cube.shape[top] - 1,
        parts,
        cube.shape,
        tuple(notes),
    )


def _cube(values: Any, split: Any, mechanism: Any, training: Any) -> NDArray[np.float64]:
    """Return the values by split, draw and seed; the order within a level has no meaning."""
    numbers = read_numbers(values, name="values", owner="noise_parts")
    if not len(numbers) or not np.isfinite(numbers).all():
        refuse(
            "values",
            "noise_parts",
            "finite numbers, at least one",
            "something else",
            hint="leave out a whole split if the measure is undefined in one of its runs.",
        )
    ids = []
    for name, column in (("split", split), ("mechanism", mechanism), ("training", training)):
        if column is None:
            ids.append(np.zeros(len(numbers), dtype=np.intp))
            continue
        array = read_column(column, name=name, owner="noise_parts")
        same_length([("values", numbers), (name, array)], owner="noise_parts")
        ids.append(encode_labels(array, name=name, owner="noise_parts")[0])
    given = (("values", values), ("split", split), ("mechanism", mechanism), ("training", training))
    same_index(given, owner="noise_parts")
    draw = ids[0] * (ids[1].max() + 1) + ids[1]
    run = draw * (ids[2].max() + 1) + ids[2]
    draws, first, seeds = np.unique(draw, return_index=True, return_counts=True)
    splits, per_split = np.unique(ids[0][first], return_counts=True)
    if len(np.unique(run)) < len(run) or np.ptp(seeds) or np.ptp(per_split):
        refuse(
            "values",
            "noise_parts",
            "a balanced design: as many draws per split, as many seeds per draw, no run twice",
            "an unbalanced one",
            hint="leave out incomplete splits.",
        )
    return numbers[np.argsort(run)].reshape(len(splits), len(draws) // len(splits), int(seeds[0]))


def _mean_squares(cube: NDArray[np.float64]) -> tuple[float, float, float]:
    """Return the mean squares between splits, draws and seeds; NaN for a level with one repeat."""
    a, b, c = cube.shape
    of_draws = cube.mean(axis=2)
    of_splits = of_draws.mean(axis=1)
    sums = (
        b * c * float(((of_splits - cube.mean()) ** 2).sum()),
        c * float(((of_draws - of_splits[:, None]) ** 2).sum()),
        float(((cube - of_draws[:, :, None]) ** 2).sum()),
    )
    freedom = (a - 1, a * (b - 1), a * b * (c - 1))
    squares = [total / degrees if degrees else math.nan for total, degrees in zip(sums, freedom, strict=True)]
    return squares[0], squares[1], squares[2]


def _parts(repeats: tuple[int, ...], squares: tuple[float, float, float]) -> tuple[NoisePart, ...]:
    """Return the variance of each level that has repeats, merged with levels below that have none."""
    kept = [level for level in range(3) if repeats[level] > 1]
    parts = []
    for level in range(kept[0] if kept else 3):
        note = f"One {('split', 'draw', 'seed')[level]} says nothing about {_LEVELS[level]} noise."
        parts.append(NoisePart((_LEVELS[level],), math.nan, note))
    for place, level in enumerate(kept):
        below = kept[place + 1] if place + 1 < len(kept) else 3
        runs = math.prod(repeats[level + 1 :])
        within = squares[below] if below < 3 else 0.0
        variance = (squares[level] - within) / runs
        sources = _LEVELS[level:below]
        note = (
            ""
            if len(sources) == 1
            else f"{' and '.join(sources)} noise cannot be told apart".capitalize() + "."
        )
        if variance < 0:
            note = f"{note} The estimate of {' + '.join(sources)} variance is below 0 and set to 0.".strip()
        parts.append(NoisePart(sources, max(variance, 0.0), note))
    return tuple(parts)
