"""Parameters that a plan file can hold, so that no plan runs that could not be written down."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from evenhand._validate import refuse
from evenhand.errors import InvalidParameterError

__all__ = ["plain_mapping"]

_MUST_BE = (
    "a mapping of names to what a plan file can hold: texts, numbers, true or false, lists and mappings"
)
_DEEPEST = 20


def plain_mapping(name: str, given: object, *, owner: str, hint: str = "") -> dict[str, Any]:
    """Return a mapping in the types that TOML has; it has no value for None.

    Examples
    --------
    >>> plain_mapping("parameters", {"max_depth": np.int64(3), "columns": (1, 2)}, owner="CollectTask")
    {'max_depth': 3, 'columns': [1, 2]}
    """
    if not isinstance(given, Mapping):
        refuse(name, owner, _MUST_BE, given, hint=hint)
    try:
        return {_key(key): _plain(value, _DEEPEST) for key, value in given.items()}
    except TypeError:
        raise InvalidParameterError(name, owner=owner, must_be=_MUST_BE, got=dict(given), hint=hint) from None


def _plain(value: object, depth: int) -> Any:
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, str | bool | int | float):
        return value
    if depth and isinstance(value, list | tuple):
        return [_plain(each, depth - 1) for each in value]
    if depth and isinstance(value, Mapping):
        return {_key(key): _plain(each, depth - 1) for key, each in value.items()}
    raise TypeError


def _key(key: object) -> str:
    if not isinstance(key, str):
        raise TypeError
    return key
