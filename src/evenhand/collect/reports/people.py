"""Ids of people: whole numbers or texts, never both, since one person under two ids has two answers."""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from typing import Any

import narwhals as nw
import numpy as np
import pyarrow as pa

from evenhand.errors import InvalidParameterError

__all__ = ["checked_people"]


def checked_people(people: Any, *, kind: str | None, owner: str) -> pa.Array:
    """Return ids as an Arrow array of ``int64`` or ``large_string``, or refuse them without telling any.

    Parameters
    ----------
    people : array, list or series
        One id for each person.
    kind : {"integers", "text"}, optional
        What ids were before; they must stay so.
    owner : str
        Who asks, for messages.
    """
    try:
        found = _arrow(people)
        wanted = pa.int64() if pa.types.is_integer(found.type) else pa.large_string()
        readable = pa.types.is_integer(found.type) or _is_text(found.type)
        ids = found.cast(wanted) if readable else None
    except (pa.ArrowException, TypeError, ValueError, OverflowError):
        ids = None
    if _is_empty(people):  # of any type: an empty list has none
        return pa.array([], type=pa.int64() if kind == "integers" else pa.large_string())
    if ids is None:
        raise _refused(owner, "something else")
    if ids.null_count:
        raise _refused(owner, "a missing id")
    given = "integers" if pa.types.is_integer(ids.type) else "text"
    if kind is not None and kind != given:
        words = {"integers": "whole numbers", "text": "text"}
        must_be = f"{words[kind]}, as in the rounds before"
        raise InvalidParameterError("people", owner=owner, must_be=must_be, got=words[given])
    return ids


def _arrow(people: Any) -> pa.Array:
    unordered = isinstance(people, str | bytes | AbstractSet | Mapping)  # one text is no list of ids
    if unordered or nw.dependencies.is_into_dataframe(people):
        raise TypeError
    series = nw.from_native(people, series_only=True, pass_through=True)
    if isinstance(series, nw.Series):
        people = series.to_arrow()
    if isinstance(people, np.ndarray) and people.ndim != 1:
        raise ValueError  # a table of ids has no one id for each person
    made = people if isinstance(people, pa.Array | pa.ChunkedArray) else pa.array(people)
    flat = made.combine_chunks() if isinstance(made, pa.ChunkedArray) else made
    return flat.dictionary_decode() if pa.types.is_dictionary(flat.type) else flat


def _is_text(kind: pa.DataType) -> bool:
    return kind in {pa.string(), pa.large_string(), pa.string_view()}


def _is_empty(people: Any) -> bool:
    return hasattr(people, "__len__") and len(people) == 0


def _refused(owner: str, got: str) -> InvalidParameterError:
    return InvalidParameterError(
        "people",
        owner=owner,
        must_be="one id for each person, all whole numbers of 64 bits or all text",
        got=got,
    )
