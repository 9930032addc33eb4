"""Modules that are imported when they are first used: the one place where imports wait.

Some libraries take a quarter of a second to import, and most calls do not need them. A module names such a
library at its top, as every import stands there, and pays for it where one of its functions is called.
"""

from __future__ import annotations

import importlib
from contextlib import suppress
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence


class _LazyModule:
    """What stands for a module; its names, and modules inside it, are found as ``from`` finds them."""

    def __init__(self, name: str) -> None:
        self.__name__ = name

    def __getattr__(self, attribute: str) -> Any:
        module = importlib.import_module(self.__name__)
        if not hasattr(module, attribute):
            with suppress(ModuleNotFoundError):
                return importlib.import_module(f"{self.__name__}.{attribute}")
        return getattr(module, attribute)

    def __repr__(self) -> str:
        return f"lazy({self.__name__!r})"


def lazy(name: str) -> Any:
    """Return what stands for the module called `name`, which is imported when it is first used.

    Examples
    --------
    >>> special = lazy("scipy.special")
    >>> special
    lazy('scipy.special')
    >>> float(special.ndtri(0.5))
    0.0
    """
    return _LazyModule(name)


def lazy_names(package: str, homes: Mapping[str, Sequence[str]]) -> Callable[[str], Any]:
    """Return the ``__getattr__`` of a package whose names are imported when they are first used.

    Parameters
    ----------
    package : str
        The package's own ``__name__``.
    homes : mapping
        For each module inside the package, the names that are taken from it; without any, the module itself.

    Examples
    --------
    >>> lazy_names("collections", {"abc": ["Mapping"]})("Mapping").__name__
    'Mapping'
    """
    home_of = {name: home for home, names in homes.items() for name in names or [home]}

    def __getattr__(name: str) -> Any:  # noqa: N807 - it becomes the package's own
        if name not in home_of:
            message = f"module {package!r} has no attribute {name!r}"
            raise AttributeError(message)
        home = importlib.import_module(f"{package}.{home_of[name]}")
        return home if home_of[name] == name else getattr(home, name)

    return __getattr__
