"""Options of a data set: declared once, checked before any file is touched."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from evenhand._validate import integer
from evenhand.errors import InvalidParameterError, UnknownNameError

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["Option", "choose"]


@dataclass(frozen=True, kw_only=True)
class Option:
    """One option of a data set.

    Attributes
    ----------
    name, meaning : str
        What it is called and what it does.
    default : object
        The value used when it is left out.
    choices : tuple
        The values it may have. Empty for a whole number between `low` and `high`.
    low, high : int
        Both ends of a whole number.
    only_with : tuple of str and tuple, optional
        Another option and the values of it for which this one means anything.
        Given with any other value it is refused, not ignored.
    """

    name: str
    meaning: str
    default: Any
    choices: tuple[Any, ...] = ()
    low: int = 0
    high: int = 2**63 - 1
    only_with: tuple[str, tuple[Any, ...]] | None = None

    def check(self, value: object, *, owner: str) -> Any:
        """Return the value if the option may have it, else refuse it.

        A scalar of numpy stands for the Python value of its kind.
        """
        plain = value.item() if isinstance(value, np.generic) else value
        if not self.choices:
            return integer(self.name, plain, owner=owner, low=self.low, high=self.high)
        for choice in self.choices:
            if type(plain) is type(choice) and plain == choice:
                return choice
        listed = ", ".join(repr(choice) for choice in self.choices)
        raise InvalidParameterError(self.name, owner=owner, must_be=f"one of {listed}", got=value)

    def __str__(self) -> str:
        listed = " | ".join(repr(choice) for choice in self.choices)
        allowed = listed or f"{self.low} to {self.high}"
        scope = f" Only with {self._scope()}." if self.only_with else ""
        return f"{self.name} = {self.default!r} ({allowed}): {self.meaning}{scope}"

    def _scope(self) -> str:
        other, values = self.only_with or ("", ())
        return f"{other} = {' or '.join(repr(value) for value in values)}"


def choose(dataset: str, declared: tuple[Option, ...], given: Mapping[str, object]) -> dict[str, Any]:
    """Return the value of every option that applies, defaults filled in.

    Parameters
    ----------
    dataset : str
        Name of the data set, for messages.
    declared : tuple of Option
        Its options, the ones others depend on first.
    given : mapping
        What the caller asked for.

    Raises
    ------
    UnknownNameError
        If the data set has no option of that name.
    InvalidParameterError
        If an option has a value it cannot have, or does not apply to the others.
    """
    owner = f"load('{dataset}')"
    known = {option.name: option for option in declared}
    for name in given:
        if name not in known:
            raise UnknownNameError("Option", name, known, place=f"known to data set '{dataset}'")
    chosen: dict[str, Any] = {}
    for option in declared:
        value = option.check(given.get(option.name, option.default), owner=owner)
        if option.only_with is None or chosen.get(option.only_with[0]) in option.only_with[1]:
            chosen[option.name] = value
        elif option.name in given:
            other = option.only_with[0]
            must_be = f"left out when {other} = {chosen.get(other)!r}"
            raise InvalidParameterError(option.name, owner=owner, must_be=must_be, got=value)
    return chosen
