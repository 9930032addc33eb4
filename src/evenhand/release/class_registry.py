"""Classes by name, each loaded when it is first asked for, so that the names cost nothing to list."""

from __future__ import annotations

from collections import UserDict
from pkgutil import resolve_name
from typing import Any, TypeVar

Registered = TypeVar("Registered")


class ClassRegistry(UserDict[str, "type[Registered]"]):
    """A mapping from names to classes.

    Parameters
    ----------
    homes : dict
        For each name the class, or where it is as ``"module:class"``.

    Examples
    --------
    >>> registry = ClassRegistry({"fraction": "fractions:Fraction"})
    >>> list(registry), registry["fraction"].__name__
    (['fraction'], 'Fraction')
    """

    data: dict[str, Any]

    def __init__(self, homes: dict[str, Any]) -> None:
        super().__init__(homes)

    def __getitem__(self, name: str) -> type[Registered]:
        home = self.data[name]
        if isinstance(home, str):
            home = self.data[name] = resolve_name(home)
        registered: type[Registered] = home
        return registered

    def __repr__(self) -> str:
        return f"ClassRegistry({', '.join(self.data)})"
