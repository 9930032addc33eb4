"""Feeding kernels with random units, one buffer after another, so that memory stays a constant.

A kernel is called as ``kernel(units, out, done, *parameters)``. It fills ``out`` from row ``done`` on, from
the front of ``units``, and returns how many rows are done and how many units they used. It never uses
a unit for two rows, and a row that the units do not suffice for is left for the next call, where the
unused units come first again: the rows do not depend on how the units were cut into buffers.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from evenhand.errors import RandomSourceError

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy.typing as npt

    from evenhand.privacy.randomness import Source

MOST_WORDS = 3 << 14  # words asked for at a time: they stay in the cache, and few requests are quick
FEWEST_WORDS = 64
SEAM = 1 << 10  # units of two buffers that are joined
LONGEST_DRAW = 1 << 21  # units; a random source needs more with probability below 10**-10000


def feed(
    kernel: Callable[..., tuple[int, int]],
    out: npt.NDArray[Any],
    parameters: tuple[Any, ...],
    source: Source,
    *,
    units: type[np.unsignedinteger[Any]],
    words: float,
) -> None:
    """Call the kernel until every row of `out` is filled.

    A buffer at least doubles what was left over, so a long draw costs its length, not the square of it.

    Parameters
    ----------
    kernel : callable
        As described above.
    out : array
        Filled along its first axis.
    parameters : tuple
        Further arguments of the kernel.
    source : Source
        Where the words come from.
    units : type
        The unsigned type that words are cut into, low end first.
    words : float
        How many words a row takes on average.
    """
    little = np.dtype(units).newbyteorder("<")
    buffer = np.empty(0, dtype=units)
    refill = source.refills()
    done = 0
    while done < len(out):
        wanted = min(MOST_WORDS, FEWEST_WORDS + math.ceil(words * (len(out) - done)))
        wanted = max(wanted, buffer.nbytes // 8)
        fresh = refill(wanted).astype("<u8", copy=False).view(little).astype(units, copy=False)
        if not fresh.size:
            raise RandomSourceError(f"{source!r} gave no numbers. Hint: check the machine's generator.")
        before = done
        done, buffer = _use(kernel, out, done, parameters, buffer, fresh)
        if done == before and buffer.size > LONGEST_DRAW:
            raise RandomSourceError(
                f"{source!r} gave {buffer.size} numbers and no finished draw: it is not random. "
                "Hint: check the machine's generator; nothing was drawn."
            )


def _use(
    kernel: Callable[..., tuple[int, int]],
    out: npt.NDArray[Any],
    done: int,
    parameters: tuple[Any, ...],
    left: npt.NDArray[Any],
    fresh: npt.NDArray[Any],
) -> tuple[int, npt.NDArray[Any]]:
    """Call the kernel with the units left over, then the fresh ones; return the rows done and what is left.

    The few units left over are joined with the first of the fresh ones only: copying all of them took a fifth
    of the time. What is left is copied, for the memory of the fresh ones is written to again.
    """
    if 0 < left.size <= SEAM:
        seam = np.concatenate((left, fresh[:SEAM]))
        done, used = kernel(seam, out, done, *parameters)
        fresh = fresh[used - left.size :] if used >= left.size else np.concatenate((left[used:], fresh))
    elif left.size:
        fresh = np.concatenate((left, fresh))
    done, used = kernel(fresh, out, done, *parameters)
    return done, fresh[used:].copy()
