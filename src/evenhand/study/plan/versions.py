"""Versions of what results depend on, for the record."""

from __future__ import annotations

import platform
from functools import cache
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection

__all__ = ["versions"]

_PACKAGES = ("numpy", "scipy", "scikit-learn", "numba", "pyarrow", "narwhals", "lightgbm", "dp-accounting")
_OPTIONAL = ("lightgbm", "dp-accounting")


def versions(used: Collection[str] = _OPTIONAL) -> dict[str, str]:
    """Return the versions of Python, evenhand and the packages that the numbers of a study depend on.

    A package that is not installed is not in it, nor an optional one that is not among those `used`.

    Examples
    --------
    >>> found = versions()
    >>> list(found)[:4]
    ['python', 'evenhand', 'numpy', 'scipy']
    """
    return {name: number for name, number in _found() if name not in _OPTIONAL or name in used}


@cache
def _found() -> tuple[tuple[str, str], ...]:
    this = import_module("evenhand").__version__  # it stands above all layers
    found = [("python", platform.python_version()), ("evenhand", this)]
    for package in _PACKAGES:
        try:
            found.append((package, version(package)))
        except PackageNotFoundError:
            continue
    return tuple(found)
