"""Who is in a step's batch, and the sum of their clipped gradients; imported only when a model is fitted.

The gradient of a row's log-loss is its residual times the row, so its length is the product of two lengths
and clipping it is a scaling of the row. The scaled row is rounded to whole steps of a public grid. What is
added to the sum is then a fact of integer arithmetic, whatever the floats before it were: a row whose squared
length, in whole numbers, is above that of the clip is rounded toward 0 instead, and if that is still above
(floats may have led astray) it adds nothing. Sums of whole numbers do not depend on the order of the rows.

**No wrap.** The lengths of rows are at least their largest entry, up to rounding, so a rounded entry is at
most the reach and one: below 2**31 for a reach of at most 2**30. The squared length of a row is below 2**63
as long as the number of weights times the squared reach, plus a little, is: `logistic.py` checks it.

**Speed.** Rows of a batch lie far apart, and most of the time would go by waiting for memory. So the row that
comes four rows later is asked for early; it changes no number.
``_nrt=False`` switches off reference counting; nothing here allocates.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numba
import numpy as np
from llvmlite import ir  # type: ignore[import-untyped]
from numba.core import cgutils, types
from numba.extending import intrinsic

if TYPE_CHECKING:
    import numpy.typing as npt

    Words = npt.NDArray[np.uint64]
    Integers = npt.NDArray[np.int64]
    Narrow = npt.NDArray[np.int32]
    Floats = npt.NDArray[np.float64]

__all__ = ["add_gradients", "members", "residuals", "sampled_words"]

_OPTIONS: dict[str, Any] = {"cache": True, "error_model": "numpy", "_nrt": False}
_compiled = numba.njit(**_OPTIONS)
_inlined = numba.njit(forceinline=True, **_OPTIONS)
_added_in_any_order = numba.njit(forceinline=True, fastmath={"reassoc"}, **_OPTIONS)  # several at a time

_AHEAD = 4  # rows
_LINE = 8  # floats that come from memory together

# numba turns uint64 (+) int64 into a float: these are uint64.
_ZERO, _ONE, _ALL = np.uint64(0), np.uint64(1), np.uint64((1 << 64) - 1)
_27, _31, _32, _LOW = np.uint64(27), np.uint64(31), np.uint64(32), np.uint64((1 << 32) - 1)
# A sequence of de Bruijn: the five bits at its top, after it is shifted by a place below 32, tell the place.
_SEQUENCE = np.uint64(0x077CB531)
_PLACES = np.argsort([(0x077CB531 << place >> 27) & 31 for place in range(32)])


# --- who is in a batch -------------------------------------------------------------------------


@_compiled
def sampled_words(units: Words, out: Words, done: int, halvings: int, below: np.uint64) -> tuple[int, int]:
    """Fill `out` with words of 64 rows each, where a bit is 1 with the same probability, independently.

    A bit is 1 if it is in each of `halvings` random words, and if a random word of its own is below `below`,
    where 0 stands for 2**64: the probability is ``below / 2**(64 + halvings)``, exactly. Units are read
    as ``privacy/feeding.py`` describes: no unit serves two words, and a word that they do not suffice for is
    begun again by the next call.
    """
    position = 0
    for index in range(done, out.size):
        after = position
        word = _ALL
        for _ in range(halvings):
            if after >= units.size:
                return index, position
            word &= units[after]
            after += 1
        left = word if below != _ZERO else _ZERO
        while left != _ZERO:
            if after >= units.size:
                return index, position
            others = left & (left - _ONE)
            if units[after] >= below:
                word ^= left ^ others
            after += 1
            left = others
        out[index] = word
        position = after
    return out.size, position


@_compiled
def members(words: Words, rows: int, out: Integers) -> int:
    """Write the places of the ones among the first `rows` bits to `out`, and return how many there are."""
    count = 0
    for index in range(words.size):
        left = words[index]
        while left != _ZERO:
            others = left & (left - _ONE)
            lowest = left ^ others
            high = lowest >> _32
            place = 64 * index + _PLACES[(((lowest | high) & _LOW) * _SEQUENCE >> _27) & _31]
            if high != _ZERO:
                place += 32
            left = others
            if place < rows:
                out[count] = place
                count += 1
    return count


# --- their gradients ---------------------------------------------------------------------------


def _ask_for(typing: Any, features: Any, row: Any, column: Any) -> Any:  # noqa: ARG001 - numba's way
    """Have a part of a row brought into the cache."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        kind = signature.args[0]
        array = context.make_array(kind)(context, builder, arguments[0])
        place = cgutils.get_item_pointer(context, builder, kind, array, arguments[1:], wraparound=False)  # type: ignore[no-untyped-call]
        bytes_at, number = ir.IntType(8).as_pointer(), ir.IntType(32)
        form = ir.FunctionType(ir.VoidType(), [bytes_at, number, number, number])
        fetch = cgutils.get_or_insert_function(builder.module, form, "llvm.prefetch.p0i8")  # type: ignore[no-untyped-call]
        for_reading, near, data = (ir.Constant(number, value) for value in (0, 3, 1))
        builder.call(fetch, [builder.bitcast(place, bytes_at), for_reading, near, data])
        return context.get_dummy_value()

    return types.void(features, types.intp, types.intp), generate


def _no_prefetch(features: Floats, row: int, column: int) -> None:
    """Stand for it where nothing is compiled."""


_fetch: Any = _no_prefetch if getattr(numba.config, "DISABLE_JIT", False) else intrinsic(_ask_for)


@_added_in_any_order
def _score(features: Floats, row: int, weights: Floats, answer: int) -> float:
    """Return the product of a row and the weights of an answer."""
    total = 0.0
    for place in range(features.shape[1]):
        total += features[row, place] * weights[answer, place]
    return total


@_inlined
def _chance(score: float) -> float:
    """Return the logistic function of a score; no score overflows."""
    if score >= 0.0:
        return 1.0 / (1.0 + math.exp(-score))
    power = math.exp(score)
    return power / (1.0 + power)


@_inlined
def residuals(features: Floats, row: int, label: int, weights: Floats, out: Floats) -> float:
    """Fill `out` with the predicted chances minus the truth, and return its length.

    With one row of weights there are two classes, and the chance is that of the second. With more there is
    one for each class, and the chances are the softmax of the scores.
    """
    answers, width = weights.shape[0], features.shape[1]
    for answer in range(answers):
        constant = weights[answer, width] if weights.shape[1] > width else 0.0
        out[answer] = _score(features, row, weights, answer) + constant
    if answers == 1:
        error: float = _chance(out[0]) - (1.0 if label == 1 else 0.0)
        out[0] = error
        return abs(error)
    largest = out[0]
    for answer in range(1, answers):
        largest = max(largest, out[answer])
    total = 0.0
    for answer in range(answers):
        out[answer] = math.exp(out[answer] - largest)
        total += out[answer]
    squares = 0.0
    for answer in range(answers):
        out[answer] = out[answer] / total - (1.0 if label == answer else 0.0)
        squares += out[answer] * out[answer]
    return math.sqrt(squares)


@_inlined
def _round(features: Floats, row: int, times: float, errors: Floats, nearest: bool, out: Narrow) -> np.int64:  # noqa: FBT001 - a kernel has no keywords
    """Fill `out` with the scaled gradient of a row in whole numbers, and return its squared length."""
    width = features.shape[1]
    squares = np.int64(0)
    for answer in range(out.shape[0]):
        factor = times * errors[answer]
        if nearest:
            for place in range(width):
                whole = np.int32(np.rint(factor * features[row, place]))
                out[answer, place] = whole
                squares += np.int64(whole) * np.int64(whole)
        else:
            for place in range(width):
                whole = np.int32(factor * features[row, place])
                out[answer, place] = whole
                squares += np.int64(whole) * np.int64(whole)
        if out.shape[1] > width:
            constant = np.int32(np.rint(factor)) if nearest else np.int32(factor)
            out[answer, width] = constant
            squares += np.int64(constant) * np.int64(constant)
    return squares


@_compiled
def add_gradients(
    features: Floats,
    lengths: Floats,
    labels: Integers,
    batch: Integers,
    weights: Floats,
    clip: float,
    reach: int,
    errors: Floats,
    room: Narrow,
    total: Integers,
) -> None:
    """Add the clipped and rounded gradients of a batch to `total`.

    Parameters
    ----------
    features : array of (rows, columns)
        The rows, without a constant column.
    lengths : array
        Their Euclidean lengths, with the constant if there is one.
    labels : array of int
        The place of each row's class.
    batch : array of int
        The rows that take part.
    weights : array of (answers, columns) or (answers, columns + 1)
        Where the gradients are taken; a column more than the rows have is for the constant.
    clip : float
        The largest length of a row's gradient.
    reach : int
        How many steps of the grid that is, at most 2**30.
    errors, room : arrays
        Room for the residuals and the rounded gradient of one row.
    total : array of int
        As large as the weights; added to.
    """
    width = features.shape[1]
    limit = np.int64(reach) * np.int64(reach)
    for turn in range(batch.size):
        row = batch[turn]
        if turn + _AHEAD < batch.size:
            for place in range(0, width, _LINE):
                _fetch(features, batch[turn + _AHEAD], place)
        length = residuals(features, row, labels[row], weights, errors) * lengths[row]
        if not length < np.inf:  # nor if it is no number
            continue
        times = reach / length if length > clip else reach / clip
        squares = _round(features, row, times, errors, True, room)  # noqa: FBT003 - as above
        if squares > limit:
            squares = _round(features, row, times, errors, False, room)  # noqa: FBT003 - as above
        if squares <= limit:
            for answer in range(total.shape[0]):
                for place in range(total.shape[1]):
                    total[answer, place] += room[answer, place]
