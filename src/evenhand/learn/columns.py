"""Columns of labels and groups that a model is given, compared with what is known. Messages hold no label."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from evenhand._validate import refuse
from evenhand.measure.columns import encode_labels, read_column

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray


def places_among(
    values: Any,
    known: Sequence[Any],
    *,
    name: str,
    owner: str,
    must_be: str,
    hint: str = "",
    rows: int | None = None,
) -> NDArray[np.intp]:
    """Return the place of each row's label among the known ones; refuse others, and another number of rows.

    >>> places_among(["b", "a", "b"], ["a", "b"], name="group", owner="fit", must_be="known").tolist()
    [1, 0, 1]
    """
    codes, labels = encode_labels(read_column(values, name=name, owner=owner), name=name, owner=owner)
    where = {label: place for place, label in enumerate(known)}
    if any(label not in where for label in labels):
        refuse(name, owner, must_be, "others among them", hint=hint)
    if rows is not None:
        require_length(name, len(codes), rows, owner=owner)
    return np.array([where[label] for label in labels], dtype=np.intp)[codes]


def copy_feature_names(trained: Any, model: Any) -> None:
    """Give a model the number of features, and their names, that the one inside it was trained on."""
    for name in ("n_features_in_", "feature_names_in_"):
        if hasattr(trained, name):
            setattr(model, name, getattr(trained, name))


def require_length(name: str, length: int, rows: int, *, owner: str) -> None:
    """Refuse a column of another length than X."""
    if length != rows:
        refuse(name, owner, "as long as 'X'", "another length")
