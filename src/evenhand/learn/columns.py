"""Columns of labels and groups that a model is given, compared with what is known. Messages hold no label."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from evenhand._validate import refuse
from evenhand.measure.columns import encode_labels, read_column
from evenhand.measure.crossing import crossed_columns, read_groups

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
    return _find_places(codes, labels, known, name, owner, must_be, hint, rows)


class RowGroups(NamedTuple):
    """The group of each row: a place among the labels.

    A label is a value of the only column or, where `columns` are crossed, a tuple with a value of each.
    """

    codes: NDArray[np.intp]
    labels: list[Any]
    columns: tuple[str, ...]


def encode_row_groups(group: Any, *, owner: str) -> RowGroups:
    """Return the groups that occur, of one column or of the columns of a mapping or a frame that are crossed.

    >>> groups = encode_row_groups({"sex": ["m", "f", "m"], "race": [0, 1, 0]}, owner="fit")
    >>> groups.codes.tolist(), groups.labels, groups.columns
    ([1, 0, 1], [('f', 1), ('m', 0)], ('sex', 'race'))
    """
    if crossed_columns(group) is None:
        column = read_column(group, name="group", owner=owner)
        return RowGroups(*encode_labels(column, name="group", owner=owner), ())
    crossed = read_groups(group, owner=owner)
    used, codes = np.unique(crossed.codes, return_inverse=True)
    return RowGroups(codes.astype(np.intp), [crossed.labels[code] for code in used], tuple(crossed.crossed))


def places_among_groups(
    group: Any,
    known: Sequence[Any],
    *,
    owner: str,
    must_be: str,
    columns: tuple[str, ...] | None = None,
    hint: str = "",
    rows: int | None = None,
) -> NDArray[np.intp]:
    """Return the place of each row's group among the known ones; refuse others.

    Parameters
    ----------
    group : column, mapping or frame
        The group of each row, or the columns whose combinations are the groups.
    known : sequence
        The labels of the groups.
    owner, must_be, hint : str
        For messages.
    columns : tuple of str, optional
        The columns that were crossed when the groups were learnt, which must be there in any order; empty if
        it was one column. By default not compared.
    rows : int, optional
        How many rows there must be.
    """
    given = crossed_columns(group)
    if columns is not None:
        if bool(columns) != (given is not None) or (given is not None and set(given) != set(columns)):
            wanted = f"the columns {', '.join(columns)}" if columns else "one column"
            refuse("group", owner, f"{wanted}, as in fit", "something else")
        group = {name: given[name] for name in columns} if given is not None else group
    groups = encode_row_groups(group, owner=owner)
    return _find_places(groups.codes, groups.labels, known, "group", owner, must_be, hint, rows)


def declare_groups(groups: Any) -> Any:
    """Return declared groups as they are; of a mapping of columns to their values, all combinations.

    >>> declare_groups({"sex": ["f", "m"], "race": [0, 1]})
    [('f', 0), ('f', 1), ('m', 0), ('m', 1)]
    """
    return list(product(*groups.values())) if isinstance(groups, Mapping) else groups


def declared_columns(groups: Any) -> tuple[str, ...] | None:
    """Return the columns of a mapping of columns to their values; None for groups in a sequence."""
    return tuple(map(str, groups)) if isinstance(groups, Mapping) else None


def _find_places(
    codes: NDArray[np.intp],
    labels: Sequence[Any],
    known: Sequence[Any],
    name: str,
    owner: str,
    must_be: str,
    hint: str,
    rows: int | None,
) -> NDArray[np.intp]:
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
