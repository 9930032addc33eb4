"""Checks of what is not a column of rows: arrays of numbers, and single labels.

What is refused may be data that landed in the wrong place, so a message tells its kind only.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from evenhand.errors import InvalidParameterError, UnknownNameError

if TYPE_CHECKING:
    from collections.abc import Collection

    from numpy.typing import NDArray

__all__ = ["check_label", "check_name", "has_masked", "is_label", "kind_of", "read_array"]


_MAY_BE_MASKED = (list, tuple, np.ma.MaskedArray)


def read_array(values: Any, *, name: str, owner: str, must_be: str, hint: str = "") -> NDArray[Any]:
    """Return `values` as an array of plain numbers of any shape, or refuse them.

    Text, nested lists of unequal length, objects and masked entries are refused.

    >>> read_array([[1, 2], [3, 4]], name="counts", owner="example", must_be="numbers").shape
    (2, 2)
    """
    got = "something else: text, objects or lists of unequal length"
    if has_masked(values):
        raise InvalidParameterError(
            name, owner=owner, must_be=must_be, got="an array with masked entries", hint=hint
        )
    try:
        array = np.asarray(values)
    except (TypeError, ValueError):  # refused outside, so that no traceback shows the cause
        array = np.empty(0, dtype=object)
    if array.dtype.kind not in "biuf":
        raise InvalidParameterError(name, owner=owner, must_be=must_be, got=got, hint=hint)
    return array


def has_masked(values: object) -> bool:
    """Whether an entry of an array, or of an array inside a list, is masked."""
    if isinstance(values, list | tuple):
        kinds = set(map(type, values))  # so that a long list of numbers costs little
        return any(issubclass(kind, _MAY_BE_MASKED) for kind in kinds) and any(map(has_masked, values))
    return isinstance(values, np.ma.MaskedArray) and bool(np.ma.getmaskarray(values).any())


def is_label(value: object) -> bool:
    """Whether `value` can be the label of a group: hashable, and equal to itself.

    Arrays, series and lists are not, and missing values are not.

    >>> is_label("a"), is_label(np.array([1])), is_label(float("nan"))
    (True, False, False)
    """
    try:
        frozenset((value,))  # refuses what cannot stand for a group
        return bool(value == value)  # noqa: PLR0124 (a missing value is not equal to itself)
    except (TypeError, ValueError):
        return False


def check_label(value: object, *, name: str, owner: str, must_be: str = "a single label") -> None:
    """Refuse what cannot be a label; the kind of the value is told and not the value."""
    if not is_label(value):
        _refuse_kind(value, name, owner, must_be)


def check_name(kind: str, name: Any, known: Collection[str], *, place: str = "known") -> None:
    """Refuse a name that is not one of those known."""
    if not isinstance(name, str) or name not in known:
        raise UnknownNameError(kind, name if isinstance(name, str) else kind_of(name), known, place=place)


def kind_of(value: object) -> str:
    """Return what kind of thing `value` is, in words.

    >>> kind_of([1, 2])
    'a value of type list'
    """
    return f"a value of type {type(value).__name__}"


def _refuse_kind(value: object, name: str, owner: str, must_be: str) -> NoReturn:
    raise InvalidParameterError(name, owner=owner, must_be=must_be, got=kind_of(value))
