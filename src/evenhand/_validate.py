"""Checks of public parameters, with one wording for every refusal."""

from __future__ import annotations

from numbers import Integral
from typing import TYPE_CHECKING, NoReturn, TypeVar

from evenhand.errors import InvalidParameterError

if TYPE_CHECKING:
    from collections.abc import Collection

Choice = TypeVar("Choice", bound=str)


def refuse(name: str, owner: str, must_be: str, got: object, *, hint: str = "") -> NoReturn:
    """Refuse the value of a parameter; `got` is shown, so it is never private data."""
    raise InvalidParameterError(name, owner=owner, must_be=must_be, got=got, hint=hint)


def kind_of(value: object) -> str:
    """Return what kind of thing `value` is, in words.

    >>> kind_of([1, 2])
    'a value of type list'
    """
    return f"a value of type {type(value).__name__}"


def require_true_values(values: object, *, name: str, owner: str) -> None:
    """Refuse randomised reports in the place of true values.

    A class says that it holds reports by a true ``__evenhand_reports__``. Plain arrays and columns that were
    made from reports say nothing, and pass.
    """
    if getattr(type(values), "__evenhand_reports__", False):
        raise InvalidParameterError(
            name,
            owner=owner,
            must_be="true values",
            got="randomised reports, of which nobody knows which are true,",
            hint="evenhand.collect.group_rates takes reports of the group, with an outcome in the clear; "
            "estimate of a protocol gives shares; 'values' of the reports is the bare array.",
        )


def boolean(name: str, value: object, *, owner: str) -> bool:
    """Return `value` if it is True or False, else refuse it: the text ``"no"`` would count as True."""
    if not isinstance(value, bool):
        raise InvalidParameterError(name, owner=owner, must_be="True or False", got=value)
    return value


def integer(name: str, value: object, *, owner: str, low: int | None = None, high: int | None = None) -> int:
    """Return `value` as an ``int`` if it is a whole number in ``[low, high]``, else refuse it.

    Booleans are refused: ``True`` is not a count.
    """
    whole = isinstance(value, Integral) and not isinstance(value, bool)
    number = int(value) if whole else 0  # type: ignore[call-overload]
    if not whole or (low is not None and number < low) or (high is not None and number > high):
        raise InvalidParameterError(name, owner=owner, must_be=_range_text(low, high), got=value)
    return number


def one_of(name: str, value: object, choices: Collection[Choice], *, owner: str) -> Choice:
    """Return the member of `choices` that `value` equals, else refuse it and list them."""
    for choice in choices:
        if isinstance(value, str) and value == choice:
            return choice
    if isinstance(value, str) and value in choices:  # a registry refuses it with the reason when it is taken
        return value  # type: ignore[return-value]
    listed = ", ".join(f"'{choice!s}'" for choice in choices)
    spaced = isinstance(value, str) and " " in value  # it would pass for a description without its quotes
    raise InvalidParameterError(
        name, owner=owner, must_be=f"one of {listed}", got=repr(value) if spaced else value
    )


def _range_text(low: int | None, high: int | None) -> str:
    if low is not None and high is not None:
        return f"a whole number from {low} to {high}"
    if low is not None:
        return f"a whole number of at least {low}"
    return "a whole number" if high is None else f"a whole number of at most {high}"
