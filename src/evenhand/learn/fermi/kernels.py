"""The sums of one step of private training with a penalty on dependence; imported when a model is fitted.

A row adds whole multiples of a public grid to the sums, and never more than the clip: the squared length is
checked in whole numbers, after rounding, so what one row can change is a fact of integer arithmetic whatever
the floating-point numbers before it were. Sums of whole numbers do not depend on the order of the rows.

Rows are stored by their entries that are not 0, since one-hot columns are mostly 0. ``_nrt=False`` switches
off reference counting; nothing here allocates.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numba
import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt

    Integers = npt.NDArray[np.int64]
    Floats = npt.NDArray[np.float64]

__all__ = ["Rows", "Settings", "add_rows"]

_OPTIONS: dict[str, Any] = {"cache": True, "error_model": "numpy", "_nrt": False}
_compiled = numba.njit(**_OPTIONS)
_inlined = numba.njit(forceinline=True, **_OPTIONS)


class Rows(NamedTuple):
    """Rows by their entries that are not 0: where each starts, their columns and values, and its length.

    `labels` are 0 or 1, `groups` are places among the groups and `kinds` say which matrix a row belongs to.
    """

    starts: Integers
    columns: npt.NDArray[np.int32]
    values: Floats
    lengths: Floats
    labels: npt.NDArray[np.int16]
    groups: npt.NDArray[np.int16]
    kinds: npt.NDArray[np.int16]


class Settings(NamedTuple):
    """Public numbers: `roots` are one over the square roots of the groups' shares, for each kind of row.

    `clips` are the largest lengths of a row's gradient in the weights and in a matrix, `reaches` the same in
    steps of their grids.
    """

    strength: float
    roots: Floats
    clips: Floats
    reaches: Floats


@_inlined
def _scale(length: float, clip: float, reach: float) -> float:
    """Return what a gradient of this length is multiplied by: clipped, in steps of the grid."""
    return reach / length if length > clip else reach / clip


@_compiled
def _add_row(
    columns: Integers, values: Floats, first: int, last: int, times: float, limit: float, out: Integers
) -> None:
    """Add ``times * row``, rounded, to `out`; a row whose squared length is above the limit adds nothing.

    Rounding to the nearest may lengthen a row that was clipped; it is rounded toward 0 then. Every number is
    a whole one below 2**53 where it is added, so the squared length is exact; a NaN compares as too long.
    """
    nearest = 0.0
    for place in range(first, last):
        rounded = np.rint(times * values[place])
        nearest += rounded * rounded
    if nearest <= limit:
        for place in range(first, last):
            out[columns[place]] += np.int64(np.rint(times * values[place]))
        return
    toward = 0.0
    for place in range(first, last):
        cut = np.trunc(times * values[place])
        toward += cut * cut
    if toward <= limit:
        for place in range(first, last):
            out[columns[place]] += np.int64(np.trunc(times * values[place]))


@_compiled
def add_rows(
    batch: Integers,
    rows: Rows,
    weights: Floats,
    matrices: Floats,
    settings: Settings,
    room: Floats,
    places: npt.NDArray[np.int32],
    out: Integers,
    matrices_out: Integers,
) -> None:
    """Add the clipped and rounded gradients of a batch to `out` (weights) and `matrices_out`.

    Parameters
    ----------
    batch : array of int
        The rows that take part.
    rows : Rows
        All rows.
    weights : array
        The weights of the classifier.
    matrices : array of (kinds, groups, 2)
        What the penalty is measured with.
    settings : Settings
        Public numbers.
    room, places : arrays of (2 groups,)
        Room for one row's derivative in a matrix, and 0, 1, 2, ...
    out : array of int
        Added to.
    matrices_out : array of int, (kinds, 2 groups)
        Added to.
    """
    roots, clips, reaches = settings.roots, settings.clips, settings.reaches
    for row in batch:
        first, last = rows.starts[row], rows.starts[row + 1]
        kind, own = rows.kinds[row], rows.groups[row]
        score = 0.0
        for place in range(first, last):
            score += rows.values[place] * weights[rows.columns[place]]
        chance = 1.0 / (1.0 + np.exp(-score))
        squares, length = 0.0, 0.0
        for group in range(matrices.shape[1]):
            peak = roots[kind, own] if group == own else 0.0
            no, yes = matrices[kind, group, 0], matrices[kind, group, 1]
            squares += yes * yes - no * no
            room[2 * group] = 2.0 * (1.0 - chance) * (peak - no)
            room[2 * group + 1] = 2.0 * chance * (peak - yes)
            length += room[2 * group] ** 2 + room[2 * group + 1] ** 2
        ahead = 2.0 * (matrices[kind, own, 1] - matrices[kind, own, 0]) * roots[kind, own] - squares
        slope = chance - rows.labels[row] + settings.strength * ahead * chance * (1.0 - chance)
        times = slope * _scale(abs(slope) * rows.lengths[row], clips[0], reaches[0])
        _add_row(rows.columns, rows.values, first, last, times, reaches[0] ** 2, out)
        times = _scale(np.sqrt(length), clips[1], reaches[1])
        _add_row(places, room, 0, room.size, times, reaches[1] ** 2, matrices_out[kind])
