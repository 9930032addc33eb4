"""Arguments of a protocol, checked before anything is drawn: codes, which are 0 to k - 1, and numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from evenhand._validate import require_true_values
from evenhand.errors import InvalidParameterError

if TYPE_CHECKING:
    import numpy.typing as npt

_BLOCK = 1 << 18


def code_type(k: int) -> np.dtype[Any]:
    """Return the smallest unsigned type that holds 0 to ``k - 1``.

    >>> code_type(256), code_type(257)
    (dtype('uint8'), dtype('uint16'))
    """
    return np.min_scalar_type(k - 1)


def check_codes(codes: Any, k: int, *, owner: str) -> npt.NDArray[Any]:
    """Return `codes` as a one-dimensional integer array if all are from 0 to ``k - 1``, else refuse them.

    The message tells what is wrong without telling any person's code. The array is not copied.

    >>> check_codes([2, 0, 1], 3, owner="example")
    array([2, 0, 1])
    """
    require_true_values(codes, name="codes", owner=owner)
    if isinstance(codes, np.ma.MaskedArray):
        raise _codes_error(k, owner, "a masked array")
    try:
        array = np.asarray(codes)
    except (TypeError, ValueError):
        raise _codes_error(k, owner, "something that is no array") from None
    if array.dtype == np.bool_:
        array = array.view(np.uint8)
    if array.size == 0 and array.ndim == 1:
        return np.empty(0, dtype=code_type(k))
    if array.ndim != 1 or array.dtype.kind not in "iu":
        got = f"{array.ndim} dimensions" if array.ndim != 1 else f"an array of {array.dtype.name}"
        raise _codes_error(k, owner, got)
    starts = reversed(range(0, array.size, _BLOCK))  # whoever reads them next finds the first in the cache
    if any(_outside(array[start : start + _BLOCK], k) for start in starts):
        raise _codes_error(k, owner, "codes outside")
    return array


def _outside(block: npt.NDArray[Any], k: int) -> bool:
    """Look at a block once: read without its sign, a negative code is a large one."""
    if block.dtype.kind == "i" and k > np.iinfo(block.dtype).max:
        return int(block.min()) < 0
    unsigned = np.dtype(block.dtype.str.replace("i", "u"))
    return int(block.view(unsigned).max()) >= k


def _codes_error(k: int, owner: str, got: str) -> InvalidParameterError:
    return InvalidParameterError(
        "codes",
        owner=owner,
        must_be=f"one whole number from 0 to {k - 1} for each person",
        got=got,
        hint="Table.encode(frame, schema) turns columns into codes and applies the rules for missing and "
        "unknown values.",
    )


def check_numbers(name: str, given: object, low: float, high: float, must_be: str) -> npt.NDArray[Any]:
    """Return numbers as an array if all are finite and from `low` to `high`, else refuse them."""
    try:
        numbers = np.asarray(given, dtype=float)  # nothing becomes NaN
        right = bool(((numbers >= low) & (numbers <= high) & np.isfinite(numbers)).all())
    except (TypeError, ValueError, OverflowError):
        right = False
    if not right:
        got = given if isinstance(given, int | float | str | None) else "something else"
        raise InvalidParameterError(name, owner="variance", must_be=must_be, got=got)
    return numbers
