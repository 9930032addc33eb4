"""Classes by name, each loaded when it is first asked for, so that the names cost nothing to list."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, MutableMapping
from importlib import import_module
from typing import Any, TypeVar

__all__ = ["ClassRegistry"]

Registered = TypeVar("Registered")


class ClassRegistry(MutableMapping[str, "type[Registered]"]):
    """A mapping from names to classes.

    Parameters
    ----------
    homes : mapping
        For each name the class, or where it is as ``"module:class"``.

    Examples
    --------
    >>> registry = ClassRegistry({"fraction": "fractions:Fraction"})
    >>> list(registry), registry["fraction"].__name__
    (['fraction'], 'Fraction')
    """

    def __init__(self, homes: Mapping[str, str | type[Registered]]) -> None:
        self._homes: dict[str, Any] = dict(homes)

    def __getitem__(self, name: str) -> type[Registered]:
        home = self._homes[name]
        if isinstance(home, str):
            module, _, attribute = home.partition(":")
            home = self._homes[name] = getattr(import_module(module), attribute)
        found: type[Registered] = home
        return found

    def __setitem__(self, name: str, home: str | type[Registered]) -> None:
        self._homes[name] = home

    def __delitem__(self, name: str) -> None:
        del self._homes[name]

    def __contains__(self, name: object) -> bool:
        return name in self._homes

    def __iter__(self) -> Iterator[str]:
        return iter(self._homes)

    def __len__(self) -> int:
        return len(self._homes)

    def __repr__(self) -> str:
        return f"ClassRegistry({', '.join(self._homes)})"
