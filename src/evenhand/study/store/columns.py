"""Many numbers as one short text: the type of the numbers, then their bytes, low byte first."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

_KINDS = {4: "<f4", 8: "<f8"}


def pack(values: NDArray[np.floating[Any]]) -> str:
    """Return numbers as a text, exact to the last bit.

    >>> pack(np.array([0.5, 2], dtype=np.float32))
    '<f4 AAAAPwAAAEA='
    """
    kind = _KINDS[values.dtype.itemsize]
    return f"{kind} {base64.b64encode(values.astype(kind).tobytes()).decode('ascii')}"


def unpack(text: str) -> NDArray[np.float64]:
    """Return the numbers of a text of :func:`pack`; any other raises ValueError.

    >>> unpack("<f4 AAAAPwAAAEA=")
    array([0.5, 2. ])
    """
    kind, _, packed = text.partition(" ")
    if kind not in _KINDS.values():
        raise ValueError("This text holds no numbers.")
    return np.frombuffer(base64.b64decode(packed, validate=True), dtype=kind).astype(np.float64)
