"""Which rows trained which classifier, as far as this process knows, so that they are not used again.

A record is a digest and a weak reference. It lives as long as the classifier does, is never stored with it,
and holds no row.
"""

from __future__ import annotations

import contextlib
import hashlib
import weakref
from dataclasses import dataclass
from typing import Any

import numpy as np

__all__ = ["remember_rows", "trained_on"]

_MOST_ROWS = 4_096  # of an array go into its digest, evenly spaced
_MOST_WORK = 100_000  # steps until the question whether memory is shared is left open


@dataclass(frozen=True, eq=False)
class _Mark:
    digest: bytes
    array: weakref.ref[Any] | None


_MARKS: weakref.WeakKeyDictionary[Any, _Mark] = weakref.WeakKeyDictionary()


def remember_rows(estimator: Any, X: Any) -> None:  # noqa: N803 - scikit-learn's name
    """Note that these rows trained the estimator; whatever cannot be noted is left out."""
    kept = weakref.ref(X) if isinstance(X, np.ndarray) else None
    with contextlib.suppress(TypeError, ValueError):  # no weak reference to it, no hash, or ragged rows
        _MARKS[estimator] = _Mark(_digest(X), kept)


def trained_on(estimator: Any, X: Any) -> bool:  # noqa: N803 - as above
    """Tell whether it is known that the estimator was trained on these rows, or in their memory.

    >>> class Model: pass
    >>> model, rows = Model(), np.arange(6.0).reshape(3, 2)
    >>> remember_rows(model, rows)
    >>> trained_on(model, rows.copy()), trained_on(model, rows + 1), trained_on(model, rows[1:])
    (True, False, True)
    """
    try:
        mark = _MARKS.get(estimator)
    except TypeError:  # no weak reference to it, or no hash of it
        return False
    if mark is None:
        return False
    before = None if mark.array is None else mark.array()
    try:
        return _share_memory(before, X) or mark.digest == _digest(X)
    except ValueError:  # ragged rows, which are not those that were noted
        return False


def _share_memory(one: Any, other: Any) -> bool:
    if one is None or not isinstance(other, np.ndarray):
        return False
    try:
        return bool(np.shares_memory(one, other, max_work=_MOST_WORK))  # type: ignore[arg-type]
    except np.exceptions.TooHardError:
        return False


def _digest(X: Any) -> bytes:  # noqa: N803 - as above
    rows: Any = X.tocsr() if hasattr(X, "tocsr") else np.asarray(X)
    length = rows.shape[0] if rows.ndim else 0
    places = np.unique(np.linspace(0, max(length - 1, 0), _MOST_ROWS).astype(np.intp))[:length]
    some = rows[places].toarray() if hasattr(X, "tocsr") else rows[places] if length else rows
    text = repr(some.tolist()) if some.dtype.kind not in "biuf" else ""
    digest = hashlib.sha256(f"{rows.shape} {some.dtype} {text}".encode("utf-8", "surrogatepass"))
    if not text:
        digest.update(np.ascontiguousarray(some).tobytes())
    return digest.digest()
