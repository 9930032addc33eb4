"""Frames that evenhand makes itself, in the library the caller prefers."""

from __future__ import annotations

import importlib.util
from typing import TYPE_CHECKING, Any, Literal, get_args

import narwhals as nw

from evenhand._validate import one_of
from evenhand.errors import MissingExtraError

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["Backend", "make_frame"]

Backend = Literal["pandas", "polars", "pyarrow"]


def make_frame(columns: Mapping[str, Any], *, backend: Backend | None = None) -> Any:
    """Return a frame of `columns` in the library asked for.

    Parameters
    ----------
    columns : mapping of str to sequence
        Name and values of each column; all of one length.
    backend : {"pandas", "polars", "pyarrow"}, optional
        The library of the frame. By default pandas where it is installed, else pyarrow,
        which always is.

    Examples
    --------
    >>> make_frame({"group": ["a", "b"], "rate": [0.5, 0.25]}, backend="pyarrow").num_rows
    2
    """
    if backend is None:
        backend = "pandas" if importlib.util.find_spec("pandas") else "pyarrow"
    chosen = one_of("backend", backend, get_args(Backend), owner="make_frame")
    if importlib.util.find_spec(chosen) is None:
        raise MissingExtraError(chosen, feature=f"A {chosen} frame")
    return nw.from_dict(dict(columns), backend=chosen).to_native()
