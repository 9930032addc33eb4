"""Codes as people hold them: whole numbers from 0 to k - 1, checked before anything is drawn."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from evenhand.errors import InvalidParameterError

if TYPE_CHECKING:
    import numpy.typing as npt

__all__ = ["checked_codes", "code_type"]

_BLOCK = 1 << 18


def code_type(k: int) -> np.dtype[Any]:
    """Return the smallest unsigned type that holds 0 to ``k - 1``."""
    return np.min_scalar_type(k - 1)


def checked_codes(codes: Any, k: int, *, owner: str) -> npt.NDArray[Any]:
    """Return `codes` as a one-dimensional integer array if all are from 0 to ``k - 1``, else refuse them.

    The message tells what is wrong without telling any person's code.
    """
    array = np.asarray(codes)
    if array.dtype == np.bool_:
        array = array.view(np.uint8)
    if array.size == 0 and array.ndim == 1:
        return np.empty(0, dtype=code_type(k))
    if array.ndim != 1 or array.dtype.kind not in "iu":
        got = f"{array.ndim} dimensions" if array.ndim != 1 else f"an array of {array.dtype.name}"
        raise _refused(k, owner, got)
    for start in range(0, array.size, _BLOCK):
        block = array[start : start + _BLOCK]
        if int(block.min()) < 0 or int(block.max()) >= k:
            raise _refused(k, owner, "codes outside")
    return array


def _refused(k: int, owner: str, got: str) -> InvalidParameterError:
    return InvalidParameterError(
        "codes",
        owner=owner,
        must_be=f"one whole number from 0 to {k - 1} for each person",
        got=got,
        hint="Table.encode(frame, schema) turns columns into codes and applies the rules for missing and "
        "unknown values.",
    )
