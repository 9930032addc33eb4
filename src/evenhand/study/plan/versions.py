"""Versions of what results depend on, for the record."""

from __future__ import annotations

import platform
from functools import cache
from importlib.metadata import PackageNotFoundError, version

import evenhand

__all__ = ["versions"]

_PACKAGES = ("numpy", "scipy", "scikit-learn", "numba", "pyarrow", "narwhals", "lightgbm", "dp-accounting")


def versions() -> dict[str, str]:
    """Return the versions of Python, evenhand and the packages that the numbers of a study depend on.

    A package that is not installed is not in it.

    Examples
    --------
    >>> found = versions()
    >>> list(found)[:4]
    ['python', 'evenhand', 'numpy', 'scipy']
    """
    return dict(_found())


@cache
def _found() -> tuple[tuple[str, str], ...]:
    found = [("python", platform.python_version()), ("evenhand", evenhand.__version__)]
    for package in _PACKAGES:
        try:
            found.append((package, version(package)))
        except PackageNotFoundError:
            continue
    return tuple(found)
