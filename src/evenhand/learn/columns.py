"""Columns of labels and groups that a model is given, compared with what is known. Messages hold no label."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from evenhand.errors import InvalidParameterError
from evenhand.measure.columns import encode_labels, read_column

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

__all__ = ["places_among", "refuse", "require_length"]


def places_among(
    values: Any, known: Sequence[Any], *, name: str, owner: str, must_be: str, hint: str = ""
) -> NDArray[np.intp]:
    """Return the place of each row's label among the known ones; refuse others.

    >>> places_among(["b", "a", "b"], ["a", "b"], name="group", owner="fit", must_be="known").tolist()
    [1, 0, 1]
    """
    codes, labels = encode_labels(read_column(values, name=name, owner=owner), name=name, owner=owner)
    where = {label: place for place, label in enumerate(known)}
    if any(label not in where for label in labels):
        refuse(name, owner, must_be, "others among them", hint=hint)
    return np.array([where[label] for label in labels], dtype=np.intp)[codes]


def require_length(name: str, length: int, rows: int, *, owner: str) -> None:
    """Refuse a column of another length than X."""
    if length != rows:
        refuse(name, owner, "as long as 'X'", "another length")


def refuse(name: str, owner: str, must_be: str, got: object, *, hint: str = "") -> NoReturn:
    """Refuse the value of a parameter."""
    raise InvalidParameterError(name, owner=owner, must_be=must_be, got=got, hint=hint)
