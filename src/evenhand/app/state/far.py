"""Functions that the server names without importing them: their module is loaded where they are called."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import Any


@dataclass(frozen=True)
class FarFunction:
    """A function of a module that is imported where it is called, which is in the process of the desk.

    Parameters
    ----------
    module, name : str
        Where it stands, and what it is called.

    Examples
    --------
    >>> FarFunction("math", "factorial")(5)
    120
    """

    module: str
    name: str

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Import the module and call the function."""
        return getattr(import_module(self.module), self.name)(*args, **kwargs)
