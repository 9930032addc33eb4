"""Compiled integer kernels, one module for each family of protocols.

``kernels.response`` loads its module when it is first used, since that starts the compiler.
"""

from importlib import import_module
from importlib.util import find_spec
from typing import Any


def __getattr__(name: str) -> Any:
    home = f"{__name__}.{name}"
    if name.startswith("_") or find_spec(home) is None:
        message = f"module {__name__!r} has no attribute {name!r}"
        raise AttributeError(message)
    return import_module(home)
